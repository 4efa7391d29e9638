//! The view files: what people and other tools read. Safe to delete.

/// What bringing the views up to date took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mended {
    /// Files that were right already.
    pub kept: u64,
    /// Files written anew or extended.
    pub written: u64,
    /// Files that no task or agent accounts for, removed.
    pub removed: u64,
}

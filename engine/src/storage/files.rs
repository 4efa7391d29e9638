//! A directory tree as storage.

/// What a path lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSystemKind {
    /// Local.
    Local,
    /// A network or host-shared file system, by name.
    Network(String),
}
/// A directory tree.
#[derive(Debug)]
pub struct Files;

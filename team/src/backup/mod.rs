//! Backups of a team: taken, listed, restored.

pub mod dir;
pub(crate) mod notes;
pub mod restore;
pub mod take;

//! Backups of a team: making, listing and restoring them.

pub mod dir;
pub(crate) mod notes;
pub mod restore;
pub mod take;

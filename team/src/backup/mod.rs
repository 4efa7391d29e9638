//! Backups of a team: making, listing, restoring.

pub mod dir;
pub(crate) mod notes;
pub mod restore;
pub mod take;

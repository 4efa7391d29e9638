//! What a caller holds: a data root, a team of it, and the one way to change it.

pub(crate) mod authority;
pub mod batch;
pub mod command;
pub mod deadline;
pub mod exchange;
mod execution;
pub mod follower;
pub mod next;
pub(crate) mod notes;
pub mod past;
pub mod past_folds;
pub mod pasts;
pub(crate) mod resident;
pub(crate) mod rollback;
pub mod root;
pub(crate) mod staged;
pub mod staging;
pub mod team;

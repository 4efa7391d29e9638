//! Handles: a data root, a team in it, and the only code path that changes a team.

mod authorize;
mod background;
pub mod batch;
pub mod exchange;
pub(crate) mod execute;
mod execution;
pub mod follower;
pub mod ignored;
pub mod next;
pub(crate) mod notes;
pub(crate) mod open_team;
pub mod past;
pub mod past_folds;
pub mod pasts;
mod prelude;
mod projections;
pub(crate) mod rollback;
pub mod root;
pub mod settlements;
pub(crate) mod staged;
pub mod staging;
pub mod team;

pub use background::{Background, Check, CheckProgress, RunningCheck};

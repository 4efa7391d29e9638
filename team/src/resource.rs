//! Paths that agents may write, and the agents that hold them.

pub mod can_write;
mod held;
pub mod path;
pub mod pattern;
pub mod refused;

pub use held::{Overlap, RESOURCES_MAX};
pub(crate) use held::{PathLocks, declared};
pub use path::Tree;

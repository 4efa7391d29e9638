//! Paths that agents may write, and who holds them.

pub mod can_write;
mod held;
pub mod path;
pub mod pattern;
pub mod refused;

pub(crate) use held::{Holdings, declared};
pub use held::{Overlap, RESOURCES_MAX};
pub use path::Tree;

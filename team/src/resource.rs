//! Paths that agents may write, and who holds them.

pub mod can_write;
mod held;
mod links;
pub mod path;
pub mod pattern;
pub mod refused;

pub(crate) use held::{Holdings, declared};
pub use held::{Overlap, RESOURCES_MAX};
pub use links::Tree;

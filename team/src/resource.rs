//! Resources: which paths a task declares, and whether a path is among them. Pure, but for the links that it is told of.

pub mod path;
pub mod pattern;

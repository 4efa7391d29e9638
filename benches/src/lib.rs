//! What the measurements share: contestants in turns, tables, fresh directories, the released program and its daemon.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::unwrap_used)]

pub mod daemon;
pub mod directory;
pub mod release;
pub mod rounds;
pub mod table;

//! What a tool call of a coding agent would write.
//!
//! A hook sees a tool call before it runs. This crate reads it and answers with the paths that it would write, and with
//! the places where that cannot be told. It reads no log and no disk; what our own subcommands do, its caller says. It
//! proves nothing: a program that is allowed to run can write what it likes.
//!
//! ```
//! use teamlog_guard::{Place, Programs, shell};
//!
//! let writes = shell::writes("cd src && sort a.txt > b.txt", &Place::at("/repo"), &Programs::default());
//! assert_eq!(writes.paths().collect::<Vec<_>>(), ["/repo/src/b.txt"]);
//! assert!(writes.doubts().is_empty());
//! ```
#![forbid(unsafe_code)]

mod call;
mod json;
mod known;
mod patch;
mod place;
pub mod shell;
mod writes;

pub use call::{Call, CallError, Deed, Form};
pub use known::{Command, Effect, Own, Programs};
pub use patch::files as patched_files;
pub use place::Place;
pub use writes::{Doubt, Target, Writes};

//! Finds the files that a tool call of a coding agent would write.
//!
//! A hook sees a tool call before it runs. This crate parses the call and returns the paths that the call would
//! write, and the parts whose writes are unknown. The crate reads no log and no disk. The result is no proof, because
//! a program that is allowed to run can write any file.
//!
//! ```
//! use teamlog_guard::{Place, Programs, shell};
//!
//! let writes = shell::writes("cd src && sort a.txt > b.txt", &Place::at("/repo"), &Programs::default());
//! assert_eq!(writes.paths().collect::<Vec<_>>(), ["/repo/src/b.txt"]);
//! assert!(writes.unknown().is_empty());
//! ```
#![forbid(unsafe_code)]

mod call;
mod json;
mod known;
mod patch;
mod place;
pub mod shell;
mod writes;

pub use call::{Action, Call, CallError, Form};
pub use known::{Command, Effect, Own, Programs};
pub use patch::files as patched_files;
pub use place::Place;
pub use writes::{Target, Unknown, Writes};

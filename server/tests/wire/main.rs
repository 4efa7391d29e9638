//! The daemon from outside: what it reads, what it refuses, whom it lets wait and whom it cuts, and how it begins and
//! ends. What calls are answered with is another matter: here they are answered with what they are.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a helper of tests may panic and tell as tests do"
)]

mod admission;
mod control;
mod corpus;
mod crowd;
#[path = "../shared/documented.rs"]
mod documented;
mod life;
mod limits;
mod numbers;
mod stand;

//! The routes, called without sockets.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod document;
#[path = "../shared/documented.rs"]
mod documented;
mod events;
mod fencing;
mod inputs;
mod keys;
mod operations;
mod same;
mod tasks;
mod teams;
mod threads;
mod world;

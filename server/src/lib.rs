//! teamd: one daemon that serves every team of a data root, over loopback TCP and a Unix socket.
//!
//! A request's way: `wire` reads it within limits, `admission` checks it in a fixed order, and what comes through is a
//! [`Call`] on one team, which is answered with a [`Reply`] or a stream. Everything in front of a call is asynchronous;
//! everything behind it is the synchronous domain, on a thread of its own.
#![forbid(unsafe_code)]

mod admission;
mod auditor;
mod berths;
pub mod call;
mod confine;
pub mod daemon;
mod disk;
mod door;
pub mod failure;
mod figures;
pub mod forward;
mod front;
mod keeper;
mod listen;
pub mod lock;
pub mod openapi;
pub mod options;
mod places;
mod pool;
pub mod reply;
pub mod route;
pub mod runtime;
pub mod served;
mod socket;
pub mod stream;
pub mod takeover;
pub mod token;
mod turns;
mod wire;

pub use call::{Call, Method};
pub use daemon::{Daemon, serve};
pub use failure::StartError;
pub use lock::{Running, running};
pub use options::{Limits, ServeOptions};
pub use reply::{Answer, Reply, Streamed};
pub use runtime::Runtime;
pub use served::Served;
pub use takeover::TakeOver;

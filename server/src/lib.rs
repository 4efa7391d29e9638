//! teamd: one daemon that serves every team of a data root, over loopback TCP and a Unix socket.
//!
//! A request's way: [`wire`](crate) reads it within limits, the gate checks it in a fixed order, and what comes through
//! is a [`Call`] on one team, which [`route`] answers with a [`Reply`]. Everything in front of a call is asynchronous;
//! everything behind it is the synchronous domain, on a thread of its own.
#![forbid(unsafe_code)]

pub mod call;
pub mod reply;
pub mod route;
pub mod served;

pub use call::{Call, Method};
pub use reply::Reply;
pub use served::Served;

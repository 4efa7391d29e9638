//! The daemon and its routes together, as clients see them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod damage;
mod endpoints;
mod exchanges;
mod restarts;
mod stand;
mod tour;
mod waits;

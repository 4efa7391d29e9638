//! Tests of the daemon over raw connections: accepted and refused bytes, timeouts, limits, start and end. The handler
//! answers every call with the call itself.

mod admission;
mod control;
mod corpus;
mod crowd;
mod life;
mod limits;
mod numbers;
mod stand;

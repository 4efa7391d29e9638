//! The daemon from outside: the bytes that it accepts and refuses, clients that wait or are disconnected, and its start
//! and end. Calls are not carried out here. The answer to each call is a description of the call.

mod admission;
mod control;
mod corpus;
mod crowd;
mod life;
mod limits;
mod numbers;
mod stand;

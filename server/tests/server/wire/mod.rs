//! The daemon from outside: the bytes that it accepts and refuses, clients that wait or are disconnected, and its
//! start and end. The handler of these tests carries out no call, and answers with a description of the call.

mod admission;
mod control;
mod corpus;
mod crowd;
mod life;
mod limits;
mod numbers;
mod stand;

//! The daemon from outside: the bytes that it reads and refuses, the clients that wait or are cut, its start and its
//! end. Calls are not carried out here: each is answered with its own description.

mod admission;
mod control;
mod corpus;
mod crowd;
mod life;
mod limits;
mod numbers;
mod stand;

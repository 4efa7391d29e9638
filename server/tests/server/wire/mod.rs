//! The daemon from outside: what it reads, what it refuses, whom it lets wait and whom it cuts, and how it begins and
//! ends. What calls are answered with is another matter: here they are answered with what they are.

mod admission;
mod control;
mod corpus;
mod crowd;
mod life;
mod limits;
mod numbers;
mod stand;

//! The contestants, one file each.

pub mod bare;
pub mod commitlog;
pub mod fjall;
pub mod okaywal;
pub mod raft_engine;
pub mod redb;
pub mod sqlite;
pub mod teamlog;
pub mod umadb;

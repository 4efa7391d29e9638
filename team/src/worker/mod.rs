//! Workers and their supervision: identity, status, heartbeat, activity, stalls and shutdown.

pub mod attention;
pub mod idle;
pub mod record;
pub mod shutdown;
pub mod snapshot;
pub mod stall;
pub mod status;
pub mod summary;
pub mod who;

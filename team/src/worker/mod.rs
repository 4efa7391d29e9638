//! Workers and their supervision: identity, status, heartbeat; who does what, who stalls, who is asked to stop.

pub mod attention;
pub mod idle;
pub mod record;
pub mod shutdown;
pub mod snapshot;
pub mod stall;
pub mod status;
pub mod summary;
pub mod who;

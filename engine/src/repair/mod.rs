//! Repairing a damaged log when a person asks for it: cut it after an event, or copy what can be read into a new log.
//!
//! Invariants: the lock is held; the original bytes lie in `archive/`, durably, before anything is changed; one small
//! durable write decides between the log as it was and the log as it is to be, and whoever opens the log next finishes what
//! a crash left behind that write.

mod archive;
mod cut;
mod salvage;
mod survey;

pub use cut::CutPlan;
pub use salvage::{SalvageReport, Split, salvage};
pub use survey::Lost;

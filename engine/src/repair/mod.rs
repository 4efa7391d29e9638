//! Repairs a damaged log on an operator's request: cuts it after an event, or copies the readable events into a new
//! log.
//!
//! Invariants: the lock is held; the original bytes are in `archive/`, durably, before anything is changed; one small
//! durable write decides between the old and the new log. After a crash past that write, the next process that opens
//! the log finishes.

mod archive;
mod cut;
mod salvage;
mod survey;

pub use cut::CutPlan;
pub use salvage::{SalvageReport, SplitGroup, salvage};
pub use survey::Lost;

//! Repairs a damaged log on an operator's request: cuts the log after an event, or copies the readable events into a new log.
//!
//! Invariants: the lock is held. The original bytes are in `archive/`, durably, before anything is changed. One small durable
//! write decides between the old and the new log. After a crash past that write, the next process that opens the log finishes the
//! repair.

mod archive;
mod cut;
mod salvage;
mod survey;

pub use cut::CutPlan;
pub use salvage::{SalvageReport, SplitGroup, salvage};
pub use survey::Lost;

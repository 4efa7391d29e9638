//! Functions of PostgreSQL for a server's term. A managed service may refuse these functions.

use crate::schema;

/// A function for a part of the term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    Timeline,
    System,
}

/// All functions for the term.
pub const PROBES: [Probe; 2] = [Probe::Timeline, Probe::System];

impl Probe {
    pub fn statement(self) -> &'static str {
        match self {
            Probe::Timeline => schema::TIMELINE,
            Probe::System => schema::SYSTEM,
        }
    }

    /// Describes the part of the term that is unknown if the function is refused.
    pub fn consequence(self) -> &'static str {
        match self {
            Probe::Timeline => {
                "the timeline is unknown: a former primary is only detected by its recovery mode and by the barrier commit"
            }
            Probe::System => {
                "the system id is unknown: the object ids of the journal's tables replace it, which detect a restored dump, but not a copy of the storage"
            }
        }
    }
}

/// Returns the number of a timeline from its hexadecimal digits; 0 for other text.
pub fn timeline(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).unwrap_or(0)
}

//! Events by which the log says that it lost others, and their JSON.

use super::*;

events! {
    /// What the log lost.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum LossFact {
        /// A rollback of the log was accepted; what was known of the lost events is in it.
        "log_rolled_back" by "teamlog doctor repair TEAM --accept-rollback" => RolledBack:
        /// The log goes on without events that were acknowledged.
        RolledBack {
            /// The last event that is known to have been acknowledged.
            pub known_seq: u64,
        },
        /// The log was cut after an event; what was cut is kept.
        "log_cut" by "teamlog doctor repair TEAM --to SEQ" => Cut:
        /// The log goes on behind an event that was not the last.
        Cut {
            /// The last event that is known to have been acknowledged.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub known_seq: Option<u64>,
        },
    }
}

impl LossFact {
    /// The last event that is known to have been acknowledged.
    pub fn known_seq(&self) -> u64 {
        match self {
            LossFact::RolledBack(lost) => lost.known_seq,
            LossFact::Cut(lost) => lost.known_seq.unwrap_or_default(),
        }
    }
}

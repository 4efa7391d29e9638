//! Events that record a loss of events, and their JSON.

use super::*;

events! {
    /// Loss of events.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum LossFact {
        /// A rollback of the log was accepted; `known_seq` is the last event known before the rollback.
        "log_rolled_back" by "teamlog doctor repair TEAM --accept-rollback" => RolledBack:
        /// The log continues without events that were acknowledged.
        RolledBack {
            /// Last event that is known to have been acknowledged.
            pub known_seq: u64,
        },
        /// The log was cut after an event; the removed bytes are kept.
        "log_cut" by "teamlog doctor repair TEAM --to SEQ" => Cut:
        /// The log continues after an event that was not the last.
        Cut {
            /// Last event that is known to have been acknowledged, if there is one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub known_seq: Option<u64>,
        },
    }
}

impl LossFact {
    /// Returns the last event that is known to have been acknowledged.
    pub fn known_seq(&self) -> u64 {
        match self {
            LossFact::RolledBack(lost) => lost.known_seq,
            LossFact::Cut(lost) => lost.known_seq.unwrap_or_default(),
        }
    }
}

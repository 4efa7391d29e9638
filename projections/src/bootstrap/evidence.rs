//! The evidence of a launch: what has to be shown before the team works.

use super::{Core, Run};
use crate::prelude::*;

/// The only mode of a launch.
pub const LAUNCH_MODE: &str = "team_launch";

/// What shows that a team was launched as it should be
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LaunchEvidence")]
pub struct Evidence {
    /// Always `team_launch`
    pub launch_mode: String,
    /// `team_api` or `platform_nl_team_invocation`
    pub launch_method: String,
    /// The team
    pub team_name: String,
    /// The domains that were launched
    pub selected_domains: Vec<String>,
    /// Always both of the core
    pub active_core_members: Vec<String>,
    /// Who of them said that it is ready
    pub core_ready_ack: CoreReadyAck,
}

/// Who of the core said that it is ready
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreReadyAck {
    /// The one that reviews
    #[serde(rename = "OBSTRUCTION_CORE_READY_ACK")]
    pub obstruction: bool,
    /// The one that puts everything together
    #[serde(rename = "SYNTHESIZER_CORE_READY_ACK")]
    pub synthesizer: bool,
}

impl Evidence {
    /// What the log has to show for a run; none before its launch.
    pub fn of(run: &Run) -> Option<Evidence> {
        if let Some(accepted) = &run.evidence {
            return Some(accepted.clone());
        }
        Some(Evidence {
            launch_mode: LAUNCH_MODE.to_owned(),
            launch_method: run.launch?.name().to_owned(),
            team_name: run.team_name.clone()?,
            selected_domains: run.roster.clone()?,
            active_core_members: Core::ALL
                .iter()
                .map(|core| core.name().to_owned())
                .collect(),
            core_ready_ack: CoreReadyAck {
                obstruction: run.handshake(Core::Obstruction).acked,
                synthesizer: run.handshake(Core::Synthesizer).acked,
            },
        })
    }
}

//! Evidence of a launch, which the contract requires before the run is `RUNNING`.

use super::{Core, CoreReadyAck, Evidence, Run};

/// The only launch mode.
pub const LAUNCH_MODE: &str = "team_launch";

impl Evidence {
    /// Returns the evidence that the log has for a run; `None` before the launch.
    pub fn from_run(run: &Run) -> Option<Evidence> {
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

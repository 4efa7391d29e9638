//! Bootstrap runs.

use super::problem::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use teamlog_team::Team;
use teamlog_team::bootstrap::show::{BootstrapShow, BootstrapShown};

/// Input: a run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunInput {
    /// Id of the run
    run: String,
}

/// `GET /v1/bootstrap/{run}`.
pub fn show(asked: RunInput, team: &mut Team) -> Result<BootstrapShown, Problem> {
    let run = Some(asked.run);
    Ok(team.bootstrap_show(BootstrapShow { run })?)
}

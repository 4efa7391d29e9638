//! `bootstrap-show`, `bootstrap-evidence`: show the state of a bootstrap run, and the evidence of its launch.

use super::*;

operation! {
    /// Show the state of a run, with its done, next and forbidden events
    "bootstrap-show": Reads(BootstrapShow {
        /// Id of the run; the newest run if absent
        #[arg(long, value_name = "ID")]
        run: Option<String>,
    }) -> BootstrapShown as bootstrap_show,
    refuses = [RunNotFound]
}

operation! {
    /// Read the evidence of a run's launch
    "bootstrap-evidence": Reads(BootstrapEvidence {
        /// Id of the run; the newest run if absent
        #[arg(long, value_name = "ID")]
        run: Option<String>,
    }) -> Evidence as bootstrap_evidence,
    refuses = [RunNotFound, NotLaunched]
}

/// The JSON object `{team, run, state, checklist, next, forbidden, …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapShown {
    /// Name of the log's team
    pub team: String,
    /// The run
    #[serde(flatten)]
    pub run: RunShown,
}

impl BootstrapShow {
    fn answer(&self, live: &Live) -> Result<BootstrapShown> {
        let run = run_of(live, self.run.as_deref())?;
        Ok(BootstrapShown {
            team: live.team_name().to_owned(),
            run: RunShown::from(&run),
        })
    }
}

impl BootstrapEvidence {
    fn answer(&self, live: &Live) -> Result<Evidence> {
        let run = run_of(live, self.run.as_deref())?;
        Evidence::from_run(&run).ok_or_else(|| {
            let (run, state) = (shown(&run.run), run.state.name());
            let message = format!(
                "run {run} has no launch evidence: it is in {state} and was not launched yet"
            );
            Refusal::new(Code::NotLaunched, message).field("run").into()
        })
    }
}

/// Returns the run with the given id; without an id, the run that began last.
pub(crate) fn run_of(live: &Live, id: Option<&str>) -> Result<Run> {
    let found = match id {
        Some(id) => live.bootstrap_run(id)?,
        None => live.newest_bootstrap_runs(1)?.into_iter().next(),
    };
    found.ok_or_else(|| {
        let message = match id {
            Some(id) => format!("no bootstrap run {}", shown(id)),
            None => "no bootstrap run has begun".to_owned(),
        };
        let refusal = Refusal::new(Code::RunNotFound, message).field("run");
        refusal.into()
    })
}

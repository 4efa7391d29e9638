//! `bootstrap-list`: lists bootstrap runs with their states.

use super::*;

operation! {
    /// List runs with their states, the newest first
    "bootstrap-list": Reads(BootstrapList {
        /// Largest number of runs; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    }) -> BootstrapListed as bootstrap_list
}

/// The JSON object `{runs, next_cursor?}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapListed {
    /// The runs, the newest first
    pub runs: Vec<RunListed>,
    /// Cursor of the next page, towards older runs; absent on the last page
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A run in the list
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunListed {
    /// Id of the run
    pub run: String,
    /// State of the run
    pub state: State,
    /// Case of TeamCreate's answer; `null` before the answer
    pub case: Option<Case>,
    /// Name of the team to work with
    pub team_name: Option<String>,
    /// Number of breaches of the contract so far
    pub breaches: u64,
    /// Time at which the run began
    pub started_at: String,
    /// Time of the run's last event
    pub updated_at: String,
}

impl From<&Run> for RunListed {
    fn from(run: &Run) -> RunListed {
        let shown = RunShown::from(run);
        RunListed {
            run: shown.run,
            state: shown.state,
            case: shown.case,
            team_name: shown.team_name,
            breaches: shown.breaches,
            started_at: shown.started_at,
            updated_at: shown.updated_at,
        }
    }
}

impl BootstrapList {
    fn answer(&self, live: &Live) -> Result<BootstrapListed> {
        let limit = page::limit(self.limit, page::PAGE);
        let before = self.cursor.as_deref().map(begun_at).transpose()?;
        let mut found = live.bootstrap_runs_before(before, limit.saturating_add(1))?;
        let more = page::cut(&mut found, limit);
        let last = found.last().filter(|_| more);
        Ok(BootstrapListed {
            next_cursor: last.map(|(seq, _)| seq.to_string()),
            runs: found.iter().map(|(_, run)| RunListed::from(run)).collect(),
        })
    }
}

/// Parses the cursor. The cursor names the event that began the last run of the previous page.
fn begun_at(cursor: &str) -> Result<u64, Refusal> {
    let rule = "must be the next_cursor of the previous page";
    let seq = cursor.trim().parse().ok();
    seq.ok_or_else(|| Refusal::invalid("cursor", cursor, rule))
}

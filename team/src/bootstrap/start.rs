//! `bootstrap-start`: begins a bootstrap run.

use super::show::run_of;
use super::*;
use crate::projections::bootstrap::event::BootstrapFact;

operation! {
    /// Begin a run of the bootstrap contract
    "bootstrap-start": Records(BootstrapStart {
        /// Id of the run; if absent, the team's next number
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Domains of the run, separated by commas; the roster must contain these domains
        #[arg(long, value_name = "A,B", value_delimiter = ',')]
        domains: Option<Vec<String>>,
    }) -> BootstrapStarted as bootstrap_start,
    refuses = [RunExists]
}

/// The JSON object `{run, state, domains, next}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapStarted {
    /// Id of the run
    pub run: String,
    /// State of the run: `INIT`
    pub state: State,
    /// Domains of the run
    pub domains: Vec<String>,
    /// Events that can come next, the best first
    pub next: Vec<String>,
}

impl BootstrapStart {
    fn domains(&self) -> Result<Vec<String>, Refusal> {
        let given = self.domains.as_deref().unwrap_or_default();
        let count = given.len();
        if count > DOMAINS_MAX {
            let message =
                format!("domains must contain at most {DOMAINS_MAX} names, but contains {count}");
            return Err(Refusal::new(Code::TooLarge, message).field("domains"));
        }
        let mut seen = BTreeSet::new();
        let mut domains = Vec::with_capacity(given.len());
        for domain in given {
            let domain = names::filled("domains", domain)?;
            names::check_free("domains", domain)?;
            if Core::from_any_case(domain).is_some() {
                let rule = "must contain names of domains, not of core members";
                return Err(Refusal::invalid("domains", domain, rule));
            }
            if !seen.insert(domain) {
                let rule = "must contain each domain once";
                return Err(Refusal::invalid("domains", domain, rule));
            }
            domains.push(domain.to_owned());
        }
        Ok(domains)
    }
}

impl Command for BootstrapStart {
    type Decided = String;
    type Answer = BootstrapStarted;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).led()
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<String>> {
        let domains = self.domains()?;
        let run = match &self.run {
            Some(run) => {
                names::check_new("run", run)?;
                run.clone()
            }
            None => live.next_bootstrap_number()?.to_string(),
        };
        if live.bootstrap_run(&run)?.is_some() {
            let message = format!("run {} already exists", shown(&run));
            let refusal = Refusal::new(Code::RunExists, message).field("run");
            return Err(refusal.hint("omit the run to use the next number").into());
        }
        let act = BootstrapAct::Started { domains };
        let event = event(&run, act, LEADER, None, &Map::new())?;
        Ok(Decision::Granted(run, vec![event]))
    }

    fn answer(&self, run: &String, after: &After<'_>) -> Result<BootstrapStarted> {
        let run = run_of(after.live, Some(run))?;
        let shown = RunShown::from(&run);
        Ok(BootstrapStarted {
            run: shown.run,
            state: shown.state,
            domains: run.selected,
            next: shown.next,
        })
    }
}

/// Returns the event that records an act of a run.
pub(super) fn event(
    run: &str,
    act: BootstrapAct,
    actor: &str,
    trace: Option<&str>,
    beside: &Map<String, Value>,
) -> Result<NewEvent, Refusal> {
    let run = run.to_owned();
    let fact = BootstrapFact { run, act };
    fact.event(actor, trace, beside).map_err(|error| {
        let message = format!("data cannot be stored: {error}");
        Refusal::new(Code::InvalidInput, message).field("data")
    })
}

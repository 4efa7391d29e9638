//! `bootstrap-record`, `bootstrap-explain`: report an event of a run, or explain the effect of a report.
//!
//! A report that is a breach of the contract is recorded, and the run is rolled back. A report that breaks another rule records nothing.
//! Both answers contain the state of the run.

use super::breach::BREACHES;
use super::show::run_of;
use super::start::event;
use super::*;
use crate::projections::bootstrap::checklist::next_events;

operation! {
    /// Report an event of a run; a breach of the contract is recorded and rolls the run back
    "bootstrap-record": Records(BootstrapRecord {
        /// Id of the run; the newest run if absent
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Event of the bootstrap contract, or one of its signals
        #[schemars(with = "super::events::NameMeaning")]
        #[arg(long, value_name = "NAME")]
        event: String,
        /// Data of the event
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        data: Map<String, Value>,
    }) -> BootstrapRecorded = |team, asked| {
        let recorded = team.execute(asked)?;
        match recorded.refusal() {
            Some(refusal) => Err(refusal.into()),
            None => Ok(recorded),
        }
    },
    refuses = [
        RunNotFound, IllegalEvent, BranchMismatch, RosterIncomplete, EvidenceInvalid, ReviewBeforeResult,
        Round1Incomplete, ReasonRequired, UntriggeredRevision, GateRefused, GateNotCleared, BreachInitialTaskLaunch,
        BreachInvalidFallbackReason, BreachCoreNotReady, BreachDomainBeforeCoreReady, BreachLeadSoloAnalysis,
        BreachPartialAtomicLaunch, BlockedTeamLaunchUnavailable,
    ]
}

operation! {
    /// Explain the effect of a report on a run, without recording it
    "bootstrap-explain": Reads(BootstrapExplain {
        /// Id of the run; the newest run if absent
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Event of the bootstrap contract, or one of its signals
        #[schemars(with = "super::events::NameMeaning")]
        #[arg(long, value_name = "NAME")]
        event: String,
        /// Data of the event
        #[serde(default)]
        data: Map<String, Value>,
    }) -> BootstrapExplained = Team::bootstrap_explain,
    refuses = [RunNotFound, TooLarge]
}

/// Maximum size of an event's data, in bytes.
const DATA_BYTES_MAX: usize = 256 << 10;

/// The JSON object `{run, state, accepted, code, rolled_back_to, message?, warnings, next}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapRecorded {
    /// Id of the run
    pub run: String,
    /// State of the run
    pub state: State,
    /// True if the report was accepted
    pub accepted: bool,
    /// Code of the refusal, from the bootstrap contract or another rule; `null` if accepted
    pub code: Option<String>,
    /// State to which the run was rolled back; `null` without a rollback
    pub rolled_back_to: Option<State>,
    /// Reason of the refusal, for people
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Warnings, for people
    pub warnings: Vec<String>,
    /// Events that can come next, the best first
    pub next: Vec<String>,
}

/// Effect of a report, and the events that it would record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapExplained {
    /// The reported event
    pub event: String,
    /// State of the run before the report
    pub at_state: State,
    /// Answer that the report would get
    #[serde(flatten)]
    pub outcome: BootstrapRecorded,
    /// Kinds of the events that would be recorded
    pub records: Vec<String>,
}

impl Team {
    /// Reports an event of a run.
    ///
    /// # Errors
    /// `invalid_input`, `too_large`, `run_not_found`, `team_closed`; errors of the log. Any other refusal becomes an answer
    /// with `accepted: false`.
    pub fn bootstrap_record(&mut self, record: BootstrapRecord) -> Result<BootstrapRecorded> {
        match self.execute(record) {
            Err(Failure::Refused(refusal)) => Ok(answered(refusal)?),
            other => other,
        }
    }

    /// Explains the effect of a report on a run. Records nothing.
    pub fn bootstrap_explain(&mut self, explain: BootstrapExplain) -> Result<BootstrapExplained> {
        let now = self.options.clock.now();
        let record = BootstrapRecord {
            run: explain.run,
            event: explain.event,
            data: explain.data,
        };
        self.query(|live, _| record.explain(live, now))
    }
}

/// Turns a refusal with the run's state into an answer.
fn answered(refusal: Refusal) -> Result<BootstrapRecorded, Refusal> {
    let (code, message) = (refusal.code.as_str(), &refusal.message);
    let answer = BootstrapRecorded::from_refusal(code, message, &refusal.details);
    answer.ok_or(refusal)
}

impl BootstrapRecorded {
    /// Parses the answer out of a refusal's details; `None` if the refusal lacks the run's state.
    pub fn from_refusal(
        code: &str,
        message: &str,
        details: &Map<String, Value>,
    ) -> Option<BootstrapRecorded> {
        let mut fields = details.clone();
        if fields.get("accepted") != Some(&Value::Bool(false)) {
            return None;
        }
        fields.insert("code".to_owned(), code.into());
        fields.insert("message".to_owned(), message.into());
        serde_json::from_value(Value::Object(fields)).ok()
    }

    /// Returns the refusal for an answer that was not accepted.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        let code = self.code.as_deref()?;
        let recorded = BREACHES.iter().map(|row| row.code);
        let mut recorded = recorded.chain([Code::BlockedTeamLaunchUnavailable]);
        let code = recorded.find(|known| known.as_str() == code)?;
        let message = self.message.clone().unwrap_or_default();
        let mut refusal = Refusal::new(code, message);
        refusal.details = self.details();
        Some(refusal)
    }

    /// Returns the fields of the answer except its code and message.
    fn details(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Map::new();
        };
        fields.remove("code");
        fields.remove("message");
        fields
    }
}

impl BootstrapRecord {
    fn report(&self) -> Result<Report, Refusal> {
        let bytes = serde_json::to_vec(&self.data).map_or(0, |text| text.len());
        if bytes > DATA_BYTES_MAX {
            let message = format!("data must be at most {DATA_BYTES_MAX} bytes, but is {bytes}");
            return Err(Refusal::new(Code::TooLarge, message).field("data"));
        }
        read(&self.event, &self.data)
    }

    /// Decides on a report. Returns the decision with the events that record it.
    fn decided(&self, run: &Run, now: Timestamp) -> Result<(Accepted, Vec<NewEvent>), Refusal> {
        let standing = |refusal| standing(run, refusal);
        let report = self.report().map_err(standing)?;
        let ruled = decide(run, &report, (&self.event, &self.data));
        let mut accepted = ruled.map_err(standing)?;
        let acts = accepted.acts.into_iter();
        accepted.acts = acts.map(|act| act.starting(now)).collect();
        let events = events(run, &accepted.acts, &report.beside)?;
        Ok((accepted, events))
    }

    fn explain(&self, live: &Live, now: Timestamp) -> Result<BootstrapExplained> {
        let mut run = run_of(live, self.run.as_deref())?;
        let at_state = run.state;
        let (outcome, records) = match self.decided(&run, now) {
            Err(refusal) => (answered(refusal)?, Vec::new()),
            Ok((accepted, events)) => {
                for act in &accepted.acts {
                    run.apply(act, now.micros(), run.seq.saturating_add(1));
                }
                let kinds = events.iter().map(|event| event.kind.to_string()).collect();
                (accepted.answer(&run), kinds)
            }
        };
        Ok(BootstrapExplained {
            event: self.event.clone(),
            at_state,
            outcome,
            records,
        })
    }
}

/// Adds the run's state to a refusal. Leaves the refusal of unreadable data unchanged.
fn standing(run: &Run, refusal: Refusal) -> Refusal {
    if matches!(refusal.code, Code::InvalidInput | Code::TooLarge) {
        return refusal;
    }
    let warned = Accepted::default().warned(refusal.hint.as_deref());
    let answer = BootstrapRecorded {
        accepted: false,
        ..warned.answer(run)
    };
    let mut details = answer.details();
    details.extend(refusal.details);
    Refusal { details, ..refusal }
}

fn events(
    run: &Run,
    acts: &[BootstrapAct],
    beside: &Map<String, Value>,
) -> Result<Vec<NewEvent>, Refusal> {
    let mut events = Vec::with_capacity(acts.len());
    for act in acts {
        let actor = act.doer().unwrap_or(LEADER).to_owned();
        let follows = matches!(act, BootstrapAct::Breached(_)) && !events.is_empty();
        let trace = run.trace_id.as_deref();
        let mut event = event(&run.run, act.clone(), &actor, trace, beside)?;
        if follows {
            event.cause = Some(Cause::Earlier(events.len() - 1));
        }
        events.push(event);
    }
    Ok(events)
}

impl Accepted {
    fn answer(&self, run: &Run) -> BootstrapRecorded {
        let against = self.against.as_ref();
        BootstrapRecorded {
            run: run.run.clone(),
            state: run.state,
            accepted: against.is_none(),
            code: against.map(|against| against.code.as_str().to_owned()),
            rolled_back_to: against.and_then(|against| against.rolled_back_to),
            message: against.map(|against| against.why.clone()),
            warnings: self.warnings.clone(),
            next: next_events(run),
        }
    }
}

impl Command for BootstrapRecord {
    /// Id of the run, and the decision on the report.
    type Decided = (String, Accepted);
    type Answer = BootstrapRecorded;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).led()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        let run = run_of(live, self.run.as_deref())?;
        let (accepted, events) = self.decided(&run, ctx.now)?;
        Ok(Decision::Granted((run.run, accepted), events))
    }

    fn answer(&self, (run, accepted): &Self::Decided, after: &After<'_>) -> Result<Self::Answer> {
        Ok(accepted.answer(&run_of(after.live, Some(run))?))
    }
}

//! `bootstrap-record`, `bootstrap-explain`: reports what happened in a run, or asks what a report would do.
//! A violation of the contract is recorded, and the run falls back. Any other report that a rule does not accept
//! records nothing. Both are answered with where the run stands.

use super::breach::BREACHES;
use super::show::run_of;
use super::start::event;
use super::*;
use crate::projections::bootstrap::checklist::next_events;

operation! {
    /// Report what happened in a run; a violation of the contract is recorded, and the run falls back
    "bootstrap-record": Records(BootstrapRecord {
        /// The run; else the one that began last
        run: Option<String>,
        /// What happened: an event of the bootstrap contract, or one of its signals
        event: String,
        /// What is said with it
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
    /// Ask what would come of a report on a run; records nothing
    "bootstrap-explain": Reads(BootstrapExplain {
        /// The run; else the one that began last
        run: Option<String>,
        /// What might happen: an event of the bootstrap contract, or one of its signals
        event: String,
        /// What would be said with it
        #[serde(default)]
        data: Map<String, Value>,
    }) -> BootstrapExplained = Team::bootstrap_explain,
    refuses = [RunNotFound, TooLarge]
}

/// Most bytes that can be said with an event.
const DATA_BYTES_MAX: usize = 256 << 10;

/// `{run, state, accepted, code, rolled_back_to, message?, warnings, next}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapRecorded {
    /// The run
    pub run: String,
    /// Where it stands
    pub state: State,
    /// Whether the report was accepted
    pub accepted: bool,
    /// Why not: a code of the bootstrap contract, or of another rule; `null` where it was
    pub code: Option<String>,
    /// Where the run fell back to; `null` where it did not
    pub rolled_back_to: Option<State>,
    /// Why not, for people
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Beside that, for people
    pub warnings: Vec<String>,
    /// The events that lead on from here, the best first
    pub next: Vec<String>,
}

/// What would come of a report, and what it would record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapExplained {
    /// The event that was asked about
    pub event: String,
    /// Where the run stands
    pub at_state: State,
    /// What would come of it
    #[serde(flatten)]
    pub outcome: BootstrapRecorded,
    /// The kinds of the events that would be recorded
    pub records: Vec<String>,
}

impl Team {
    /// Reports what happened in a run.
    ///
    /// # Errors
    /// `invalid_input`, `too_large`, `run_not_found`, `team_closed`; the log's. Any other "no" is an answer.
    pub fn bootstrap_record(&mut self, record: BootstrapRecord) -> Result<BootstrapRecorded> {
        match self.execute(record) {
            Err(Failure::Refused(refusal)) => Ok(answered(refusal)?),
            other => other,
        }
    }

    /// What would come of a report; records nothing.
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

/// A refusal that is an answer: it says where the run stands.
fn answered(refusal: Refusal) -> Result<BootstrapRecorded, Refusal> {
    let (code, message) = (refusal.code.as_str(), &refusal.message);
    let answer = BootstrapRecorded::from_refusal(code, message, &refusal.details);
    answer.ok_or(refusal)
}

impl BootstrapRecorded {
    /// Reads the answer that a refusal holds; `None` if the refusal does not say where the run stands.
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

    /// The refusal that says the same, where it was not accepted.
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

    /// The answer as details, its code and message apart.
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

    /// What becomes of a report, and the events that record it.
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

/// Adds where the run stands to the refusal of a rule. The refusal of data that cannot be read stays as it is.
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
    /// The run, and what became of the report.
    type Decided = (String, Accepted);
    type Answer = BootstrapRecorded;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::of(Authority::Anyone).led()
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

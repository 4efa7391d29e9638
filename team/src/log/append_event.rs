//! `append-event`: records a worker's report for other agents to read. A report of any type changes no state.

use crate::command::unrecorded;
use crate::log::event_type::EventType;
use crate::log::facts::inherit_trace;
use crate::log::team_event::{REPORTED, TeamEvent};
use crate::operation::prelude::*;
use crate::projections::worker::event::WorkerState;

operation! {
    /// Record a report of a worker, without a change of state
    "append-event": Records(AppendEvent) -> AppendEventAnswer = Team::append_event,
    rules = Rules {
        lookups: &["metadata"],
        never_null: &["metadata"],
        keeps_lookalikes: true,
        ..Rules::COMMON
    }
}

/// Input of `append-event`. Unknown fields are recorded unchanged.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AppendEvent {
    /// Type of the event
    #[serde(rename = "type")]
    pub kind: EventType,
    /// Worker
    pub worker: String,
    /// Task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Message
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Reason
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Action that the reporter asks for
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// State of the worker
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = WorkerState::ALL.map(WorkerState::name)))]
    pub state: Option<String>,
    /// Previous state of the worker
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = WorkerState::ALL.map(WorkerState::name)))]
    pub prev_state: Option<String>,
    /// Number of workers
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_count: Option<u64>,
    /// Second worker that the event names, besides `worker`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_worker: Option<String>,
    /// Type in the terms of the source
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_type: Option<String>,
    /// Further data, kept unchanged
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Further fields, kept unchanged
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The answer `{event}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppendEventAnswer {
    /// The recorded event
    pub event: TeamEvent,
}

/// Fields of a team event that only the log sets.
const OWN: [&str; 3] = ["event_id", "team", "created_at"];

impl Team {
    /// Records a report of a worker.
    pub fn append_event(&mut self, append: AppendEvent) -> Result<AppendEventAnswer> {
        append.event()?;
        self.execute(append)
    }
}

impl AppendEvent {
    fn event(&self) -> Result<NewEvent, Refusal> {
        names::check_known("worker", &self.worker)?;
        names::check_known_given([("task_id", &self.task_id)])?;
        names::check_known_free_given([("message_id", &self.message_id)])?;
        names::check_known_given([("to_worker", &self.to_worker)])?;
        if let Some(name) = OWN.iter().find(|name| self.extra.contains_key(**name)) {
            let message = format!("{name} cannot be given, because the log sets it");
            return Err(Refusal::new(Code::InvalidInput, message).field(*name));
        }
        let payload = Json::from_value(self).map_err(|error| {
            let rule = format!("must be an event ({error})");
            Refusal::invalid("input", self.kind.name(), &rule)
        })?;
        let mut event = NewEvent::new(REPORTED, self.worker.clone(), payload);
        event.refs.set_given([
            (RefKind::Agent, Some(&self.worker)),
            (RefKind::Task, self.task_id.as_deref()),
            (RefKind::Message, self.message_id.as_deref()),
        ]);
        Ok(event)
    }
}

impl Command for AppendEvent {
    type Decided = ();
    type Answer = AppendEventAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<()>> {
        let mut event = self.event()?;
        inherit_trace(live, &mut event)?;
        Ok(Decision::Granted((), vec![event]))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<AppendEventAnswer> {
        let event = TeamEvent::from_event(&after.last_event()?, after.team);
        let event = event.ok_or_else(unrecorded)?;
        Ok(AppendEventAnswer { event })
    }
}

//! `append`: a fact of somebody else's vocabulary.

use crate::prelude::*;
use crate::projections::vocabulary;
use schemars::{Schema, SchemaGenerator};
use serde::Serializer;

/// What `append` is asked. The kind must lie outside teamlog's own vocabulary.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Append {
    /// A past-tense fact in snake_case.
    pub kind: String,
    /// Who did it; default `teamlog`.
    pub actor: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
    /// The task concerned.
    pub task_id: Option<String>,
    /// The agent concerned.
    pub agent: Option<String>,
    /// The message concerned.
    pub message_id: Option<String>,
    /// The thread concerned.
    pub thread_id: Option<String>,
    /// The session concerned.
    pub session_id: Option<String>,
    /// The idempotency key.
    pub key: Option<String>,
    /// The event that led to it.
    pub cause: Option<EventId>,
    /// The payload as JSON text; default `{}`.
    pub payload: Option<String>,
}

/// `{seq, id, created_at}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendAnswer {
    /// The event as it was recorded.
    pub event: Recorded,
}

/// `{seq, id, created_at}` of the event that was recorded.
#[derive(Serialize, JsonSchema)]
struct Shown {
    /// The event's place in the log
    seq: u64,
    /// Its id
    id: String,
    /// When it was recorded
    #[schemars(with = "Timestamp")]
    created_at: String,
}

impl Serialize for AppendAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = &self.event.event;
        let shown = Shown {
            seq: event.seq,
            id: event.id.to_string(),
            created_at: event.created_at.to_string(),
        };
        shown.serialize(serializer)
    }
}

impl JsonSchema for AppendAnswer {
    fn schema_name() -> Cow<'static, str> {
        "AppendAnswer".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Shown::json_schema(generator)
    }
}

/// Who did it where nobody is named.
pub const DEFAULT_ACTOR: &str = "teamlog";

/// Version of the payload's shape, which is not ours to know.
const SCHEMA_VERSION: u32 = 1;

impl Team {
    /// Records a fact of somebody else's vocabulary.
    pub fn append(&mut self, append: Append) -> Result<AppendAnswer> {
        let fact = Fact(append.event()?);
        self.execute_unkeyed(fact)
    }
}

impl Append {
    /// The event, every field checked.
    pub(crate) fn event(self) -> Result<NewEvent, Refusal> {
        check_kind(&self.kind)?;
        let actor = self.actor.unwrap_or_else(|| DEFAULT_ACTOR.to_owned());
        names::check_free("actor", &actor)?;
        let text = self.payload.as_deref().unwrap_or("{}");
        let payload = Json::parse(text).map_err(|error| {
            Refusal::invalid("payload", text, format!("must be JSON ({error})"))
        })?;
        let mut event = NewEvent::new(self.kind, actor, payload);
        event.schema_version = SCHEMA_VERSION;
        event.foreign = true;
        event.cause = self.cause.map(Cause::Event);
        let trace = self.trace_id.filter(|trace| !trace.is_empty());
        let refs = [
            (RefKind::Trace, trace),
            (RefKind::Task, self.task_id),
            (RefKind::Agent, self.agent),
            (RefKind::Message, self.message_id),
            (RefKind::Thread, self.thread_id),
            (RefKind::Session, self.session_id),
            (RefKind::Key, self.key),
        ];
        for (kind, value) in refs {
            if let Some(value) = value {
                names::check_free(kind.name(), &value)?;
                event.refs.set(kind, value);
            }
        }
        Ok(event)
    }
}

fn check_kind(kind: &str) -> Result<(), Refusal> {
    if let Some(reserved) = vocabulary::find(kind) {
        let message = format!("kind must lie outside teamlog's own vocabulary, but is {kind:?}");
        let refusal = Refusal::new(Code::ReservedKind, message).field("kind");
        let refusal = refusal.detail("kind", kind);
        let Some(command) = reserved.command else {
            return Err(refusal.hint("no command produces it; it is kept for later versions"));
        };
        let refusal = refusal.hint(format!("it is produced by: {command}"));
        return Err(refusal.detail("command", command));
    }
    match names::is_kind(kind) {
        true => names::check_free("kind", kind),
        false => {
            let rule = "must match ^[a-z][a-z0-9_]*$";
            Err(Refusal::invalid("kind", kind, rule))
        }
    }
}

#[derive(Debug, Clone)]
struct Fact(NewEvent);

impl Command for Fact {
    type Decided = ();
    type Answer = AppendAnswer;

    fn decide(&self, live: &Live, _: Timestamp) -> Result<Decision<()>> {
        let mut event = self.0.clone();
        inherit_trace(live, &mut event)?;
        Ok(Decision::Granted((), vec![event]))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<AppendAnswer> {
        Ok(AppendAnswer {
            event: Recorded::plain(after.last_event()?),
        })
    }
}

/// An event that names no trace belongs to that of its message, else of its task.
pub(crate) fn inherit_trace(live: &Live, event: &mut NewEvent) -> Result<()> {
    if event.refs.get(RefKind::Trace).is_some() {
        return Ok(());
    }
    let mut trace = None;
    if let Some(message) = event.refs.get(RefKind::Message) {
        trace = live.message(message)?.and_then(|message| message.trace_id);
    }
    if let (None, Some(task)) = (&trace, event.refs.get(RefKind::Task)) {
        trace = live.task(task)?.and_then(|task| task.trace_id);
    }
    if let Some(trace) = trace {
        event.refs.set(RefKind::Trace, trace);
    }
    Ok(())
}

//! `append`: a fact of a foreign vocabulary.

use crate::command::unrecorded;
use crate::log::facts::{Fact, Facts};
pub use crate::names::DEFAULT_ACTOR;
use crate::operation::prelude::*;
use crate::projections::vocabulary;
use teamlog_engine::EventId;

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
    /// The idempotency key, which is also a ref of the event.
    pub key: Option<String>,
    /// The event that led to it.
    pub cause: Option<EventId>,
    /// The payload as JSON text; default `{}`.
    pub payload: Option<String>,
}

/// `{seq, id, created_at}` of the event that was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppendAnswer {
    /// The event's place in the log
    pub seq: u64,
    /// Its id
    #[schemars(with = "String")]
    pub id: EventId,
    /// When it was recorded
    pub created_at: Timestamp,
}

impl AppendAnswer {
    /// Returns the answer about a recorded event.
    pub(crate) fn new(event: &Event<'_>) -> AppendAnswer {
        AppendAnswer {
            seq: event.seq,
            id: event.id,
            created_at: event.created_at,
        }
    }
}

/// Version of the payload's shape, which is not ours to know.
const SCHEMA_VERSION: u32 = 1;

impl Team {
    /// Records a fact of a foreign vocabulary. Under a key that is known, with the same content, returns the first answer and
    /// records nothing.
    ///
    /// # Errors
    /// `invalid_input`, `reserved_kind`, `idempotency_key_reused`, `team_closed`; the log's.
    pub fn append(&mut self, append: Append) -> Result<AppendAnswer> {
        let facts = Facts::new(vec![Fact::new(append.event()?, None)]);
        let appended = self.append_facts(facts)?.pop().ok_or_else(unrecorded)?;
        self.repeated = appended.replayed;
        Ok(appended.answer)
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

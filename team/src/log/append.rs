//! `append`: records a fact of a foreign vocabulary.

use crate::command::{Control, unrecorded};
use crate::log::condition::Conditions;
use crate::log::facts::{Fact, Facts};
use crate::log::filter::EventFilter;
pub use crate::names::DEFAULT_ACTOR;
use crate::operation::json_text;
use crate::operation::prelude::*;
use crate::projections::tag::{TAGGED_VERSION, TAGS_MAX, check_tag, stored};
use crate::projections::vocabulary;
use teamlog_engine::EventId;

operation! {
    /// Record a fact of your own kind, which is ordered, traced and indexed, but changes no state
    "append": Records(Append {
        /// Kind of the fact, in snake_case and the past tense, outside of teamlog's own vocabulary
        kind: String,
        /// Actor of the fact; the caller if absent
        actor: Option<String>,
        /// Trace of the fact; the trace of its message or task if absent
        trace_id: Option<String>,
        /// Task that the fact concerns
        task_id: Option<String>,
        /// Agent that the fact concerns
        agent: Option<String>,
        /// Message that the fact concerns
        message_id: Option<String>,
        /// Thread that the fact concerns
        thread_id: Option<String>,
        /// Session that the fact concerns
        session_id: Option<String>,
        /// Idempotency key, also stored with the event: a fact with a known key and equal content is not recorded again
        key: Option<String>,
        /// Tags of the fact, each NAME=VALUE; at most 16. They are indexed, and filters can name them
        tags: Option<Vec<String>>,
        /// Id of the event that caused the fact
        #[schemars(with = "String")]
        cause: Option<EventId>,
        /// Payload, any JSON; `{}` if absent
        #[serde(with = "json_text")]
        #[schemars(with = "Value")]
        payload: Option<String>,
        /// Condition: record nothing if the log has an event after this seq
        if_seq: Option<u64>,
        /// Condition: record nothing if an event matches one of these filters; at most 16
        if_none: Option<Vec<EventFilter>>,
        /// Only events after this seq count for `if_none`; all events if absent
        after: Option<u64>,
    }) -> AppendAnswer = Team::append,
    refuses = [ReservedKind, AppendConflict, CursorAhead]
}

/// The answer `{seq, id, created_at}` of the recorded event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppendAnswer {
    /// Seq of the event
    pub seq: u64,
    /// Id of the event
    #[schemars(with = "String")]
    pub id: EventId,
    /// Time when the event was recorded
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

/// Version of a payload without tags. A payload with tags has `TAGGED_VERSION`.
const SCHEMA_VERSION: u32 = 1;

impl Team {
    /// Records a fact of a foreign vocabulary. If a fact with an equal key and equal content is recorded, returns the answer about that
    /// fact and records nothing.
    ///
    /// # Errors
    /// `invalid_input`, `reserved_kind`, `append_conflict`, `cursor_ahead`, `too_large`, `idempotency_key_reused`, `team_closed`;
    /// errors of the log.
    pub fn append(&mut self, append: Append) -> Result<AppendAnswer> {
        let mut append = append.completed(&self.control);
        let conditions = append.take_conditions();
        conditions.check()?;
        let facts = Facts::new(vec![Fact::new(append.event()?, None)]).with_conditions(conditions);
        let mut appended = self.append_facts(facts)?;
        let appended = appended.each.pop().ok_or_else(unrecorded)?;
        self.repeated = appended.replayed;
        Ok(appended.answer)
    }
}

impl Append {
    /// Fills the absent fields of the input from the call's control fields.
    fn completed(self, control: &Control) -> Append {
        let doer = || control.actor.clone().or_else(|| control.user.clone());
        Append {
            actor: self.actor.or_else(doer),
            trace_id: self.trace_id.or_else(|| control.trace_id.clone()),
            key: self.key.or_else(|| control.key.clone()),
            ..self
        }
    }

    /// Checks that a text is a valid payload, before a caller sends the text elsewhere.
    ///
    /// # Errors
    /// `invalid_input`.
    pub fn check_payload(text: &str) -> Result<(), Refusal> {
        payload(text).map(drop)
    }

    fn take_conditions(&mut self) -> Conditions {
        Conditions {
            if_seq: self.if_seq.take(),
            if_none: self.if_none.take().unwrap_or_default(),
            after: self.after.take(),
        }
    }

    /// Checks every field except the conditions, and returns the event.
    pub(crate) fn event(self) -> Result<NewEvent, Refusal> {
        check_kind(&self.kind)?;
        let actor = self.actor.unwrap_or_else(|| DEFAULT_ACTOR.to_owned());
        names::check_free("actor", &actor)?;
        let text = self.payload.as_deref().unwrap_or("{}");
        let tags = checked_tags(self.tags.unwrap_or_default())?;
        let (schema_version, payload) = match tags.is_empty() {
            true => (SCHEMA_VERSION, payload(text)?),
            false => (TAGGED_VERSION, tagged_payload(&tags, text)?),
        };
        let mut event = NewEvent::new(self.kind, actor, payload);
        event.schema_version = schema_version;
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

fn payload(text: &str) -> Result<Json, Refusal> {
    Json::parse(text)
        .map_err(|error| Refusal::invalid("payload", text, format!("must be JSON ({error})")))
}

/// Returns the stored payload of a fact with tags.
fn tagged_payload(tags: &[String], text: &str) -> Result<Json, Refusal> {
    stored(tags, &payload(text)?).map_err(|error| {
        Refusal::invalid(
            "payload",
            text,
            format!("must be nested less deeply, because the tags add one level ({error})"),
        )
    })
}

/// Checks tags, sorts them, and removes repeated ones.
fn checked_tags(mut tags: Vec<String>) -> Result<Vec<String>, Refusal> {
    for tag in &tags {
        check_tag("tags", tag)?;
    }
    tags.sort_unstable();
    tags.dedup();
    if tags.len() > TAGS_MAX {
        let message = format!(
            "tags must have at most {TAGS_MAX} items, but has {}",
            tags.len()
        );
        return Err(Refusal::new(Code::InvalidInput, message).field("tags"));
    }
    Ok(tags)
}

fn check_kind(kind: &str) -> Result<(), Refusal> {
    if let Some(reserved) = vocabulary::find(kind) {
        let message = format!("kind {kind:?} is reserved for teamlog's own events");
        let refusal = Refusal::new(Code::ReservedKind, message).field("kind");
        let refusal = refusal.detail("kind", kind);
        let Some(command) = reserved.command else {
            return Err(refusal.hint(
                "no command records events of this kind: it is reserved for later versions",
            ));
        };
        let refusal = refusal.hint(format!("events of this kind are recorded by: {command}"));
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

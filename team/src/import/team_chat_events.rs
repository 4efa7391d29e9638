//! Events in files of the team chat protocol. Messages, acks and dead letters determine the state, so events about them are skipped. Other
//! events (repetitions, suppressions, rejected acks, retries) are kept for their traces. Such an event becomes the payload of an event of
//! the same kind with the mark `foreign`. Only this import uses the mark for reserved kinds.

use crate::import::source::EVENT_REST_BYTES_MAX;
use crate::operation::prelude::*;
use crate::projections::message::{Names, check_id, check_name};
use teamlog_engine::limits::EVENT_BYTES_MAX;

pub(crate) struct OldEvent {
    /// Id of the event. Files may contain the same id twice.
    pub id: Option<String>,
    pub kind: String,
    /// Time of the event, in its original form.
    pub created_at: String,
    whole: Json,
    fields: Map<String, Value>,
}

/// Places of a field in an event: at the top level, in the payload, or in a message inside the
/// payload.
const PLACES: [&[&str]; 3] = [&[], &["payload"], &["payload", "message"]];

impl OldEvent {
    pub fn parse(text: &str) -> Result<OldEvent, String> {
        let whole = Json::parse(text)
            .map_err(|error| format!("the line must be a JSON object ({error})"))?;
        let bytes = whole.as_str().len();
        if bytes + EVENT_REST_BYTES_MAX > EVENT_BYTES_MAX {
            return Err(format!(
                "the event must fit into one of {EVENT_BYTES_MAX} bytes, but has {bytes}"
            ));
        }
        let fields: Map<String, Value> = serde_json::from_str(whole.as_str())
            .map_err(|error| format!("the line must be a JSON object ({error})"))?;
        let required = |field: &str| match fields.get(field) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(format!("{field} must be a string, but is {other}")),
            None => Err(format!("{field} is required, but is missing")),
        };
        let kind = required("kind")?;
        check_kind(&kind)?;
        let id = fields.get("id").and_then(Value::as_str);
        Ok(OldEvent {
            id: id.filter(|id| !id.is_empty()).map(str::to_owned),
            created_at: required("created_at")?,
            kind,
            whole,
            fields,
        })
    }

    /// Returns the id of the message that the event concerns.
    pub fn message_id(&self) -> Option<&str> {
        let of_message = || self.at(&["payload", "message"])?.get("id")?.as_str();
        self.texts("message_id").next().or_else(of_message)
    }

    /// Returns the payload as JSON text; `null` if it is absent.
    pub fn payload(&self) -> String {
        let payload = self.fields.get("payload");
        payload.map_or_else(|| "null".to_owned(), Value::to_string)
    }

    pub fn kept(self) -> NewEvent {
        let is_name = |name: &str| check_name("name", name, Names::Imported).is_ok();
        let named = |field| self.first(field, is_name);
        let free = |field| self.first(field, |id| check_id("id", id).is_ok());
        let message = self.message_id().filter(|id| check_id("id", id).is_ok());
        let refs = [
            (RefKind::Trace, free("trace_id")),
            (RefKind::Task, named("task_id")),
            (RefKind::Agent, named("agent").or_else(|| named("to"))),
            (RefKind::Message, message.map(str::to_owned)),
        ];
        let actor = named("from").or_else(|| named("agent"));
        let actor = actor.unwrap_or_else(|| DEFAULT_ACTOR.to_owned());
        let mut event = NewEvent::new(self.kind, actor, self.whole);
        event.foreign = true;
        for (kind, value) in refs {
            if let Some(value) = value {
                event.refs.set(kind, value);
            }
        }
        event
    }

    /// Returns the first text that `keeps` accepts, from the fields with that name.
    fn first(&self, field: &str, keeps: impl Fn(&str) -> bool) -> Option<String> {
        let text = self.texts(field).find(|text| keeps(text));
        text.map(str::to_owned)
    }

    fn texts<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a str> {
        let at = move |place: &&[&str]| self.at(place)?.get(field)?.as_str();
        PLACES.iter().filter_map(at)
    }

    fn at(&self, place: &[&str]) -> Option<&Map<String, Value>> {
        let mut place = place.iter();
        place.try_fold(&self.fields, |fields, name| fields.get(*name)?.as_object())
    }
}

fn check_kind(kind: &str) -> Result<(), String> {
    match names::is_kind(kind) {
        true => check_id("kind", kind).map_err(|error| error.to_string()),
        false => Err(format!(
            "kind must match ^[a-z][a-z0-9_]*$, but is {kind:?}"
        )),
    }
}

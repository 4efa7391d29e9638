//! A filter for events by kind, tags and refs, as JSON and as text.
//!
//! ```text
//! kind=order_placed,order_paid tag=customer=c7 tag="note=to do" task=7
//! ```

use crate::log::replay::Replay;
use crate::operation::prelude::*;
use crate::projections::event_index::IndexQuery;
use crate::projections::tag::{Content, TAGS_MAX, check_tag};

/// Largest number of kinds in a filter.
pub const KINDS_MAX: usize = 64;

/// A filter for events. An event must match every field that is present.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventFilter {
    /// Kinds of which the event must have one
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Tags that the event must have, each NAME=VALUE
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Task that the event must name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Agent that the event must name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Trace of the event
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Message that the event must name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Thread that the event must name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Session that the event must name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Actor of the event
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

words! {
    /// A field of a filter's text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FilterField {
        /// Kind of the event, or several kinds separated by commas.
        Kind = "kind" | "kinds",
        /// Tag of the event.
        Tag = "tag" | "tags",
        /// Task of the event.
        Task = "task" | "task_id",
        /// Agent that the event names.
        Agent = "agent",
        /// Trace of the event.
        Trace = "trace" | "trace_id",
        /// Message of the event.
        Message = "message" | "message_id",
        /// Thread of the event.
        Thread = "thread" | "thread_id",
        /// Session of the event.
        Session = "session" | "session_id",
        /// Actor of the event.
        Actor = "actor" | "by",
    }
}

impl EventFilter {
    /// Parses the text of a filter: terms FIELD=VALUE, separated by spaces, or a JSON object. A part of a term in double quotes may
    /// contain spaces. Repeated kinds are alternatives; every repeated tag must match.
    ///
    /// # Errors
    /// `invalid_input`, which names the term and the rule. The caller has to check the values with [`EventFilter::check`].
    pub fn from_text(field: &'static str, text: &str) -> Result<EventFilter, Refusal> {
        if text.trim_start().starts_with('{') {
            return serde_json::from_str(text).map_err(|error| {
                Refusal::invalid(field, text, format!("must be a filter ({error})"))
            });
        }
        let mut filter = EventFilter::default();
        for term in terms(text) {
            let (name, value) = term.split_once('=').unwrap_or((&term, ""));
            let (Some(name), false) = (FilterField::from_name(name), value.is_empty()) else {
                let names = FilterField::ALL.map(FilterField::name);
                // Conditions cannot name an actor.
                let names = names.into_iter().filter(|name| *name != "actor");
                let names = names.collect::<Vec<_>>().join(", ");
                let rule = format!("must be FIELD=VALUE terms, where FIELD is one of {names}");
                return Err(Refusal::invalid(field, &*term, rule));
            };
            if !filter.set(name, value) {
                let rule = format!("must name {} once", name.name());
                return Err(Refusal::invalid(field, text, rule));
            }
        }
        Ok(filter)
    }

    /// Sets a field. Returns false if the field has a value and cannot have two.
    fn set(&mut self, field: FilterField, value: &str) -> bool {
        let place = match field {
            FilterField::Kind => {
                self.kinds.extend(value.split(',').map(str::to_owned));
                return true;
            }
            FilterField::Tag => {
                self.tags.push(value.to_owned());
                return true;
            }
            FilterField::Task => &mut self.task_id,
            FilterField::Agent => &mut self.agent,
            FilterField::Trace => &mut self.trace_id,
            FilterField::Message => &mut self.message_id,
            FilterField::Thread => &mut self.thread_id,
            FilterField::Session => &mut self.session_id,
            FilterField::Actor => &mut self.actor,
        };
        place.replace(value.to_owned()).is_none()
    }

    /// Checks the values.
    ///
    /// # Errors
    /// `invalid_input`.
    pub fn check(&self) -> Result<(), Refusal> {
        within("kinds", self.kinds.len(), KINDS_MAX)?;
        within("tags", self.tags.len(), TAGS_MAX)?;
        for kind in &self.kinds {
            names::check_known_free("kinds", kind)?;
            // No event has such a kind, so the condition of an append would always hold.
            if !names::is_kind(kind) {
                let rule = "must match ^[a-z][a-z0-9_]*$";
                return Err(Refusal::invalid("kinds", kind, rule));
            }
        }
        for tag in &self.tags {
            check_tag("tags", tag)?;
        }
        names::check_known_free_given([
            ("task_id", &self.task_id),
            ("agent", &self.agent),
            ("trace_id", &self.trace_id),
            ("message_id", &self.message_id),
            ("thread_id", &self.thread_id),
            ("session_id", &self.session_id),
            ("actor", &self.actor),
        ])
    }

    /// Returns true if the filter has no field, so that every event matches.
    pub fn is_empty(&self) -> bool {
        *self == EventFilter::default()
    }

    /// Returns true if an event matches.
    pub fn matches(&self, event: &Event<'_>) -> bool {
        let kinds = &self.kinds;
        (kinds.is_empty() || kinds.iter().any(|kind| *kind == event.kind))
            && self
                .actor
                .as_deref()
                .is_none_or(|actor| actor == event.actor)
            && self
                .refs()
                .all(|(kind, value)| event.refs.get(kind) == Some(value))
            && has_tags(event, &self.tags)
    }

    /// Returns the refs that an event must have.
    fn refs(&self) -> impl Iterator<Item = (RefKind, &str)> {
        let refs = [
            (RefKind::Trace, &self.trace_id),
            (RefKind::Task, &self.task_id),
            (RefKind::Agent, &self.agent),
            (RefKind::Message, &self.message_id),
            (RefKind::Thread, &self.thread_id),
            (RefKind::Session, &self.session_id),
        ];
        refs.into_iter()
            .filter_map(|(kind, value)| Some((kind, value.as_deref()?)))
    }

    /// Returns the query of the index, which has every field except the actor.
    pub fn index_query(&self) -> IndexQuery<'_> {
        IndexQuery {
            kinds: self.kinds.iter().map(String::as_str).collect(),
            tags: self.tags.iter().map(String::as_str).collect(),
            refs: self.refs().collect(),
        }
    }

    /// Returns the text of the filter, which [`EventFilter::from_text`] reads.
    pub fn text(&self) -> String {
        let plain = |value: &str| !value.is_empty() && !value.contains(['"', ' ']);
        let mut terms: Vec<(FilterField, &str)> = Vec::new();
        terms.extend(self.kinds.iter().map(|kind| (FilterField::Kind, &**kind)));
        terms.extend(self.tags.iter().map(|tag| (FilterField::Tag, &**tag)));
        let fields = [
            (FilterField::Task, &self.task_id),
            (FilterField::Agent, &self.agent),
            (FilterField::Trace, &self.trace_id),
            (FilterField::Message, &self.message_id),
            (FilterField::Thread, &self.thread_id),
            (FilterField::Session, &self.session_id),
            (FilterField::Actor, &self.actor),
        ];
        let fields = fields.into_iter();
        terms.extend(fields.filter_map(|(field, value)| Some((field, value.as_deref()?))));
        if !terms.iter().all(|(_, value)| plain(value)) {
            return serde_json::to_string(self).unwrap_or_default();
        }
        let terms = terms
            .iter()
            .map(|(field, value)| format!("{}={value}", field.name()));
        terms.collect::<Vec<_>>().join(" ")
    }
}

/// Returns true if an event has all of the tags.
pub(crate) fn has_tags(event: &Event<'_>, tags: &[String]) -> bool {
    if tags.is_empty() {
        return true;
    }
    let content = Content::from_event(event);
    tags.iter().all(|tag| content.has(tag))
}

fn within(field: &'static str, count: usize, max: usize) -> Result<(), Refusal> {
    if count > max {
        let message = format!("{field} must have at most {max} items, but has {count}");
        return Err(Refusal::new(Code::InvalidInput, message).field(field));
    }
    Ok(())
}

/// Splits a text at white space outside double quotes, and removes the quotes.
fn terms(text: &str) -> Vec<String> {
    let (mut terms, mut term, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c.is_whitespace() && !is_quoted => {
                if !term.is_empty() {
                    terms.push(std::mem::take(&mut term));
                }
            }
            c => term.push(c),
        }
    }
    if !term.is_empty() {
        terms.push(term);
    }
    terms
}

impl From<&EventFilter> for Replay {
    /// Returns the part of the filter that [`Replay`] has: kinds, tags, task, agent, trace and actor.
    fn from(filter: &EventFilter) -> Replay {
        Replay {
            kind: (!filter.kinds.is_empty()).then(|| filter.kinds.join(",")),
            tags: filter.tags.clone(),
            actor: filter.actor.clone(),
            trace_id: filter.trace_id.clone(),
            task_id: filter.task_id.clone(),
            agent: filter.agent.clone(),
            ..Replay::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<EventFilter, Refusal> {
        let filter = EventFilter::from_text("if_none", text)?;
        filter.check()?;
        Ok(filter)
    }

    #[test]
    fn a_text_and_a_json_object_give_the_same_filter() {
        let text = "kind=a,b tag=pr=77  tag=\"note=to do\" task=7 agent=dev trace=tr message=m thread=th session=s actor=ci";
        let json = r#"{"kinds":["a","b"],"tags":["pr=77","note=to do"],"task_id":"7","agent":"dev","trace_id":"tr",
            "message_id":"m","thread_id":"th","session_id":"s","actor":"ci"}"#;
        let filter = parsed(text).unwrap();
        assert_eq!(filter, parsed(json).unwrap());
        assert_eq!(filter, parsed(&filter.text()).unwrap());
        let short = parsed("kind=a kind=b tag=pr=77").unwrap();
        assert_eq!(short.text(), "kind=a kind=b tag=pr=77");
        assert_eq!(short, parsed(&short.text()).unwrap());
    }

    #[test]
    fn a_text_that_is_no_filter_is_refused() {
        let many = (0..65).map(|n| format!("k{n}")).collect::<Vec<_>>();
        for (text, rule) in [
            ("order_placed", "FIELD=VALUE"),
            ("kinds:a", "FIELD=VALUE"),
            ("owner=dev", "kind, tag, task"),
            ("task=", "FIELD=VALUE"),
            ("task=1 task=2", "task once"),
            ("tag=pr", "NAME=VALUE"),
            ("kind=,", "kinds must not be empty"),
            ("kind=k;tag=a=2", "^[a-z][a-z0-9_]*$"),
            ("kind=K", "^[a-z][a-z0-9_]*$"),
            ("{\"kinds\":[\"*\"]}", "^[a-z][a-z0-9_]*$"),
            ("{\"kind\":\"a\"}", "must be a filter"),
            (&*format!("kind={}", many.join(",")), "at most 64 items"),
        ] {
            let refusal = parsed(text).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidInput);
            assert!(refusal.message.contains(rule), "{text}: {refusal}");
        }
    }
}

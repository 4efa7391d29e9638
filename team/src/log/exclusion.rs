//! Exclusions in a filter of events: values that an event must not have, such as `kind:task_created`.

use crate::operation::prelude::*;
use crate::projections::event::message_type;
use std::borrow::Cow;

words! {
    /// A field of an event that an exclusion names.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ExcludedField {
        /// Kind of the event
        Kind = "kind",
        /// Type of the message
        Type = "type",
        /// Actor of the event
        Actor = "actor",
        /// Agent that the event concerns
        Agent = "agent",
        /// Task of the event
        Task = "task",
        /// Trace of the event
        Trace = "trace",
    }
}

impl ExcludedField {
    /// Returns the field of an event.
    fn value<'a>(self, event: &'a Event<'_>) -> Option<Cow<'a, str>> {
        match self {
            ExcludedField::Kind => Some(Cow::Borrowed(&event.kind)),
            ExcludedField::Actor => Some(Cow::Borrowed(&event.actor)),
            ExcludedField::Type => message_type(event),
            ExcludedField::Agent => event.refs.get(RefKind::Agent).map(Cow::Borrowed),
            ExcludedField::Task => event.refs.get(RefKind::Task).map(Cow::Borrowed),
            ExcludedField::Trace => event.refs.get(RefKind::Trace).map(Cow::Borrowed),
        }
    }
}

/// Splits `FIELD:VALUE`. Returns `None` for another form.
fn parsed(text: &str) -> Option<(ExcludedField, &str)> {
    let (field, value) = text.split_once(':')?;
    Some((ExcludedField::from_name(field)?, value))
}

/// Returns true if the event has one of the excluded values.
pub(super) fn is_excluded(not: &[String], event: &Event<'_>) -> bool {
    not.iter()
        .filter_map(|text| parsed(text))
        .any(|(field, value)| field.value(event).as_deref() == Some(value))
}

/// Checks the form of exclusions.
pub(super) fn check(not: &[String]) -> Result<(), Refusal> {
    for text in not {
        let Some((_, value)) = parsed(text) else {
            let fields = ExcludedField::ALL.map(ExcludedField::name).join(", ");
            let rule = format!("must be FIELD:VALUE, where FIELD is one of {fields}");
            return Err(Refusal::invalid("not", text, &rule));
        };
        names::check_known_free("not", value)?;
    }
    Ok(())
}

//! The rules of an envelope's fields.

use super::unapplied::unapplied;
use super::{InvalidMessage, Message, Names, NotApplied, Unapplied};
use crate::event::task::Status;
use crate::fields::Fields;
use crate::identifier::{check_id, check_name, check_new_id, shown};

/// Checks every field of a message.
pub(super) fn check(message: &Message, names: Names) -> Result<(), InvalidMessage> {
    let check_id = match names {
        Names::New | Names::Known => check_new_id,
        Names::Imported => check_id,
    };
    check_id("message.id", &message.id)?;
    check_name("message.from", &message.from, names)?;
    check_name("message.to", &message.to, names)?;
    if let Some(task) = &message.task_id {
        check_name("message.task_id", task, names)?;
    }
    if let Some(trace) = &message.trace_id {
        check_id("message.trace_id", trace)?;
    }
    let payload = message.payload.as_str();
    let fields: Fields<'_> = serde_json::from_str(payload)
        .map_err(|_| InvalidMessage::new("message.payload", shown(payload), "must be an object"))?;
    if message.is_about_a_task() && names != Names::Imported {
        let found = unapplied(message.kind, &fields, names);
        let wrong = |one: &Unapplied| one.reason == NotApplied::WrongType;
        if let Some(wrong) = found.into_iter().find(wrong) {
            return Err(wrong.rule);
        }
    }
    // The payload is one level deeper in the envelope than alone, so the depth of the whole envelope is checked.
    match message.is_shallow() {
        true => Ok(()),
        false => message.to_json().map(drop),
    }
}

/// Lists the valid statuses.
pub(super) fn statuses() -> String {
    format!("{}, done, skipped", Status::rule())
}

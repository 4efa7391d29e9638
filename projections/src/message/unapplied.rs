//! Fields of a task message that cannot be applied to a task. The message is recorded nevertheless. Its event lists the fields
//! that were left out, so that a later version that could apply them leaves old tasks unchanged.

use super::rules::statuses;
use super::{InvalidMessage, Message, MessageType, Names, TASK_ID};
use crate::event::task::Status;
use crate::fields::Fields;
use crate::identifier::{check_id, check_name, check_title, shown, shown_quoted};
use crate::prelude::*;

words! {
    /// Reason for which a field is not applied to a task.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum NotApplied {
        /// The message names no task.
        NoTaskId = "no_task_id",
        /// The status is unknown.
        UnknownStatus = "unknown_status",
        /// The field's value has another type than the task's field. Occurs only in imported history; a new message is
        /// refused.
        WrongType = "wrong_type",
        /// The dependency would close a cycle. Occurs only in answers to a send.
        DependencyCycle = "dependency_cycle",
        /// The status would complete a task without the approval that the task requires.
        ApprovalRequired = "approval_required",
        /// The status would complete a task whose parts are not completed.
        OpenParts = "open_parts",
    }
}

/// One field of a task message that is not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unapplied {
    /// Name of the field: `task_id`, or a field of the payload.
    pub field: String,
    /// Reason.
    pub reason: NotApplied,
    /// Description of the reason.
    pub rule: InvalidMessage,
}

impl Unapplied {
    /// Returns the status of an update that would complete a task without its required approval.
    pub fn unapproved(task_id: &str) -> Unapplied {
        let rule = format!("must wait until task {task_id} is approved");
        Unapplied::completion(NotApplied::ApprovalRequired, rule)
    }

    /// Returns the status of an update that would complete a task with open parts.
    pub fn with_open_parts(task_id: &str) -> Unapplied {
        let rule = format!("must wait until the parts of task {task_id} are completed");
        Unapplied::completion(NotApplied::OpenParts, rule)
    }

    fn completion(reason: NotApplied, rule: String) -> Unapplied {
        let status = Status::Completed.name();
        Unapplied {
            field: "status".to_owned(),
            reason,
            rule: InvalidMessage::new("message.payload.status", status, rule),
        }
    }
}

impl Message {
    /// Returns the fields that are not applied to a task. If the message names no task, returns all fields.
    pub fn unapplied(&self) -> Vec<Unapplied> {
        if !self.is_about_a_task() {
            return Vec::new();
        }
        if self.task_id.is_none() {
            let rule = format!("is required for a {} to change a task", self.kind.name());
            return vec![Unapplied {
                field: TASK_ID.to_owned(),
                reason: NotApplied::NoTaskId,
                rule: InvalidMessage::new("message.task_id", "missing", rule),
            }];
        }
        match serde_json::from_str(self.payload.as_str()) {
            Ok(fields) => unapplied(self.kind, &fields, Names::Imported),
            Err(_) => Vec::new(),
        }
    }

    /// Returns the status that the message gives its task; `None` if the message gives no status.
    pub fn reported_status(&self) -> Option<Status> {
        #[derive(Deserialize)]
        struct Reported<'a> {
            #[serde(borrow)]
            status: Option<Cow<'a, str>>,
        }
        match self.kind {
            MessageType::TaskAssign => Some(Status::Assigned),
            MessageType::TaskUpdate => {
                let reported: Reported<'_> = serde_json::from_str(self.payload.as_str()).ok()?;
                Status::from_name(&reported.status?)
            }
            _ => None,
        }
    }

    /// Returns true if the message is of a type that changes tasks.
    pub fn is_about_a_task(&self) -> bool {
        matches!(self.kind, MessageType::TaskAssign | MessageType::TaskUpdate)
    }
}

/// Returns the fields of a task message's payload that are not applied.
pub(super) fn unapplied(kind: MessageType, fields: &Fields<'_>, names: Names) -> Vec<Unapplied> {
    let faults = fields.0.iter().filter_map(|(name, raw)| {
        let (reason, rule) = field(kind, name, raw, names).err()?;
        Some(Unapplied {
            field: name.to_string(),
            reason,
            rule,
        })
    });
    faults.collect()
}

/// Checks one field of a task message's payload. `null` means that the field is absent. Unknown fields are allowed.
fn field(
    kind: MessageType,
    name: &str,
    raw: &RawValue,
    names: Names,
) -> Result<(), (NotApplied, InvalidMessage)> {
    let invalid = |field, rule: &str| InvalidMessage::new(field, shown(raw.get()), rule);
    let wrong = |field, rule: &str| Err((NotApplied::WrongType, invalid(field, rule)));
    let text = || serde_json::from_str::<Option<String>>(raw.get());
    match (kind, name) {
        (MessageType::TaskAssign, "subject") if text().is_err() => {
            wrong("message.payload.subject", "must be a string")
        }
        (MessageType::TaskAssign, "subject") if names != Names::Imported => {
            let title = text().ok().flatten().unwrap_or_default();
            check_title("message.payload.subject", &title)
                .map_err(|rule| (NotApplied::WrongType, rule))
        }
        (MessageType::TaskAssign, "details") if text().is_err() => {
            wrong("message.payload.details", "must be a string")
        }
        (MessageType::TaskAssign, "deps") => {
            let Ok(deps) = serde_json::from_str::<Option<Vec<String>>>(raw.get()) else {
                return wrong("message.payload.deps", "must be an array of task ids");
            };
            // Imported history may depend on tasks of other trackers, whose ids do not fit our rules. Such dependencies stay
            // unknown.
            let check = |dep: &String| match names {
                Names::New | Names::Known => check_name("message.payload.deps", dep, names),
                Names::Imported => check_id("message.payload.deps", dep),
            };
            let checked = deps.iter().flatten().try_for_each(check);
            checked.map_err(|rule| (NotApplied::WrongType, rule))
        }
        (MessageType::TaskUpdate, "status") => match text() {
            Ok(None) => Ok(()),
            Ok(Some(status)) if Status::from_name(&status).is_some() => Ok(()),
            Ok(Some(status)) => {
                let status = shown_quoted(&status);
                let rule = InvalidMessage::new("message.payload.status", status, statuses());
                Err((NotApplied::UnknownStatus, rule))
            }
            Err(_) => wrong("message.payload.status", &statuses()),
        },
        (MessageType::TaskUpdate, "note") if text().is_err() => {
            wrong("message.payload.note", "must be a string")
        }
        (MessageType::TaskUpdate, "blocked")
            if serde_json::from_str::<Option<bool>>(raw.get()).is_err() =>
        {
            wrong("message.payload.blocked", "must be true or false")
        }
        _ => Ok(()),
    }
}

//! What a task message says that cannot be applied to a task. It is a message like any other; its event says what was
//! left out, so that a later version which could apply it leaves old tasks as they were.

use super::rules::statuses;
use super::{InvalidMessage, Message, MessageType, Names, TASK_ID};
use crate::event::task::Status;
use crate::fields::Fields;
use crate::identifier::{check_id, check_name, check_title, shown, shown_quoted};
use crate::prelude::*;

words! {
    /// Why something that a message says is not applied to a task.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum NotApplied {
        /// The message names no task.
        NoTaskId = "no_task_id",
        /// The status is none that a task can have.
        UnknownStatus = "unknown_status",
        /// The field holds another type of value than a task has there. Only imported history has this; a message that is sent
        /// now is refused.
        WrongType = "wrong_type",
        /// The dependency would close a cycle. Only answers to a send have this.
        DependencyCycle = "dependency_cycle",
        /// The status would complete a task without the approval that it requires.
        ApprovalRequired = "approval_required",
    }
}

/// One field of a task message that is not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unapplied {
    /// The field: `task_id`, or one of the payload.
    pub field: String,
    /// Why.
    pub reason: NotApplied,
    /// The same in words.
    pub rule: InvalidMessage,
}

impl Unapplied {
    /// The status of an update that would complete a task without the approval which the task requires.
    pub fn unapproved(task_id: &str) -> Unapplied {
        let rule = format!("must wait until task {task_id} is approved");
        let status = Status::Completed.name();
        Unapplied {
            field: "status".to_owned(),
            reason: NotApplied::ApprovalRequired,
            rule: InvalidMessage::new("message.payload.status", status, rule),
        }
    }
}

impl Message {
    /// What it says that is not applied to a task. Where it names none, that is all of it.
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

    /// The status that it gives its task; `None` if it gives none.
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

    /// Whether it is of a type by which tasks change.
    pub fn is_about_a_task(&self) -> bool {
        matches!(self.kind, MessageType::TaskAssign | MessageType::TaskUpdate)
    }
}

/// The fields of the payload of a task message that are not applied.
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

/// Checks one field of the payload of a task message; `null` stands for absent, unknown fields are free.
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
            // History points at tasks of other trackers, whose ids are none of ours; such a dependency stays unknown.
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

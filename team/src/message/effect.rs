//! The effect of a message on its task, and warnings about the names in the message.

use crate::doubts::{RecipientDoubts, similar_task, unknown_deps};
use crate::message::send::KeptAsReport;
use crate::operation::prelude::*;
use crate::projections::message::NotApplied;
use crate::task::approval;

/// Effect of a message on its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Applied {
    /// The message was applied to the task.
    Applied,
    /// The message changed nothing, because a newer message was applied to the task earlier.
    Superseded,
    /// The message is recorded, but at least a part of it did not change the task; `reason` says why.
    NotApplied,
}

/// The effect of a message on its task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// `None` if the message is not about a task.
    pub applied: Option<Applied>,
    /// Reason if a part of the message was not applied.
    pub reason: Option<&'static str>,
    /// The fields that were not applied, with the reason per field.
    pub not_applied: BTreeMap<String, NotApplied>,
    /// The unchanged task, if it is claim-governed and the message was only kept as a report.
    pub reported: Option<KeptAsReport>,
}

/// Warnings about the names in a message, and a note if the recipient has stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doubts {
    /// True if the message created its task, because no task had that id
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    /// The existing task that was probably meant, if the message created a task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
    /// Dependencies in the message that do not exist as tasks
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_deps: Vec<String>,
    /// Warnings about the recipient and the sender
    #[serde(flatten)]
    pub agents: RecipientDoubts,
}

impl Doubts {
    /// Checks the names in a message before the message is recorded.
    pub(crate) fn find(live: &Live, message: &Message) -> Result<Doubts> {
        let mut doubts = Doubts {
            agents: RecipientDoubts::find(live, &message.to, &message.from)?,
            ..Doubts::default()
        };
        let Some(id) = message
            .task_id
            .as_ref()
            .filter(|_| message.is_about_a_task())
        else {
            return Ok(doubts);
        };
        if message.kind == MessageType::TaskUpdate && live.task(id)?.is_none() {
            doubts.created = true;
            doubts.did_you_mean = similar_task(live, id)?;
        }
        doubts.unknown_deps = unknown_deps(live, &wanted_deps(message))?;
        Ok(doubts)
    }
}

/// Refuses an update of an unknown task if the team's settings forbid updates that create tasks.
pub(crate) fn check_creation(live: &Live, message: &Message, id: &str) -> Result<()> {
    let setting = Setting::TasksCreateByUpdate;
    if message.kind != MessageType::TaskUpdate || live.setting(setting)?.0.switch() {
        return Ok(());
    }
    let meant = similar_task(live, id)?;
    let meant = meant.map(|meant| format!("; did you mean {meant}?"));
    let text = format!(
        "no task {id} in this team, and updates create no tasks ({} is false){}",
        setting.key(),
        meant.unwrap_or_default()
    );
    let refusal = Refusal::new(Code::TaskNotFound, text).field("message.task_id");
    Err(refusal.detail("task_id", id).into())
}

/// Returns the effect of a recorded message, read from the state after the message.
pub(crate) fn read(after: &After<'_>, message: &Message, seq: u64) -> Result<Effect> {
    let live = after.live;
    let Some(id) = message
        .task_id
        .as_ref()
        .filter(|_| message.is_about_a_task())
    else {
        let applied = message.is_about_a_task().then_some(Applied::NotApplied);
        return Ok(left_out(applied, message, BTreeMap::new()));
    };
    if live.superseded(seq)? {
        return Ok(Effect {
            applied: Some(Applied::Superseded),
            reason: Some("newer_message"),
            ..Effect::default()
        });
    }
    let task = live.task(id)?.unwrap_or_default();
    if task.claim_governed {
        return Ok(Effect {
            applied: Some(Applied::NotApplied),
            reason: Some("claim_governed"),
            reported: Some(KeptAsReport::read(after, &task, message)?),
            ..left_out(None, message, BTreeMap::new())
        });
    }
    let wanted = wanted_deps(message);
    let is_cyclic = wanted.iter().any(|dep| task.ignored_deps.contains(dep));
    let deps = is_cyclic.then(|| ("deps".to_owned(), NotApplied::DependencyCycle));
    let status = approval::withheld(live, message)?.map(|one| (one.field, one.reason));
    let fields = deps.into_iter().chain(status).collect();
    Ok(left_out(Some(Applied::Applied), message, fields))
}

/// Returns the effect of a message with unapplied fields: `fields`, and further fields of the
/// message that cannot be applied.
fn left_out(
    applied: Option<Applied>,
    message: &Message,
    mut fields: BTreeMap<String, NotApplied>,
) -> Effect {
    let unapplied = message.unapplied().into_iter();
    fields.extend(unapplied.map(|one| (one.field, one.reason)));
    let reason = fields.values().next().map(|reason| reason.name());
    Effect {
        applied: match reason {
            Some(_) => Some(Applied::NotApplied),
            None => applied,
        },
        reason,
        not_applied: fields,
        reported: None,
    }
}

/// Returns the dependencies that an assignment names.
fn wanted_deps(message: &Message) -> Vec<String> {
    #[derive(Deserialize)]
    struct Wanted {
        deps: Option<Vec<String>>,
    }
    if message.kind != MessageType::TaskAssign {
        return Vec::new();
    }
    let wanted = serde_json::from_str::<Wanted>(message.payload.as_str());
    wanted
        .ok()
        .and_then(|wanted| wanted.deps)
        .unwrap_or_default()
}

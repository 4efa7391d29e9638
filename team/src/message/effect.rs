//! The effect of a message beside its delivery: applied to its task or not, and doubts about the names in it.

use crate::doubts::{RecipientDoubts, similar_task, unknown_deps};
use crate::message::send::KeptAsReport;
use crate::operation::prelude::*;
use crate::projections::message::NotApplied;
use crate::task::approval;

/// Tells if a message changed the task that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Applied {
    /// The message was applied to the task.
    Applied,
    /// A newer message was applied to the task before; this one changed nothing.
    Superseded,
    /// The message is recorded, but part of it did not change the task; `reason` says why.
    NotApplied,
}

/// The effect of a message on the task that it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// `None` for a message that is not about a task.
    pub applied: Option<Applied>,
    /// The reason if not all of it was applied.
    pub reason: Option<&'static str>,
    /// The fields that were not applied.
    pub not_applied: BTreeMap<String, NotApplied>,
    /// The task as it stays, if only claims move it.
    pub reported: Option<KeptAsReport>,
}

/// Doubts about the names in a message, and a note if the recipient has stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doubts {
    /// True if the message created its task: no task had that id
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    /// The existing task that was probably meant instead
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
    /// Dependencies that no task of the team has as its id
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_deps: Vec<String>,
    /// Doubts about the recipient and the sender
    #[serde(flatten)]
    pub agents: RecipientDoubts,
}

impl Doubts {
    /// Looks up the names of a message that is about to be recorded.
    pub(crate) fn of(live: &Live, message: &Message) -> Result<Doubts> {
        let mut doubts = Doubts {
            agents: RecipientDoubts::of(live, &message.to, &message.from)?,
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

/// Refuses an update of a task that does not exist, if the team's settings say so.
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

/// Finds the effect of a message in the state after it.
pub(crate) fn of(after: &After<'_>, message: &Message, seq: u64) -> Result<Effect> {
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
            reported: Some(KeptAsReport::of(after, &task, message)?),
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

/// Returns the effect of a message of which `fields`, and the ones that the message names itself, were not applied.
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

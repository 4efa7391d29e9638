//! The briefing of a leader in `prime`: the state of the whole team in few words. The briefing must be complete in itself, because
//! the leader possibly lost its context. Lists are cut to 10 items, so each list also gives the number of all its items.

use crate::attention::Attention;
use crate::command::authority::is_leader;
use crate::message::notices;
use crate::message::prime::{DEPS_MAX, Dependency, Few, cut, dependencies, minutes};
use crate::operation::prelude::*;
use crate::task::report;

/// Maximum number of items shown per list.
const ITEMS_MAX: usize = 10;
/// Maximum number of tasks examined per list. A total up to this number is exact.
const LOOKED_AT: usize = 1_000;
/// Maximum length of a text in characters.
const TEXT_MAX: usize = 60;

/// The JSON object `{held, blocked, decisions, finished, last_command_seq}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TeamBrief {
    /// Tasks that other agents work on or were assigned; blocked tasks are not among them
    pub held: Few<HeldTask>,
    /// Unfinished tasks of any agent that are blocked, with their dependencies
    pub blocked: Few<BlockedTask>,
    /// Items of `attention`, most severe first
    pub decisions: Few<Decision>,
    /// Tasks that ended after the leader's last command, newest first
    pub finished: Few<FinishedTask>,
    /// Seq of the event of the leader's last command; 0 if the leader recorded none
    pub last_command_seq: u64,
}

/// A task that an agent works on or was assigned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldTask {
    /// Id of the task
    pub task_id: String,
    /// Holder of the claim, or the agent that was assigned the task
    pub owner: String,
    /// Status of the task
    pub status: Status,
    /// Subject of the task, cut short
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Whole minutes since the owner claimed the task or the task was assigned to it
    pub held_minutes: u64,
    /// Whole minutes since the last update of the task or the last report on it
    pub heard_minutes: u64,
    /// True if the lease of the claim has expired
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lease_expired: bool,
    /// The last report on the task or its note, cut short
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A task that is blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HeldUpTask")]
pub struct BlockedTask {
    /// Id of the task
    pub task_id: String,
    /// Owner of the task
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Status of the task
    pub status: Status,
    /// The first dependencies of the task that are not completed
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<Dependency>,
    /// Number of further dependencies that are not completed
    #[serde(default, skip_serializing_if = "crate::shapes::is_zero")]
    pub waits_for_more: usize,
    /// The last report on the task or its note, cut short
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// An item that needs a decision of the leader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LeadDecision")]
pub struct Decision {
    /// Description of the item, cut short
    pub text: String,
    /// Age of the item in whole minutes, if known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_minutes: Option<u64>,
}

/// A task that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FinishedTask {
    /// Id of the task
    pub task_id: String,
    /// Status of the task at its end
    pub status: Status,
    /// Owner of the task at its end
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whole minutes since the task ended
    pub age_minutes: u64,
    /// Result, error or last note of the task, cut short
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Returns true if `prime` shows an agent the state of the team: a leader, or an agent that assigned a task to another agent.
pub(crate) fn leads(live: &Live, agent: &str) -> Result<bool> {
    Ok(is_leader(live, agent)? || live.gave_work(agent)?)
}

impl Team {
    /// Returns the items of `attention`, cut short for the briefing.
    pub(crate) fn decisions(&mut self) -> Result<Few<Decision>> {
        let now = self.now();
        let all = Attention {
            limit: Some(ITEMS_MAX),
            ..Attention::default()
        };
        let found = self.attention(&all)?;
        let items = found.items.into_iter().take(ITEMS_MAX);
        let items = items.map(|item| Decision {
            text: cut(&item.text),
            age_minutes: item.since.map(|since| minutes(now, since)),
        });
        Ok(Few {
            total: found.total as u64,
            items: items.collect(),
        })
    }
}

/// Returns the state of the team in few words, for the leader `agent`.
pub(crate) fn brief(
    live: &Live,
    agent: &str,
    decisions: Few<Decision>,
    now: Timestamp,
) -> Result<TeamBrief> {
    let blocked = blocked(live)?;
    Ok(TeamBrief {
        held: held(live, agent, &blocked, now)?,
        finished: finished(live, notices::last_acted(live, agent)?, now)?,
        blocked: Few {
            total: blocked.len() as u64,
            items: blocked
                .into_iter()
                .take(ITEMS_MAX)
                .map(|task| blocked_task(live, task))
                .collect::<Result<_>>()?,
        },
        decisions,
        last_command_seq: notices::last_acted(live, agent)?,
    })
}

/// Returns tasks that are blocked, that a report calls blocked, or that wait for a dependency.
fn blocked(live: &Live) -> Result<Vec<Task>> {
    let mut blocked = live.blocked_tasks(None, LOOKED_AT)?.tasks;
    let mut known: BTreeSet<String> = blocked.iter().map(|task| task.task_id.clone()).collect();
    for owner in live.task_owners()? {
        if blocked.len() >= LOOKED_AT {
            break;
        }
        for task in live.waiting_tasks(&owner, None, LOOKED_AT)?.tasks {
            if known.insert(task.task_id.clone()) {
                blocked.push(task);
            }
        }
    }
    blocked.retain(|task| !task.status.is_final());
    Ok(blocked)
}

/// Returns tasks that other agents work on or were assigned. Tasks in `blocked` are left out.
fn held(live: &Live, agent: &str, blocked: &[Task], now: Timestamp) -> Result<Few<HeldTask>> {
    let blocked: BTreeSet<&str> = blocked.iter().map(|task| &*task.task_id).collect();
    let mut held = Few::default();
    for status in [Status::InProgress, Status::Assigned] {
        let filter = TaskFilter {
            status: Some(status),
            ..TaskFilter::default()
        };
        for task in live.tasks(&filter, None, LOOKED_AT)?.tasks {
            let Some(owner) = task.owner.clone().filter(|owner| owner != agent) else {
                continue;
            };
            if blocked.contains(&*task.task_id) {
                continue;
            }
            held.total += 1;
            if held.items.len() < ITEMS_MAX {
                held.items.push(held_task(live, task, owner, now)?);
            }
        }
    }
    Ok(held)
}

fn held_task(live: &Live, task: Task, owner: String, now: Timestamp) -> Result<HeldTask> {
    let claimed = task.claim().and(task.governed.started_at);
    let assigned = live.last_sent(&owner, Some(&task.task_id), MessageType::TaskAssign)?;
    let since = claimed.or(assigned.map(|sent| sent.at));
    let heard = task.reported.at.unwrap_or_default().max(task.updated_at);
    Ok(HeldTask {
        held_minutes: minutes(now, since.unwrap_or(task.created_at)),
        heard_minutes: minutes(now, heard),
        lease_expired: task.lease_expired(now),
        note: short(&note(&task)),
        status: task.status,
        subject: short(&task.subject.unwrap_or_default()),
        owner,
        task_id: task.task_id,
    })
}

fn blocked_task(live: &Live, task: Task) -> Result<BlockedTask> {
    let (waits_for, waits_for_more) = dependencies(live, &task.deps, DEPS_MAX)?;
    Ok(BlockedTask {
        waits_for,
        waits_for_more,
        note: short(&note(&task)),
        status: task.status,
        owner: task.owner,
        task_id: task.task_id,
    })
}

/// Returns tasks that ended after the event `since` and were not reopened. No task is listed twice.
fn finished(live: &Live, since: u64, now: Timestamp) -> Result<Few<FinishedTask>> {
    let mut known = BTreeSet::new();
    let mut finished = Few::default();
    for id in live.ended_since(since, LOOKED_AT)? {
        let task = live.task(&id)?.filter(|task| task.status.is_final());
        let Some(task) = task.filter(|_| known.insert(id)) else {
            continue;
        };
        finished.total += 1;
        if finished.items.len() < ITEMS_MAX {
            finished.items.push(FinishedTask {
                age_minutes: minutes(now, task.governed.completed_at.unwrap_or(task.updated_at)),
                note: short(&outcome(&task)),
                status: task.status,
                owner: task.owner,
                task_id: task.task_id,
            });
        }
    }
    Ok(finished)
}

fn outcome(task: &Task) -> String {
    let governed = &task.governed;
    let said = governed.result.as_ref().or(governed.error.as_ref());
    said.cloned().unwrap_or_else(|| note(task))
}

/// Returns the last report on a task, and its author if the author is not the owner. If there is no report, returns the
/// task's note.
fn note(task: &Task) -> String {
    let owner = task.owner.as_deref().unwrap_or_default();
    match (report::words(task), report::by_other(task, owner)) {
        (none, _) if none.is_empty() => task.note.clone().unwrap_or_default(),
        (words, Some(by)) => format!("by {by}: {words}"),
        (words, None) => words,
    }
}

fn short(text: &str) -> String {
    crate::message::prime::cut_to(text, TEXT_MAX)
}

impl TeamBrief {
    /// Returns the next commands for a leader.
    pub(crate) fn commands(&self, team: &str) -> Vec<String> {
        let mut commands = Vec::new();
        if !self.decisions.is_empty() {
            commands.push(format!("teamlog attention {team}"));
        }
        if !self.held.is_empty() || !self.blocked.is_empty() {
            commands.push(format!("teamlog who {team}"));
        }
        let first = self.blocked.items.first().map(|task| &task.task_id);
        let first = first.or(self.finished.items.first().map(|task| &task.task_id));
        commands.extend(first.map(|id| format!("teamlog task show {team} {id} --history")));
        commands
    }
}

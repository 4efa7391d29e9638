//! An entry of an agent's feed: an event in a form for that agent.

use crate::operation::prelude::*;
use crate::projections::task::event::{TaskAct, TaskFact};
use crate::projections::thread::event::ThreadAct;
use crate::projections::thread::{SCHEMA_VERSION, post_id};
use crate::projections::worker::supervision::{Approval, ApprovalStatus, SupervisionFact};
use crate::projections::{Fact, Message, event};

/// Maximum number of characters of a summary.
const SUMMARY_MAX: usize = 120;

/// The JSON object `{schemaVersion, id, cursor, type, teamId, agentId, taskId?, threadId?, messageId?, from?, actor?, summary?, content?, ts}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedEntry {
    /// Version of the entry format
    pub schema_version: String,
    /// `inbox-` followed by the cursor, padded to eight digits
    pub id: String,
    /// Seq of the event
    pub cursor: u64,
    /// Type of the entry: `message`, `thread_message`, `task_assigned`, `task_unblocked`, `task_claimed`, `task_completed`,
    /// `task_failed`, `task_canceled`, `task_lease_expired`, `task_reassigned`, `task_approved`, `task_rejected`
    #[serde(rename = "type")]
    pub kind: String,
    /// Name of the team
    pub team_id: String,
    /// Owner of the feed
    pub agent_id: String,
    /// Task that the entry is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Thread that the entry is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Message that the entry is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The agent in whose name the actor acted, if the actor is another agent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The agent that recorded the event
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Summary of the entry in one line
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Full text of the message or post
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Time of the event
    #[schemars(with = "Timestamp")]
    pub ts: String,
}

/// Estimated size of an entry without its texts, in bytes. The estimate is too large rather than too small.
const FRAME_BYTES: usize = 320;

impl FeedEntry {
    /// Estimates the entry's size in an answer, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [
            &self.task_id,
            &self.thread_id,
            &self.message_id,
            &self.from,
            &self.actor,
            &self.summary,
            &self.content,
        ];
        let texts = texts.into_iter().flatten().map(String::len);
        FRAME_BYTES + texts.sum::<usize>()
    }

    /// Returns the feed entry of an event for an agent; `None` if the event does not concern the agent.
    pub(crate) fn from_event(
        event: &Event<'_>,
        team: &str,
        agent: &str,
    ) -> Result<Option<FeedEntry>> {
        let said = match Fact::decode(event)? {
            Fact::Thread(fact) => match &fact.act {
                ThreadAct::Posted(posted) => FeedEntry {
                    kind: "thread_message".to_owned(),
                    thread_id: Some(fact.thread_id.clone()),
                    message_id: Some(post_id(event.id)),
                    from: event::other_than(&posted.from, &event.actor).map(str::to_owned),
                    actor: Some(event.actor.clone().into_owned()),
                    summary: Some(excerpt(&posted.body)),
                    content: Some(posted.body.clone()),
                    ..FeedEntry::default()
                },
                _ => return Ok(None),
            },
            Fact::Task(fact) => match task(&fact, &event.actor) {
                Some(entry) => entry,
                None => return Ok(None),
            },
            Fact::Supervision(fact) => match &*fact {
                SupervisionFact::Approval(approval) => decision(approval),
                _ => return Ok(None),
            },
            fact if fact.sent().is_some() => {
                let message = Message::from_event(event)?;
                match &message.task_id {
                    Some(task) if message.to != agent => reassigned(&message, task),
                    _ => mail(&message),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(FeedEntry {
            schema_version: SCHEMA_VERSION.to_owned(),
            id: format!("inbox-{:08}", event.seq),
            cursor: event.seq,
            team_id: team.to_owned(),
            agent_id: agent.to_owned(),
            ts: event.created_at.to_string(),
            ..said
        }))
    }
}

/// Describes a message: an assignment by its subject, plain mail by its body, any other type by its payload.
fn mail(message: &Message) -> FeedEntry {
    let payload = message.payload.as_str();
    let fields: Map<String, Value> = serde_json::from_str(payload).unwrap_or_default();
    let text = |field: &str| fields.get(field).and_then(Value::as_str).map(str::to_owned);
    let (kind, content, line) = match message.kind {
        MessageType::TaskAssign if message.task_id.is_some() => {
            ("task_assigned", text("details"), text("subject"))
        }
        MessageType::Message => ("message", text("body"), text("body")),
        _ => ("message", None, None),
    };
    let line = line.unwrap_or_else(|| message.kind.name().to_owned());
    FeedEntry {
        kind: kind.to_owned(),
        task_id: message.task_id.clone(),
        message_id: Some(message.id.clone()),
        from: message.actor.is_some().then(|| message.from.clone()),
        actor: Some(message.actor.as_ref().unwrap_or(&message.from).clone()),
        summary: Some(excerpt(&line)),
        content: Some(content.unwrap_or_else(|| payload.to_owned())),
        ..FeedEntry::default()
    }
}

/// Returns the entry that tells the former owner of a task that another agent now has the task.
fn reassigned(message: &Message, task: &str) -> FeedEntry {
    let actor = message.actor.as_ref().unwrap_or(&message.from);
    let summary = format!("Task {task} was assigned to {} by {actor}", message.to);
    of_task("task_reassigned", task, actor, summary)
}

/// Returns the entry that tells the owner of a task about a reviewer's decision.
fn decision(approval: &Approval) -> FeedEntry {
    let (kind, verb) = match approval.status {
        ApprovalStatus::Rejected => ("task_rejected", "rejected"),
        _ => ("task_approved", "approved"),
    };
    let (task, reviewer) = (&approval.task_id, &approval.reviewer);
    FeedEntry {
        content: Some(approval.decision_reason.clone()),
        ..of_task(
            kind,
            task,
            reviewer,
            format!("Task {task} {verb} by {reviewer}"),
        )
    }
}

fn of_task(kind: &str, task: &str, actor: &str, summary: String) -> FeedEntry {
    FeedEntry {
        kind: kind.to_owned(),
        task_id: Some(task.to_owned()),
        actor: Some(actor.to_owned()),
        summary: Some(summary),
        ..FeedEntry::default()
    }
}

fn task(fact: &TaskFact, actor: &str) -> Option<FeedEntry> {
    let id = &fact.task_id;
    let (kind, actor, summary, content) = match &fact.act {
        TaskAct::Created(created) => {
            let content = Some(created.description.clone()).filter(|text| !text.is_empty());
            ("task_assigned", actor, excerpt(&created.subject), content)
        }
        TaskAct::Assigned(assigned) => {
            let to = assigned.owner.as_deref().unwrap_or("any agent");
            let summary = format!("Task {id} assigned to {to} by {actor}");
            ("task_assigned", actor, summary, None)
        }
        TaskAct::Claimed(claimed) => {
            let worker = &*claimed.worker;
            let summary = format!("Task {id} claimed by {worker}");
            ("task_claimed", worker, summary, None)
        }
        TaskAct::Completed(done) => {
            let worker = &*done.held.worker;
            let summary = format!("Task {id} completed by {worker}");
            ("task_completed", worker, summary, done.result.clone())
        }
        TaskAct::Failed(failed) => {
            let worker = &*failed.held.worker;
            let summary = format!("Task {id} failed by {worker}");
            ("task_failed", worker, summary, failed.error.clone())
        }
        TaskAct::Unblocked => {
            let summary = format!("Task {id} is unblocked");
            ("task_unblocked", actor, summary, None)
        }
        TaskAct::Canceled(canceled) => {
            let summary = format!("Task {id} canceled by {actor}");
            ("task_canceled", actor, summary, canceled.reason.clone())
        }
        TaskAct::LeaseExpired(_) => {
            let summary = format!("The lease of task {id} expired");
            ("task_lease_expired", actor, summary, None)
        }
        _ => return None,
    };
    Some(FeedEntry {
        content,
        ..of_task(kind, id, actor, summary)
    })
}

fn excerpt(text: &str) -> String {
    text.chars().take(SUMMARY_MAX).collect()
}

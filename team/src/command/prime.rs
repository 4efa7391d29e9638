//! `prime`: what an agent should know when it wakes, in few words.
//!
//! The answer has a budget. What does not fit is left out from the end of the longest list, and every list says how many
//! there are in all.

use crate::failure::Result;
use crate::membership;
use crate::projections::messages::InboxQuery;
use crate::projections::{Live, Message, MessageType, Priority, Status, Task, TaskFilter};
use crate::team::Team;
use crate::tokens;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use teamlog_engine::{Reader, Timestamp};

/// The answer takes fewer tokens than that, as JSON and as text, by [`tokens::estimate`].
pub const TOKENS_MAX: usize = 2_000;
/// For a reader that counts otherwise, and what text puts around the items.
const TOKENS_AIMED_AT: usize = 1_800;
/// Items that a list holds at most.
const ITEMS_MAX: usize = 10;
/// Dependencies that a task shows at most.
const DEPS_MAX: usize = 4;
/// Characters of a text that are shown at most.
const TEXT_MAX: usize = 100;

/// What `prime` is asked.
#[derive(Debug, Clone, Default)]
pub struct Prime {
    /// Who wakes.
    pub agent: String,
}

/// Some of so many.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Few<T> {
    /// How many there are.
    pub total: u64,
    /// The first of them.
    pub items: Vec<T>,
}

/// A task in few words.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Brief {
    /// Its id.
    pub task_id: String,
    /// How urgent it is.
    #[schemars(with = "Priority")]
    pub priority: &'static str,
    /// What it is about, cut short.
    pub subject: String,
    /// Whole minutes since its last update.
    pub age_minutes: u64,
    /// The last note, cut short.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// When the claim on it ends unless it is renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    pub leased_until: Option<String>,
    /// Whether that moment has passed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lease_expired: bool,
    /// What holds it up: dependencies that are not completed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<Dependency>,
    /// How many more of these there are.
    #[serde(skip_serializing_if = "is_zero")]
    pub waits_for_more: usize,
}

/// A task that another waits for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Dependency {
    /// Its id.
    pub task_id: String,
    /// Its state; `unknown` for one that nobody has created yet.
    pub status: &'static str,
}

/// A message in few words.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Mail {
    /// Its id.
    pub message_id: String,
    /// Its type.
    #[serde(rename = "type")]
    #[schemars(with = "MessageType")]
    pub kind: &'static str,
    /// Its sender.
    pub from: String,
    /// How urgent it is.
    #[schemars(with = "Priority")]
    pub priority: &'static str,
    /// The task concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Whole minutes since it was created.
    pub age_minutes: u64,
    /// What it says, cut short.
    pub text: String,
}

/// `{team, agent, last_seq, tasks_by_status, in_progress, blocked, ready, unread, commands}`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PrimeAnswer {
    /// The team.
    pub team: String,
    /// Who wakes.
    pub agent: String,
    /// The last event that counts: the `since` of a `wait`.
    pub last_seq: u64,
    /// How many tasks of its own are in each state that any is in.
    pub tasks_by_status: BTreeMap<&'static str, u64>,
    /// What it works on.
    pub in_progress: Few<Brief>,
    /// Its unfinished tasks that it cannot go on with, and why.
    pub blocked: Few<Brief>,
    /// What it can take up, most urgent first.
    pub ready: Few<Brief>,
    /// Messages that it has not acknowledged, newest first.
    pub unread: Few<Mail>,
    /// What to type next.
    pub commands: Vec<String>,
}

impl Team {
    /// What an agent should know when it wakes.
    ///
    /// # Errors
    /// `worker_not_found`, `invalid_input`; the log's.
    pub fn prime(&mut self, prime: &Prime) -> Result<PrimeAnswer> {
        let (team, now) = (self.name().to_owned(), self.now());
        let agent = &prime.agent;
        self.query(|live, reader| {
            membership::check(live, "agent", agent)?;
            let counts = live.owned_counts(agent)?;
            let named = Status::ALL.into_iter().map(Status::name);
            let mut answer = PrimeAnswer {
                team: team.clone(),
                agent: agent.clone(),
                last_seq: reader.head().last_seq,
                tasks_by_status: named
                    .zip(counts.by_status)
                    .filter(|(_, count)| *count > 0)
                    .collect(),
                in_progress: Few {
                    total: counts.by_status[Status::InProgress as usize],
                    items: in_progress(live, agent, now)?,
                },
                blocked: Few {
                    total: live.waiting_count(agent)?,
                    items: briefs(live, live.waiting_tasks(agent, None, ITEMS_MAX)?.tasks, now)?,
                },
                ready: Few {
                    total: live.ready_count(Some(agent))?,
                    items: briefs(
                        live,
                        live.ready_tasks(Some(agent), None, ITEMS_MAX)?.tasks,
                        now,
                    )?,
                },
                unread: Few {
                    total: live.agent(agent)?.unread,
                    items: unread(live, reader, agent, now)?,
                },
                commands: Vec::new(),
            };
            answer.commands = commands(&answer);
            answer.fit();
            Ok(answer)
        })
    }
}

impl PrimeAnswer {
    /// Leaves out items from the end of the longest list until the rest is short enough. Of equally long ones what
    /// can be done later goes first.
    fn fit(&mut self) {
        while tokens::estimate(&super::json_text(self).unwrap_or_default()) > TOKENS_AIMED_AT {
            let (ready, unread) = (self.ready.items.len(), self.unread.items.len());
            let (blocked, works) = (self.blocked.items.len(), self.in_progress.items.len());
            match ready.max(unread).max(blocked).max(works) {
                0 => return,
                most if most == ready => drop(self.ready.items.pop()),
                most if most == unread => drop(self.unread.items.pop()),
                most if most == blocked => drop(self.blocked.items.pop()),
                _ => drop(self.in_progress.items.pop()),
            }
        }
    }
}

fn in_progress(live: &Live, agent: &str, now: Timestamp) -> Result<Vec<Brief>> {
    let filter = TaskFilter {
        status: Some(Status::InProgress),
        owner: Some(agent.to_owned()),
    };
    briefs(live, live.tasks(&filter, None, ITEMS_MAX)?.tasks, now)
}

fn briefs(live: &Live, tasks: Vec<Task>, now: Timestamp) -> Result<Vec<Brief>> {
    tasks
        .into_iter()
        .map(|task| brief(live, task, now))
        .collect()
}

fn brief(live: &Live, task: Task, now: Timestamp) -> Result<Brief> {
    let leased_until = task.claim().map(|claim| claim.leased_until);
    let mut waits_for = Vec::new();
    let mut more = 0;
    for dep in task.deps {
        let status = live.task(&dep)?.map(|dep| dep.status);
        if status == Some(Status::Completed) {
            continue;
        }
        if waits_for.len() == DEPS_MAX {
            more += 1;
            continue;
        }
        waits_for.push(Dependency {
            task_id: dep,
            status: status.map_or("unknown", Status::name),
        });
    }
    Ok(Brief {
        task_id: task.task_id,
        priority: task.priority.name(),
        subject: cut(&task.subject.unwrap_or_default()),
        age_minutes: minutes(now, task.updated_at),
        note: cut(&task.note.unwrap_or_default()),
        leased_until: leased_until.map(|until| until.to_string()),
        lease_expired: leased_until.is_some_and(|until| until <= now),
        waits_for,
        waits_for_more: more,
    })
}

fn unread(live: &Live, reader: &Reader, agent: &str, now: Timestamp) -> Result<Vec<Mail>> {
    let query = InboxQuery {
        unread: true,
        before: None,
        limit: ITEMS_MAX,
    };
    let newest = live.inbox(agent, query)?.seqs.into_iter().rev();
    newest
        .map(|seq| Ok(mail(super::sent(live, reader, seq)?, now)))
        .collect()
}

fn mail(message: Message, now: Timestamp) -> Mail {
    Mail {
        text: cut(&said(message.payload.as_str())),
        message_id: message.id,
        kind: message.kind.name(),
        from: message.from,
        priority: message.priority.name(),
        task_id: message.task_id,
        age_minutes: minutes(now, message.created_at),
    }
}

/// What a payload says in words: its status and its first text.
fn said(payload: &str) -> String {
    let fields: Value = serde_json::from_str(payload).unwrap_or_default();
    let text = |name: &str| {
        fields
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let texts = ["subject", "note", "body", "text", "details"];
    let words: Vec<&str> = text("status")
        .into_iter()
        .chain(texts.into_iter().find_map(text))
        .collect();
    match words.is_empty() && payload != "{}" {
        true => payload.to_owned(),
        false => words.join(": "),
    }
}

fn commands(answer: &PrimeAnswer) -> Vec<String> {
    let PrimeAnswer {
        team,
        agent,
        last_seq,
        ..
    } = answer;
    let mut commands = Vec::new();
    if answer.unread.total > 0 {
        commands.push(format!("teamlog read {team} --agent {agent} --unread"));
        commands.push(format!(
            "teamlog ack {team} --agent {agent} --message-id ID"
        ));
    }
    if answer.ready.total > 0 {
        commands.push(format!("teamlog ready {team} --agent {agent}"));
    }
    if answer.ready.total + answer.in_progress.total + answer.blocked.total > 0 {
        commands.push(format!("teamlog task show {team} TASK --history"));
        commands.push(format!(
            "teamlog task-update {team} --from {agent} --to AGENT --task-id TASK --status in_progress|blocked|done --note TEXT"
        ));
    }
    commands.push(format!(
        "teamlog wait {team} --agent {agent} --since {last_seq} --timeout 300"
    ));
    commands
}

fn minutes(now: Timestamp, then: Timestamp) -> u64 {
    u64::try_from((now.micros() - then.micros()) / 60_000_000).unwrap_or(0)
}

/// One line of at most [`TEXT_MAX`] characters.
fn cut(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(TEXT_MAX + 1)
        .collect();
    match line.char_indices().nth(TEXT_MAX) {
        None => line,
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

//! `prime`: gives an agent a short briefing when it wakes.
//!
//! The answer has a token budget. If the answer is too long, items are dropped from the end of the longest list. Every list
//! also has its total number.

use crate::handle::next;
use crate::message::lead::{self, TeamBrief};
use crate::message::notices::{self, Notice};
use crate::operation::prelude::*;
use crate::projections::hidden;
use crate::projections::task::Claim;
use crate::shell;
use crate::task::approval;
use crate::task::listed;
use crate::task::report;
use crate::usage::tokens;

/// Maximum tokens of the answer, both as JSON and as text, as [`tokens::estimate`] counts them.
pub const TOKENS_MAX: usize = 2_000;
/// Token target for the JSON form. The difference to the maximum is reserve: other tokenizers count
/// differently, and the text form adds words.
const TOKENS_AIMED_AT: usize = 1_800;
const ITEMS_MAX: usize = 10;
/// Maximum number of rejected tasks that are read.
const REJECTED_MAX: usize = 1_000;
/// Maximum number of dependencies that are shown per task.
pub(crate) const DEPS_MAX: usize = 4;
/// Maximum number of tasks per list for which the answer suggests commands.
const STEPS_OF_MAX: usize = 2;
/// Maximum number of characters of a text.
const TEXT_MAX: usize = 100;

operation! {
    /// Show an agent its tasks, mail, blocked tasks and next commands
    "prime-agent": Reads(Prime) -> PrimeAnswer = |team, asked| team.prime(&asked),
    refuses = [WorkerNotFound]
}

/// Input of `prime-agent`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prime {
    /// The agent
    pub agent: String,
    /// Session of the agent. The answer then has no commands for claims of its other sessions
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The first items of a list, and the number of all its items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Few{T}")]
pub struct Few<T> {
    /// Number of items in the whole list.
    pub total: u64,
    /// The first items.
    pub items: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few {
            total: 0,
            items: Vec::new(),
        }
    }
}

impl<T> Few<T> {
    /// Returns true if the total is 0.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

/// A task in few words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Brief {
    /// Id of the task.
    pub task_id: String,
    /// Priority of the task.
    pub priority: Priority,
    /// Subject, cut short.
    pub subject: String,
    /// Whole minutes since the last update.
    pub age_minutes: u64,
    /// The last note on the task, cut short.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The last report on a claim-governed task, cut short.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reported: String,
    /// Author of the report, if the author is not the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_by: Option<String>,
    /// The last decision on the task, if an approval is required or was rejected; cut short.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub approval: String,
    /// Fencing epoch of the claim. The holder can present the epoch instead of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// End of the lease of the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leased_until: Option<Timestamp>,
    /// True if the lease has expired.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lease_expired: bool,
    /// The first dependencies that are not completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<Dependency>,
    /// Number of further dependencies that are not completed.
    #[serde(default, skip_serializing_if = "crate::shapes::is_zero")]
    pub waits_for_more: usize,
    /// Commands for the next steps of the task.
    #[serde(skip)]
    next: Vec<String>,
}

/// A task that another task depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependency {
    /// Id of the task.
    pub task_id: String,
    /// Status of the task; `unknown` if no task has that id yet.
    pub status: Cow<'static, str>,
}

/// A message in few words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UnreadMail")]
pub struct Mail {
    /// Id of the message.
    pub message_id: String,
    /// Type of the message.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// Sender of the message.
    pub from: String,
    /// Priority of the message.
    pub priority: Priority,
    /// Task that the message is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Whole minutes since the message was created.
    pub age_minutes: u64,
    /// Text of the message, cut short.
    pub text: String,
}

/// The answer `{team, agent, last_seq, tasks_by_status, in_progress, blocked, ready, rejected?, unread, unread_wakeups, posts, news, lead?, commands}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PrimeAnswer {
    /// Name of the team.
    pub team: String,
    /// The agent that wakes.
    pub agent: String,
    /// Seq of the log's last event, to pass as `since` to the next `wait`.
    pub last_seq: u64,
    /// Number of the agent's tasks per status; a status without tasks is absent.
    pub tasks_by_status: BTreeMap<Cow<'static, str>, u64>,
    /// Tasks that the agent works on.
    pub in_progress: Few<Brief>,
    /// Unfinished tasks of the agent that are blocked, with their dependencies.
    pub blocked: Few<Brief>,
    /// Tasks that the agent can start now, most urgent first.
    pub ready: Few<Brief>,
    /// Completed tasks of the agent whose required approval was later rejected.
    #[serde(default, skip_serializing_if = "Few::is_empty")]
    pub rejected: Few<Brief>,
    /// Messages that the agent has not acknowledged, newest first, with wake-ups (`agent_wakeup_required`) at the end.
    pub unread: Few<Mail>,
    /// Number of unread messages that are wake-ups.
    pub unread_wakeups: u64,
    /// Posts in threads that the agent has not acknowledged, oldest first.
    pub posts: Few<Notice>,
    /// News of the agent's tasks since the agent last recorded something, oldest first.
    pub news: Few<Notice>,
    /// State of the whole team, if the agent is a leader: the fixed leader, an agent named `lead` or `leader`, or an agent
    /// that assigned a task to another agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<TeamBrief>,
    /// The next commands for the agent.
    pub commands: Vec<String>,
}

impl Team {
    /// Returns the tasks, mail and next commands for an agent that wakes.
    pub fn prime(&mut self, prime: &Prime) -> Result<PrimeAnswer> {
        let (team, now) = (self.name().to_owned(), self.now());
        let agent = &prime.agent;
        let (mut answer, closed, leads) = self.query(|live, reader| {
            membership::check(live, "agent", agent)?;
            let (team, agent) = (team.as_str(), agent.as_str());
            let ready = listed::can_start(live, Some(agent), None, ITEMS_MAX, now)?;
            let closed = live.is_closed()?;
            let seen = Seen {
                team,
                agent,
                session: prime.session.as_deref(),
                now,
                closed,
            };
            let waiting = live.waiting_tasks(agent, None, ITEMS_MAX)?;
            let counts = live.owned_counts(agent)?;
            let inbox = live.whole_agent(agent)?;
            let named = Status::ALL.map(|status| status.name().into()).into_iter();
            let counted = named.zip(counts.by_status);
            let answer = PrimeAnswer {
                team: team.to_owned(),
                agent: agent.to_owned(),
                last_seq: reader.head().last_seq,
                tasks_by_status: counted.filter(|(_, count)| *count > 0).collect(),
                in_progress: Few {
                    total: counts.by_status[Status::InProgress as usize],
                    items: in_progress(live, &seen)?,
                },
                blocked: Few {
                    total: live.waiting_count(agent)?,
                    items: briefs(live, waiting.tasks, &seen)?,
                },
                ready: Few {
                    total: ready.total,
                    items: briefs(live, ready.tasks, &seen)?,
                },
                rejected: rejected(live, &seen)?,
                unread: Few {
                    total: inbox.unread,
                    items: unread(live, reader, agent, now)?,
                },
                unread_wakeups: inbox.wakeups,
                posts: brief_notices(notices::posts(live, reader, agent, ITEMS_MAX)?),
                news: brief_notices(notices::news(live, reader, agent, ITEMS_MAX)?),
                lead: None,
                commands: Vec::new(),
            };
            Ok((answer, closed, lead::leads(live, agent)?))
        })?;
        if leads {
            let decisions = self.decisions()?;
            let brief = self.query(|live, _| lead::brief(live, agent, decisions.clone(), now))?;
            answer.lead = Some(brief);
        }
        answer.commands = commands(&answer, closed);
        answer.fit();
        Ok(answer)
    }
}

impl PrimeAnswer {
    /// Drops items from the end of the longest list until the answer fits its token budget.
    fn fit(&mut self) {
        // Drops commands first, so that more room remains for the lists. Keeps the last command, `wait`.
        while self.commands.len() > 2
            && tokens::estimate(&self.commands.join("\n")) > TOKENS_AIMED_AT / 3
        {
            self.commands.remove(self.commands.len() - 2);
        }
        while tokens::estimate(&page::json_text(self).unwrap_or_default()) > TOKENS_AIMED_AT {
            if !self.shorten() {
                return;
            }
        }
    }

    /// Drops one item of the longest list. Among equally long lists, chooses the list that comes first in the code below.
    /// Returns false if all lists are empty.
    fn shorten(&mut self) -> bool {
        let mut lists: Vec<&mut dyn Shorten> = vec![
            &mut self.ready,
            &mut self.news,
            &mut self.unread,
            &mut self.rejected,
            &mut self.blocked,
            &mut self.in_progress,
        ];
        if let Some(lead) = &mut self.lead {
            lists.push(&mut lead.finished);
            lists.push(&mut lead.decisions);
            lists.push(&mut lead.held);
            lists.push(&mut lead.blocked);
        }
        let longest = lists.into_iter().rev().max_by_key(|list| list.shown());
        match longest.filter(|list| list.shown() > self.posts.items.len()) {
            Some(list) => list.shorten(),
            None if self.posts.items.is_empty() => return false,
            None => self.drop_post(),
        }
        true
    }
}

/// A list from which the last item can be dropped.
trait Shorten {
    fn shown(&self) -> usize;
    fn shorten(&mut self);
}

impl<T> Shorten for Few<T> {
    fn shown(&self) -> usize {
        self.items.len()
    }
    fn shorten(&mut self) {
        self.items.pop();
    }
}

fn brief_notices(notices: Few<Notice>) -> Few<Notice> {
    let brief = |notice: Notice| Notice {
        text: cut(&notice.text),
        ..notice
    };
    Few {
        total: notices.total,
        items: notices.items.into_iter().map(brief).collect(),
    }
}

impl PrimeAnswer {
    /// Drops the newest post in the answer. The suggested `ack` command then names the newest remaining post.
    fn drop_post(&mut self) {
        let Some(dropped) = self.posts.items.pop() else {
            return;
        };
        let named = ack(&self.team, &self.agent, &dropped.id);
        let Some(at) = self.commands.iter().position(|line| *line == named) else {
            return;
        };
        match self.posts.items.last() {
            Some(last) => self.commands[at] = ack(&self.team, &self.agent, &last.id),
            None => drop(self.commands.remove(at)),
        }
    }
}

struct Seen<'a> {
    team: &'a str,
    agent: &'a str,
    session: Option<&'a str>,
    now: Timestamp,
    closed: bool,
}

impl Seen<'_> {
    /// Returns the commands for the next steps of a task; none if the team is closed.
    fn next(&self, live: &Live, task: &Task) -> Result<Vec<String>> {
        // The fixed leader claims no tasks.
        if self.closed || self.agent == LEADER {
            return Ok(Vec::new());
        }
        let (team, agent, id) = (self.team, self.agent, &task.task_id);
        let claim = || -> Result<Vec<String>> {
            match live.ready(task)? {
                true => Ok(vec![next::claim(team, id, agent)]),
                false => Ok(Vec::new()),
            }
        };
        let waits = approval::is_missing(live, task)?;
        let is_live = |claim: &Claim| claim.leased_until > self.now;
        Ok(match (task.claim(), task.status) {
            (Some(claim), _) if is_live(claim) && claim.is_of_other_session(self.session) => {
                Vec::new()
            }
            (Some(claim), _) if is_live(claim) && claim.owner == agent => {
                next::of_holder(team, id, agent, task.governed.epoch, waits)
            }
            (Some(_), _) => claim()?,
            (None, Status::Pending | Status::Assigned) if task.claim_governed => claim()?,
            (None, _) if task.claim_governed => Vec::new(),
            (None, Status::InProgress) if waits => Vec::new(),
            (None, Status::InProgress) => vec![next::report(team, task, agent, "done")],
            (None, _) => vec![next::report(team, task, agent, "in_progress")],
        })
    }
}

fn in_progress(live: &Live, seen: &Seen<'_>) -> Result<Vec<Brief>> {
    let filter = TaskFilter {
        status: Some(Status::InProgress),
        owner: Some(seen.agent.to_owned()),
        ..TaskFilter::default()
    };
    briefs(live, live.tasks(&filter, None, ITEMS_MAX)?.tasks, seen)
}

fn briefs(live: &Live, tasks: Vec<Task>, seen: &Seen<'_>) -> Result<Vec<Brief>> {
    let briefs = tasks.into_iter().map(|task| brief(live, task, seen));
    briefs.collect()
}

fn brief(live: &Live, task: Task, seen: &Seen<'_>) -> Result<Brief> {
    let now = seen.now;
    let next = seen.next(live, &task)?;
    let reported = cut(&report::words(&task));
    let reported_by = report::by_other(&task, seen.agent).filter(|_| !reported.is_empty());
    let claim = task.claim();
    let claim = claim.filter(|claim| !claim.is_of_other_session(seen.session));
    let epoch = claim.map(|_| task.governed.epoch);
    let leased_until = task.claim().map(|claim| claim.leased_until);
    let lease_expired = task.lease_expired(now);
    let (waits_for, waits_for_more) = dependencies(live, &task.deps, DEPS_MAX)?;
    let approval = cut(&decision(live, &task)?);
    Ok(Brief {
        task_id: task.task_id,
        priority: task.priority,
        subject: cut(&task.subject.unwrap_or_default()),
        age_minutes: minutes(now, task.updated_at),
        note: cut(&task.note.unwrap_or_default()),
        reported,
        reported_by,
        approval,
        epoch,
        leased_until,
        lease_expired,
        waits_for,
        waits_for_more,
        next,
    })
}

/// Returns up to `most` dependencies that are not completed, and the number of the remaining ones.
pub(crate) fn dependencies(
    live: &Live,
    deps: &[String],
    most: usize,
) -> Result<(Vec<Dependency>, usize)> {
    let (mut open, mut more) = (Vec::new(), 0);
    for dep in deps {
        let status = live.task(dep)?.map(|dep| dep.status);
        match status {
            Some(Status::Completed) => {}
            _ if open.len() == most => more += 1,
            _ => open.push(Dependency {
                task_id: dep.clone(),
                status: status.map_or("unknown", Status::name).into(),
            }),
        }
    }
    Ok((open, more))
}

/// Returns the agent's completed tasks whose required approval was rejected. Reads every rejected task of the team.
fn rejected(live: &Live, seen: &Seen<'_>) -> Result<Few<Brief>> {
    let mut tasks = Vec::new();
    for id in live.rejected_tasks(REJECTED_MAX)? {
        let task = live.task(&id)?;
        let is_own = |task: &Task| {
            task.status == Status::Completed && task.owner.as_deref() == Some(seen.agent)
        };
        tasks.extend(task.filter(is_own));
    }
    let total = tasks.len() as u64;
    tasks.truncate(ITEMS_MAX);
    let items = tasks.into_iter().map(|task| {
        let brief = brief(live, task, seen)?;
        Ok(Brief {
            next: Vec::new(),
            ..brief
        })
    });
    Ok(Few {
        total,
        items: items.collect::<Result<_>>()?,
    })
}

/// Returns the last decision on a task, if the task requires an approval or was rejected.
fn decision(live: &Live, task: &Task) -> Result<String> {
    let last = live.approval(&task.task_id)?;
    let is_rejected = last.as_ref().is_some_and(|last| last.what.is_rejected());
    Ok(match last {
        Some(last) if is_rejected || task.requires_approval() => approval::words(&last.into()),
        None if task.requires_approval() => "required, no decision yet".to_owned(),
        _ => String::new(),
    })
}

fn unread(live: &Live, reader: &Reader, agent: &str, now: Timestamp) -> Result<Vec<Mail>> {
    let unread = live.unread_mail(agent, ITEMS_MAX)?;
    let seqs = unread.mail.into_iter().chain(unread.wakeups);
    let shown = seqs.map(|seq| Ok(mail(page::sent(live, reader, seq)?, now)));
    shown.take(ITEMS_MAX).collect()
}

impl Mail {
    /// Returns true if the message is a wake-up.
    pub fn is_wakeup(&self) -> bool {
        self.kind == MessageType::AgentWakeupRequired
    }
}

fn mail(message: Message, now: Timestamp) -> Mail {
    Mail {
        text: cut(&said(message.payload.as_str())),
        message_id: message.id,
        kind: message.kind,
        from: message.from,
        priority: message.priority,
        task_id: message.task_id,
        age_minutes: minutes(now, message.created_at),
    }
}

/// Returns the status in a payload, and the first text in the payload.
fn said(payload: &str) -> String {
    let fields: Value = serde_json::from_str(payload).unwrap_or_default();
    let text = |name: &str| {
        let text = fields.get(name).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let first = ["subject", "note", "body", "text", "details"];
    let first = first.into_iter().find_map(text);
    let words: Vec<&str> = text("status").into_iter().chain(first).collect();
    match words.is_empty() && payload != "{}" {
        true => payload.to_owned(),
        false => words.join(": "),
    }
}

/// Returns the next commands. In a closed team, all returned commands only read.
fn commands(answer: &PrimeAnswer, closed: bool) -> Vec<String> {
    let (team, agent, last_seq) = (&answer.team, &answer.agent, answer.last_seq);
    let mut commands = Vec::new();
    if answer.unread.total > 0 || answer.posts.total > 0 {
        commands.push(format!("teamlog read {team} --agent {agent} --unread"));
    }
    if !closed {
        let mail = answer.unread.items.first().map(|mail| &mail.message_id);
        // Suggests an ack of the newest post in the answer, because that ack covers all earlier posts.
        let post = answer.posts.items.last().map(|post| &post.id);
        let ids = mail.into_iter().chain(post);
        commands.extend(ids.map(|id| ack(team, agent, id)));
    }
    let of_lead = answer.lead.as_ref();
    commands.extend(of_lead.map(|lead| lead.commands(team)).unwrap_or_default());
    if answer.ready.total > 0 {
        commands.push(format!("teamlog ready {team} --agent {agent}"));
    }
    let lists = [&answer.in_progress, &answer.ready, &answer.blocked];
    let mut tasks = lists.into_iter().flat_map(|list| &list.items);
    if let Some(first) = tasks.next() {
        let id = &first.task_id;
        commands.push(format!("teamlog task show {team} {id} --history"));
    }
    for list in lists {
        let steps = list.items.iter().take(STEPS_OF_MAX).map(|task| &task.next);
        for step in steps.flatten() {
            // A task of the agent is in two lists if its lease has expired. The commands of such a
            // task are added once.
            if !commands.contains(step) {
                commands.push(step.clone());
            }
        }
    }
    commands.push(format!(
        "teamlog wait {team} --agent {agent} --since {last_seq} --timeout 300"
    ));
    commands
}

fn ack(team: &str, agent: &str, id: &str) -> String {
    let id = shell::quoted(id);
    format!("teamlog ack {team} --agent {agent} --message-id {id}")
}

pub(crate) fn minutes(now: Timestamp, then: Timestamp) -> u64 {
    u64::try_from((now.micros() - then.micros()) / 60_000_000).unwrap_or(0)
}

/// Cuts a text to one line of at most [`TEXT_MAX`] characters.
pub(crate) fn cut(text: &str) -> String {
    cut_to(text, TEXT_MAX)
}

/// Cuts a text to one line of at most `most` characters.
pub(crate) fn cut_to(text: &str, most: usize) -> String {
    let signs = hidden::marks(text).map(|(c, hidden)| if hidden { ' ' } else { c });
    let line: String = signs.take(most + 1).collect();
    match line.char_indices().nth(most) {
        None => line,
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
    }
}

//! `status`: the state of a team in one answer.

use crate::operation::prelude::*;
use crate::projections::Status as TaskStatus;
use crate::projections::bootstrap::{RunShown, State};
use crate::projections::message::{SCHEMA_VERSION, Unacked};
use crate::projections::mode::{Mode, ModeScope, Scope};
use crate::shapes::raw;
use crate::task::blocking;
use crate::task::listed::Listed;
use serde::Deserializer;
use serde::de::DeserializeOwned;

operation! {
    /// Read the state of the team: members, unread counts, blocked and stale tasks
    "read-team-status": Reads(Status) -> StatusAnswer = Team::status
}

/// Input of `status`.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Status {
    /// Minutes without an update or an ack after which a task or message is stale; 90 if absent
    #[cfg_attr(feature = "cli", arg(long, value_name = "MINUTES", value_parser = crate::argv::whole::<u64>))]
    pub stale_minutes: Option<u64>,
    /// Also compute the digest of the state, as `rehydrate` does; reads the whole state
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub digest: bool,
    /// Largest number of items in each list; 1000 if absent. On the command line, 0 means all
    #[schemars(range(min = 1, max = 1000))]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>))]
    pub limit: Option<usize>,
}

/// A message that has waited too long for its ack: its envelope and its age.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StaleMessage {
    /// Message id.
    pub id: String,
    /// Type of the message.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// Sender of the message.
    pub from: String,
    /// Recipient of the message.
    pub to: String,
    /// Task of the message.
    pub task_id: Option<String>,
    /// Trace of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Priority of the message.
    pub priority: Priority,
    /// Time of the message.
    pub created_at: Timestamp,
    /// Version of the envelope.
    pub schema_version: u32,
    /// Payload of the message.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub payload: Option<Box<RawValue>>,
    /// Envelope fields that this version does not know, unchanged.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub extra: BTreeMap<String, Option<Box<RawValue>>>,
    /// Copy of `id`.
    pub message_id: String,
    /// Copy of `to`.
    pub agent: String,
    /// Whole minutes since the message was recorded.
    pub age_minutes: u64,
}

impl<'de> Deserialize<'de> for StaleMessage {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<StaleMessage, D::Error> {
        // Parses by hand, because a derived flattened field would not keep the original text of the payload.
        let mut fields = BTreeMap::<String, Box<RawValue>>::deserialize(from)?;
        Ok(StaleMessage {
            id: take(&mut fields, "id")?,
            kind: take(&mut fields, "type")?,
            from: take(&mut fields, "from")?,
            to: take(&mut fields, "to")?,
            task_id: take(&mut fields, "task_id")?,
            trace_id: take(&mut fields, "trace_id")?,
            priority: take(&mut fields, "priority")?,
            created_at: take(&mut fields, "created_at")?,
            schema_version: take(&mut fields, "schema_version")?,
            payload: take(&mut fields, "payload")?,
            message_id: take(&mut fields, "message_id")?,
            agent: take(&mut fields, "agent")?,
            age_minutes: take(&mut fields, "age_minutes")?,
            extra: fields
                .into_iter()
                .map(|(name, raw)| (name, Some(raw)))
                .collect(),
        })
    }
}

/// Takes a field out of an object. A missing field reads as `null`.
fn take<T: DeserializeOwned, E: serde::de::Error>(
    fields: &mut BTreeMap<String, Box<RawValue>>,
    name: &str,
) -> std::result::Result<T, E> {
    let raw = fields.remove(name);
    let text = raw.as_ref().map_or("null", |raw| raw.get());
    serde_json::from_str(text).map_err(E::custom)
}

/// An active mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveMode {
    /// The mode.
    pub mode: Mode,
    /// Session of the mode; absent at the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Phase of the mode.
    pub phase: Option<String>,
    /// Time when the mode became active.
    pub activated_at: Option<Timestamp>,
    /// Time of the mode's last change.
    pub updated_at: Timestamp,
}

/// Summary of a bootstrap run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapRun {
    /// Id of the run.
    pub run: String,
    /// State of the run.
    pub state: State,
    /// The team that the run works with.
    pub team_name: Option<String>,
    /// Domains of the run.
    pub domains: Vec<String>,
    /// Number of breaches of the contract so far.
    pub breaches: u64,
    /// Time of the run's next timeout.
    #[schemars(with = "Option<Timestamp>")]
    pub due_at: Option<String>,
    /// Time of the run's last change.
    #[schemars(with = "Timestamp")]
    pub updated_at: String,
}

/// Count of lines that are not valid JSON. The log has checksums, so the count is always zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MalformedJsonl {
    /// Number of lines.
    pub total: u64,
    /// Files with lines that are not valid JSON.
    pub files: Vec<String>,
}

/// Answer of `status`: first the fields of the protocol, then teamlog's own fields.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StatusAnswer {
    /// The team.
    pub team: String,
    /// Time when the team was closed; absent if the team is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<String>,
    /// The members, sorted.
    pub members: Vec<String>,
    /// Number of unread messages per agent, zeros included.
    pub unread_counts: BTreeMap<String, u64>,
    /// Number of unread posts in threads per agent, without zeros.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unread_posts: BTreeMap<String, u64>,
    /// Blocked tasks, in natural order.
    #[schemars(with = "Vec<Task>")]
    pub blocked_tasks: Vec<Listed>,
    /// Failed or canceled dependencies of the blocked tasks, per task.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_dependencies: BTreeMap<String, Vec<String>>,
    /// Unfinished tasks without an update for `stale_minutes`, in natural order.
    #[schemars(with = "Vec<Task>")]
    pub stale_tasks: Vec<Listed>,
    /// Unread messages older than `stale_minutes`, oldest first.
    pub stale_messages: Vec<StaleMessage>,
    /// Always zero; kept for readers of the protocol.
    pub malformed_jsonl: MalformedJsonl,
    /// Active modes: first the modes of the root, then the modes of each session, in the order of their start.
    pub active_modes: Vec<ActiveMode>,
    /// Bootstrap runs, newest first.
    pub bootstrap_runs: Vec<BootstrapRun>,
    /// Number of all tasks.
    pub task_count: u64,
    /// Number of tasks per status, zeros included.
    pub tasks_by_status: BTreeMap<Cow<'static, str>, u64>,
    /// Number of messages in all inboxes.
    pub message_count: u64,
    /// Number of events in the log.
    pub events: u64,
    /// Seq of the last event.
    pub last_seq: u64,
    /// The log's id.
    pub log: String,
    /// `jsonl` or `binary`.
    #[schemars(with = "String", extend("enum" = ["jsonl", "binary"]))]
    pub format: Format,
    /// Names of the lists that were shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<Cow<'static, str>>,
    /// Digest of the state, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_digest: Option<String>,
}

/// Default minutes after which an item is stale.
pub const STALE_MINUTES: u64 = 90;
/// Default limit of each list of the answer.
pub const LISTED: usize = 1_000;

impl Team {
    /// Returns the team's state.
    pub fn status(&mut self, status: Status) -> Result<StatusAnswer> {
        let now = self.now();
        let identity = self.log.identity().clone();
        let limit = page::limit(status.limit, LISTED);
        let minutes = status.stale_minutes.unwrap_or(STALE_MINUTES);
        let micros = i64::try_from(minutes.saturating_mul(60_000_000));
        let before = now.plus_micros(-micros.unwrap_or(i64::MAX));
        self.survey(|live, reader| {
            let counts = live.counts()?;
            let by_status = live.task_counts()?;
            let closed = live.team()?.and_then(|team| team.closed_at);
            let more = limit.saturating_add(1);
            let truncated = Vec::new();
            let mut cut = ListLimit { limit, truncated };
            let blocked = cut.list("blocked_tasks", live.blocked_tasks(None, more)?.tasks);
            let stale_tasks = live.stale_tasks(before, more)?;
            let statuses = TaskStatus::ALL
                .map(|status| status.name().into())
                .into_iter();
            Ok(StatusAnswer {
                team: identity.name.clone(),
                closed_at: closed.map(|at| at.to_string()),
                members: cut.list("members", live.members()?),
                unread_counts: cut.map("unread_counts", unread_counts(live)?),
                unread_posts: cut.map("unread_posts", unread_posts(live)?),
                failed_dependencies: blocking::unmet_by_task(live, &blocked)?.failed,
                blocked_tasks: Listed::all(blocked, now),
                stale_tasks: Listed::all(cut.list("stale_tasks", stale_tasks), now),
                stale_messages: cut
                    .list("stale_messages", live.stale_messages(before, more)?)
                    .into_iter()
                    .map(|unacked| stale_message(live, reader, unacked, now))
                    .collect::<Result<_>>()?,
                malformed_jsonl: MalformedJsonl::default(),
                active_modes: cut.list("active_modes", active_modes(live)?),
                bootstrap_runs: cut.list("bootstrap_runs", bootstrap_runs(live, more)?),
                task_count: counts.tasks,
                tasks_by_status: statuses.zip(by_status.by_status).collect(),
                message_count: counts.messages,
                events: counts.events,
                last_seq: reader.head().last_seq,
                log: identity.log.to_string(),
                format: identity.format,
                truncated: cut.truncated,
                state_digest: match status.digest {
                    true => Some(live.digest()?),
                    false => None,
                },
            })
        })
    }
}

/// A limit on lists, with the names of the lists that were shortened.
struct ListLimit {
    limit: usize,
    truncated: Vec<Cow<'static, str>>,
}

impl ListLimit {
    fn list<T>(&mut self, name: &'static str, mut items: Vec<T>) -> Vec<T> {
        if items.len() > self.limit {
            items.truncate(self.limit);
            self.truncated.push(name.into());
        }
        items
    }

    fn map<V>(&mut self, name: &'static str, items: BTreeMap<String, V>) -> BTreeMap<String, V> {
        let items = self.list(name, items.into_iter().collect());
        items.into_iter().collect()
    }
}

fn unread_counts(live: &Live) -> Result<BTreeMap<String, u64>> {
    let members = live.members()?.into_iter().map(|name| (name, 0));
    let agents = live.agents()?.into_iter();
    let unread = agents.map(|agent| (agent.name, agent.unread));
    Ok(members.chain(unread).collect())
}

fn unread_posts(live: &Live) -> Result<BTreeMap<String, u64>> {
    let counts = live.all_post_counts()?.into_iter();
    let unread = counts.map(|counts| (counts.agent.clone(), counts.unread()));
    Ok(unread.filter(|(_, unread)| *unread > 0).collect())
}

fn active_modes(live: &Live) -> Result<Vec<ActiveMode>> {
    let sessions = live.active_sessions()?.into_iter().map(Scope::Session);
    let mut active = Vec::new();
    for scope in [Scope::Root].into_iter().chain(sessions) {
        let own = live.mode_scope(&scope)?;
        for entry in own.iter().flat_map(ModeScope::active) {
            active.push(ActiveMode {
                mode: entry.mode,
                session_id: scope.session().map(str::to_owned),
                phase: entry.phase.clone(),
                activated_at: entry.activated_at(),
                updated_at: entry.at,
            });
        }
    }
    Ok(active)
}

fn bootstrap_runs(live: &Live, limit: usize) -> Result<Vec<BootstrapRun>> {
    let runs = live.newest_bootstrap_runs(limit)?;
    let runs = runs.iter().map(RunShown::from);
    Ok(runs
        .map(|run| BootstrapRun {
            run: run.run,
            state: run.state,
            team_name: run.team_name,
            domains: run.domains,
            breaches: run.breaches,
            due_at: run.due_at,
            updated_at: run.updated_at,
        })
        .collect())
}

fn stale_message(
    live: &Live,
    reader: &Reader,
    unacked: Unacked,
    now: Timestamp,
) -> Result<StaleMessage> {
    const ADDED: [&str; 3] = ["message_id", "agent", "age_minutes"];
    let message = page::sent(live, reader, unacked.seq)?;
    let age = now.micros() - unacked.recorded_at.micros();
    let extra = message.extra.into_iter();
    Ok(StaleMessage {
        id: message.id,
        kind: message.kind,
        from: message.from,
        to: message.to,
        task_id: message.task_id,
        trace_id: message.trace_id,
        priority: message.priority,
        created_at: message.created_at,
        schema_version: SCHEMA_VERSION,
        payload: raw(message.payload),
        extra: extra
            .filter(|(name, _)| !ADDED.contains(&name.as_str()))
            .map(|(name, value)| (name, raw(value)))
            .collect(),
        message_id: unacked.id,
        agent: unacked.to,
        age_minutes: u64::try_from(age / 60_000_000).unwrap_or(0),
    })
}

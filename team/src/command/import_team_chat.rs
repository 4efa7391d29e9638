//! `import --team-chat`: a directory of the message protocol as it was kept in files: inboxes, acks, dead letters, and
//! snapshots of tasks whose messages are gone. All of it gets into a new team, built aside, or none.

use super::append::DEFAULT_ACTOR;
use super::backup::millis;
use super::team_chat_source::{Chat, FileProblem, read_chat};
use crate::aside::Aside;
use crate::failure::Result;
use crate::names;
use crate::projections::fact::{MessageAcked, TeamCreated};
use crate::projections::messages::MessageInfo;
use crate::projections::{Message, MessageType};
use crate::refusal::{Code, Refusal};
use crate::root::Root;
use crate::team::input_fault;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use teamlog_engine::storage::Storage;
use teamlog_engine::{Durability, Format, Json, NewEvent, Timestamp, Writer};

/// How a directory is imported. The team must not exist.
#[derive(Debug, Clone, Default)]
pub struct ImportTeamChat {
    /// The new team.
    pub team: String,
    /// Its format; `None` is `jsonl`.
    pub format: Option<Format>,
    /// Write nothing if anything is malformed, an orphan or a duplicate.
    pub strict: bool,
    /// Do without view files.
    pub no_views: bool,
    /// Accept a network or host-shared file system.
    pub allow_network_fs: bool,
}

/// What the directory held and what became of it; also the payload of `log_imported`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatCounts {
    /// Files read.
    pub files: u64,
    /// Messages recorded.
    pub messages: u64,
    /// Acks recorded.
    pub acks: u64,
    /// Dead letters recorded.
    pub dead_letters: u64,
    /// Tasks of which only the snapshot is left, recorded as such.
    pub tasks: u64,
    /// Snapshots that were passed by, since messages tell more of their tasks.
    pub tasks_from_messages: u64,
    /// Events of other kinds, passed by: what they say follows from the messages.
    pub events_passed_by: u64,
    /// What is there more than once; the first counts.
    pub duplicates: u64,
    /// Acks of messages that are not there, or of somebody else's.
    pub orphans: u64,
    /// Lines and files that are not what they should be.
    pub malformed: u64,
}

/// `{status, team, …counts, problems[], problems_omitted, first_seq, last_seq, elapsed_ms}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatAnswer {
    /// `ok`, or `rejected` where nothing was written: because of `strict`, or as nothing was found.
    #[schemars(extend("enum" = ["ok", "rejected"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// How many of what.
    #[serde(flatten)]
    pub counts: ChatCounts,
    /// The first problems, by file and line.
    pub problems: Vec<FileProblem>,
    /// Problems beyond those.
    pub problems_omitted: u64,
    /// Seq of the first event.
    pub first_seq: Option<u64>,
    /// Seq of the last one: `log_imported`.
    pub last_seq: Option<u64>,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// The payload of `log_imported`.
#[derive(Serialize)]
struct Imported<'a> {
    source: &'a str,
    #[serde(flatten)]
    counts: ChatCounts,
}

impl Root {
    /// Imports a directory. What it says is held in memory meanwhile.
    ///
    /// # Errors
    /// `team_exists`, `invalid_input`, `unsafe_file_system`; I/O.
    pub fn import_team_chat(
        &self,
        import: &ImportTeamChat,
        source: &dyn Storage,
    ) -> Result<ChatAnswer> {
        let started = Instant::now();
        names::check_new("team", &import.team)?;
        if self.find(&import.team)?.is_some() {
            return Err(exists(&import.team).into());
        }
        let mut chat = read_chat(source, self.options().clock.now())?;
        let history = history(&mut chat);
        let problems = chat.counts.malformed + chat.counts.orphans + chat.counts.duplicates;
        let mut answer = ChatAnswer {
            status: "rejected",
            team: import.team.clone(),
            counts: chat.counts,
            problems: Vec::new(),
            problems_omitted: 0,
            first_seq: None,
            last_seq: None,
            elapsed_ms: 0,
        };
        let nothing = history.is_empty() && chat.members.is_empty();
        if !nothing && (!import.strict || problems == 0) {
            let last = self.record(import, &chat, history)?;
            answer.status = "ok";
            (answer.first_seq, answer.last_seq) = (Some(1), Some(last));
        }
        (answer.problems, answer.problems_omitted) = chat.problems.finish();
        answer.elapsed_ms = millis(started);
        Ok(answer)
    }

    fn record(&self, import: &ImportTeamChat, chat: &Chat, history: Vec<Item>) -> Result<u64> {
        let format = import.format.unwrap_or_default();
        let anywhere = import.allow_network_fs;
        let (aside, mut team) = Aside::begin(self, &import.team, format, "import", anywhere)?;
        let writer = team.lock()?.into_writer(());
        let created = TeamCreated {
            members: members(chat),
            open: true,
            views: !import.no_views,
        };
        let first = history.first().map(|item| item.at.plus_micros(-1));
        append(&writer, created.event(DEFAULT_ACTOR, first))?;
        for item in history {
            let mut event = item.event;
            event.created_at = Some(item.at);
            append(&writer, event)?;
        }
        let said = Imported {
            source: "team-chat",
            counts: chat.counts,
        };
        let payload =
            Json::of(&said).map_err(|error| Refusal::new(Code::InvalidInput, error.to_string()))?;
        append(
            &writer,
            NewEvent::new("log_imported", DEFAULT_ACTOR, payload),
        )?;
        writer.sync()?;
        let last = writer.head().last_seq;
        writer.close()?;
        team.rehydrate(Default::default(), &mut |_, _| {})?;
        drop(team);
        match aside.settle()? {
            true => Ok(last),
            false => Err(exists(&import.team).into()),
        }
    }
}

fn append(writer: &Writer<()>, event: NewEvent) -> Result<()> {
    let appended = writer.append(vec![event], Durability::Buffered);
    appended.map_err(input_fault)?;
    Ok(())
}

/// One event to come, with its place in the order: by time, then messages before what is said of them, then by id.
struct Item {
    at: Timestamp,
    rank: u8,
    id: String,
    event: NewEvent,
}

/// Everything that was read, in order. What is said of a message never comes before it.
fn history(chat: &mut Chat) -> Vec<Item> {
    let mut items = Vec::new();
    let known: BTreeMap<&str, &Message> = chat
        .messages
        .iter()
        .map(|message| (message.id.as_str(), message))
        .collect();
    let told: BTreeSet<&str> = chat
        .messages
        .iter()
        .filter(|message| {
            matches!(
                message.kind,
                MessageType::TaskAssign | MessageType::TaskUpdate
            )
        })
        .filter_map(|message| message.task_id.as_deref())
        .collect();
    for message in known.values() {
        match message.sent() {
            Ok(event) => {
                chat.counts.messages += 1;
                items.push(item(message.created_at, 0, &message.id, event));
            }
            Err(error) => chat
                .problems
                .note("inboxes", 0, "malformed", error.to_string()),
        }
    }
    for ack in &chat.acks {
        let why = match known.get(ack.message_id.as_str()) {
            None => format!("no inbox holds the message {:?}", ack.message_id),
            Some(message) if message.to != ack.agent => format!(
                "the message {:?} is to {:?}, not to {:?}",
                ack.message_id, message.to, ack.agent
            ),
            Some(message) => {
                let fact = MessageAcked {
                    message_id: ack.message_id.clone(),
                    agent: ack.agent.clone(),
                };
                let event = fact.event(message.trace_id.as_deref(), message.task_id.as_deref());
                let at = ack.at.max(message.created_at);
                chat.counts.acks += 1;
                items.push(item(at, 1, &ack.message_id, event));
                continue;
            }
        };
        chat.counts.orphans += 1;
        chat.problems.note(&ack.file, ack.line, "orphan", why);
    }
    for letter in &chat.dead_letters {
        let message = known.get(letter.dead.message_id.as_str());
        let info = MessageInfo {
            id: letter.dead.message_id.clone(),
            seq: 0,
            kind: message.map_or(MessageType::Message, |message| message.kind),
            to: message
                .map(|message| message.to.clone())
                .unwrap_or_default(),
            task_id: message.and_then(|message| message.task_id.clone()),
            trace_id: message.and_then(|message| message.trace_id.clone()),
            acked: None,
        };
        let at = message.map_or(letter.at, |message| letter.at.max(message.created_at));
        let event = letter.dead.event(DEFAULT_ACTOR, &info, at);
        chat.counts.dead_letters += 1;
        items.push(item(at, 2, &letter.dead.id, event));
    }
    for task in &chat.tasks {
        if told.contains(task.task_id.as_str()) {
            chat.counts.tasks_from_messages += 1;
            continue;
        }
        chat.counts.tasks += 1;
        let event = task.event(DEFAULT_ACTOR);
        items.push(item(task.updated_at, 3, &task.task_id, event));
    }
    items.sort_by(|a, b| (a.at, a.rank, &a.id).cmp(&(b.at, b.rank, &b.id)));
    items
}

fn item(at: Timestamp, rank: u8, id: &str, event: NewEvent) -> Item {
    Item {
        at,
        rank,
        id: id.to_owned(),
        event,
    }
}

/// The members that the directory names, and whoever occurs in a message.
fn members(chat: &Chat) -> Vec<String> {
    let occurring = chat
        .messages
        .iter()
        .flat_map(|message| [&message.from, &message.to]);
    let names: BTreeSet<&String> = chat.members.iter().chain(occurring).collect();
    names.into_iter().cloned().collect()
}

fn exists(team: &str) -> Refusal {
    Refusal::new(
        Code::TeamExists,
        format!("team must be new, but {team:?} exists"),
    )
    .field("team")
    .hint("to add messages to a team: teamlog import TEAM --messages FILE")
    .detail("team", team)
}

//! The source of `import --team-chat`: reads messages, acks, dead letters and snapshots from a directory.
//!
//! The content is not trusted. Names and times are checked, links are not followed. Malformed entries are reported with file
//! and line, and are not imported.

use crate::import::report::PROBLEMS_MAX;
use crate::import::source::fitting;
use crate::import::team_chat::ChatCounts;
use crate::import::team_chat_config::settings;
use crate::import::team_chat_events::OldEvent;
use crate::log::lines::Lines;
use crate::operation::prelude::*;
use crate::projections::Envelope;
use crate::projections::delivery::event::DeliveryDead;
use crate::projections::message::{Names, NotApplied, check_id, check_name};
use crate::projections::task::TaskImported;
use crate::projections::team::event::ConfigChanged;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Cursor;

/// Maximum size of a file in bytes. Files are read as a whole.
const FILE_BYTES_MAX: u64 = 4 << 30;
/// Maximum size of a snapshot in bytes.
const SNAPSHOT_BYTES_MAX: u64 = 4 << 20;

/// A problem with its file and line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileProblem {
    /// The file, relative to the directory.
    pub file: String,
    /// Number of the line, from 1; 0 if the problem concerns the whole file.
    pub line: u64,
    /// Kind of the problem: `malformed`, `duplicate`, `orphan` (an ack without its message) or `not_applied`. With `not_applied`
    /// the message is in the log, but at least a part of it changed no task.
    #[schemars(extend("enum" = ["malformed", "duplicate", "orphan", "not_applied"]))]
    pub kind: &'static str,
    /// Text that names the field, the value and the rule.
    pub message: String,
}

/// The first problems, and the number of further problems.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    listed: Vec<FileProblem>,
    all: u64,
}

impl Problems {
    pub fn all(&self) -> u64 {
        self.all
    }

    pub fn note(&mut self, file: &str, line: u64, kind: &'static str, message: String) {
        self.all += 1;
        let before = |known: &FileProblem| (known.file.as_str(), known.line) <= (file, line);
        let at = self.listed.partition_point(before);
        if at < PROBLEMS_MAX {
            let problem = FileProblem {
                file: file.to_owned(),
                line,
                kind,
                message,
            };
            self.listed.insert(at, problem);
            self.listed.truncate(PROBLEMS_MAX);
        }
    }

    /// Returns the first problems, and the number of problems that are left out.
    pub fn finish(self) -> (Vec<FileProblem>, u64) {
        let omitted = self.all - self.listed.len() as u64;
        (self.listed, omitted)
    }
}

pub(crate) struct ChatMessage {
    pub message: Message,
    pub file: String,
    pub line: u64,
}

/// An ack, with its original event, which is imported if the message of the ack is missing.
pub(crate) struct ChatAck {
    pub message_id: String,
    pub agent: String,
    pub at: Timestamp,
    pub event: OldEvent,
    pub file: String,
    pub line: u64,
}

/// A snapshot of a task, and the parts of the snapshot that cannot be imported.
pub(crate) struct ChatTask {
    pub task: TaskImported,
    pub left_out: Vec<Omission>,
    pub file: String,
}

/// Reason why a part of a snapshot is left out, as a code and as a text.
pub(crate) type Omission = (NotApplied, String);

pub(crate) struct ChatDeadLetter {
    pub dead: DeliveryDead,
    pub at: Timestamp,
}

#[derive(Default)]
pub(crate) struct Chat {
    pub members: Vec<String>,
    pub config: Option<ConfigChanged>,
    pub messages: Vec<ChatMessage>,
    pub acks: Vec<ChatAck>,
    /// Events other than acks.
    pub events: Vec<(Timestamp, OldEvent)>,
    pub dead_letters: Vec<ChatDeadLetter>,
    pub tasks: Vec<ChatTask>,
    pub counts: ChatCounts,
    pub problems: Problems,
}

#[derive(Deserialize)]
struct LegacyTeam {
    #[serde(default)]
    members: Vec<String>,
}

#[derive(Deserialize)]
struct LegacyAck {
    message_id: String,
    agent: String,
}

#[derive(Deserialize)]
struct LegacyDeadLetter<'a> {
    id: String,
    message_id: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    attempts: Option<u32>,
    created_at: String,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

/// Reads a directory. An entry with a time after `latest` is malformed.
pub(crate) fn read_chat(source: &dyn Storage, latest: Timestamp) -> Result<Chat> {
    let mut reader = ChatReader {
        source,
        latest,
        chat: Chat::default(),
        first: HashMap::new(),
    };
    reader.team()?;
    reader.config()?;
    let kinds = [
        ("inboxes", IdKind::Message),
        ("events", IdKind::Event),
        ("dead-letter", IdKind::Letter),
    ];
    for (dir, sort) in kinds {
        for file in reader.files(dir, ".jsonl")? {
            if let IdKind::Message = sort {
                reader.inbox(&file);
            }
            reader.lines(&file, sort)?;
        }
    }
    for file in reader.files("tasks", ".json")? {
        reader.snapshot(&file)?;
    }
    Ok(reader.chat)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum IdKind {
    Message,
    Event,
    Letter,
}

struct ChatReader<'a> {
    source: &'a dyn Storage,
    latest: Timestamp,
    chat: Chat,
    /// First position of each id, per kind of id.
    first: HashMap<(IdLabel, String), String>,
}

/// Kind of an id, with its name in problem texts.
type IdLabel = (IdKind, &'static str);
const MESSAGE_ID: IdLabel = (IdKind::Message, "message.id");
const EVENT_ID: IdLabel = (IdKind::Event, "id");
const ACK_ID: IdLabel = (IdKind::Event, "the ack");
const DEAD_LETTER_ID: IdLabel = (IdKind::Letter, "id");

impl ChatReader<'_> {
    fn malformed(&mut self, file: &str, line: u64, why: impl Into<String>) {
        self.chat.counts.malformed += 1;
        self.chat.problems.note(file, line, "malformed", why.into());
    }

    /// Returns true if the id is new. Otherwise reports a duplicate.
    fn is_new(&mut self, file: &str, line: u64, of: IdLabel, id: &str) -> bool {
        let here = format!("{file} line {line}");
        match self.first.entry((of, id.to_owned())) {
            Entry::Vacant(entry) => {
                entry.insert(here);
                true
            }
            Entry::Occupied(first) => {
                let (what, first) = (of.1, first.get());
                let why = format!("{what} {id:?} is not new: {first} has it too");
                self.chat.counts.duplicates += 1;
                self.chat.problems.note(file, line, "duplicate", why);
                false
            }
        }
    }

    fn time(&self, text: &str) -> Result<Timestamp, String> {
        let at = Timestamp::parse(text)
            .map_err(|why| format!("created_at must be a time ({why}), but is {text:?}"))?;
        let latest = self.latest;
        match at > latest {
            true => Err(format!(
                "created_at must not be after now ({latest}), but is {text:?}"
            )),
            false => Ok(at),
        }
    }

    /// Returns the files with the given extension in a directory, in order; none if the directory is missing.
    fn files(&self, dir: &str, ending: &str) -> Result<Vec<String>> {
        let names = match self.source.list(Path::new(dir)) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("list", dir)(error).into()),
        };
        let wanted = names.into_iter().filter(|name| name.ends_with(ending));
        Ok(wanted.map(|name| format!("{dir}/{name}")).collect())
    }

    /// Reads a whole file. If the file is of the wrong kind, reports a problem and returns no error.
    fn read(&mut self, file: &str, max: u64) -> Result<Option<Vec<u8>>> {
        match self.source.read(Path::new(file), max) {
            Ok(bytes) => {
                self.chat.counts.files += 1;
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) if is_unfit(&error) => {
                self.malformed(file, 0, format!("cannot read the file: {error}"));
                Ok(None)
            }
            Err(error) => Err(Error::io("read", file)(error).into()),
        }
    }

    fn lines(&mut self, file: &str, sort: IdKind) -> Result<()> {
        let Some(bytes) = self.read(file, FILE_BYTES_MAX)? else {
            return Ok(());
        };
        let mut lines = Lines::new(Cursor::new(bytes));
        loop {
            match lines.next() {
                Ok(Some(line)) => match sort {
                    IdKind::Message => self.message(file, line.number, &line.text),
                    IdKind::Event => self.event(file, line.number, &line.text),
                    IdKind::Letter => self.letter(file, line.number, &line.text),
                },
                Ok(None) => return Ok(()),
                Err(Failure::Refused(refusal)) => {
                    self.malformed(file, lines.number(), refusal.message);
                }
                Err(failed) => return Err(failed),
            }
        }
    }

    fn team(&mut self) -> Result<()> {
        let file = "team.json";
        let Some(bytes) = self.read(file, SNAPSHOT_BYTES_MAX)? else {
            return Ok(());
        };
        match serde_json::from_slice::<LegacyTeam>(&bytes) {
            Err(error) => self.malformed(file, error.line() as u64, error.to_string()),
            Ok(team) => {
                for member in &team.members {
                    self.member(file, member);
                }
            }
        }
        Ok(())
    }

    fn member(&mut self, file: &str, member: &str) {
        match check_name("members", member, Names::Imported) {
            Ok(()) => self.chat.members.push(member.to_owned()),
            Err(error) => self.malformed(file, 0, error.to_string()),
        }
    }

    fn config(&mut self) -> Result<()> {
        let file = "config.json";
        let Some(bytes) = self.read(file, SNAPSHOT_BYTES_MAX)? else {
            return Ok(());
        };
        match settings(&bytes) {
            Err(why) => self.malformed(file, 0, why),
            Ok((changed, problems)) => {
                self.chat.counts.settings = changed.changes.len() as u64;
                self.chat.config = Some(changed).filter(|changed| !changed.changes.is_empty());
                for problem in problems {
                    self.malformed(file, 0, problem);
                }
            }
        }
        Ok(())
    }

    /// Counts the owner of an inbox as a member, even if the inbox is empty.
    fn inbox(&mut self, file: &str) {
        let name = file.trim_start_matches("inboxes/");
        let member = name.strip_suffix(".jsonl").unwrap_or(name);
        self.member(file, member);
    }

    /// Parses an envelope, which must have an id and a time.
    fn envelope(&self, text: &str) -> Result<Message, String> {
        let envelope = Envelope::parse(text).map_err(said)?;
        if envelope.id.is_none() || envelope.created_at.is_none() {
            return Err("message.id and message.created_at must be given".to_owned());
        }
        let message = envelope.complete(Names::Imported, Timestamp::MAX, 0);
        let message = message.map_err(said)?;
        self.time(&message.created_at.to_string())?;
        fitting(message).map_err(said)
    }

    fn message(&mut self, file: &str, line: u64, text: &str) {
        match self.envelope(text) {
            Err(why) => self.malformed(file, line, why),
            Ok(message) => {
                if self.is_new(file, line, MESSAGE_ID, &message.id) {
                    self.found(message, file, line);
                }
            }
        }
    }

    fn found(&mut self, message: Message, file: &str, line: u64) {
        self.chat.messages.push(ChatMessage {
            message,
            file: file.to_owned(),
            line,
        });
    }

    /// Reads an event. An event about an ack is stored as an ack. After all files are read, the import decides if the ack also needs an
    /// event of its own.
    fn event(&mut self, file: &str, line: u64, text: &str) {
        let read = OldEvent::parse(text)
            .and_then(|event| self.time(&event.created_at).map(|at| (at, event)));
        let (at, event) = match read {
            Ok(read) => read,
            Err(why) => return self.malformed(file, line, why),
        };
        if let Some(id) = &event.id
            && !self.is_new(file, line, EVENT_ID, id)
        {
            return;
        }
        if event.kind != "message_acked" {
            return self.chat.events.push((at, event));
        }
        match acked(&event) {
            Err(why) => self.malformed(file, line, why),
            Ok(ack) if self.is_new(file, line, ACK_ID, &ack.message_id) => {
                self.chat.acks.push(ChatAck {
                    message_id: ack.message_id,
                    agent: ack.agent,
                    at,
                    event,
                    file: file.to_owned(),
                    line,
                });
            }
            Ok(_) => self.chat.events.push((at, event)),
        }
    }

    fn letter(&mut self, file: &str, line: u64, text: &str) {
        match self.dead_letter(text) {
            Err(why) => self.malformed(file, line, why),
            Ok((letter, message)) => {
                if !self.is_new(file, line, DEAD_LETTER_ID, &letter.dead.id) {
                    return;
                }
                self.chat.dead_letters.push(letter);
                // This file is possibly the only file with the message.
                if let Some(message) = message {
                    let first = self.first.entry((MESSAGE_ID, message.id.clone()));
                    if let Entry::Vacant(entry) = first {
                        entry.insert(format!("{file} line {line}"));
                        self.found(message, file, line);
                    }
                }
            }
        }
    }

    fn dead_letter(&self, text: &str) -> Result<(ChatDeadLetter, Option<Message>), String> {
        let letter: LegacyDeadLetter<'_> = serde_json::from_str(text).map_err(said)?;
        check_id("id", &letter.id).map_err(said)?;
        check_id("message_id", &letter.message_id).map_err(said)?;
        let at = self.time(&letter.created_at)?;
        let message = match letter.message.map(RawValue::get) {
            None | Some("null") => None,
            Some(text) => Some(self.envelope(text)?),
        };
        let message = message.filter(|message| message.id == letter.message_id);
        let dead = DeliveryDead {
            id: letter.id,
            message_id: letter.message_id,
            reason: letter.reason.unwrap_or_else(|| "ack_timeout".to_owned()),
            attempts: letter.attempts.unwrap_or(1),
            due_at: None,
        };
        Ok((ChatDeadLetter { dead, at }, message))
    }

    fn snapshot(&mut self, file: &str) -> Result<()> {
        let Some(bytes) = self.read(file, SNAPSHOT_BYTES_MAX)? else {
            return Ok(());
        };
        let parsed = std::str::from_utf8(&bytes)
            .map_err(|_| "the file is not UTF-8".to_owned())
            .and_then(snapshot)
            .and_then(|read| self.time(&read.0.updated_at.to_string()).map(|_| read));
        match parsed {
            Ok((task, left_out)) => self.chat.tasks.push(ChatTask {
                task,
                left_out,
                file: file.to_owned(),
            }),
            Err(why) => self.malformed(file, 0, why),
        }
        Ok(())
    }
}

fn acked(event: &OldEvent) -> Result<LegacyAck, String> {
    let ack: LegacyAck = serde_json::from_str(&event.payload())
        .map_err(|error| format!("payload must name message_id and agent ({error})"))?;
    check_id("payload.message_id", &ack.message_id).map_err(said)?;
    check_name("payload.agent", &ack.agent, Names::Imported).map_err(said)?;
    Ok(ack)
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

/// Parses a snapshot. Leaves out values that a task cannot have.
fn snapshot(text: &str) -> Result<(TaskImported, Vec<Omission>), String> {
    let mut fields: Map<String, Value> = serde_json::from_str(text).map_err(said)?;
    if fields.get("trace_id").is_some_and(|trace| trace == "") {
        fields.remove("trace_id");
    }
    let mut left_out = Vec::new();
    for field in ["status", "subject", "details", "note", "blocked"] {
        let value = fields.get(field).filter(|value| !value.is_null());
        if let Some((reason, rule)) = value.and_then(|value| unfit(field, value)) {
            let value = fields.remove(field).unwrap_or_default();
            left_out.push((reason, format!("{field} {rule}, but is {value}")));
        }
    }
    let task = TaskImported::parse(&Value::Object(fields).to_string())?;
    Ok((task, left_out))
}

/// Returns the reason why a task cannot have that value; `None` if the task can have the value.
fn unfit(field: &str, value: &Value) -> Option<(NotApplied, &'static str)> {
    let wrong_type = |rule| Some((NotApplied::WrongType, rule));
    match (field, value) {
        ("status", Value::String(status)) => {
            let unknown = (NotApplied::UnknownStatus, "must be the status of a task");
            Status::from_name(status).is_none().then_some(unknown)
        }
        ("blocked", Value::Bool(_)) | ("subject" | "details" | "note", Value::String(_)) => None,
        ("blocked", _) => wrong_type("must be true or false"),
        _ => wrong_type("must be a string"),
    }
}

/// Returns true if the error says that a file is unfit: a link, a directory, or too large.
fn is_unfit(error: &std::io::Error) -> bool {
    /// Number of the system error for a symbolic link that must not be followed (`ELOOP`).
    const LINK: i32 = 40;
    let kinds = [
        ErrorKind::FileTooLarge,
        ErrorKind::IsADirectory,
        ErrorKind::InvalidInput,
    ];
    kinds.contains(&error.kind()) || error.raw_os_error() == Some(LINK)
}

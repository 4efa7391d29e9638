//! Facts: what the events that folds know say, decoded from their stored shapes.
//!
//! Only the files `event.rs` (and `stored.rs`) know the JSON of a payload; unknown fields are tolerated, a missing or mistyped one is
//! [`Error::Undecodable`]. Names that become part of a path are checked here again, because a log may come from anywhere.

pub(crate) mod events;
pub(crate) mod stored;

use crate::artifact::event::ArtifactStored;
use crate::bootstrap::event::BootstrapFact;
use crate::delivery::event::{
    ConfigChanged, DeliveryAcked, DeliveryDead, DeliveryRequired, DeliveryRetry,
};
use crate::error::{Error, Result};
use crate::message::event::MailFact;
use crate::message::{Message, MessageType, Priority};
use crate::mode::event::ModeFact;
use crate::response::event::ResponseStored;
use crate::task::Status;
use crate::task::event::TaskFact;
use crate::task::imported::TaskImported;
use crate::thread::event::ThreadFact;
use crate::usage::event::UsageFact;
use crate::words;
use crate::worker::event::WorkerFact;
use crate::{artifact, bootstrap, delivery, message, mode, response, vocabulary, worker};
use std::ops::Range;
use teamlog_engine::{Event, Json, NewEvent, RefKind, Timestamp};

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// `team_created`.
    TeamCreated(TeamCreated),
    /// `members_added`.
    MembersAdded(MembersAdded),
    /// `message_sent`.
    MessageSent(Box<Sent>),
    /// `message_acked`.
    MessageAcked(MessageAcked),
    /// `message_suppressed`, where a wake-up for this agent was held back because it has an unread one.
    WakeUpWithheld(String),
    /// `delivery_required`.
    DeliveryRequired(DeliveryRequired),
    /// `delivery_retry`.
    DeliveryRetry(DeliveryRetry),
    /// `delivery_acked`.
    DeliveryAcked(DeliveryAcked),
    /// `delivery_dead_letter`.
    DeliveryDead(DeliveryDead),
    /// `config_changed`.
    ConfigChanged(ConfigChanged),
    /// `task_imported`.
    TaskImported(Box<TaskImported>),
    /// What a command did to a task.
    Task(Box<TaskFact>),
    /// What is known of a worker, and of the team's way to its end.
    Worker(Box<WorkerFact>),
    /// Marks of a message, and requests to tell its recipient.
    Mail(Box<MailFact>),
    /// What happened to the state of a mode.
    Mode(Box<ModeFact>),
    /// What happened in a run of the bootstrap contract.
    Bootstrap(Box<BootstrapFact>),
    /// What happened to a thread.
    Thread(Box<ThreadFact>),
    /// What is said of tokens.
    Usage(Box<UsageFact>),
    /// `artifact_stored`.
    ArtifactStored(Box<ArtifactStored>),
    /// `response_stored`.
    ResponseStored(ResponseStored),
    /// `team_closed`.
    TeamClosed(TeamClosed),
    /// Any other reserved kind: counted, moves nothing.
    Counted,
}

/// `team_closed`: reads go on, mutations are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamClosed {
    /// Why: `shutdown`, `orphan_cleanup`.
    pub reason: String,
}

/// `team_created`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamCreated {
    /// Names of the first members.
    pub members: Vec<String>,
    /// Whether agents join by acting.
    pub open: bool,
    /// Whether view files are kept.
    pub views: bool,
}

/// `members_added`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MembersAdded {
    /// Names of the new members.
    pub members: Vec<String>,
}

/// `message_sent`: the parts of the message that move state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The message's id.
    pub id: String,
    /// Its type.
    pub kind: MessageType,
    /// The sender.
    pub from: String,
    /// The recipient.
    pub to: String,
    /// The task concerned.
    pub task_id: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
    /// How urgent it is.
    pub priority: Priority,
    /// When its sender says that it was created.
    pub created_at: Timestamp,
    /// By what time it was sent: its own, unless the event says another one.
    pub sent_at: Timestamp,
    /// What it says of its task.
    pub change: Option<TaskChange>,
    /// The text of plain mail (type `message`).
    pub body: Option<String>,
    /// Where in the payload the envelope stands, as canonical JSON text.
    pub envelope: Range<usize>,
}

/// What a task message says of its task; what it does not mention stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskChange {
    /// `subject` of an assignment.
    pub subject: Option<String>,
    /// `details` of an assignment.
    pub details: Option<String>,
    /// `deps` of an assignment.
    pub deps: Option<Vec<String>>,
    /// `status` of an update.
    pub status: Option<Status>,
    /// `progress` of an update, as JSON text.
    pub progress: Option<String>,
    /// `eta` of an update, as JSON text.
    pub eta: Option<String>,
    /// `blocked` of an update.
    pub blocked: Option<bool>,
    /// `note` of an update.
    pub note: Option<String>,
}

impl Sent {
    /// The envelope as stored, out of the event that recorded it.
    pub fn envelope<'a>(&self, event: &'a Event<'_>) -> &'a str {
        event.payload.get(self.envelope.clone()).unwrap_or_default()
    }
}

/// `message_acked`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageAcked {
    /// The message.
    pub message_id: String,
    /// Its recipient.
    pub agent: String,
}

words! {
    /// Why an ack was not accepted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AckRefused {
        /// No such message.
        NotFound = "not_found",
        /// The message went to somebody else.
        WrongRecipient = "wrong_recipient",
    }
}

impl Fact {
    /// Reads what an event says. Must not be asked about foreign events.
    ///
    /// # Errors
    /// `Undecodable` where the payload has not the shape of its kind; the engine's `Newer` where the kind is not in the
    /// vocabulary, or the shape is a later one.
    pub fn decode(event: &Event<'_>) -> Result<Fact> {
        check_known(event)?;
        let payload = &*event.payload;
        let fact = match &*event.kind {
            "team_created" => stored::team_created(payload).map(Fact::TeamCreated),
            "members_added" => stored::members_added(payload).map(Fact::MembersAdded),
            "message_sent" => stored::sent(payload).map(|sent| Fact::MessageSent(Box::new(sent))),
            "message_acked" => stored::acked(payload).map(Fact::MessageAcked),
            "message_suppressed" => {
                Ok(stored::withheld(payload).map_or(Fact::Counted, Fact::WakeUpWithheld))
            }
            "delivery_required" => delivery::event::required(payload).map(Fact::DeliveryRequired),
            "delivery_retry" => delivery::event::retry(payload).map(Fact::DeliveryRetry),
            "delivery_acked" => delivery::event::acked(payload).map(Fact::DeliveryAcked),
            "delivery_dead_letter" => delivery::event::dead(payload).map(Fact::DeliveryDead),
            "config_changed" => delivery::event::config(payload).map(Fact::ConfigChanged),
            "task_imported" => {
                TaskImported::parse(payload).map(|task| Fact::TaskImported(Box::new(task)))
            }
            "response_stored" => response::event::parse(payload).map(Fact::ResponseStored),
            artifact::event::STORED => {
                artifact::event::parse(payload).map(|stored| Fact::ArtifactStored(Box::new(stored)))
            }
            "team_closed" => stored::team_closed(payload).map(Fact::TeamClosed),
            kind if worker::event::KINDS.contains(&kind) => {
                worker::event::parse(kind, payload).map(|fact| Fact::Worker(Box::new(fact)))
            }
            kind if bootstrap::event::KINDS.contains(&kind) => {
                bootstrap::event::parse(kind, payload).map(|fact| Fact::Bootstrap(Box::new(fact)))
            }
            kind if message::event::KINDS.contains(&kind) => {
                message::event::parse(kind, payload).map(|fact| Fact::Mail(Box::new(fact)))
            }
            kind if mode::event::KINDS.contains(&kind) => {
                mode::event::parse(kind, payload).map(|fact| Fact::Mode(Box::new(fact)))
            }
            kind => {
                let task = || TaskFact::parse(kind, payload).map(boxed(Fact::Task));
                let thread = || ThreadFact::parse(kind, payload).map(boxed(Fact::Thread));
                let usage = || UsageFact::parse(kind, payload).map(boxed(Fact::Usage));
                let found = task().or_else(thread).or_else(usage);
                found.unwrap_or(Ok(Fact::Counted))
            }
        };
        fact.map_err(|why| Error::Undecodable {
            seq: event.seq,
            kind: event.kind.clone().into_owned(),
            why,
        })
    }
}

fn boxed<T>(fact: fn(Box<T>) -> Fact) -> impl Fn(stored::Decoded<T>) -> stored::Decoded<Fact> {
    move |decoded| decoded.map(|said| fact(Box::new(said)))
}

/// The latest version of the shapes of payloads.
const SCHEMA_VERSION: u32 = 1;

/// Whether this version gives the event a meaning. Foreign events have none in any version, and are not asked about.
fn check_known(event: &Event<'_>) -> Result<()> {
    let why = if vocabulary::find(&event.kind).is_none() {
        "this version does not know its kind".to_owned()
    } else if event.schema_version > SCHEMA_VERSION {
        let version = event.schema_version;
        format!("its payload has version {version}, and this version reads up to {SCHEMA_VERSION}")
    } else {
        return Ok(());
    };
    Err(Error::Engine(teamlog_engine::Error::Newer {
        seq: event.seq,
        kind: event.kind.clone().into_owned(),
        why,
    }))
}

/// The envelope of a `message_sent` event as stored: canonical JSON text.
///
/// # Errors
/// `Undecodable` where the payload holds none.
pub fn envelope<'a>(event: &'a Event<'_>) -> Result<&'a str> {
    stored::envelope(&event.payload).map_err(|why| Error::Undecodable {
        seq: event.seq,
        kind: event.kind.clone().into_owned(),
        why,
    })
}

/// The message that a `message_sent` event recorded.
///
/// # Errors
/// `Undecodable` where it recorded none.
pub fn message(event: &Event<'_>) -> Result<Message> {
    let message = stored::message(&event.payload).map_err(|why| Error::Undecodable {
        seq: event.seq,
        kind: event.kind.clone().into_owned(),
        why,
    })?;
    Ok(message.by(&event.actor))
}

/// A name, where it is another one than that: of who recorded something in the name of somebody else, or in whose name.
pub fn other_than<'a>(name: &'a str, that: &str) -> Option<&'a str> {
    (name != that).then_some(name)
}

/// The sender of a stored envelope.
///
/// # Errors
/// `Undecodable` where it names none.
pub(crate) fn sender(event: &Event<'_>, envelope: &str) -> Result<String> {
    stored::sender(envelope).map_err(|why| Error::Undecodable {
        seq: event.seq,
        kind: event.kind.clone().into_owned(),
        why,
    })
}

/// An event of `kind` by `actor`, with no refs yet.
pub(crate) fn event(kind: &'static str, actor: &str, payload: Json) -> NewEvent {
    debug_assert!(
        vocabulary::find(kind).is_some(),
        "{kind} is not in the vocabulary"
    );
    NewEvent::new(kind, actor, payload)
}

impl TeamCreated {
    /// The event that records it; `at` for imported history only.
    pub fn event(&self, actor: &str, at: Option<Timestamp>) -> NewEvent {
        let mut event = event("team_created", actor, stored::team_created_json(self));
        event.created_at = at;
        event
    }
}

impl MembersAdded {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        event("members_added", actor, stored::members_added_json(self))
    }
}

impl TeamClosed {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        event("team_closed", actor, stored::team_closed_json(self))
    }
}

impl MessageAcked {
    /// The `message_acked` event; `trace` and `task` are those of the message.
    pub fn event(&self, trace: Option<&str>, task: Option<&str>) -> NewEvent {
        let mut event = self.record("message_acked", stored::acked_json(self));
        for (kind, value) in [(RefKind::Trace, trace), (RefKind::Task, task)] {
            if let Some(value) = value {
                event.refs.set(kind, value.to_owned());
            }
        }
        event
    }
    /// The `message_ack_duplicate` event.
    pub fn repeated(&self) -> NewEvent {
        self.record("message_ack_duplicate", stored::acked_json(self))
    }
    /// The `ack_rejected` event; `expected` is the message's real recipient.
    pub fn rejected(&self, why: AckRefused, expected: Option<&str>) -> NewEvent {
        self.record("ack_rejected", stored::rejected_json(self, why, expected))
    }
    fn record(&self, kind: &'static str, payload: Json) -> NewEvent {
        let mut event = event(kind, &self.agent, payload);
        event.refs.set(RefKind::Agent, self.agent.clone());
        event.refs.set(RefKind::Message, self.message_id.clone());
        event
    }
}

//! Facts: what the events that folds know say, decoded from their stored shapes.
//!
//! Only the files `event.rs` (and `stored.rs`) know the JSON of a payload; unknown fields are tolerated, a missing or mistyped one is
//! [`Error::Undecodable`]. Names that become part of a path are checked here again, because a log may come from anywhere.

pub(crate) mod events;
pub(crate) mod stored;

use crate::message::event::MessageFact;
use crate::message::{Message, MessageType, Priority};
use crate::prelude::*;
use crate::task::Status;
use crate::vocabulary::{self, Kind};
use crate::{
    agent_token, artifact, bootstrap, delivery, loss, message, mode, refused, response, task, team,
    thread, usage, worker,
};
use std::ops::Range;

/// Declares what an event can say: for each noun what its events say, with their rows of the vocabulary.
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $noun:ident($fact:path),)*) => {
        /// What an event says.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Fact {
            $($(#[doc = $doc])+ $noun(Box<$fact>),)*
            /// Any other reserved kind: counted, moves nothing.
            Counted,
        }

        /// The kinds that nouns record.
        pub(crate) const KINDS: &[&[Kind]] = &[$(<$fact>::KINDS),*];
    };
}

facts! {
    /// What happened to the team itself.
    Team(team::event::TeamFact),
    /// What happened to a message.
    Message(message::event::MessageFact),
    /// Marks of a message, and requests to tell its recipient.
    Mail(message::event::MailFact),
    /// What happened to a delivery.
    Delivery(delivery::event::DeliveryFact),
    /// What a command did to a task.
    Task(task::event::TaskFact),
    /// What is known of a worker.
    Worker(worker::event::WorkerFact),
    /// What is known of the team's supervision, and of its way to its end.
    Supervision(worker::supervision::SupervisionFact),
    /// What happened to the state of a mode.
    Mode(mode::event::ModeFact),
    /// What happened in a run of the bootstrap contract.
    Bootstrap(bootstrap::event::BootstrapFact),
    /// What happened to a thread.
    Thread(thread::event::ThreadFact),
    /// What is said of tokens.
    Usage(usage::event::UsageFact),
    /// What is recorded of artifacts.
    Artifact(artifact::event::ArtifactFact),
    /// What is recorded of agents' tokens.
    AgentToken(agent_token::event::AgentTokenFact),
    /// What is recorded of refused writes.
    Refused(refused::event::RefusedFact),
    /// A recorded loss of the log's events.
    Loss(loss::event::LossFact),
    /// What is recorded of answers.
    Response(response::event::ResponseFact),
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
    /// `progress` of an update.
    pub progress: Option<Json>,
    /// `eta` of an update.
    pub eta: Option<Json>,
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

impl Fact {
    /// Reads what an event says. Must not be asked about foreign events.
    ///
    /// # Errors
    /// `Undecodable` where the payload has not the shape of its kind; the engine's `Newer` where the kind is not in the
    /// vocabulary, or the shape is a later one.
    pub fn decode(event: &Event<'_>) -> Result<Fact> {
        (known(event)?.decode)(&event.payload).map_err(undecodable(event))
    }
    /// The message that it says was sent.
    pub fn sent(&self) -> Option<&Sent> {
        match self {
            Fact::Message(fact) => match &**fact {
                MessageFact::Sent(sent) => Some(sent),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The error of an event whose payload has not the shape of its kind.
pub(crate) fn undecodable(event: &Event<'_>) -> impl FnOnce(String) -> Error {
    move |why| Error::Undecodable {
        seq: event.seq,
        kind: event.kind.clone().into_owned(),
        why,
    }
}

/// The latest version of the shapes of payloads.
const SCHEMA_VERSION: u32 = 1;

/// The row of the event's kind. Foreign events have none, and are not asked about.
fn known(event: &Event<'_>) -> Result<&'static vocabulary::Kind> {
    let why = match vocabulary::find(&event.kind) {
        None => "this version does not know its kind".to_owned(),
        Some(_) if event.schema_version > SCHEMA_VERSION => {
            let version = event.schema_version;
            format!(
                "its payload has version {version}, and this version reads up to {SCHEMA_VERSION}"
            )
        }
        Some(kind) => return Ok(kind),
    };
    Err(Error::Engine(teamlog_engine::Error::Newer {
        seq: event.seq,
        kind: event.kind.clone().into_owned(),
        why,
    }))
}

/// The envelope of a `message_sent` event as stored: canonical JSON text.
pub fn envelope<'a>(event: &'a Event<'_>) -> Result<&'a str> {
    stored::envelope(&event.payload).map_err(undecodable(event))
}

/// The message that a `message_sent` event recorded.
pub fn message(event: &Event<'_>) -> Result<Message> {
    let message = stored::message(&event.payload).map_err(undecodable(event))?;
    Ok(message.by(&event.actor))
}

/// A name, where it is another one than that: of who recorded something in the name of somebody else, or in whose name.
pub fn other_than<'a>(name: &'a str, that: &str) -> Option<&'a str> {
    (name != that).then_some(name)
}

/// The sender of a stored envelope.
pub(crate) fn sender(event: &Event<'_>, envelope: &str) -> Result<String> {
    stored::sender(envelope).map_err(undecodable(event))
}

/// An event of `kind` by `actor`, with those refs that have a value.
pub(crate) fn event<const N: usize>(
    kind: &'static str,
    actor: &str,
    payload: Json,
    refs: [(RefKind, Option<&str>); N],
) -> NewEvent {
    debug_assert!(
        vocabulary::find(kind).is_some(),
        "{kind} is not in the vocabulary"
    );
    let mut event = NewEvent::new(kind, actor, payload);
    event.refs.set_given(refs);
    event
}

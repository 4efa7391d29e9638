//! Facts: the events of all nouns in one type, which folds take.

use crate::error::Result;
use crate::event::message::MessageFact;
use crate::event::{
    Decoded, Events, Kind, Sent, agent_token, artifact, bootstrap, delivery, loss, message, mode,
    refused, response, supervision, task, team, thread, usage, worker,
};
use crate::tx::Tx;
use teamlog_engine::Event;

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

        /// The events of each noun.
        pub(crate) const NOUNS: &[Noun] = &[$(Noun {
            kinds: <$fact as Events>::KINDS,
            read: |kind, text| Ok(Fact::$noun(Box::new(<$fact>::from_payload(kind, text)?))),
        }),*];
    };
}

facts! {
    /// What happened to the team itself.
    Team(team::TeamFact),
    /// What happened to a message.
    Message(message::MessageFact),
    /// Marks of a message, and requests to tell its recipient.
    Mail(message::MailFact),
    /// What happened to a delivery.
    Delivery(delivery::DeliveryFact),
    /// What a command did to a task.
    Task(task::TaskFact),
    /// What is known of a worker.
    Worker(worker::WorkerFact),
    /// What is known of the team's supervision, and of its way to its end.
    Supervision(supervision::SupervisionFact),
    /// What happened to the state of a mode.
    Mode(mode::ModeFact),
    /// What happened in a run of the bootstrap contract.
    Bootstrap(bootstrap::BootstrapFact),
    /// What happened to a thread.
    Thread(thread::ThreadFact),
    /// What is said of tokens.
    Usage(usage::UsageFact),
    /// What is recorded of artifacts.
    Artifact(artifact::ArtifactFact),
    /// What is recorded of agents' tokens.
    AgentToken(agent_token::AgentTokenFact),
    /// What is recorded of refused writes.
    Refused(refused::RefusedFact),
    /// A recorded loss of the log's events.
    Loss(loss::LossFact),
    /// What is recorded of answers.
    Response(response::ResponseFact),
}

impl Fact {
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

/// The kinds of a noun, and how the payload of one of them is read.
pub(crate) struct Noun {
    pub kinds: &'static [Kind],
    pub read: Read,
}

/// Reads a payload, given the kind of its event.
pub(crate) type Read = fn(&str, &str) -> Decoded<Fact>;

/// An event with what it says.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// The event.
    pub event: &'a Event<'a>,
    /// What it says.
    pub fact: &'a Fact,
}

/// A deterministic fold over the events of a team.
pub(crate) struct Projection {
    /// Names the projection in the digest of all versions.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for the test of the fold version")
    )]
    pub name: &'static str,
    /// Rises if the same events give other entries than before, and `FOLD_VERSION` with it.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for the test of the fold version")
    )]
    pub version: u32,
    /// Folds one event. Pure: it reads and writes nothing but the keys of its own namespaces.
    pub apply: fn(&mut Tx<'_>, Recorded<'_>) -> Result<()>,
}

impl Projection {
    pub const fn new(
        name: &'static str,
        version: u32,
        apply: fn(&mut Tx<'_>, Recorded<'_>) -> Result<()>,
    ) -> Projection {
        Projection {
            name,
            version,
            apply,
        }
    }
}

//! Facts: the events of all nouns in one type, the input of folds.

use crate::error::Result;
use crate::event::message::MessageFact;
use crate::event::{
    Decoded, Events, Kind, MessageSent, agent_token, artifact, bootstrap, delivery, loss, message,
    mode, refused, response, script, supervision, task, team, thread, usage, worker,
};
use crate::tx::Tx;
use teamlog_engine::Event;

/// Declares [`Fact`] with one variant per noun, and the list [`NOUNS`].
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $noun:ident($fact:path),)*) => {
        /// Decoded event.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Fact {
            $($(#[doc = $doc])+ $noun(Box<$fact>),)*
            /// Any other reserved kind: counted, without effect.
            Counted,
        }

        /// Event types of each noun.
        pub(crate) const NOUNS: &[Noun] = &[$(Noun {
            kinds: <$fact as Events>::KINDS,
            read: |kind, text| Ok(Fact::$noun(Box::new(<$fact>::from_payload(kind, text)?))),
        }),*];
    };
}

facts! {
    /// Event of the team itself.
    Team(team::TeamFact),
    /// Event of a message.
    Message(message::MessageFact),
    /// Mark of a message, or event of a dispatch request.
    Mail(message::MailFact),
    /// Event of a delivery.
    Delivery(delivery::DeliveryFact),
    /// Event of a task, recorded by a command.
    Task(task::TaskFact),
    /// Event of a worker.
    Worker(worker::WorkerFact),
    /// Event of the team's supervision.
    Supervision(supervision::SupervisionFact),
    /// Event of a mode.
    Mode(mode::ModeFact),
    /// Event of a bootstrap run.
    Bootstrap(bootstrap::BootstrapFact),
    /// Event of a thread.
    Thread(thread::ThreadFact),
    /// Event of token usage.
    Usage(usage::UsageFact),
    /// Event of an artifact.
    Artifact(artifact::ArtifactFact),
    /// Event of an agent's token.
    AgentToken(agent_token::AgentTokenFact),
    /// Event of a refused write.
    Refused(refused::RefusedFact),
    /// Event of a scripted projection.
    Script(script::ScriptFact),
    /// A recorded loss of the log's events.
    Loss(loss::LossFact),
    /// Stored response.
    Response(response::ResponseFact),
}

impl Fact {
    /// Returns the sent message, if the fact is one.
    pub fn sent(&self) -> Option<&MessageSent> {
        match self {
            Fact::Message(fact) => match &**fact {
                MessageFact::Sent(sent) => Some(sent),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The kinds of a noun, and the reader of their payloads.
pub(crate) struct Noun {
    pub kinds: &'static [Kind],
    pub read: Read,
}

/// Reads a payload, given the kind of its event.
pub(crate) type Read = fn(&str, &str) -> Decoded<Fact>;

/// An event and its fact.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// The event.
    pub event: &'a Event<'a>,
    /// The decoded event.
    pub fact: &'a Fact,
}

/// A deterministic fold over the events of a team.
pub(crate) struct Projection {
    /// Name of the projection in the digest of all versions.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for the test of the fold version")
    )]
    pub name: &'static str,
    /// Version of the projection. Raise this version, and `FOLD_VERSION`, if the same events give other rows than before.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for the test of the fold version")
    )]
    pub version: u32,
    /// Folds one event. Pure: reads and writes only the keys of its own namespaces.
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

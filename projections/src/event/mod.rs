//! The stored events of every noun: their kinds, their payloads, and the enumerations in them.
//!
//! There is one file per noun. Only these files know the JSON of a payload. Reading tolerates unknown fields; a missing or
//! mistyped field is [`Error::Undecodable`]. Names that become part of a path are checked again here, because a log may come from
//! anywhere. These files know neither rows nor folds: [`crate::fact`] lists their events, and the nouns fold them.

pub mod agent_token;
pub mod artifact;
mod attributes;
pub mod bootstrap;
pub mod delivery;
pub mod loss;
pub mod message;
pub mod mode;
mod plan;
pub mod refused;
pub mod response;
pub mod script;
mod sent;
pub mod setting;
pub(crate) mod stored;
pub mod supervision;
pub mod task;
mod task_imported;
pub mod team;
pub mod thread;
pub mod usage;
pub mod worker;

pub use attributes::{Attributes, StoredAttributes, in_edit};
pub use plan::PlanChange;
pub use sent::{MessageSent, TaskChange, envelope, message_type};
pub use task_imported::TaskImported;

pub(crate) use crate::common::*;
pub(crate) use sent::{SENT_OPENING, sender};
use serde::de::DeserializeOwned;
pub(crate) use stored::{Decoded, read, write};

/// A kind of event that a noun records.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Name of the kind: snake_case, past tense.
    pub name: &'static str,
    /// The command that records the event, as a user types it; `None` if no command records it.
    pub command: Option<&'static str>,
    /// One sentence that describes the event.
    pub doc: &'static str,
}

/// The events of a noun: their kinds, and the reading of their payloads.
pub(crate) trait Events: Sized {
    /// The kinds.
    const KINDS: &'static [Kind];
    /// Reads the payload of an event. The kind of the event is in [`Events::KINDS`].
    fn from_payload(kind: &str, text: &str) -> Decoded<Self>;
}

/// Returns the error of an event whose payload does not have the shape of its kind.
pub(crate) fn undecodable(event: &Event<'_>) -> impl FnOnce(String) -> Error {
    move |why| Error::Undecodable {
        seq: event.seq,
        kind: event.kind.clone().into_owned(),
        why,
    }
}

/// Returns the error text for a kind that the noun does not have.
pub(crate) fn unknown_kind(kind: &str) -> String {
    format!("the kind {kind} is unknown here")
}

/// Builds an event of `kind` by `actor`; refs without a value are left out.
pub(crate) fn event<const N: usize>(
    kind: &'static str,
    actor: &str,
    payload: Json,
    refs: [(RefKind, Option<&str>); N],
) -> NewEvent {
    let mut event = NewEvent::new(kind, actor, payload);
    event.refs.set_given(refs);
    event
}

/// Returns `name` if `name` differs from `other`. Used for an actor that acts for another agent, and for the agent for which it
/// acts.
pub fn other_than<'a>(name: &'a str, other: &str) -> Option<&'a str> {
    (name != other).then_some(name)
}

/// The stored form of an event's payload.
pub(crate) trait Payload: DeserializeOwned {
    /// Checks the rules that the type does not express.
    fn check(&self) -> Decoded<()>;
}

/// Declares the rules of payloads: `TaskClaimed { name worker, id token }`.
macro_rules! checks {
    ($($payload:ty { $($rule:ident $field:ident),* })*) => {
        $(impl $crate::event::Payload for $payload {
            fn check(&self) -> $crate::event::stored::Decoded<()> {
                $($crate::event::stored::$rule(stringify!($field), &self.$field)?;)*
                Ok(())
            }
        })*
    };
}
pub(crate) use checks;

/// Reads a payload. A type whose fields differ from its JSON implements this itself.
pub(crate) trait Decode: Sized {
    fn decode(text: &str) -> Decoded<Self>;
}

impl<T: Payload> Decode for T {
    fn decode(text: &str) -> Decoded<T> {
        let payload: T = read(text)?;
        payload.check()?;
        Ok(payload)
    }
}

/// Declares the events of a noun. Each has a description, its kind, the command that records it, its variant and its payload. The payload
/// is given as a type that is declared elsewhere, or by its rules and fields. An event has no payload if it is only counted, or if its kind
/// and refs are enough.
///
/// `of Fact { field }` also declares a struct around the enum, with a field for the thing that the event is about.
macro_rules! events {
    (
        $(#[$attribute:meta])* pub enum $name:ident
        $(of $about:ident { $field:ident })? {
            $(
                $(#[doc = $doc:literal])+
                $kind:literal by $command:literal => $variant:ident $(($payload:ty))?
                $(: $(#[$more:meta])* $declared:ident $([$($rules:tt)*])? { $($fields:tt)* })?,
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $doc])+ $variant $(($payload))? $(($declared))?,)*
        }

        $($(
            #[doc = concat!("`", $kind, "`.")]
            $(#[$more])*
            #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
            pub struct $declared {
                $($fields)*
            }

            $crate::event::checks! { $declared { $($($rules)*)? } }
        )?)*

        impl $crate::event::Events for $name {
            const KINDS: &'static [$crate::event::Kind] = &[$(
                $crate::event::Kind {
                    name: $kind,
                    command: Some($command),
                    doc: concat!($($doc),+).trim_ascii(),
                },
            )*];

            fn from_payload(kind: &str, text: &str) -> $crate::event::stored::Decoded<$name> {
                let _ = text;
                Ok(match kind {
                    $($kind => $crate::event::events!(@read text, $name::$variant $(, $payload)? $(, $declared)?),)*
                    _ => return Err($crate::event::unknown_kind(kind)),
                })
            }
        }

        impl $name {
            /// Returns the kind of the event.
            pub fn kind(&self) -> &'static str {
                match self {
                    $($name::$variant { .. } => $kind,)*
                }
            }
        }

        $(
            /// An event, and the thing that it is about.
            #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
            pub struct $about {
                /// Id of the thing.
                pub $field: String,
                /// The event.
                #[serde(flatten)]
                pub act: $name,
            }

            impl $crate::event::Events for $about {
                const KINDS: &'static [$crate::event::Kind] = <$name as $crate::event::Events>::KINDS;

                fn from_payload(kind: &str, text: &str) -> $crate::event::stored::Decoded<$about> {
                    #[derive(serde::Deserialize)]
                    struct SubjectField {
                        $field: String,
                    }
                    let act = <$name as $crate::event::Events>::from_payload(kind, text)?;
                    let SubjectField { $field } = $crate::event::stored::read(text)?;
                    $crate::event::stored::name(stringify!($field), &$field)?;
                    Ok($about { $field, act })
                }
            }
        )?
    };
    (@read $text:ident, $event:path) => { $event };
    (@read $text:ident, $event:path, $payload:ty) => {
        $event(<$payload as $crate::event::Decode>::decode($text)?)
    };
}
pub(crate) use events;

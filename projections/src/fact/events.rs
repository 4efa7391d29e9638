//! What the stored events of a noun have in common: each has a kind, and a payload of a type of its own.

use super::stored::{Decoded, read};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What an event says, as it is stored.
pub(crate) trait Payload: Serialize + DeserializeOwned {
    /// The rules that its type does not tell: a log may come from anywhere.
    fn check(&self) -> Decoded<()> {
        Ok(())
    }
}

/// Reads a payload and checks its rules.
pub(crate) fn payload<T: Payload>(text: &str) -> Decoded<T> {
    let payload: T = read(text)?;
    payload.check()?;
    Ok(payload)
}

/// Declares what can happen to something: the kind of each event, its variant, and the type of its payload, if it has any.
/// The enum serialises as the payload.
macro_rules! events {
    ($(#[$attribute:meta])* pub enum $name:ident {
        $($(#[$each:meta])* $kind:literal => $variant:ident $(($payload:ty))?,)*
    }) => {
        $(#[$attribute])*
        pub enum $name {
            $($(#[$each])* $variant $(($payload))?,)*
        }

        impl $name {
            /// The kind of the event that records it.
            pub fn kind(&self) -> &'static str {
                match self {
                    $($name::$variant { .. } => $kind,)*
                }
            }
            /// What an event of that kind says; `None` where it is about something else.
            pub(crate) fn parse(kind: &str, text: &str) -> Option<$crate::fact::stored::Decoded<$name>> {
                match kind {
                    $($kind => Some($crate::fact::events::events!(@read text, $name::$variant $(, $payload)?)),)*
                    _ => None,
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $($name::$variant $(($crate::fact::events::events!(@name $payload, payload)))? => {
                        $crate::fact::events::events!(@write serializer $(, $payload, payload)?)
                    })*
                }
            }
        }
    };
    (@read $text:ident, $event:path) => { Ok($event) };
    (@read $text:ident, $event:path, $payload:ty) => {
        $crate::fact::events::payload::<$payload>($text).map($event)
    };
    (@name $payload:ty, $name:ident) => { $name };
    (@write $serializer:ident) => {
        serde::ser::SerializeMap::end(serde::Serializer::serialize_map($serializer, Some(0))?)
    };
    (@write $serializer:ident, $payload:ty, $name:ident) => { serde::Serialize::serialize($name, $serializer) };
}
pub(crate) use events;

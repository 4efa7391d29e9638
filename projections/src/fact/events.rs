//! What the stored events of a noun have in common: each has a kind, its row of the vocabulary, and a payload of a type of
//! its own.

use super::stored::{Decoded, read};
use serde::de::DeserializeOwned;

/// What an event says, as it is stored.
pub(crate) trait Payload: DeserializeOwned {
    /// The rules that its type does not tell: a log may come from anywhere.
    fn check(&self) -> Decoded<()>;
}

/// Declares the rules of payloads: `TaskClaimed { name worker, id token }`.
macro_rules! checks {
    ($($payload:ty { $($rule:ident $field:ident),* })*) => {
        $(impl $crate::fact::events::Payload for $payload {
            fn check(&self) -> $crate::fact::stored::Decoded<()> {
                $($crate::fact::stored::$rule(stringify!($field), &self.$field)?;)*
                Ok(())
            }
        })*
    };
}
pub(crate) use checks;

/// How a payload is read. A type whose shape is not that of its JSON does it by itself.
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

/// Declares what can happen to something: of each event what it says, its kind, the command that records it, its variant,
/// and its payload: a type that stands elsewhere, or one with its rules and fields. An event without one is only counted, or
/// says all by its kind.
///
/// `of Fact { field }` declares a struct around the enum as well, with what each event is about.
macro_rules! events {
    (
        $(#[$attribute:meta])* pub enum $name:ident
        $(of $about:ident { $field:ident })? in $fact:path {
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

            $crate::fact::events::checks! { $declared { $($($rules)*)? } }
        )?)*

        impl $name {
            pub(crate) const KINDS: &'static [$crate::vocabulary::Kind] = &[$(
                $crate::vocabulary::Kind {
                    name: $kind,
                    command: Some($command),
                    doc: concat!($($doc),+).trim_ascii(),
                    decode: |text| {
                        let act = $crate::fact::events::events!(@read text, $name::$variant $(, $payload)? $(, $declared)?);
                        $name::fact(act, text)
                    },
                },
            )*];

            fn fact(act: $name, _text: &str) -> $crate::fact::stored::Decoded<$crate::Fact> {
                $(let act = $about::about(_text, act)?;)?
                Ok($fact(Box::new(act)))
            }

            /// The kind of the event that records it.
            pub fn kind(&self) -> &'static str {
                match self {
                    $($name::$variant { .. } => $kind,)*
                }
            }
        }

        $(
            /// What happened, and to which one.
            #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
            pub struct $about {
                /// What it is about.
                pub $field: String,
                /// What happened.
                #[serde(flatten)]
                pub act: $name,
            }

            impl $about {
                pub(crate) const KINDS: &'static [$crate::vocabulary::Kind] = $name::KINDS;

                fn about(text: &str, act: $name) -> $crate::fact::stored::Decoded<$about> {
                    #[derive(serde::Deserialize)]
                    struct Named {
                        $field: String,
                    }
                    let Named { $field } = $crate::fact::stored::read(text)?;
                    $crate::fact::stored::name(stringify!($field), &$field)?;
                    Ok($about { $field, act })
                }
            }
        )?
    };
    (@read $text:ident, $event:path) => { $event };
    (@read $text:ident, $event:path, $payload:ty) => {
        $event(<$payload as $crate::fact::events::Decode>::decode($text)?)
    };
}
pub(crate) use events;

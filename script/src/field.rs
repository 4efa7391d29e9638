//! The fields of events, with their names in scripts.

macro_rules! fields {
    ($($(#[doc = $doc:literal])+ $field:ident = $name:literal,)*) => {
        /// A field of an event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Field {
            $($(#[doc = $doc])+ $field,)*
        }

        impl Field {
            /// Every field.
            pub const ALL: &'static [Field] = &[$(Field::$field),*];

            /// Returns the field with this name in scripts.
            pub fn from_name(name: &str) -> Option<Field> {
                match name {
                    $($name => Some(Field::$field),)*
                    _ => None,
                }
            }

            /// Returns the name of the field in scripts.
            pub fn name(self) -> &'static str {
                match self {
                    $(Field::$field => $name,)*
                }
            }
        }
    };
}

fields! {
    /// Position in the log.
    Seq = "seq",
    /// Id of the event.
    Id = "id",
    /// Kind.
    Kind = "kind",
    /// Time as text.
    At = "at",
    /// Time in milliseconds since 1970.
    AtMs = "at_ms",
    /// Actor.
    Actor = "actor",
    /// Trace.
    Trace = "trace",
    /// Task.
    Task = "task",
    /// Agent that the event names.
    Agent = "agent",
    /// Message.
    Message = "message",
    /// Thread.
    Thread = "thread",
    /// Session.
    Session = "session",
    /// Tags, each NAME=VALUE.
    Tags = "tags",
    /// Payload.
    Payload = "payload",
}

//! How the stored shapes describe themselves in the schemas of answers. The shapes that are written by hand are
//! described by hand, beside the name lists that their rules use.

use crate::event::supervision::ApprovalStatus;
use crate::event::worker::{AckStatus, WorkerState};
use crate::message::{Message, MessageType, Priority};
use crate::prelude::*;
use crate::task::Status;
use crate::words::named_in_json;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// A type that is one of a few names.
macro_rules! named {
    ($($kind:ident: $about:literal),*) => {$(
        impl JsonSchema for $kind {
            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }
            fn schema_id() -> Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($kind)).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $about,
                    "enum": $kind::ALL.map($kind::name),
                })
            }
        }
    )*};
}

named! {
    MessageType: "What kind of message it is",
    Priority: "How urgent it is",
    Status: "The state of a task",
    WorkerState: "What a worker does",
    AckStatus: "Whether a worker agrees to its shutdown",
    ApprovalStatus: "A reviewer's decision"
}

named_in_json! {
    MessageType: "type is not known",
    Priority: "priority is not known",
    Status: "status must be one of a task"
}

/// What [`Message::to_json`] writes.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[expect(dead_code, reason = "it is there to be described")]
struct Envelope {
    /// The message's id
    id: String,
    #[serde(rename = "type")]
    kind: MessageType,
    /// The sender
    from: String,
    /// The recipient
    to: String,
    /// The task concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// The story it belongs to
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    priority: Priority,
    /// When its sender says that it was created
    created_at: Timestamp,
    /// Version of the envelope
    #[schemars(extend("const" = 1))]
    schema_version: u32,
    /// What it says; its fields depend on the type
    payload: Map<String, Value>,
}

impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Envelope::json_schema(generator);
        let about = "A message envelope; fields that it does not know are kept as they came";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}

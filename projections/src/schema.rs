//! JSON schemas of types with hand-written serialization, built from the same name lists as the serialization.

use crate::event::setting::Setting;
use crate::event::supervision::ApprovalStatus;
use crate::event::worker::{AckStatus, WorkerState};
use crate::message::{Message, MessageType, Priority};
use crate::prelude::*;
use crate::task::Status;
use crate::words::named_in_json;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Declares the schema of a type that is one of a few names.
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
    MessageType: "Type of a message",
    Priority: "Urgency of a message",
    Status: "Status of a task",
    WorkerState: "State of a worker",
    AckStatus: "A worker's answer to a shutdown request",
    ApprovalStatus: "A reviewer's decision"
}

impl JsonSchema for Setting {
    fn schema_name() -> Cow<'static, str> {
        "SettingName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Name of a setting",
            "enum": Setting::all().map(Setting::key).collect::<Vec<_>>(),
        })
    }
}

named_in_json! {
    MessageType: "type is not known",
    Priority: "priority is not known",
    Status: "status must be one of a task"
}

/// Schema of the JSON that [`Message::to_json`] writes.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[expect(dead_code, reason = "it is there to be described")]
struct Envelope {
    /// Id of the message
    id: String,
    #[serde(rename = "type")]
    kind: MessageType,
    /// Sender
    from: String,
    /// Recipient
    to: String,
    /// Task of the message, if any
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// Trace id, if any
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    priority: Priority,
    /// Creation time, as the sender gave it
    created_at: Timestamp,
    /// Version of the envelope
    #[schemars(extend("const" = 1))]
    schema_version: u32,
    /// Content; its fields depend on the type
    payload: Map<String, Value>,
}

impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Envelope::json_schema(generator);
        let about = "A message envelope; unknown fields are kept unchanged";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}

//! Describes the output of a command under `--json`, and says if the command records events.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use teamlog_team::api::{Effect, Op, schema};
use teamlog_team::engine::Receipt;
use teamlog_team::lifecycle::freshness::AsOf;

/// Form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prints {
    /// Prints one line of JSON on standard output.
    Answer,
    /// Prints one line of JSON per item on standard output.
    Lines,
    /// Prints text, which has no schema.
    Text,
    /// Prints one line of JSON on standard error.
    Error,
}

#[derive(Debug, Clone, Copy)]
pub struct Printed {
    /// Last word of a command with several words.
    pub action: &'static str,
    pub prints: Prints,
    /// True if the command records events in a team. The command is then forwarded to a daemon that holds the team.
    pub records: bool,
    /// True if `--receipt` adds a receipt to the answer.
    receipt: bool,
    /// True if the answer has the field that says how recent the answer is, for teams on several hosts.
    as_of: bool,
    describe: fn(&mut SchemaGenerator) -> Schema,
}

pub const fn answer<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        action,
        prints: Prints::Answer,
        records: false,
        receipt: false,
        as_of: false,
        describe: schema::of::<A>,
    }
}

/// Describes the answer of a command that only reads a team.
pub const fn read<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        as_of: true,
        ..answer::<A>(action)
    }
}

/// Describes the answer of a command that records events and supports `--receipt`.
pub const fn recorded<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        receipt: true,
        ..changed::<A>(action)
    }
}

/// Describes the answer of a command that records events and does not support `--receipt`.
pub const fn changed<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        records: true,
        ..answer::<A>(action)
    }
}

/// Describes the answer of operation `O`.
pub const fn of<O: Op>(action: &'static str) -> Printed {
    match O::EFFECT {
        Effect::Records => recorded::<O::Data>(action),
        Effect::Reads | Effect::Waits => read::<O::Data>(action),
    }
}

/// Describes output with one item of type `A` per line.
pub const fn lines<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        prints: Prints::Lines,
        ..answer::<A>(action)
    }
}

/// Describes output without a schema.
pub const fn text(action: &'static str) -> Printed {
    Printed {
        prints: Prints::Text,
        ..answer::<AnySchema>(action)
    }
}

/// Describes an error line on standard error.
pub const fn error<A: JsonSchema>() -> Printed {
    Printed {
        prints: Prints::Error,
        ..answer::<A>("")
    }
}

impl Printed {
    /// Sets the action to the empty text, for a command of a single word.
    pub fn of_whole_command(self) -> Printed {
        Printed { action: "", ..self }
    }

    /// Returns the JSON Schema (2020-12) of the output of the command `name`, or `None` if the output is not JSON.
    pub fn schema(&self, name: &str) -> Option<Schema> {
        if self.prints == Prints::Text {
            return None;
        }
        let mut generator = SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator();
        let mut schema = (self.describe)(&mut generator);
        if self.receipt {
            let mut receipt = Receipt::json_schema(&mut generator);
            let why = "With `--receipt`: covers at least what was answered.";
            receipt.insert("description".to_owned(), why.into());
            add_field(&mut schema, "receipt", &receipt);
            let replayed = json_schema!({
                "type": "boolean",
                "description": "With a key that is known: true, and the answer is the first one under it; nothing was done now."
            });
            add_field(&mut schema, "replayed", &replayed);
        }
        if self.as_of {
            let as_of = AsOf::json_schema(&mut generator).to_value();
            let definitions = schema.ensure_object().entry("$defs");
            if let Value::Object(definitions) = definitions.or_insert_with(|| json!({})) {
                definitions.insert("AsOf".to_owned(), as_of);
            }
            let field = json_schema!({
                "$ref": "#/$defs/AsOf",
                "description": "Where other hosts record in the team too."
            });
            add_field(&mut schema, "as_of", &field);
        }
        let title = match (self.prints, name) {
            (Prints::Error, "error") => {
                "teamlog --json: a line that says why there is no answer on standard error"
                    .to_owned()
            }
            (Prints::Error, _) => {
                "teamlog --json: a line that says something beside the answer on standard error"
                    .to_owned()
            }
            (Prints::Lines, _) => format!("teamlog {name} --json: each line"),
            _ => format!("teamlog {name} --json"),
        };
        schema.insert("title".to_owned(), title.into());
        RecursiveTransform(plain_descriptions).transform(&mut schema);
        RecursiveTransform(schema::absent_is_not_null).transform(&mut schema);
        Some(schema)
    }
}

/// Adds an optional field to the schema, or to each variant if the schema has variants.
fn add_field(schema: &mut Schema, name: &str, field: &Schema) {
    let add = |object: &mut Value| {
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            properties.insert(name.to_owned(), field.clone().to_value());
        }
    };
    let kinds = schema.get("anyOf").and_then(Value::as_array).cloned();
    for kind in kinds.unwrap_or_default() {
        let place = kind.get("$ref").and_then(Value::as_str);
        if let Some(object) = place.and_then(|place| schema.pointer_mut(place)) {
            add(object);
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), field.clone().to_value());
    }
}

/// Replaces rustdoc links in the schema's descriptions by their text.
fn plain_descriptions(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}

/// One of two answer types. The arguments decide which type is printed.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is there to be described")]
pub enum Either<A, B> {
    One(A),
    Other(B),
}

/// A JSON Schema as an answer. The meta-schema of JSON Schema describes such an answer.
pub struct AnySchema;

impl JsonSchema for AnySchema {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "AnySchema".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"$ref": "https://json-schema.org/draft/2020-12/schema"})
    }
}

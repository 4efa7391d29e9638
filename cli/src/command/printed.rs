//! What a command prints under `--json`, and whether it records something in a team.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use teamlog_team::api::{Effect, Op, schema};
use teamlog_team::engine::Receipt;
use teamlog_team::lifecycle::freshness::AsOf;

/// What the schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prints {
    /// One line of JSON on standard output.
    Answer,
    /// One line of JSON for each item, on standard output.
    Lines,
    /// Text; there is no schema.
    Text,
    /// One line of JSON on standard error.
    Error,
}

#[derive(Debug, Clone, Copy)]
pub struct Printed {
    /// The last word of the command where it has several.
    pub action: &'static str,
    pub prints: Prints,
    /// Whether it records something in a team, and so asks a daemon that has it.
    pub records: bool,
    /// Whether `--receipt` puts a receipt behind the answer.
    receipt: bool,
    /// Whether it says how new the answer is, where other hosts record in the team too.
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

/// An answer about a team that only reads.
pub const fn read<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        as_of: true,
        ..answer::<A>(action)
    }
}

/// An answer of a command that records something, with a receipt if one is asked for.
pub const fn recorded<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        receipt: true,
        ..changed::<A>(action)
    }
}

/// An answer of a command that records something, and takes no receipt.
pub const fn changed<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        records: true,
        ..answer::<A>(action)
    }
}

/// The answer of an operation of the team API.
pub const fn of<O: Op>(action: &'static str) -> Printed {
    match O::EFFECT {
        Effect::Records => recorded::<O::Data>(action),
        Effect::Reads | Effect::Waits => read::<O::Data>(action),
    }
}

/// Items of that type, a line each.
pub const fn lines<A: JsonSchema>(action: &'static str) -> Printed {
    Printed {
        prints: Prints::Lines,
        ..answer::<A>(action)
    }
}

/// No JSON at all.
pub const fn text(action: &'static str) -> Printed {
    Printed {
        prints: Prints::Text,
        ..answer::<AnySchema>(action)
    }
}

/// A line on standard error.
pub const fn error<A: JsonSchema>() -> Printed {
    Printed {
        prints: Prints::Error,
        ..answer::<A>("")
    }
}

impl Printed {
    /// The schema for the command of that name, JSON Schema 2020-12; `None` where no JSON is printed.
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
        RecursiveTransform(absent_is_not_null).transform(&mut schema);
        Some(schema)
    }
}

/// Allows for one more field in the answer, or in each of the answers that it may be.
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

/// Descriptions come from the documentation of the code, whose links lead nowhere else.
fn plain_descriptions(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}

/// A field that may be left out is left out where it holds nothing; it is never there as `null`.
fn absent_is_not_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &String| {
        let names = required.as_array();
        names.is_some_and(|names| names.iter().any(|one| one == name))
    };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    let optional = properties.iter_mut().filter(|(name, _)| !is_required(name));
    for (_, property) in optional {
        let Some(property) = property.as_object_mut() else {
            continue;
        };
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|one| one != "null");
            if let [one] = types.as_slice() {
                let one = one.clone();
                property.insert("type".to_owned(), one);
            }
        }
        if let Some(Value::Array(values)) = property.get_mut("enum") {
            values.retain(|one| !one.is_null());
        }
        if let Some(Value::Array(kinds)) = property.get_mut("anyOf") {
            kinds.retain(|kind| kind.get("type").is_none_or(|name| name != "null"));
        }
    }
}

/// One of two answers, depending on how a command is called.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is there to be described")]
pub enum Either<A, B> {
    One(A),
    Other(B),
}

/// A schema is described by what describes all of them.
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

//! The schemas of the OpenAPI document. Each type occurs once, under its name.

use schemars::Schema;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Key of the definitions in a self-contained schema.
const PARTS: &str = "$defs";

/// The schemas collected for the document.
#[derive(Debug, Default)]
pub struct Schemas {
    known: Map<String, Value>,
}

impl Schemas {
    /// Returns a schema for use in another schema, and moves its definitions to the document.
    pub fn inlined(&mut self, schema: Schema) -> Value {
        let mut schema = schema.to_value();
        let parts = parts(&mut schema);
        self.adopt(parts, schema)
    }

    /// Moves a schema to the document. Returns a reference to it.
    pub fn named(&mut self, schema: Schema) -> Value {
        let mut schema = schema.to_value();
        let mut parts = parts(&mut schema);
        let title = schema.get("title").and_then(Value::as_str);
        let Some(name) = title.map(str::to_owned) else {
            return self.adopt(parts, schema);
        };
        let reference = json!({"$ref": format!("#/{PARTS}/{name}")});
        parts.insert(name, schema);
        self.adopt(parts, reference)
    }

    /// Returns all schemas.
    pub fn into_map(self) -> Map<String, Value> {
        self.known
    }

    /// Moves definitions to the document, each under its name. If another type already has that name, a number is appended.
    /// Returns the schema with adjusted references.
    fn adopt(&mut self, parts: Map<String, Value>, schema: Value) -> Value {
        let mut names: BTreeMap<String, u32> = parts.keys().map(|name| (name.clone(), 1)).collect();
        loop {
            let placed: Vec<(&String, String, Value)> = parts
                .iter()
                .map(|(name, part)| {
                    (
                        name,
                        placed_name(name, &names),
                        placed(part.clone(), &names),
                    )
                })
                .collect();
            let clash = placed
                .iter()
                .find(|(_, place, part)| self.known.get(place).is_some_and(|known| known != part));
            match clash.map(|(name, ..)| (*name).clone()) {
                Some(name) => *names.entry(name).or_default() += 1,
                None => {
                    let own = placed.into_iter().map(|(_, place, part)| (place, part));
                    self.known.extend(own);
                    return self::placed(schema, &names);
                }
            }
        }
    }
}

/// Removes the definitions from a schema and returns them.
fn parts(schema: &mut Value) -> Map<String, Value> {
    let Some(schema) = schema.as_object_mut() else {
        return Map::new();
    };
    schema.remove("$schema");
    match schema.remove(PARTS) {
        Some(Value::Object(parts)) => parts,
        _ => Map::new(),
    }
}

fn placed_name(name: &str, names: &BTreeMap<String, u32>) -> String {
    let sound = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let name_only: String = name.chars().filter(|letter| sound(*letter)).collect();
    match names.get(name) {
        None | Some(1) => name_only,
        Some(number) => format!("{name_only}{number}"),
    }
}

/// Replaces references in a schema by references to the document's definitions.
fn placed(mut schema: Value, names: &BTreeMap<String, u32>) -> Value {
    point(&mut schema, names);
    schema
}

fn point(value: &mut Value, names: &BTreeMap<String, u32>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(place) if name == "$ref" => {
                        if let Some(part) = place.strip_prefix("#/$defs/") {
                            *place = format!("#/components/schemas/{}", placed_name(part, names));
                        }
                    }
                    field => point(field, names),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| point(item, names)),
        _ => {}
    }
}

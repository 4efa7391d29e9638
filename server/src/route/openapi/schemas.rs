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
                    let place = placed_name(name, &names);
                    let part = titled(placed(part.clone(), &names), &place);
                    (name, place, part)
                })
                .collect();
            let clashes: Vec<&String> = placed
                .iter()
                .filter(|(_, place, part)| self.known.get(place).is_some_and(|known| known != part))
                .map(|(name, ..)| *name)
                .collect();
            match first_clash(&parts, &clashes).cloned() {
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

/// Returns the clash to resolve first: a definition that refers to no other clash. A definition that refers to another clash may differ
/// by that reference only.
fn first_clash<'a>(parts: &Map<String, Value>, clashes: &[&'a String]) -> Option<&'a String> {
    let refers = |name: &String, other: &String| {
        let text = parts.get(name).map(Value::to_string);
        name != other && text.is_some_and(|text| text.contains(&format!("\"#/{PARTS}/{other}\"")))
    };
    let alone = |name: &&&'a String| !clashes.iter().any(|other| refers(name, other));
    let found = clashes.iter().find(alone).or(clashes.first());
    found.copied()
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

/// Replaces the title of a schema, if it has one, by the name of the schema in the document, so that no title occurs twice.
fn titled(mut schema: Value, name: &str) -> Value {
    if let Some(title) = schema.get_mut("title") {
        *title = name.into();
    }
    schema
}

/// Replaces references in a schema by references to the document's definitions. Replaces the schema `true` by `{}`.
fn placed(mut schema: Value, names: &BTreeMap<String, u32>) -> Value {
    point(&mut schema, names);
    replace_true(&mut schema);
    schema
}

/// Replaces `true` as the schema of items or of a property by the equal schema `{}`, because generators of clients refuse `true`.
fn replace_true(value: &mut Value) {
    let Some(fields) = value.as_object_mut() else {
        if let Value::Array(items) = value {
            items.iter_mut().for_each(replace_true);
        }
        return;
    };
    for (name, field) in fields {
        let schemas: Vec<&mut Value> = match (name.as_str(), &mut *field) {
            ("items", schema) => vec![schema],
            ("properties", Value::Object(properties)) => properties.values_mut().collect(),
            _ => Vec::new(),
        };
        for schema in schemas.into_iter().filter(|schema| **schema == true) {
            *schema = json!({});
        }
        replace_true(field);
    }
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

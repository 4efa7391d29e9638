//! `docs/reference/schemas.json`: the schemas of all answers in one document. A shared type occurs once.

use crate::prelude::*;
use crate::reference::document;
use crate::schemas;
use serde_json::Map;

/// Name of a property that has equal schemas in all answers. Each answer's own schema contains the
/// property in full.
const SHARED: &str = "receipt";

#[test]
fn the_schemas_in_docs_are_those_that_are_printed() {
    let cli = Cli::new();
    let mut commands = BTreeMap::new();
    for (name, prints) in schemas::listed() {
        if prints != "text" {
            let schema = serde_json::from_str(&cli.ok(&format!("schema {name}"))).unwrap();
            commands.insert(name, schema);
        }
    }
    let merged = merged(&commands);
    for (name, schema) in &commands {
        assert_eq!(unmerged(&merged, name), *schema, "{name}");
    }
    let text = serde_json::to_string_pretty(&merged).unwrap();
    document("reference/schemas.json", &format!("{text}\n"));
}

/// Merges the schemas of all commands. Each type occurs once in `$defs`. If two commands have different types of one
/// name, each is called `command.Type`.
fn merged(commands: &BTreeMap<String, Value>) -> Value {
    let mut shapes: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for schema in commands.values() {
        for (name, shape) in types(schema) {
            let known = shapes.entry(name).or_default();
            if !known.contains(&shape) {
                known.push(shape);
            }
        }
    }
    let mut defs = Map::new();
    for (command, schema) in commands {
        let mut schema = schema.clone();
        let own = schema.as_object_mut().unwrap();
        own.remove("$schema");
        let types = own.remove("$defs").unwrap_or_default();
        let placed = |name: &str| match shapes.get(name) {
            Some(several) if several.len() > 1 => format!("{command}.{name}"),
            _ => name.to_owned(),
        };
        if let Some(shared) = own
            .get_mut("properties")
            .and_then(|all| all.get_mut(SHARED))
        {
            let shape = std::mem::replace(shared, json!({"$ref": format!("#/$defs/{SHARED}")}));
            let first = defs.entry(SHARED).or_insert_with(|| shape.clone());
            assert_eq!(*first, shape, "{command}");
        }
        renamed(&mut schema, &placed);
        defs.insert(command.clone(), schema);
        for (name, mut shape) in types.as_object().cloned().unwrap_or_default() {
            renamed(&mut shape, &placed);
            defs.insert(placed(&name), shape);
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What teamlog prints with --json",
        "description": "A command's answer is described by `#/$defs/` and its words; `error` and `note` are lines on \
            standard error. Made by a test; `teamlog schema COMMAND` prints one by itself.",
        "$defs": defs,
    })
}

/// Extracts the schema of a command from the document. The result equals the schema that the command prints.
fn unmerged(merged: &Value, command: &str) -> Value {
    let defs = merged["$defs"].as_object().unwrap();
    let mut schema = defs[command].clone();
    schema["$schema"] = merged["$schema"].clone();
    if let Some(shared) = schema.pointer_mut(&format!("/properties/{SHARED}")) {
        *shared = defs[SHARED].clone();
    }
    let bare = |name: &str| match name.split_once('.') {
        Some((_, bare)) => bare.to_owned(),
        None => name.to_owned(),
    };
    let mut wanted = Vec::new();
    referred(&schema, &mut wanted);
    let mut types = Map::new();
    while let Some(name) = wanted.pop() {
        if !types.contains_key(&bare(&name)) {
            let mut shape = defs[&name].clone();
            referred(&shape, &mut wanted);
            renamed(&mut shape, &bare);
            types.insert(bare(&name), shape);
        }
    }
    renamed(&mut schema, &bare);
    if !types.is_empty() {
        schema["$defs"] = Value::Object(types);
    }
    schema
}

fn types(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let types = schema.get("$defs").and_then(Value::as_object);
    types
        .into_iter()
        .flatten()
        .map(|(name, shape)| (&**name, shape))
}

/// Renames all references in a schema.
fn renamed(schema: &mut Value, name: &dyn Fn(&str) -> String) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match reference(key, value) {
                    Some(old) if old != SHARED => *value = format!("#/$defs/{}", name(old)).into(),
                    Some(_) => {}
                    None => renamed(value, name),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| renamed(item, name)),
        _ => {}
    }
}

/// Collects the names of all types to which a schema refers.
fn referred(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match reference(key, value) {
                    Some(name) => names.push(name.to_owned()),
                    None => referred(value, names),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| referred(item, names)),
        _ => {}
    }
}

fn reference<'a>(key: &str, value: &'a Value) -> Option<&'a str> {
    let text = value.as_str().filter(|_| key == "$ref")?;
    text.strip_prefix("#/$defs/")
}

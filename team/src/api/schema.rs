//! JSON schemas of types, each as a document of its own.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;
use std::borrow::Cow;

/// Returns the schema of `T` together with the schemas of the types that it refers to.
pub fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    document(generator, T::schema_name, T::json_schema)
}

/// Returns the schema of an answer. Fields that can be left out are not required, and are never `null`.
pub fn of_answer<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = of::<T>(&mut settings.into_generator());
    RecursiveTransform(absent_is_not_null).transform(&mut schema);
    schema
}

/// Removes `null` from the types of optional fields, because an empty optional field is left out.
pub fn absent_is_not_null(schema: &mut Schema) {
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

// Builds the document. This function has no type parameter, so that the compiler generates its code only once.
fn document(
    generator: &mut SchemaGenerator,
    name: fn() -> Cow<'static, str>,
    describe: fn(&mut SchemaGenerator) -> Schema,
) -> Schema {
    let mut schema = describe(generator);
    let object = schema.ensure_object();
    object.entry("title").or_insert_with(|| name().into());
    if let Some(dialect) = generator.settings().meta_schema.as_deref() {
        object.insert("$schema".to_owned(), dialect.into());
    }
    let named = generator.definitions();
    if !named.is_empty() {
        object.insert("$defs".to_owned(), named.clone().into());
    }
    schema
}

//! JSON schemas of types, each as a document of its own.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::borrow::Cow;

/// Returns the schema of `T` together with the schemas of the types that it refers to.
pub fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    document(generator, T::schema_name, T::json_schema)
}

/// Returns the schema of an answer, in which fields that can be left out are not required.
pub fn of_answer<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    of::<T>(&mut settings.into_generator())
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

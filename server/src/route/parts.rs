//! The objects inside an input, found by its schema: a field's object, or the objects of a list.

use schemars::Schema;
use serde_json::Value;
use teamlog_team::api::shape::Shape;

/// A field that holds one or several objects with known fields.
pub struct Part {
    /// Name of the field.
    pub field: String,
    /// Shape of each object.
    pub shape: Shape,
}

/// Returns the fields of an input that hold objects.
pub fn of_schema(schema: &Schema) -> Vec<Part> {
    let properties = schema.as_value().get("properties");
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    let parts = properties.filter_map(|(name, property)| {
        let shape = object(property)?;
        let field = name.clone();
        Some(Part { field, shape })
    });
    parts.collect()
}

/// Returns the shape of the property's object or of its list's objects; `None` if it holds no object, or one with
/// arbitrary fields.
fn object(property: &Value) -> Option<Shape> {
    if let Some(choices) = property.get("anyOf").and_then(Value::as_array) {
        return choices.iter().find_map(object);
    }
    if let Some(items) = property.get("items") {
        return object(items);
    }
    property.get("properties")?;
    let schema = Schema::try_from(property.clone()).ok()?;
    Some(Shape::of(&schema))
}

//! Finds the objects inside an input by the input's schema: a field that is an object, or a list of objects.

use schemars::Schema;
use serde_json::Value;
use teamlog_team::api::shape::Shape;

/// A field that contains one object or a list of objects with known fields.
pub struct Part {
    /// Name of the field.
    pub field: String,
    /// Shape of each object in the field.
    pub shape: Shape,
}

/// Returns the fields of an input that contain objects.
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

/// Returns the shape of the objects in a property. Returns `None` if there are no objects, or objects with arbitrary fields.
fn object(property: &Value) -> Option<Shape> {
    if let Some(choices) = property.get("anyOf").and_then(Value::as_array) {
        return choices.iter().find_map(object);
    }
    if let Some(items) = property.get("items") {
        return object(items);
    }
    property.get("properties")?;
    let schema = Schema::try_from(property.clone()).ok()?;
    Some(Shape::from_schema(&schema))
}

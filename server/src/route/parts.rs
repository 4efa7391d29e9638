//! What the objects inside an input look like, read off its schema: that of a field, or those of its list.

use schemars::Schema;
use serde_json::Value;
use teamlog_team::api::shape::Shape;

/// A field that holds objects whose fields are known.
pub struct Part {
    /// The field.
    pub field: String,
    /// What each object looks like.
    pub shape: Shape,
}

/// The fields of an input that hold such objects.
pub fn of(schema: &Schema) -> Vec<Part> {
    let properties = schema.as_value().get("properties");
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    let parts = properties.filter_map(|(name, property)| {
        let shape = object(property)?;
        let field = name.clone();
        Some(Part { field, shape })
    });
    parts.collect()
}

/// The shape of the object that a property holds, or that each item of its list is; `None` where it holds no object,
/// or one of any fields.
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

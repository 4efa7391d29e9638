//! The fields of an input, read from its schema. Required fields come first, in the order of their declaration; the other
//! fields follow by name.

use schemars::Schema;
use serde_json::{Map, Value};

/// The fields of an input.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The known fields.
    pub fields: Vec<Field>,
    /// True if unknown fields are kept.
    pub open: bool,
}

/// A field of an input.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// True if the field is required.
    pub required: bool,
    /// Kind of the field's values.
    pub kind: Kind,
    /// One line of documentation.
    pub doc: String,
}

/// Kind of a field's values.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number between bounds.
    Integer {
        /// Minimum.
        min: Option<i64>,
        /// Maximum.
        max: Option<i64>,
    },
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts.
    Texts,
    /// A list of any values.
    List,
    /// An object.
    Object,
    /// One of these words.
    Choice(Vec<String>),
    /// Any value.
    Any,
}

impl Shape {
    /// Reads the fields out of an object's schema.
    pub fn from_schema(schema: &Schema) -> Shape {
        let schema = schema.as_value();
        let required = strings(schema.get("required"));
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten().map(|(name, property)| {
            let kind = Kind::from_property(property, schema, DEPTH_MAX);
            Field {
                required: required.contains(name),
                kind,
                doc: doc(property),
                name: name.clone(),
            }
        });
        let mut fields: Vec<Field> = fields.collect();
        let place = |field: &Field| required.iter().position(|name| *name == field.name);
        fields.sort_by_key(|field| place(field).unwrap_or(usize::MAX));
        Shape {
            fields,
            open: schema.get("additionalProperties") != Some(&Value::Bool(false)),
        }
    }

    /// Returns the field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the names of all fields.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Returns the names of the required fields.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        let required = self.fields.iter().filter(|field| field.required);
        required.map(|field| field.name.as_str())
    }
}

/// Maximum depth to which schema references are followed.
const DEPTH_MAX: usize = 8;

impl Kind {
    fn from_property(property: &Value, root: &Value, depth: usize) -> Kind {
        let Some(property) = property.as_object().filter(|_| depth > 0) else {
            return Kind::Any;
        };
        if let Some(place) = property.get("$ref").and_then(Value::as_str) {
            let place = place.strip_prefix('#').unwrap_or(place);
            let found = root.pointer(place).unwrap_or(&Value::Null);
            return Kind::from_property(found, root, depth - 1);
        }
        if let Some(words) = words(property, root, depth) {
            return Kind::Choice(words);
        }
        let mut ways = ["anyOf", "oneOf"].iter();
        let of = ways.find_map(|name| property.get(*name)?.as_array());
        if let Some(kinds) = of {
            let mut kinds = kinds.iter().filter(|kind| !is_null(kind));
            return match (kinds.next(), kinds.next()) {
                (Some(kind), None) => Kind::from_property(kind, root, depth - 1),
                _ => Kind::Any,
            };
        }
        Kind::typed(property)
    }

    fn typed(property: &Map<String, Value>) -> Kind {
        let bound = |name: &str| property.get(name).and_then(Value::as_i64);
        match type_name(property) {
            Some("string") => Kind::Text,
            Some("integer") => Kind::Integer {
                min: bound("minimum"),
                max: bound("maximum"),
            },
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            Some("object") => Kind::Object,
            Some("array") => {
                let items = property.get("items").and_then(Value::as_object);
                match items.and_then(type_name) {
                    Some("string") => Kind::Texts,
                    _ => Kind::List,
                }
            }
            _ => Kind::Any,
        }
    }

    /// Returns the description of a valid value for messages: "must be …".
    pub fn rule(&self) -> String {
        match self {
            Kind::Text => "a string".to_owned(),
            Kind::Integer { min, max } => match (min, max) {
                (Some(min), Some(max)) => format!("an integer from {min} to {max}"),
                (Some(1), None) => "a positive integer".to_owned(),
                (Some(0), None) => "a non-negative integer".to_owned(),
                (Some(min), None) => format!("an integer from {min}"),
                (None, Some(max)) => format!("an integer up to {max}"),
                (None, None) => "an integer".to_owned(),
            },
            Kind::Number => "a number".to_owned(),
            Kind::Boolean => "a boolean".to_owned(),
            Kind::Texts => "an array of strings".to_owned(),
            Kind::List => "an array".to_owned(),
            Kind::Object => "an object".to_owned(),
            Kind::Choice(words) => format!("one of: {}", words.join(", ")),
            Kind::Any => "a value".to_owned(),
        }
    }

    /// Returns true if a value has this kind. For a choice, accepts every text, because the input type may accept more spellings than the
    /// schema lists.
    pub fn holds(&self, value: &Value) -> bool {
        match self {
            Kind::Text | Kind::Choice(_) => value.is_string(),
            Kind::Integer { min, max } => {
                (value.is_i64() || value.is_u64())
                    && min.is_none_or(|min| value.as_i64().is_none_or(|value| value >= min))
                    && max.is_none_or(|max| value.as_i64().is_some_and(|value| value <= max))
            }
            Kind::Number => value.is_number(),
            Kind::Boolean => value.is_boolean(),
            Kind::Texts => {
                let items = value.as_array();
                items.is_some_and(|items| items.iter().all(Value::is_string))
            }
            Kind::List => value.is_array(),
            Kind::Object => value.is_object(),
            Kind::Any => true,
        }
    }
}

/// Returns the words of a choice. In a schema a choice is an `enum` or an `anyOf` of constants.
fn words(property: &Map<String, Value>, root: &Value, depth: usize) -> Option<Vec<String>> {
    if let Some(Value::String(word)) = property.get("const") {
        return Some(vec![word.clone()]);
    }
    if property.get("enum").is_some() {
        return Some(strings(property.get("enum")));
    }
    let choices = property.get("oneOf")?.as_array()?;
    let mut found = Vec::new();
    for choice in choices.iter().filter(|choice| !is_null(choice)) {
        match Kind::from_property(choice, root, depth - 1) {
            Kind::Choice(words) => found.extend(words),
            _ => return None,
        }
    }
    Some(found)
}

fn type_name(property: &Map<String, Value>) -> Option<&str> {
    match property.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            let mut names = names.filter(|name| *name != "null");
            let name = names.next();
            name.filter(|_| names.next().is_none())
        }
        _ => None,
    }
}

fn is_null(kind: &Value) -> bool {
    kind.get("type").is_some_and(|name| name == "null")
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(String::from).collect()
}

fn doc(property: &Value) -> String {
    let text = property.get("description").and_then(Value::as_str);
    let text = text.unwrap_or_default().replace("[`", "`");
    text.replace("`]", "`").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::{JsonSchema, schema_for};

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    #[serde(deny_unknown_fields)]
    struct Closed {
        /// Name of the thing
        name: String,
        colour: Option<Colour>,
        shade: Plain,
        #[schemars(range(min = 1))]
        version: Option<u64>,
        lease: Option<u32>,
        on: bool,
        tags: Option<Vec<String>>,
        parts: Vec<Value>,
        more: Option<Map<String, Value>>,
        snapshot: Value,
        ratio: f64,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        /// As blood
        Red,
        /// As the sky
        Blue,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    #[serde(rename_all = "snake_case")]
    enum Plain {
        Light,
        Dark,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Open {
        name: String,
        #[serde(flatten)]
        extra: Map<String, Value>,
    }

    #[test]
    fn fields_are_read_off_the_schema() {
        let shape = Shape::from_schema(&schema_for!(Closed));
        assert!(!shape.open);
        let kind = |name: &str| shape.field(name).unwrap().kind.clone();
        assert_eq!(kind("name"), Kind::Text);
        assert_eq!(
            kind("colour"),
            Kind::Choice(vec!["red".into(), "blue".into()])
        );
        assert_eq!(
            kind("shade"),
            Kind::Choice(vec!["light".into(), "dark".into()])
        );
        assert_eq!(kind("version").rule(), "a positive integer");
        assert_eq!(kind("lease").rule(), "a non-negative integer");
        assert_eq!(kind("on"), Kind::Boolean);
        assert_eq!(kind("tags"), Kind::Texts);
        assert_eq!(kind("parts"), Kind::List);
        assert_eq!(kind("more"), Kind::Object);
        assert_eq!(kind("snapshot"), Kind::Any);
        assert_eq!(kind("ratio"), Kind::Number);
        let required: Vec<&str> = shape.required().collect();
        assert_eq!(
            required,
            ["name", "shade", "on", "parts", "snapshot", "ratio"]
        );
        assert_eq!(shape.field("name").unwrap().doc, "Name of the thing");
    }

    #[test]
    fn an_input_that_keeps_what_it_does_not_know_is_open() {
        assert!(Shape::from_schema(&schema_for!(Open)).open);
    }

    #[test]
    fn values_are_held_against_their_kind() {
        let between = Kind::Integer {
            min: Some(1_000),
            max: Some(2_000),
        };
        for (kind, good, bad) in [
            (&between, "1000", "999"),
            (&between, "2000", "2001"),
            (&between, "1500", "18446744073709551615"),
            (&between, "1500", "1500.5"),
            (&Kind::Number, "1.5", "\"1\""),
            (&Kind::Texts, "[]", "[1]"),
            (&Kind::Object, "{}", "null"),
            (&Kind::Boolean, "false", "0"),
            (&Kind::Text, "\"\"", "7"),
        ] {
            let value = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
            assert!(kind.holds(&value(good)), "{good}");
            assert!(!kind.holds(&value(bad)), "{bad}");
        }
    }
}

//! Forms of a task in the protocols.
//!
//! A dialect is a table of names, in the code that uses it: the view file (`projections/src/task/view.rs`), the team API and
//! HTTP. A field that a table neither names nor leaves out appears under its own name, so no field is forgotten.

use super::Task;
use super::field::{Field, TaskContext};
use crate::prelude::*;
use schemars::{Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserializer, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Condition on which a dialect shows a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowWhen {
    /// The field is always shown; `null` if it has no value.
    Always,
    /// The field is shown only if it has a value.
    IfSet,
    /// The field is always shown; an empty text if it has no value.
    OrEmpty,
}

/// Function that writes a time as text.
pub type Times = fn(Timestamp) -> String;

/// A row of a table: a name, and its value.
#[derive(Clone, Copy)]
pub struct FieldRow {
    name: &'static str,
    how: How,
}

/// A row of a dialect; its name may be derived from a field's name.
struct NamedRow {
    name: Cow<'static, str>,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    Field(Field, ShowWhen),
    Text(&'static str, &'static str),
    Number(u32, &'static str),
    Special(Special),
    Flatten(Field),
    Rest,
}

/// A value that a dialect makes of several fields.
#[derive(Clone, Copy)]
pub struct Special {
    /// The fields from which the value is made.
    pub of: &'static [Field],
    /// Function that makes the value. If it returns `None`, the row is left out.
    pub value: fn(&Task, &TaskContext) -> Option<Box<RawValue>>,
    /// Function that makes the schema of the value.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The field into which the value is read back.
    pub reads: Option<Field>,
    /// True if the row may be missing.
    pub optional: bool,
}

impl FieldRow {
    /// Creates a row that shows a field under a name.
    pub const fn new(name: &'static str, field: Field, shown: ShowWhen) -> FieldRow {
        FieldRow::with(name, How::Field(field, shown))
    }
    /// Returns a row for a text that all tasks share.
    pub const fn text(name: &'static str, text: &'static str, about: &'static str) -> FieldRow {
        FieldRow::with(name, How::Text(text, about))
    }
    /// Returns a row for a number that all tasks share.
    pub const fn number(name: &'static str, number: u32, about: &'static str) -> FieldRow {
        FieldRow::with(name, How::Number(number, about))
    }
    /// Creates a row for a value that is made of several fields.
    pub const fn special(name: &'static str, special: Special) -> FieldRow {
        FieldRow::with(name, How::Special(special))
    }
    /// Creates a row for a field that holds a JSON object. The row shows the members of the object beside the other rows.
    pub const fn flatten(field: Field) -> FieldRow {
        FieldRow::with("", How::Flatten(field))
    }
    /// Creates the row that is replaced by all fields without a row of their own.
    pub const fn rest() -> FieldRow {
        FieldRow::with("", How::Rest)
    }
    const fn with(name: &'static str, how: How) -> FieldRow {
        FieldRow { name, how }
    }
}

impl How {
    fn shows(self, field: Field) -> bool {
        match self {
            How::Field(shown, _) | How::Flatten(shown) => shown == field,
            How::Special(special) => special.of.contains(&field),
            How::Text(..) | How::Number(..) | How::Rest => false,
        }
    }
}

/// The form of a task in a protocol.
pub struct Dialect {
    table: &'static [FieldRow],
    left_out: &'static [Field],
    times: Times,
    /// Function that makes the name of a field that no row names.
    rename: Rename,
    rows: OnceLock<Vec<NamedRow>>,
}

/// Function that turns a field's own name into its name in a dialect.
pub type Rename = fn(&'static str) -> Cow<'static, str>;

impl Dialect {
    /// Creates the dialect of a table, which leaves some fields out on purpose.
    pub const fn new(
        table: &'static [FieldRow],
        left_out: &'static [Field],
        times: Times,
        rename: Rename,
    ) -> Dialect {
        Dialect {
            table,
            left_out,
            times,
            rename,
            rows: OnceLock::new(),
        }
    }

    /// Returns the fields that the dialect does not show.
    pub fn left_out(&self) -> &'static [Field] {
        self.left_out
    }

    /// Returns true if a row shows the field.
    pub fn shows(&self, field: Field) -> bool {
        self.rows().iter().any(|row| row.how.shows(field))
    }

    /// Returns the names that the dialect uses, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.rows().iter().map(|row| &*row.name);
        names.filter(|name| !name.is_empty())
    }

    fn rows(&self) -> &[NamedRow] {
        self.rows.get_or_init(|| {
            let is_named = |field: Field| self.table.iter().any(|row| row.how.shows(field));
            let is_left = |field: &&Field| !self.left_out.contains(field) && !is_named(**field);
            let rest = Field::ALL.iter().filter(is_left).map(|field| NamedRow {
                name: (self.rename)(field.name()),
                how: How::Field(*field, ShowWhen::IfSet),
            });
            let mut rest: Vec<NamedRow> = rest.collect();
            let mut rows = Vec::with_capacity(self.table.len() + rest.len());
            for row in self.table {
                match row.how {
                    How::Rest => rows.append(&mut rest),
                    how => rows.push(NamedRow {
                        name: row.name.into(),
                        how,
                    }),
                }
            }
            rows.append(&mut rest);
            rows
        })
    }

    /// Serialises a task.
    ///
    /// # Errors
    /// Errors of the serialiser.
    pub fn serialize<S: Serializer>(
        &self,
        task: &Task,
        context: &TaskContext,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for row in self.rows() {
            let name = &*row.name;
            match &row.how {
                How::Field(field, ShowWhen::IfSet) if !field.is_set(task, context) => {}
                How::Field(field, shown) => {
                    field.write((task, context), (name, *shown, self.times), &mut map)?;
                }
                How::Text(text, _) => map.serialize_entry(name, text)?,
                How::Number(number, _) => map.serialize_entry(name, number)?,
                How::Special(special) => {
                    if let Some(value) = (special.value)(task, context) {
                        map.serialize_entry(name, &value)?;
                    }
                }
                How::Flatten(_) => {
                    for (name, value) in self.members(task, context) {
                        map.serialize_entry(&name, &value)?;
                    }
                }
                How::Rest => {}
            }
        }
        map.end()
    }

    /// Returns the members that the task's creator gave. Leaves out names that the dialect already shows.
    fn members(&self, task: &Task, context: &TaskContext) -> Map<String, Value> {
        let extra = task.governed.extra.as_ref();
        let members = extra.and_then(|extra| serde_json::from_str(extra.as_str()).ok());
        let mut members: Map<String, Value> = members.unwrap_or_default();
        if !members.is_empty() {
            for row in self.rows() {
                if let How::Field(field, ShowWhen::IfSet) = row.how
                    && field.is_set(task, context)
                {
                    members.remove(&*row.name);
                }
            }
        }
        members
    }

    /// Reads a task back. Values that the dialect leaves out are lost: how a claim ended, and the message that was not applied. A
    /// token that was hidden from the reader is empty.
    ///
    /// # Errors
    /// Malformed JSON, or a missing field.
    pub fn read<'de, D: Deserializer<'de>>(
        &self,
        from: D,
    ) -> Result<(Task, TaskContext), D::Error> {
        let mut given = std::collections::BTreeMap::<String, Box<RawValue>>::deserialize(from)?;
        let (mut task, mut context) = (Task::default(), TaskContext::default());
        let mut flattened = false;
        for row in self.rows() {
            let value = given.remove(&*row.name);
            let field = match row.how {
                How::Field(_, ShowWhen::Always | ShowWhen::OrEmpty) if value.is_none() => {
                    return Err(D::Error::custom(format!("missing field `{}`", row.name)));
                }
                How::Field(field, _) => Some(field),
                How::Special(special) => special.reads,
                How::Text(..) | How::Number(..) | How::Rest => None,
                How::Flatten(_) => {
                    flattened = true;
                    None
                }
            };
            if let (Some(field), Some(value)) = (field, value) {
                let read = field.read(value.get(), (&mut task, &mut context));
                read.map_err(|error| D::Error::custom(format!("{}: {error}", row.name)))?;
            }
        }
        if flattened && !given.is_empty() {
            let extra = Json::from_value(&given);
            task.governed.extra = Some(extra.map_err(D::Error::custom)?);
        }
        task.claim_governed = task.governed.epoch > 0;
        task.governed.known = task.governed.epoch > 0;
        Ok((task, context))
    }

    /// Returns the schema of a task in this dialect.
    pub fn schema(&self, about: &str, generator: &mut SchemaGenerator) -> Schema {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        let mut open = false;
        for row in self.rows() {
            let (mut schema, about, optional) = match row.how {
                How::Field(field, shown) => {
                    let optional = shown == ShowWhen::IfSet;
                    (field.schema(shown, generator), field.about(), optional)
                }
                How::Text(_, about) => (generator.subschema_for::<String>(), about, false),
                How::Number(_, about) => (generator.subschema_for::<u32>(), about, false),
                How::Special(special) => {
                    let about = special.of.first().map_or("", |field| field.about());
                    ((special.schema)(generator), about, special.optional)
                }
                How::Flatten(_) => {
                    open = true;
                    continue;
                }
                How::Rest => continue,
            };
            schema.insert("description".to_owned(), about.trim().into());
            properties.insert(row.name.clone().into_owned(), schema.to_value());
            if !optional {
                required.push(row.name.clone());
            }
        }
        let mut schema = json!({
            "description": about,
            "type": "object",
            "properties": properties,
            "required": required,
        });
        if open {
            schema["additionalProperties"] = json!(true);
        }
        Schema::try_from(schema).unwrap_or_default()
    }
}

/// Returns the field's own name.
pub fn same_name(name: &'static str) -> Cow<'static, str> {
    name.into()
}

/// Returns the field's own name in camel case.
pub fn camel_case(name: &'static str) -> Cow<'static, str> {
    let mut upper = false;
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '_' => upper = true,
            _ if std::mem::take(&mut upper) => text.push(letter.to_ascii_uppercase()),
            _ => text.push(letter),
        }
    }
    text.into()
}

/// Returns a time with all its digits.
pub fn micros(time: Timestamp) -> String {
    time.to_string()
}

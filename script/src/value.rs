//! Values of scripts from JSON and to JSON. The JSON of a state is canonical: no spaces, members sorted by name.

use crate::limits::{STATE_BYTES_MAX, STATE_DEPTH_MAX};
use crate::reads::Reads;
use rhai::{Array, Dynamic, ImmutableString, Map};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::Write;

/// Parses JSON.
pub(crate) fn parse(json: &[u8]) -> Result<Dynamic, serde_json::Error> {
    let mut from = serde_json::Deserializer::from_slice(json);
    let value = Building::default().deserialize(&mut from)?;
    from.end()?;
    Ok(value)
}

/// Parses the members of a payload that a script reads, without the hidden members.
pub(crate) fn payload(
    json: &str,
    reads: &Reads,
    hidden: &[&str],
) -> Result<Dynamic, serde_json::Error> {
    let mut from = serde_json::Deserializer::from_str(json);
    let building = Building {
        reads: Some(reads),
        hidden,
    };
    let value = building.deserialize(&mut from)?;
    from.end()?;
    Ok(value)
}

/// Builds a value from JSON. The parser limits the depth.
#[derive(Clone, Copy, Default)]
struct Building<'a> {
    /// Selects members of the outermost object.
    reads: Option<&'a Reads>,
    hidden: &'a [&'a str],
}

impl Building<'_> {
    fn inner(self) -> Self {
        Building {
            reads: None,
            ..self
        }
    }

    fn wants(self, name: &str) -> bool {
        self.reads.is_none_or(|reads| reads.has_member(name)) && !self.hidden.contains(&name)
    }
}

impl<'de> DeserializeSeed<'de> for Building<'_> {
    type Value = Dynamic;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Dynamic, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Building<'_> {
    type Value = Dynamic;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Dynamic, E> {
        Ok(Dynamic::UNIT)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Dynamic, E> {
        Ok(Dynamic::from_bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Dynamic, E> {
        Ok(Dynamic::from_int(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Dynamic, E> {
        Ok(match i64::try_from(value) {
            Ok(value) => Dynamic::from_int(value),
            Err(_) => Dynamic::from_float(value as f64),
        })
    }
    fn visit_f64<E>(self, value: f64) -> Result<Dynamic, E> {
        Ok(Dynamic::from_float(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Dynamic, E> {
        Ok(Dynamic::from(ImmutableString::from(value)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Dynamic, A::Error> {
        let mut array = Array::new();
        while let Some(item) = items.next_element_seed(self.inner())? {
            array.push(item);
        }
        Ok(Dynamic::from_array(array))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Dynamic, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key_seed(Name)? {
            if self.wants(&name) {
                map.insert(name, members.next_value_seed(self.inner())?);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Dynamic::from_map(map))
    }
}

/// Builds the name of a member.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = rhai::Identifier;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = rhai::Identifier;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }
    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(name.into())
    }
}

/// Writes a state as JSON.
///
/// # Errors
/// The state is too large or nested too deep, or holds a value that JSON does not have.
pub(crate) fn write(state: &Dynamic) -> Result<Vec<u8>, String> {
    let mut json = Vec::with_capacity(64);
    write_value(&mut json, state, 0).map_err(|fault| fault.to_string())?;
    Ok(json)
}

/// A value that a state must not hold.
enum Fault {
    TooLarge,
    TooDeep,
    /// The path of the value in reverse order, and the rule.
    Value(Vec<String>, String),
}

impl Fault {
    fn value(rule: String) -> Fault {
        Fault::Value(Vec::new(), rule)
    }

    /// Adds the name or the index of the value in its map or array.
    fn inside(mut self, step: impl FnOnce() -> String) -> Fault {
        if let Fault::Value(path, _) = &mut self {
            path.push(step());
        }
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::TooLarge => write!(
                f,
                "the state must have at most {STATE_BYTES_MAX} bytes as JSON, but has more"
            ),
            Fault::TooDeep => write!(
                f,
                "the state must be nested at most {STATE_DEPTH_MAX} deep, but is deeper"
            ),
            Fault::Value(path, rule) => {
                f.write_str("this")?;
                for step in path.iter().rev() {
                    f.write_str(step)?;
                }
                write!(f, " {rule}")
            }
        }
    }
}

fn write_value(json: &mut Vec<u8>, value: &Dynamic, depth: usize) -> Result<(), Fault> {
    if let Ok(number) = value.as_int() {
        // Writing to a vector cannot fail.
        let _ = write!(json, "{number}");
    } else if let Ok(text) = value.as_immutable_string_ref() {
        write_text(json, &text);
    } else if let Some(map) = value.read_lock::<Map>() {
        write_map(json, &map, depth)?;
    } else if let Some(array) = value.read_lock::<Array>() {
        write_array(json, &array, depth)?;
    } else if let Ok(value) = value.as_bool() {
        let _ = write!(json, "{value}");
    } else if value.is_unit() {
        json.extend_from_slice(b"null");
    } else if let Ok(number) = value.as_float() {
        write_float(json, number)?;
    } else if let Ok(letter) = value.as_char() {
        write_text(json, letter.encode_utf8(&mut [0; 4]));
    } else {
        let kind = value.type_name();
        let rule = format!("must be a number, text, bool, array, map or (), but is {kind}");
        return Err(Fault::value(rule));
    }
    match json.len() > STATE_BYTES_MAX {
        true => Err(Fault::TooLarge),
        false => Ok(()),
    }
}

fn write_text(json: &mut Vec<u8>, text: &str) {
    // Writing a text to a vector cannot fail.
    let _ = serde_json::to_writer(json, text);
}

fn write_float(json: &mut Vec<u8>, number: f64) -> Result<(), Fault> {
    if !number.is_finite() {
        let rule = format!("must be a finite number, but is {number}");
        return Err(Fault::value(rule));
    }
    // The shortest digits that give the same float again, always with a point or an exponent.
    let _ = serde_json::to_writer(json, &number);
    Ok(())
}

fn write_map(json: &mut Vec<u8>, map: &Map, depth: usize) -> Result<(), Fault> {
    if depth >= STATE_DEPTH_MAX {
        return Err(Fault::TooDeep);
    }
    json.push(b'{');
    for (at, (name, value)) in map.iter().enumerate() {
        if at > 0 {
            json.push(b',');
        }
        write_text(json, name);
        json.push(b':');
        let written = write_value(json, value, depth + 1);
        written.map_err(|fault| fault.inside(|| format!(".{name}")))?;
    }
    json.push(b'}');
    Ok(())
}

fn write_array(json: &mut Vec<u8>, array: &Array, depth: usize) -> Result<(), Fault> {
    if depth >= STATE_DEPTH_MAX {
        return Err(Fault::TooDeep);
    }
    json.push(b'[');
    for (at, item) in array.iter().enumerate() {
        if at > 0 {
            json.push(b',');
        }
        let written = write_value(json, item, depth + 1);
        written.map_err(|fault| fault.inside(|| format!("[{at}]")))?;
    }
    json.push(b']');
    Ok(())
}

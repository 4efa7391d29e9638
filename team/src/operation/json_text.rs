//! Serializes a JSON value of an input as its original text, which keeps its numbers and the order of its fields.
//! For `#[serde(with = "crate::operation::json_text")]`.

use serde::Deserialize;
use serde::de::Deserializer;
use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;

pub fn serialize<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    let value = text.as_deref().map(serde_json::from_str::<&RawValue>);
    let value = value.transpose().map_err(S::Error::custom)?;
    value.serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = Box::<RawValue>::deserialize(deserializer)?;
    Ok(Some(value.get().to_owned()))
}

//! Reading and writing of payloads, and the rules of their fields.

use super::Payload;
use crate::common::*;
use crate::event::mode::check_session;
use crate::identifier::{Names, check_id, check_name};

pub(crate) type Decoded<T> = Result<T, String>;

pub(crate) fn read<'a, T: Deserialize<'a>>(payload: &'a str) -> Decoded<T> {
    serde_json::from_str(payload).map_err(|error| error.to_string())
}

/// Writes a payload of this crate, which always fits into an event.
pub(crate) fn write(value: &impl Serialize) -> Json {
    match Json::from_value(value) {
        Ok(json) => json,
        Err(error) => unreachable!("a stored shape did not serialise: {error}"),
    }
}

/// Trait of fields that hold one text, at most one text, or several texts.
pub(crate) trait Texts {
    fn texts(&self) -> impl Iterator<Item = &str>;
}

impl Texts for str {
    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self)
    }
}

impl Texts for String {
    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.as_str())
    }
}

impl Texts for Option<String> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.as_deref().into_iter()
    }
}

impl Texts for Vec<String> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.iter().map(String::as_str)
    }
}

/// The texts of a map are its keys.
impl<T> Texts for BTreeMap<String, T> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.keys().map(String::as_str)
    }
}

/// Checks that each of the texts is a valid name.
pub(crate) fn name(field: &'static str, texts: &(impl Texts + ?Sized)) -> Decoded<()> {
    let mut texts = texts.texts();
    let checked = texts.try_for_each(|text| check_name(field, text, Names::Imported));
    checked.map_err(|error| error.to_string())
}

/// Checks that each of the texts is a valid id.
pub(crate) fn id(field: &'static str, texts: &(impl Texts + ?Sized)) -> Decoded<()> {
    let checked = texts.texts().try_for_each(|text| check_id(field, text));
    checked.map_err(|error| error.to_string())
}

/// Letters of a digest: BLAKE3 in lower-case hex.
const DIGEST_LETTERS: usize = 64;

pub(crate) fn digest(_: &'static str, text: &str) -> Decoded<()> {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    match text.len() == DIGEST_LETTERS && text.bytes().all(hex) {
        true => Ok(()),
        false => Err("digest is not a digest".to_owned()),
    }
}

pub(crate) fn session(_: &'static str, text: &str) -> Decoded<()> {
    check_session(text)
}

/// Checks the rules of a payload inside a payload.
pub(crate) fn payload(_: &'static str, payload: &impl Payload) -> Decoded<()> {
    payload.check()
}

/// Optional JSON text; `null` counts as absent.
pub(crate) mod json {
    use super::*;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(json: &Option<Json>, to: S) -> Result<S::Ok, S::Error> {
        let raw = json
            .as_ref()
            .map(|json| serde_json::from_str(json.as_str()));
        let raw: Option<&RawValue> = raw.transpose().map_err(serde::ser::Error::custom)?;
        raw.serialize(to)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
        let raw: Option<Box<RawValue>> = Deserialize::deserialize(from)?;
        Ok(present(raw.as_deref()))
    }
}

/// Reads a field in which `null` means the default.
pub(crate) fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let given: Option<T> = Deserialize::deserialize(from)?;
    Ok(given.unwrap_or_default())
}

/// Returns the JSON text; `None` for `null`.
pub(crate) fn present(raw: Option<&RawValue>) -> Option<Json> {
    let json = Json::parse(raw?.get()).ok()?;
    Some(json).filter(|json| json.as_str() != "null")
}

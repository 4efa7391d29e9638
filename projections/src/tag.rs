//! Tags of foreign events: pairs NAME=VALUE that the recording program chooses.
//!
//! A foreign event with tags has schema version [`TAGGED_VERSION`], and its stored payload is
//! `{"tags":["pr=77"],"payload":…}`. A foreign event without tags has version 1 and the payload alone.

use crate::common::*;
use crate::identifier::{InvalidMessage, check_new_id, shown_quoted};

/// Schema version of a foreign event with tags.
pub const TAGGED_VERSION: u32 = 2;
/// Largest number of tags of an event.
pub const TAGS_MAX: usize = 16;
/// Largest length of a tag's name, in bytes.
pub const TAG_NAME_BYTES_MAX: usize = 64;

/// Start of the stored payload of an event with tags.
const OPENING: &str = "{\"tags\":[";

/// The tags of an event, and its payload without tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content<'a> {
    /// The tags, sorted.
    pub tags: Vec<String>,
    /// The payload as canonical JSON.
    pub payload: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<'a> {
    tags: Vec<String>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl<'a> Content<'a> {
    /// Returns the content of an event. A payload that is not in the form of an event with tags is returned whole, without tags.
    pub fn from_event(event: &'a Event<'_>) -> Content<'a> {
        tagged(event).unwrap_or(Content {
            tags: Vec::new(),
            payload: &event.payload,
        })
    }

    /// Returns true if the content has a tag.
    pub fn has(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }
}

/// Returns the content of an event with tags; `None` for other events.
pub fn tagged<'a>(event: &'a Event<'_>) -> Option<Content<'a>> {
    let is_tagged = event.foreign && event.schema_version == TAGGED_VERSION;
    if !is_tagged || !event.payload.starts_with(OPENING) {
        return None;
    }
    let Stored { tags, payload } = serde_json::from_str(&event.payload).ok()?;
    let payload = payload.get();
    // An import can hold any payload, but keys of the index have a largest length and hold no zero byte.
    let is_valid = tags.len() <= TAGS_MAX && tags.iter().all(|tag| check_tag("tags", tag).is_ok());
    is_valid.then_some(Content { tags, payload })
}

/// Returns the stored payload of an event with tags.
///
/// # Errors
/// The payload is nested too deep.
pub fn stored(tags: &[String], payload: &Json) -> Result<Json, JsonError> {
    let tags = Json::from_value(&tags)?;
    Json::parse(&format!(
        "{{\"tags\":{},\"payload\":{}}}",
        tags.as_str(),
        payload.as_str()
    ))
}

/// Checks a tag: NAME=VALUE, where NAME matches `^[a-z][a-z0-9_]*$` and has at most [`TAG_NAME_BYTES_MAX`] bytes, and VALUE is an
/// id of 1 to 128 bytes without invisible characters.
///
/// # Errors
/// The error names `field`, the value and the rule.
pub fn check_tag(field: &'static str, tag: &str) -> Result<(), InvalidMessage> {
    let (name, value) = tag.split_once('=').unwrap_or((tag, ""));
    let mut bytes = name.bytes();
    let is_name = bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let refuse = |rule: String| Err(InvalidMessage::new(field, shown_quoted(tag), rule));
    if !is_name || name.len() > TAG_NAME_BYTES_MAX || value.is_empty() {
        return refuse(format!(
            "must be NAME=VALUE, where NAME matches ^[a-z][a-z0-9_]*$ and has at most {TAG_NAME_BYTES_MAX} bytes"
        ));
    }
    match check_new_id(field, value) {
        Ok(()) => Ok(()),
        Err(broken) => refuse(format!("{} after the =", broken.rule)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(schema_version: u32, foreign: bool, payload: &str) -> Event<'static> {
        let created_at = Timestamp::default();
        Event {
            seq: 1,
            id: EventId::new(created_at, 1),
            created_at,
            kind: "seen".into(),
            actor: "ci".into(),
            refs: teamlog_engine::Refs::default(),
            schema_version,
            foreign,
            payload: payload.to_owned().into(),
        }
    }

    #[test]
    fn only_foreign_events_of_version_2_in_the_stored_form_have_tags() {
        let payload = r#"{"tags":["a=1"],"payload":[2]}"#;
        let tagged = event(2, true, payload);
        let content = Content::from_event(&tagged);
        assert_eq!(
            (content.tags.as_slice(), content.payload),
            (&["a=1".to_owned()][..], "[2]")
        );
        assert!(content.has("a=1") && !content.has("a"));
        for (version, foreign, payload) in [
            (1, true, payload),
            (2, false, payload),
            (3, true, payload),
            (2, true, r#"{"tags":["a=1"]}"#),
            (2, true, r#"{"tags":["a=1"],"payload":1,"more":2}"#),
            (2, true, r#"{"tags":["a"],"payload":1}"#),
            (2, true, r#"{"tags":["a=\u0000"],"payload":1}"#),
            (2, true, r#"{"tags":[1],"payload":1}"#),
            (2, true, "[]"),
        ] {
            let event = event(version, foreign, payload);
            let content = Content::from_event(&event);
            assert!(content.tags.is_empty(), "{payload}");
            assert_eq!(content.payload, event.payload);
        }
    }

    #[test]
    fn the_stored_form_is_read_back() {
        let tags = ["name=a \"b\"".to_owned(), "pr=77".to_owned()];
        let payload = Json::parse("{\"n\":1.0}").unwrap();
        let stored = stored(&tags, &payload).unwrap();
        assert_eq!(
            stored.as_str(),
            r#"{"tags":["name=a \"b\"","pr=77"],"payload":{"n":1.0}}"#
        );
        let event = event(2, true, stored.as_str());
        let content = Content::from_event(&event);
        assert_eq!(
            (content.tags.as_slice(), content.payload),
            (&tags[..], "{\"n\":1.0}")
        );
    }

    #[test]
    fn a_tag_that_breaks_a_rule_is_refused_with_the_rule() {
        for good in [
            "a=1",
            "pr_2=x y",
            "a==",
            &format!("{}={}", "n".repeat(64), "v".repeat(128)),
        ] {
            check_tag("tags", good).unwrap();
        }
        for (bad, rule) in [
            ("", "NAME=VALUE"),
            ("pr", "NAME=VALUE"),
            ("pr=", "NAME=VALUE"),
            ("=77", "NAME=VALUE"),
            ("Pr=77", "NAME=VALUE"),
            ("1a=77", "NAME=VALUE"),
            (&*format!("{}=1", "n".repeat(65)), "64 bytes"),
            (&*format!("a={}", "v".repeat(129)), "128 bytes"),
            ("a=\u{200b}", "invisible"),
            ("a=\n", "control"),
        ] {
            let error = check_tag("tags", bad).unwrap_err().to_string();
            assert!(
                error.contains(rule) && error.starts_with("tags "),
                "{error}"
            );
        }
    }
}

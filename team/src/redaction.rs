//! Removes the claim tokens of other agents from an answer for an authenticated agent.
//!
//! Every answer for such an agent passes through [`redact`] before it is sent. A claim is recognized by its fields anywhere in the
//! JSON: in a task, in a `task_claimed` event, in an answer that is stored under a key. An event whose token was removed gets the
//! mark `redacted`, so that a reader does not conclude that the event is damaged.

use crate::prelude::*;
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use std::fmt;

/// Last characters of the name of every JSON member that can hold a claim token.
const HINT: &str = "oken\"";
/// Mark of an event whose token was removed.
pub const REDACTED: &str = "redacted";

/// Returns the JSON text without the claim tokens of other agents. Returns `None` if the text has no such token or is no
/// JSON.
pub fn redact(json: &str, agent: &str) -> Option<String> {
    if !json.contains(HINT) {
        return None;
    }
    let mut redaction = Redaction {
        agent,
        text: String::with_capacity(json.len()),
        hidden: 0,
    };
    redaction.value(serde_json::from_str(json).ok()?);
    let Redaction { text, hidden, .. } = redaction;
    (hidden > 0).then_some(text)
}

struct Redaction<'a> {
    agent: &'a str,
    text: String,
    /// Number of removed tokens.
    hidden: usize,
}

impl Redaction<'_> {
    fn value(&mut self, raw: &RawValue) {
        let text = raw.get();
        let nested = text.contains(HINT);
        match text.as_bytes().first() {
            Some(b'{') if nested => self.object(text),
            Some(b'[') if nested => self.array(text),
            _ => self.text.push_str(text),
        }
    }

    fn array(&mut self, text: &str) {
        let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
        self.text.push('[');
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.value(item);
        }
        self.text.push(']');
    }

    fn object(&mut self, text: &str) {
        let object: Object<'_> = serde_json::from_str(text).unwrap_or_default();
        let (hidden, before) = (object.hidden_from(self.agent), self.hidden);
        self.text.push('{');
        let mut first = true;
        for (name, value) in &object.0 {
            if Some(name.as_str()) == hidden {
                self.hidden += 1;
                continue;
            }
            self.member(&mut first, name);
            self.value(value);
        }
        if object.is_event() && self.hidden > before {
            self.member(&mut first, REDACTED);
            self.text.push_str("true");
        }
        self.text.push('}');
    }

    fn member(&mut self, first: &mut bool, name: &str) {
        if !std::mem::take(first) {
            self.text.push(',');
        }
        self.text.push_str(&Value::from(name).to_string());
        self.text.push(':');
    }
}

/// The members of a JSON object, in order.
#[derive(Default)]
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Object<'a> {
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        let mut members = self.0.iter();
        members.find(|(own, _)| own == name).map(|(_, raw)| *raw)
    }

    /// Returns the name of the JSON member with a token that this agent must not see.
    fn hidden_from(&self, agent: &str) -> Option<&'static str> {
        if self.get("claimToken").is_some() {
            let task = self.get("task").map(|task| task.get());
            let task: Option<Object<'_>> = task.and_then(|task| serde_json::from_str(task).ok());
            let holder = task.and_then(|task| task.holder());
            return (holder.as_deref() != Some(agent)).then_some("claimToken");
        }
        let is_claim = self.get("token").is_some() && self.get("leased_until").is_some();
        let owner = || {
            ["owner", "worker"]
                .into_iter()
                .find_map(|name| self.get(name))
        };
        let other = |owner: &RawValue| text_of(owner).as_deref() != Some(agent);
        (is_claim && owner().is_none_or(other)).then_some("token")
    }

    /// Returns the holder of a task.
    fn holder(&self) -> Option<String> {
        let claim = self.get("claim").map(|claim| claim.get());
        let claim: Option<Object<'_>> = claim.and_then(|claim| serde_json::from_str(claim).ok());
        let owner = claim.and_then(|claim| claim.get("owner").and_then(text_of));
        owner.or_else(|| self.get("owner").and_then(text_of))
    }

    fn is_event(&self) -> bool {
        ["seq", "kind", "payload"]
            .iter()
            .all(|name| self.get(name).is_some())
    }
}

fn text_of(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Object<'a>, D::Error> {
        from.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `dev` does not see `SECRET` in `json`, and that the holder sees it.
    #[track_caller]
    fn hides(json: &str, for_dev: &str) {
        assert_eq!(redact(json, "ada"), None);
        let redacted = redact(json, "dev").unwrap();
        assert_eq!(redacted, for_dev);
    }

    #[test]
    fn a_claim_is_known_wherever_it_stands_and_all_else_stays_byte_for_byte() {
        hides(
            r#"{"b":1.50,"tasks":[{"id":"1","claim":{"owner":"ada","token":"SECRET","leased_until":"t"}}],"a":"\u00e4"}"#,
            r#"{"b":1.50,"tasks":[{"id":"1","claim":{"owner":"ada","leased_until":"t"}}],"a":"\u00e4"}"#,
        );
        hides(
            r#"{"seq":1,"kind":"task_claimed","payload":{"worker":"ada","token":"SECRET","epoch":1,"leased_until":"t"}}"#,
            r#"{"seq":1,"kind":"task_claimed","payload":{"worker":"ada","epoch":1,"leased_until":"t"},"redacted":true}"#,
        );
        hides(
            r#"{"seq":2,"kind":"response_stored","payload":{"response":{"task":{"owner":"ada"},"claimToken":"SECRET"}}}"#,
            r#"{"seq":2,"kind":"response_stored","payload":{"response":{"task":{"owner":"ada"}}},"redacted":true}"#,
        );
        let others =
            r#"{"token":{"token_id":"a","agent":"qa"},"tokens":7,"note":"a token\" of ada"}"#;
        assert_eq!(redact(others, "dev"), None);
    }

    #[test]
    fn a_claim_without_a_holder_is_nobodys() {
        let json = r#"{"claimToken":"SECRET"}"#;
        assert_eq!(redact(json, "ada").unwrap(), "{}");
        let json = r#"{"token":"SECRET","leased_until":"t"}"#;
        let redacted = redact(json, "ada").unwrap();
        assert_eq!(redacted, r#"{"leased_until":"t"}"#);
    }
}

//! Search for a text in events, ignoring case.

use crate::operation::prelude::*;

/// A text that an event must contain in its kind, actor, refs or payload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Text {
    /// The text in lower case.
    wanted: String,
    /// The text in the escaped form of a JSON string.
    in_payload: String,
}

impl Text {
    /// Creates a search for the text.
    pub fn new(text: &str) -> Text {
        let wanted = text.to_lowercase();
        Text {
            in_payload: wanted.replace('\\', r"\\").replace('"', r#"\""#),
            wanted,
        }
    }

    /// Returns the text in lower case.
    pub fn wanted(&self) -> &str {
        &self.wanted
    }

    /// Returns true if an event contains the text.
    pub fn is_in(&self, event: &Event<'_>) -> bool {
        let refs = RefKind::ALL.map(|kind| event.refs.get(kind));
        let names = [&*event.kind, &*event.actor].into_iter();
        let mut names = names.chain(refs.into_iter().flatten());
        names.any(|text| text.to_lowercase().contains(&self.wanted))
            || self.is_said(&event.payload.to_lowercase())
    }

    /// Returns true if a payload contains the text. Ignores a match that starts inside an escape such as `\n`.
    fn is_said(&self, payload: &str) -> bool {
        payload.match_indices(&self.in_payload).any(|(at, _)| {
            let before = payload.as_bytes().get(..at).unwrap_or_default();
            let slashes = before.iter().rev().take_while(|byte| **byte == b'\\');
            slashes.count() % 2 == 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_searched_as_it_was_meant_and_not_as_it_is_written() {
        let said = |text: &str, payload: &str| Text::new(text).is_said(&payload.to_lowercase());
        assert!(said("ÜBER", r#"{"a":"Über"}"#));
        assert!(said(r#"say "hi""#, r#"{"a":"say \"hi\""}"#));
        assert!(said(r"c:\dir", r#"{"a":"C:\\dir"}"#));
        assert!(said("next", r#"{"a":"one\nnext"}"#));
        assert!(!said("nnext", r#"{"a":"one\nnext"}"#));
        assert!(!said(r#""a""#, r#"{"a":1}"#), "quotes are not said");
        assert!(said("a", r#"{"a":1}"#), "the name of a field counts");
    }
}

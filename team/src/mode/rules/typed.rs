//! Parsers for fields of calls about modes. A value of the wrong type is refused with the name of the field. The parsers are
//! needed because no schema has checked calls from a command line or a tool.

use crate::mode::prelude::*;
use serde::Deserializer;
use serde::de::Error;

/// Parses an optional text field.
fn text<'de, D: Deserializer<'de>>(name: &str, from: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => Err(D::Error::custom(format!(
            "{name} must be a string, but is {other}"
        ))),
    }
}

pub(crate) fn session_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    text("session_id", from)
}

pub(crate) fn maybe_mode<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    text("mode", from)
}

pub(crate) fn mode<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let mode = text("mode", from)?;
    mode.ok_or_else(|| D::Error::custom("mode must be a string, but is null"))
}

pub(crate) fn state<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Fields>, D::Error> {
    match Value::deserialize(from)? {
        Value::Null => Ok(None),
        Value::Object(state) => Ok(Some(state)),
        other => Err(D::Error::custom(format!(
            "state must be an object, but is {other}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use crate::mode::clear::ModeClear;
    use crate::mode::state::{StateGetStatus, StateListActive, StateRead};
    use crate::mode::write::ModeWrite;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    fn refused<T: DeserializeOwned>(call: Value) -> String {
        let read: Result<T, _> = serde_json::from_value(call);
        read.err().unwrap().to_string()
    }

    #[test]
    fn what_is_of_the_wrong_type_is_named() {
        let session = json!({"mode": "forge", "session_id": 5});
        let said = "session_id must be a string, but is 5";
        assert_eq!(refused::<ModeWrite>(session.clone()), said);
        assert_eq!(refused::<ModeClear>(session.clone()), said);
        assert_eq!(refused::<StateRead>(session.clone()), said);
        assert_eq!(refused::<StateGetStatus>(session), said);
        assert_eq!(refused::<StateListActive>(json!({"session_id": 5})), said);
        let mode = json!({"mode": ["forge"]});
        let said = "mode must be a string, but is [\"forge\"]";
        assert_eq!(refused::<ModeWrite>(mode.clone()), said);
        assert_eq!(refused::<ModeClear>(mode.clone()), said);
        assert_eq!(refused::<StateRead>(mode.clone()), said);
        assert_eq!(refused::<StateGetStatus>(mode), said);
        assert_eq!(
            refused::<ModeWrite>(json!({"mode": "forge", "state": []})),
            "state must be an object, but is []"
        );
        let given = json!({"mode": "forge", "state": null, "session_id": null});
        let read: ModeWrite = serde_json::from_value(given).unwrap();
        assert_eq!((read.state, read.session_id), (None, None));
    }
}

//! Error for a daemon that went away before it said how a command ended.

use crate::exit::{CommandError, Exit};

/// Effect of repeating a command whose outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// The command has a key, so a repeat returns the first answer.
    UnderKey,
    /// The command names a message id, so a repeat is recognised.
    UnderMessageId,
    /// A message without an id: a repeat sends a second message.
    WithoutMessageId,
    /// A repeat changes nothing.
    Same,
    /// A repeat may record a second change, because the command had no key.
    Unsafe,
    /// A repeat always records another event.
    Never,
}

impl Repeat {
    /// Returns the value for a message, which an id makes repeatable.
    pub fn of_message(id: Option<&str>) -> Repeat {
        match id {
            Some(_) => Repeat::UnderMessageId,
            None => Repeat::WithoutMessageId,
        }
    }

    /// Returns the value for a change, which a key makes repeatable.
    pub fn of_key(key: Option<&str>) -> Repeat {
        match key {
            Some(_) => Repeat::UnderKey,
            None => Repeat::Unsafe,
        }
    }

    /// Returns true if a repeat changes nothing.
    pub fn is_safe(self) -> bool {
        matches!(
            self,
            Repeat::UnderKey | Repeat::UnderMessageId | Repeat::Same
        )
    }
}

/// Returns the error for a command whose outcome is unknown.
pub fn outcome_unknown(repeat: Repeat) -> CommandError {
    let message =
        "the connection to the daemon broke before the answer; whether it was recorded is unknown";
    let error = CommandError::new(Exit::Io, "outcome_unknown", message);
    error.hinting(match repeat {
        Repeat::UnderKey => "repeat the same with the same key: it is carried out once".to_owned(),
        Repeat::UnderMessageId => {
            "repeat it with the same --message-id: what is recorded already changes nothing".to_owned()
        }
        Repeat::WithoutMessageId => {
            "look before you repeat it, or give a --message-id from the start: the same with the same one is recorded once".to_owned()
        }
        Repeat::Same => "repeat the same command: what is recorded already changes nothing".to_owned(),
        Repeat::Unsafe => {
            "look before you repeat it, or give a key from the start: the same with the same key is carried out once".to_owned()
        }
        Repeat::Never => "look before you repeat it".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_have_a_key_is_told_of_one() {
        for (repeat, key, message_id) in [
            (Repeat::UnderKey, true, false),
            (Repeat::Unsafe, true, false),
            (Repeat::UnderMessageId, false, true),
            (Repeat::WithoutMessageId, false, true),
            (Repeat::Same, false, false),
            (Repeat::Never, false, false),
        ] {
            let details = outcome_unknown(repeat).into_details();
            let hint = details["hint"].as_str().unwrap();
            assert_eq!(hint.contains("key"), key, "{repeat:?}: {hint}");
            assert_eq!(
                hint.contains("--message-id"),
                message_id,
                "{repeat:?}: {hint}"
            );
        }
    }
}

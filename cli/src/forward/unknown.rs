//! Makes the error for a daemon that ended before it reported the outcome of a command.

use crate::exit::{CommandError, Exit};

/// Effect of repeating a command after an unknown outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// The command has an idempotency key, so a repeat returns the first answer.
    UnderKey,
    /// The command has a message id, so a repeat is recognised.
    UnderMessageId,
    /// The message has no id, so a repeat sends a second message.
    WithoutMessageId,
    /// A repeat of the command changes nothing.
    Same,
    /// The command has no key, so a repeat may record a second change.
    Unsafe,
    /// A repeat always records another event.
    Never,
}

impl Repeat {
    /// Returns the effect of repeating a message. With an id, the message can be repeated safely.
    pub fn of_message(id: Option<&str>) -> Repeat {
        match id {
            Some(_) => Repeat::UnderMessageId,
            None => Repeat::WithoutMessageId,
        }
    }

    /// Returns the effect of repeating a change. With a key, the change can be repeated safely.
    pub fn of_key(key: Option<&str>) -> Repeat {
        match key {
            Some(_) => Repeat::UnderKey,
            None => Repeat::Unsafe,
        }
    }

    /// Returns true if a repeat cannot record anything twice.
    pub fn is_safe(self) -> bool {
        matches!(
            self,
            Repeat::UnderKey | Repeat::UnderMessageId | Repeat::Same
        )
    }
}

/// Returns the error for a command whose outcome is unknown.
pub fn outcome_unknown(repeat: Repeat) -> CommandError {
    let message = "lost the connection to the daemon before it answered; it is unknown whether the command was recorded";
    let error = CommandError::new(Exit::Io, "outcome_unknown", message);
    error.hinting(match repeat {
        Repeat::UnderKey => "repeat the command with the same key: it is not carried out twice".to_owned(),
        Repeat::UnderMessageId => {
            "repeat the command with the same --message-id: the message is not recorded twice".to_owned()
        }
        Repeat::WithoutMessageId => {
            "before you repeat the command, check whether it was recorded. Next time pass --message-id: a repeat with the same id is not recorded twice".to_owned()
        }
        Repeat::Same => "repeat the same command: if it was recorded, the repeat changes nothing".to_owned(),
        Repeat::Unsafe => {
            "before you repeat the command, check whether it was recorded. Next time pass a key: a repeat with the same key is not carried out twice".to_owned()
        }
        Repeat::Never => "before you repeat the command, check whether it was recorded".to_owned(),
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

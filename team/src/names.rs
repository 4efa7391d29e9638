//! The rules for identifiers. A name is checked before any path is built from it.
//!
//! Names (teams, agents, task ids) and free identifiers (message ids, trace ids) follow the rules of
//! [`projections::message`](crate::projections::message). Here, a broken rule becomes a [`Refusal`] with field, value and
//! rule.

use crate::projections::message::{InvalidMessage, Names, check_id, check_name, check_new_id};
use crate::refusal::{Code, Refusal};

/// The leader that every team has; always valid as sender and recipient.
pub const LEADER: &str = "leader-fixed";

/// Names that make an agent a leader, besides the fixed leader.
pub(crate) const LEADERS: [&str; 2] = ["lead", "leader"];

/// Actor of an event without an agent.
pub const DEFAULT_ACTOR: &str = "teamlog";

/// Checks a new name.
pub fn check_new(field: &'static str, value: &str) -> Result<(), Refusal> {
    Ok(check_name(field, value, Names::New)?)
}

/// Checks a name of an existing object. Imported names may break the rules for new names.
pub fn check_known(field: &'static str, value: &str) -> Result<(), Refusal> {
    Ok(check_name(field, value, Names::Known)?)
}

/// Checks a new free identifier. The identifier must not be empty or too long, and must have only
/// visible characters.
pub fn check_free(field: &'static str, value: &str) -> Result<(), Refusal> {
    Ok(check_new_id(field, value)?)
}

/// Checks an identifier of an existing object. The identifier may have invisible characters, but no
/// control characters.
pub fn check_known_free(field: &'static str, value: &str) -> Result<(), Refusal> {
    Ok(check_id(field, value)?)
}

/// Optional names or identifiers, each with the name of its field.
type OptionalNames<'a, const N: usize> = [(&'static str, &'a Option<String>); N];

/// Checks the given names as [`check_known`] does.
pub(crate) fn check_known_given<const N: usize>(
    given: OptionalNames<'_, N>,
) -> Result<(), Refusal> {
    check_given(check_known, &given)
}

/// Checks the given identifiers as [`check_known_free`] does.
pub(crate) fn check_known_free_given<const N: usize>(
    given: OptionalNames<'_, N>,
) -> Result<(), Refusal> {
    check_given(check_known_free, &given)
}

/// Checks the given identifiers as [`check_free`] does.
pub(crate) fn check_free_given<const N: usize>(given: OptionalNames<'_, N>) -> Result<(), Refusal> {
    check_given(check_free, &given)
}

fn check_given(
    check: fn(&'static str, &str) -> Result<(), Refusal>,
    given: &[(&'static str, &Option<String>)],
) -> Result<(), Refusal> {
    let mut given = given.iter();
    given.try_for_each(|(field, value)| value.as_ref().map_or(Ok(()), |it| check(field, it)))
}

/// Returns true if a text is a valid kind of event: `^[a-z][a-z0-9_]*$`.
pub(crate) fn is_kind(kind: &str) -> bool {
    let mut bytes = kind.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

/// Returns the trimmed text; refuses a blank text.
pub(crate) fn filled<'a>(field: &'static str, value: &'a str) -> Result<&'a str, Refusal> {
    match value.trim() {
        "" => Err(Refusal::invalid(field, value, "must not be empty")),
        text => Ok(text),
    }
}

/// Parses a word of a fixed list. The refusal of an unknown word contains the text of `rule`.
pub(crate) fn word<W>(
    field: &'static str,
    name: &str,
    from_name: fn(&str) -> Option<W>,
    rule: fn() -> String,
) -> Result<W, Refusal> {
    from_name(name).ok_or_else(|| Refusal::invalid(field, name, rule()))
}

impl From<InvalidMessage> for Refusal {
    fn from(invalid: InvalidMessage) -> Refusal {
        Refusal::new(Code::InvalidInput, invalid.to_string()).field(invalid.field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_named_with_field_and_value() {
        for (value, said) in [
            ("", "empty"),
            (&*"x".repeat(129), "128"),
            ("a/b", "path separator"),
            (r"a\b", "path separator"),
            ("a..b", "traversal token"),
            ("..", "traversal token"),
            ("a b", "^[A-Za-z0-9._-]+$"),
            ("é", "^[A-Za-z0-9._-]+$"),
            (".hidden", "."),
            ("-flag", "-"),
        ] {
            let refusal = check_new("team", value).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidInput);
            assert_eq!(refusal.field.as_deref(), Some("team"));
            assert!(refusal.message.contains(said), "{value:?}: {refusal}");
            assert!(refusal.message.starts_with("team "), "{refusal}");
        }
        check_new("team", &"x".repeat(128)).unwrap();
    }

    #[test]
    fn an_old_name_may_begin_with_a_hyphen_but_never_with_a_dot() {
        check_known("agent", "-agent").unwrap();
        assert!(check_known("agent", ".agent").is_err());
    }

    #[test]
    fn free_identifiers_are_bounded_and_printable() {
        check_free("message_id", "msg/1 ü").unwrap();
        assert!(check_free("message_id", "").is_err());
        assert!(check_free("message_id", "a\u{85}b").is_err());
        assert!(check_free("message_id", &"x".repeat(129)).is_err());
        for hidden in ["a\u{200b}", "a\u{202e}b", "\u{e0041}", "\u{3164}"] {
            let refusal = check_free("message_id", hidden).unwrap_err();
            assert!(
                refusal.message.contains("invisible characters, like U+"),
                "{refusal}"
            );
            check_known_free("message_id", hidden).unwrap();
        }
    }
}

//! The rules for identifiers, checked before any path is built from one.
//!
//! Names (teams, agents, task ids) match `^[A-Za-z0-9._-]+$`, hold no `..`, have at most 128 bytes and do not begin
//! with `.`; new ones do not begin with `-` either. Free identifiers (message ids, trace ids) are only bounded and printable.

use crate::refusal::Refusal;
use teamlog_engine::limits::IDENTIFIER_BYTES_MAX;

/// The pattern that names match, as errors quote it.
pub const PATTERN: &str = "^[A-Za-z0-9._-]+$";

/// Checks a name that may be an old one (imported, or looked up): the pattern, no traversal, the length.
///
/// # Errors
/// `invalid_input`, naming field, value and rule.
pub fn check(field: &str, value: &str) -> Result<(), Refusal> {
    let no = |rule: &str| Err(Refusal::invalid(field, value, rule));
    if value.is_empty() {
        return no("must not be empty");
    }
    if value.len() > IDENTIFIER_BYTES_MAX {
        return no("must have at most 128 bytes");
    }
    if value.contains(['/', '\\']) {
        return no("must not hold a path separator");
    }
    if value.contains("..") {
        return no("must not hold a traversal token (..)");
    }
    if !value.bytes().all(is_name_byte) {
        return no("must match ^[A-Za-z0-9._-]+$");
    }
    if value.starts_with('.') {
        return no("must not begin with a dot");
    }
    Ok(())
}

/// Checks a name that is about to come into the world: [`check`], and no leading `-`, which other tools
/// would take for a flag.
///
/// # Errors
/// `invalid_input`, naming field, value and rule.
pub fn check_new(field: &str, value: &str) -> Result<(), Refusal> {
    check(field, value)?;
    if value.starts_with('-') {
        return Err(Refusal::invalid(
            field,
            value,
            "must not begin with a hyphen",
        ));
    }
    Ok(())
}

/// Checks a free identifier (message id, trace id, actor): not empty, bounded, no control characters.
///
/// # Errors
/// `invalid_input`, naming field, value and rule.
pub fn check_free(field: &str, value: &str) -> Result<(), Refusal> {
    let no = |rule: &str| Err(Refusal::invalid(field, value, rule));
    if value.is_empty() {
        return no("must not be empty");
    }
    if value.len() > IDENTIFIER_BYTES_MAX {
        return no("must have at most 128 bytes");
    }
    if value.chars().any(char::is_control) {
        return no("must not hold control characters");
    }
    Ok(())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(value: &str) -> String {
        check_new("team", value).unwrap_err().message
    }

    #[test]
    fn names_in_use_are_accepted() {
        for name in ["demo", "agent-001", "bd-4f.2", "7", "A_b", &"x".repeat(128)] {
            check_new("team", name).unwrap();
        }
    }

    #[test]
    fn each_rule_is_named() {
        for (value, said) in [
            ("", "empty"),
            (&*"x".repeat(129), "128 bytes"),
            ("a/b", "path separator"),
            (r"a\b", "path separator"),
            ("a..b", "traversal token"),
            ("..", "traversal token"),
            (".", "begin with a dot"),
            ("a b", PATTERN),
            ("é", PATTERN),
            ("a\0", PATTERN),
            (".hidden", "begin with a dot"),
            ("-flag", "begin with a hyphen"),
        ] {
            assert!(rule(value).contains(said), "{value:?}: {}", rule(value));
        }
    }

    #[test]
    fn old_names_may_begin_with_a_hyphen() {
        check("message.from", "-agent").unwrap();
        assert!(check("message.from", ".agent").is_err());
    }

    #[test]
    fn free_identifiers_are_bounded_and_printable() {
        check_free("message.id", "msg/1 ü").unwrap();
        assert!(check_free("message.id", "").is_err());
        assert!(check_free("message.id", "a\u{85}b").is_err());
        assert!(check_free("message.id", "a\u{1e}b").is_err());
        assert!(check_free("message.id", &"x".repeat(129)).is_err());
    }
}

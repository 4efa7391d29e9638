//! Text that a shell takes back as one word, so that a command which is shown can be run as it stands.

/// That word, quoted where it has to be.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/+,:@".contains(c);
    if text.chars().all(is_plain) && !text.is_empty() {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_is_not_plain_is_quoted() {
        for (text, word) in [
            ("/var/a-b_c.d", "/var/a-b_c.d"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}

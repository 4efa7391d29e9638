//! Quoting for a shell, so that a reader can run a printed command unchanged.

use crate::projections::hidden;
use std::fmt::Write;

/// Returns the text as one shell word, quoted if necessary. Hidden characters become escapes, so that a pasted command has
/// no invisible effect.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/+,:@".contains(c);
    if hidden::has_any(text) {
        format!(
            "$'{}'",
            hidden::marks(text).map(escaped).collect::<String>()
        )
    } else if text.chars().all(is_plain) && !text.is_empty() {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns the spelling of a character between `$'` and `'`.
fn escaped((c, hidden): (char, bool)) -> String {
    let mut text = String::new();
    let code = u32::from(c);
    // Writing to a String cannot fail.
    let _ = match c {
        '\'' | '\\' => write!(text, "\\{c}"),
        c if !hidden => write!(text, "{c}"),
        '\0'..='\x7f' => write!(text, "\\x{code:02x}"),
        '\u{80}'..='\u{ffff}' => write!(text, "\\u{code:04x}"),
        _ => write!(text, "\\U{code:08x}"),
    };
    text
}

/// Splits a line of quoted words; `None` if a quote is open.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '$' if chars.next_if_eq(&'\'').is_some() => {
                unescape(&mut chars, word.get_or_insert_default())?;
            }
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// Resolves the escapes of [`quoted`], up to the closing quote.
fn unescape(chars: &mut impl Iterator<Item = char>, word: &mut String) -> Option<()> {
    loop {
        let digits = match chars.next()? {
            '\'' => return Some(()),
            '\\' => match chars.next()? {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                c => {
                    word.push(c);
                    continue;
                }
            },
            c => {
                word.push(c);
                continue;
            }
        };
        let code: String = chars.by_ref().take(digits).collect();
        word.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
    }
}

#[cfg(test)]
mod tests {
    use super::{quoted, words};

    #[test]
    fn a_line_of_quoted_words_comes_apart_again() {
        let all = [
            "a",
            "",
            "a b",
            "it's",
            "'",
            "$x \\ \"y\"",
            "é|&",
            "a\u{3}\u{1b}[201~\u{202e}'\\\nb",
            "\u{e0041}",
        ];
        let line = all.map(quoted).join(" ");
        assert_eq!(words(&line).unwrap(), all, "{line}");
        assert_eq!(words("a 'b"), None);
    }

    #[test]
    fn what_is_not_plain_is_quoted() {
        for (text, word) in [
            ("/var/a-b_c.d", "/var/a-b_c.d"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("a\u{1b}'\u{202e}", r"$'a\x1b\'\u202e'"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}

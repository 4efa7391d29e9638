//! Makes text from the log safe to show: what an agent wrote must not drive the reader's terminal.
//!
//! Invariants: the result holds no control character (C0, DEL, C1), no character that reorders or hides text
//! (bidirectional controls, tag characters) and no line or paragraph separator. Everything else stays as it is.

use std::borrow::Cow;
use std::fmt::Write;
use teamlog_team::shell::is_dangerous;

/// The text on one line, dangerous characters written out: `\n`, `\t`, `\u{1b}` …
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            // Writing to a String cannot fail.
            c if is_dangerous(c) => drop(write!(shown, "\\u{{{:x}}}", u32::from(c))),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Several lines, each made [`visible`].
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// The same JSON with dangerous characters as `\uXXXX`. Compact JSON holds them inside strings only, so the value stays.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_dangerous) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_dangerous(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_json};

    #[test]
    fn ordinary_text_is_not_touched() {
        for text in ["", "plain", "grüße, 世界 👩‍💻", "a \\ \"b\""] {
            assert!(matches!(visible(text), std::borrow::Cow::Borrowed(t) if t == text));
        }
    }

    #[test]
    fn what_drives_a_terminal_is_written_out() {
        for (text, shown) in [
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\x1b[31mred", "\\u{1b}[31mred"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\x7f\x00", "\\u{7f}\\u{0}"),
            ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
            ("\u{2028}", "\\u{2028}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let json = "{\"a\":\"x\u{9b}\u{202e}\u{e0041}y\"}";
        let shown = visible_json(json);
        assert!(shown.is_ascii(), "{shown}");
        let before: serde_json::Value = serde_json::from_str(json).unwrap();
        let after: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(before, after);
    }
}

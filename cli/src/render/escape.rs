//! Makes text from the log safe to print. Text that an agent wrote must neither control the terminal of a reader nor
//! stay hidden there.
//!
//! Invariant: the result has no hidden characters ([`hidden`]): no control characters, no characters that change the
//! direction of text or hide text, and no characters without width. All other characters stay unchanged.

use std::borrow::Cow;
use std::fmt::Write as _;
use teamlog_team::projections::hidden;
pub use teamlog_team::projections::hidden::escaped as visible;
pub use teamlog_team::projections::hidden::escaped_in_json as visible_json;
use teamlog_team::projections::hidden::write_escape;

/// Escapes hidden characters in each of several lines.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Escapes hidden characters except line ends, tabs and colours. All output to a terminal passes through this function,
/// even text that was made [`visible`] before.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    if !hidden::has_any(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut colour = 0;
    for ((at, _), (c, hidden)) in text.char_indices().zip(hidden::marks(text)) {
        if c == '\x1b' {
            colour = colour_at(text.get(at..).unwrap_or_default());
        }
        match colour > 0 || !hidden || matches!(c, '\n' | '\t') {
            true => shown.push(c),
            false => write_escape(c, &mut shown),
        }
        colour = colour.saturating_sub(1);
    }
    Cow::Owned(shown)
}

/// Returns the length of a colour escape at the start of the text, such as `ESC [ 1 ; 31 m`, or 0.
fn colour_at(text: &str) -> usize {
    let Some(codes) = text.strip_prefix("\x1b[") else {
        return 0;
    };
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';');
    let ended = end.filter(|end| codes.as_bytes().get(*end) == Some(&b'm'));
    ended.map_or(0, |end| "\x1b[m".len() + end)
}

/// Converts bytes into text for a terminal. Escapes invalid bytes, and hidden characters except line ends and tabs.
pub fn bytes_for_terminal(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for (c, hidden) in hidden::marks(chunk.valid()) {
            match hidden && !matches!(c, '\n' | '\t') {
                true => write_escape(c, &mut shown),
                false => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            // Writing to a `String` cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{bytes_for_terminal, for_terminal, visible, visible_json};

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
            ("a\u{200b}\u{e0041}", "a\\u{200b}\\u{e0041}"),
            ("\x1b]52;c;eA==\x07", "\\u{1b}]52;c;eA==\\u{7}"),
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

    #[test]
    fn colours_lines_and_tabs_alone_pass_to_a_terminal() {
        for (text, shown) in [
            ("\x1b[1;31mred\x1b[0m\n\ta", "\x1b[1;31mred\x1b[0m\n\ta"),
            ("\x1b[2J\x1b[m", "\\u{1b}[2J\x1b[m"),
            ("\x1b]52;c;eA==\x07", "\\u{1b}]52;c;eA==\\u{7}"),
            ("\x1b[31", "\\u{1b}[31"),
            (
                "\u{9b}31m\r\u{202e}\u{200b}",
                "\\u{9b}31m\\r\\u{202e}\\u{200b}",
            ),
        ] {
            assert_eq!(for_terminal(text), shown);
        }
        let bytes = b"\x1b[31mred\n\ta\x9b\xff";
        assert_eq!(bytes_for_terminal(bytes), "\\u{1b}[31mred\n\ta\\x9b\\xff");
    }
}

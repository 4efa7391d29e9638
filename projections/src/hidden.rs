//! Characters that are invisible, or that change how a terminal or a page shows the text around them. The page has the
//! same rules in `dashboard/src/ui/text.tsx`.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns each character of a text, and true if it is hidden. Hidden characters are control characters (including line ends and
/// tabs), characters that turn or hide text, and characters without width. Joiners and selectors count as visible if scripts and
/// emoji need them: `👩‍💻`, `❤️`, `می‌خواهم`.
pub fn marks(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut base = None;
    let mut before = None;
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        let c = chars.next()?;
        let after = chars.peek().copied();
        let needed = match c {
            '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(has_variants),
            '\u{200d}' if base.is_some_and(is_picture) => after.is_some_and(is_picture),
            '\u{200c}' | '\u{200d}' => {
                before.is_some_and(is_joining) && after.is_some_and(is_joining)
            }
            _ => false,
        };
        before = Some(c);
        if !is_selector(c) {
            base = Some(c);
        }
        Some((c, is_odd(c) && !needed))
    })
}

/// Returns the text on one line. Hidden characters are escaped: `\n`, `\t`, `\u{1b}` …
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !has_any(text) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for (c, hidden) in marks(text) {
        match hidden {
            true => write_escape(c, &mut escaped),
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// Appends the escape of a character, such as `\n` or `\u{1b}`.
pub fn write_escape(c: char, to: &mut String) {
    // Writing to a String cannot fail.
    match c {
        '\n' => to.push_str("\\n"),
        '\r' => to.push_str("\\r"),
        '\t' => to.push_str("\\t"),
        c => drop(write!(to, "\\u{{{:x}}}", u32::from(c))),
    }
}

/// Returns JSON with hidden characters as `\\uXXXX`. In compact JSON, hidden characters occur only inside strings, so the value
/// is unchanged.
pub fn escaped_in_json(json: &str) -> Cow<'_, str> {
    match has_any(json) {
        true => Cow::Owned(escape(marks(json))),
        false => Cow::Borrowed(json),
    }
}

/// Returns JSON with `\\uXXXX` for characters that line readers may take for a line end. The value is unchanged.
pub fn one_line_of_json(json: &str) -> Cow<'_, str> {
    // Fast path: the first bytes of these characters are rare.
    let is_possible = json.bytes().any(|byte| matches!(byte, 0xc2 | 0xe2));
    match is_possible && json.contains(ends_line) {
        true => Cow::Owned(escape(json.chars().map(|c| (c, ends_line(c))))),
        false => Cow::Borrowed(json),
    }
}

/// Returns true for line ends of Unicode that JSON does not escape.
fn ends_line(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn escape(marks: impl Iterator<Item = (char, bool)>) -> String {
    let mut escaped = String::new();
    for (c, hidden) in marks {
        if !hidden {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

/// Returns true if a text has a hidden character.
pub fn has_any(text: &str) -> bool {
    first(text, |_| false).is_some()
}

/// Returns the first hidden character of a text of several lines: line ends and tabs are allowed.
pub fn first_in_lines(text: &str) -> Option<char> {
    first(text, |c| matches!(c, '\n' | '\r' | '\t'))
}

fn first(text: &str, is_allowed: impl Fn(char) -> bool) -> Option<char> {
    if text.bytes().all(|byte| matches!(byte, 0x20..0x7f)) {
        return None;
    }
    let mut found = marks(text).filter(|(c, hidden)| *hidden && !is_allowed(*c));
    found.next().map(|(c, _)| c)
}

/// Returns true for a character that is hidden unless its neighbours need it (see [`marks`]).
fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}'
            | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for a character between an emoji and its joiner: a selector or a skin colour.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// Returns true for the blocks of emoji.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2049}' | '\u{2100}'..='\u{27bf}'
        | '\u{2900}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
        && c != '\u{2800}'
}

/// Returns true for a character with variants that a selector chooses.
fn has_variants(c: char) -> bool {
    is_picture(c) || matches!(c, '#' | '*' | '0'..='9')
}

/// Returns true for scripts whose letters join: from Arabic to Sinhala.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{dff}') && c != '\u{61c}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_pictures_show() {
        for text in [
            "",
            "plain",
            "grüße, 世界",
            "👩‍💻 ❤️ ❤️‍🔥 👩🏽‍🚀 1️⃣",
            "می‌خواهم",
            "क्‍ष",
            "שלום",
        ] {
            assert!(!has_any(text), "{text:?}");
        }
    }

    #[test]
    fn what_does_not_show_is_hidden() {
        for text in [
            "a\0",
            "\x1b]52;c;eA==\x07",
            "\u{9d}",
            "a\u{202e}b",
            "a\u{200b}b",
            "a\u{200d}b",
            "\u{200d}",
            "\u{2060}",
            "\u{feff}",
            "a\u{ad}",
            "\u{e0041}",
            "a\u{fe0f}",
            "❤\u{fe0f}\u{fe0f}",
            "❤\u{e0100}",
            "\u{3164}",
            "\u{2800}",
            "a\nb",
            "a\tb",
            "\u{2028}",
            "👩\u{200d}",
            "ن\u{200c}",
        ] {
            assert!(has_any(text), "{text:?}");
        }
        assert_eq!(first_in_lines("a\n\tb\r\n"), None);
        assert_eq!(first_in_lines("a\n\0"), Some('\0'));
    }
}

//! Wraps long lines at spaces, to the width of the terminal.

use crate::render::View;
use unicode_width::UnicodeWidthStr;

/// Width of a line if the output is not a terminal.
const WIDTH: usize = 80;

/// Returns a line of text as one or more lines with `indent` spaces before each. A word that is wider than a line is not broken.
pub fn lines(text: &str, indent: usize, view: &View) -> Vec<String> {
    let room = view.width.unwrap_or(WIDTH).saturating_sub(indent);
    let indent = " ".repeat(indent);
    let text = text.trim_end();
    if text.width() <= room {
        return vec![format!("{indent}{text}").trim_end().to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.trim().is_empty() && line.width() + 1 + word.width() > room {
            lines.push(format!("{indent}{}", line.trim_end()));
            line.clear();
        } else if !line.is_empty() || word.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(format!("{indent}{}", line.trim_end()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::Paint;
    use teamlog_team::engine::Timestamp;

    #[test]
    fn a_long_line_is_wrapped_at_spaces_and_a_long_word_is_kept_whole() {
        let view = View {
            paint: Paint::new(false),
            now: Timestamp::default(),
            width: Some(12),
            whole: false,
        };
        assert_eq!(lines("one two", 2, &view), ["  one two"]);
        assert_eq!(
            lines("one two three four", 2, &view),
            ["  one two", "  three four"]
        );
        assert_eq!(
            lines("see https://example.org/x now", 2, &view),
            ["  see", "  https://example.org/x", "  now"]
        );
        assert_eq!(lines("", 2, &view), [""]);
    }
}

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

/// Returns a line that may be coloured as one or more lines that fit the terminal. Later lines are indented further. A word that is
/// wider than a line is not broken, so that it can be copied.
pub fn fitted(line: &str, width: usize) -> Vec<String> {
    if shown_width(line) <= width {
        return vec![line.to_owned()];
    }
    let text = line.trim_start_matches(' ');
    let first = line.len() - text.len();
    let later = " ".repeat((first + 2).min(width / 2));
    let mut lines = Vec::new();
    let mut current = " ".repeat(first);
    let mut gap = 0;
    for word in text.split(' ') {
        if word.is_empty() {
            gap += 1;
            continue;
        }
        let is_blank = current.trim().is_empty();
        if !is_blank && shown_width(&current) + gap + shown_width(word) > width {
            lines.push(std::mem::replace(&mut current, later.clone()));
        } else {
            current.push_str(&" ".repeat(gap));
        }
        current.push_str(word);
        gap = 1;
    }
    lines.push(current);
    lines
}

/// Returns a command line as one or more lines. Each line except the last ends with ` \\`, so that a shell reads all lines as one
/// command.
pub fn command(text: &str, indent: usize, view: &View) -> Vec<String> {
    let Some(width) = view.width else {
        return vec![format!("{}{text}", " ".repeat(indent))];
    };
    let lines = fitted(&format!("{}{text}", " ".repeat(indent)), width);
    if lines.len() < 2 {
        return lines;
    }
    let narrower = width.saturating_sub(" \\".len());
    let mut lines = fitted(&format!("{}{text}", " ".repeat(indent)), narrower);
    let last = lines.pop();
    for line in &mut lines {
        line.push_str(" \\");
    }
    lines.extend(last);
    lines
}

/// Returns the width of a text on a terminal, without the escapes of colours.
fn shown_width(text: &str) -> usize {
    let mut parts = text.split('\x1b');
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    let others = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest).width());
    first + others.sum::<usize>()
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
    #[test]
    fn a_coloured_line_fits_the_terminal() {
        let line = "  \x1b[1mone two\x1b[0m  three four";
        assert_eq!(fitted(line, 40), [line]);
        assert_eq!(
            fitted(line, 12),
            ["  \x1b[1mone two\x1b[0m", "    three", "    four"]
        );
    }

    #[test]
    fn a_wrapped_command_is_still_one_command() {
        let view = View {
            paint: Paint::new(false),
            now: Timestamp::default(),
            width: Some(20),
            whole: false,
        };
        assert_eq!(
            command("teamlog edit demo 3 --unblocked", 2, &view),
            ["  teamlog edit \\", "    demo 3 \\", "    --unblocked"]
        );
        assert_eq!(command("teamlog next", 2, &view), ["  teamlog next"]);
    }
}

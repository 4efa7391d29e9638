//! Formats JSON for people: indented, with fields in their order and numbers as they were written.

use super::escape::visible_json;
use serde::Serialize;

/// Formats a value as lines of indented JSON, with hidden characters escaped.
pub fn lines(value: &impl Serialize) -> Vec<String> {
    let text = serde_json::to_string(value).unwrap_or_default();
    let text = indented(&visible_json(&text));
    text.lines().map(str::to_owned).collect()
}

/// Indents compact JSON by two spaces.
pub fn indented(compact: &str) -> String {
    let mut shown = String::with_capacity(compact.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut chars = compact.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            shown.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '{' | '[' => {
                shown.push(c);
                match chars.peek() {
                    Some('}' | ']') => shown.extend(chars.next()),
                    _ => {
                        depth += 1;
                        new_line(&mut shown, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut shown, depth);
                shown.push(c);
            }
            ',' => {
                shown.push(c);
                new_line(&mut shown, depth);
            }
            ':' => shown.push_str(": "),
            c => {
                in_string = c == '"';
                shown.push(c);
            }
        }
    }
    shown
}

fn new_line(shown: &mut String, depth: usize) {
    shown.push('\n');
    shown.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn it_looks_as_usual_and_keeps_its_order() {
        let compact = r#"{"z":[1,{"a":"b, {c}: \"d\" \\"},[],{}],"a":null,"n":1.50}"#;
        let shown = "{\n  \"z\": [\n    1,\n    {\n      \"a\": \"b, {c}: \\\"d\\\" \\\\\"\n    },\n    [],\n    {}\n  ],\n  \"a\": null,\n  \"n\": 1.50\n}";
        assert_eq!(indented(compact), shown);
        let sorted: serde_json::Value =
            serde_json::from_str(r#"{"a":[{"b":"\\\""}],"c":{}}"#).unwrap();
        assert_eq!(
            indented(&sorted.to_string()),
            serde_json::to_string_pretty(&sorted).unwrap()
        );
    }
}

//! Edits a JSON text in place. Order, blanks and line breaks of all other content stay unchanged.
//!
//! The text is validated first, so the code below only has to find the start and the end of values. If a start or an end is not found,
//! nothing is changed.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};
use std::ops::Range;
use teamlog_team::engine::Json;

/// A step of a path from a value to a value inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The member of an object with this key.
    Key(&'a str),
    /// The item of a list at this index.
    At(usize),
    /// The position after the last item of a list.
    End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText {
    text: String,
}

/// A member of an object, or an item of a list.
struct Item {
    key: Option<String>,
    start: usize,
    value: Range<usize>,
}

/// An object or a list.
struct Container {
    open: usize,
    close: usize,
    is_object: bool,
    items: Vec<Item>,
}

impl Container {
    fn find(&self, step: Step<'_>) -> Option<usize> {
        match step {
            Step::Key(key) => {
                let mut items = self.items.iter();
                items.position(|item| item.key.as_deref() == Some(key))
            }
            Step::At(at) => (at < self.items.len()).then_some(at),
            Step::End => None,
        }
    }
}

impl JsonText {
    /// Parses a JSON text. An empty or blank text becomes an empty object.
    ///
    /// # Errors
    /// The text is not a JSON object. The error text is the end of a sentence that the caller begins.
    pub fn parse(text: Option<&str>) -> Result<JsonText, String> {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Ok(JsonText {
                text: "{}\n".to_owned(),
            });
        };
        // This parser refuses duplicate keys, which other parsers would silently drop.
        Json::parse(text.trim()).map_err(|error| error.to_string())?;
        let text = text.to_owned();
        match serde_json::from_str(&text) {
            Ok(Value::Object(_)) => Ok(JsonText { text }),
            Ok(_) => Err("it is not a JSON object".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| json!({}))
    }

    pub fn is_empty(&self) -> bool {
        self.value().as_object().is_none_or(Map::is_empty)
    }

    /// Puts a value at the path. Replaces an existing value, or adds the value after the others. Creates missing containers.
    ///
    /// # Errors
    /// A value on the path is neither an object nor a list. The error text is the end of a sentence that the caller begins.
    pub fn put(&mut self, path: &[Step<'_>], value: &Value) -> Result<(), String> {
        let mut open = blank_end(&self.text, 0);
        for (depth, step) in path.iter().enumerate() {
            let (walked, rest) = path.split_at(depth);
            let container = container(&self.text, open)
                .filter(|container| container.is_object == matches!(step, Step::Key(_)))
                .ok_or_else(|| format!("{} is no {}", shown(walked), kind(*step)))?;
            let rest = rest.get(1..).unwrap_or_default();
            let Some(found) = container.find(*step).and_then(|at| container.items.get(at)) else {
                return self.append(&container, *step, &nested(rest, value));
            };
            if rest.is_empty() {
                let place = found.value.clone();
                let indent = self.indent(&container);
                let text = self.rendered(value, indent.as_deref());
                self.text.replace_range(place, &text);
                return Ok(());
            }
            open = found.value.start;
        }
        Ok(())
    }

    /// Removes the value at the path, and containers that become empty. Returns true if there was a value.
    pub fn remove(&mut self, path: &[Step<'_>]) -> bool {
        let mut way = Vec::new();
        let mut open = blank_end(&self.text, 0);
        for step in path {
            let Some(container) = container(&self.text, open) else {
                return false;
            };
            let Some(at) = container.find(*step) else {
                return false;
            };
            open = match container.items.get(at) {
                Some(item) => item.value.start,
                None => return false,
            };
            way.push((container, at));
        }
        while let Some((container, at)) = way.pop() {
            if container.items.len() == 1 && !way.is_empty() {
                continue;
            }
            let end = |at: usize| container.items.get(at).map(|item| item.value.end);
            let start = |at: usize| container.items.get(at).map(|item| item.start);
            let place = match (at.checked_sub(1).and_then(end), start(at + 1)) {
                (_, Some(next)) => start(at).map(|start| start..next),
                (Some(before), None) => end(at).map(|end| before..end),
                (None, None) => Some(container.open + 1..container.close),
            };
            let Some(place) = place else {
                return false;
            };
            self.text.replace_range(place, "");
            return true;
        }
        false
    }

    fn append(
        &mut self,
        container: &Container,
        step: Step<'_>,
        value: &Value,
    ) -> Result<(), String> {
        let key = match step {
            Step::Key(key) => format!("{}: ", json!(key)),
            Step::At(_) | Step::End => String::new(),
        };
        let Some(last) = container.items.last() else {
            let outer = self.line_indent(container.open).to_owned();
            let inner = format!("{outer}{}", self.unit());
            let value = self.rendered(value, Some(&inner));
            let (open, close) = match container.is_object {
                true => ('{', '}'),
                false => ('[', ']'),
            };
            let text = format!("{open}\n{inner}{key}{value}\n{outer}{close}");
            let place = container.open..container.close + 1;
            self.text.replace_range(place, &text);
            return Ok(());
        };
        let end = last.value.end;
        let text = match self.indent(container) {
            Some(indent) => {
                let value = self.rendered(value, Some(&indent));
                format!(",\n{indent}{key}{value}")
            }
            None => format!(", {key}{}", self.rendered(value, None)),
        };
        self.text.insert_str(end, &text);
        Ok(())
    }

    /// Returns the text before each item of a container that has one line per item.
    fn indent(&self, container: &Container) -> Option<String> {
        let last = container.items.last()?;
        let line = self.line_indent(last.start);
        let begun = last.start.checked_sub(line.len())?;
        let before = self.text.get(..begun)?;
        let own = before.is_empty() || before.ends_with('\n');
        (own && container.open < begun).then(|| line.to_owned())
    }

    /// Returns the blanks at the start of the line that contains the offset `at`.
    fn line_indent(&self, at: usize) -> &str {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let blanks = line.len() - line.trim_start().len();
        line.get(..blanks).unwrap_or_default()
    }

    /// Returns the text that indents by one level.
    fn unit(&self) -> String {
        let root = container(&self.text, blank_end(&self.text, 0));
        let unit = root.and_then(|root| self.indent(&root));
        let unit = unit.filter(|unit| !unit.is_empty());
        unit.unwrap_or_else(|| "  ".to_owned())
    }

    /// Formats a value on several lines that begin with `indent`, or on one line if `indent` is `None`.
    fn rendered(&self, value: &Value, indent: Option<&str>) -> String {
        let Some(indent) = indent else {
            return value.to_string();
        };
        let unit = self.unit();
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(unit.as_bytes());
        let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
        match value.serialize(&mut serializer) {
            // JSON strings contain no raw line breaks, so every line break is between values.
            Ok(()) => String::from_utf8_lossy(&bytes).replace('\n', &format!("\n{indent}")),
            Err(_) => value.to_string(),
        }
    }
}

fn kind(step: Step<'_>) -> &'static str {
    match step {
        Step::Key(_) => "object",
        Step::At(_) | Step::End => "list",
    }
}

/// Formats a path, for example as `hooks.PreToolUse`.
fn shown(path: &[Step<'_>]) -> String {
    let steps: Vec<String> = path
        .iter()
        .map(|step| match step {
            Step::Key(key) => (*key).to_owned(),
            Step::At(at) => at.to_string(),
            Step::End => "-".to_owned(),
        })
        .collect();
    match steps.is_empty() {
        true => "it".to_owned(),
        false => steps.join("."),
    }
}

/// Returns the value wrapped in the containers of the path.
fn nested(path: &[Step<'_>], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |value, step| match step {
            Step::Key(key) => {
                let mut object = Map::new();
                object.insert((*key).to_owned(), value);
                Value::Object(object)
            }
            Step::At(_) | Step::End => json!([value]),
        })
}

/// Returns the offset of the next token at or after `at`.
fn blank_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len())
}

/// Returns the offset of the end of the value that starts at `start`.
fn value_end(text: &str, start: usize) -> Option<usize> {
    let (mut depth, mut string, mut escaped) = (0_usize, false, false);
    for (at, c) in text.get(start..)?.char_indices() {
        let at = start + at;
        if string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' if depth == 0 => return Some(at + 1),
                '"' => string = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => string = true,
            '{' | '[' => depth += 1,
            '}' | ']' if depth == 0 => return Some(at),
            '}' | ']' if depth == 1 => return Some(at + 1),
            '}' | ']' => depth -= 1,
            ',' | ' ' | '\t' | '\n' | '\r' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    Some(text.len())
}

fn container(text: &str, open: usize) -> Option<Container> {
    let is_object = match text.get(open..)?.chars().next()? {
        '{' => true,
        '[' => false,
        _ => return None,
    };
    let mut items = Vec::new();
    let mut at = blank_end(text, open + 1);
    loop {
        match text.get(at..)?.chars().next()? {
            '}' | ']' => {
                return Some(Container {
                    open,
                    close: at,
                    is_object,
                    items,
                });
            }
            ',' => {
                at = blank_end(text, at + 1);
                continue;
            }
            _ => {}
        }
        let start = at;
        let (key, value) = match is_object {
            false => (None, start),
            true => {
                let end = value_end(text, start)?;
                let key = serde_json::from_str(text.get(start..end)?).ok()?;
                (Some(key), blank_end(text, blank_end(text, end) + 1))
            }
        };
        let end = value_end(text, value).filter(|end| *end > value)?;
        items.push(Item {
            key,
            start,
            value: value..end,
        });
        at = blank_end(text, end);
    }
}

#[cfg(test)]
mod tests {
    use super::Step::{At, End, Key};
    use super::*;

    const PATH: [Step<'static>; 3] = [Key("hooks"), Key("Stop"), End];

    fn own() -> Value {
        json!({"hooks": [{"command": "a \"b\" {", "type": "command"}]})
    }

    #[test]
    fn what_is_put_in_and_taken_out_leaves_the_text_as_it_was() {
        for text in [
            "{}\n",
            "{\"z\":1,\"a\":[1, 2]}",
            "{ \"z\": 1 }\n",
            "{\n  \"z\": 1.0,\n  \"a\": \"}]\\\"\"\n}\n",
            "{\n\t\"z\": {\n\t\t\"y\": null\n\t},\n\n\t\"hooks\": {\n\t\t\"Pre\": [ 1 ]\n\t}\n}",
            "{\n    \"hooks\": {\n        \"Stop\": [\n            {\"a\": 1}\n        ]\n    },\n    \"x\": 1e3\n}\n",
            "{\n  \"hooks\": {\"Stop\": [true], \"A\": []}\n}",
            "\n{\"hooks\": {\"Stop\": [{\"a\":1},{\"b\":2}]}}\n\n",
        ] {
            let mut json = JsonText::parse(Some(text)).unwrap();
            let before = json.value();
            json.put(&PATH, &own()).unwrap();
            let value = json.value();
            let list = value["hooks"]["Stop"].as_array().unwrap();
            assert_eq!(list.last(), Some(&own()), "{}", json.text());
            let last = list.len() - 1;
            let was = before["hooks"]["Stop"].as_array().map_or(0, Vec::len);
            assert_eq!(last, was, "{}", json.text());
            let at = [Key("hooks"), Key("Stop"), At(last)];
            json.put(&at, &json!(7)).unwrap();
            assert_eq!(json.value()["hooks"]["Stop"][last], 7);
            assert!(json.remove(&at));
            assert_eq!(json.text(), text);
        }
    }

    #[test]
    fn it_is_set_in_as_what_is_around_it() {
        let mut json = JsonText::parse(Some("{\n\t\"b\": 1\n}")).unwrap();
        json.put(&[Key("a"), Key("c")], &json!([1])).unwrap();
        let text = "{\n\t\"b\": 1,\n\t\"a\": {\n\t\t\"c\": [\n\t\t\t1\n\t\t]\n\t}\n}";
        assert_eq!(json.text(), text);
        let mut json = JsonText::parse(None).unwrap();
        json.put(&[Key("a"), End], &json!("x")).unwrap();
        assert_eq!(json.text(), "{\n  \"a\": [\n    \"x\"\n  ]\n}\n");
    }

    #[test]
    fn one_of_several_goes_and_the_others_stay_as_they_are() {
        let text = "{\"a\": [1,  2 ,\n3], \"b\": 2}";
        let mut json = JsonText::parse(Some(text)).unwrap();
        assert!(json.remove(&[Key("a"), At(1)]));
        assert_eq!(json.text(), "{\"a\": [1,  3], \"b\": 2}");
        assert!(json.remove(&[Key("a"), At(1)]));
        assert!(json.remove(&[Key("a"), At(0)]));
        assert_eq!(json.text(), "{\"b\": 2}");
        assert!(!json.remove(&[Key("c")]) && !json.remove(&[Key("b"), At(0)]));
    }

    #[test]
    fn what_is_no_object_is_refused_and_stays() {
        for text in ["[]", "{", "1", r#"{"a":1,"a":2}"#] {
            assert!(JsonText::parse(Some(text)).is_err(), "{text}");
        }
        for text in [
            r#"{"hooks":[]}"#,
            r#"{"hooks":{"Stop":{}}}"#,
            r#"{"hooks":null}"#,
        ] {
            let mut json = JsonText::parse(Some(text)).unwrap();
            let why = json.put(&PATH, &own()).unwrap_err();
            assert!(why.starts_with("hooks"), "{why}");
            assert_eq!(json.text(), text);
        }
    }
}

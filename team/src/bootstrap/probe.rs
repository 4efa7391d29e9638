//! What the attempt to create a team gave, out of what the platform answered.
//!
//! | case | the answer |
//! |---|---|
//! | A | JSON that names the team, or a text that says that it was created |
//! | B | a text that says that a team is led already; it names that team where it says nothing else |
//! | C | a text that says that there are no teams here |
//!
//! Anything else is not recognised, and never guessed at.

use crate::projections::bootstrap::Outcome;
use crate::projections::bootstrap::event::Probe;
use serde_json::{Map, Value};

/// What an answer says where there are no teams.
const UNAVAILABLE: &[&str] = &[
    "not available",
    "not yet available",
    "not currently available",
    "isn't available",
    "isn’t available",
    "aren't available",
    "aren’t available",
    "unavailable",
    "not enabled",
    "not supported",
    "unsupported",
    "is disabled",
    "unknown tool",
    "no such tool",
    "tool not found",
    "unknown function",
    "not recognized as a tool",
    "does not exist in this environment",
    "不可用",
    "不支持",
    "未启用",
    "未开放",
    "无法使用",
];

/// How an answer begins to say which team is led already.
const LEADING: &str = "already leading team";

/// What a name may stand in.
const QUOTES: [(char, char); 5] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('「', '」'),
];
/// What one word of a name may stand in.
const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('<', '>')];

/// How a text says which team was created: what stands before the name, and after it.
const CREATED: [(&str, &[&str]); 5] = [
    ("created team", &[]),
    ("created the team", &[]),
    ("team created:", &[]),
    ("team_name:", &[]),
    (
        "team",
        &["created", "was created", "has been created", "is created"],
    ),
];

/// Fields that name the team.
const NAMES: [&str; 3] = ["team_name", "teamName", "name"];
/// Fields that say what went wrong, or what happened.
const TEXTS: [&str; 4] = ["error", "message", "msg", "content"];

/// Longest message that is kept.
const KEPT_CHARS: usize = 2_000;

/// Reads a literal answer: a text, which may be JSON, or JSON.
pub fn read(answer: &Value) -> Probe {
    match answer {
        Value::String(text) => of_text(text),
        Value::Object(fields) => {
            of_object(fields).unwrap_or_else(|| unrecognised(&answer.to_string()))
        }
        other => unrecognised(&other.to_string()),
    }
}

fn of_object(fields: &Map<String, Value>) -> Option<Probe> {
    let text = |name: &&str| fields.get(*name).and_then(Value::as_str);
    let failed = fields.get("error").is_some_and(|error| !error.is_null())
        || fields.get("success") == Some(&Value::Bool(false))
        || fields.get("is_error") == Some(&Value::Bool(true));
    let said = TEXTS.iter().find_map(|name| said_in(fields.get(*name)?));
    let said = said.map(of_text);
    if failed {
        // What failed created nothing, whatever else it names.
        return said.filter(|probe| probe.outcome != Outcome::Ok);
    }
    let nested = fields.get("team").and_then(Value::as_object);
    let nested = nested.and_then(|team| NAMES.iter().find_map(|name| team.get(*name)?.as_str()));
    let named = NAMES.iter().find_map(text).or(nested);
    match named.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => Some(Probe {
            outcome: Outcome::Ok,
            team_name: Some(name.to_owned()),
            message: None,
        }),
        None => said,
    }
}

/// The text of a field: as it stands there, or in an error's `message`, or in the first part of what a tool answered.
fn said_in(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(error) => error.get("message")?.as_str(),
        Value::Array(parts) => parts.first()?.get("text")?.as_str(),
        _ => None,
    }
}

fn of_text(text: &str) -> Probe {
    if let Ok(Value::Object(fields)) = serde_json::from_str(text)
        && let Some(probe) = of_object(&fields)
    {
        return probe;
    }
    let lower = text.to_ascii_lowercase();
    if lower.contains(LEADING) {
        return Probe {
            outcome: Outcome::AlreadyLeading,
            team_name: led(text, &lower),
            message: Some(kept(text)),
        };
    }
    if UNAVAILABLE.iter().any(|words| lower.contains(words)) {
        return Probe {
            outcome: Outcome::Unavailable,
            team_name: None,
            message: Some(kept(text)),
        };
    }
    match created(text, &lower) {
        Some(name) => Probe {
            outcome: Outcome::Ok,
            team_name: Some(name),
            message: Some(kept(text)),
        },
        None => unrecognised(text),
    }
}

/// The name of the team that is led already: in quotes or brackets right behind the words, or one bare word that the text
/// or its sentence ends with, since any other word behind them may be one of a sentence.
fn led(text: &str, lower: &str) -> Option<String> {
    let rest = text.get(lower.find(LEADING)? + LEADING.len()..)?;
    let apart = |c: char| c.is_whitespace() || QUOTES.iter().chain(&BRACKETS).any(|one| one.0 == c);
    if !rest.starts_with(apart) {
        return None;
    }
    let rest = rest.trim_start();
    let between = |(open, close): &(char, char)| {
        let (name, behind) = rest.strip_prefix(*open)?.split_once(*close)?;
        let alone = !behind.trim_start().starts_with(is_mark);
        alone.then_some(name.trim_end_matches(['.', '。']).trim())
    };
    let one_word = |name: &&str| !name.contains(char::is_whitespace);
    let marked = QUOTES.iter().find_map(between);
    let marked = marked.or_else(|| BRACKETS.iter().find_map(between).filter(one_word));
    let name = match marked {
        Some(name) => name,
        None => bare_word(rest)?,
    };
    Some(name.to_owned()).filter(|name| !name.is_empty() && !name.contains(is_mark))
}

fn is_mark(c: char) -> bool {
    let mut marks = QUOTES.iter().chain(&BRACKETS);
    marks.any(|one| one.0 == c || one.1 == c)
}

/// The first word, if nothing or a full stop is behind it.
fn bare_word(text: &str) -> Option<&str> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, behind) = text.split_at_checked(end)?;
    let bare = word.trim_end_matches(['.', '。', '!']);
    let ends = bare.len() < word.len() || behind.trim().is_empty();
    (ends && !bare.contains([',', ';', ':'])).then_some(bare)
}

/// The name of the team that a text says was created.
fn created(text: &str, lower: &str) -> Option<String> {
    for (before, after) in CREATED {
        let Some(at) = lower.find(before) else {
            continue;
        };
        let Some((name, end)) = name_at(text, at + before.len()) else {
            continue;
        };
        let rest = lower.get(end..).unwrap_or_default().trim_start();
        if after.is_empty() || after.iter().any(|words| rest.starts_with(words)) {
            return Some(name);
        }
    }
    None
}

/// The name that stands there, in quotes or as a word, and where it ends.
fn name_at(text: &str, at: usize) -> Option<(String, usize)> {
    let rest = text.get(at..)?;
    let start = at + (rest.len() - rest.trim_start_matches([' ', ':', '\t']).len());
    let rest = text.get(start..)?;
    let quote = rest
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`' | '“' | '「'));
    let (name, end) = match quote {
        Some(open) => {
            let close = match open {
                '“' => '”',
                '「' => '」',
                same => same,
            };
            let inner = rest.get(open.len_utf8()..)?;
            let len = inner.find(close)?;
            let end = start + open.len_utf8() + len + close.len_utf8();
            (inner.get(..len)?, end)
        }
        None => {
            let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (rest.get(..len)?, start + len)
        }
    };
    let bare = match quote {
        Some(_) => name.trim(),
        None => name.trim_end_matches(['.', ',', ';', ':', '!', ')', '。']),
    };
    // "team named x", "team as x": a word between.
    if quote.is_none() && matches!(bare, "named" | "called") {
        return name_at(text, end);
    }
    Some((bare.to_owned(), end)).filter(|found| !found.0.is_empty())
}

fn unrecognised(text: &str) -> Probe {
    Probe {
        outcome: Outcome::Unrecognised,
        team_name: None,
        message: Some(kept(text)),
    }
}

fn kept(text: &str) -> String {
    text.chars().take(KEPT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_case_is_read_from_the_literal_answer() {
        use Outcome::{AlreadyLeading, Ok, Unavailable, Unrecognised};
        for (answer, outcome, name) in [
            (json!({"team_name": "alpha"}), Ok, "alpha"),
            (json!({"team": {"name": "alpha"}}), Ok, "alpha"),
            (
                json!(r#"{"team_name":"alpha","lead_agent_id":"x"}"#),
                Ok,
                "alpha",
            ),
            (json!("Created team alpha."), Ok, "alpha"),
            (
                json!("Successfully created team named \"al pha\""),
                Ok,
                "al pha",
            ),
            (json!("Team `alpha` created successfully"), Ok, "alpha"),
            (json!("Team alpha has been created."), Ok, "alpha"),
            (json!("Already leading team XXX"), AlreadyLeading, "XXX"),
            (
                json!("Already leading team \"alpha\". A leader can only manage one team."),
                AlreadyLeading,
                "alpha",
            ),
            (
                json!("Already leading team and cannot create another"),
                AlreadyLeading,
                "",
            ),
            (
                json!("Error: already leading team alpha."),
                AlreadyLeading,
                "alpha",
            ),
            (
                json!("Already leading team alpha. Stop it first."),
                AlreadyLeading,
                "alpha",
            ),
            (
                json!("Already leading team alpha, so stop it first"),
                AlreadyLeading,
                "",
            ),
            (json!("already leading team foo bar"), AlreadyLeading, ""),
            (json!("Already leading team (foo bar)"), AlreadyLeading, ""),
            (json!("Already leading teams"), AlreadyLeading, ""),
            (json!("Already leading team (foo)"), AlreadyLeading, "foo"),
            (json!("Already leading team [foo]."), AlreadyLeading, "foo"),
            (json!("Already leading team foo."), AlreadyLeading, "foo"),
            (
                json!("already leading team \"foo bar\"."),
                AlreadyLeading,
                "foo bar",
            ),
            (json!("Already leading team (foo"), AlreadyLeading, ""),
            (
                json!("Already leading team \"a\" \"b\""),
                AlreadyLeading,
                "",
            ),
            (
                json!({"error": "Already leading team 'alpha'"}),
                AlreadyLeading,
                "alpha",
            ),
            (json!("Already leading team"), AlreadyLeading, ""),
            (json!("Already leading team ."), AlreadyLeading, ""),
            (json!("Already leading team \"alpha"), AlreadyLeading, ""),
            (json!("Feature not available"), Unavailable, ""),
            (json!("Feature not yet available."), Unavailable, ""),
            (
                json!("This feature is not currently available"),
                Unavailable,
                "",
            ),
            (json!("TeamCreate isn't available here"), Unavailable, ""),
            (json!("团队功能不可用"), Unavailable, ""),
            (json!("错误：团队功能暂不可用。"), Unavailable, ""),
            (json!({"error": "当前环境不支持团队功能"}), Unavailable, ""),
            (
                json!({"error": {"code": 1, "message": "Feature not available"}}),
                Unavailable,
                "",
            ),
            (
                json!({"is_error": true, "content": [{"type": "text", "text": "Feature not available"}]}),
                Unavailable,
                "",
            ),
            (json!("available soon"), Unrecognised, ""),
            (json!("Agent teams are not enabled"), Unavailable, ""),
            (json!("No such tool available: TeamCreate"), Unavailable, ""),
            (
                json!({"success": false, "message": "Feature not available"}),
                Unavailable,
                "",
            ),
            (
                json!({"error": "boom", "team_name": "alpha"}),
                Unrecognised,
                "",
            ),
            (
                json!({"success": false, "team_name": "alpha"}),
                Unrecognised,
                "",
            ),
            (json!({"team_name": " "}), Unrecognised, ""),
            (json!("Team work is fun"), Unrecognised, ""),
            (json!(""), Unrecognised, ""),
            (json!(7), Unrecognised, ""),
        ] {
            let probe = read(&answer);
            let found = (
                probe.outcome,
                probe.team_name.as_deref().unwrap_or_default(),
            );
            assert_eq!(found, (outcome, name), "{answer}");
        }
    }

    #[test]
    fn a_long_answer_is_cut_and_a_strange_one_is_no_panic() {
        let long = "é".repeat(10_000);
        assert_eq!(
            read(&json!(long)).message.unwrap().chars().count(),
            KEPT_CHARS
        );
        for text in [
            "already leading team é",
            "created team “",
            "İcreated team İ",
            "team_name:\u{0}",
        ] {
            read(&json!(text));
        }
    }
}

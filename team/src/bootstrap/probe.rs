//! Parser for the platform's answer to an attempt to create a team.
//!
//! | case | answer |
//! |---|---|
//! | A | JSON that names the team, or a text that reports its creation |
//! | B | a text that says that the caller already leads a team; usually it names the team |
//! | C | a text that says that teams are not available |
//!
//! Any other answer counts as unrecognised; the outcome is never guessed.

use super::*;

/// Phrases of an answer which says that teams are not available.
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

/// Phrase before the name of the team that the caller already leads.
const LEADING: &str = "already leading team";

/// Quotes around a name.
const QUOTES: [(char, char); 5] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('「', '」'),
];
/// Brackets around a one-word name.
const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('<', '>')];

/// Phrases before and after the name of a created team.
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

/// JSON fields that contain the name of the team.
const NAMES: [&str; 3] = ["team_name", "teamName", "name"];
/// JSON fields that contain a text about the result or an error.
const TEXTS: [&str; 4] = ["error", "message", "msg", "content"];

/// Maximum length of the stored message, in characters.
const KEPT_CHARS: usize = 2_000;

/// Parses a literal answer: JSON, or a text that possibly contains JSON.
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
        // A failed call created no team, even if its answer contains the name of a team.
        return said.filter(|probe| probe.outcome != Outcome::Ok);
    }
    let nested = fields.get("team").and_then(Value::as_object);
    let nested = nested.and_then(|team| NAMES.iter().find_map(|name| team.get(*name)?.as_str()));
    let named = NAMES.iter().find_map(text).or(nested);
    match named.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => Some(probe(Outcome::Ok, Some(name.to_owned()), None)),
        None => said,
    }
}

/// Returns the text in a field: the value itself, an error's `message`, or the first part of a tool's result.
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
        return probe(Outcome::AlreadyLeading, led(text, &lower), Some(text));
    }
    if UNAVAILABLE.iter().any(|words| lower.contains(words)) {
        return probe(Outcome::Unavailable, None, Some(text));
    }
    match created(text, &lower) {
        Some(name) => probe(Outcome::Ok, Some(name), Some(text)),
        None => unrecognised(text),
    }
}

/// Returns the name of the team that the caller already leads. The name follows the phrase in quotes or brackets, or is a
/// single word at the end of the text or of a sentence. Any other word could be part of a sentence.
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

/// Returns the first word of a text, if that word also ends the text or a sentence.
fn bare_word(text: &str) -> Option<&str> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, behind) = text.split_at_checked(end)?;
    let bare = word.trim_end_matches(['.', '。', '!']);
    let ends = bare.len() < word.len() || behind.trim().is_empty();
    (ends && !bare.contains([',', ';', ':'])).then_some(bare)
}

/// Returns the name of the created team in a text.
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

/// Returns the name at a position, quoted or not, and the position after the name.
fn name_at(text: &str, at: usize) -> Option<(String, usize)> {
    let rest = text.get(at..)?;
    let start = at + (rest.len() - rest.trim_start_matches([' ', ':', '\t']).len());
    let rest = text.get(start..)?;
    let quote = QUOTES.iter().find(|(open, _)| rest.starts_with(*open));
    let (name, end) = match quote {
        Some((open, close)) => {
            let (name, _) = rest.strip_prefix(*open)?.split_once(*close)?;
            let end = start + open.len_utf8() + name.len() + close.len_utf8();
            (name, end)
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
    // Skips a word before the name, as in "team named x".
    if quote.is_none() && matches!(bare, "named" | "called") {
        return name_at(text, end);
    }
    Some((bare.to_owned(), end)).filter(|found| !found.0.is_empty())
}

fn unrecognised(text: &str) -> Probe {
    probe(Outcome::Unrecognised, None, Some(text))
}

fn probe(outcome: Outcome, team_name: Option<String>, message: Option<&str>) -> Probe {
    Probe {
        outcome,
        team_name,
        message: message.map(|text| text.chars().take(KEPT_CHARS).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Test data: outcome, team name, and literal answer per line.
    const ANSWERS: &str = r#"
        ok           | alpha   | {"team_name": "alpha"}
        ok           | alpha   | {"team": {"name": "alpha"}}
        ok           | alpha   | "{\"team_name\":\"alpha\",\"lead_agent_id\":\"x\"}"
        ok           | alpha   | "Created team alpha."
        ok           | al pha  | "Successfully created team named \"al pha\""
        ok           | alpha   | "Team `alpha` created successfully"
        ok           | alpha   | "Team alpha has been created."
        leading      | crew    | "Already leading team crew"
        leading      | alpha   | "Already leading team \"alpha\". A leader can only manage one team."
        leading      |         | "Already leading team and cannot create another"
        leading      | alpha   | "Error: already leading team alpha."
        leading      | alpha   | "Already leading team alpha. Stop it first."
        leading      |         | "Already leading team alpha, so stop it first"
        leading      |         | "already leading team foo bar"
        leading      |         | "Already leading team (foo bar)"
        leading      |         | "Already leading teams"
        leading      | foo     | "Already leading team (foo)"
        leading      | foo     | "Already leading team [foo]."
        leading      | foo     | "Already leading team foo."
        leading      | foo bar | "already leading team \"foo bar\"."
        leading      |         | "Already leading team (foo"
        leading      |         | "Already leading team \"a\" \"b\""
        leading      | alpha   | {"error": "Already leading team 'alpha'"}
        leading      |         | "Already leading team"
        leading      |         | "Already leading team ."
        leading      |         | "Already leading team \"alpha"
        unavailable  |         | "Feature not available"
        unavailable  |         | "Feature not yet available."
        unavailable  |         | "This feature is not currently available"
        unavailable  |         | "TeamCreate isn't available here"
        unavailable  |         | "团队功能不可用"
        unavailable  |         | "错误：团队功能暂不可用。"
        unavailable  |         | {"error": "当前环境不支持团队功能"}
        unavailable  |         | {"error": {"code": 1, "message": "Feature not available"}}
        unavailable  |         | {"is_error": true, "content": [{"type": "text", "text": "Feature not available"}]}
        unrecognised |         | "available soon"
        unavailable  |         | "Agent teams are not enabled"
        unavailable  |         | "No such tool available: TeamCreate"
        unavailable  |         | {"success": false, "message": "Feature not available"}
        unrecognised |         | {"error": "boom", "team_name": "alpha"}
        unrecognised |         | {"success": false, "team_name": "alpha"}
        unrecognised |         | {"team_name": " "}
        unrecognised |         | "Team work is fun"
        unrecognised |         | ""
        unrecognised |         | 7"#;

    #[test]
    fn each_case_is_read_from_the_literal_answer() {
        for row in ANSWERS.lines().skip(1) {
            let [outcome, name, answer] = *row.splitn(3, '|').map(str::trim).collect::<Vec<_>>()
            else {
                panic!("{row}");
            };
            let outcome = match outcome {
                "ok" => Outcome::Ok,
                "leading" => Outcome::AlreadyLeading,
                "unavailable" => Outcome::Unavailable,
                _ => Outcome::Unrecognised,
            };
            let answer: Value = serde_json::from_str(answer).unwrap();
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

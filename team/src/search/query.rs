//! The text of a query: words, quoted words, beginnings of words, fields and times.
//!
//! ```text
//! login "exact words" wor* -word by:dev label:"to do" -kind:message after:1d tag:room=12
//! ```

use crate::prelude::*;
use crate::projections::search::{Field, Kind, Matcher, Term};
use crate::projections::tag::check_tag;
use crate::projections::terms::Words;
use crate::time::past_point;

/// Largest size of a query, in bytes.
const QUERY_BYTES_MAX: usize = 1_024;
/// Largest number of terms of a query.
const TERMS_MAX: usize = 32;

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The terms, which must all match.
    pub terms: Vec<Term>,
    /// Earliest time of a match.
    pub after: Option<Timestamp>,
    /// Time before which a match was recorded.
    pub before: Option<Timestamp>,
}

/// A term as typed.
struct Token<'a> {
    /// The whole term.
    typed: &'a str,
    is_negated: bool,
    field: Option<&'a str>,
    value: &'a str,
    is_prefix: bool,
}

/// Parses a query. Durations in the query count back from `now`.
///
/// # Errors
/// `invalid_input`, which names the term and the rule.
pub fn parse(text: &str, now: Timestamp) -> Result<ParsedQuery, Refusal> {
    if text.len() > QUERY_BYTES_MAX {
        return Err(Refusal::invalid(
            "query",
            format!("{} bytes", text.len()),
            format!("must have at most {QUERY_BYTES_MAX} bytes"),
        ));
    }
    let mut query = ParsedQuery::default();
    let (mut rest, mut count) = (text.trim_start(), 0);
    while !rest.is_empty() {
        let (token, after) = token(rest)?;
        query.take(&token, now)?;
        rest = after.trim_start();
        count += 1;
        if count > TERMS_MAX {
            let rule = format!("the query must have at most {TERMS_MAX} terms");
            return Err(refuse(token.typed, &rule));
        }
    }
    query.check_tags()?;
    match count {
        0 => Err(Refusal::new(
            Code::InvalidInput,
            "the query is empty: give words to find, or a field such as by:dev or after:1d",
        )
        .field("query")),
        _ => Ok(query),
    }
}

/// Checks the rules of a query without a team.
///
/// # Errors
/// `invalid_input` for a token that breaks a rule, or for an empty query.
pub fn check(text: &str) -> Result<(), Refusal> {
    parse(text, Timestamp::default()).map(drop)
}

impl ParsedQuery {
    fn take(&mut self, token: &Token<'_>, now: Timestamp) -> Result<(), Refusal> {
        let matcher = match token.field {
            None => words(token)?,
            Some(name) => match (field(name, token)?, token.value.to_owned()) {
                (Field::After, value) => {
                    self.after = self.after.max(Some(time(token, &value, now)?));
                    return Ok(());
                }
                (Field::Before, value) => {
                    let time = time(token, &value, now)?;
                    self.before = Some(self.before.map_or(time, |before| before.min(time)));
                    return Ok(());
                }
                (Field::Kind, value) => {
                    let kind = Kind::from_name(&value);
                    Matcher::Kind(kind.ok_or_else(|| {
                        refuse(token.typed, &names("kind", &Kind::ALL.map(Kind::name)))
                    })?)
                }
                (Field::Status, value) => {
                    let status = Status::from_name(&value);
                    let names = || names("status", &Status::ALL.map(Status::name));
                    Matcher::Status(status.ok_or_else(|| refuse(token.typed, &names()))?)
                }
                (Field::By, value) => Matcher::By(value),
                (Field::To, value) => Matcher::To(value),
                (Field::Task, value) => Matcher::Task(value),
                (Field::Label, value) => Matcher::Label(value),
                (Field::Tag, value) => {
                    let checked = check_tag("tag", &value);
                    checked.map_err(|error| refuse(token.typed, &error.to_string()))?;
                    Matcher::Tag(value)
                }
            },
        };
        self.terms.push(Term {
            is_negated: token.is_negated,
            matcher,
        });
        Ok(())
    }
}

impl ParsedQuery {
    /// Refuses `kind:event` without a tag: only the tags of events are indexed.
    fn check_tags(&self) -> Result<(), Refusal> {
        let wanted = || self.terms.iter().filter(|term| !term.is_negated);
        let is_event = |term: &Term| term.matcher == Matcher::Kind(Kind::Event);
        let is_tag = |term: &Term| matches!(term.matcher, Matcher::Tag(_));
        match wanted().any(is_event) && !wanted().any(is_tag) {
            true => Err(refuse(
                "kind:event",
                "events are found by a tag: add tag:NAME=VALUE. To list events by their kind, use log --kind",
            )),
            false => Ok(()),
        }
    }
}

fn names(field: &str, names: &[&str]) -> String {
    format!("{field} must be one of {}", names.join(", "))
}

fn refuse(typed: &str, rule: &str) -> Refusal {
    let message = format!("query: {}: {rule}", shown(typed));
    Refusal::new(Code::InvalidInput, message).field("query")
}

fn field(name: &str, token: &Token<'_>) -> Result<Field, Refusal> {
    let lower = name.to_lowercase();
    Field::from_name(&lower).ok_or_else(|| {
        let names = Field::ALL.map(Field::name);
        let meant = spelling::meant(&lower, names);
        let meant = meant.map_or_else(String::new, |meant| format!("; {meant}: may be meant"));
        let rule = format!(
            "there is no field {}{meant}; fields are {}. To find the text, put it in double quotes",
            shown(name),
            names.join(", ")
        );
        refuse(token.typed, &rule)
    })
}

fn words(token: &Token<'_>) -> Result<Matcher, Refusal> {
    let words = Words::from_texts([token.value]);
    let phrase: Vec<String> = words
        .in_order()
        .iter()
        .filter(|word| !word.is_empty())
        .cloned()
        .collect();
    if phrase.is_empty() {
        return Err(refuse(
            token.typed,
            "a word needs a letter or a digit; other characters are not searched",
        ));
    }
    Ok(Matcher::Words {
        phrase,
        is_prefix: token.is_prefix,
    })
}

fn time(token: &Token<'_>, value: &str, now: Timestamp) -> Result<Timestamp, Refusal> {
    if token.is_negated {
        let rule = "after and before cannot be excluded; use the other of the two";
        return Err(refuse(token.typed, rule));
    }
    past_point(value, now).map_err(|why| refuse(token.typed, &why))
}

/// Returns the first term of a text, and the text after that term.
fn token(text: &str) -> Result<(Token<'_>, &str), Refusal> {
    let (is_negated, body) = match text.strip_prefix('-') {
        Some(body) if body.starts_with(|c: char| !c.is_whitespace()) => (true, body),
        _ => (false, text),
    };
    let (field, body) = named(body);
    let (value, is_quoted, rest) = value(body, text)?;
    let (is_prefix, rest) = match rest.strip_prefix('*') {
        Some(rest) if field.is_none() => (true, rest),
        _ => (false, rest),
    };
    let typed = text.get(..text.len() - rest.len()).unwrap_or(text);
    let (value, is_prefix) = match value.strip_suffix('*') {
        Some(value) if !is_quoted && field.is_none() => (value, true),
        _ => (value, is_prefix),
    };
    if field.is_some() && value.is_empty() {
        return Err(refuse(typed, "a value must follow the colon"));
    }
    let token = Token {
        typed,
        is_negated,
        field,
        value,
        is_prefix,
    };
    Ok((token, rest))
}

/// Splits off the name of a field. An address such as `https://…`, and a colon at the end of a word, are text.
fn named(body: &str) -> (Option<&str>, &str) {
    let letters = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic());
    match body.split_once(':') {
        Some((name, value))
            if letters(name)
                && !value.starts_with("//")
                && value.starts_with(|c: char| !c.is_whitespace()) =>
        {
            (Some(name), value)
        }
        _ => (None, body),
    }
}

/// Returns a value up to the next space, or the words between quotes; true if the value was quoted;
/// and the text after the value.
fn value<'a>(body: &'a str, whole: &str) -> Result<(&'a str, bool, &'a str), Refusal> {
    if let Some(quoted) = body.strip_prefix('"') {
        return match quoted.split_once('"') {
            Some((value, rest)) => Ok((value, true, rest)),
            None => Err(refuse(
                whole.trim_end(),
                "the quote is not closed: put another \" after the last word",
            )),
        };
    }
    let end = body.find(char::is_whitespace).unwrap_or(body.len());
    let (value, rest) = body.split_at(end);
    Ok((value, false, rest))
}

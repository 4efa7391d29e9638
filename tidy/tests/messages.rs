//! Generates `docs/reference/messages.md`: every message that a user can see, read from the calls that create messages.

use std::collections::{BTreeMap, BTreeSet};
use teamlog_tidy::tokens::{Token, tokens};
use teamlog_tidy::{File, files, root};

const PAGE: &str = "docs/reference/messages.md";

/// The beginning of the generated page.
const BEFORE: &str = "\
# Messages

For people who look up a message, and for those who write one: every error, refusal and hint of teamlog by its code. A test makes this
page from the calls in the source that make a message (`TEAMLOG_BLESS=1 cargo test -p teamlog-tidy --test messages` writes it).

`{name}` stands for a value. A code is the field `code` of an error; [commands.md](../protocol/commands.md) says which exit code it
has.
";

/// Positions of the code and the message among the arguments of a call.
enum Shape {
    /// `Refusal::new(Code::X, message)`: an argument `Code::X`, and the message in the argument after it.
    Code,
    /// The code is a text in one argument, and the message is in another argument.
    Named(usize, usize),
    /// The code is fixed, and the message is in an argument.
    Fixed(&'static str, usize),
    /// A fixed code, a fixed beginning of the message, and the rest of the message in an argument.
    After(&'static str, &'static str, usize),
    /// `{field} {rule}, but is {value}`: the field and the rule are in two arguments, and the code is fixed.
    Rule(&'static str, usize, usize),
    /// `Error::journal(JournalFault::X, message)`.
    Fault,
    /// The form `cannot {doing} {what}: {system error}`.
    Io,
}

/// The calls that create errors, by the end of their path.
const CALLS: &[(&str, Shape)] = &[
    ("CommandError::new", Shape::Named(1, 2)),
    ("CommandError::usage", Shape::Fixed("usage", 0)),
    ("CommandError::bug", Shape::Fixed("bug", 0)),
    (
        "CommandError::unreachable",
        Shape::Fixed("daemon_unreachable", 0),
    ),
    ("CommandError::invalid", Shape::Fixed("invalid_input", 1)),
    ("CommandError::io", Shape::Io),
    ("Refusal::invalid", Shape::Rule("invalid_input", 0, 2)),
    ("Error::invalid", Shape::Rule("invalid_input", 0, 2)),
    (
        "Error::corrupt",
        Shape::After("damaged", "{path} is damaged at byte {offset}", 3),
    ),
    (
        "Error::foreign",
        Shape::After("foreign_file", "{path} belongs to another log", 1),
    ),
    ("Error::journal", Shape::Fault),
    ("Fault::new", Shape::Named(0, 1)),
    ("Problem::new", Shape::Named(0, 1)),
    ("Problem::invalid", Shape::Fixed("invalid_input", 1)),
    ("Reply::error", Shape::Named(1, 2)),
    ("Reply::unauthorized", Shape::Fixed("unauthorized", 0)),
    ("malformed", Shape::Fixed("malformed_request", 0)),
    ("busy", Shape::Fixed("busy", 0)),
];

/// Methods that add a hint to an error.
const HINTS: &[&str] = &["hint", "hinting", "or_hint", "and_hint"];

/// Messages by code, each with the files that create it.
type Found = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

#[test]
fn the_page_of_messages_is_what_the_source_says() {
    let found = messages();
    let count: usize = found.values().map(BTreeMap::len).sum();
    assert!(count > 400, "{count} messages");
    let mut text = String::from(BEFORE);
    for (code, messages) in &found {
        text.push_str(&format!("\n## {code}\n\n"));
        for (message, files) in messages {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            text.push_str(&format!("- {message} _({})_\n", files.join(", ")));
        }
    }
    let path = root().join(PAGE);
    if std::env::var_os("TEAMLOG_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == text,
        "{PAGE} is out of date; TEAMLOG_BLESS=1 cargo test -p teamlog-tidy --test messages writes it anew"
    );
}

fn messages() -> Found {
    let sources: Vec<(String, Vec<Token>)> = files(&[".rs"])
        .into_iter()
        .filter(|file| file.source_of().is_some() && !file.is_test())
        .map(|File { path, text }| {
            let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let short = path.replacen("/src/", "/", 1);
            (short, tokens(text))
        })
        .collect();
    let codes = codes(&sources);
    let mut found = Found::new();
    for (path, tokens) in &sources {
        let mut add = |code: &str, message: String| {
            if is_message(&message) {
                let message = message.replace('\n', " / ").replace('|', "\\|");
                let files = found.entry(code.to_owned()).or_default();
                files.entry(message).or_default().insert(path.clone());
            }
        };
        for at in 0..tokens.len() {
            calls(tokens, at, &codes, &mut add);
            derived(tokens, at, &mut add);
        }
    }
    found
}

/// Returns true if a text is a message: it has more than one word, and is not only a format.
fn is_message(text: &str) -> bool {
    let words = text.split_whitespace();
    words
        .filter(|word| word.contains(char::is_alphanumeric))
        .filter(|word| {
            word.chars()
                .all(|c| c.is_alphanumeric() || "-'`,:;.".contains(c))
        })
        .count()
        > 1
}

/// Adds the messages of the call that begins at a token, if a call begins there.
fn calls(
    tokens: &[Token],
    at: usize,
    codes: &BTreeMap<String, String>,
    add: &mut impl FnMut(&str, String),
) {
    let Some(name) = tokens.get(at).and_then(Token::name) else {
        return;
    };
    if !tokens.get(at + 1).is_some_and(|token| token.is('(')) {
        return;
    }
    let is_definition = at > 0 && tokens.get(at - 1).and_then(Token::name) == Some("fn");
    if is_definition {
        return;
    }
    let path = match at.checked_sub(3).and_then(|owner| tokens.get(owner)) {
        Some(Token::Name(owner)) if tokens.get(at - 1).is_some_and(|token| token.is(':')) => {
            format!("{owner}::{name}")
        }
        _ => name.to_owned(),
    };
    let arguments = arguments(tokens, at + 1);
    let texts = |index: usize| {
        let argument = arguments.get(index).copied().unwrap_or_default();
        templates(argument, tokens, at)
    };
    if HINTS.contains(&name) && at > 0 && tokens.get(at - 1).is_some_and(|token| token.is('.')) {
        let has = |name: &str| {
            let first = arguments.first().copied().unwrap_or_default();
            first.iter().any(|token| token.name() == Some(name))
        };
        for text in texts(0) {
            add(
                "Hints",
                match (has("command"), has("HelpOf")) {
                    (true, _) if !text.contains(": {") => format!("teamlog {text}"),
                    (_, true) => format!("teamlog {text} --help"),
                    _ => text,
                },
            );
        }
        return;
    }
    let known = CALLS.iter().find(|(call, _)| *call == path);
    match known.map_or(&Shape::Code, |(_, shape)| shape) {
        Shape::Named(code, message) => {
            let code = texts(*code).into_iter().next();
            for text in texts(*message) {
                add(code.as_deref().unwrap_or("other codes"), text);
            }
        }
        Shape::Fixed(code, message) => {
            for text in texts(*message) {
                add(code, text);
            }
        }
        Shape::After(code, beginning, rest) => {
            for text in texts(*rest) {
                add(code, format!("{beginning}: {text}"));
            }
        }
        Shape::Rule(code, field, rule) => {
            let field = texts(*field).into_iter().next();
            let field = field.unwrap_or_else(|| "{field}".to_owned());
            for text in texts(*rule) {
                add(code, format!("{field} {text}, but is {{value}}"));
            }
        }
        Shape::Fault => {
            let fault = arguments.first().and_then(|one| one.last()?.name());
            let of = |part: &str| {
                let found =
                    fault.and_then(|fault| codes.get(&format!("JournalFault::{fault}{part}")));
                found.map(String::as_str)
            };
            for text in texts(1) {
                let code = of("").unwrap_or("other codes of a journal");
                let predicate = of("_text").unwrap_or("…");
                add(code, format!("the journal of this log {predicate}: {text}"));
            }
        }
        Shape::Io => {
            for doing in texts(0).iter().chain(&words(arguments.first())) {
                for what in texts(1).into_iter().chain(words(arguments.get(1))) {
                    add("io", format!("cannot {doing} {what}: {{system error}}"));
                }
            }
        }
        Shape::Code => {
            let code = arguments.iter().position(|one| match one {
                [Token::Name(code), .., Token::Name(_)] => code == "Code" && one.len() == 4,
                _ => false,
            });
            let Some(index) = code else { return };
            let name = arguments.get(index).and_then(|one| one.last()?.name());
            let code = name.and_then(|name| codes.get(&format!("Code::{name}")));
            let Some(code) = code else { return };
            for message in (index + 1..arguments.len())
                .map(texts)
                .find(|all| !all.is_empty())
                .unwrap_or_default()
            {
                add(code, message);
            }
        }
    }
}

/// Returns the text of an argument that is a string literal, such as `read`.
fn words(argument: Option<&&[Token]>) -> Vec<String> {
    let text = argument.and_then(|one| one.first()?.text());
    text.into_iter().map(str::to_owned).collect()
}

/// Adds the template of `#[error("…")]`, under the name of the variant or type that it belongs to.
fn derived(tokens: &[Token], at: usize, add: &mut impl FnMut(&str, String)) {
    let is = |i: usize, name: &str| tokens.get(i).and_then(Token::name) == Some(name);
    let opens = |i: usize, sign: char| tokens.get(i).is_some_and(|token| token.is(sign));
    if opens(at, '#') && opens(at + 1, '[') && is(at + 2, "error") && opens(at + 3, '(') {
        let arguments = arguments(tokens, at + 3);
        let first = arguments.first().and_then(|one| one.first()?.text());
        if let Some(text) = first {
            let text = filled(text, arguments.get(1..).unwrap_or_default());
            add("Failures of the log, the daemon and the system", text);
        }
    }
}

/// Returns the arguments of a call whose parenthesis opens at `open`.
fn arguments(tokens: &[Token], open: usize) -> Vec<&[Token]> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut begin = open + 1;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Sign(',') if depth == 1 => {
                found.push(tokens.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
        if depth == 0 {
            found.push(tokens.get(begin..at).unwrap_or_default());
            break;
        }
    }
    found
}

/// Returns the texts that an argument can have. A variable is looked up in the tokens before the call.
fn templates(argument: &[Token], tokens: &[Token], call: usize) -> Vec<String> {
    if let [Token::Name(variable)] = argument {
        let first = call.saturating_sub(ABOVE);
        let above = tokens.get(first..call).unwrap_or_default();
        let function = above.iter().rposition(|token| token.name() == Some("fn"));
        let above = above
            .get(function.unwrap_or_default()..)
            .unwrap_or_default();
        let begin = above.windows(2).rposition(|pair| {
            matches!(pair, [Token::Name(keyword), Token::Name(name)] if keyword == "let" && name == variable)
        });
        let Some(begin) = begin else {
            return Vec::new();
        };
        let statement = above.get(begin..).unwrap_or_default();
        let mut depth = 0_i32;
        let end = statement.iter().position(|token| {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => depth -= 1,
                _ => {}
            }
            depth == 0 && token.is(';')
        });
        return texts(statement.get(..end.unwrap_or_default()).unwrap_or_default());
    }
    texts(argument)
}

/// Number of tokens before a call in which the variables of the call are searched.
const ABOVE: usize = 250;

/// Returns every text in these tokens. Formats contain the names of their values.
fn texts(tokens: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_format = tokens.get(at).and_then(Token::name) == Some("format")
            && tokens.get(at + 1).is_some_and(|token| token.is('!'));
        if is_format {
            let all = arguments(tokens, at + 2);
            if let Some(text) = all.first().and_then(|one| one.first()?.text()) {
                found.push(filled(text, all.get(1..).unwrap_or_default()));
            }
            at += 3 + all.iter().map(|one| one.len() + 1).sum::<usize>();
        } else {
            found.extend(tokens.get(at).and_then(Token::text).map(str::to_owned));
            at += 1;
        }
    }
    found
}

/// Returns a template in which each value has a name.
fn filled(template: &str, values: &[&[Token]]) -> String {
    let mut names = values.iter().map(|value| name_of(value));
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('{') {
            text.push_str("{{");
            rest = after;
            continue;
        }
        let (inner, after) = after.split_once('}').unwrap_or((after, ""));
        let given = inner.split(':').next().unwrap_or_default();
        let name = match given.parse::<usize>() {
            Ok(_) => "value".to_owned(),
            Err(_) if given.is_empty() => names.next().unwrap_or_else(|| "value".to_owned()),
            Err(_) => given.to_owned(),
        };
        text.push_str(&format!("{{{name}}}"));
        rest = after;
    }
    text + rest
}

/// Returns the noun of a shown value: the last name that is no method of conversion.
fn name_of(value: &[Token]) -> String {
    const PASSED: &[&str] = &[
        "display",
        "to_string",
        "as_str",
        "name",
        "into",
        "iter",
        "join",
        "len",
        "map",
        "collect",
        "as_deref",
        "unwrap_or",
        "unwrap_or_default",
        "text",
        "shown",
        "clone",
        "copied",
    ];
    let names = value.iter().rev().filter_map(Token::name);
    let noun = names
        .filter(|name| !PASSED.contains(name) && !name.starts_with(char::is_numeric))
        .find(|name| *name != "self");
    noun.unwrap_or("value").to_owned()
}

/// Returns the word of each variant of `Code` and `JournalFault`, by the variant's name, and the message text of each fault, by the
/// variant's name and `_text`.
fn codes(sources: &[(String, Vec<Token>)]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (path, tokens) in sources {
        let (owner, arrow) = match path.as_str() {
            "team/refusal.rs" => ("Code", '='),
            "engine/error.rs" => ("JournalFault", '='),
            _ => continue,
        };
        let mut of_fault = None;
        for part in tokens.windows(4) {
            match part {
                [
                    Token::Name(variant),
                    Token::Sign(sign),
                    Token::Text(text),
                    next,
                ] if *sign == arrow => {
                    found.insert(format!("{owner}::{variant}"), text.clone());
                    of_fault = next.is(',').then(|| format!("{owner}::{variant}_text"));
                }
                [
                    Token::Text(_),
                    Token::Sign(','),
                    Token::Text(text),
                    Token::Sign(';'),
                ] => {
                    if let Some(fault) = of_fault.take() {
                        found.insert(fault, text.clone());
                    }
                }
                [
                    Token::Name(variant),
                    Token::Sign('='),
                    Token::Sign('>'),
                    Token::Text(text),
                ] => {
                    found.insert(format!("{owner}::{variant}"), text.clone());
                }
                _ => {}
            }
        }
    }
    assert!(found.len() > 80, "{found:?}");
    found
}

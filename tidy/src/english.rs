//! A lint for plain English: finds comments with an opening, or a construction, that readers have to read twice.
//!
//! The lint is a help. A comment that passes can still be bad.

use std::fmt;

/// A comment that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line of the words, from 1.
    pub line: usize,
    /// The words found, in lower case.
    pub found: String,
    /// The rule that the words break.
    pub rule: Rule,
}

/// A rule of plain English.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A comment opens with a noun of the code, or with a verb in the third person.
    Opening,
    /// Sentences name the caller, the holder, the daemon, instead of unnamed persons.
    Person,
    /// Sentences name a thing, instead of describing it by a clause.
    Clause,
    /// Sentences repeat a noun, instead of pointing at it by `that of` or `the same as that`.
    Reference,
    /// Sentences say `if`, `after`, `before`, `per`, `until`.
    Preposition,
    /// Sentences use the usual word.
    Metaphor,
}

/// First words of a comment that the rule [`Rule::Opening`] refuses.
const OPENINGS: &[&str] = &[
    "as far",
    "as long",
    "as many",
    "as much",
    "as often",
    "by what",
    "by which",
    "else",
    "even",
    "for what",
    "how",
    "in which",
    "it",
    "its",
    "nobody",
    "none",
    "nothing",
    "of what",
    "same",
    "so many",
    "somebody",
    "that",
    "the same",
    "those",
    "to what",
    "what",
    "whatever",
    "where",
    "whether",
    "which",
    "who",
    "whoever",
    "whom",
    "whose",
    "why",
    "with what",
];

/// Words that a comment must not contain, with the rule that refuses them.
const CONSTRUCTIONS: &[(Rule, &[&str])] = &[
    (Rule::Person, &["nobody", "somebody", "whoever", "whomever"]),
    (
        Rule::Clause,
        &[
            "that which",
            "what a",
            "what an",
            "what came",
            "what comes",
            "what did",
            "what does",
            "what has",
            "what is",
            "what it",
            "what no",
            "what one",
            "what the",
            "what they",
            "what this",
            "what was",
            "whatever",
        ],
    ),
    (
        Rule::Reference,
        &["one that", "that of", "the same as that"],
    ),
    (
        Rule::Preposition,
        &[
            "as far as",
            "behind",
            "so many",
            "so much",
            "where no",
            "where nobody",
            "where none",
            "where nothing",
            "where there",
        ],
    ),
    (
        Rule::Metaphor,
        &[
            "by itself",
            "goes on",
            "going on",
            "in vain",
            "sees to",
            "stands",
            "stood",
        ],
    ),
];

impl Rule {
    /// Returns the advice for a writer.
    fn advice(self) -> &'static str {
        match self {
            Rule::Opening => "open with the thing (a noun of the code, or a verb like \"Returns\")",
            Rule::Person => "name the role: the caller, the holder, the daemon",
            Rule::Clause => "name the thing instead of describing it by a clause",
            Rule::Reference => "repeat the noun",
            Rule::Preposition => "say if, after, before, per, until",
            Rule::Metaphor => "use the usual word",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}: {}", self.line, self.found, self.rule.advice())
    }
}

/// Returns the faults of all comments in a Rust source file, in the order of their lines.
pub fn faults(source: &str) -> Vec<Fault> {
    let mut faults: Vec<Fault> = comments(source)
        .iter()
        .flat_map(|words| check(words))
        .collect();
    faults.sort_by_key(|fault| fault.line);
    faults
}

/// A word of a comment.
#[derive(Debug)]
struct Word {
    line: usize,
    /// The word in lower case without punctuation; empty for code in backticks.
    text: String,
    /// True if punctuation separates the word from the next one.
    ends: bool,
}

/// Checks one comment.
fn check(words: &[Word]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let opening = OPENINGS.iter().filter(|found| begins(words, found));
    // If several openings match, the longest one names the fault best.
    if let Some(found) = opening.max_by_key(|found| found.len()) {
        faults.push(fault(words, found, Rule::Opening));
        // A comment with a bad opening must be rewritten anyway, so its other faults are not reported.
        return faults;
    }
    for (rule, constructions) in CONSTRUCTIONS {
        for found in *constructions {
            let places = (0..words.len()).filter(|at| begins(&words[*at..], found));
            faults.extend(places.map(|at| fault(&words[at..], found, *rule)));
        }
    }
    faults
}

fn fault(words: &[Word], found: &str, rule: Rule) -> Fault {
    Fault {
        line: words[0].line,
        found: found.to_owned(),
        rule,
    }
}

/// Returns true if the words begin with `found`, without punctuation between these words.
fn begins(words: &[Word], found: &str) -> bool {
    let mut last: Option<&Word> = None;
    let mut rest = words.iter();
    found.split(' ').all(|wanted| {
        let word = rest.next().filter(|word| word.text == wanted);
        let joined = !last.is_some_and(|last| last.ends);
        last = word;
        word.is_some() && joined
    })
}

/// Returns the words of each comment. Consecutive lines with equal indent and marker are one comment. Markdown code blocks are
/// left out.
fn comments(source: &str) -> Vec<Vec<Word>> {
    let mut comments: Vec<Vec<Word>> = Vec::new();
    let mut before: Option<(usize, &str)> = None;
    let mut in_code = false;
    for (at, line) in source.lines().enumerate() {
        let Some((indent, marker, text)) = comment(line) else {
            before = None;
            continue;
        };
        if before != Some((indent, marker)) {
            comments.push(Vec::new());
            in_code = false;
        }
        before = Some((indent, marker));
        if text.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && let Some(words) = comments.last_mut() {
            words.extend(words_of(text, at + 1));
        }
    }
    comments
}

/// Returns indent, marker and text of a line that is a comment.
fn comment(line: &str) -> Option<(usize, &str, &str)> {
    let text = line.trim_start();
    let marker = ["///", "//!", "//"]
        .into_iter()
        .find(|marker| text.starts_with(marker))?;
    Some((line.len() - text.len(), marker, &text[marker.len()..]))
}

fn words_of(text: &str, line: usize) -> Vec<Word> {
    let mut words = Vec::new();
    // A part with an even index is prose. A part with an odd index is code in backticks.
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 1 {
            words.push(Word {
                line,
                text: String::new(),
                ends: false,
            });
            continue;
        }
        words.extend(part.split_whitespace().map(|word| {
            Word {
                line,
                text: word
                    .trim_matches(|c: char| !c.is_alphanumeric())
                    .to_lowercase(),
                ends: word.ends_with(|c: char| !c.is_alphanumeric()),
            }
        }));
    }
    words
}

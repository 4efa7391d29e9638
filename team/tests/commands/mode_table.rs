//! Checks that the tables in `docs/modes.md` agree with the rules, and that the list of words in that document agrees with the
//! words in prompts.
//!
//! `TEAMLOG_BLESS=1 cargo test -p teamlog-team --test commands mode_table` writes both.

use crate::prelude::*;
use teamlog_team::mode::rules::prompt::{gate, keyword};
use teamlog_team::mode::rules::transition::{Denial, Kind, Transition, decide, reachable};

const BEGIN: &str = "<!-- sets: ";
const END: &str = "<!-- /sets -->";
const WORDS_BEGIN: &str = "<!-- words: ";
const WORDS_END: &str = "<!-- /words -->";

fn names(modes: &[Mode], between: &str) -> String {
    let names: Vec<&str> = modes.iter().map(|mode| mode.name()).collect();
    names.join(between)
}

fn cell(told: &Transition) -> String {
    match (told.kind, told.denial) {
        (Kind::Allow, _) if told.current.is_empty() => "start".to_owned(),
        (Kind::Allow, _) => "no change".to_owned(),
        (Kind::Overlap, _) => "overlap".to_owned(),
        (Kind::AutoComplete, _) if told.current.len() == 1 => "hand-off".to_owned(),
        (Kind::AutoComplete, _) => format!("hand-off of {}", names(&told.auto_completed, ", ")),
        (Kind::Deny, Some(Denial::Rollback)) => "**rollback**".to_owned(),
        (Kind::Deny, _) => "**generic**".to_owned(),
    }
}

fn table() -> String {
    let mut lines = vec![format!("| active | {} |", names(&Mode::ALL, " | "))];
    lines.push(format!("|{}", "---|".repeat(1 + Mode::ALL.len())));
    for set in reachable() {
        let cells = Mode::ALL.map(|mode| {
            let told = decide(&set, mode, Review::Unknown);
            let clean = decide(&set, mode, Review::Clean);
            match told == clean {
                true => cell(&told),
                false => format!("{}; {} after a clean review", cell(&told), cell(&clean)),
            }
        });
        let active = match set.is_empty() {
            true => "nothing".to_owned(),
            false => names(&set, ", "),
        };
        lines.push(format!("| {active} | {} |", cells.join(" | ")));
    }
    lines.join("\n")
}

/// Returns the list of words that start modes in prompts, as Markdown for `docs/modes.md`.
fn phrases() -> String {
    let listed = |words: &[&str]| {
        let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        quoted.join(", ")
    };
    [
        "| part | words |".to_owned(),
        "|---|---|".to_owned(),
        format!(
            "| before the phrase | {}, then `{}` |",
            listed(&keyword::FORCING),
            keyword::PLEASE
        ),
        format!("| verbs | {} |", listed(&keyword::VERBS)),
        format!(
            "| names without another meaning | {} |",
            listed(&keyword::coined())
        ),
        format!(
            "| names that are ordinary words | {} |",
            listed(&keyword::ordinary())
        ),
        format!("| word that marks a name as a mode | `{}` |", keyword::MODE),
        format!("| at the end | {}, `.`, `!` |", listed(&keyword::BEHIND)),
        format!(
            "| before the work | `:`, a line break, {} |",
            listed(&keyword::LEADING)
        ),
        format!("| go-aheads | {} |", listed(&gate::GO_AHEADS)),
        format!("| words to continue | {} |", listed(&keyword::GOING_ON)),
        "| word to cancel | `cancel` |\n".to_owned(),
    ]
    .join("\n")
}

/// Compares the text between two marks of `docs/modes.md` with `made`. With `TEAMLOG_BLESS`, writes `made` there.
fn check(begin: &str, end: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/modes.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let (marker, rest) = rest.split_once("-->\n").unwrap();
    let (found, behind) = rest.split_once(end).unwrap();
    if std::env::var_os("TEAMLOG_BLESS").is_some() {
        let text = format!("{before}{begin}{marker}-->\n{made}{end}{behind}");
        std::fs::write(&path, text).unwrap();
        return;
    }
    assert!(
        found == made,
        "docs/modes.md is out of date; TEAMLOG_BLESS=1 cargo test -p teamlog-team --test commands mode_table writes it anew"
    );
}

// One test covers both parts, because both parts are written into one file.
#[test]
fn the_tables_in_docs_are_what_is_decided() {
    let made = format!("{}\n", table());
    assert_eq!(made.lines().count(), 2 + 18);
    check(BEGIN, END, &made);
    check(WORDS_BEGIN, WORDS_END, &phrases());
}

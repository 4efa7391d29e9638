//! Words that name a skill without a `$`. These are phrases of a verb and a name at the start of a prompt, the single word
//! `cancel`, and words that ask to continue. A name alone starts nothing, wherever it is in the prompt.

use crate::mode::prelude::*;
use crate::mode::rules::table::rules;

/// Verbs that begin a phrase.
pub const VERBS: [&str; 5] = ["use", "run", "start", "activate", "enter"];
/// Word after a name that marks it as a mode.
pub const MODE: &str = "mode";
/// Optional word before the verb of a phrase.
pub const PLEASE: &str = "please";
/// Optional words after the name of a phrase.
pub const BEHIND: [&str; 2] = ["please", "now"];
/// Words between the name and the task.
pub const LEADING: [&str; 3] = ["on", "to", "for"];
/// Prefixes that pass the gate.
pub const FORCING: [&str; 2] = ["force:", "!"];
/// Words that ask to continue.
pub const GOING_ON: [&str; 3] = ["keep going", "continue", "resume"];

/// Returns the match if the whole prompt is the word `cancel`, which cancels an interview.
pub fn cancel(prompt: &str) -> Option<KeywordMatch> {
    (plain(prompt) == CANCEL.name()).then(|| KeywordMatch::new(CANCEL.name(), CANCEL))
}

/// Returns the mode that a phrase at the start of the prompt names.
pub fn phrase(prompt: &str) -> Option<KeywordMatch> {
    let lower = prompt.to_ascii_lowercase();
    let text = behind_force(&lower).trim();
    let text = word(text, PLEASE).unwrap_or(text);
    let text = VERBS.iter().find_map(|verb| word(text, verb))?;
    let the = word(text, "the");
    let text = the.unwrap_or(text);
    let (coined, ordinary) = (coined(), ordinary());
    let names = coined.iter().chain(&ordinary);
    let (name, behind) = names
        .filter_map(|name| Some((*name, text.strip_prefix(name)?)))
        .max_by_key(|(name, _)| name.len())?;
    let called_mode = behind
        .strip_prefix(char::is_whitespace)
        .and_then(|behind| behind.trim_start().strip_prefix(MODE));
    let is_clear = called_mode.is_some();
    let behind = called_mode.unwrap_or(behind);
    let ends = is_end(behind) && (the.is_none() || is_clear);
    let goes_on = (is_clear || (the.is_none() && coined.contains(&name))) && is_task(behind);
    let skill = Skill::from_name(name)?;
    (ends || goes_on).then(|| KeywordMatch::new(name, skill))
}

/// Returns the names of modes that are no ordinary words.
pub fn coined() -> Vec<&'static str> {
    let rows = Mode::ALL.into_iter().map(rules);
    rows.flat_map(|rules| rules.coined).copied().collect()
}

/// Returns the names of modes that are also ordinary words. A prompt with a verb and such a name often means something else.
pub fn ordinary() -> Vec<&'static str> {
    let rows = Mode::ALL.into_iter().map(rules);
    rows.flat_map(|rules| rules.ordinary).copied().collect()
}

/// Returns the text after `word`; `None` if the text does not begin with that word.
fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let behind = text.strip_prefix(word)?;
    let begins = behind.starts_with(char::is_whitespace);
    begins.then(|| behind.trim_start())
}

/// Returns true if the remaining prompt is empty, or is only a polite word.
fn is_end(behind: &str) -> bool {
    let bare = behind.trim_end_matches(['.', '!']);
    let courtesy = BEHIND.iter().any(|word| bare.trim_start() == *word);
    bare.is_empty() || (courtesy && bare.starts_with(char::is_whitespace))
}

/// Returns true if the text describes a task. Returns false for a question.
fn is_task(behind: &str) -> bool {
    let line = behind.strip_prefix(['.', '!']).unwrap_or(behind);
    if line.starts_with(['\n', '\r']) {
        return true;
    }
    if let Some(task) = behind.strip_prefix(':') {
        return task.starts_with(char::is_whitespace);
    }
    let leads = behind.starts_with(char::is_whitespace)
        && LEADING
            .iter()
            .any(|lead| word(behind.trim_start(), lead).is_some());
    leads && !behind.lines().next().unwrap_or_default().contains('?')
}

/// Returns true if a prompt begins with `force:` or `!`. Such a prompt passes the gate.
pub fn is_forced(prompt: &str) -> bool {
    forced(prompt).is_some()
}

/// Returns a prompt without leading white space, `force:` and `!`.
pub fn behind_force(prompt: &str) -> &str {
    forced(prompt).unwrap_or(prompt).trim_start()
}

fn forced(prompt: &str) -> Option<&str> {
    let text = prompt.trim_start();
    FORCING.iter().find_map(|mark| {
        let (front, behind) = text.split_at_checked(mark.len())?;
        front.eq_ignore_ascii_case(mark).then_some(behind)
    })
}

/// Returns the mode to continue if a prompt only asks to continue. `Some(None)` means that the prompt names no mode.
pub fn going_on(prompt: &str) -> Option<Option<Skill>> {
    let plain = plain(prompt);
    let said = plain.trim_start_matches(['/', '\\']).trim_start();
    let said = said.strip_suffix(" now").unwrap_or(said);
    for words in GOING_ON {
        match said.strip_suffix(words) {
            Some("") => return Some(None),
            Some(before) => return Skill::from_name(before.strip_suffix(' ')?).map(Some),
            None => {}
        }
    }
    None
}

/// Returns a prompt in lower case, with single spaces and without punctuation at the end.
pub(super) fn plain(prompt: &str) -> String {
    let lower = prompt.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let text = words.join(" ");
    text.trim_end_matches(['.', '!', '?', ',', ';'])
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(prompt: &str) -> &'static str {
        phrase(prompt).map_or("", |found| found.skill.name())
    }

    #[test]
    fn every_verb_with_every_name_is_a_phrase() {
        for verb in VERBS {
            for name in coined().into_iter().chain(ordinary()) {
                let skill = Skill::from_name(name).unwrap().name();
                for prompt in [
                    format!("{verb} {name}"),
                    format!("  Please {verb}  {name} now! "),
                    format!("force: {verb} {name} {MODE}."),
                    format!("!{verb} the {name} {MODE} on the login"),
                    format!("{verb} {name} {MODE}: the login"),
                    format!("{verb} {name} {MODE}.\nThe login"),
                ] {
                    assert_eq!(named(&prompt), skill, "{prompt}");
                }
                // If more text follows, an ordinary word needs `mode` after it.
                let coined = if coined().contains(&name) { skill } else { "" };
                for lead in LEADING {
                    let prompt = format!("{verb} {name} {lead} the login");
                    assert_eq!(named(&prompt), coined, "{prompt}");
                }
                assert_eq!(named(&format!("{verb} {name}: the login")), coined);
                for prompt in [
                    name.to_owned(),
                    format!("re{verb} {name}"),
                    format!("{verb}{name}"),
                    format!("{verb} {name}s"),
                    format!("{verb} {name}?"),
                    format!("{verb} {name},"),
                    format!("{verb} {name}.md"),
                    format!("{verb} {name}:x"),
                    format!("{verb} {name} mode on this? no"),
                    format!("{verb} {name} modes on this"),
                    format!("{verb} {name} tests"),
                    format!("{verb} the {name}"),
                    format!("do not {verb} {name}"),
                ] {
                    assert_eq!(named(&prompt), "", "{prompt}");
                }
            }
        }
    }

    #[test]
    fn cancel_counts_alone() {
        assert_eq!(cancel(" Cancel! ").unwrap().skill, CANCEL);
        assert_eq!(cancel("cancel the order"), None);
    }

    #[test]
    fn only_a_mark_in_front_forces() {
        for (prompt, forced) in [
            ("force: forge it", true),
            (" Force:it", true),
            ("! it", true),
            ("use force: it", false),
            ("it!", false),
        ] {
            assert_eq!(is_forced(prompt), forced, "{prompt}");
        }
    }

    #[test]
    fn going_on_is_asked_for_by_these_words_alone() {
        let forge = Skill::from_name("forge");
        for (prompt, with) in [
            ("keep going", Some(None)),
            (" Continue. ", Some(None)),
            ("resume now!", Some(None)),
            ("/continue", Some(None)),
            ("\\keep  going now", Some(None)),
            ("forge keep going", Some(forge)),
            ("forge continue now", Some(forge)),
            ("crew keep going", Some(Skill::from_name("team"))),
            ("please continue", None),
            ("continue with the tests", None),
            ("discontinue", None),
            ("forgecontinue", None),
            ("", None),
        ] {
            assert_eq!(going_on(prompt), with, "{prompt}");
        }
    }
}

//! Words that stand for skills without a `$`: names that mean nothing else anywhere in a prompt, ordinary words only as
//! its first; and the words that ask to go on.

use super::{Found, is_word};
use crate::modes::skill::{CANCEL, Skill};

/// Names that mean nothing else.
const COINED: [&str; 7] = [
    "ultrawork",
    "ulw",
    "autopilot",
    "autoforge",
    "ultraqa",
    "autoresearch",
    "deep-interview",
];
/// Ordinary words, which stand for a skill where a prompt begins with them.
const ORDINARY: [&str; 6] = ["forge", "team", "crew", "swarm", "blueprint", "brief"];
/// What may stand before the first word.
const OPENINGS: [&str; 4] = ["please", "run", "use", "start"];
/// The same without a space behind it.
const MARKS: [&str; 4] = ["force:", "!", "/", "\\"];
/// What passes the gate by, as it stands before anything else.
const FORCING: [&str; 2] = ["force:", "!"];
/// What asks to go on.
const GOING_ON: [&str; 3] = ["keep going", "continue", "resume"];

/// The skills that words of a prompt stand for, in their order, each once.
pub fn words(prompt: &str) -> Vec<Found> {
    let lower = prompt.to_ascii_lowercase();
    if plain(&lower) == "cancel" {
        return vec![found("cancel", CANCEL)];
    }
    let mut places = Vec::new();
    let first = lower.len() - opened(&lower).len();
    if let Some(word) = leading(lower.get(first..).unwrap_or_default()) {
        places.push((first, word));
    }
    for name in COINED {
        let whole = |at: usize| at == first || is_whole_before(&lower, at);
        let is_one = |at: &usize| whole(*at) && is_whole_behind(&lower, at + name.len());
        let place = lower.match_indices(name).map(|(at, _)| at).find(is_one);
        places.extend(place.map(|at| (at, name)));
    }
    places.sort_unstable();
    let mut all: Vec<Found> = Vec::new();
    for (_, word) in places {
        if let Some(skill) = Skill::from_name(word)
            && all.iter().all(|found| found.skill != skill)
        {
            all.push(found(word, skill));
        }
    }
    all
}

fn found(keyword: &str, skill: Skill) -> Found {
    Found {
        keyword: keyword.to_owned(),
        skill,
    }
}

/// A prompt without what may stand before its first word.
fn opened(prompt: &str) -> &str {
    let mut rest = prompt.trim_start();
    loop {
        let marked = MARKS.iter().find_map(|mark| rest.strip_prefix(mark));
        let opened = || {
            let behind = OPENINGS.iter().find_map(|word| rest.strip_prefix(word))?;
            behind.starts_with(char::is_whitespace).then_some(behind)
        };
        match marked.or_else(opened) {
            Some(behind) => rest = behind.trim_start(),
            None => return rest,
        }
    }
}

/// The ordinary word that a text begins with, where it does not go on with a comma or another word.
fn leading(text: &str) -> Option<&'static str> {
    ORDINARY.into_iter().find(|word| {
        let Some(behind) = text.strip_prefix(word) else {
            return false;
        };
        let mut behind = behind.chars();
        match behind.next() {
            None => true,
            Some('.' | ':' | '!') => behind.next().is_none_or(char::is_whitespace),
            Some(letter) => letter.is_whitespace(),
        }
    })
}

/// Whether a word may begin there: neither within a word, a path or a name, nor quoted.
fn is_whole_before(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    before.is_none_or(|letter| !is_word(letter) && !r#"-/\.$@#:`"'"#.contains(letter))
}

fn is_whole_behind(text: &str, at: usize) -> bool {
    let mut behind = text.get(at..).unwrap_or_default().chars();
    match behind.next() {
        None => true,
        Some('.' | ':') => !behind.next().is_some_and(is_word),
        Some(letter) => !is_word(letter) && !r#"-/\`"'"#.contains(letter),
    }
}

/// Whether a prompt says that it is not to be held back by the gate.
pub fn is_forced(prompt: &str) -> bool {
    let lower = prompt.trim_start().to_ascii_lowercase();
    FORCING.iter().any(|mark| lower.starts_with(mark))
}

/// What a prompt that only asks to go on goes on with: `Some(None)` where it does not say.
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

/// A prompt in lower case, with single spaces, and without the marks at its end.
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

    fn named(prompt: &str) -> String {
        let names: Vec<&str> = words(prompt)
            .iter()
            .map(|found| found.skill.name())
            .collect();
        names.join(",")
    }

    #[test]
    fn coined_names_count_anywhere_as_whole_words() {
        for (prompt, skills) in [
            ("fix it with autopilot", "autopilot"),
            ("Ultrawork and ULW, then autoforge.", "ultrawork,autopilot"),
            ("autoresearch: the market", "autoresearch"),
            (
                "a deep-interview first (ultraqa later)",
                "deep-interview,ultraqa",
            ),
            ("/autopilot fix it", "autopilot"),
            ("ultraworker", ""),
            ("my_autopilot", ""),
            ("non-autopilot", ""),
            ("autopilot-like", ""),
            ("see docs/autopilot.md", ""),
            ("see autopilot.md", ""),
            ("what is `autopilot`?", ""),
            ("what is \"autopilot\"?", ""),
            ("éulw", ""),
        ] {
            assert_eq!(named(prompt), skills, "{prompt}");
        }
    }

    #[test]
    fn ordinary_words_count_only_where_a_prompt_begins_with_them() {
        for (prompt, skills) in [
            ("forge the fix", "forge"),
            ("  Team: fix it", "team"),
            ("please run crew on it", "team"),
            ("force: forge it", "forge"),
            ("! forge it", "forge"),
            ("!forge it", "forge"),
            ("/forge it", "forge"),
            ("\\forge it", "forge"),
            ("use blueprint", "blueprint"),
            ("start swarm.", "team"),
            ("brief me", "deep-interview"),
            ("blueprint it, then autopilot", "blueprint,autopilot"),
            ("our team meets", ""),
            ("forged", ""),
            ("team, hello", ""),
            ("team/readme", ""),
            ("team.json", ""),
            ("runforge", ""),
            ("reuse forge", ""),
            ("", ""),
        ] {
            assert_eq!(named(prompt), skills, "{prompt}");
        }
    }

    #[test]
    fn cancel_counts_alone() {
        assert_eq!(named(" Cancel! "), "cancel");
        assert_eq!(named("cancel the order"), "");
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

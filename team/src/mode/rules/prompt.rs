//! Skills that a prompt requests: how they are found, the gate, and the decision on the whole prompt.
//!
//! | step | module |
//! |---|---|
//! | `$skill` tokens at the start, an explicit decision of the user | `token` |
//! | phrases that name a mode, if there is no such token | `keyword` |
//! | a plan before execution, for phrases and go-aheads | `gate` |
//! | planning before execution, then one transition after the other | `plan` |
//! | prompts that an interview does not accept as answers | `lock` |
//! | the paragraph for the agent | `text` |

pub mod answer;
pub mod gate;
pub mod keyword;
pub(crate) mod lock;
pub(crate) mod plan;
pub(crate) mod text;
pub(crate) mod token;

use crate::mode::prelude::*;
use gate::Planned;

/// The letters that result if `ulw` is typed with a Korean keyboard layout.
const KOREAN_ULW: &str = "ㅕㅣㅈ";
/// Prefix of the name of another prompt. The words of a prompt with this prefix start no skill.
const PROMPTS: &str = "/prompts:";

/// A word of a prompt, and the skill that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeywordMatch {
    /// The word as the user typed it.
    pub keyword: String,
    /// The skill that the word names.
    pub skill: Skill,
}

/// The skills that a prompt names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedSkills {
    /// The skills in the order of the prompt, without duplicates.
    pub found: Vec<KeywordMatch>,
    /// True if the prompt names the skills by `$skill` tokens.
    pub explicit: bool,
}

/// Options for words without `$`. The word `cancel` and go-aheads are always accepted; phrases are accepted if the team allows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words {
    /// True if phrases start modes.
    pub phrases: bool,
    /// State of the plan that a go-ahead refers to.
    pub planned: Planned,
}

impl KeywordMatch {
    fn new(keyword: &str, skill: Skill) -> KeywordMatch {
        KeywordMatch {
            keyword: keyword.to_owned(),
            skill,
        }
    }
}

impl Words {
    fn found(self, prompt: &str) -> Option<KeywordMatch> {
        let phrase = || self.phrases.then(|| keyword::phrase(prompt)).flatten();
        keyword::cancel(prompt)
            .or_else(phrase)
            .or_else(|| gate::go_ahead(prompt, self.planned))
    }
}

impl NamedSkills {
    /// Finds the skills that a prompt names.
    pub fn from_prompt(prompt: &str, words: Words) -> NamedSkills {
        let prompt = typed(prompt);
        let found = token::at_head(&prompt);
        if !found.is_empty() {
            return NamedSkills {
                found,
                explicit: true,
            };
        }
        let is_silent = token::has_token(&prompt) || names_prompt(&prompt);
        NamedSkills {
            found: match is_silent {
                true => Vec::new(),
                false => words.found(&prompt).into_iter().collect(),
            },
            explicit: false,
        }
    }

    /// Returns the skills.
    pub fn skills(&self) -> Vec<Skill> {
        self.found.iter().map(|found| found.skill).collect()
    }
}

/// Replaces the letters that result if `ulw` is typed with a Korean keyboard layout.
pub fn typed(prompt: &str) -> Cow<'_, str> {
    match prompt.contains(KOREAN_ULW) {
        true => prompt.replace(KOREAN_ULW, "ulw").into(),
        false => prompt.into(),
    }
}

fn names_prompt(prompt: &str) -> bool {
    let lower = prompt.to_ascii_lowercase();
    lower.match_indices(PROMPTS).any(|(at, _)| {
        let behind = lower.get(at + PROMPTS.len()..).unwrap_or_default();
        behind.starts_with(|letter: char| letter.is_alphanumeric())
    })
}

/// Returns true if a character is part of a word.
fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(prompt: &str) -> (String, bool) {
        let words = Words {
            phrases: true,
            planned: Planned::default(),
        };
        let named = NamedSkills::from_prompt(prompt, words);
        let names: Vec<&str> = named.skills().iter().map(|skill| skill.name()).collect();
        (names.join(","), named.explicit)
    }

    #[test]
    fn tokens_come_before_phrases_and_one_that_does_not_count_silences_them() {
        for (prompt, skills, explicit) in [
            ("$forge with autopilot", "forge", true),
            ("use autopilot: $forge", "", false),
            ("use autopilot", "autopilot", false),
            ("echo $PATH and use autopilot", "", false),
            ("$nothing use autopilot", "", false),
            ("/prompts:architect autopilot", "", false),
            ("$forge, see /prompts:architect", "forge", true),
            ("use autopilot:\n/prompts:architect", "", false),
            ("use autopilot:\n/prompts: x", "autopilot", false),
            ("ㅕㅣㅈ fix it", "", false),
            ("use ㅕㅣㅈ", "ultrawork", false),
            ("`$forge` with autopilot", "", false),
            ("cancel", "cancel", false),
            ("forge", "", false),
            ("$ㅕㅣㅈ fix it", "ultrawork", true),
            ("", "", false),
        ] {
            assert_eq!(named(prompt), (skills.to_owned(), explicit), "{prompt}");
        }
    }

    #[test]
    fn without_phrases_tokens_go_aheads_and_cancel_count() {
        for (prompt, found) in [
            ("use autopilot", 0),
            ("$forge", 1),
            ("cancel", 1),
            ("forge please", 0),
        ] {
            assert_eq!(
                NamedSkills::from_prompt(prompt, Words::default())
                    .found
                    .len(),
                found
            );
        }
        let planned = Planned {
            complete: true,
            prior: None,
        };
        for phrases in [true, false] {
            let words = Words { phrases, planned };
            assert_eq!(
                NamedSkills::from_prompt("forge please", words).found.len(),
                1
            );
        }
    }
}

//! What a prompt asks for: the skills that it names, what the gate leaves of them, and the whole of it decided at once.
//!
//! | step | where |
//! |---|---|
//! | `$skill` tokens, which are the user's own decision | [`token`] |
//! | words that stand for skills, where there is no such token | [`keyword`] |
//! | a plan before anything is executed, for such words | [`gate`] |
//! | planning before execution, then one transition after the other | [`plan`] |
//! | input that an interview does not take for an answer | [`lock`] |
//! | what the agent is told | [`text`] |

pub mod answer;
pub mod gate;
pub mod keyword;
pub mod lock;
pub mod plan;
pub mod text;
pub mod token;

use super::skill::Skill;
use std::borrow::Cow;

/// What a Korean keyboard makes of `ulw`.
const KOREAN_ULW: &str = "ㅕㅣㅈ";
/// Calls a prompt of that name, which is nothing that words in it could start.
const PROMPTS: &str = "/prompts:";

/// A word of a prompt that stands for a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The word as it was typed.
    pub keyword: String,
    /// What it stands for.
    pub skill: Skill,
}

/// What a prompt names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Named {
    /// The skills in their order, each once.
    pub found: Vec<Found>,
    /// Whether they are `$skill` tokens.
    pub explicit: bool,
}

impl Named {
    /// Reads a prompt.
    pub fn of(prompt: &str) -> Named {
        let prompt = typed(prompt);
        let block = token::block(&prompt);
        if !block.found.is_empty() {
            return Named {
                found: block.found,
                explicit: true,
            };
        }
        let is_silent = block.looks_explicit || names_prompt(&prompt);
        Named {
            found: match is_silent {
                true => Vec::new(),
                false => keyword::words(&prompt),
            },
            explicit: false,
        }
    }

    /// The skills.
    pub fn skills(&self) -> Vec<Skill> {
        self.found.iter().map(|found| found.skill).collect()
    }
}

/// A prompt as it was meant to be typed.
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

/// Whether a letter is part of a word.
fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(prompt: &str) -> (String, bool) {
        let named = Named::of(prompt);
        let names: Vec<&str> = named.skills().iter().map(|skill| skill.name()).collect();
        (names.join(","), named.explicit)
    }

    #[test]
    fn tokens_come_before_words_and_an_unknown_one_silences_them() {
        for (prompt, skills, explicit) in [
            ("$forge with autopilot", "forge", true),
            ("autopilot, $forge", "forge", true),
            ("use autopilot", "autopilot", false),
            ("echo $PATH and use autopilot", "", false),
            ("$nothing autopilot", "", false),
            ("/prompts:architect autopilot", "", false),
            ("see /prompts:architect $forge", "forge", true),
            ("/prompts: autopilot", "autopilot", false),
            ("ㅕㅣㅈ fix it", "ultrawork", false),
            ("$ㅕㅣㅈ fix it", "ultrawork", true),
            ("", "", false),
        ] {
            assert_eq!(named(prompt), (skills.to_owned(), explicit), "{prompt}");
        }
    }
}

//! `$skill` tokens: `$`, a letter, letters, digits and hyphens, and behind a `:` the name within a namespace.
//!
//! The tokens that count begin with the first known one and end where anything but whitespace stands before the next.
//! An unknown one among them neither counts nor ends them. One within code, between backticks, is a variable or a mention:
//! it does not count either.

use crate::mode::prelude::*;
use crate::mode::rules::prompt::is_word;
use std::ops::Range;

/// The namespaces that skills may be called by.
const NAMESPACES: [&str; 2] = ["rcs", "roblox-ai-os-creator-skills"];

/// What looks like a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its text, with the `$`.
    pub text: &'a str,
    pub start: usize,
}

impl Token<'_> {
    /// Where the text behind it begins.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
    pub fn skill(&self) -> Option<Skill> {
        let name = self.text.strip_prefix('$')?;
        match name.split_once(':') {
            None => Skill::from_name(name),
            Some((namespace, name)) => {
                let lower = namespace.to_ascii_lowercase();
                let known = NAMESPACES.contains(&&*lower);
                known.then(|| Skill::from_name(name)).flatten()
            }
        }
    }
}

/// The tokens of a prompt that count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Each skill once, as it was first named.
    pub found: Vec<Found>,
    /// Whether anything looks like a token, known or not.
    pub looks_explicit: bool,
}

/// Everything that looks like a token.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut before = None;
    for (at, letter) in text.char_indices() {
        let begins = letter == '$' && !before.is_some_and(is_word);
        before = Some(letter);
        if begins && let Some(token) = token_at(text, at) {
            found.push(token);
        }
    }
    found
}

fn token_at(text: &str, start: usize) -> Option<Token<'_>> {
    let rest = text.get(start + 1..)?;
    let mut length = name_length(rest)?;
    // Behind a colon that begins no name, the token ends before it.
    while let Some(behind) = rest.get(length..).and_then(|rest| rest.strip_prefix(':')) {
        match name_length(behind) {
            Some(more) => length += 1 + more,
            None => break,
        }
    }
    let name = rest.get(..length)?.trim_end_matches('-');
    let after = rest.get(name.len()..)?.chars().next();
    if after.is_some_and(is_word) {
        return None;
    }
    Some(Token {
        text: text.get(start..=start + name.len())?,
        start,
    })
}

/// How long the name is that a text begins with.
fn name_length(text: &str) -> Option<usize> {
    let begins = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    begins.then(|| end.unwrap_or(text.len()))
}

pub fn block(text: &str) -> Block {
    let mut tokens = tokens(text);
    let mut block = Block {
        found: Vec::new(),
        looks_explicit: !tokens.is_empty(),
    };
    let code = code(text);
    tokens.retain(|token| {
        let before = code.partition_point(|code| code.end <= token.start);
        code.get(before)
            .is_none_or(|code| !code.contains(&token.start))
    });
    let mut end = None;
    for token in tokens {
        let skill = token.skill();
        match end {
            None if skill.is_none() => continue,
            Some(end) if !is_blank(text.get(end..token.start)) => break,
            _ => {}
        }
        end = Some(token.end());
        let Some(skill) = skill else {
            continue;
        };
        if block.found.iter().all(|found| found.skill != skill) {
            block.found.push(Found::of(token.text, skill));
        }
    }
    block
}

/// Where code stands in a text: between two equal runs of backticks, or from one of three or more to the end.
fn code(text: &str) -> Vec<Range<usize>> {
    let mut code: Vec<Range<usize>> = Vec::new();
    let runs = runs(text);
    for (at, run) in runs.iter().enumerate() {
        if code.last().is_some_and(|code| run.start < code.end) {
            continue;
        }
        let behind = runs.get(at + 1..).unwrap_or_default();
        let closing = behind.iter().find(|other| other.len() == run.len());
        match closing {
            Some(closing) => code.push(run.start..closing.end),
            None if run.len() >= 3 => code.push(run.start..text.len()),
            None => {}
        }
    }
    code
}

fn runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, mark) in text.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += mark.len(),
            _ => runs.push(at..at + mark.len()),
        }
    }
    runs
}

fn is_blank(between: Option<&str>) -> bool {
    between.is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(prompt: &str) -> String {
        let names: Vec<&str> = block(prompt)
            .found
            .iter()
            .map(|found| found.skill.name())
            .collect();
        names.join(",")
    }

    #[test]
    fn a_token_is_a_dollar_and_a_name() {
        for (text, tokens_) in [
            ("$forge", "$forge"),
            ("$FORGE!", "$FORGE"),
            ("($forge)", "$forge"),
            ("$deep-interview.", "$deep-interview"),
            ("$forge-", "$forge"),
            ("$forge--x", "$forge--x"),
            ("$forge: do", "$forge"),
            ("$rcs:forge:", "$rcs:forge"),
            ("$a:b:c", "$a:b:c"),
            ("$$forge", "$forge"),
            ("$forge$team", "$forge"),
            ("$forge.$team", "$forge $team"),
            ("cost$forge", ""),
            ("é$forge", ""),
            ("$ forge", ""),
            ("$1forge", ""),
            ("$forge_x", ""),
            ("$forgeé", ""),
            ("$MY_VAR", ""),
            ("$PATH", "$PATH"),
            ("$", ""),
            ("ü $forge ü", "$forge"),
        ] {
            let all: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
            assert_eq!(all.join(" "), tokens_, "{text}");
        }
    }

    #[test]
    fn contiguous_tokens_count_in_their_order() {
        for (prompt, skills) in cases![
            ("$blueprint $team $forge ship this fix" => "blueprint,team,forge"),
            ("please run $team now" => "team"),
            ("$blueprint\n\t $forge x" => "blueprint,forge"),
            ("$blueprint, $forge x" => "blueprint"),
            ("$blueprint and $forge x" => "blueprint"),
            ("$blueprint ($forge) x" => "blueprint"),
            ("$blueprint $rcs:unknown $forge x" => "blueprint,forge"),
            ("$unknown $forge x" => "forge"),
            ("$unknown, then $forge x" => "forge"),
            ("$blueprint $unknown, $forge x" => "blueprint"),
            ("$team $swarm $crew x" => "team"),
            ("$ulw $autopilot x" => "ultrawork,autopilot"),
            ("$brief $autoforge x" => "deep-interview,autopilot"),
            ("$rcs:forge $roblox-ai-os-creator-skills:team x" => "forge,team"),
            ("$RCS:Forge x" => "forge"),
            ("$other:forge x" => ""),
            ("$rcs:forge:x y" => ""),
            ("$analyze $team x" => "analyze,team"),
            ("$cancel" => "cancel"),
            ("no token" => ""),
        ] {
            assert_eq!(found(prompt), skills, "{prompt}");
        }
    }

    #[test]
    fn a_token_within_code_does_not_count() {
        for (prompt, skills) in [
            ("what is `$forge`?", ""),
            ("``a ` $forge``", ""),
            ("```\n$forge\n```", ""),
            ("```\n$forge", ""),
            ("`$team` or $forge", "forge"),
            ("` $forge", "forge"),
            ("a ` b `` $forge `", ""),
            ("`a` $forge `b`", "forge"),
        ] {
            assert_eq!(found(prompt), skills, "{prompt}");
        }
        assert!(block("`$forge`").looks_explicit);
        // Many runs that nothing closes cost no more than their number allows.
        let runs: String = (0..600).map(|n| "`".repeat(n % 40 + 1) + " ").collect();
        assert!(block(&runs).found.is_empty());
    }

    #[test]
    fn a_token_is_told_as_it_was_typed() {
        assert_eq!(block("$Swarm $team").found[0].keyword, "$Swarm");
        assert!(block("echo $PATH").looks_explicit);
        assert!(!block("echo 5$").looks_explicit);
    }
}

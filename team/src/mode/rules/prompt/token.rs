//! `$skill` tokens. A token is `$`, a letter, then letters, digits and hyphens. After a `:` follows the name in a namespace.
//!
//! Only tokens in a row at the start of a prompt count, after white space and a prefix that passes the gate. Variables in
//! prose, code and logs look like tokens, so later tokens are ignored. A row that precedes an operator is ignored too. An
//! unknown token in the row is skipped.

use crate::mode::prelude::*;
use crate::mode::rules::prompt::is_word;
use crate::mode::rules::prompt::keyword::behind_force;

/// Namespaces of skills.
const NAMESPACES: [&str; 2] = ["rcs", "roblox-ai-os-creator-skills"];
/// Punctuation that may follow a token before white space or the end of the prompt.
const MARKS: [char; 4] = [':', ',', '.', '!'];
/// Operators of programming languages. A row of tokens before an operator is code.
const OPERATORS: [&str; 18] = [
    "=", "!=", "->", "-=", "?", "|", "&", ";", "<", ">", "+", "*", "%", ". ", ",", ")", "]", "}",
];

/// A `$name`, which may be a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'a> {
    /// Text of the token, with the `$`.
    text: &'a str,
    /// The text of the prompt after the token.
    behind: &'a str,
}

impl Token<'_> {
    /// Returns true if white space, punctuation or the end of the prompt follows the token. `$team->x` and `$team[0]` are
    /// expressions, not tokens.
    fn is_whole(&self) -> bool {
        let behind = self.behind.trim_start_matches(MARKS);
        behind.is_empty() || behind.starts_with(char::is_whitespace)
    }

    fn skill(&self) -> Option<Skill> {
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

/// Returns true if a text contains a token of a known or unknown skill.
pub fn has_token(text: &str) -> bool {
    let mut before = None;
    text.char_indices().any(|(at, letter)| {
        let begins = !before.replace(letter).is_some_and(is_word);
        begins && text.get(at..).and_then(token).is_some()
    })
}

/// Returns the token at the start of a text.
fn token(text: &str) -> Option<Token<'_>> {
    let rest = text.strip_prefix('$')?;
    let mut length = name_length(rest)?;
    // If no name follows the colon, the colon is not part of the token.
    while let Some(behind) = rest.get(length..).and_then(|rest| rest.strip_prefix(':')) {
        match name_length(behind) {
            Some(more) => length += 1 + more,
            None => break,
        }
    }
    let name = rest.get(..length)?.trim_end_matches('-');
    let behind = rest.get(name.len()..)?;
    if behind.starts_with(is_word) {
        return None;
    }
    Some(Token {
        text: text.get(..=name.len())?,
        behind,
    })
}

/// Returns the length of the name at the start of a text.
fn name_length(text: &str) -> Option<usize> {
    let begins = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    begins.then(|| end.unwrap_or(text.len()))
}

/// Returns the skills that the tokens at the start of a prompt name, in order and without duplicates.
pub fn at_head(prompt: &str) -> Vec<KeywordMatch> {
    let mut found: Vec<KeywordMatch> = Vec::new();
    let mut behind = behind_force(prompt);
    while let Some(token) = token(behind.trim_start()).filter(Token::is_whole) {
        if let Some(skill) = token.skill()
            && found.iter().all(|found| found.skill != skill)
        {
            found.push(KeywordMatch::new(token.text, skill));
        }
        behind = token.behind;
    }
    let next = behind.trim_start();
    let is_apart = next.len() < behind.len();
    if is_apart && OPERATORS.iter().any(|sign| next.starts_with(sign)) {
        found.clear();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(prompt: &str) -> String {
        let found = at_head(prompt);
        let names: Vec<&str> = found.iter().map(|found| found.skill.name()).collect();
        names.join(",")
    }

    #[test]
    fn a_token_is_a_dollar_and_a_name() {
        for (text, first) in [
            ("$forge", "$forge"),
            ("$FORGE!", "$FORGE"),
            ("$deep-interview.", "$deep-interview"),
            ("$forge-", "$forge"),
            ("$forge--x", "$forge--x"),
            ("$forge: do", "$forge"),
            ("$rcs:forge:", "$rcs:forge"),
            ("$a:b:c", "$a:b:c"),
            ("$forge$team", "$forge"),
            ("$PATH", "$PATH"),
        ] {
            assert_eq!(token(text).unwrap().text, first, "{text}");
            assert!(has_token(&format!("ü {text} ü")), "{text}");
        }
        for text in [
            "$ forge", "$1forge", "$forge_x", "$forgeé", "$MY_VAR", "$", "", "forge",
        ] {
            assert_eq!(token(text), None, "{text}");
            assert!(!has_token(text), "{text}");
        }
        for text in ["cost$forge", "é$forge", "5$"] {
            assert!(!has_token(text), "{text}");
        }
        assert!(has_token("$$forge") && has_token("`$forge`"));
    }

    #[test]
    fn the_run_at_the_head_counts_in_its_order() {
        for (prompt, skills) in cases![
            ("$blueprint $team $forge ship this fix" => "blueprint,team,forge"),
            ("$blueprint\n\t $forge x" => "blueprint,forge"),
            (" \n$forge x" => "forge"),
            ("force: $forge x" => "forge"),
            ("Force:$team" => "team"),
            ("! $forge x" => "forge"),
            ("!$forge" => "forge"),
            ("$blueprint, $forge x" => "blueprint"),
            ("$blueprint and $forge x" => "blueprint"),
            ("$blueprint ($forge) x" => "blueprint"),
            ("$forge $brief->title is null" => "forge"),
            ("$blueprint $rcs:unknown $forge x" => "blueprint,forge"),
            ("$unknown $forge x" => "forge"),
            ("$blueprint $unknown, $forge x" => "blueprint"),
            ("$team $swarm $crew x" => "team"),
            ("$ulw $autopilot x" => "ultrawork,autopilot"),
            ("$brief $autoforge x" => "deep-interview,autopilot"),
            ("$rcs:forge $roblox-ai-os-creator-skills:team x" => "forge,team"),
            ("$RCS:Forge x" => "forge"),
            ("$analyze $team x" => "analyze,team"),
            ("$cancel" => "cancel"),
            ("$forge... x" => "forge"),
            ("$forge - x" => "forge"),
            ("$forge .github/x.yml" => "forge"),
        ] {
            assert_eq!(found(prompt), skills, "{prompt}");
        }
    }

    #[test]
    fn a_token_anywhere_else_counts_for_nothing() {
        for prompt in [
            "no token",
            "please run $team now",
            "please $forge it",
            "($forge) x",
            "\"$forge\" x",
            "`$forge` x",
            "```\n$forge\n```",
            "> $forge x",
            "- $forge x",
            "$unknown, then $forge x",
            "$other:forge x",
            "$rcs:forge:x y",
            "force $forge x",
            "force: please $forge x",
            "!! $forge x",
            "$$forge x",
            "${forge} x",
        ] {
            assert_eq!(found(prompt), "", "{prompt}");
        }
    }

    #[test]
    fn an_expression_at_the_head_counts_for_nothing() {
        for prompt in [
            "$team->members is null",
            "$team['id'] is null",
            "$team.members is null",
            "$team::find() fails",
            "$forge(1)",
            "$forge/bin is missing",
            "$forge$team",
            "$forge.$team",
            "$forge;",
            "$forge?",
            "$forge's",
            "$team = Team::find(1);",
            "$team\n = null",
            "$team -> members",
            "$brief ?? ''",
            "$team && $crew",
            "$brief . ''",
            "$team != null",
            "$brief | jq .",
        ] {
            assert_eq!(found(prompt), "", "{prompt}");
        }
    }

    #[test]
    fn a_token_is_told_as_it_was_typed() {
        assert_eq!(at_head("$Swarm $team")[0].keyword, "$Swarm");
    }
}

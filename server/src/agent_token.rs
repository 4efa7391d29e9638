//! Tokens of agents on other machines: `TEAM~AGENT~SECRET`. The secret is 256 random bits as hex digits. The team's log holds
//! the digest of the whole token.

use std::io;

/// Separator of the parts of a token. Names of teams and agents cannot contain this character.
const SEPARATOR: char = '~';
/// Number of hex digits in a secret.
const SECRET_DIGITS: usize = 64;

/// Team and agent in a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSubject<'a> {
    /// Name of the team.
    pub team: &'a str,
    /// Name of the agent.
    pub agent: &'a str,
}

/// Creates a token for an agent of a team, with a random secret.
pub fn new(team: &str, agent: &str) -> io::Result<String> {
    let secret = crate::token::new()?;
    Ok(format!("{team}{SEPARATOR}{agent}{SEPARATOR}{secret}"))
}

/// Returns the digest of a token, as the team's log stores it.
pub fn digest(token: &str) -> blake3::Hash {
    blake3::hash(token.as_bytes())
}

/// Splits a token into team and agent without verifying the token. Returns `None` if the text is not a token.
pub fn named(token: &str) -> Option<TokenSubject<'_>> {
    let mut parts = token.split(SEPARATOR);
    let (team, agent, secret) = (parts.next()?, parts.next()?, parts.next()?);
    let sound =
        secret.len() == SECRET_DIGITS && secret.bytes().all(|digit| digit.is_ascii_hexdigit());
    let whole = parts.next().is_none() && !team.is_empty() && !agent.is_empty();
    (sound && whole).then_some(TokenSubject { team, agent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_team_and_its_agent() {
        for (team, agent) in [("demo", "ada"), ("a.b", "c-d"), ("x", "y_")] {
            let token = new(team, agent).unwrap();
            assert_eq!(named(&token), Some(TokenSubject { team, agent }));
            assert_ne!(digest(&token), digest(&new(team, agent).unwrap()));
        }
        let secret = "0".repeat(SECRET_DIGITS);
        for other in [
            secret.clone(),
            format!("demo~{secret}"),
            format!("demo~~{secret}"),
            format!("~ada~{secret}"),
            format!("demo~ada~{secret}x"),
            format!("demo~ada~{}g", &secret[1..]),
            format!("demo~ada~{secret}~"),
        ] {
            assert_eq!(named(&other), None, "{other}");
        }
    }
}

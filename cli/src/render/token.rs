//! Renders tokens of agents.

use crate::render::prelude::*;
use teamlog_team::agent_token::{TokenListAnswer, TokenShown};

/// Renders rows of `token  agent  scope  added  revoked`.
pub fn list(answer: &TokenListAnswer, view: &View) -> Vec<String> {
    match answer.tokens.is_empty() {
        true => vec!["no agent has a token".to_owned()],
        false => rows(&answer.tokens, view),
    }
}

pub fn rows(tokens: &[TokenShown], view: &View) -> Vec<String> {
    let head = titles(["token", "agent", "scope", "added", "revoked"]);
    let rows = tokens.iter().map(|token| row(token, view));
    lines(std::iter::once(head).chain(rows), 0, view)
}

fn row(token: &TokenShown, view: &View) -> Vec<Cell> {
    let signed = |by: &str, at: &str| format!("{} by {by}", view.ago_of(at));
    let revoked = token.revoked_by.as_deref().zip(token.revoked_at.as_deref());
    vec![
        styled(Style::Bold, &token.token_id),
        plain(&token.agent),
        plain(token.scope.name()),
        plain(signed(&token.added_by, &token.added_at)),
        match revoked {
            Some((by, at)) => styled(Style::Warn, signed(by, at)),
            None if token.unaccepted => styled(Style::Warn, "not accepted here"),
            None => plain(""),
        },
    ]
}

/// Returns a note about tokens that came with an imported log and are not valid here. The note has the command that
/// accepts these tokens.
pub fn unaccepted(team: &str, tokens: &[TokenShown]) -> Vec<String> {
    let token = |token: &TokenShown| {
        let (id, agent) = (visible(&token.token_id), visible(&token.agent));
        format!("    {id} of {agent} ({})", token.scope.name())
    };
    let mut shown: Vec<String> = tokens.iter().map(token).collect();
    if !shown.is_empty() {
        let team = visible(team);
        let about = "  tokens of the log that are not valid here until you accept them with";
        shown.insert(0, format!("{about}: teamlog token accept {team} TOKEN"));
    }
    shown
}

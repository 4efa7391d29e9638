//! What somebody has to see to, with what only the daemon knows.

use super::problem::Problem;
use super::request::RequestContext;
use crate::served::{Condition, DAMAGED, JOURNAL_DAMAGED};
use teamlog_team::Team;
use teamlog_team::attention::{Attention, AttentionAnswer, AttentionItem, AttentionKind};
use teamlog_team::shell::quoted;

/// `GET /v1/attention`. That the log is damaged comes first, and takes the place of the last item of a full list. It is
/// known of now only: an answer about the past does not have it.
pub fn list(
    asked: Attention,
    team: &mut Team,
    request: &RequestContext<'_>,
) -> Result<AttentionAnswer, Problem> {
    let damage = damage(team.name(), request);
    let mut answer = match team.attention(&asked) {
        // What else there is cannot be read then.
        Err(_) if matches!(damage, Some((DAMAGED, _))) => {
            AttentionAnswer::unreadable(team.name(), request.now())
        }
        read => read?,
    };
    if let Some((code, why)) = damage {
        let name = quoted(team.name());
        let command = match code {
            JOURNAL_DAMAGED => format!("teamlog journal check {name} --deep"),
            _ => format!("teamlog doctor check {name}"),
        };
        let item = AttentionItem::new(AttentionKind::Damaged, why, command);
        answer.add_first(item, &asked);
    }
    Ok(answer)
}

/// What is wrong with the log or its journal, as the daemon saw it last, and the code of that.
fn damage(team: &str, request: &RequestContext<'_>) -> Option<(&'static str, String)> {
    if request.is_of_the_past() {
        return None;
    }
    match request.served.conditions().remove(team) {
        Some(Condition::Unready { code, why }) if [DAMAGED, JOURNAL_DAMAGED].contains(&code) => {
            Some((code, why))
        }
        _ => None,
    }
}

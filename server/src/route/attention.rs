//! Attention items, including two kinds that only the daemon knows: a damaged log and a damaged journal.

use super::problem::Problem;
use super::request::RequestContext;
use crate::served::{Condition, DAMAGED, JOURNAL_DAMAGED};
use teamlog_team::Team;
use teamlog_team::attention::{Attention, AttentionAnswer, AttentionItem, AttentionKind};
use teamlog_team::shell::quoted;

/// `GET /v1/attention`. Damage is the first item. In a full list, damage replaces the last item. An answer about the past has
/// no item for damage, because only the current damage is known.
pub fn list(
    asked: Attention,
    team: &mut Team,
    request: &RequestContext<'_>,
) -> Result<AttentionAnswer, Problem> {
    let damage = damage(team.name(), request);
    let mut answer = match team.attention(&asked) {
        // If the log is damaged, the other items cannot be read.
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

/// Returns code and description of the damage of the log or journal, as of the daemon's last check.
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

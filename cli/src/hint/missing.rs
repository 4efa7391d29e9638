//! Hints after a team or a data root was not found.

use super::{Caller, Place};
use crate::root;
use teamlog_team::shell::quoted;

/// Most data roots that a hint names.
const NAMED_MAX: usize = 3;

/// Returns the command that creates the missing team or root, or other data roots that may be meant. An agent gets no
/// `init`: its operator made its team, so the data root lies elsewhere.
pub(super) fn to_create(what: &str, init: &str, caller: &Caller<'_>) -> Option<String> {
    let Place::Local {
        data_root,
        is_certain,
        others,
    } = &caller.place
    else {
        return None;
    };
    let others = others();
    if !others.is_empty() {
        let named = others.iter().take(NAMED_MAX).map(|root| {
            let root = quoted(&root.display().to_string());
            let program = caller.program.split(' ').next().unwrap_or_default();
            format!("another data root may be meant: {program} --data-root {root} teams")
        });
        return Some(named.collect::<Vec<_>>().join("\n"));
    }
    if !caller.is_operator {
        return Some(
            "if the team lies elsewhere, name its data root with --data-root or TEAMLOG_DATA_ROOT"
                .to_owned(),
        );
    }
    // `init` would refuse to put logs among other files.
    if !is_certain && root::holds_foreign_teams(data_root) {
        let teams = data_root.join("teams");
        return Some(format!(
            "{} holds other files than logs; name another data root with --data-root or TEAMLOG_DATA_ROOT",
            teams.display()
        ));
    }
    Some(format!("{what}: {}", caller.command(init)))
}

/// Returns the hint for a team that the data root lacks.
pub(super) fn team(team: &str, caller: &Caller<'_>) -> Option<String> {
    let Place::Local { data_root, .. } = &caller.place else {
        return None;
    };
    let place = format!("the data root is {}", data_root.display());
    match to_create("to create it", &format!("init {team}"), caller) {
        Some(more) => Some(format!("{place}\n{more}")),
        None => Some(place),
    }
}

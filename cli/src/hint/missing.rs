//! Hints after a team or a data root was not found.

use super::{Caller, Place};
use crate::root;
use std::path::PathBuf;
use teamlog_team::shell::quoted;

/// Maximum number of data roots that a hint names.
const NAMED_MAX: usize = 3;

/// Returns the command that creates the missing team or data root, or commands for other data roots that the caller may mean.
/// An agent gets no `init`: its operator created its team, so the data root must be elsewhere.
pub(super) fn to_create(what: &str, init: &str, caller: &Caller<'_>) -> Option<String> {
    let Place::Local {
        data_root,
        is_certain,
        others,
    } = &caller.place
    else {
        return None;
    };
    if let Some(others) = elsewhere(&others(), caller) {
        return Some(others);
    }
    if !caller.is_operator {
        return Some(
            "if the team lies elsewhere, name its data root with --data-root or TEAMLOG_DATA_ROOT"
                .to_owned(),
        );
    }
    // `init` would refuse to put logs into a directory with other files.
    if !is_certain && root::holds_foreign_teams(data_root) {
        let teams = data_root.join("teams");
        return Some(format!(
            "{} exists and holds files that are not logs; name another data root with --data-root or TEAMLOG_DATA_ROOT",
            teams.display()
        ));
    }
    Some(format!("{what}: {}", caller.command(init)))
}

fn listed(caller: &Caller<'_>) -> String {
    format!("list the teams with: {}", caller.command("teams"))
}

/// Returns a command for each other data root that the caller may mean.
fn elsewhere(others: &[PathBuf], caller: &Caller<'_>) -> Option<String> {
    let named = others.iter().take(NAMED_MAX).map(|root| {
        let root = quoted(&root.display().to_string());
        let program = caller.program.split(' ').next().unwrap_or_default();
        format!("another data root may be meant: {program} --data-root {root} teams")
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| named.join("\n"))
}

/// Returns the hint for a team that the data root does not have. If the root has other teams, the hint does not create the
/// team: either the name is wrong, or another data root has the team.
pub(super) fn team(team: &str, has_others: bool, caller: &Caller<'_>) -> Option<String> {
    let Place::Local {
        data_root, others, ..
    } = &caller.place
    else {
        // A token names one team, and the daemon lists no other teams for this token.
        return Some("ask the operator for a token of that team".to_owned());
    };
    if has_others {
        return elsewhere(&others(), caller).or_else(|| Some(listed(caller)));
    }
    let place = format!("the data root is {}", data_root.display());
    match to_create("to create it", &format!("init {team}"), caller) {
        Some(more) => Some(format!("{place}\n{more}")),
        None => Some(place),
    }
}

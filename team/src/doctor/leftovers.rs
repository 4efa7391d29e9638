//! Check `leftovers`: staging directories that killed commands left in the data root, and derived files of older
//! versions.

use super::*;
use crate::handle::staging::{Leftover, Purpose};
use crate::projections::live::old_derived;

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let leftovers = seen.root.leftovers().map_err(error_text)?;
    let old = old_derived(seen.root.storage().as_ref(), &seen.dir).map_err(error_text)?;
    let left = leftovers.iter().filter(|left| left.holder.is_none());
    let mut found: Vec<String> = left.map(description).collect();
    let mut commands = Vec::new();
    if !found.is_empty() {
        commands.push(format!("{} doctor clean --yes", seen.check.program));
    }
    if !old.is_empty() {
        let what = match old.len() {
            1 => "1 directory".to_owned(),
            many => format!("{many} directories"),
        };
        found.push(format!("{what} with derived files of an older teamlog"));
        commands.push(seen.rehydrate());
    }
    let mut check = match found.is_empty() {
        true => Check::healthy("no killed command left files"),
        false => Check::warn(found.join("; ")),
    };
    check.recommendations = commands;
    let old: Vec<_> = old.iter().map(|path| path.to_string_lossy()).collect();
    Ok(check.details(json!({"staging": leftovers, "old_derived": old})))
}

fn description(leftover: &Leftover) -> String {
    let readable = match leftover.readable {
        true => ", whose events can still be read",
        false => "",
    };
    let command = match leftover.purpose {
        Purpose::New => "creation, import or restore",
        Purpose::Purged => "purge",
    };
    let (path, team) = (&leftover.path, &leftover.team);
    format!("{path} was left by an interrupted {command} of team {team}{readable}")
}

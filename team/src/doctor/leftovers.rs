//! What killed commands and older versions left: staging directories of the data root, derived files that nobody reads.

use super::scene::Scene;
use super::{Check, Health};
use crate::handle::staging::{Leftover, Purpose};
use crate::projections::live::old_derived;

const NAME: &str = "leftovers";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let leftovers = match scene.root.leftovers() {
        Ok(leftovers) => leftovers,
        Err(failure) => return Check::not_made(NAME, &failure.to_string()),
    };
    let old = match old_derived(scene.root.storage().as_ref(), &scene.dir) {
        Ok(old) => old,
        Err(error) => return Check::not_made(NAME, &error.to_string()),
    };
    let left: Vec<&Leftover> = leftovers
        .iter()
        .filter(|leftover| leftover.holder.is_none())
        .collect();
    let mut said: Vec<String> = left.iter().map(|leftover| told(leftover)).collect();
    if !old.is_empty() {
        let what = if old.len() == 1 {
            "directory"
        } else {
            "directories"
        };
        said.push(format!(
            "{} {what} of derived files of an older teamlog",
            old.len()
        ));
    }
    let mut check = match said.is_empty() {
        true => Check::healthy(NAME, "no killed command left anything"),
        false => Check::new(NAME, Health::Warn, said.join("; ")),
    };
    if !left.is_empty() {
        check = check.recommend(format!("{} doctor clean --yes", scene.program()));
    }
    if !old.is_empty() {
        check = check.recommend(scene.rehydrate());
    }
    let old: Vec<String> = old
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    check
        .detail(
            "staging",
            serde_json::to_value(&leftovers).unwrap_or_default(),
        )
        .detail("old_derived", old)
}

fn told(leftover: &Leftover) -> String {
    let readable = match leftover.readable {
        true => ", whose events can still be read",
        false => "",
    };
    let command = match leftover.purpose {
        Purpose::New => "creating, importing or restoring",
        Purpose::Purged => "purging",
    };
    format!(
        "{} was left when {command} team {} was cut short{readable}",
        leftover.path, leftover.team
    )
}

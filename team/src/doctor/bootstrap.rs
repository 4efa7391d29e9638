//! Runs of the bootstrap contract whose time-outs nobody recorded: a timer is missing that runs `tick`.

use super::scene::{Scene, is_closed};
use super::{Check, Health};
use crate::projections::bootstrap::RunShown;
use serde_json::{Value, json};

const NAME: &str = "bootstrap";
/// Runs that are asked for at most.
const OVERDUE_MAX: usize = 1_000;
/// No more of them than this are listed.
const LISTED_MAX: usize = 20;

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let live = match &scene.fresh {
        Ok(live) => live,
        Err(why) => return Check::not_made(NAME, why),
    };
    let now = scene.root.options().clock.now();
    let overdue = match live.bootstrap_due_by(now, OVERDUE_MAX) {
        // Nothing times out in a team that was closed.
        Ok(_) if is_closed(live) => Vec::new(),
        Ok(overdue) => overdue,
        Err(error) => return Check::not_made(NAME, &error.to_string()),
    };
    let shown: Vec<RunShown> = overdue.iter().map(RunShown::from).collect();
    let check = match shown.first() {
        None => Check::healthy(NAME, "no run waits for what timed out"),
        Some(first) => {
            let summary = format!(
                "{} runs wait for what timed out: run {} in {} since {}",
                shown.len(),
                first.run,
                first.state.name(),
                first.due_at.as_deref().unwrap_or("-")
            );
            Check::new(NAME, Health::Warn, summary).recommend(scene.command("tick", ""))
        }
    };
    let listed: Vec<Value> = shown
        .iter()
        .take(LISTED_MAX)
        .map(|run| json!({"run": run.run, "state": run.state, "due_at": run.due_at}))
        .collect();
    check.detail("overdue", shown.len()).detail("runs", listed)
}

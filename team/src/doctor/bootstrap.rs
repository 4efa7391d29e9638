//! Check `bootstrap`: bootstrap runs with a due timeout that is not recorded, because no timer runs `tick`.

use super::*;
use crate::projections::bootstrap::RunShown;

/// Maximum number of runs that are read.
const OVERDUE_MAX: usize = 1_000;

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let live = borrowed(&seen.fresh)?;
    let now = seen.root.options().clock.now();
    let mut overdue = live
        .bootstrap_due_by(now, OVERDUE_MAX)
        .map_err(error_text)?;
    // In a closed team no run can time out.
    if is_closed(live) {
        overdue.clear();
    }
    let shown: Vec<RunShown> = overdue.iter().map(RunShown::from).collect();
    let check = match shown.first() {
        None => Check::healthy("no time-out of a run is overdue"),
        Some(first) => Check::warn(format!(
            "{} runs have an overdue time-out: run {} in {} since {}",
            shown.len(),
            first.run,
            first.state.name(),
            first.due_at.as_deref().unwrap_or("-")
        ))
        .recommend(seen.command("tick", "")),
    };
    let listed = shown.iter().take(LISTED_MAX);
    let listed: Vec<Value> = listed
        .map(|run| json!({"run": run.run, "state": run.state, "due_at": run.due_at}))
        .collect();
    Ok(check.details(json!({"overdue": shown.len(), "runs": listed})))
}

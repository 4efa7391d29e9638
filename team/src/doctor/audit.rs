//! Checks that compare the stored state with the log. `rehydrate` repairs every fault.

use super::*;
use crate::projections::audit::Finding;

/// Compares the acks and unread counts of the message index with all acks in the log.
pub(super) fn acks(seen: &Observations<'_>) -> Observation<Check> {
    Ok(judge(&borrowed(&seen.audit)?.acks, "acks and counts", seen))
}

/// Compares the message index with inboxes and inbox files, for a sample of messages.
pub(super) fn inbox(seen: &Observations<'_>) -> Observation<Check> {
    Ok(judge(
        &borrowed(&seen.audit)?.inbox,
        "lookups of messages",
        seen,
    ))
}

/// Verifies every byte of the derived store. For a sample of events, also checks that the index finds the event by its
/// position and by each of its refs.
pub(super) fn index(seen: &Observations<'_>) -> Observation<Check> {
    let found = borrowed(&seen.found)?;
    if let Some(damage) = &found.damage {
        // Only a warning: damage is detected before the store is used, so the damage costs time but
        // makes no answer wrong.
        let check = Check::warn(damage.clone()).recommend(seen.rehydrate());
        return Ok(check.details(json!({"runs": found.runs})));
    }
    let check = judge(&borrowed(&seen.audit)?.index, "lookups of events", seen);
    Ok(check.details(json!({"runs": found.runs, "covered": found.covered})))
}

/// Checks that each task snapshot and its file contain the task's newest message, by `(created_at, id)`.
pub(super) fn snapshots(seen: &Observations<'_>) -> Observation<Check> {
    let finding = &borrowed(&seen.audit)?.snapshots;
    let check = judge(finding, "task snapshots", seen);
    if seen.sampled.is_some() {
        // Stops here, because the check `views` examines the files of the sample.
        return Ok(check);
    }
    let (true, Ok(log), Ok(live)) = (finding.faults.is_empty(), &seen.log, &seen.fresh) else {
        return Ok(check);
    };
    // The check `views` reports files that a crash left out of date.
    if !seen.views_are_current(live) || !keeps_views(live) {
        return Ok(check);
    }
    let behind = files_behind(&ViewsSource::new(log), live).map_err(error_text)?;
    let Some(first) = behind.first() else {
        return Ok(check);
    };
    let count = behind.len();
    let summary = format!("{count} task files differ from their task's snapshot: {first}");
    let listed: Vec<&String> = behind.iter().take(LISTED_MAX).collect();
    let check = Check::unhealthy(summary).recommend(seen.rehydrate());
    Ok(check.details(json!({"wrong": count, "faults": listed})))
}

fn files_behind(views: &ViewsSource, live: &Live) -> crate::projections::Result<Vec<String>> {
    let mut behind = Vec::new();
    for (id, (message, version)) in views.snapshots()? {
        let Some(task) = live.task(&id)? else {
            continue;
        };
        if (&task.last_message_id, task.snapshot_version) != (&message, version) {
            behind.push(format!(
                "tasks/{id}.json is at version {version} ({message}), the snapshot at {} ({})",
                task.snapshot_version, task.last_message_id
            ));
        }
    }
    Ok(behind)
}

fn judge(finding: &Finding, what: &str, seen: &Observations<'_>) -> Check {
    let wrong = finding.faults.len() as u64 + finding.omitted;
    let checked = finding.checked;
    let check = match finding.faults.first() {
        None => Check::healthy(format!("{checked} {what} agree with the log")),
        Some(first) => Check::unhealthy(format!(
            "{wrong} of {checked} {what} disagree with the log: {first}"
        ))
        .recommend(seen.rehydrate()),
    };
    check.details(json!({"checked": checked, "wrong": wrong, "faults": finding.faults}))
}

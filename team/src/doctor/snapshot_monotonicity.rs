//! Task snapshots never fall behind or go back: each is at the newest message of its task, by `(created_at, id)`, and its
//! file is where the snapshot is.

use super::scene::{Scene, keeps_views};
use super::{Check, Health, findings};
use crate::projections::Live;
use crate::projections::views::ViewsSource;

const NAME: &str = "snapshot_monotonicity";
/// No more files than this are named.
const LISTED_MAX: usize = 20;

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let audit = match &scene.audit {
        Ok(audit) => audit,
        Err(why) => return Check::not_made(NAME, why),
    };
    let check = findings(NAME, &audit.snapshots, "task snapshots", scene);
    if check.status != Health::Healthy {
        return check;
    }
    let (Ok(log), Ok(live)) = (&scene.log, &scene.fresh) else {
        return check;
    };
    // Files that a crash left behind are the views' business.
    let current = matches!(scene.cursor, Ok(Some(seq)) if seq == live.seq());
    if !current || !keeps_views(live) {
        return check;
    }
    let behind = match files_behind(&ViewsSource::new(log), live) {
        Ok(behind) => behind,
        Err(error) => return Check::not_made(NAME, &error.to_string()),
    };
    match behind.first() {
        None => check,
        Some(first) => {
            let summary = format!(
                "{} task files are not at their task's snapshot: {first}",
                behind.len()
            );
            let listed: Vec<&String> = behind.iter().take(LISTED_MAX).collect();
            Check::new(NAME, Health::Unhealthy, summary)
                .detail("wrong", behind.len())
                .detail("faults", serde_json::json!(listed))
                .recommend(scene.rehydrate())
        }
    }
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

//! Check `sidecars`: the small files next to the segments. These are the identity, the head, the lock file, the cursor of the views, and
//! the manifest of the derived store.

use super::*;
use crate::projections::live::DERIVED_DIR;
use teamlog_engine::internals::layout::{HEAD_FILE, LOCK_FILE, LOG_FILE};
use teamlog_engine::verify::Problem;

const DERIVED_LOCK_FILE: &str = "derived.lock";
const VIEWS_FILE: &str = "views";

/// A fault in a file: name of the file, severity, reason.
type Fault = (&'static str, Health, String);

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let log = match &seen.log {
        Ok(log) => log,
        Err(why) => {
            return Ok(Check::unhealthy(why.clone())
                .details(json!({"faults": [{"file": LOG_FILE, "why": why}]}))
                .recommend(seen.salvage()));
        }
    };
    let head = head(seen);
    let of_head = head.as_ref();
    let faults: Vec<Fault> = of_head
        .map(|head| (HEAD_FILE, head.status, head.summary.clone()))
        .into_iter()
        .chain(lock_file(seen))
        .chain(cursor(&ViewsSource::new(log), seen))
        .chain(derived_lock(seen))
        .chain(manifest(seen))
        .collect();
    let Some(worst) = faults.iter().map(|(_, health, _)| *health).max() else {
        let sound = "identity, head, lock file, cursor of the views and manifest are intact";
        return Ok(Check::healthy(sound));
    };
    let listed = faults
        .iter()
        .map(|(file, _, why)| json!({"file": file, "why": why}));
    let listed: Vec<Value> = listed.collect();
    let summary: Vec<&str> = faults.iter().map(|(_, _, why)| why.as_str()).collect();
    let mut check = Check::new(worst, summary.join("; ")).details(json!({"faults": listed}));
    check.recommendations = head.map(|head| head.recommendations).unwrap_or_default();
    if check.recommendations.is_empty() {
        check.recommendations.push(seen.rehydrate());
    }
    Ok(check)
}

fn head(seen: &Observations<'_>) -> Option<Check> {
    match &seen.report {
        Ok(report) => {
            let of_head = |problem: &&Problem| problem.file == HEAD_FILE;
            let problems: Vec<&Problem> = report.problems.iter().filter(of_head).collect();
            segments::judge(&problems, seen)
        }
        // Verification reads the head first, so an error of the verification can concern the head.
        Err(why) => Some(Check::unhealthy(why.clone()).recommend(seen.salvage())),
    }
}

/// Returns true if the path is a directory, false if it is anything else, `None` if nothing exists at the path.
fn is_dir(seen: &Observations<'_>, name: impl AsRef<Path>) -> Result<Option<bool>, std::io::Error> {
    let stat = seen.root.storage().stat(&seen.dir.join(name))?;
    Ok(stat.map(|stat| stat.is_dir))
}

fn lock_file(seen: &Observations<'_>) -> Option<Fault> {
    let (health, why) = match is_dir(seen, LOCK_FILE) {
        Ok(Some(false)) => return None,
        Ok(Some(true)) => {
            let why = "lock is a directory: remove it, or no command can write";
            (Health::Unhealthy, why.to_owned())
        }
        Ok(None) => {
            let why = "the lock file is missing: the next writer creates it";
            (Health::Warn, why.to_owned())
        }
        Err(error) => (Health::Unhealthy, format!("lock: {error}")),
    };
    Some((LOCK_FILE, health, why))
}

fn cursor(views: &ViewsSource, seen: &Observations<'_>) -> Option<Fault> {
    let (health, why) = match (&seen.cursor, views.has_cursor()) {
        // Every writer fails at this file, so the views are no longer updated.
        (Err(why), _) => (Health::Unhealthy, why.clone()),
        (Ok(None), Ok(true)) => {
            let why = "the cursor of the views is damaged or belongs to another log: the next writer checks all views";
            (Health::Warn, why.to_owned())
        }
        (Ok(Some(seq)), _) => {
            let head = seen.reader.as_ref().ok()?.head().last_seq;
            if *seq <= head {
                return None;
            }
            let why = format!(
                "the views claim to contain event {seq}, but the log ends with event {head}"
            );
            (Health::Warn, why)
        }
        (Ok(None), _) => return None,
    };
    Some((VIEWS_FILE, health, why))
}

/// Checks the lock file of the derived store. The file is missing until the first run is written.
fn derived_lock(seen: &Observations<'_>) -> Option<Fault> {
    let is_dir = is_dir(seen, DERIVED_LOCK_FILE).ok()??;
    let why = "derived.lock is a directory: remove it, or no derived file is written any more";
    is_dir.then(|| (DERIVED_LOCK_FILE, Health::Unhealthy, why.to_owned()))
}

fn manifest(seen: &Observations<'_>) -> Option<Fault> {
    let why = match is_dir(seen, DERIVED_DIR) {
        Ok(Some(false)) => {
            "derived is a file: the next writer replaces it by a directory".to_owned()
        }
        _ => {
            let why = seen.found.as_ref().ok()?.left_out.as_ref()?;
            format!("the derived store: {why}")
        }
    };
    Some((DERIVED_DIR, Health::Warn, why))
}

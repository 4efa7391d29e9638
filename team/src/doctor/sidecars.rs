//! The small files beside the segments: identity, head, lock file, cursor of the views, manifest of the derived store.

use super::scene::Scene;
use super::{Check, Health, segments};
use crate::projections::live::DERIVED_DIR;
use crate::projections::views::ViewsSource;
use serde_json::{Value, json};
use teamlog_engine::layout::{HEAD_FILE, LOCK_FILE, LOG_FILE};
use teamlog_engine::verify::Problem;

const NAME: &str = "sidecars";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let log = match &scene.log {
        Ok(log) => log,
        Err(why) => {
            return Check::new(NAME, Health::Unhealthy, why.clone())
                .detail("faults", json!([{"file": LOG_FILE, "why": why}]))
                .recommend(scene.salvage());
        }
    };
    let head = head(scene);
    let mut faults: Vec<(&str, Health, String)> = Vec::new();
    if head.status != Health::Healthy {
        faults.push((HEAD_FILE, head.status, head.summary.clone()));
    }
    faults.extend(lock_file(scene));
    faults.extend(cursor(&ViewsSource::new(log), scene));
    faults.extend(derived_lock(scene));
    faults.extend(manifest(scene));
    let Some(worst) = faults.iter().map(|(_, health, _)| *health).max() else {
        return Check::healthy(
            NAME,
            "identity, head, lock file, cursor of the views and manifest are sound",
        );
    };
    let listed: Vec<Value> = faults
        .iter()
        .map(|(file, _, why)| json!({"file": file, "why": why}))
        .collect();
    let summary: Vec<&str> = faults.iter().map(|(_, _, why)| why.as_str()).collect();
    let mut check = Check::new(NAME, worst, summary.join("; ")).detail("faults", listed);
    check.recommendations = head.recommendations;
    let rehydrate = scene.rehydrate();
    if check.recommendations.is_empty() {
        check.recommendations.push(rehydrate);
    }
    check
}

fn head(scene: &Scene<'_>) -> Check {
    let healthy = Check::healthy(NAME, "");
    match &scene.report {
        Ok(report) => {
            let problems: Vec<&Problem> = report
                .problems
                .iter()
                .filter(|problem| problem.file == HEAD_FILE)
                .collect();
            segments::judge(healthy, &problems, scene)
        }
        // Verification reads the head before anything else; where it fails, the log's error says at what.
        Err(why) => Check::new(NAME, Health::Unhealthy, why.clone()).recommend(scene.salvage()),
    }
}

fn lock_file(scene: &Scene<'_>) -> Option<(&'static str, Health, String)> {
    match scene.root.storage().stat(&scene.dir.join(LOCK_FILE)) {
        Ok(Some(stat)) if !stat.is_dir => None,
        Ok(Some(_)) => {
            let why = "lock must be a file, but is a directory: nobody can write";
            Some((LOCK_FILE, Health::Unhealthy, why.to_owned()))
        }
        Ok(None) => {
            let why = "the lock file is missing: the next writer makes a new one";
            Some((LOCK_FILE, Health::Warn, why.to_owned()))
        }
        Err(error) => Some((LOCK_FILE, Health::Unhealthy, format!("lock: {error}"))),
    }
}

fn cursor(views: &ViewsSource, scene: &Scene<'_>) -> Option<(&'static str, Health, String)> {
    const FILE: &str = "views";
    match (&scene.cursor, views.has_cursor()) {
        // No writer gets past it: the views fall behind for good.
        (Err(why), _) => Some((FILE, Health::Unhealthy, why.clone())),
        (Ok(None), Ok(true)) => {
            let why = "the cursor of the views is damaged or another log's: the next writer looks at all views";
            Some((FILE, Health::Warn, why.to_owned()))
        }
        (Ok(Some(seq)), _) => {
            let head = scene.reader.as_ref().ok()?.head().last_seq;
            (*seq > head).then(|| {
                let why = format!("the views say that they contain event {seq}, but the log ends with event {head}");
                (FILE, Health::Warn, why)
            })
        }
        (Ok(None), _) => None,
    }
}

/// The derived store's own lock file. It comes with the first run, so that it is missing says nothing.
fn derived_lock(scene: &Scene<'_>) -> Option<(&'static str, Health, String)> {
    const FILE: &str = "derived.lock";
    let stat = scene.root.storage().stat(&scene.dir.join(FILE)).ok()??;
    stat.is_dir.then(|| {
        let why = "derived.lock must be a file, but is a directory: remove it, or nothing derived is written any more";
        (FILE, Health::Unhealthy, why.to_owned())
    })
}

fn manifest(scene: &Scene<'_>) -> Option<(&'static str, Health, String)> {
    let dir = scene.dir.join(DERIVED_DIR);
    if let Ok(Some(stat)) = scene.root.storage().stat(&dir)
        && !stat.is_dir
    {
        let why = "derived must be a directory, but is a file: the next writer puts a new one in its place";
        return Some((DERIVED_DIR, Health::Warn, why.to_owned()));
    }
    let found = scene.found.as_ref().ok()?;
    let why = found.left_out.as_ref()?;
    Some((
        DERIVED_DIR,
        Health::Warn,
        format!("the derived store: {why}"),
    ))
}

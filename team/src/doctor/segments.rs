//! The segments: every byte of the log against everything that vouches for it, as `verify` does.

use super::scene::Scene;
use super::{Check, Health};
use teamlog_engine::layout::HEAD_FILE;
use teamlog_engine::verify::{Kind, Problem, Severity};

const NAME: &str = "segments";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let report = match &scene.report {
        Ok(report) => report,
        Err(why) => return Check::not_made(NAME, why),
    };
    let problems: Vec<&Problem> = report
        .problems
        .iter()
        .filter(|problem| problem.file != HEAD_FILE)
        .collect();
    let whole = format!(
        "{} events in {} segments check, up to event {}",
        report.events, report.segments, report.last_seq
    );
    judge(Check::healthy(NAME, whole), &problems, scene).detail("last_seq", report.last_seq)
}

/// The check, or what the problems make of it.
pub(super) fn judge(healthy: Check, problems: &[&Problem], scene: &Scene<'_>) -> Check {
    let Some(first) = worst_first(problems) else {
        return healthy;
    };
    let summary = format!(
        "{} problems, the first: {} at byte {}: {}",
        problems.len(),
        first.file,
        first.offset,
        first.message
    );
    let check = match first.severity {
        // The segments are clean to their end, so whoever takes the lock makes a new head.
        Severity::Error if first.kind == Kind::DamagedHead && only_the_head(scene) => {
            Check::new(healthy.name, Health::Unhealthy, summary).recommend(scene.rehydrate())
        }
        Severity::Error => {
            Check::new(healthy.name, Health::Unhealthy, summary).recommend(scene.salvage())
        }
        Severity::Warning if first.kind == Kind::UnknownFile => {
            Check::new(healthy.name, Health::Warn, summary)
        }
        // What a crash left: whoever takes the lock next recovers it.
        Severity::Warning => {
            Check::new(healthy.name, Health::Warn, summary).recommend(scene.rehydrate())
        }
    };
    let listed = serde_json::to_value(problems).unwrap_or_default();
    check.detail("problems", listed)
}

fn worst_first<'a>(problems: &[&'a Problem]) -> Option<&'a Problem> {
    let error = problems
        .iter()
        .find(|problem| problem.severity == Severity::Error);
    let crash = problems
        .iter()
        .find(|problem| problem.kind != Kind::UnknownFile);
    error.or(crash).or(problems.first()).copied()
}

fn only_the_head(scene: &Scene<'_>) -> bool {
    scene.report.as_ref().is_ok_and(|report| {
        report
            .problems
            .iter()
            .all(|problem| problem.kind == Kind::DamagedHead)
    })
}

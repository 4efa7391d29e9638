//! Check `segments`: verifies every byte of the log, as `verify` does.

use super::*;
use teamlog_engine::internals::layout::HEAD_FILE;
use teamlog_engine::verify::{Problem, ProblemKind, Severity};

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let report = borrowed(&seen.report)?;
    let of_segments = |problem: &&Problem| problem.file != HEAD_FILE;
    let problems: Vec<&Problem> = report.problems.iter().filter(of_segments).collect();
    let rolled_back = || Some(Check::unhealthy(rolled_back(seen)?));
    let check = judge(&problems, seen)
        .or_else(rolled_back)
        .unwrap_or_else(|| {
            let (events, segments) = (report.events, report.segments);
            Check::healthy(match &seen.sampled {
                None => format!(
                    "{} in {} verified, up to event {}",
                    plural(events, "event"),
                    plural(segments, "segment"),
                    report.last_seq
                ),
                Some(sampled) => format!(
                    "{} of {} and the headers of {} verified",
                    sampled.events,
                    plural(events, "event"),
                    plural(segments, "segment")
                ),
            })
        });
    Ok(check.details(json!({"last_seq": report.last_seq})))
}

/// Returns the result for these problems of the log; `None` if there is no problem.
pub(super) fn judge(problems: &[&Problem], seen: &Observations<'_>) -> Option<Check> {
    let first = worst_first(problems)?;
    let (
        count,
        Problem {
            file,
            offset,
            message,
            ..
        },
    ) = (problems.len(), first);
    let count = plural(count as u64, "problem");
    let summary = format!("{count}, the first: {file} at byte {offset}: {message}");
    let (health, command) = match first.severity {
        // The segments are undamaged to their end, so the next writer writes a new head.
        Severity::Error if first.kind == ProblemKind::DamagedHead && only_the_head(seen) => {
            (Health::Unhealthy, Some(seen.rehydrate()))
        }
        // For a rollback, `keep_lost_events` adds the recommended command.
        Severity::Error if first.kind == ProblemKind::RolledBack => (Health::Unhealthy, None),
        Severity::Error => (Health::Unhealthy, Some(seen.salvage())),
        Severity::Warning if first.kind == ProblemKind::UnknownFile => (Health::Warn, None),
        // A crash left this problem, and the next writer repairs it.
        Severity::Warning => (Health::Warn, Some(seen.rehydrate())),
    };
    let mut check = Check::new(health, summary);
    check.recommendations.extend(command);
    Some(check.details(json!({"problems": problems})))
}

/// Describes the rollback of the log.
fn rolled_back(seen: &Observations<'_>) -> Option<String> {
    let rollback = seen.rollback.as_ref()?;
    Some(format!(
        "an older state of the log was put back: {rollback}"
    ))
}

fn worst_first<'a>(problems: &[&'a Problem]) -> Option<&'a Problem> {
    let mut all = problems.iter();
    let error = all.clone().find(|one| one.severity == Severity::Error);
    let crash = all.find(|one| one.kind != ProblemKind::UnknownFile);
    error.or(crash).or(problems.first()).copied()
}

fn only_the_head(seen: &Observations<'_>) -> bool {
    let of_head = |problem: &Problem| problem.kind == ProblemKind::DamagedHead;
    let report = seen.report.as_ref();
    report.is_ok_and(|report| report.problems.iter().all(of_head))
}

fn plural(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

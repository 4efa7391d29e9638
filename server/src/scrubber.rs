//! Scrubber: verifies whole logs in the background, one after another, so that damage is found even in events that are
//! never read.
//!
//! A log is verified at the start of the daemon, every hour, soon after an answer found damage, and on request. A request can
//! also include a full check of everything else. The scrubber also measures the disk usage of each team. A separate thread
//! compares journals with logs.

use crate::disk;
use crate::served::Served;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_team::Result;
use teamlog_team::doctor::DoctorCheck;
use teamlog_team::integrity::{Background, Check, CheckProgress};
use teamlog_team::log::verify::Severity;

/// Interval of verifications of a sound log.
const EVERY: Duration = Duration::from_secs(3600);
/// Interval of verifications of a damaged log. The interval is short, so that a repair of the log is noticed soon.
const WHILE_DAMAGED: Duration = Duration::from_secs(5);
/// Verification of a log takes at most one part in `SHARE` of the total time.
const SHARE: u32 = 10;
/// Interval at which the scrubber looks for due work.
const LOOK: Duration = Duration::from_millis(250);

/// Interval of measuring disk usage.
const MEASURE_EVERY: Duration = Duration::from_secs(60);

/// Maximum number of bytes per second that a comparison reads from a journal. The limit leaves capacity for other work of
/// the journal's servers.
const JOURNAL_BYTES_A_SECOND: usize = 4 << 20;
/// Time until the next comparison after a difference, or after a journal that did not answer.
const JOURNAL_AGAIN: Duration = Duration::from_secs(60);

/// Compares the journals of teams with their logs, one after another, until the daemon stops. Without this comparison, a changed group
/// would be noticed only when a new host joins, because a host reads each group of a journal only once.
pub(crate) fn compare_journals(served: &Arc<Served>) {
    while !served.is_stopping() {
        match served.to_compare() {
            Some(name) => compare(served, &name),
            None => std::thread::sleep(LOOK),
        }
    }
}

fn compare(served: &Served, name: &str) {
    let began = Instant::now();
    let found = served.team(name).and_then(|team| {
        let pace = |bytes| slow_down(served, bytes);
        Ok(team.log().scrub_journal(&pace)?)
    });
    let found = found.map(|check| check.and_then(|check| check.first_difference()));
    let every = match &found {
        Ok(None) => EVERY,
        Ok(Some(_)) | Err(_) => JOURNAL_AGAIN,
    };
    let next = Instant::now() + every.max(began.elapsed() * SHARE);
    served.compared(name, found.ok(), next);
}

/// Sleeps for the time that `bytes` take at the maximum rate. Returns `false` if the daemon is stopping.
fn slow_down(served: &Served, bytes: usize) -> bool {
    let millis = bytes.saturating_mul(1_000) / JOURNAL_BYTES_A_SECOND;
    let end = Instant::now() + Duration::from_millis(millis as u64);
    while !served.is_stopping() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
    false
}

/// Runs until the daemon stops. `teams_dir` is the directory that contains the teams.
pub(crate) fn run(served: &Arc<Served>, teams_dir: &Path) {
    while !served.is_stopping() {
        if let Some((name, check)) = served.checks().first() {
            match check {
                Check::Verify => audit(served, &name),
                Check::Doctor => examine(served, &name),
            }
        } else if let Some(name) = served.to_measure() {
            measure(served, &name, &teams_dir.join(&name));
        } else if let Some(name) = served.to_audit() {
            audit(served, &name);
        } else {
            std::thread::sleep(LOOK);
        }
    }
}

fn measure(served: &Served, name: &str, dir: &Path) {
    let began = Instant::now();
    let bytes = disk::bytes(dir).ok();
    let every = MEASURE_EVERY.max(began.elapsed() * SHARE);
    served.measured(name, bytes, Instant::now() + every);
}

/// Runs the full check of a team and stores its result.
fn examine(served: &Served, name: &str) {
    // If the check fails, the stored result tells callers about the failure.
    let check = DoctorCheck {
        daemon: Some(std::process::id()),
        ..DoctorCheck::for_team(name)
    };
    let _ = served.root().doctor_noting(check, &mut |_, _| {});
    served.checks().ended(name, Check::Doctor);
}

fn audit(served: &Served, name: &str) {
    let began = Instant::now();
    let now = served.root().options().clock.now();
    served.checks().start(name, Check::Verify, now);
    let found = damage(served, name);
    served.checks().ended(name, Check::Verify);
    let every = match &found {
        Ok(Some(_)) => WHILE_DAMAGED.max(began.elapsed() * SHARE),
        Ok(None) => EVERY,
        // Maintenance reads the team every second and reports the error.
        Err(_) => WHILE_DAMAGED,
    };
    let found = found.map_err(|failure| (failure.code(), failure.to_string()));
    served.audited(name, found, Instant::now() + every);
}

/// Returns the first fault of the log, if there is one.
fn damage(served: &Served, name: &str) -> Result<Option<String>> {
    let report = served
        .team(name)?
        .verify_noting(&mut |bytes, bytes_total| {
            let progress = CheckProgress { bytes, bytes_total };
            served.checks().progressed(name, Check::Verify, progress);
        })?;
    let mut problems = report.problems.into_iter();
    let worst = problems.find(|problem| problem.severity == Severity::Error);
    Ok(worst.map(|problem| {
        format!(
            "{} at byte {}: {}",
            problem.file, problem.offset, problem.message
        )
    }))
}

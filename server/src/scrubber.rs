//! Looking at whole logs, one after the other: what nobody reads may be damaged all the same, and who asks how a team is
//! should be told. At the daemon's start, every hour, soon where an answer met damage, and where somebody asks for it, who
//! may ask for a look at everything else as well. And how much room each team takes,
//! which nobody who asks for it should have to wait for. Journals are compared with logs in a thread of their own.

use crate::disk;
use crate::served::Served;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_team::Result;
use teamlog_team::doctor::DoctorCheck;
use teamlog_team::integrity::{Background, Check, CheckProgress};
use teamlog_team::log::verify::Severity;

/// How often a log is looked at where nothing was found.
const EVERY: Duration = Duration::from_secs(3600);
/// How often where something was found: somebody may mend it.
const WHILE_DAMAGED: Duration = Duration::from_secs(5);
/// Of a log that takes long, the looks take this part of the time at most.
const SHARE: u32 = 10;
/// How often is looked for one that is due.
const LOOK: Duration = Duration::from_millis(250);

/// How often the room that a team takes is measured.
const MEASURE_EVERY: Duration = Duration::from_secs(60);

/// Most bytes per second that a comparison reads of a journal, whose servers have other work.
const JOURNAL_BYTES_A_SECOND: usize = 4 << 20;
/// Time until a journal is compared again that differs, or that did not answer.
const JOURNAL_AGAIN: Duration = Duration::from_secs(60);

/// Compares the journals of teams with their logs, one after the other, until the daemon is about to stop: a host reads a group of a
/// journal once, so that one that is changed there later would be met by the next host that joins.
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

/// Sleeps as long as so many bytes take at the rate of a comparison; `false` if the daemon is about to stop.
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

/// Works until the daemon is about to stop. `teams_dir` holds the teams.
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

/// Looks at everything that belongs to the team; what was found is kept.
fn examine(served: &Served, name: &str) {
    // Whoever asks is told of a failure by what is kept.
    let check = DoctorCheck {
        daemon: Some(std::process::id()),
        ..DoctorCheck::of(name)
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
        // Whoever looks at the team each second tells why.
        Err(_) => WHILE_DAMAGED,
    };
    let found = found.map_err(|failure| (failure.code(), failure.to_string()));
    served.audited(name, found, Instant::now() + every);
}

/// The first thing that is wrong with the log.
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

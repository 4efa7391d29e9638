//! `doctor check`: checks everything that belongs to a team. For each fault, names the command that repairs the fault.
//!
//! Every check follows these rules. A check changes nothing on disk or in the log. A check does not stop at the first problem. A check that
//! cannot be made says why, so that one broken part does not hide other faults. `observed.rs` reads everything once, and each check
//! examines those data.
//!
//! A long log gets a quick check by default: checks whose cost grows with history examine a sample. If the sample shows a
//! possible fault, everything is checked, so that the answer is exact.

mod access;
mod artifacts;
mod audit;
mod backups;
mod bootstrap;
mod checkpoint;
mod git;
mod host;
mod journal;
mod leftovers;
mod malformed_jsonl;
mod modes;
mod observed;
mod quarantine;
pub mod repair;
mod salvage;
mod segments;
mod sidecars;
mod subscriptions;
mod views;

pub use git::TrackedByGit;

use crate::operation::prelude::*;
use crate::projections::views::ViewsSource;
use crate::shell;
use observed::{Observation, Observations, borrowed, error_text, is_closed, keeps_views};

/// Default number of messages and events that are looked up one by one.
pub const SAMPLE: u64 = 100;

/// Maximum number of events in a log that is always checked completely.
const SHORT_EVENTS_MAX: u64 = 1_000;
/// Maximum number of entries that a check lists.
const LISTED_MAX: usize = 20;
/// Maximum number of attempts to check a team whose log changes during the check.
const ATTEMPTS_MAX: usize = 3;
/// Checks of files that a writer changes only after appending to the log.
const MOVING: [&str; 6] = [
    "malformed_jsonl",
    "snapshot_monotonicity",
    "index_inbox_sample_consistency",
    "sidecars",
    "views",
    "modes",
];

/// Checks that examine a sample in a quick check.
const SAMPLED: [&str; 10] = [
    "index_integrity",
    "malformed_jsonl",
    "snapshot_monotonicity",
    "index_inbox_sample_consistency",
    "ack_index_consistency",
    "segments",
    "sidecars",
    "checkpoint",
    "views",
    "artifacts",
];

/// Options of `doctor check`.
#[derive(Debug, Clone)]
pub struct DoctorCheck {
    /// The team.
    pub team: String,
    /// Approximate number of events and messages that are looked up one by one; 0 means all.
    pub sample_size: u64,
    /// True to check everything even if the log is long. Otherwise a long log is checked by a sample.
    pub deep: bool,
    /// First words of the recommended commands: `teamlog`, and the option for the data root if the commands need that option.
    pub program: String,
    /// Backup directories to search, besides those in the team's notes.
    pub backups: Vec<PathBuf>,
    /// Data root, as the recommended commands name it.
    pub data_root: PathBuf,
    /// Files of the team that git tracks.
    pub tracked: TrackedByGit,
    /// Process id of the daemon that serves the team; `None` if no daemon answers.
    pub daemon: Option<u32>,
}

/// Result of a check.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// The check found no fault.
    Healthy,
    /// No recorded data is at risk, but a person should look at the finding.
    Warn,
    /// The check found a fault that must be repaired.
    Unhealthy,
}

/// A check and its result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// Stable name of the check.
    pub name: &'static str,
    /// Status of the result.
    pub status: Health,
    /// Result in one line, for people.
    pub summary: String,
    /// Details for programs.
    #[schemars(with = "Value")]
    pub details: Map<String, Value>,
    /// Command lines that repair the fault.
    pub recommendations: Vec<String>,
}

/// Counts of checked data and of checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stats {
    /// Number of valid events.
    pub events: u64,
    /// Number of segments.
    pub segments: u64,
    /// Size of all segments in bytes.
    pub bytes: u64,
    /// Number of messages; `null` if the state could not be folded.
    pub messages: Option<u64>,
    /// Number of tasks; `null` if the state could not be folded.
    pub tasks: Option<u64>,
    /// Approximate number of events and messages that were looked up one by one; 0 means all.
    pub sample_size: u64,
    /// True if everything was checked; false if only a sample was checked.
    pub deep: bool,
    /// Number of healthy checks.
    pub healthy: u64,
    /// Number of checks that warn.
    pub warn: u64,
    /// Number of unhealthy checks.
    pub unhealthy: u64,
}

/// Answer of `doctor check`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DoctorAnswer {
    /// The team.
    pub team: String,
    /// Time of the check.
    pub generated_at: String,
    /// The worst status of all checks.
    pub overall_status: Health,
    /// 2 if `overall_status` is unhealthy, else 0.
    pub exit_code: u8,
    /// All checks, always in the same order.
    pub checks: Vec<Check>,
    /// Counts of checked data and of checks.
    pub stats: Stats,
    /// Commands that repair the faults, without duplicates, in the order in which to run them.
    pub recommendations: Vec<String>,
}

impl Check {
    /// Returns a result without a name. [`all`] sets the name.
    fn new(status: Health, summary: impl Into<String>) -> Check {
        Check {
            name: "",
            status,
            summary: summary.into(),
            details: Map::new(),
            recommendations: Vec::new(),
        }
    }
    fn healthy(summary: impl Into<String>) -> Check {
        Check::new(Health::Healthy, summary)
    }
    fn warn(summary: impl Into<String>) -> Check {
        Check::new(Health::Warn, summary)
    }
    fn unhealthy(summary: impl Into<String>) -> Check {
        Check::new(Health::Unhealthy, summary)
    }
    /// Returns the result of a check that could not be made. Another check reports the cause and the command that repairs it.
    fn not_made(why: &str) -> Check {
        Check::warn(format!("not checked: {why}"))
    }
    fn is_unwell(&self) -> bool {
        self.status != Health::Healthy
    }
    fn named(self, name: &'static str) -> Check {
        Check { name, ..self }
    }
    /// Adds the fields of a JSON object to the details.
    fn details(mut self, details: Value) -> Check {
        if let Value::Object(details) = details {
            self.details.extend(details);
        }
        self
    }
    fn recommend(mut self, command: String) -> Check {
        self.recommendations.push(command);
        self
    }
}

impl Root {
    /// Checks everything that belongs to a team. Changes nothing. Reads the whole log and all views in three cases: `deep` is set, the log
    /// is short, or a sample shows a fault. While reading the whole log, calls `progress` with `(events done, events in all)`.
    ///
    /// # Errors
    /// `invalid_input`, `team_not_found`. Every other fault is part of the answer.
    pub fn doctor_check(
        &self,
        check: DoctorCheck,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<DoctorAnswer> {
        let sampled = match !check.deep && check.sample_size > 0 {
            true => check_sample(self, &check)?,
            false => None,
        };
        let (seen, checks) = match sampled {
            Some(sampled) => sampled,
            None => check_everything(self, &check, progress)?,
        };
        let overall = checks.iter().map(|check| check.status).max();
        let overall = overall.unwrap_or(Health::Healthy);
        let mut recommendations: Vec<String> = Vec::new();
        // Commands of unhealthy checks come first. A command that repairs the log must run before the commands that repair the
        // consequences of the log's damage.
        for worst in [Health::Unhealthy, Health::Warn] {
            let of_these = checks.iter().filter(|check| check.status == worst);
            for command in of_these.flat_map(|check| &check.recommendations) {
                if !recommendations.contains(command) {
                    recommendations.push(command.clone());
                }
            }
        }
        let salvage = seen.salvage();
        if recommendations.contains(&salvage) {
            // The salvage comes first and ends with a rehydration, so a separate `rehydrate` is left out.
            let rehydrate = seen.rehydrate();
            recommendations.retain(|command| *command != salvage && *command != rehydrate);
            recommendations.insert(0, salvage);
        }
        Ok(DoctorAnswer {
            generated_at: self.options().clock.now().to_string(),
            overall_status: overall,
            exit_code: if overall == Health::Unhealthy { 2 } else { 0 },
            stats: stats(&seen, &checks, check.sample_size),
            team: check.team.clone(),
            checks,
            recommendations,
        })
    }
}

/// Checks a sample. Returns `None` if the sample shows a possible fault.
fn check_sample<'a>(
    root: &'a Root,
    check: &'a DoctorCheck,
) -> Result<Option<(Observations<'a>, Vec<Check>)>> {
    let Some(seen) = Observations::sample(root, check)? else {
        return Ok(None);
    };
    let checks = all(&seen);
    let in_doubt = |check: &Check| check.is_unwell() && SAMPLED.contains(&check.name);
    Ok((!checks.iter().any(in_doubt)).then_some((seen, checks)))
}

fn check_everything<'a>(
    root: &'a Root,
    check: &'a DoctorCheck,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<(Observations<'a>, Vec<Check>)> {
    let mut attempts = 0;
    loop {
        let seen = Observations::all(root, check, progress)?;
        let mut checks = all(&seen);
        attempts += 1;
        // Writers can work during the check. A fault possibly only means that a writer was between two files, so the check is
        // repeated.
        if !checks.iter().any(Check::is_unwell) || !seen.has_moved() {
            return Ok((seen, checks));
        }
        if attempts == ATTEMPTS_MAX {
            for check in &mut checks {
                if check.is_unwell() && MOVING.contains(&check.name) {
                    let not_made = Check::not_made("the log changed during the check; try again");
                    *check = not_made.named(check.name);
                }
            }
            return Ok((seen, checks));
        }
    }
}

/// A check function. An error means that the check could not be made.
type Checker = fn(&Observations<'_>) -> Observation<Check>;

/// All checks with their names, in the order of the answer.
const CHECKS: [(&str, Checker); 22] = [
    ("index_integrity", audit::index),
    ("malformed_jsonl", malformed_jsonl::check),
    ("snapshot_monotonicity", audit::snapshots),
    ("index_inbox_sample_consistency", audit::inbox),
    ("ack_index_consistency", audit::acks),
    ("segments", segments::check),
    ("sidecars", sidecars::check),
    ("checkpoint", checkpoint::check),
    ("views", views::check),
    ("modes", modes::check),
    ("bootstrap", bootstrap::check),
    ("artifacts", artifacts::check),
    ("subscriptions", subscriptions::check),
    ("quarantine", quarantine::check),
    ("backups", backups::check),
    ("leftovers", leftovers::check),
    ("access", access::check),
    ("git", git::check),
    ("clock", host::clock),
    ("lock", host::lock),
    ("file_system", host::file_system),
    ("disk_space", host::disk_space),
];

fn all(seen: &Observations<'_>) -> Vec<Check> {
    let made = CHECKS.iter().map(|(name, check)| {
        let made = check(seen).unwrap_or_else(|why| Check::not_made(&why));
        made.named(name)
    });
    let mut all: Vec<Check> = made.collect();
    if seen.rollback.is_some() {
        keep_lost_events(seen, &mut all);
    }
    let journal = journal::check(seen);
    let journal = journal.unwrap_or_else(|why| seen.has_journal().then(|| Check::not_made(&why)));
    all.extend(journal.map(|check| check.named("journal")));
    all
}

/// If the log was rolled back, removes recommendations that would rebuild or delete the files that still contain the lost
/// events.
fn keep_lost_events(seen: &Observations<'_>, checks: &mut [Check]) {
    let (rehydrate, salvage) = (seen.rehydrate(), seen.salvage());
    for check in checks {
        let (name, commands) = (check.name, &mut check.recommendations);
        commands.retain(|command| *command != rehydrate && *command != salvage);
        if name == "segments" {
            commands.push(seen.accept_rollback());
        }
    }
}

fn stats(seen: &Observations<'_>, checks: &[Check], sample_size: u64) -> Stats {
    let fresh = seen.fresh.as_ref().ok();
    let counts = fresh.and_then(|live| live.counts().ok());
    let count = |health| {
        let of_these = checks.iter().filter(|check| check.status == health);
        of_these.count() as u64
    };
    let (events, segments, bytes) = match &seen.report {
        Ok(report) => (report.events, report.segments, report.bytes),
        Err(_) => (0, 0, 0),
    };
    Stats {
        events,
        segments,
        bytes,
        messages: counts.map(|counts| counts.messages),
        tasks: counts.map(|counts| counts.tasks),
        sample_size,
        deep: seen.sampled.is_none(),
        healthy: count(Health::Healthy),
        warn: count(Health::Warn),
        unhealthy: count(Health::Unhealthy),
    }
}

//! `doctor check`: checks everything that belongs to a team, and names the command that mends each fault.
//!
//! Invariants: a check changes nothing, neither on disk nor in the log; it never stops at the first problem; a check
//! that cannot be made says why, so that one broken part does not hide the others. `observed.rs` reads everything once;
//! each check judges the result.
//!
//! For a long log the default is a quick check: checks whose cost grows with history judge a sample. If the sample
//! leaves a doubt, everything is checked, so that the answer is exact.

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
mod views;

pub use git::TrackedByGit;

use crate::operation::prelude::*;
use crate::projections::views::ViewsSource;
use crate::shell;
use observed::{Observation, Observations, borrowed, error_text, is_closed, keeps_views};

/// Default number of messages and events that are looked up one by one.
pub const SAMPLE: u64 = 100;

/// A log of at most this many events is always checked whole.
const SHORT_EVENTS_MAX: u64 = 1_000;
/// Maximum number of entries that a check lists.
const LISTED_MAX: usize = 20;
/// Attempts to check a team whose log changes meanwhile.
const ATTEMPTS_MAX: usize = 3;
/// Checks of files that a writer changes after it appended to the log.
const MOVING: [&str; 6] = [
    "malformed_jsonl",
    "snapshot_monotonicity",
    "index_inbox_sample_consistency",
    "sidecars",
    "views",
    "modes",
];

/// Checks that a quick check judges by a sample.
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
    /// About how many events and messages are looked up one by one; 0 means all.
    pub sample_size: u64,
    /// Set to check everything however long the log is; else a long log is checked by a sample.
    pub deep: bool,
    /// Start of the recommended commands: `teamlog`, and the option that names the data root if they need it.
    pub program: String,
    /// Directories with backups, beside those that the team has noted.
    pub backups: Vec<PathBuf>,
    /// The data root, as recommended commands name it.
    pub data_root: PathBuf,
    /// Files of the team that git tracks.
    pub tracked: TrackedByGit,
    /// Process id of the daemon that serves the team, if it answers.
    pub daemon: Option<u32>,
}

/// Result of a check.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// No fault.
    Healthy,
    /// No recorded data is at risk, but a person should look at it.
    Warn,
    /// A fault that must be mended.
    Unhealthy,
}

/// A check and its result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// A stable name.
    pub name: &'static str,
    /// The result.
    pub status: Health,
    /// The result in one line, for people.
    pub summary: String,
    /// Details for programs.
    #[schemars(with = "Value")]
    pub details: Map<String, Value>,
    /// Command lines that mend the fault.
    pub recommendations: Vec<String>,
}

/// Counts of checked data and of checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stats {
    /// Valid events.
    pub events: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of all segments.
    pub bytes: u64,
    /// Messages; `null` if the state could not be folded.
    pub messages: Option<u64>,
    /// Tasks; `null` if the state could not be folded.
    pub tasks: Option<u64>,
    /// About how many events and messages were looked up one by one; 0 means all.
    pub sample_size: u64,
    /// True if everything was checked; false for a sample.
    pub deep: bool,
    /// Checks that are healthy.
    pub healthy: u64,
    /// Checks that warn.
    pub warn: u64,
    /// Checks that are unhealthy.
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
    /// Commands that mend the faults, each once, in the order in which to run them.
    pub recommendations: Vec<String>,
}

impl Check {
    /// Returns a check without a name; [`all`] sets the name.
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
    /// Returns a check that could not be made. Another check reports the cause and the command that mends it.
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
    /// Checks everything that belongs to a team; changes nothing. Reads the whole log and all views if `deep` is set,
    /// if the log is short, or if a sample shows a fault; `progress` is then called with `(events done, events in
    /// all)`.
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
        // Unhealthy checks first: commands that mend the log come before those that mend its consequences.
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
            // The salvage comes first; it ends with a rehydration, so that is left out.
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

/// Checks a sample; `None` if that leaves a doubt.
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

/// Checks everything.
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
        // Writers are not kept out, so a fault may only mean that a writer was between two files: look again.
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

/// A check; an error means that it could not be made.
type Checker = fn(&Observations<'_>) -> Observation<Check>;

/// The checks by name, in the order of the answer.
const CHECKS: [(&str, Checker); 21] = [
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

/// For a log that was rolled back, removes recommendations that would rebuild or delete the files that still know the
/// lost events.
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

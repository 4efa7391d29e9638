//! `doctor check`: is everything that belongs to a team as it should be, and if not, which command mends it?
//!
//! Invariants: a check changes nothing, neither on disk nor in the log; it never stops at the first problem; what cannot be
//! checked says why, so that one broken part does not hide the others. `observed.rs` looks at everything once; each check
//! judges what it saw.
//!
//! A long log is looked at quickly unless all of it is asked for: the checks of what grows with history then judge a
//! sample. Where that leaves anything in doubt, everything is looked at after all, so that what is told is told exactly.

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
use observed::{Observed, Seen, had, is_closed, keeps_views, said};

/// Messages and events that are looked up one by one, unless the caller says otherwise.
pub const SAMPLE: u64 = 100;

/// A shorter log is always looked at whole, which takes a moment.
const SHORT_EVENTS_MAX: u64 = 1_000;
/// No check lists more things than this.
const LISTED_MAX: usize = 20;
/// So often a team is looked at whose log moves meanwhile.
const LOOKS_MAX: usize = 3;
/// Checks of files that a writer changes behind the log.
const MOVING: [&str; 6] = [
    "malformed_jsonl",
    "snapshot_monotonicity",
    "index_inbox_sample_consistency",
    "sidecars",
    "views",
    "modes",
];

/// Checks that a quick look judges by a sample.
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

/// What `doctor check` is asked.
#[derive(Debug, Clone)]
pub struct DoctorCheck {
    /// The team.
    pub team: String,
    /// About how many events, and messages, are looked up one by one; 0 is all.
    pub sample_size: u64,
    /// Look at everything, however long the log is; else a long one is looked at by a sample.
    pub deep: bool,
    /// How the commands that are recommended begin: `teamlog`, with what names the data root if need be.
    pub program: String,
    /// Directories of backups to look into, beside those that the team knows of.
    pub backups: Vec<PathBuf>,
    /// The data root, as commands that are recommended name it.
    pub data_root: PathBuf,
    /// The files of the team that git tracks.
    pub tracked: TrackedByGit,
    /// The process of the daemon that serves the team, if it answers.
    pub daemon: Option<u32>,
}

/// How something is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Healthy,
    /// Nothing recorded is in doubt, but it is worth a look.
    Warn,
    /// Something is wrong.
    Unhealthy,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// A stable name.
    pub name: &'static str,
    /// How it is.
    pub status: Health,
    /// In one line, for people.
    pub summary: String,
    /// More, for machines.
    #[schemars(with = "Value")]
    pub details: Map<String, Value>,
    /// The commands that mend it, as they are typed.
    pub recommendations: Vec<String>,
}

/// What was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stats {
    /// Valid events.
    pub events: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of all segments.
    pub bytes: u64,
    /// Messages; `null` where the state could not be folded.
    pub messages: Option<u64>,
    /// Tasks; `null` where the state could not be folded.
    pub tasks: Option<u64>,
    /// About how many events, and messages, were looked up one by one; 0 is all.
    pub sample_size: u64,
    /// Whether everything was looked at, and not the sample alone.
    pub deep: bool,
    /// Checks that are healthy.
    pub healthy: u64,
    /// Checks that warn.
    pub warn: u64,
    /// Checks that are unhealthy.
    pub unhealthy: u64,
}

/// The answer of the table, its parts in the order in which the checks are listed there.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DoctorAnswer {
    /// The team.
    pub team: String,
    /// When.
    pub generated_at: String,
    /// The worst of all checks.
    pub overall_status: Health,
    /// 2 if that is unhealthy, else 0.
    pub exit_code: u8,
    /// All of them, always in the same order.
    pub checks: Vec<Check>,
    /// What was looked at.
    pub stats: Stats,
    /// The commands that mend what is not healthy, each once, the first ones first.
    pub recommendations: Vec<String>,
}

impl Check {
    /// A check, which gets its name from [`CHECKS`].
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
    /// A check that could not be made. Another check tells what stands in its way, and which command mends it.
    fn not_made(why: &str) -> Check {
        Check::warn(format!("not checked: {why}"))
    }
    fn is_unwell(&self) -> bool {
        self.status != Health::Healthy
    }
    fn named(self, name: &'static str) -> Check {
        Check { name, ..self }
    }
    /// The same with these details: the fields of a JSON object.
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
    /// Checks everything that belongs to a team; changes nothing. Reads the whole log and all views where that is asked
    /// for, where the log is short, and where anything seems wrong. `progress` then hears `(events done, events in all)`
    /// now and then.
    ///
    /// # Errors
    /// `invalid_input`, `team_not_found`. Whatever else is wrong is an answer, not an error.
    pub fn doctor_check(
        &self,
        check: DoctorCheck,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<DoctorAnswer> {
        let glanced = match !check.deep && check.sample_size > 0 {
            true => glanced(self, &check)?,
            false => None,
        };
        let (seen, checks) = match glanced {
            Some(glanced) => glanced,
            None => looked(self, &check, progress)?,
        };
        let overall = checks.iter().map(|check| check.status).max();
        let overall = overall.unwrap_or(Health::Healthy);
        let mut recommendations: Vec<String> = Vec::new();
        // What mends the log comes before what mends things that follow from it.
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
            // A damaged log comes first; and a salvage ends with what a rehydration does.
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

/// What a sample shows; `None` where it leaves a doubt.
fn glanced<'a>(
    root: &'a Root,
    check: &'a DoctorCheck,
) -> Result<Option<(Observed<'a>, Vec<Check>)>> {
    let Some(seen) = Observed::glance(root, check)? else {
        return Ok(None);
    };
    let checks = all(&seen);
    let in_doubt = |check: &Check| check.is_unwell() && SAMPLED.contains(&check.name);
    Ok((!checks.iter().any(in_doubt)).then_some((seen, checks)))
}

/// What everything shows.
fn looked<'a>(
    root: &'a Root,
    check: &'a DoctorCheck,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<(Observed<'a>, Vec<Check>)> {
    let mut looks = 0;
    loop {
        let seen = Observed::look(root, check, progress)?;
        let mut checks = all(&seen);
        looks += 1;
        // What is compared must be of one moment, and nobody is kept from writing.
        if !checks.iter().any(Check::is_unwell) || !seen.has_moved() {
            return Ok((seen, checks));
        }
        if looks == LOOKS_MAX {
            for check in &mut checks {
                if check.is_unwell() && MOVING.contains(&check.name) {
                    let not_made = Check::not_made("somebody writes all the time; try again");
                    *check = not_made.named(check.name);
                }
            }
            return Ok((seen, checks));
        }
    }
}

/// A check. One that gives an error could not be made.
type Checker = fn(&Observed<'_>) -> Seen<Check>;

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

fn all(seen: &Observed<'_>) -> Vec<Check> {
    let made = CHECKS.iter().map(|(name, check)| {
        let made = check(seen).unwrap_or_else(|why| Check::not_made(&why));
        made.named(name)
    });
    let mut all: Vec<Check> = made.collect();
    if seen.rollback.is_some() {
        keep_what_knows_more(seen, &mut all);
    }
    let journal = journal::check(seen);
    let journal = journal.unwrap_or_else(|why| seen.has_journal().then(|| Check::not_made(&why)));
    all.extend(journal.map(|check| check.named("journal")));
    all
}

/// Recommends nothing that would rebuild or remove what still knows the lost events of a log that was rolled back.
fn keep_what_knows_more(seen: &Observed<'_>, checks: &mut [Check]) {
    let (rehydrate, salvage) = (seen.rehydrate(), seen.salvage());
    for check in checks {
        let (name, commands) = (check.name, &mut check.recommendations);
        commands.retain(|command| *command != rehydrate && *command != salvage);
        if name == "segments" {
            commands.push(seen.accept_rollback());
        }
    }
}

fn stats(seen: &Observed<'_>, checks: &[Check], sample_size: u64) -> Stats {
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

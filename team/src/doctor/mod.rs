//! `doctor check`: is everything that belongs to a team as it should be, and if not, which command mends it?
//!
//! Invariants: a check changes nothing, neither on disk nor in the log; it never stops at the first problem; what cannot be
//! checked says why, so that one broken part does not hide the others. One file per check; `scene.rs` looks at everything
//! once, and the checks judge what it saw.

mod ack_index_consistency;
mod artifacts;
mod backups;
mod bootstrap;
mod checkpoint;
mod clock;
mod disk_space;
mod file_system;
mod index_inbox_sample_consistency;
mod index_integrity;
mod leftovers;
mod lock;
mod malformed_jsonl;
mod modes;
mod quarantine;
pub mod repair;
mod salvage;
mod scene;
mod segments;
mod sidecars;
mod snapshot_monotonicity;
mod views;

pub(crate) use clock::AHEAD_TOLERATED_MICROS;

use crate::prelude::*;
use crate::projections::audit::Finding;
use scene::Scene;
use std::path::PathBuf;

/// Messages and events that are looked up one by one, unless the caller says otherwise.
pub const SAMPLE: u64 = 100;

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

/// What `doctor check` is asked.
#[derive(Debug, Clone)]
pub struct DoctorCheck {
    /// The team.
    pub team: String,
    /// About how many events, and messages, are looked up one by one; 0 is all.
    pub sample_size: u64,
    /// How the commands that are recommended begin: `teamlog`, with what names the data root if need be.
    pub program: String,
    /// Directories of backups to look into, beside those that the team knows of.
    pub backups: Vec<PathBuf>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Check {
    /// A stable name.
    pub name: &'static str,
    /// How it is.
    pub status: Health,
    /// In one line, for people.
    pub summary: String,
    /// More, for machines.
    #[schemars(with = "serde_json::Value")]
    pub details: Map<String, Value>,
    /// The commands that mend it, as they are typed.
    pub recommendations: Vec<String>,
}

/// What was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
    /// Checks that are healthy.
    pub healthy: u64,
    /// Checks that warn.
    pub warn: u64,
    /// Checks that are unhealthy.
    pub unhealthy: u64,
}

/// The answer of the table, its parts in the order in which the checks are listed there.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
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
    fn new(name: &'static str, status: Health, summary: impl Into<String>) -> Check {
        Check {
            name,
            status,
            summary: summary.into(),
            details: Map::new(),
            recommendations: Vec::new(),
        }
    }
    fn healthy(name: &'static str, summary: impl Into<String>) -> Check {
        Check::new(name, Health::Healthy, summary)
    }
    /// A check that could not be made. What stands in its way is another check's business, and so is the command.
    fn not_made(name: &'static str, why: &str) -> Check {
        Check::new(name, Health::Warn, format!("not checked: {why}"))
    }
    fn detail(mut self, name: &str, value: impl Into<Value>) -> Check {
        self.details.insert(name.to_owned(), value.into());
        self
    }
    fn recommend(mut self, command: String) -> Check {
        self.recommendations.push(command);
        self
    }
}

/// Threads for what can be done side by side.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Root {
    /// Checks everything that belongs to a team. Reads the whole log and all views; changes nothing. `progress` hears
    /// `(events done, events in all)` now and then.
    ///
    /// # Errors
    /// `invalid_input`, `team_not_found`. Whatever else is wrong is an answer, not an error.
    pub fn doctor_check(
        &self,
        check: DoctorCheck,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<DoctorAnswer> {
        let mut looks = 0;
        let (scene, checks) = loop {
            let scene = Scene::look(self, &check, progress)?;
            let mut checks = all(&scene);
            let unwell = checks.iter().any(|check| check.status != Health::Healthy);
            looks += 1;
            // What is compared must be of one moment, and nobody is kept from writing.
            if !unwell || !scene.has_moved() {
                break (scene, checks);
            }
            if looks == LOOKS_MAX {
                for check in checks
                    .iter_mut()
                    .filter(|check| MOVING.contains(&check.name))
                {
                    if check.status != Health::Healthy {
                        *check =
                            Check::not_made(check.name, "somebody writes all the time; try again");
                    }
                }
                break (scene, checks);
            }
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
        let salvage = scene.salvage();
        if recommendations.contains(&salvage) {
            // A damaged log comes first; and a salvage ends with what a rehydration does.
            let rehydrate = scene.rehydrate();
            recommendations.retain(|command| *command != salvage && *command != rehydrate);
            recommendations.insert(0, salvage);
        }
        Ok(DoctorAnswer {
            generated_at: self.options().clock.now().to_string(),
            overall_status: overall,
            exit_code: if overall == Health::Unhealthy { 2 } else { 0 },
            stats: stats(&scene, &checks, check.sample_size),
            team: check.team,
            checks,
            recommendations,
        })
    }
}

fn all(scene: &Scene<'_>) -> Vec<Check> {
    vec![
        index_integrity::check(scene),
        malformed_jsonl::check(scene),
        snapshot_monotonicity::check(scene),
        index_inbox_sample_consistency::check(scene),
        ack_index_consistency::check(scene),
        segments::check(scene),
        sidecars::check(scene),
        checkpoint::check(scene),
        views::check(scene),
        modes::check(scene),
        bootstrap::check(scene),
        artifacts::check(scene),
        quarantine::check(scene),
        backups::check(scene),
        leftovers::check(scene),
        clock::check(scene),
        lock::check(scene),
        file_system::check(scene),
        disk_space::check(scene),
    ]
}

fn stats(scene: &Scene<'_>, checks: &[Check], sample_size: u64) -> Stats {
    let counts = scene
        .fresh
        .as_ref()
        .ok()
        .and_then(|live| live.counts().ok());
    let count = |health| {
        let of_these = checks.iter().filter(|check| check.status == health);
        of_these.count() as u64
    };
    let (events, segments, bytes) = match &scene.report {
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
        healthy: count(Health::Healthy),
        warn: count(Health::Warn),
        unhealthy: count(Health::Unhealthy),
    }
}

/// A check that is a part of the audit: whatever it finds is mended by folding anew.
fn findings(name: &'static str, finding: &Finding, what: &str, scene: &Scene<'_>) -> Check {
    let wrong = finding.faults.len() as u64 + finding.omitted;
    let check = match finding.faults.first() {
        None => Check::healthy(
            name,
            format!("{} {what} agree with the log", finding.checked),
        ),
        Some(first) => {
            let summary = format!(
                "{wrong} of {} {what} disagree with the log: {first}",
                finding.checked
            );
            Check::new(name, Health::Unhealthy, summary).recommend(scene.rehydrate())
        }
    };
    check
        .detail("checked", finding.checked)
        .detail("wrong", wrong)
        .detail("faults", finding.faults.clone())
}

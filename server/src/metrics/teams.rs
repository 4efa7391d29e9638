//! Metrics of the teams: writes and groups, contents, and lag.

use crate::served::{Served, Verified};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use teamlog_team::attention::AttentionKind;
use teamlog_team::engine::{WriterCounts, internals::JOBS_OF_GROUPS};
use teamlog_team::lifecycle::gauges::Gauges;

/// Metrics of the teams at the last scrape. For a team that cannot be read, only the metrics of its files are known.
#[derive(Debug, Default)]
pub(super) struct Teams {
    seen: Mutex<Seen>,
}

type Seen = BTreeMap<String, TeamReading>;

/// Metrics of a team and of its files.
#[derive(Debug)]
struct TeamReading {
    /// `None` if the team cannot be read.
    gauges: Option<Gauges>,
    verified: Option<Verified>,
    disk_bytes: Option<u64>,
}

/// A metric of a team: name, help text, type, and a function that returns its value. An unknown value is `None`.
type Number = (
    &'static str,
    &'static str,
    MetricType,
    fn(&TeamReading) -> Option<u64>,
);

/// Declares the table of metrics.
macro_rules! numbers {
    ($($kind:ident $name:literal, $help:literal: |$look:ident| $read:expr;)*) => {
        const NUMBERS: &[Number] = &[$(($name, $help, MetricType::$kind, |$look| Some($read)),)*];
    };
}

// Counters come first. Counters of writes begin at the start of the daemon, and other counters at the creation of the
// team. Gauges of the current state and results of the last check or backup follow. Times are seconds since 1970.
numbers! {
    Counter "appends", "Appended events": |team| team.read()?.written.events;
    Counter "appended_bytes", "Appended bytes": |team| team.read()?.written.bytes;
    Counter "commands", "Commands that recorded events": |team| team.read()?.written.jobs;
    Counter "syncs", "Groups of commands, each written and synced once": |team| team.read()?.written.groups;
    Counter "leases_granted", "Claims with a lease": |team| team.read()?.leases_granted;
    Counter "leases_expired", "Leases recorded as expired": |team| team.read()?.leases_expired;
    Counter "dead_letters", "Deliveries that ended in a dead letter": |team| team.read()?.dead_letters;
    Gauge "events", "Events in the log": |team| team.read()?.events;
    Gauge "leases", "Active leases": |team| team.read()?.leases;
    Gauge "unread_messages", "Messages without an ack": |team| team.read()?.unread;
    Gauge "projection_lag", "Events that are not part of the stored state yet": |team| team.read()?.lag;
    Gauge "views_behind", "1 if view files are out of date, else 0": |team| team.read()?.views_behind.into();
    Gauge "disk_bytes", "Disk usage of the team's files in bytes": |team| team.disk_bytes?;
    Gauge "last_verify_timestamp_seconds", "Time of the last verification of the whole log":
        |team| team.verified?.at.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Gauge "last_verify_sound", "1 if the last verification found no fault, else 0": |team| team.verified?.sound.into();
    Gauge "last_backup_timestamp_seconds", "Time of the last backup":
        |team| u64::try_from(team.read()?.backed_up_at?.micros() / 1_000_000).ok()?;
}

impl TeamReading {
    fn read(&self) -> Option<&Gauges> {
        self.gauges.as_ref()
    }
}

impl Teams {
    /// Reads every served team.
    pub fn look(&self, served: &Served) {
        let mut seen = BTreeMap::new();
        for name in served.names() {
            let (verified, disk_bytes) = served.observed(&name);
            let gauges = served.team(&name).and_then(|mut team| team.gauges());
            let look = TeamReading {
                gauges: gauges.ok(),
                verified,
                disk_bytes,
            };
            seen.insert(name, look);
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }
}

impl Collector for Teams {
    fn encode(&self, mut to: DescriptorEncoder) -> Result<(), fmt::Error> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, help, kind, read) in NUMBERS {
            let mut family = to.encode_descriptor(name, help, None, *kind)?;
            for (team, look) in seen.iter() {
                let Some(number) = read(look) else { continue };
                let label = [("team", team.as_str())];
                let mut one = family.encode_family(&label)?;
                match kind {
                    MetricType::Counter => {
                        one.encode_counter::<NoLabelSet, _, u64>(&number, None)?;
                    }
                    _ => one.encode_gauge(&number)?,
                }
            }
        }
        tasks(&mut to, &seen)?;
        attention(&mut to, &seen)?;
        writes(&mut to, &seen)
    }
}

/// Returns the teams that could be read.
fn read_teams(seen: &Seen) -> impl Iterator<Item = (&str, &Gauges)> {
    seen.iter()
        .filter_map(|(team, look)| Some((team.as_str(), look.read()?)))
}

fn tasks(to: &mut DescriptorEncoder, seen: &Seen) -> Result<(), fmt::Error> {
    let mut family = to.encode_descriptor("tasks", "Tasks by status", None, MetricType::Gauge)?;
    for (team, gauges) in read_teams(seen) {
        for (status, count) in &gauges.tasks {
            let labels = [("team", team), ("status", status)];
            family.encode_family(&labels)?.encode_gauge(count)?;
        }
    }
    Ok(())
}

fn attention(to: &mut DescriptorEncoder, seen: &Seen) -> Result<(), fmt::Error> {
    let help = "Open attention items, by kind";
    let mut family = to.encode_descriptor("attention", help, None, MetricType::Gauge)?;
    for (team, gauges) in read_teams(seen) {
        // Damage is a condition of the team and is no attention item.
        let kinds = AttentionKind::ALL.into_iter();
        for kind in kinds.filter(|kind| *kind != AttentionKind::Damaged) {
            let count = gauges.attention.get(&kind).copied().unwrap_or_default();
            let labels = [("team", team), ("kind", kind.name())];
            family
                .encode_family(&labels)?
                .encode_gauge(&(count as u64))?;
        }
    }
    Ok(())
}

fn writes(to: &mut DescriptorEncoder, seen: &Seen) -> Result<(), fmt::Error> {
    let help = "Duration of writes with their syncs, in seconds";
    let mut family = to.encode_descriptor("write_seconds", help, None, MetricType::Counter)?;
    for (team, gauges) in read_teams(seen) {
        let seconds = gauges.written.written_micros as f64 / 1e6;
        let label = [("team", team)];
        let mut one = family.encode_family(&label)?;
        one.encode_counter::<NoLabelSet, _, u64>(&seconds, None)?;
    }
    let help = "Commands per sync";
    let mut family = to.encode_descriptor("batch", help, None, MetricType::Histogram)?;
    for (team, gauges) in read_teams(seen) {
        let counts = &gauges.written;
        let (sum, buckets) = (counts.jobs as f64, batches(counts));
        let label = [("team", team)];
        let mut one = family.encode_family(&label)?;
        one.encode_histogram::<NoLabelSet>(sum, counts.groups, &buckets, None)?;
    }
    Ok(())
}

/// Returns the number of groups for each number of commands per group. The last bucket has no upper bound.
fn batches(counts: &WriterCounts) -> Vec<(f64, u64)> {
    let bounds = JOBS_OF_GROUPS.iter().map(|most| *most as f64);
    bounds
        .chain([f64::INFINITY])
        .zip(counts.jobs_of_groups)
        .collect()
}

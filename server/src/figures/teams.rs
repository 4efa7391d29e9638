//! The teams in numbers: what was written to each and in which groups, what lies in it, and whether it keeps up.

use crate::served::Served;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use teamlog_team::command::gauges::Gauges;
use teamlog_team::engine::{JOBS_OF_GROUPS, WriterCounts};

/// The teams, as they were at the last look. A team that cannot be read is left out.
#[derive(Debug, Default)]
pub(super) struct Teams {
    seen: Mutex<BTreeMap<String, Gauges>>,
}

type Read = fn(&Gauges) -> u64;

/// What only grows: what was written from the daemon's start on, the rest from the team's.
const COUNTERS: [(&str, &str, Read); 6] = [
    ("appends", "Events that were appended", |g| g.written.events),
    ("appended_bytes", "Bytes that were appended", |g| {
        g.written.bytes
    }),
    ("commands", "Commands that recorded something", |g| {
        g.written.jobs
    }),
    (
        "syncs",
        "Groups of commands, each written and synced once",
        |g| g.written.groups,
    ),
    ("leases_granted", "Claims with a lease", |g| {
        g.leases_granted
    }),
    ("leases_expired", "Leases that ran out, as recorded", |g| {
        g.leases_expired
    }),
];

/// What is so at the moment.
const GAUGES: [(&str, &str, Read); 4] = [
    ("events", "Events in the log", |g| g.events),
    ("leases", "Leases that run", |g| g.leases),
    (
        "projection_lag",
        "Events that the state does not cover yet",
        |g| g.lag,
    ),
    (
        "views_behind",
        "Whether view files wait to be mended",
        |g| u64::from(g.views_behind),
    ),
];

impl Teams {
    /// Looks at every team that is served.
    pub fn look(&self, served: &Served) {
        let mut seen = BTreeMap::new();
        for name in served.names() {
            let gauges = served.team(&name).and_then(|mut team| team.gauges());
            seen.extend(gauges.ok().map(|gauges| (name, gauges)));
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }
}

impl Collector for Teams {
    fn encode(&self, mut to: DescriptorEncoder) -> Result<(), fmt::Error> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, help, read) in COUNTERS {
            let mut family = to.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (team, gauges) in seen.iter() {
                let label = [("team", team.as_str())];
                let mut one = family.encode_family(&label)?;
                one.encode_counter::<NoLabelSet, _, u64>(&read(gauges), None)?;
            }
        }
        for (name, help, read) in GAUGES {
            let mut family = to.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (team, gauges) in seen.iter() {
                let label = [("team", team.as_str())];
                let mut one = family.encode_family(&label)?;
                one.encode_gauge(&read(gauges))?;
            }
        }
        tasks(&mut to, &seen)?;
        writes(&mut to, &seen)
    }
}

type Seen = BTreeMap<String, Gauges>;

fn tasks(to: &mut DescriptorEncoder, seen: &Seen) -> Result<(), fmt::Error> {
    let mut family = to.encode_descriptor("tasks", "Tasks by status", None, MetricType::Gauge)?;
    for (team, gauges) in seen {
        for (status, count) in &gauges.tasks {
            let labels = [("team", team.as_str()), ("status", status)];
            family.encode_family(&labels)?.encode_gauge(count)?;
        }
    }
    Ok(())
}

fn writes(to: &mut DescriptorEncoder, seen: &Seen) -> Result<(), fmt::Error> {
    let help = "Seconds that writes and syncs took";
    let mut family = to.encode_descriptor("write_seconds", help, None, MetricType::Counter)?;
    for (team, gauges) in seen {
        let seconds = gauges.written.written_micros as f64 / 1e6;
        let label = [("team", team.as_str())];
        let mut one = family.encode_family(&label)?;
        one.encode_counter::<NoLabelSet, _, u64>(&seconds, None)?;
    }
    let help = "Commands that went out with one sync";
    let mut family = to.encode_descriptor("batch", help, None, MetricType::Histogram)?;
    for (team, gauges) in seen {
        let counts = &gauges.written;
        let (sum, buckets) = (counts.jobs as f64, batches(counts));
        let label = [("team", team.as_str())];
        let mut one = family.encode_family(&label)?;
        one.encode_histogram::<NoLabelSet>(sum, counts.groups, &buckets, None)?;
    }
    Ok(())
}

/// How many groups had how many commands; the last bucket has no bound.
fn batches(counts: &WriterCounts) -> Vec<(f64, u64)> {
    let bounds = JOBS_OF_GROUPS.iter().map(|most| *most as f64);
    bounds
        .chain([f64::INFINITY])
        .zip(counts.jobs_of_groups)
        .collect()
}

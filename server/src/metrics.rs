//! Metrics of the daemon: connections, answers by status and code, response times, and queues.

mod teams;

use crate::reply::{Answer, Reply};
use crate::served::{Condition, Served};
use crate::via::Via;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use teams::Teams;

/// Upper bounds of the buckets for response times, in seconds. The buckets cover reads from memory, and calls that
/// wait for a sync or a lock.
const BUCKETS: [f64; 14] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];
/// Name and value of a label.
type Label = [(&'static str, String); 1];

/// Declares the metrics. Each row has field, type, initial value, name and help text.
macro_rules! metrics {
    ($($field:ident: $type:ty = $new:expr, $name:literal, $help:literal;)*) => {
        /// The metrics.
        pub(crate) struct Metrics {
            registry: Registry,
            teams: Arc<Teams>,
            $(pub $field: $type,)*
        }

        impl Metrics {
            pub fn new() -> Metrics {
                let mut registry = Registry::with_prefix("teamlog");
                $(
                    let $field: $type = $new;
                    registry.register($name, $help, $field.clone());
                )*
                let teams: Arc<Teams> = Arc::default();
                registry.register_collector(Box::new(teams.clone()));
                Metrics { registry, teams, $($field,)* }
            }
        }
    };
}

metrics! {
    answers: Family<Label, Counter> = Family::default(), "answers", "Answers to calls, by status";
    refusals: Family<Label, Counter> = Family::default(), "refusals", "Answers with an error, by code";
    seconds: Histogram = Histogram::new(BUCKETS), "answer_seconds", "Time from a call's head to its answer, in seconds";
    connections: Family<Label, Gauge> = Family::default(), "connections", "Open connections";
    accepted: Family<Label, Counter> = Family::default(), "connections_accepted", "Accepted connections";
    turned_away: Counter = Counter::default(), "connections_turned_away", "Connections refused because of the limit";
    displaced: Counter = Counter::default(), "connections_displaced",
        "Connections without a token that were closed in favour of others";
    streams: Gauge = Gauge::default(), "streams", "Clients that follow a stream";
    waiting: Gauge = Gauge::default(), "calls_waiting", "Calls that wait for a thread";
    running: Gauge = Gauge::default(), "calls_running", "Calls being answered";
    awaiting: Gauge = Gauge::default(), "calls_awaiting", "Calls that wait for an event";
    forwarded: Gauge = Gauge::default(), "forwarded_running", "Forwarded commands being executed";
    forwarded_waiting: Gauge = Gauge::default(), "forwarded_waiting",
        "Forwarded commands that wait for their caller or for an ack";
    served: Gauge = Gauge::default(), "teams_served", "Served teams";
    unready: Gauge = Gauge::default(), "teams_unready", "Teams that cannot be read or written";
}

impl Metrics {
    /// Counts a connection. The connection counts as open until the returned guard is dropped.
    pub fn connected(&self, via: Via) -> GaugeGuard {
        let name = match via {
            Via::Tcp => "tcp",
            Via::Tls => "tls",
            Via::Socket => "socket",
        };
        let via = [("via", name.to_owned())];
        self.accepted.get_or_create(&via).inc();
        GaugeGuard::new(self.connections.get_or_create_owned(&via))
    }

    /// Counts a stream. The stream counts as open until the returned guard is dropped.
    pub fn streaming(&self) -> GaugeGuard {
        GaugeGuard::new(self.streams.clone())
    }

    /// Counts a call and the time that its answer took.
    pub fn answered(&self, answer: &Answer, took: Duration) {
        self.seconds.observe(took.as_secs_f64());
        match answer {
            Answer::Whole(reply) => self.replied(reply),
            Answer::Streamed(_) => self.status(200),
        }
    }

    fn status(&self, status: u16) {
        let label = [("status", status.to_string())];
        self.answers.get_or_create(&label).inc();
    }

    /// Counts a reply by status, and by code if it is an error.
    pub fn replied(&self, reply: &Reply) {
        self.status(reply.status);
        if reply.status >= 400
            && let Some(code) = reply.code()
        {
            self.refusals.get_or_create(&[("code", code)]).inc();
        }
    }

    /// Returns all metrics as text, including the numbers of waiting and running calls and of forwarded commands. Reads every
    /// team.
    pub fn text(
        &self,
        served: &Served,
        (waiting, running, awaiting): (usize, usize, usize),
        (forwarded, forwarded_waiting): (usize, usize),
    ) -> Result<String, fmt::Error> {
        set(&self.awaiting, awaiting);
        set(&self.waiting, waiting);
        set(&self.running, running);
        set(&self.forwarded, forwarded);
        set(&self.forwarded_waiting, forwarded_waiting);
        let conditions = served.conditions();
        set(&self.served, conditions.len());
        let sound = conditions
            .values()
            .filter(|c| matches!(c, Condition::Sound));
        set(&self.unready, conditions.len() - sound.count());
        self.teams.look(served);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn set(gauge: &Gauge, value: usize) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}

/// Increments a gauge until the guard is dropped.
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn new(gauge: Gauge) -> GaugeGuard {
        gauge.inc();
        GaugeGuard(gauge)
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

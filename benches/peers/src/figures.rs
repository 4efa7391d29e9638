//! The figures of each contestant, their ratios, and the tables.

use crate::contestant::{Contestant, Side};
use crate::options::Options;
use std::time::Duration;
use teamlog_benches::rounds::median;

/// The figures of one contestant in one section. The cost of a round is a time, so a lower cost is better.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Cost of each round.
    pub rounds: Vec<f64>,
    /// Durations of the calls in all rounds.
    pub calls: Vec<Duration>,
    /// Bytes that went to the device.
    pub written: u64,
    /// Number of events in all rounds.
    pub events: u64,
}

impl Series {
    /// Returns the median round; `None` without rounds.
    pub fn cost(&self) -> Option<f64> {
        (!self.rounds.is_empty()).then(|| median(self.rounds.clone()))
    }

    /// Returns the duration of the call at percentile `place`, in microseconds.
    pub fn call(&self, place: f64) -> String {
        let at = (self.calls.len() as f64 * place) as usize;
        let call = self.calls.get(at.min(self.calls.len().saturating_sub(1)));
        call.map_or("–".into(), |call| number(call.as_secs_f64() * 1e6))
    }

    /// Sorts the calls, for [`Series::call`].
    pub fn sorted(mut self) -> Series {
        self.calls.sort_unstable();
        self
    }

    /// Returns how many times as fast this contestant is as the other contestant: the median of the rounds' ratios.
    fn against(&self, other: &Series) -> Option<f64> {
        let pairs = self.rounds.iter().zip(&other.rounds);
        let ratios: Vec<f64> = pairs.map(|(own, other)| other / own).collect();
        (!ratios.is_empty()).then(|| median(ratios))
    }
}

/// All contestants of a section.
pub struct Field<'a>(pub &'a [Contestant], pub Vec<Series>);

impl Field<'_> {
    /// Returns the fastest peer of this run.
    pub fn best_peer(&self) -> Option<usize> {
        let peers = (0..self.0.len()).filter(|at| self.0[*at].side() == Side::Peer);
        let timed = peers.filter_map(|at| Some((at, self.1[at].cost()?)));
        timed
            .min_by(|one, other| one.1.total_cmp(&other.1))
            .map(|(at, _)| at)
    }

    /// Returns how many times as fast the contestant `at` is as the contestant `other`.
    pub fn ratio(&self, at: usize, other: Option<usize>) -> String {
        let ratio = other.and_then(|other| self.1[at].against(&self.1[other]));
        ratio.map_or("–".into(), |ratio| format!("{ratio:.2} x"))
    }

    /// Returns the index of a contestant.
    pub fn index(&self, contestant: Contestant) -> Option<usize> {
        self.0.iter().position(|one| *one == contestant)
    }

    /// Returns the name of a contestant; the name of the fastest peer is in bold.
    pub fn name(&self, at: usize) -> String {
        let name = self.0[at].name();
        match self.best_peer() == Some(at) {
            true => format!("**{name}**"),
            false => name,
        }
    }
}

/// Formats a number with a useful number of digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Prints the head of a table.
pub fn head(columns: &[&str]) {
    row(columns.iter().map(|column| column.to_string()));
    row(columns.iter().map(|_| "---".into()));
}

/// Prints a row.
pub fn row(cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().collect();
    println!("| {} |", cells.join(" | "));
}

/// Prints the conditions of the run.
pub fn about(options: &Options) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    println!("## teamlog beside its peers\n");
    println!(
        "{cores} cores, kernel {}, {} rounds, contestants in turns; history of {} events.",
        read("/proc/sys/kernel/osrelease").trim(),
        options.rounds(),
        options.history(),
    );
    println!("A ratio says how many times as fast; the best peer of appends is bold.\n");
    load("at the start");
}

/// Prints the load of the machine.
pub fn load(when: &str) {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    println!("\nLoad {when}: {}.", load.join(" "));
}

//! Runs contestants in turns, so that other load of the machine slows all of them.

use crate::table::{Target, row};
use std::time::{Duration, Instant};

/// A contestant measures its own time, so that preparation is not counted.
pub type Contestant<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// The times of each contestant, round by round.
pub struct Times(Vec<Vec<Duration>>);

/// Runs all contestants in every round, in the order of [`turns`].
pub fn run(rounds: usize, mut contestants: Vec<Contestant<'_>>) -> Times {
    let count = contestants.len();
    let mut times = vec![Vec::with_capacity(rounds); count];
    turns(rounds, count, |round, at| {
        let took = contestants[at]();
        if round > 0 {
            times[at].push(took);
        }
    });
    Times(times)
}

/// Calls `measure` with a round and a contestant. Each of `count` contestants runs in every round, in reverse order in every
/// second round. An additional round, number 0, warms up and does not count.
pub fn turns(rounds: usize, count: usize, mut measure: impl FnMut(usize, usize)) {
    for round in 0..=rounds {
        for turn in 0..count {
            let at = match round % 2 {
                0 => turn,
                _ => count - 1 - turn,
            };
            measure(round, at);
        }
    }
}

impl Times {
    /// Returns how many times as long `one` took as `other`: the median of the rounds' ratios.
    pub fn ratio(&self, one: usize, other: usize) -> f64 {
        let pairs = self.0[one].iter().zip(&self.0[other]);
        let ratio = |(one, other): (&Duration, &Duration)| one.as_secs_f64() / other.as_secs_f64();
        median(pairs.map(ratio).collect())
    }

    /// Prints a row. With an upper limit, the row shows the time of the second contestant divided by the time of the first.
    /// With a lower limit, the row shows the time of the first contestant divided by the time of the second. The row also shows
    /// the time of each contestant per `thing`, if a round has `count` things.
    pub fn row(&self, name: &str, target: Target, count: u32, thing: &str) {
        self.row_of(name, target, [1, 0], count, thing);
    }

    /// Like `row`, for any two contestants.
    pub fn row_of(
        &self,
        name: &str,
        target: Target,
        [one, other]: [usize; 2],
        count: u32,
        thing: &str,
    ) {
        let each = |at| human(self.median(at) / count);
        let detail = format!("{} against {}{thing}", each(one), each(other));
        let figure = match target {
            Target::AtMost(_) => self.ratio(one, other),
            _ => self.ratio(other, one),
        };
        row(name, target, figure, " x", &detail);
    }

    /// Returns the median time of one contestant.
    pub fn median(&self, at: usize) -> Duration {
        let seconds = median(self.0[at].iter().map(Duration::as_secs_f64).collect());
        Duration::from_secs_f64(seconds)
    }
}

/// Returns the median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the duration of `run`.
pub fn timed(run: impl FnOnce()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

/// Formats a duration for people.
pub fn human(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    match micros {
        0.0..1.0 => format!("{:.0} ns", micros * 1e3),
        1.0..1e3 => format!("{micros:.1} us"),
        1e3..1e6 => format!("{:.1} ms", micros / 1e3),
        _ => format!("{:.1} s", micros / 1e6),
    }
}

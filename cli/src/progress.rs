//! A progress bar on standard error. The bar is shown on terminals if the work takes more than a second.

use crate::env::ProcessEnv;
use crate::render::time;
use std::time::{Duration, Instant};

/// Time before the bar is shown.
const QUIET: Duration = Duration::from_secs(1);
/// Minimum time between two updates of the bar.
const STEP: Duration = Duration::from_millis(100);
/// Width of the bar in characters.
const WIDTH: u64 = 30;

#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    env: ProcessEnv,
    started: Instant,
    drawn: Option<Instant>,
}

impl Progress {
    pub fn on_stderr(what: &'static str, env: &ProcessEnv) -> Progress {
        Progress {
            what,
            env: env.clone(),
            started: Instant::now(),
            drawn: None,
        }
    }

    pub fn show(&mut self, done: u64, all: u64) {
        if !self.env.terminals().stderr || self.started.elapsed() < QUIET {
            return;
        }
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < STEP) {
            return;
        }
        self.drawn = Some(Instant::now());
        // Ignore errors, because a failed update of the bar must not stop the work.
        self.env.say(&format!("\r{}", line(self.what, done, all)));
    }

    /// Removes the bar.
    pub fn clear(&mut self) {
        if self.drawn.take().is_some() {
            self.env.say("\r\x1b[K");
        }
    }
}

fn line(what: &str, done: u64, all: u64) -> String {
    let all = all.max(1);
    let done = done.min(all);
    let filled = u128::from(done) * u128::from(WIDTH) / u128::from(all);
    let bar: String = (0..u128::from(WIDTH))
        .map(|i| if i < filled { '#' } else { '-' })
        .collect();
    format!(
        "{what} [{bar}] {} of {}",
        time::count(done),
        time::count(all)
    )
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_bar_fills_and_never_overflows() {
        assert_eq!(line("x", 0, 0), format!("x [{}] 0 of 1", "-".repeat(30)));
        assert_eq!(
            line("x", 1_000, 2_000),
            format!("x [{}{}] 1,000 of 2,000", "#".repeat(15), "-".repeat(15))
        );
        assert_eq!(
            line("x", u64::MAX, 5),
            format!("x [{}] 5 of 5", "#".repeat(30))
        );
    }
}

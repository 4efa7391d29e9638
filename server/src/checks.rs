//! Queue of requested checks of whole teams. The checks run one after another.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use teamlog_team::engine::Timestamp;
use teamlog_team::integrity::{Background, Check, CheckProgress, RunningCheck};

#[derive(Debug, Default)]
pub(crate) struct Checks {
    open: Mutex<BTreeMap<(String, Check), RunningCheck>>,
}

impl Checks {
    /// Returns the oldest request.
    pub fn first(&self) -> Option<(String, Check)> {
        let open = self.lock();
        let first = open.iter().min_by_key(|(_, running)| running.started_at);
        first.map(|(key, _)| key.clone())
    }

    /// Stores the progress of a check.
    pub fn progressed(&self, team: &str, check: Check, progress: CheckProgress) {
        if let Some(running) = self.lock().get_mut(&(team.to_owned(), check)) {
            running.progress = progress;
        }
    }

    /// Removes a check that ended.
    pub fn ended(&self, team: &str, check: Check) {
        self.lock().remove(&(team.to_owned(), check));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, Check), RunningCheck>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Background for Checks {
    fn start(&self, team: &str, check: Check, now: Timestamp) {
        let mut open = self.lock();
        open.entry((team.to_owned(), check))
            .or_insert(RunningCheck {
                started_at: now,
                progress: CheckProgress::default(),
            });
    }

    fn running(&self, team: &str, check: Check) -> Option<RunningCheck> {
        self.lock().get(&(team.to_owned(), check)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_made_once_and_the_first_asked_for_comes_first() {
        let checks = Checks::default();
        let at = |text: &str| Timestamp::parse(text).unwrap();
        checks.start("b", Check::Verify, at("2026-11-21T12:00:00.000000Z"));
        checks.start("a", Check::Doctor, at("2026-11-21T12:00:01.000000Z"));
        checks.start("b", Check::Verify, at("2026-11-21T12:00:02.000000Z"));
        assert_eq!(checks.first(), Some(("b".to_owned(), Check::Verify)));
        let (bytes, bytes_total) = (3, 7);
        let progress = CheckProgress { bytes, bytes_total };
        checks.progressed("b", Check::Verify, progress);
        let running = checks.running("b", Check::Verify).unwrap();
        assert_eq!(running.progress, progress);
        assert_eq!(running.started_at, at("2026-11-21T12:00:00.000000Z"));
        assert!(checks.running("a", Check::Verify).is_none());
        checks.ended("b", Check::Verify);
        checks.progressed("b", Check::Verify, progress);
        assert!(checks.running("b", Check::Verify).is_none());
        assert_eq!(checks.first(), Some(("a".to_owned(), Check::Doctor)));
    }
}

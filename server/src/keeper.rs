//! The daemon's own work: each second it looks for teams that came or went, and records in every team what is due.

use crate::options::ServeOptions;
use crate::runtime::Runtimes;
use crate::served::{Condition, Served};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};
use teamlog_team::command::tick::Tick;
use teamlog_team::failure::code_of;
use teamlog_team::{Failure, Team};

/// The clock by which a file system dates a change may stand still for so long: what changed since then may change
/// again unseen.
const CLOCK_GRAIN: Duration = Duration::from_secs(2);

/// See the module.
pub(crate) struct Keeper {
    served: Arc<Served>,
    runtimes: Arc<Runtimes>,
    /// Where to look for new teams; nowhere, if only some are served.
    watched: Option<PathBuf>,
    every: Duration,
    /// When what is watched had changed, as last seen.
    seen: Option<SystemTime>,
    /// The handles, which keep what they have read.
    teams: BTreeMap<String, Team>,
}

impl Keeper {
    pub fn new(
        options: &ServeOptions,
        teams_dir: &Path,
        served: Arc<Served>,
        runtimes: Arc<Runtimes>,
    ) -> Keeper {
        Keeper {
            served,
            runtimes,
            watched: options.teams.is_empty().then(|| teams_dir.to_owned()),
            every: options.limits.tick_time,
            seen: None,
            teams: BTreeMap::new(),
        }
    }

    /// Works until it is told to stop.
    pub fn run(mut self, stop: &Receiver<()>) {
        loop {
            self.adopt();
            for name in self.served.names() {
                let condition = self.tick(&name);
                self.served.found(&name, condition);
                if self.served.is_stopping() {
                    return;
                }
            }
            match stop.recv_timeout(self.every) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Serves teams that came, and no longer those that went.
    fn adopt(&mut self) {
        let Some(dir) = &self.watched else { return };
        let Ok(changed) = std::fs::metadata(dir).and_then(|found| found.modified()) else {
            return;
        };
        if self.seen == Some(changed) {
            return;
        }
        let Ok(names) = self.served.root().teams() else {
            return;
        };
        let settled = changed.elapsed().is_ok_and(|age| age > CLOCK_GRAIN);
        self.seen = settled.then_some(changed);
        for name in self.served.names() {
            if !names.contains(&name) {
                self.teams.remove(&name);
                let _ = self.runtimes.withdraw(&self.served, &name);
            }
        }
        for name in names {
            if !self.served.serves(&name) && self.runtimes.publish(&self.served, &name).is_err() {
                // Tried again with the next round.
                self.seen = None;
            }
        }
    }

    /// Records what is due in a team, and tells how it is.
    fn tick(&mut self, name: &str) -> Condition {
        match self.ticked(name) {
            Ok(()) => Condition::Sound,
            Err(failure) => {
                self.teams.remove(name);
                unready(&failure)
            }
        }
    }

    fn ticked(&mut self, name: &str) -> Result<(), Failure> {
        let team = match self.teams.remove(name) {
            Some(team) => team,
            None => self.served.team(name)?,
        };
        let team = self.teams.entry(name.to_owned()).or_insert(team);
        match team.tick(Tick::default()) {
            Ok(_) => Ok(team.finish()?),
            // A team that was closed has nothing due, and is none the worse for it.
            Err(Failure::Refused(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}

fn unready(failure: &Failure) -> Condition {
    let code = match failure.engine() {
        Some(error) => code_of(error),
        None => "failed",
    };
    let why = failure.to_string();
    Condition::Unready { code, why }
}

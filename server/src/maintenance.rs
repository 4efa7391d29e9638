//! The daemon's own work: each second it looks for teams that came or went, takes in what other hosts recorded in them, and
//! records in every team what is due. The teams of a journal have a thread of their own for that, so that a journal that hangs
//! keeps no other team waiting.

use crate::options::ServeOptions;
use crate::runtime::Runtimes;
use crate::served::{Condition, Served};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use teamlog_team::lifecycle::tick::Tick;
use teamlog_team::{Code, Failure, Root, RootOptions};

/// The clock by which a file system dates a change may stand still for so long: what changed since then may change
/// again unseen.
const CLOCK_GRAIN: Duration = Duration::from_secs(2);
/// The code of a team whose journal does not answer.
const SILENT: &str = "journal_unreachable";
/// How long the timer waits for a team that somebody else writes to.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) struct Maintenance {
    lane: Lane,
    /// The last round of each journal's teams, by the journal's id.
    rounds: BTreeMap<String, JoinHandle<()>>,
    served: Arc<Served>,
    runtimes: Arc<Runtimes>,
    /// Where to look for new teams; nowhere, if only some are served.
    watched: Option<PathBuf>,
    every: Duration,
    /// When what is watched had changed, as last seen.
    seen: Option<SystemTime>,
}

/// Records due work in teams, one after the other.
#[derive(Clone)]
struct Lane {
    served: Arc<Served>,
    /// The same open teams, but nobody waits long for a lock: other teams have something due as well.
    root: Root,
}

impl Maintenance {
    pub fn new(
        options: &ServeOptions,
        teams_dir: &Path,
        served: Arc<Served>,
        runtimes: Arc<Runtimes>,
    ) -> Maintenance {
        let deadline = RootOptions {
            lock_deadline: LOCK_TIMEOUT.min(served.root().options().lock_deadline),
            ..served.root().options().clone()
        };
        Maintenance {
            lane: Lane {
                root: served.root().with_options(deadline),
                served: served.clone(),
            },
            rounds: BTreeMap::new(),
            served,
            runtimes,
            watched: options.teams.is_empty().then(|| teams_dir.to_owned()),
            every: options.limits.tick_time,
            seen: None,
        }
    }

    /// Works until it is told to stop.
    pub fn run(mut self, stop: &Receiver<()>) {
        loop {
            self.adopt();
            self.served.pasts().forget_idle();
            // Tried again with the next round.
            let _ = self.runtimes.replenish(&self.served, None);
            self.served.page_sessions().expire(self.served.now());
            self.served.expire_agents();
            let mut expired = Instant::now();
            let mut journaled = BTreeMap::<String, Vec<String>>::new();
            for name in self.served.names() {
                // Tried again with the next round.
                let _ = self.runtimes.replenish(&self.served, Some(&name));
                if expired.elapsed() >= self.every {
                    // In time, whatever the others take.
                    self.served.expire_agents();
                    expired = Instant::now();
                }
                match self.lane.journal(&name) {
                    Some(journal) => journaled.entry(journal).or_default().push(name),
                    None => {
                        let condition = self.lane.tick(&name);
                        self.served.found(&name, condition);
                    }
                }
                if self.served.is_stopping() {
                    return self.end();
                }
            }
            self.begin_rounds(journaled);
            match stop.recv_timeout(self.every) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return self.end(),
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
                let _ = self.runtimes.withdraw(&self.served, Some(&name));
            }
        }
        for name in names {
            let serves = || self.runtimes.publish(&self.served, Some(&name));
            if !self.served.serves(&name) && serves().is_err() {
                // Tried again with the next round.
                self.seen = None;
            }
        }
    }

    /// Begins a round for the teams of each journal whose last round is over.
    fn begin_rounds(&mut self, journaled: BTreeMap<String, Vec<String>>) {
        self.rounds.retain(|_, round| !round.is_finished());
        for (journal, names) in journaled {
            if self.rounds.contains_key(&journal) {
                continue;
            }
            let lane = self.lane.clone();
            let begun = std::thread::Builder::new()
                .name("follower".to_owned())
                .spawn(move || lane.round(&names));
            // Tried again with the next round.
            if let Ok(round) = begun {
                self.rounds.insert(journal, round);
            }
        }
    }

    /// Waits until the rounds are over: each ends behind the team that it is at.
    fn end(self) {
        for round in self.rounds.into_values() {
            let _ = round.join();
        }
    }
}

impl Lane {
    /// The journal that orders the events of a team, if one does.
    fn journal(&self, name: &str) -> Option<String> {
        let team = self.root.team(name).ok()?;
        let journal = team.log().identity().journal.as_ref();
        journal.map(|journal| journal.id.clone())
    }

    /// Records what is due in the teams of one journal. Where it does not answer for one of them, the others do not ask it in turn.
    fn round(&self, names: &[String]) {
        let mut silent: Option<Condition> = None;
        for name in names {
            let condition = silent.clone().unwrap_or_else(|| self.tick(name));
            if let Condition::Unready { code: SILENT, .. } = condition {
                silent = Some(condition.clone());
            }
            self.served.found(name, condition);
            if self.served.is_stopping() {
                return;
            }
        }
    }

    /// Records what is due in a team, and tells how it is. The team's lock is taken with the first look and kept.
    fn tick(&self, name: &str) -> Condition {
        match self.ticked(name) {
            Ok(()) => Condition::Sound,
            // A rule that keeps it from being changed, as in a team that was closed, leaves it sound.
            Err(Failure::Refused(refusal)) if refusal.code != Code::SyncFailed => Condition::Sound,
            Err(failure) => {
                let (code, why) = (failure.code(), failure.to_string());
                Condition::Unready { code, why }
            }
        }
    }

    fn ticked(&self, name: &str) -> Result<(), Failure> {
        // A handle of each round: what is behind the name may be another log by now.
        let mut team = self.root.team(name)?;
        team.writable()?;
        if team.log().identity().journal.is_some() {
            // What other hosts recorded is shown to whoever reads here, though nobody records.
            team.catch_up()?;
        }
        team.tick(Tick::default())?;
        team.finish()
    }
}

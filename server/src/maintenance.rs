//! The daemon's own work: each second it looks for teams that came or went, takes in what other hosts recorded in them, and
//! records in every team what is due. The teams of a journal have a thread of their own for that, so that a journal that hangs
//! keeps no other team waiting; a team that takes longer than its deadline goes on in that thread alone, and the others in a new one.

use crate::options::ServeOptions;
use crate::runtime::Runtimes;
use crate::served::{Condition, Served};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
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
/// Time that following one team may take before the other teams of its journal wait for it no longer.
const FOLLOW_DEADLINE: Duration = Duration::from_secs(5);

pub(crate) struct Maintenance {
    lane: Lane,
    /// The last round of each journal's teams, by the journal's id.
    rounds: BTreeMap<String, Round>,
    /// Rounds whose last team missed its deadline, by the team: they end behind it.
    late: BTreeMap<String, JoinHandle<()>>,
    served: Arc<Served>,
    runtimes: Arc<Runtimes>,
    /// Where to look for new teams; nowhere, if only some are served.
    watched: Option<PathBuf>,
    every: Duration,
    /// When what is watched had changed, as last seen.
    seen: Option<SystemTime>,
}

/// A round through the teams of one journal, in a thread of its own.
struct Round {
    thread: JoinHandle<()>,
    at: Arc<RoundAt>,
}

/// How far a round is.
#[derive(Default)]
struct RoundAt {
    /// The team that is followed, and since when.
    team: Mutex<Option<(String, Instant)>>,
    /// Whether the round ends behind that team.
    is_last: AtomicBool,
}

impl RoundAt {
    fn begin(&self, team: &str) {
        *self.team.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((team.to_owned(), Instant::now()));
    }

    /// The team that missed its deadline, if one did.
    fn late(&self) -> Option<String> {
        let team = self.team.lock().unwrap_or_else(PoisonError::into_inner);
        let late = team
            .as_ref()
            .filter(|(_, since)| since.elapsed() > FOLLOW_DEADLINE);
        late.map(|(team, _)| team.clone())
    }
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
            late: BTreeMap::new(),
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
        self.rounds.retain(|_, round| !round.thread.is_finished());
        self.late.retain(|_, thread| !thread.is_finished());
        self.leave_late();
        for (journal, mut names) in journaled {
            if self.rounds.contains_key(&journal) {
                continue;
            }
            names.retain(|name| !self.late.contains_key(name));
            let (lane, at) = (self.lane.clone(), Arc::<RoundAt>::default());
            let own = at.clone();
            let begun = std::thread::Builder::new()
                .name("follower".to_owned())
                .spawn(move || lane.round(&names, &own));
            // Tried again with the next round.
            if let Ok(thread) = begun {
                self.rounds.insert(journal, Round { thread, at });
            }
        }
    }

    /// Waits no longer for rounds of which a team missed its deadline. Each team has at most one thread that is late.
    fn leave_late(&mut self) {
        let late = self.rounds.iter();
        let late = late.filter_map(|(journal, round)| Some((journal.clone(), round.at.late()?)));
        for (journal, team) in late.collect::<Vec<_>>() {
            if let Some(round) = self.rounds.remove(&journal) {
                round.at.is_last.store(true, Ordering::Release);
                let (code, why) = (
                    SILENT,
                    "following its journal misses its deadline".to_owned(),
                );
                self.served.found(&team, Condition::Unready { code, why });
                self.late.insert(team, round.thread);
            }
        }
    }

    /// Waits until the rounds are over: each ends behind the team that it is at.
    fn end(self) {
        let rounds = self.rounds.into_values().map(|round| round.thread);
        for thread in rounds.chain(self.late.into_values()) {
            let _ = thread.join();
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
    fn round(&self, names: &[String], at: &RoundAt) {
        let mut silent: Option<Condition> = None;
        for name in names {
            at.begin(name);
            let condition = silent.clone().unwrap_or_else(|| self.tick(name));
            if let Condition::Unready { code: SILENT, .. } = condition {
                silent = Some(condition.clone());
            }
            self.served.found(name, condition);
            if self.served.is_stopping() || at.is_last.load(Ordering::Acquire) {
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

//! Maintenance: each second the daemon looks for new and removed teams, reads events recorded by other hosts, and
//! records due events in every team. The teams of each journal have a thread of their own, so that a journal that hangs
//! blocks no other teams. If a team exceeds its deadline, that thread continues with it alone, and a new thread takes
//! over the journal's other teams.

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

/// Granularity of file times: after a change that is more recent, another change may leave the time equal.
const CLOCK_GRAIN: Duration = Duration::from_secs(2);
/// Code of a team whose journal does not answer.
const SILENT: &str = "journal_unreachable";
/// Time that a tick waits for the lock of a team.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);
/// Time for following one team; after it, the journal's other teams no longer wait for that team.
const FOLLOW_DEADLINE: Duration = Duration::from_secs(5);

pub(crate) struct Maintenance {
    lane: Lane,
    /// The last round of each journal's teams, by the journal's id.
    rounds: BTreeMap<String, Round>,
    /// Rounds whose last team exceeded its deadline, by team; each ends after that team.
    late: BTreeMap<String, JoinHandle<()>>,
    served: Arc<Served>,
    runtimes: Arc<Runtimes>,
    /// Directory in which new teams are searched; `None` if only named teams are served.
    watched: Option<PathBuf>,
    every: Duration,
    /// Modification time of the directory, as last seen.
    seen: Option<SystemTime>,
}

/// A round over the teams of one journal, in a thread of its own.
struct Round {
    thread: JoinHandle<()>,
    at: Arc<RoundAt>,
}

/// Progress of a round.
#[derive(Default)]
struct RoundAt {
    /// The current team, and the time at which it was begun.
    team: Mutex<Option<(String, Instant)>>,
    /// True if the round must end after the current team.
    is_last: AtomicBool,
}

impl RoundAt {
    fn begin(&self, team: &str) {
        *self.team.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((team.to_owned(), Instant::now()));
    }

    /// Returns the team that exceeded its deadline, if one did.
    fn late(&self) -> Option<String> {
        let team = self.team.lock().unwrap_or_else(PoisonError::into_inner);
        let late = team
            .as_ref()
            .filter(|(_, since)| since.elapsed() > FOLLOW_DEADLINE);
        late.map(|(team, _)| team.clone())
    }
}

/// Records due events in teams, one after the other.
#[derive(Clone)]
struct Lane {
    served: Arc<Served>,
    /// Root with the same open teams, but a short lock timeout, since other teams have due events too.
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

    /// Runs until it is told to stop.
    pub fn run(mut self, stop: &Receiver<()>) {
        loop {
            self.adopt();
            self.served.pasts().forget_idle();
            // On failure, the next round tries again.
            let _ = self.runtimes.replenish(&self.served, None);
            self.served.page_sessions().expire(self.served.now());
            self.served.expire_agents();
            let mut expired = Instant::now();
            let mut journaled = BTreeMap::<String, Vec<String>>::new();
            for name in self.served.names() {
                // On failure, the next round tries again.
                let _ = self.runtimes.replenish(&self.served, Some(&name));
                if expired.elapsed() >= self.every {
                    // Independent of the rounds, so that slow teams do not delay it.
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

    /// Serves new teams, and stops serving removed ones.
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
                // Makes the next round try again.
                self.seen = None;
            }
        }
    }

    /// Starts a round over the teams of each journal whose last round is finished.
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
            // On failure, the next round tries again.
            if let Ok(thread) = begun {
                self.rounds.insert(journal, Round { thread, at });
            }
        }
    }

    /// Stops waiting for rounds in which a team exceeded its deadline. Each team has at most one late thread.
    fn leave_late(&mut self) {
        let late = self.rounds.iter();
        let late = late.filter_map(|(journal, round)| Some((journal.clone(), round.at.late()?)));
        for (journal, team) in late.collect::<Vec<_>>() {
            if let Some(round) = self.rounds.remove(&journal) {
                round.at.is_last.store(true, Ordering::Release);
                let (code, why) = (SILENT, "the journal did not answer in time".to_owned());
                self.served.found(&team, Condition::Unready { code, why });
                self.late.insert(team, round.thread);
            }
        }
    }

    /// Waits for the rounds' end: each ends after its current team.
    fn end(self) {
        let rounds = self.rounds.into_values().map(|round| round.thread);
        for thread in rounds.chain(self.late.into_values()) {
            let _ = thread.join();
        }
    }
}

impl Lane {
    /// Returns the journal that orders the team's events, if one does.
    fn journal(&self, name: &str) -> Option<String> {
        let team = self.root.team(name).ok()?;
        let journal = team.log().identity().journal.as_ref();
        journal.map(|journal| journal.id.clone())
    }

    /// Records due events in the teams of one journal. If the journal does not answer for one team, the others are
    /// skipped.
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

    /// Records due events in a team and returns its condition. Takes the team's lock at the first call and keeps it.
    fn tick(&self, name: &str) -> Condition {
        match self.ticked(name) {
            Ok(()) => Condition::Sound,
            // A rule that forbids changes, as in a closed team, leaves the team sound.
            Err(Failure::Refused(refusal)) if refusal.code != Code::SyncFailed => Condition::Sound,
            Err(failure) => {
                let (code, why) = (failure.code(), failure.to_string());
                Condition::Unready { code, why }
            }
        }
    }

    fn ticked(&self, name: &str) -> Result<(), Failure> {
        // A new handle per round, since the name may refer to another log by now.
        let mut team = self.root.team(name)?;
        team.writable()?;
        if team.log().identity().journal.is_some() {
            // Readers of this daemon see events of other hosts, even if nothing is recorded here.
            team.catch_up()?;
        }
        team.tick(Tick::default())?;
        team.finish()
    }
}

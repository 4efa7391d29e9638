//! Maintenance: each second the daemon looks for new and removed teams, reads events that other hosts recorded, and records
//! due events in every team.
//!
//! The teams of each journal have a separate thread, so that a journal that hangs does not block other teams. If a team
//! exceeds its deadline, this thread continues with only that team, and a new thread takes over the other teams of the
//! journal.

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

/// Granularity of file times. Two changes within this time may leave equal file times.
const CLOCK_GRAIN: Duration = Duration::from_secs(2);
/// Code of a team whose journal does not answer.
const SILENT: &str = "journal_unreachable";
/// Maximum time that a tick waits for the lock of a team.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);
/// Time limit for one team in a round. After this time, the other teams of the journal no longer wait for this team.
const FOLLOW_DEADLINE: Duration = Duration::from_secs(5);

pub(crate) struct Maintenance {
    lane: Lane,
    /// The last round of each journal, by the id of the journal.
    rounds: BTreeMap<String, Round>,
    /// Rounds whose current team exceeded its deadline, by team. Each round ends after that team.
    late: BTreeMap<String, JoinHandle<()>>,
    served: Arc<Served>,
    runtimes: Arc<Runtimes>,
    /// Directory in which the daemon looks for new teams. `None` if the daemon serves only named teams.
    watched: Option<PathBuf>,
    every: Duration,
    /// Modification time of the directory when it was last read.
    seen: Option<SystemTime>,
}

/// A round over the teams of one journal, on a separate thread.
struct Round {
    thread: JoinHandle<()>,
    at: Arc<RoundAt>,
}

/// Progress of a round.
#[derive(Default)]
struct RoundAt {
    /// The current team, and the time at which the round reached it.
    team: Mutex<Option<(String, Instant)>>,
    /// True if the round must end after the current team.
    is_last: AtomicBool,
}

impl RoundAt {
    fn begin(&self, team: &str) {
        *self.team.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((team.to_owned(), Instant::now()));
    }

    /// Returns the current team if it exceeded its deadline.
    fn late(&self) -> Option<String> {
        let team = self.team.lock().unwrap_or_else(PoisonError::into_inner);
        let late = team
            .as_ref()
            .filter(|(_, since)| since.elapsed() > FOLLOW_DEADLINE);
        late.map(|(team, _)| team.clone())
    }
}

/// Records due events in teams, one team after another.
#[derive(Clone)]
struct Lane {
    served: Arc<Served>,
    /// Data root with the daemon's open teams and a short lock timeout, so that one locked team does not delay the others.
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

    /// Runs the maintenance until `stop` receives a message.
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
                    // Expire tokens outside of the rounds, so that slow teams do not delay the expiry.
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

    /// Starts to serve new teams, and stops serving removed teams.
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
                // Force the next round to read the directory again.
                self.seen = None;
            }
        }
    }

    /// Starts a round over the teams of each journal whose last round has ended.
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

    /// Stops waiting for rounds whose current team exceeded its deadline. A team has at most one such round.
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

    /// Waits until the rounds have ended. Each round ends after its current team.
    fn end(self) {
        let rounds = self.rounds.into_values().map(|round| round.thread);
        for thread in rounds.chain(self.late.into_values()) {
            let _ = thread.join();
        }
    }
}

impl Lane {
    /// Returns the journal that orders the team's events, if the team has a journal.
    fn journal(&self, name: &str) -> Option<String> {
        let team = self.root.team(name).ok()?;
        let journal = team.log().identity().journal.as_ref();
        journal.map(|journal| journal.id.clone())
    }

    /// Records due events in the teams of one journal. If the journal does not answer for a team, skips the other teams.
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

    /// Records due events in a team, and returns the condition of the team. The first call takes the team's lock and keeps it.
    fn tick(&self, name: &str) -> Condition {
        match self.ticked(name) {
            Ok(()) => Condition::Sound,
            // A rule can forbid changes, for example in a closed team. Such a refusal does not make the team unready.
            Err(Failure::Refused(refusal)) if refusal.code != Code::SyncFailed => Condition::Sound,
            Err(failure) => {
                let (code, why) = (failure.code(), failure.to_string());
                Condition::Unready { code, why }
            }
        }
    }

    fn ticked(&self, name: &str) -> Result<(), Failure> {
        // Open a new handle in each round, because another log may have replaced the log.
        let mut team = self.root.team(name)?;
        team.writable()?;
        if team.log().identity().journal.is_some() {
            // Readers of this daemon must see events of other hosts, even if this daemon records nothing.
            team.catch_up()?;
        }
        team.tick(Tick::default())?;
        team.finish()
    }
}

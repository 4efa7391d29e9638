//! Three hosts that write one log through one journal, in one thread. Before each call to the journal, other hosts may act. One
//! seed decides which answers are lost, which groups arrive late, which processes die, and which disks lose unsynced bytes.

use crate::support::*;
use std::sync::{Mutex, MutexGuard};
use teamlog_engine::internals::journal::MemoryJournal;
use teamlog_engine::journal::{Append, Journal, LogState, Outcome, Page, Position, ReadError};
use teamlog_engine::{
    CommitError, Event, JournalFault, ManualClock, Place, SeededIds, State, Writer,
};

pub const HOSTS: usize = 3;

/// State that a host folds. Every claim gets the next epoch, and only the holder of a claim can release the claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    pub texts: Vec<String>,
    /// Number of durable events.
    settled: usize,
}

impl Claims {
    pub fn epoch(&self) -> usize {
        let claims = self.texts.iter().filter(|text| text.starts_with("claim"));
        claims.count()
    }

    /// Returns the holder of the claim, if any.
    pub fn holder(&self) -> Option<usize> {
        let mut words = self.texts.last()?.split(' ');
        match (words.next(), words.nth(1)) {
            (Some("claim"), Some(host)) => host.parse().ok(),
            _ => None,
        }
    }
}

impl State for Claims {
    fn apply(&mut self, events: &[Event<'static>]) -> teamlog_engine::Result<()> {
        self.texts.extend(events.iter().map(text));
        Ok(())
    }
    fn committed(&mut self, _: &Head, events: &[Event<'static>], _: &[Place], _: &[u32]) {
        self.settled += events.len();
        assert_eq!(
            self.settled,
            self.texts.len(),
            "all that was folded is durable"
        );
    }
    fn allow_retract(&mut self) {}
    fn retract(&mut self) {
        self.texts.truncate(self.settled);
    }
}

/// Outcome of a job, with the times of its start and end.
#[derive(Debug, Clone)]
pub struct Done {
    pub asked: u64,
    pub answered: u64,
    pub text: String,
    pub came_to: CameTo,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CameTo {
    /// The job's event was recorded with this seq.
    Acked(u64),
    /// The job was refused on a state with this number of events.
    Refused(u64),
    /// The job recorded nothing.
    Nothing,
    /// The outcome is unknown: the job may have recorded its events or not.
    Unknown,
}

/// Settings of a test world.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    pub format: Format,
    pub steps: usize,
    /// The point at which the first host dies, if any.
    pub death: Option<Death>,
}

/// The point at which the first host dies.
#[derive(Debug, Clone, Copy)]
pub enum Death {
    /// The host dies before the call to its storage with this number.
    Storage(usize),
    /// The host dies before the call to its journal with this number.
    BeforeJournal(usize),
    /// The host dies after the call to its journal with this number.
    BehindJournal(usize),
}

pub struct World {
    pub plan: Plan,
    rng: SeededIds,
    pub journal: MemoryJournal,
    /// Groups that were sent and have not arrived.
    late: Mutex<Vec<Late>>,
    hosts: [Mutex<Option<Host>>; HOSTS],
    time: AtomicU64,
    pub done: Mutex<Vec<Done>>,
    /// True if the world causes no more faults.
    calm: Mutex<bool>,
    jobs: AtomicU64,
    /// Number of calls of the first host to its journal.
    pub calls: AtomicU64,
}

/// Way in which a process ends.
enum End {
    /// Closes the writer, like a long-lived process.
    Close,
    /// Releases the writer, like a command.
    Release,
    Death,
}

struct Late {
    log: teamlog_engine::LogId,
    after: Position,
    position: Position,
    last_id: teamlog_engine::EventId,
    bytes: Vec<u8>,
}

struct Host {
    number: usize,
    memory: Memory,
    faulty: Faulty,
    clock: Arc<ManualClock>,
    options: LogOptions,
    writer: Option<Writer<Claims>>,
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl World {
    pub fn new(plan: Plan) -> Arc<World> {
        let memory = Memory::new();
        create_shared(&arc(&memory), plan.format, &options().1);
        let hosts = std::array::from_fn(|number| {
            Mutex::new(Some(Host::new(number, memory.snapshot(), plan.seed)))
        });
        Arc::new(World {
            plan,
            rng: SeededIds(plan.seed.into()),
            journal: MemoryJournal::default(),
            late: Mutex::default(),
            hosts,
            time: AtomicU64::new(0),
            done: Mutex::default(),
            calm: Mutex::new(false),
            jobs: AtomicU64::new(0),
            calls: AtomicU64::new(0),
        })
    }

    pub fn run(self: &Arc<World>) {
        if let Some(Death::Storage(call)) = self.plan.death
            && let Some(host) = guard(&self.hosts[0]).as_mut()
        {
            host.faulty.arm(call, Fault::Stop);
        }
        for _ in 0..self.plan.steps {
            self.step();
        }
        *guard(&self.calm) = true;
        self.arrive(usize::MAX);
    }

    /// Returns a number from 0 to `n - 1`.
    fn pick(&self, n: u64) -> u64 {
        self.rng.random() % n
    }

    fn one_in(&self, n: u64) -> bool {
        !*guard(&self.calm) && self.pick(n) == 0
    }

    fn tick(&self) -> u64 {
        self.time.fetch_add(1, std::sync::atomic::Ordering::SeqCst)
    }

    /// Lets one host act, unless it is in the middle of an action.
    fn step(self: &Arc<World>) {
        let slot = &self.hosts[self.pick(HOSTS as u64) as usize];
        let Some(mut host) = guard(slot).take() else {
            return;
        };
        if self.pick(12) == 0 {
            host.clock
                .advance([1_000, 60_000_000, 86_400_000_000][self.pick(3) as usize]);
        }
        if self.one_in(25) {
            let at = host.faulty.count() + self.pick(12) as usize;
            host.faulty.arm(at, Fault::Stop);
        }
        host = match self.pick(10) {
            0 => host.end(self, End::Close),
            1 => host.end(self, End::Death),
            2 => host.end(self, End::Release).lose_power(self),
            3 => host.lose_power(self),
            _ => host.work(self),
        };
        *guard(slot) = Some(host);
    }

    /// Delivers at most `most` late groups.
    fn arrive(&self, most: usize) {
        let late: Vec<Late> = {
            let mut late = guard(&self.late);
            let count = most.min(late.len());
            late.drain(..count).collect()
        };
        for Late {
            log,
            after,
            position,
            last_id,
            bytes,
        } in late
        {
            let append = Append {
                log,
                after,
                position,
                last_id,
                bytes: &bytes,
                begins: &[],
            };
            self.journal.clone().append(&[append], LogState::Open);
        }
    }

    /// Ends every host, and opens the host's log again. Opening reads the missing events from the journal. Returns the logs.
    pub fn logs(self: &Arc<World>) -> Vec<(Log, Memory)> {
        let ended = |slot: &Mutex<Option<Host>>| {
            let host = guard(slot).take().unwrap();
            let mut host = host.end(self, End::Close).open(self);
            let writer = host.writer.take();
            writer
                .unwrap_or_else(|| panic!("host {} opens", host.number))
                .close()
                .unwrap();
            (open(&arc(&host.memory), &host.options), host.memory)
        };
        self.hosts.iter().map(ended).collect()
    }
}

impl Host {
    fn new(number: usize, memory: Memory, seed: u64) -> Host {
        let clock = Arc::new(ManualClock::new(start()));
        // The clocks differ by up to a second, which is within the limit.
        clock.advance(number as i64 * 500_000);
        let options = given!(LogOptions, clock: clock.clone(), segment_bytes_max: 2_000,
            ids: Arc::new(SeededIds((seed * 31 + number as u64).into())), ahead_from_group: 1,
            lock_deadline: Duration::ZERO);
        Host {
            number,
            faulty: Faulty::new(arc(&memory)),
            memory,
            clock,
            options,
            writer: None,
        }
    }

    fn end(mut self, world: &World, end: End) -> Host {
        match (self.writer.take(), end) {
            (Some(writer), End::Close) => drop(writer.close()),
            (Some(writer), End::Release) => drop(writer.release()),
            (writer, _) => drop(writer),
        }
        let memory = self.memory.snapshot();
        self.on(memory, world)
    }

    fn lose_power(mut self, world: &World) -> Host {
        self.writer = None;
        let memory = self.memory.crash(&mut |n| world.pick(n as u64) as usize);
        self.on(memory, world)
    }

    fn on(self, memory: Memory, _: &World) -> Host {
        Host {
            faulty: Faulty::new(arc(&memory)),
            memory,
            ..self
        }
    }

    fn open(mut self, world: &Arc<World>) -> Host {
        let storage: Arc<dyn Storage> = Arc::new(self.faulty.clone());
        let journal = Line {
            world: world.clone(),
            host: self.number,
            faulty: self.faulty.clone(),
        };
        let Ok(log) = Log::open(storage, &dir(), through(journal, &self.options)) else {
            return self;
        };
        let exclusive = match log.lock() {
            Ok(exclusive) => exclusive,
            Err(Error::Corrupt { path, why, .. }) => panic!("{}: {why}", path.display()),
            Err(Error::Journal {
                fault: JournalFault::Forked | JournalFault::Behind,
                why,
            }) => {
                panic!("host {}: {why}", self.number)
            }
            Err(_) => return self,
        };
        let mut claims = Claims::default();
        let read = exclusive
            .reader()
            .events(None)
            .collect::<Result<Vec<_>, _>>();
        let Ok(events) = read else { return self };
        claims.texts = events.iter().map(|(_, _, event)| text(event)).collect();
        claims.settled = claims.texts.len();
        self.writer = Some(exclusive.into_writer(claims));
        self
    }

    fn work(mut self, world: &Arc<World>) -> Host {
        if self.writer.is_none() {
            self = self.open(world);
        }
        let Some(writer) = self.writer.take() else {
            return self.end(world, End::Death);
        };
        for _ in 0..=world.pick(2) {
            self.job(world, &writer);
        }
        match writer.is_poisoned() {
            true => {
                drop(writer);
                self.end(world, End::Death)
            }
            false => {
                self.writer = Some(writer);
                self
            }
        }
    }

    /// Claims a free task, or releases the host's own claim. If another host holds the task, the job is refused.
    fn job(&self, world: &World, writer: &Writer<Claims>) {
        let number = world.jobs.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let host = self.number;
        let padding = "x".repeat(world.pick(500) as usize);
        let asked = world.tick();
        let written = Arc::new(Mutex::new(String::new()));
        let keep = written.clone();
        let done = writer.commit(Durability::Synced, move |claims: &Claims, _| {
            let epoch = claims.epoch();
            let words = match claims.holder() {
                None => format!("claim {} {host} #{number} {padding}", epoch + 1),
                Some(holder) if holder == host => format!("release {epoch} {host} #{number}"),
                Some(_) => return Err(claims.texts.len() as u64),
            };
            keep.lock().unwrap().clone_from(&words);
            Ok(((), vec![said(&words)]))
        });
        let came_to = match done {
            Ok(committed) => CameTo::Acked(committed.events[0].seq),
            Err(CommitError::Refused(seen)) => CameTo::Refused(seen),
            Err(CommitError::Conflict(_)) => CameTo::Nothing,
            Err(CommitError::Failed(Error::Journal { fault, why })) => match fault {
                JournalFault::Unreachable => CameTo::Nothing,
                JournalFault::Unknown => CameTo::Unknown,
                fault => panic!("host {host}: {fault:?}: {why}"),
            },
            Err(CommitError::Failed(Error::Corrupt { path, why, .. })) => {
                panic!("host {host}: {}: {why}", path.display())
            }
            Err(CommitError::Failed(_)) => CameTo::Unknown,
        };
        let text = guard(&written).clone();
        let answered = world.tick();
        guard(&world.done).push(Done {
            asked,
            answered,
            text,
            came_to,
        });
    }
}

/// A host's connection to the journal.
#[derive(Clone)]
struct Line {
    world: Arc<World>,
    host: usize,
    faulty: Faulty,
}

impl Line {
    /// Runs the faults that are due before a call; `None` if the caller is dead.
    fn before(&self) -> Option<u64> {
        if !*guard(&self.world.calm) {
            for _ in 0..self.world.pick(3) {
                self.world.step();
            }
            self.world.arrive(self.world.pick(2) as usize);
        }
        let first = self.host == 0;
        let call = match first {
            true => self
                .world
                .calls
                .fetch_add(1, std::sync::atomic::Ordering::SeqCst),
            false => u64::MAX,
        };
        if matches!(self.death(), Some(Death::BeforeJournal(at)) if at as u64 == call) {
            self.die();
        }
        (!self.is_dead()).then_some(call)
    }

    fn behind(&self, call: u64) {
        if matches!(self.death(), Some(Death::BehindJournal(at)) if at as u64 == call) {
            self.die();
        }
    }

    /// Returns the point at which the first host will die.
    fn death(&self) -> Option<Death> {
        self.world.plan.death.filter(|_| !*guard(&self.world.calm))
    }

    fn die(&self) {
        self.faulty.arm(self.faulty.count(), Fault::Stop);
        let storage: &dyn Storage = &self.faulty;
        let _ = storage.stat(&dir());
    }

    /// Returns true if the storage accepts no more calls.
    fn is_dead(&self) -> bool {
        let storage: &dyn Storage = &self.faulty;
        matches!(storage.stat(&dir()), Err(error) if Faulty::is_stop(&error))
    }
}

fn gone<T: From<String>>() -> T {
    T::from("the line is cut".to_owned())
}

impl Journal for Line {
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome> {
        let Some(call) = self.before() else {
            return vec![Outcome::Unreachable(gone())];
        };
        let world = &self.world;
        let outcome = match groups {
            _ if world.one_in(12) => vec![Outcome::Unreachable(gone())],
            _ if world.one_in(12) => vec![Outcome::Unknown(gone())],
            // A server can report a conflict for the whole call, and not per log.
            _ if world.one_in(20) => vec![Outcome::Conflict],
            [group] if world.one_in(10) => {
                guard(&world.late).push(Late {
                    log: group.log,
                    after: group.after,
                    position: group.position,
                    last_id: group.last_id,
                    bytes: group.bytes.to_vec(),
                });
                vec![Outcome::Unknown(gone())]
            }
            _ => {
                let outcome = world.journal.clone().append(groups, state);
                match world.one_in(8) {
                    true => vec![Outcome::Unknown(gone())],
                    false => outcome,
                }
            }
        };
        self.behind(call);
        outcome
    }

    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        self.world.journal.clone().turn(group, to)
    }

    fn read(
        &mut self,
        log: teamlog_engine::LogId,
        after: Position,
        bytes_max: usize,
    ) -> Result<Page, ReadError> {
        let Some(call) = self.before() else {
            return Err(ReadError::Unreachable(gone()));
        };
        if self.world.one_in(15) {
            return Err(ReadError::Unreachable(gone()));
        }
        // The page is sometimes so small that it holds one group.
        let bytes_max = bytes_max.min(1 << (10 * self.world.pick(3)));
        let page = self.world.journal.clone().read(log, after, bytes_max);
        self.behind(call);
        page
    }
}

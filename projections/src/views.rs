//! The view files, for people and other tools. View files can be deleted safely.
//!
//! | file | content |
//! |---|---|
//! | `team.json` | settings, members with details, the budget |
//! | `tasks/<id>.json` | one task, the superset of its renderings |
//! | `inboxes/<agent>.jsonl` | one line per message, `{"seq":N,` and the envelope's fields; append-only |
//! | `dead-letter/YYYY-MM-DD.jsonl` | one line per dead letter of that day; append-only |
//! | `workers/<name>/…` | a worker, one file per part |
//! | `modes/…` | the states of workflow modes, of the root and of each session |
//! | `bootstrap/<run>.json` | a run of the bootstrap contract |
//! | `threads/<id>.json` | a thread |
//! | `threads/<id>.jsonl` | one line per message of a thread; append-only |
//! | `views` | the cursor: the event up to which the files are current |
//! | `views.synced` | the event up to which the files are on the disk, with boot id and directory |
//!
//! The writer of the log writes the head, then the view files, then the cursor. If the writer stops in between, the next writer
//! repairs the files of the events after the cursor. A long-running writer may collect changes and write them after the
//! answers, many events at a time ([`ViewBatch`]).
//!
//! Single files are not synced. Every 1,000 events or 60 seconds, after an answer, the file system is synced and `views.synced` is updated.
//! After a restart of the machine the next writer writes the files of all later events again. If the team's directory is a copy, any file
//! may be wrong: the files of a short log are compared at once, the files of a longer log by
//! [`Live::compare_views`](crate::Live::compare_views).

mod batch;
mod check;
mod cursor;
pub(crate) mod mend;
mod synced;

use crate::event::delivery::DeliveryFact;
use crate::event::message::MessageFact;
use crate::event::team::TeamFact;
use crate::prelude::*;
pub use batch::ViewBatch;
pub(crate) use batch::{BatchGate, BatchState};
pub use check::{Fault, Malformed, ViewsComparison, ViewsSource};
pub use synced::{SYNC_EVENTS, SYNC_MICROS, ViewsSync};

use crate::event::thread::ThreadAct;
use crate::event::usage::UsageFact;
use crate::event::worker::WorkerAct;
use crate::files::Home;
pub use crate::files::ViewUpdate;
use crate::mode::Scope;
use crate::team::settings::{BEFORE_ANSWER, Setting};
use crate::{bootstrap, delivery, message, mode, task, thread, worker};
use cursor::Cursor;
use std::sync::PoisonError;
use synced::{Synced, Trust};
use teamlog_engine::storage::OpenMode;

/// Largest number of events between the cursor and the head for which the views are repaired event by event. After a larger gap
/// all views are compared.
const GAP_EVENTS_MAX: u64 = 16 << 10;
/// Size of a short log, in events. If the state of a short log's view files is unknown, every writer compares the files.
const COMPARED_EVENTS_MAX: u64 = 1_000;
/// Largest number of delayed events, and largest number of their bytes. The limits bound the memory, and the repair after a crash.
const DUE_EVENTS_MAX: u64 = 8 << 10;
const DUE_BYTES_MAX: usize = 16 << 20;

/// Parts of the views that some events changed.
#[derive(Default)]
struct Touched {
    team: bool,
    /// True if the team was created.
    created: bool,
    tasks: BTreeSet<String>,
    /// New lines of each inbox.
    inboxes: BTreeMap<String, Vec<u8>>,
    /// Events of new dead letters.
    dead_letters: Vec<u64>,
    workers: worker::view::TouchedParts,
    modes: BTreeSet<Scope>,
    runs: BTreeSet<String>,
    threads: thread::view::TouchedThreads,
    /// True if views were switched on.
    all: bool,
}

impl Touched {
    fn note(&mut self, live: &TeamState, event: &Event<'_>) -> Result<()> {
        if event.foreign {
            return Ok(());
        }
        match Fact::decode(event)? {
            Fact::Team(fact) => {
                self.team |= !matches!(*fact, TeamFact::Closed(_));
                self.created |= matches!(*fact, TeamFact::Created(_));
                if let TeamFact::ConfigChanged(changed) = *fact {
                    let mut settings = changed.changes.iter().map(|(setting, _)| setting);
                    self.all |= settings.any(|setting| *setting == Setting::Views);
                }
            }
            Fact::Delivery(fact) => {
                if let DeliveryFact::Dead(dead) = *fact
                    && let Some(known) = live.dead_letter(&dead.id)?
                    && known.seq == event.seq
                {
                    self.dead_letters.push(event.seq);
                }
            }
            Fact::Task(task) => {
                self.tasks.insert(task.task_id);
            }
            Fact::Message(fact) => {
                let MessageFact::Sent(sent) = *fact else {
                    return Ok(());
                };
                let known = live.message(&sent.id)?;
                if known.is_some_and(|known| known.seq == event.seq) {
                    let envelope = sent.envelope(event);
                    let lines = self.inboxes.entry(sent.to).or_default();
                    message::view::line(event, envelope, &sent.from, lines);
                }
                if let (Some(task), Some(_)) = (sent.task_id, sent.change)
                    && !live.superseded(event.seq)?
                {
                    self.tasks.insert(task);
                }
            }
            Fact::Worker(fact) => {
                self.team |= matches!(fact.act, WorkerAct::Identity(_));
                let part = worker::view::touched(&fact.act);
                self.workers.entry(fact.worker).or_default().insert(part);
            }
            Fact::Mode(fact) => {
                self.modes.extend(fact.scope());
            }
            Fact::Bootstrap(fact) => {
                self.runs.insert(fact.run);
            }
            Fact::Usage(fact) if matches!(*fact, UsageFact::Set(_)) => self.team = true,
            Fact::Thread(fact) => {
                let posted = match &fact.act {
                    ThreadAct::Posted(posted) => Some(posted),
                    _ => None,
                };
                thread::view::note(
                    &mut self.threads,
                    live,
                    event,
                    (fact.thread_id.clone(), posted),
                )?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn is_closing(event: &Event<'_>) -> bool {
    event.kind == "team_closed" && !event.foreign
}

/// The views of a team, kept by the writer of its log.
pub(crate) struct Views {
    log: Log,
    home: Home,
    /// Device and inode of the team's directory.
    dir: Option<(u64, u64)>,
    cursor: Cursor,
    /// Boot id of the machine, if the caller gave it.
    boot: Option<[u8; 16]>,
    /// Trust in the cursor.
    trust: Trust,
    /// True if the caller collects delayed changes.
    later: bool,
    due: Touched,
    /// Number and size of the delayed events.
    due_events: u64,
    due_bytes: usize,
    /// Makes writes wait for the batch that was collected before.
    gate: Arc<BatchGate>,
}

impl Views {
    /// Opens the views. If `later` is true, the caller calls [`Views::collect`] soon after every event. Waits for a batch that is
    /// being written.
    pub fn open(reader: &Reader, log: &Log, later: bool, gate: Arc<BatchGate>) -> Result<Views> {
        gate.wait();
        let home = Home::from_reader(reader);
        let cursor = Cursor::read(&home)?;
        let dir = home.identity()?;
        let trust = match cursor.seq() {
            Some(_) => Trust::read(&home, dir, log.options())?,
            None => Trust::Unknown,
        };
        Ok(Views {
            log: log.clone(),
            home,
            dir,
            cursor,
            boot: log.options().boot,
            trust,
            later,
            due: Touched::default(),
            due_events: 0,
            due_bytes: 0,
            gate,
        })
    }

    /// Repairs the difference between the cursor and the state. If `compare` is set and the state of the files is unknown,
    /// compares all files.
    pub fn catch_up(
        &mut self,
        live: &TeamState,
        reader: &Reader,
        compare: bool,
        now: i64,
    ) -> Result<ViewUpdate> {
        let head = live.seq();
        if live.is_closed()? {
            return match self.home.exists(cursor::NAME)? {
                true => mend::clear(&self.home),
                false => Ok(ViewUpdate::default()),
            };
        }
        if !live.team()?.is_some_and(|team| team.views) {
            return Ok(ViewUpdate::default());
        }
        let (from, home) = match self.trust {
            Trust::OtherBoot(synced) => {
                let from = self.cursor.seq().map(|seq| seq.min(synced.seq));
                (from, self.home.suspect())
            }
            Trust::Unknown if compare || head <= COMPARED_EVENTS_MAX => (None, self.home.clone()),
            _ => (self.cursor.seq(), self.home.clone()),
        };
        let gap = from.and_then(|seq| head.checked_sub(seq));
        let mended = match gap {
            Some(0) => ViewUpdate::default(),
            Some(gap) if gap <= GAP_EVENTS_MAX => {
                let mut touched = Touched::default();
                for seq in head - gap + 1..=head {
                    if let Some(event) = live.event(reader, seq)? {
                        touched.note(live, &event)?;
                    }
                }
                write(live, &self.log, &home, &touched)?
            }
            _ => {
                let mended = mend::mend_all(live, reader, &self.home)?;
                self.trust_from(0, now)?;
                mended
            }
        };
        if let Trust::OtherBoot(synced) = self.trust {
            self.trust_from(synced.seq, synced.at)?;
        }
        if gap != Some(0) {
            self.cursor.write(&self.home, head)?;
        }
        Ok(mended)
    }

    /// Notes that the files match the cursor, and the event up to which the files are on the disk.
    fn trust_from(&mut self, seq: u64, at: i64) -> Result<()> {
        let Some((boot, dir)) = self.boot.zip(self.dir) else {
            return Ok(());
        };
        let synced = Synced { seq, boot, dir, at };
        synced.write(&self.home, OpenMode::Create)?;
        self.trust = Trust::Current(synced);
        Ok(())
    }

    /// Returns the sync of the file system, if a sync is due. The caller runs the sync by [`ViewsSync::run`], then calls
    /// [`Views::synced`].
    pub fn sync_due(&self, now: i64) -> Option<ViewsSync> {
        ViewsSync::due(&self.home, self.trust, self.cursor.seq(), now)
    }

    /// Notes the result of a sync. After a failed sync this process makes no further sync.
    pub fn synced(&mut self, sync: &ViewsSync, outcome: &Result<()>) {
        self.trust = match outcome {
            Ok(()) => Trust::Current(sync.synced()),
            Err(_) => Trust::Unchecked,
        };
    }

    /// Updates the views after events that were just committed and are part of `live`. If changes are delayed, only notes them.
    pub fn update(&mut self, live: &TeamState, events: &[Event<'_>]) -> Result<()> {
        let Some(team) = live.team()? else {
            return Ok(());
        };
        if !team.keeps_views() {
            self.take_due();
            if events.iter().any(is_closing) {
                self.gate.wait();
                mend::clear(&self.home)?;
            }
            return Ok(());
        }
        for event in events {
            self.due.note(live, event)?;
        }
        self.due_events += events.len() as u64;
        self.due_bytes += events
            .iter()
            .map(|event| event.payload.len())
            .sum::<usize>();
        let few = self.due_events <= DUE_EVENTS_MAX && self.due_bytes <= DUE_BYTES_MAX;
        match self.later && few && !self.due.all && may_follow(live)? {
            true => Ok(()),
            false => self.finish(live),
        }
    }

    /// Notes that the caller collects delayed changes from now on.
    pub fn follow(&mut self) {
        self.later = true;
    }

    /// Returns true if files are out of date.
    pub fn are_due(&self) -> bool {
        self.due_events > 0
    }

    /// Writes all delayed changes.
    pub fn finish(&mut self, live: &TeamState) -> Result<()> {
        if self.are_due() {
            // The cursor must not move past files that could not be written.
            self.gate.wait().check(&self.home)?;
            if self.later {
                self.home.check_identity(self.dir)?;
            }
            let touched = self.take_due();
            write(live, &self.log, &self.home, &touched)?;
            self.cursor.write(&self.home, live.seq())?;
            if touched.all {
                let now = self.log.options().clock.now();
                self.trust_from(0, now.micros())?;
            }
        }
        Ok(())
    }

    /// Returns the delayed changes, to be written without the state. The next batch is collected after this batch is written.
    pub fn collect(&mut self, live: &TeamState) -> Result<ViewBatch> {
        self.gate.wait().check(&self.home)?;
        let touched = self.take_due();
        let (home, later) = self.home.later();
        write(live, &self.log, &home, &touched)?;
        let changes = std::mem::take(&mut *later.lock().unwrap_or_else(PoisonError::into_inner));
        let gate = Arc::clone(&self.gate);
        let place = (self.home.clone(), self.dir);
        Ok(ViewBatch::new(place, changes, live.seq(), gate))
    }

    fn take_due(&mut self) -> Touched {
        (self.due_events, self.due_bytes) = (0, 0);
        std::mem::take(&mut self.due)
    }

    /// Notes that the views contain all events up to `seq`.
    pub fn settle(&mut self, seq: u64) -> Result<()> {
        match self.cursor.seq() {
            Some(known) if known >= seq => Ok(()),
            _ => self.cursor.write(&self.home, seq),
        }
    }

    /// Notes that all files were compared with the state at `seq`.
    pub fn settle_all(&mut self, seq: u64, now: i64) -> Result<()> {
        self.trust_from(0, now)?;
        self.settle(seq)
    }
}

/// Returns true if the team allows writing views after the answers.
fn may_follow(live: &TeamState) -> Result<bool> {
    let (when, _) = live.setting(Setting::ViewsWhen)?;
    Ok(when.text() != BEFORE_ANSWER)
}

fn write(live: &TeamState, log: &Log, home: &Home, touched: &Touched) -> Result<ViewUpdate> {
    if touched.all {
        return mend::mend_all(live, &log.reader()?, home);
    }
    let mut mended = ViewUpdate::default();
    if touched.created && !home.exists(message::view::DIR)? {
        // Create the directory at once, because readers may watch it before the first message.
        home.create_dir(&home.path(message::view::DIR))?;
    }
    if touched.team {
        mended.add(mend::mend_team(live, home)?);
    }
    if !touched.tasks.is_empty() {
        mended.add(write_tasks(live, home, &touched.tasks)?);
    }
    if !touched.inboxes.is_empty() {
        mended.add(write_inboxes(live, log, home, &touched.inboxes)?);
    }
    if !touched.workers.is_empty() {
        let reader = log.reader()?;
        mended.add(worker::view::write(live, &reader, home, &touched.workers)?);
    }
    if !touched.modes.is_empty() {
        mended.add(mode::view::write(live, home, &touched.modes)?);
    }
    if !touched.runs.is_empty() {
        mended.add(bootstrap::view::write(live, home, &touched.runs)?);
    }
    if !touched.threads.is_empty() {
        mended.add(thread::view::write(live, log, home, &touched.threads)?);
    }
    if !touched.dead_letters.is_empty() {
        let reader = log.reader()?;
        mended.add(delivery::view::append(
            live,
            &reader,
            home,
            &touched.dead_letters,
        )?);
    }
    Ok(mended)
}

fn write_tasks(live: &TeamState, home: &Home, ids: &BTreeSet<String>) -> Result<ViewUpdate> {
    if !home.exists(task::view::DIR)? {
        return mend::mend_tasks(live, home);
    }
    let mut text = Vec::new();
    for id in ids {
        if let Some(task) = live.task(id)? {
            task::view::text(&task, &mut text);
            let path = home.path(task::view::DIR).join(task::view::file_name(id));
            home.replace(&path, &text)?;
        }
    }
    Ok(ViewUpdate::written(ids.len()))
}

fn write_inboxes(
    live: &TeamState,
    log: &Log,
    home: &Home,
    lines: &BTreeMap<String, Vec<u8>>,
) -> Result<ViewUpdate> {
    if !home.exists(message::view::DIR)? {
        return mend::mend_inboxes(live, &log.reader()?, home);
    }
    for (agent, lines) in lines {
        let whole = live.agent(agent)?.view_bytes;
        if !message::view::append(home, agent, lines, whole)? {
            message::view::rebuild(live, &log.reader()?, home, agent)?;
        }
    }
    Ok(ViewUpdate::written(lines.len()))
}

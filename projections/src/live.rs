//! The state of a team now: the derived store, and over it the events that no run holds yet.
//!
//! [`Live`] rides with the engine's writer as its [`State`]: `apply` folds what is about to be written, `committed`
//! notes the places and brings the views up to date. Queries cost as much as what they answer, whatever the
//! length of the history.

mod found;
pub mod known_end;
mod load;

pub use crate::team::Counts;
pub use crate::tx::SeqPage;
pub use found::Found;
pub use load::{DERIVED_DIR, derived_dir, fold_version, old_derived, remove_old_derived};

use crate::files::Mended;
use crate::pipeline;
use crate::prelude::*;
use crate::state::Tail;
use crate::views::{BatchGate, BatchState, ViewBatch, Views, ViewsSync};
use std::ops::Deref;
use teamlog_engine::internals::derived::{Anchor, Store};
use teamlog_engine::limits::CLOCK_SKEW_MAX;
use teamlog_engine::{Head, State};

/// A tail of more bytes of log becomes a run.
pub const TAIL_BYTES_MAX: u64 = 256 << 10;
/// A tail of more events becomes a run.
pub const TAIL_EVENTS_MAX: usize = 32;
/// In a process that stays, a tail of more events becomes a run: every other reader of the team has to fold the tail.
pub const STAYING_TAIL_EVENTS_MAX: usize = 512;

/// A command leaves larger merges to `tick` and the daemon.
const MERGE_BYTES_MAX: u64 = 16 << 20;

/// The state of a team, and what keeps it up to date. Its questions are those of [`TeamState`].
pub struct Live {
    log: Log,
    state: TeamState,
    /// `None` unless this is the state of the log's writer.
    views: Option<Views>,
    /// Why the views could not be kept; the next writer mends them.
    views_error: Option<Error>,
    /// Whether views may be written behind the answers.
    views_later: bool,
    view_gate: Arc<BatchGate>,
    /// A state of the past writes nothing.
    past: bool,
    /// How many events were folded into runs of its own.
    spilled: u64,
    /// Whether what is folded may be taken back until it is durable.
    retractable: bool,
}

impl Deref for Live {
    type Target = TeamState;
    fn deref(&self) -> &TeamState {
        &self.state
    }
}

impl Live {
    /// The team's name.
    pub fn team_name(&self) -> &str {
        &self.log.identity().name
    }

    /// When the last committed event was stamped; it may lie ahead of the clock.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.last().map(|anchor| anchor.id.created_at())
    }

    /// The time up to which leases are over. On a log that several hosts write the clock of the one that decides may be ahead of
    /// the holder's by twice as much as each may differ from the journal's: a lease holds at least as long as its holder thinks.
    pub fn leases_over_by(&self, now: Timestamp) -> Timestamp {
        now.plus_micros(-self.lease_margin())
    }

    /// When a lease that runs until then is over.
    pub fn lease_over_at(&self, until: Timestamp) -> Timestamp {
        until.plus_micros(self.lease_margin())
    }

    fn lease_margin(&self) -> i64 {
        match self.log.identity().journal {
            Some(_) => 2 * CLOCK_SKEW_MAX,
            None => 0,
        }
    }

    fn last(&self) -> Option<Anchor> {
        self.state
            .tail
            .last
            .or_else(|| self.state.overlay.store().covered())
    }

    /// How many events were folded in memory, over what the derived store holds.
    pub fn folded_events(&self) -> usize {
        self.state.tail.places.len()
    }

    /// How many events a state of the past folded into runs of its own.
    pub fn spilled_events(&self) -> u64 {
        self.spilled
    }

    /// Whether this is the state up to the reader's head: of the same log, and of the same event as the head names. A log
    /// that was restored from a copy may have another event at that seq.
    pub fn is_at_head(&self, reader: &Reader) -> bool {
        let head = reader.head();
        self.log.identity().log == reader.identity().log
            && self.state.folded == head.last_seq
            && self.last().map(|anchor| anchor.id) == head.last_id
    }

    /// For the holder of the log's lock: mends the views that a crash left behind the head, and keeps them current from
    /// now on. Writes none for a team without views. A view that cannot be written does not fail the
    /// command: [`Live::views_error`] tells.
    pub fn keep_views(&mut self, reader: &Reader) -> Result<Mended> {
        self.bring_views(reader, false)
    }

    /// Mends the views like [`Live::keep_views`], and compares all files if nothing is known of them, as in a copy of a
    /// team's directory. The cost of the comparison grows with the team's whole history.
    pub fn compare_views(&mut self, reader: &Reader) -> Result<Mended> {
        self.bring_views(reader, true)
    }

    fn bring_views(&mut self, reader: &Reader, compare: bool) -> Result<Mended> {
        self.views_error = None;
        let mended = match self.catch_up_views(reader, compare) {
            // This may be the first to read a damaged part of the derived store.
            Err(error) if error.is_derived() => {
                self.repair()?;
                self.catch_up_views(reader, compare)
            }
            mended => mended,
        };
        match mended {
            Err(error @ Error::Engine(teamlog_engine::Error::Io { .. })) => {
                self.views_error = Some(error);
                Ok(Mended::default())
            }
            mended => mended,
        }
    }

    fn catch_up_views(&mut self, reader: &Reader, compare: bool) -> Result<Mended> {
        self.views = None;
        let gate = Arc::clone(&self.view_gate);
        let mut views = Views::open(reader, &self.log, self.views_later, gate)?;
        let now = self.log.options().clock.now();
        let mended = views.catch_up(self, reader, compare, now.micros())?;
        self.view_gate.set(BatchState::Written);
        self.views = Some(views);
        Ok(mended)
    }

    /// Why the views could not be written since [`Live::keep_views`]. The next writer mends them.
    pub fn views_error(&self) -> Option<&Error> {
        self.views_error.as_ref()
    }

    /// From now on views are only noted as due, unless the team's setting `views.when` says otherwise; the
    /// caller then calls [`Live::collect_views`] soon after every event, and [`Live::finish_views`] before it gives back the lock.
    pub fn write_views_later(&mut self) {
        self.views_later = true;
        if let Some(views) = &mut self.views {
            views.follow();
        }
    }

    /// Whether view files are behind the state.
    pub fn are_views_due(&self) -> bool {
        self.views.as_ref().is_some_and(Views::are_due)
    }

    /// The view files that are due, to be written without the state; the caller then calls [`Live::views_written`].
    /// Nothing while folded events are not durable yet.
    pub fn collect_views(&mut self) -> Option<ViewBatch> {
        let settled = self
            .last()
            .is_some_and(|last| last.seq == self.state.folded);
        if !settled || !self.are_views_due() {
            return None;
        }
        self.with_views(Views::collect)
    }

    /// Notes up to which event a batch was written. One that failed leaves the cursor behind, and [`Live::keep_views`] mends
    /// it.
    pub fn views_written(&mut self, written: Result<u64>) {
        match written {
            Ok(seq) => {
                self.with_views(|views, _| views.settle(seq));
            }
            Err(error) => {
                self.views = None;
                self.views_error = Some(error);
            }
        }
    }

    /// The sync of the file system that is due for view files, if one is: for [`ViewsSync::run`], and then
    /// [`Live::views_synced`].
    pub fn views_sync_due(&self) -> Option<ViewsSync> {
        let now = self.log.options().clock.now().micros();
        self.views.as_ref()?.sync_due(now)
    }

    /// Notes the outcome of such a sync.
    pub fn views_synced(&mut self, sync: &ViewsSync, outcome: &Result<()>) {
        if let Some(views) = &mut self.views {
            views.synced(sync, outcome);
        }
    }

    /// Makes the sync that is due for view files, if one is.
    pub fn sync_views_if_due(&mut self) -> Result<()> {
        let Some(sync) = self.views_sync_due() else {
            return Ok(());
        };
        let outcome = sync.run();
        self.views_synced(&sync, &outcome);
        outcome
    }

    /// Writes the views that are due, as the last thing before the lock is given back.
    pub fn finish_views(&mut self) {
        self.with_views(Views::finish);
    }

    /// Does something with the views, if they are kept. After a failure the next writer mends them.
    fn with_views<A>(
        &mut self,
        act: impl FnOnce(&mut Views, &TeamState) -> Result<A>,
    ) -> Option<A> {
        let mut views = self.views.take()?;
        match act(&mut views, &self.state) {
            Ok(done) => {
                self.views = Some(views);
                Some(done)
            }
            Err(error) => {
                self.views_error = Some(error);
                None
            }
        }
    }

    /// Puts the tail into a run if it is longer than [`TAIL_BYTES_MAX`] or [`TAIL_EVENTS_MAX`], then merges runs where they
    /// have become too many. Cheap when nothing is due. Does nothing while buffered events are not yet written.
    pub fn flush_if_due(&mut self) -> Result<()> {
        let short = self.state.tail.bytes <= TAIL_BYTES_MAX
            && self.state.tail.places.len() <= TAIL_EVENTS_MAX;
        if short || self.past {
            return Ok(());
        }
        self.flush()?;
        if !self.state.tail.places.is_empty() {
            return Ok(());
        }
        self.merge_runs(MERGE_BYTES_MAX)
    }

    /// Merges runs where they have become too many, but not more than `bytes_max` bytes at once while the runs are few. Takes
    /// only the lock of the derived store.
    pub fn merge_runs(&mut self, bytes_max: u64) -> Result<()> {
        match self.state.overlay.store().merge(bytes_max) {
            Ok(Some(store)) => self.state.overlay.rebased(store),
            Ok(None) => {}
            // Merging reads what no answer needed, and may be the first to meet damage there.
            Err(teamlog_engine::Error::Derived { .. }) => self.repair()?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Whether a long-running process should maintain this state: the tail is long, or views fell behind.
    pub fn needs_maintenance(&self) -> bool {
        let long = self.state.tail.bytes > TAIL_BYTES_MAX
            || self.state.tail.places.len() > STAYING_TAIL_EVENTS_MAX;
        long || self.views_error.is_some()
    }

    /// The derived store, to be merged by another thread and then handed to [`Live::adopt`].
    pub fn store(&self) -> Store {
        self.state.overlay.store().clone()
    }

    /// Takes a merged store in the place of its own, unless its own has new runs since.
    pub fn adopt(&mut self, merged: Store) {
        if merged.covered() == self.state.overlay.store().covered() {
            self.state.overlay.rebased(merged);
        }
    }

    /// Puts the tail into a run, whatever its length.
    pub fn flush(&mut self) -> Result<()> {
        let settled = self
            .state
            .tail
            .last
            .is_some_and(|last| last.seq == self.state.folded);
        if self.past || !settled {
            return Ok(());
        }
        let changes = vec![self.state.overlay.changes().collect()];
        if let Some(store) =
            pipeline::write_run(self.state.overlay.store(), &self.state.tail, changes)?
        {
            self.state.overlay.flushed(store);
            self.state.tail = Tail::default();
        }
        Ok(())
    }

    /// The digest of the state, as lower-case hex: equal to that of a rebuilt state. Reads all of it.
    pub fn digest(&self) -> Result<String> {
        digest(self.rows())
    }
}

/// The namespaces of projections.
const STATE: std::ops::Range<u8> = 0x01..0xF0;

/// BLAKE3 over the ordered entries, each key and value behind its length (u32, little-endian).
pub(crate) fn digest(rows: Rows<'_>) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut pending = Vec::with_capacity(1 << 17);
    for entry in rows.walk(&[STATE.start], &[STATE.end], false) {
        let entry = entry?;
        for part in [&*entry.key, &*entry.value] {
            pending.extend_from_slice(&(part.len() as u32).to_le_bytes());
            pending.extend_from_slice(part);
        }
        if pending.len() >= 1 << 16 {
            hasher.update(&pending);
            pending.clear();
        }
    }
    hasher.update(&pending);
    Ok(hasher.finalize().to_hex().to_string())
}

impl State for Live {
    fn allow_retract(&mut self) {
        self.retractable = true;
    }

    fn apply(&mut self, events: &[Event<'static>]) -> teamlog_engine::Result<()> {
        if self.retractable {
            self.state.overlay.begin();
        }
        for event in events {
            pipeline::fold(&mut self.state.overlay, event)?;
            self.state.folded = event.seq;
        }
        Ok(())
    }

    fn committed(&mut self, _: &Head, events: &[Event<'static>], places: &[Place], crcs: &[u32]) {
        for ((event, place), crc) in events.iter().zip(places).zip(crcs) {
            self.state.tail.push(event, *place, *crc);
        }
        if self.retractable {
            self.state.overlay.commit();
        }
        self.with_views(|views, live| views.update(live, events));
    }

    fn retract(&mut self) {
        self.state.overlay.rollback();
        self.state.folded = self.last().map_or(0, |last| last.seq);
    }
}

//! The current state of a team: the derived store, and the events after its runs, folded in memory.
//!
//! [`Live`] is the [`State`] of the engine's writer: `apply` folds events that are about to be written, `committed`
//! notes their places and updates the views. The cost of a query depends on its answer, not on the length of the
//! history.

mod found;
pub mod known_end;
mod load;

pub use crate::team::Counts;
pub use crate::tx::SeqPage;
pub use found::DerivedReport;
pub use load::{DERIVED_DIR, derived_dir, fold_version, old_derived, remove_old_derived};

use crate::files::ViewUpdate;
use crate::pipeline;
use crate::prelude::*;
use crate::state::Tail;
use crate::views::{BatchGate, BatchState, ViewBatch, Views, ViewsSync};
use std::ops::Deref;
use teamlog_engine::internals::derived::{Anchor, Store};
use teamlog_engine::limits::CLOCK_SKEW_MAX;
use teamlog_engine::{Head, State};

/// Bytes of log after which the tail becomes a run.
pub const TAIL_BYTES_MAX: u64 = 256 << 10;
/// Events after which the tail becomes a run.
pub const TAIL_EVENTS_MAX: usize = 32;
/// Events after which the tail becomes a run in a long-running process. Every other reader of the team has to fold the tail, so
/// the tail must stay short.
pub const STAYING_TAIL_EVENTS_MAX: usize = 512;

/// Largest merge made by a command, in bytes. `tick` and the daemon make larger merges.
const MERGE_BYTES_MAX: u64 = 16 << 20;

/// The state of a team, and the maintenance of the state. Queries are methods of [`TeamState`].
pub struct Live {
    log: Log,
    state: TeamState,
    /// The view files; `None` unless this is the state of the log's writer.
    views: Option<Views>,
    /// Reason why the views could not be written; the next writer repairs the views.
    views_error: Option<Error>,
    /// True if views may be written after the answers.
    views_later: bool,
    view_gate: Arc<BatchGate>,
    /// True for a state of the past, which writes nothing.
    past: bool,
    /// Number of events that this state folded into private runs.
    spilled: u64,
    /// True if folded events may be undone until they are durable.
    retractable: bool,
}

impl Deref for Live {
    type Target = TeamState;
    fn deref(&self) -> &TeamState {
        &self.state
    }
}

impl Live {
    /// Returns the name of the team.
    pub fn team_name(&self) -> &str {
        &self.log.identity().name
    }

    /// Returns the time of the last committed event, which may be ahead of the clock.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.last().map(|anchor| anchor.id.created_at())
    }

    /// Returns the time up to which leases are expired. If a log has several hosts, this host's clock may be ahead of the
    /// holder's clock by twice the allowed difference from the journal's clock. The margin makes a lease last at least as long as
    /// its holder assumes.
    pub fn leases_over_by(&self, now: Timestamp) -> Timestamp {
        now.plus_micros(-self.lease_margin())
    }

    /// Returns the time at which a lease with the end `until` counts as expired.
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

    /// Returns the number of events folded in memory, after the events of the derived store.
    pub fn folded_events(&self) -> usize {
        self.state.tail.places.len()
    }

    /// Returns the number of events that a state of the past folded into private runs.
    pub fn spilled_events(&self) -> u64 {
        self.spilled
    }

    /// Returns true if this state is at the reader's head: same log, same last event. The ids of the last events must be equal,
    /// because a log restored from a copy may have another event with the same seq.
    pub fn is_at_head(&self, reader: &Reader) -> bool {
        let head = reader.head();
        self.log.identity().log == reader.identity().log
            && self.state.folded == head.last_seq
            && self.last().map(|anchor| anchor.id) == head.last_id
    }

    /// Repairs the views that a crash left older than the head, and keeps them up to date from now on. The caller holds the log's
    /// lock. A team without views gets no view files. A view that cannot be written does not fail the command;
    /// [`Live::views_error`] returns the reason.
    pub fn keep_views(&mut self, reader: &Reader) -> Result<ViewUpdate> {
        self.bring_views(reader, false)
    }

    /// Repairs the views like [`Live::keep_views`]. If the state of the files is unknown, as in a copy of a team's directory,
    /// compares all files. The cost of the comparison grows with the length of the history.
    pub fn compare_views(&mut self, reader: &Reader) -> Result<ViewUpdate> {
        self.bring_views(reader, true)
    }

    fn bring_views(&mut self, reader: &Reader, compare: bool) -> Result<ViewUpdate> {
        self.views_error = None;
        let mended = match self.catch_up_views(reader, compare) {
            // This read can be the first that needs a damaged part of the derived store.
            Err(error) if error.is_derived() => {
                self.repair()?;
                self.catch_up_views(reader, compare)
            }
            mended => mended,
        };
        match mended {
            Err(error @ Error::Engine(teamlog_engine::Error::Io { .. })) => {
                self.views_error = Some(error);
                Ok(ViewUpdate::default())
            }
            mended => mended,
        }
    }

    fn catch_up_views(&mut self, reader: &Reader, compare: bool) -> Result<ViewUpdate> {
        self.views = None;
        let gate = Arc::clone(&self.view_gate);
        let mut views = Views::open(reader, &self.log, self.views_later, gate)?;
        let now = self.log.options().clock.now();
        let mended = views.catch_up(self, reader, compare, now.micros())?;
        self.view_gate.set(BatchState::Written);
        self.views = Some(views);
        Ok(mended)
    }

    /// Returns the reason why views could not be written after [`Live::keep_views`]. The next writer repairs the views.
    pub fn views_error(&self) -> Option<&Error> {
        self.views_error.as_ref()
    }

    /// Delays updates of views, unless the team's setting `views.when` forbids it. The caller must call [`Live::collect_views`]
    /// soon after every event, and [`Live::finish_views`] before it releases the lock.
    pub fn write_views_later(&mut self) {
        self.views_later = true;
        if let Some(views) = &mut self.views {
            views.follow();
        }
    }

    /// Returns true if view files are out of date.
    pub fn are_views_due(&self) -> bool {
        self.views.as_ref().is_some_and(Views::are_due)
    }

    /// Returns the delayed changes of view files, to be written without the state. The caller then calls [`Live::views_written`].
    /// Returns `None` while folded events are not durable.
    pub fn collect_views(&mut self) -> Option<ViewBatch> {
        let settled = self
            .last()
            .is_some_and(|last| last.seq == self.state.folded);
        if !settled || !self.are_views_due() {
            return None;
        }
        self.with_views(Views::collect)
    }

    /// Notes the event up to which a batch was written. A failed batch does not move the cursor, and [`Live::keep_views`] repairs
    /// the files.
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

    /// Returns the sync of view files, if a sync is due. The caller runs the sync by [`ViewsSync::run`], then calls
    /// [`Live::views_synced`].
    pub fn views_sync_due(&self) -> Option<ViewsSync> {
        let now = self.log.options().clock.now().micros();
        self.views.as_ref()?.sync_due(now)
    }

    /// Notes the result of a sync.
    pub fn views_synced(&mut self, sync: &ViewsSync, outcome: &Result<()>) {
        if let Some(views) = &mut self.views {
            views.synced(sync, outcome);
        }
    }

    /// Syncs the view files, if that is due.
    pub fn sync_views_if_due(&mut self) -> Result<()> {
        let Some(sync) = self.views_sync_due() else {
            return Ok(());
        };
        let outcome = sync.run();
        self.views_synced(&sync, &outcome);
        outcome
    }

    /// Writes all delayed changes of views, before the lock is released.
    pub fn finish_views(&mut self) {
        self.with_views(Views::finish);
    }

    /// Runs `act` with the views, if views are kept. After a failure the next writer repairs the views.
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

    /// Writes the tail into a run if the tail is longer than [`TAIL_BYTES_MAX`] or [`TAIL_EVENTS_MAX`], then merges runs if there
    /// are too many. Cheap if nothing is due. Does nothing while buffered events are not written.
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

    /// Merges runs if there are too many. Postpones a merge of more than `bytes_max` bytes while there are few runs. Takes only
    /// the lock of the derived store.
    pub fn merge_runs(&mut self, bytes_max: u64) -> Result<()> {
        match self.state.overlay.store().merge(bytes_max) {
            Ok(Some(store)) => self.state.overlay.rebased(store),
            Ok(None) => {}
            // A merge reads data that no answer needed so far, so a merge can be the first read that finds damage in these
            // data.
            Err(teamlog_engine::Error::Derived { .. }) => self.repair()?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Returns true if a long-running process should maintain this state: the tail is long, or views are out of date.
    pub fn needs_maintenance(&self) -> bool {
        let long = self.state.tail.bytes > TAIL_BYTES_MAX
            || self.state.tail.places.len() > STAYING_TAIL_EVENTS_MAX;
        long || self.views_error.is_some()
    }

    /// Returns the derived store, to be merged by another thread and then passed to [`Live::adopt`].
    pub fn store(&self) -> Store {
        self.state.overlay.store().clone()
    }

    /// Replaces the store by the merged store, unless the store got new runs meanwhile.
    pub fn adopt(&mut self, merged: Store) {
        if merged.covered() == self.state.overlay.store().covered() {
            self.state.overlay.rebased(merged);
        }
    }

    /// Writes the tail into a run, even if the tail is short.
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

    /// Returns the digest of the state, as lower-case hex; a rebuilt state has the same digest. Reads the whole state.
    pub fn digest(&self) -> Result<String> {
        digest(self.rows())
    }
}

/// Namespaces of projections.
const STATE: std::ops::Range<u8> = 0x01..0xF0;

/// BLAKE3 of the ordered entries; each key and value follows its length (u32, little-endian).
pub(crate) fn digest(rows: Rows<'_>) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    rows.0
        .hash_entries(&mut hasher, &[STATE.start], &[STATE.end])?;
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

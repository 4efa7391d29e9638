//! The only place that writes events. The steps are: stamp, check, encode, write, sync, write the head.
//!
//! Invariants: a group is written in one piece after a synced group, and synced before its head is written. Nothing is retried
//! after a failed write or sync. Seqs have no gap; ids and times do not run backward. Before each group and each head, the writer
//! checks the lock, and checks that the log ends where this writer ended it.

use super::active::ActiveSegment;
use super::checks::{behind, check_group, check_strings, earlier, greater, live_time, not_before};
use super::group::{Buffers, Group, InFlightGroup, WrittenGroup};
use super::reservation::{Reservation, Room};
use super::{State, WriterCounts};
use crate::codec;
use crate::event::Cause;
use crate::head::HeadFile;
use crate::journal::Replica;
use crate::limits;
use crate::lock::LogLock;
use crate::options::LogOptions;
use crate::prelude::*;
use crate::reader::Reader;
use crate::witness::Witness;

/// State that belongs to the holder of the lock.
pub(crate) struct Core<S> {
    pub storage: Arc<dyn Storage>,
    pub dir: PathBuf,
    pub identity: Identity,
    pub options: LogOptions,
    pub head: Head,
    pub head_file: HeadFile,
    pub active: Option<ActiveSegment>,
    pub state: S,
    /// Events that are stamped and folded, but not yet written.
    pub pending: Vec<Event<'static>>,
    pub pending_bytes: usize,
    /// Buffers of the last group, for reuse.
    pub spare: Buffers,
    /// A buffered group that a thread is writing. No other group is written before this group is durable.
    pub in_flight: Option<InFlightGroup>,
    /// Events that were written after this list was last emptied, if `collect_events` is set. The answers of a round contain
    /// these events.
    pub written: Vec<Event<'static>>,
    pub collect_events: bool,
    /// This host's side of the log's journal, if the log has a journal.
    pub replica: Option<Replica>,
    /// Error that ended this round: the pending group and the later jobs of the round are not recorded.
    pub ended: Option<Error>,
    /// Number of jobs with events in the next group.
    pub jobs: usize,
    pub counts: WriterCounts,
    /// Reason for which this writer refuses every further call.
    pub poisoned: Option<Poison>,
    /// Lock of the log. This field is dropped last, so that the lock outlives every write.
    pub lock: LogLock,
}

/// Reason for which a writer ended.
pub(crate) struct Poison {
    pub why: String,
    /// True if a sync failed: then the content of the disk is unknown.
    pub unsynced: bool,
}

impl<S> Core<S> {
    /// Returns a reader up to the head.
    pub fn reader(&self) -> Reader {
        Reader::new(&self.storage, &self.dir, &self.identity, self.head.clone())
    }
}

impl<S: State> Core<S> {
    /// Fails if an earlier write failed.
    pub fn usable(&self) -> Result<()> {
        self.poisoned
            .as_ref()
            .map_or(Ok(()), |poison| Err(Error::Poisoned(poison.why.clone())))
    }

    /// Ends this writer after a writing thread panicked, because the group may be partly written.
    pub fn poison(&mut self) {
        self.poisoned.get_or_insert_with(|| Poison {
            why: "a writing thread panicked".into(),
            unsynced: false,
        });
    }

    /// Runs a step that must not be half done: its failure ends this writer.
    pub fn guarded<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.usable()?;
        let result = step(self);
        // An error of the journal does not end the writer, because a group that the journal refused is not in the local log.
        if let Err(error) = &result
            && error.journal_fault().is_none()
        {
            self.poisoned = Some(Poison {
                why: error.to_string(),
                unsynced: error.is_sync_error(),
            });
        }
        result
    }

    /// Stamps new events with the time `now` and adds them to the pending group. If the events do not fit, first writes that
    /// group. Returns the number of added events, which are the last events of `pending`.
    pub fn push(&mut self, now: Timestamp, events: Vec<NewEvent>) -> Result<usize> {
        let (count, _) = self.push_and_reserve(now, events, Room::default())?;
        Ok(count)
    }

    /// Like [`Core::push`], and reserves room in the same group for further events. The caller adds these by
    /// [`Core::push_sequel`] before it pushes any other events.
    ///
    /// # Errors
    /// The events and the room exceed a group, or an event breaks a rule. In both cases nothing is folded.
    pub(super) fn push_and_reserve(
        &mut self,
        now: Timestamp,
        events: Vec<NewEvent>,
        room: Room,
    ) -> Result<(usize, Option<Reservation>)> {
        let before = self.pending.len();
        let stamped = self.stamp_and_reserve(now, events, room);
        let (bytes, reservation) = match stamped {
            Ok(stamped) => stamped,
            Err(refused) => {
                self.pending.truncate(before);
                return Err(refused);
            }
        };
        let count = self.pending.len() - before;
        let reserved_at = reservation.as_ref().and_then(Reservation::created_at);
        let first = self.pending.get(before).map(|event| event.created_at);
        let Some(day) = first.or(reserved_at).map(Timestamp::day_start) else {
            return Ok((0, None));
        };
        let other_day =
            (self.pending.first()).is_some_and(|first| first.created_at.day_start() != day);
        let full = self.pending_bytes + bytes + room.bytes > limits::GROUP_BYTES_MAX
            || self.pending.len() + room.events > limits::GROUP_EVENTS_MAX;
        let mut from = before;
        if before > 0 && (other_day || full) {
            let stamped = self.pending.split_off(before);
            self.flush()?;
            assert_eq!(
                (self.pending.len(), self.pending_bytes),
                (0, 0),
                "a flush must leave nothing pending"
            );
            (self.pending, from) = (stamped, 0);
        }
        self.apply_pending(from, bytes, day)?;
        Ok((count, reservation))
    }

    /// Adds the events of a job's second step in their reserved places; returns their number. A failure ends the writer, because
    /// the earlier events of the job are folded already.
    pub(super) fn push_sequel(
        &mut self,
        reservation: Option<Reservation>,
        more: Vec<NewEvent>,
    ) -> Result<usize> {
        if more.is_empty() {
            return Ok(0);
        }
        self.guarded(|core| {
            let unreserved = || Error::Poisoned("a second step gave events without room".into());
            let (events, bytes) = reservation
                .ok_or_else(unreserved)?
                .events(&core.identity.refs, more)?;
            let (from, count) = (core.pending.len(), events.len());
            let Some(first) = events.first() else {
                return Ok(0);
            };
            assert_eq!(
                first.seq,
                core.last_seq() + 1,
                "no event may take a place that is reserved"
            );
            let day = first.created_at.day_start();
            core.pending.extend(events);
            core.apply_pending(from, bytes, day)?;
            Ok(count)
        })
    }

    /// Folds the pending events from index `from` on, which are of `day`.
    fn apply_pending(&mut self, from: usize, bytes: usize, day: Timestamp) -> Result<()> {
        self.guarded(|core| {
            core.state
                .apply(core.pending.get(from..).unwrap_or_default())
        })?;
        self.pending_bytes += bytes;
        assert!(
            self.pending_bytes <= limits::GROUP_BYTES_MAX
                && self.pending.len() <= limits::GROUP_EVENTS_MAX,
            "{} events of {} bytes must fit into a group",
            self.pending.len(),
            self.pending_bytes
        );
        assert!(
            (self.pending.first()).is_none_or(|event| event.created_at.day_start() == day),
            "all events of a group must be of one day, {day}"
        );
        Ok(())
    }

    /// Stamps new events and the reserved places after them; returns the events' size in canonical bytes.
    fn stamp_and_reserve(
        &mut self,
        now: Timestamp,
        mut events: Vec<NewEvent>,
        room: Room,
    ) -> Result<(usize, Option<Reservation>)> {
        let before = self.pending.len();
        let own = before + events.len();
        events.extend((0..room.events).map(|_| Reservation::placeholder()));
        self.stamp(now, events)?;
        self.check_day(before)?;
        let places = self.pending.split_off(own);
        let reservation = (room.events > 0).then(|| Reservation::new(&places, room.bytes));
        let stamped = self.pending.get(before..).unwrap_or_default();
        Ok((
            check_group(&self.identity.refs, stamped, room)?,
            reservation,
        ))
    }

    /// Checks that the events stamped from index `from` on are of one day.
    fn check_day(&self, from: usize) -> Result<()> {
        let stamped = self.pending.get(from..).unwrap_or_default();
        let (Some(first), Some(last)) = (stamped.first(), stamped.last()) else {
            return Ok(());
        };
        if first.created_at.day_start() != last.created_at.day_start() {
            return Err(Error::invalid(
                "created_at",
                last.created_at.to_string(),
                format!(
                    "must be on the same day as its group, {}",
                    first.created_at.day()
                ),
            ));
        }
        debug_assert!(
            stamped.is_sorted_by(|a, b| a.seq + 1 == b.seq && a.id < b.id),
            "events {} to {} must have seqs without a gap and increasing ids",
            first.seq,
            last.seq
        );
        Ok(())
    }

    /// Returns the seq of the last stamped event. Decisions see all events up to this event.
    pub fn last_seq(&self) -> u64 {
        self.last().0
    }

    /// Returns the last stamped event.
    pub(super) fn last(&self) -> (u64, Option<EventId>) {
        match (self.pending.last(), &self.in_flight) {
            (Some(last), _) => (last.seq, Some(last.id)),
            (
                None,
                Some(InFlightGroup {
                    last: (seq, id), ..
                }),
            ) => (*seq, Some(*id)),
            (None, None) => (self.head.last_seq, self.head.last_id),
        }
    }

    /// Stamps new events with the time `now` and adds them after the pending events.
    fn stamp(&mut self, now: Timestamp, events: Vec<NewEvent>) -> Result<()> {
        let before = self.pending.len();
        let (mut seq, mut last) = self.last();
        let floor = self.floor();
        let mut live = live_time(now, last, floor, events.len());
        for new in events {
            check_strings(&self.identity.refs, &new)?;
            let created_at = match new.created_at {
                Some(given) => not_before(given, last, floor)?,
                None => live.max(last.map_or(live, |last| last.created_at().plus_micros(1))),
            };
            let id = match new.id {
                Some(given) => greater(given, created_at, last)?,
                None => behind(
                    last,
                    EventId::after(last, created_at, self.options.ids.as_ref())?,
                )?,
            };
            // If the random bits of the current microsecond are used up, the id is in the next microsecond.
            let created_at = id.created_at();
            live = created_at.plus_micros(1);
            seq += 1;
            let mut refs = new.refs;
            refs.cause = match new.cause {
                Some(Cause::Event(id)) => Some(id),
                Some(Cause::Earlier(index)) => Some(earlier(&self.pending, before, index)?),
                None => refs.cause,
            };
            last = Some(id);
            self.pending.push(Event {
                seq,
                id,
                created_at,
                kind: new.kind,
                actor: Cow::Owned(new.actor),
                refs,
                schema_version: new.schema_version,
                foreign: new.foreign,
                payload: Cow::Owned(new.payload.into_string()),
            });
        }
        Ok(())
    }

    /// Returns midnight of the active segment's day. No event may be earlier, even while the segment is empty, because otherwise
    /// the segments' names would be out of order.
    pub(super) fn floor(&self) -> Timestamp {
        // Pending events were already checked against the floor.
        if let Some(last) = self.pending.last() {
            return last.created_at.day_start();
        }
        SegmentName::parse(&self.head.name, self.identity.format)
            .map_or(Timestamp::default(), |name| name.midnight())
    }

    /// Writes the pending group, syncs it, writes the head, and tells the state that the group is durable.
    pub fn flush(&mut self) -> Result<()> {
        self.order()?;
        self.guarded(Core::write_pending)
    }

    /// Like `flush`, for a group that the journal already has.
    pub(super) fn write_pending(&mut self) -> Result<()> {
        match self.take_pending()? {
            Some(group) => self.advance_head(group.write()?),
            None => Ok(()),
        }
    }

    /// Asserts that all events were written when the writer ends.
    pub fn assert_all_written(&self) {
        assert!(
            self.pending.is_empty() && self.in_flight.is_none(),
            "{} events behind event {} must be written before the lock is released",
            self.pending.len(),
            self.head.last_seq
        );
    }

    /// Starts to write the pending group like [`Core::start_write`], if enough events are pending and no group is in flight.
    /// While a group is in flight, the next group grows until it would no longer fit.
    pub fn start_write_if_due(&mut self) -> Result<()> {
        let busy = self
            .in_flight
            .as_ref()
            .is_some_and(|group| !group.is_finished());
        let most = if busy {
            limits::GROUP_BYTES_MAX - limits::BUFFER_BYTES
        } else {
            limits::BUFFER_BYTES
        };
        match self.pending_bytes >= most {
            true => self.start_write(),
            false => Ok(()),
        }
    }

    /// Like [`Core::flush`], but a thread writes and syncs, and the head is written before the next group. Used for buffered
    /// groups, whose callers were already answered. If no thread can be started, the caller writes.
    pub fn start_write(&mut self) -> Result<()> {
        if self.replica.is_some() {
            return self.flush();
        }
        self.guarded(|core| {
            let Some(group) = core.take_pending()? else {
                return Ok(());
            };
            let Some(last) = group.buffers.events.last() else {
                return Ok(());
            };
            let last = (last.seq, last.id);
            assert!(
                last.0 > core.head.last_seq,
                "event {} is being written, but the head is at {}",
                last.0,
                core.head.last_seq
            );
            match InFlightGroup::start(last, group)? {
                Ok(in_flight) => core.in_flight = Some(in_flight),
                Err(group) => core.advance_head(group.write()?)?,
            }
            Ok(())
        })
    }

    /// Takes the pending group, after all earlier groups are durable and the group's segment exists.
    fn take_pending(&mut self) -> Result<Option<Group>> {
        if let Some(mut in_flight) = self.in_flight.take() {
            self.advance_head(in_flight.finish_write()?)?;
        }
        let Some(first) = self.pending.first() else {
            return Ok(None);
        };
        assert_eq!(
            first.seq,
            self.head.last_seq + 1,
            "a group must continue the log"
        );
        let day = first.created_at;
        assert!(
            self.in_flight.is_none(),
            "a group must not be written beside another one"
        );
        self.check_ours(&self.head, false)?;
        let len = codec::group_len(self.identity.format, &self.pending, self.pending_bytes) as u64;
        let begins = self.rotate_if_needed(day, len)?;
        let defers = self.defers(len);
        if !defers {
            self.write_left_again()?;
        }
        let Some(active) = self.active.clone() else {
            return Err(Error::Poisoned("no segment is open".into()));
        };
        debug_assert!(
            SegmentName::parse(&self.head.name, self.identity.format)
                .is_some_and(|name| name.day == day.day()),
            "a group of {day} must not be written to {}",
            self.head.name
        );
        let path = self.dir.join(EVENTS_DIR).join(&self.head.name);
        self.pending_bytes = 0;
        let mut buffers = std::mem::take(&mut self.spare);
        std::mem::swap(&mut buffers.events, &mut self.pending);
        Ok(Some(Group {
            format: self.identity.format,
            refs: self.identity.refs.clone(),
            buffers,
            len,
            segment: self.head.segment,
            active,
            path,
            start: self.head.end,
            stays: self.stays(),
            // The first group of a segment is synced together with the file's length, so zeros would save nothing.
            ahead: if begins { 0 } else { self.ahead() },
            seals: self.is_last_of_segment(self.head.end + len),
            defers,
        }))
    }

    /// Returns true for a long-lived writer, which prepares zeros and digests in advance.
    pub(super) fn stays(&self) -> bool {
        self.counts.groups >= self.options.ahead_from_group
    }

    /// Returns the number of zeros to keep after a group.
    fn ahead(&self) -> u64 {
        match self.identity.may_prewrite() && self.stays() && self.replica.is_none() {
            true => self.options.ahead_bytes,
            false => 0,
        }
    }

    /// Undoes preallocation and an early seal. If that fails, the next writer undoes both.
    pub fn undo_ahead(&mut self) {
        if let Some(active) = &self.active {
            let _ = active.cut_ahead(self.head.end);
        }
        if self.head.rotating {
            let goes_on = Head {
                rotating: false,
                ..self.head.clone()
            };
            let _ = self.write_head(goes_on, false);
        }
    }

    /// Writes the head for a durable group, and informs the state.
    fn advance_head(&mut self, mut group: WrittenGroup) -> Result<()> {
        let events = &mut group.buffers.events;
        let (Some(first), Some(last), Some(end)) =
            (events.first(), events.last(), group.places.last())
        else {
            return Ok(());
        };
        assert_eq!(
            (group.start, first.seq),
            (self.head.end, self.head.last_seq + 1),
            "a group must begin where the head ends"
        );
        assert!(
            Some(last.id) > self.head.last_id,
            "id {} must be greater than {:?}",
            last.id,
            self.head.last_id
        );
        assert_eq!(
            (group.places.len(), group.crcs.len()),
            (events.len(), events.len()),
            "each event must have one place and one CRC"
        );
        self.write_head(
            Head {
                end: end.end(),
                last_seq: last.seq,
                last_id: Some(last.id),
                rotating: group.seals,
                quarantining: false,
                cutting: false,
                ..self.head.clone()
            },
            group.seals,
        )?;
        if let Some(replica) = &mut self.replica {
            replica.advance((last.id, *end), &last.kind);
            if group.synced {
                replica.mark_synced();
                self.keep_cursor();
            }
        }
        let jobs = std::mem::take(&mut self.jobs);
        let bytes = group.buffers.bytes.len();
        self.counts.group(jobs, events.len(), bytes, group.took);
        self.state
            .committed(&self.head, events, &group.places, &group.crcs);
        if self.collect_events {
            self.written.append(events);
        }
        events.clear();
        self.spare = group.buffers;
        Ok(())
    }

    /// Makes `head` the log's head. Everything up to this head must be synced already.
    pub(super) fn write_head(&mut self, mut head: Head, durable: bool) -> Result<()> {
        assert!(
            head.last_seq >= self.head.last_seq,
            "the head must not go back from event {} to {}",
            self.head.last_seq,
            head.last_seq
        );
        assert!(
            head.segment == self.head.segment && head.end >= self.head.end
                || head.segment == self.head.segment + 1,
            "the head must not go from byte {} of segment {} to byte {} of segment {}",
            self.head.end,
            self.head.segment,
            head.end,
            head.segment
        );
        let written = head.last_seq > self.head.last_seq;
        self.check_ours(&head, written)?;
        self.head_file.write(&mut head, durable)?;
        self.head = head;
        if written && let Some(witness) = Witness::from_head(&self.identity, &self.head) {
            self.lock.advance_witness(&witness);
        }
        Ok(())
    }
}

//! A log with a journal: each round first reads the groups of other hosts, and a group is written to the local log after the
//! journal has it.

use super::State;
use super::checks::check_sizes;
use super::core::Core;
use crate::codec;
use crate::journal::{JournalGroup, LogState, Replica, Turn, conflict, misplaced};
use crate::prelude::*;
use crate::tail::read_tail;
use std::time::Instant;

/// Number of repetitions of a read that the journal does not confirm. Each repetition may ask another server.
const CONFIRMS_MAX: usize = 3;

/// Start of a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundStart {
    begun: Instant,
    last_seq: u64,
    /// True if the journal was not read, because this host appended the last group.
    unread: bool,
}

impl<S: State> Core<S> {
    /// Returns the time for decisions. In a log with a journal this time never runs backward, although its hosts'
    /// clocks differ.
    pub fn now(&self) -> Timestamp {
        let now = self.options.clock.now();
        match (&self.replica, self.last().1) {
            (Some(_), Some(last)) => now.max(last.created_at()),
            _ => now,
        }
    }

    /// Starts a round after reading the journal. If the read fails, the round ends.
    pub(super) fn begin_round(&mut self) -> RoundStart {
        let begun = Instant::now();
        let unread = self.replica.as_ref().is_some_and(Replica::may_go_on);
        self.ended = match self.replica.is_some() && !unread {
            true => self.catch_up().err(),
            false => None,
        };
        let last_seq = self.head.last_seq;
        RoundStart {
            begun,
            last_seq,
            unread,
        }
    }

    /// Confirms a round that recorded nothing. An append would prove that the round was decided on all recorded events; a refusal
    /// or an answer proves nothing. If the journal has new events, the round is decided again, so that no caller is refused on an
    /// old state.
    pub(super) fn confirm(&mut self, start: RoundStart) -> Result<()> {
        if self.replica.is_none() || self.head.last_seq > start.last_seq {
            return Ok(());
        }
        let is_old = start.unread && self.catch_up()? > 0;
        match is_old || self.confirm_read(start.begun)? > 0 {
            true => Err(conflict(start.last_seq)),
            false => Ok(()),
        }
    }

    /// Asks the journal to confirm that the last read missed no group that was acknowledged before `since`. Repeats a read that
    /// is not confirmed, perhaps from another server. Returns the number of new events.
    pub fn confirm_read(&mut self, since: Instant) -> Result<u64> {
        let (mut events, mut tries) = (0, 1);
        while let Some(replica) = &mut self.replica {
            match replica.confirm(since) {
                Ok(()) => break,
                Err(error) if tries == CONFIRMS_MAX => return Err(error),
                Err(_) => (events, tries) = (events + self.catch_up()?, tries + 1),
            }
        }
        if self.replica.as_ref().is_some_and(Replica::is_kept_late) {
            self.keep_cursor();
        }
        Ok(events)
    }

    /// Writes and folds the journal's groups after the end of this log; returns the number of their events.
    pub fn catch_up(&mut self) -> Result<u64> {
        self.usable()?;
        assert!(
            self.pending.is_empty(),
            "{} events must be written or withdrawn before others are taken in",
            self.pending.len()
        );
        let before = self.head.last_seq;
        while let Some(replica) = &mut self.replica {
            let page = replica.read(self.options.clock.as_ref())?;
            let goes_on = page.more && !page.groups.is_empty();
            for group in page.groups {
                self.absorb(group)?;
            }
            if !goes_on {
                break;
            }
        }
        self.replica.as_ref().map_or(Ok(()), Replica::check_owed)?;
        Ok(self.head.last_seq - before)
    }

    /// Writes and folds one group of the journal, if the group is valid and continues this log.
    fn absorb(&mut self, group: JournalGroup) -> Result<()> {
        let (mut frames, mut events) = (Vec::new(), Vec::new());
        let last = self.head.last();
        let tail = read_tail(
            (&self.identity).into(),
            &group.bytes,
            0,
            last,
            |place, frame| {
                frames.push(place.len);
                events.push(frame.event.clone().into_owned());
            },
        );
        let position = group.position;
        let is_one = tail.groups.len() == 1 && tail.broken.is_none();
        let last_seq = events.last().map(|event: &Event<'_>| event.seq);
        if !is_one || last_seq != Some(position.last_seq) {
            return Err(misplaced(position, "does not continue this log"));
        }
        self.check_place(&group, &events)
            .map_err(|why| misplaced(position, why))?;
        if let Some(replica) = &self.replica {
            replica.check_is_owed(&events)?;
        }
        let pending_bytes = check_sizes(&self.identity.refs, &events)
            .map_err(|error| misplaced(position, &format!("breaks a limit: {error}")))?;
        self.guarded(|core| {
            core.state.apply(&events)?;
            (core.pending, core.pending_bytes) = (events, pending_bytes);
            (core.spare.bytes, core.spare.frames) = (group.bytes, frames);
            if let Some(replica) = &mut core.replica {
                replica.expect(position, &group.begins);
            }
            core.write_pending()
        })
    }

    /// Checks that the group matches its position, and that its events are of one day, which is not before the segment's day.
    fn check_place(&self, group: &JournalGroup, events: &[Event<'_>]) -> Result<(), &'static str> {
        let last_seq = group.position.last_seq;
        let due = self.replica.as_ref();
        if due.map(|replica| replica.behind(last_seq, &group.bytes)) != Some(group.position) {
            return Err("has another digest than its bytes");
        }
        let day = |event: Option<&Event<'_>>| event.map(|event| event.created_at.day_start());
        let (first, last) = (day(events.first()), day(events.last()));
        if first != last || first < Some(self.floor()) {
            return Err("is of an earlier day, or of two");
        }
        let names = |name: &String| SegmentName::parse(name, self.identity.format);
        let begun: Option<Vec<SegmentName>> = group.begins.iter().map(names).collect();
        let of_its_day = |begun: &Vec<SegmentName>| {
            let last = begun.last().map(|name| Some(name.midnight()));
            begun.is_sorted() && last.is_none_or(|last| last <= first)
        };
        match begun.is_some_and(|begun| of_its_day(&begun)) {
            true => Ok(()),
            false => Err("begins segments that cannot come before it"),
        }
    }

    /// Appends the pending group to the journal. If that fails, the group is withdrawn, and no later job of the round is
    /// recorded, because later jobs were decided on a state with the withdrawn group.
    pub(super) fn order(&mut self) -> Result<()> {
        self.order_by(None)
    }

    /// Like `order`, with an optional change of the log's state in the journal.
    fn order_by(&mut self, turn: Option<&Turn>) -> Result<()> {
        let (Some(replica), Some(last)) = (&mut self.replica, self.pending.last()) else {
            return Ok(());
        };
        // A log that left its journal may be given to another journal.
        let opens = turn.is_some_and(|turn| turn.to == LogState::Open);
        let goes_on = if opens {
            Ok(())
        } else {
            replica.check_goes_on()
        };
        let checked = goes_on
            .and_then(|()| replica.check_clock())
            .and_then(|()| replica.check_fold_version());
        if let Err(error) = checked {
            self.withdraw(error.again());
            return Err(error);
        }
        let buffers = &mut self.spare;
        buffers.bytes.clear();
        buffers.frames = codec::encode_group(&self.identity, &self.pending, &mut buffers.bytes);
        let deadline = self.options.lock_deadline;
        let ordered = replica.append((last.seq, last.id), &buffers.bytes, turn, deadline);
        if let Err(error) = &ordered {
            self.withdraw(error.again());
        }
        ordered
    }

    /// Records one event that changes the log's state in its journal. Calls `note` with the event's id before the event
    /// is sent.
    pub fn turn(
        &mut self,
        event: NewEvent,
        turn: &Turn,
        note: impl FnOnce(EventId) -> Result<()>,
    ) -> Result<()> {
        self.push(self.now(), vec![event])?;
        let noted = self.pending.last().map_or(Ok(()), |event| note(event.id));
        if let Err(error) = noted {
            self.withdraw(error.again());
            return Err(error);
        }
        self.order_by(Some(turn))?;
        self.guarded(Core::write_pending)
    }

    fn withdraw(&mut self, why: Error) {
        self.state.retract();
        self.pending.clear();
        self.pending_bytes = 0;
        self.spare.frames.clear();
        self.jobs = 0;
        self.ended = Some(why);
    }

    /// Stores the position for the next process.
    pub fn keep_cursor(&mut self) {
        if let Some(replica) = &mut self.replica {
            replica.keep(self.storage.as_ref(), &self.dir, &self.identity);
        }
    }
}

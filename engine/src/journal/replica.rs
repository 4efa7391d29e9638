//! A host's side of a journal: the end of the host's log, the journal's groups after this end, and the groups that the host appends.

use super::cursor::{self, CursorState, End};
use super::{Append, Journal, LogState, Outcome, Page, Position, ReadError, Term};
use crate::clock::Clock;
use crate::layout::JOURNAL_LEFT;
use crate::limits::CLOCK_SKEW_MAX;
use crate::prelude::*;
use crate::reader::Reader;
use std::thread;
use std::time::Instant;

/// Approximate bytes of a page that is read from the journal.
const PAGE_BYTES: usize = 1 << 20;
/// Delay before the first repetition of an append with an unknown outcome. Each further repetition doubles the delay.
const REPEAT_MIN: Duration = Duration::from_millis(1);
/// Interval at which a long-lived process stores the time of its last read for other processes.
const KEPT_FOR: Duration = Duration::from_millis(100);
/// Time for which a comparison of clocks is valid.
const COMPARED_FOR: Duration = Duration::from_secs(10);
/// Largest delay before a repetition.
const REPEAT_MAX: Duration = Duration::from_millis(500);

/// The journal of a log, and the state of its local replica.
pub(crate) struct Replica {
    journal: Box<dyn Journal>,
    log: LogId,
    end: End,
    /// End of the part of the local log that is known to be synced.
    synced: End,
    /// A segment to which other processes wrote bytes, perhaps without a sync, and the end of these bytes.
    left: Option<(u32, u64)>,
    /// Like [`CursorState::owed`].
    owed: Option<(u64, EventId)>,
    /// Last term in which the journal answered.
    term: Term,
    /// This host's fold version; 0 if not checked.
    fold_version: u32,
    /// The fold version in the journal.
    named_version: u32,
    /// Position after the group of the journal that is being written to the local log.
    next: Option<Position>,
    /// Like [`Append::begins`], for the group that is being written.
    begins: Vec<String>,
    /// True if this process made the last append. Then the next append is decided without a read, because the journal compares
    /// the append's position.
    pub leads: bool,
    /// True if the last event took the log off its journal. Then this host records nothing after that event.
    has_left: bool,
    /// Time of the last comparison of clocks, and its result.
    compared: Option<(Instant, Option<String>)>,
    /// Time of the last read of the journal, by this host's clock; `None` before the first read of this process.
    asked_at: Option<Timestamp>,
    /// Time of the last read that was confirmed to be complete: by a later append, or by [`Journal::confirm`].
    read_at: Timestamp,
    /// Time at which `read_at` was stored for other processes.
    kept: Instant,
}

impl Replica {
    /// Opens the replica of a recovered log.
    pub fn open(
        mut journal: Box<dyn Journal>,
        reader: &Reader,
        fold_version: u32,
    ) -> Result<Replica> {
        let kept = CursorState::load(reader)?.unwrap_or_default();
        let term = cursor::known_term(reader.storage().as_ref(), reader.dir(), reader.identity());
        journal.expect_term(term);
        let synced = kept.synced;
        let end = synced.read_on(reader)?;
        let left = end.last.filter(|_| synced != end);
        let last = end.last.map(|(_, place)| reader.at(place)).transpose()?;
        Ok(Replica {
            journal,
            log: reader.identity().log,
            end,
            synced,
            left: left.map(|(_, place)| (place.segment, place.end())),
            owed: kept.owed,
            term,
            fold_version,
            named_version: 0,
            has_left: last.is_some_and(|event| event.kind == JOURNAL_LEFT),
            next: None,
            begins: Vec::new(),
            leads: false,
            compared: None,
            asked_at: None,
            read_at: kept.read_at,
            kept: Instant::now(),
        })
    }

    /// Announces a group of the journal that follows the end of the local log, and that is written next.
    pub fn expect(&mut self, position: Position, begins: &[String]) {
        self.next = Some(position);
        self.begins = begins.to_vec();
    }

    /// Takes the [`Append::begins`] of the announced group.
    pub fn begins(&mut self) -> Vec<String> {
        std::mem::take(&mut self.begins)
    }

    /// Moves the end after the announced group, whose last event is `last`.
    pub fn advance(&mut self, last: (EventId, Place), kind: &str) {
        self.has_left = kind == JOURNAL_LEFT;
        let next = self.next.take();
        assert!(
            next.is_some_and(|next| next.last_seq > self.end.position.last_seq),
            "what is written behind event {} must be in the journal: {next:?}",
            self.end.position.last_seq
        );
        if let Some(position) = next {
            let last = Some(last);
            self.end = End { position, last };
        }
    }

    /// Marks the whole local log as synced.
    pub fn mark_synced(&mut self) {
        self.synced = self.end;
        self.left = None;
    }

    /// Takes the part of a segment that other processes wrote, perhaps without a sync. Later calls return `None`.
    pub fn take_left(&mut self) -> Option<(u32, Range<u64>)> {
        let (segment, end) = self.left.take()?;
        let start = self.synced_in(segment).map_or(0, |place| place.end());
        Some((segment, start..end))
    }

    /// Returns true if the whole local log is synced.
    pub fn is_synced(&self) -> bool {
        self.synced == self.end
    }

    /// Returns the last synced event of the segment, if any.
    pub fn synced_in(&self, segment: u32) -> Option<Place> {
        let (_, place) = self.synced.last?;
        (place.segment == segment).then_some(place)
    }

    /// Refuses a journal that ends before the events that this host had before a power loss.
    pub fn check_owed(&self) -> Result<()> {
        let end = self.end.position.last_seq;
        match self.owed {
            Some((seq, _)) if end < seq => Err(read_error(ReadError::Behind(end), seq)),
            _ => Ok(()),
        }
    }

    /// Refuses a journal that has another event in place of the last event that this host had before a power loss.
    pub fn check_is_owed(&self, events: &[Event<'_>]) -> Result<()> {
        let is_other = |(seq, id)| {
            events
                .iter()
                .any(|event| event.seq == seq && event.id != id)
        };
        match self.owed {
            Some((seq, id)) if is_other((seq, id)) => Err(forked(seq)),
            _ => Ok(()),
        }
    }

    /// Returns the position after a group that follows the end of the local log.
    pub fn behind(&self, last_seq: u64, bytes: &[u8]) -> Position {
        Position {
            last_seq,
            digest: self.end.position.digest.then(bytes),
        }
    }

    /// Reads the groups after the end of the local log, and compares the clocks.
    pub fn read(&mut self, clock: &dyn Clock) -> Result<Page> {
        let after = self.end.position;
        let asked = clock.now();
        let page = self.journal.read(self.log, after, PAGE_BYTES);
        let page = page.map_err(|error| read_error(error, after.last_seq))?;
        check_term(page.term, self.term)?;
        let term = page.term.after(self.term);
        if term != self.term {
            self.journal.expect_term(term);
        }
        (self.term, self.named_version) = (term, page.fold_version);
        let wrong = page.now.and_then(|there| skew(asked, there, clock.now()));
        self.compared = Some((Instant::now(), wrong));
        self.asked_at = Some(asked);
        Ok(page)
    }

    /// Confirms that the deciding server answered the last read. If the call fails, repeat the read.
    pub fn confirm(&mut self, since: Instant) -> Result<()> {
        let confirmed = self.journal.confirm(since);
        confirmed.map_err(|error| read_error(error, self.end.position.last_seq))?;
        self.note_confirmed();
        Ok(())
    }

    fn note_confirmed(&mut self) {
        self.read_at = self.asked_at.unwrap_or(self.read_at);
    }

    /// Stores the synced end and the time of the last read, for other processes.
    pub fn keep(&mut self, storage: &dyn Storage, dir: &Path, identity: &Identity) {
        if self.asked_at.is_some() {
            let synced = self.synced.position.last_seq;
            self.owed = self.owed.filter(|(seq, _)| *seq > synced);
            let kept = CursorState {
                synced: self.synced,
                read_at: self.read_at,
                owed: self.owed,
                term: self.term,
            };
            // A failed write is ignored: `owed` keeps its old value in the file, and all other fields are derived.
            let _ = kept.keep(storage, dir, identity, self.owed.is_some());
            self.kept = Instant::now();
        }
    }

    /// Returns true if the time of the last read was stored too long ago.
    pub fn is_kept_late(&self) -> bool {
        self.kept.elapsed() >= KEPT_FOR
    }

    /// Returns true if the next group may be decided without a read: this process made the last group, and compared the clocks
    /// recently.
    pub fn may_go_on(&self) -> bool {
        let is_good = |(at, wrong): &(Instant, Option<String>)| {
            wrong.is_none() && at.elapsed() < COMPARED_FOR
        };
        self.leads && self.compared.as_ref().is_some_and(is_good)
    }

    /// Refuses to record anything after the event by which the log was taken off its journal. The refusal is needed because a
    /// journal that lost this event, and got it back from a host, would accept more events.
    pub fn check_goes_on(&self) -> Result<()> {
        match self.has_left {
            true => Err(left()),
            false => Ok(()),
        }
    }

    /// Refuses to record anything if this host's clock differs too much from the journal's clock.
    pub fn check_clock(&self) -> Result<()> {
        match &self.compared {
            Some((_, Some(why))) => Err(Error::journal(JournalFault::ClockSkew, why.clone())),
            _ => Ok(()),
        }
    }

    /// Refuses to record anything if the journal requires a newer fold version. If this host's version is newer, raises the
    /// version in the journal, which stops older hosts.
    pub fn check_fold_version(&mut self) -> Result<()> {
        let (own, named) = (self.fold_version, self.named_version);
        if own == 0 || own == named {
            return Ok(());
        }
        if own < named {
            let why = format!("it requires fold version {named}, and this host has {own}");
            return Err(Error::journal(JournalFault::NewerHost, why));
        }
        let raised = self.journal.raise_fold_version(self.log, own);
        raised.map_err(|error| read_error(error, self.end.position.last_seq))?;
        self.named_version = own;
        Ok(())
    }

    /// Appends a group after the end of the local log. Repeats an append with an unknown outcome until `deadline`, at least once.
    /// A sent group may be recorded at any later time, so only an append settles the outcome, not a read. With `turn`, the append
    /// also changes the log's state.
    pub fn append(
        &mut self,
        (last_seq, last_id): (u64, EventId),
        bytes: &[u8],
        turn: Option<&Turn>,
        deadline: Duration,
    ) -> Result<()> {
        let started = Instant::now();
        let append = Append {
            log: self.log,
            after: self.end.position,
            position: self.behind(last_seq, bytes),
            last_id,
            bytes,
            begins: turn.map_or(&[], |turn| &turn.begins),
        };
        self.leads = false;
        let mut unknown: Option<String> = None;
        let mut pause = REPEAT_MIN;
        loop {
            let to = turn.map(|turn| turn.to);
            let outcome = self.append_once(&append, to, unknown.is_some());
            let is_last = unknown.is_some() && started.elapsed() >= deadline;
            match outcome {
                Outcome::Appended => {
                    self.leads = true;
                    self.note_confirmed();
                    self.expect(append.position, append.begins);
                    return Ok(());
                }
                Outcome::Unreachable(why) | Outcome::Unknown(why) if is_last => {
                    return Err(Error::journal(JournalFault::Unknown, why));
                }
                Outcome::Unknown(why) => unknown = Some(why),
                Outcome::Unreachable(why) if unknown.is_some() => unknown = Some(why),
                // The journal may lack the group before this group, or have another group in its place.
                Outcome::Forked => return Err(self.why_forked(append.after)),
                other => return Err(outcome_error(other, append.after.last_seq)),
            }
            thread::sleep(pause.min(deadline.saturating_sub(started.elapsed())));
            pause = (pause * 2).min(REPEAT_MAX);
        }
    }

    /// Asks for the end of the log in the journal, which shows if the journal lost its end or has another history.
    fn why_forked(&mut self, after: Position) -> Error {
        match self.journal.read(self.log, after, 1) {
            Err(error) => read_error(error, after.last_seq),
            Ok(_) => forked(after.last_seq),
        }
    }

    /// Sends the group once. A group that was sent before can still be recorded later. Only a group of another host at the same
    /// position proves that this host's group will never be recorded.
    fn append_once(&mut self, append: &Append<'_>, to: Option<LogState>, again: bool) -> Outcome {
        let outcome = match to {
            None => self.journal.append(&[*append], LogState::Open).pop(),
            Some(to) => Some(self.journal.turn(append, to)),
        };
        let outcome = outcome.unwrap_or_else(|| Outcome::Unknown("it gave no answer".into()));
        let is_final = matches!(outcome, Outcome::Appended | Outcome::Forked);
        if !again || is_final || matches!(outcome, Outcome::Unreachable(_)) {
            return outcome;
        }
        match self.journal.read(self.log, append.after, 1) {
            Ok(page) => match page.groups.first() {
                // The group is perhaps not yet as durable as the journal promises; only an append proves the group's
                // durability.
                Some(group) if group.position == append.position => {
                    Outcome::Unknown("it has the group, but did not confirm its durability".into())
                }
                Some(_) => Outcome::Conflict,
                None => Outcome::Unknown("it has no group at that position".into()),
            },
            Err(error) => Outcome::Unknown(format!("{error:?}")),
        }
    }
}

/// Checks that the answering server is the deciding server, if the terms are known.
fn check_term(term: Term, seen: Term) -> Result<()> {
    if term.is_of_another_system(seen) {
        return Err(moved(term, seen));
    }
    match term.is_before(seen) {
        true => {
            let why = format!(
                "the server is a former primary: its term is {}, but this host has seen term {}",
                term.number, seen.number
            );
            Err(Error::journal(JournalFault::Unreachable, why))
        }
        false => Ok(()),
    }
}

/// Creates the error for a journal on another system of servers.
pub(crate) fn moved(term: Term, seen: Term) -> Error {
    let why = format!(
        "the system id of the database is {} and was {}, so this may be a copy of the database",
        term.system, seen.system
    );
    Error::journal(JournalFault::Moved, why)
}

/// A change of a log's state in its journal.
pub(crate) struct Turn {
    pub to: LogState,
    /// Like [`Append::begins`].
    pub begins: Vec<String>,
}

/// Returns the problem of this host's clock, if any. This host's clock showed `asked` before the question and `answered` after
/// the answer; the journal's clock showed `there` in between.
pub(crate) fn skew(asked: Timestamp, there: Timestamp, answered: Timestamp) -> Option<String> {
    let ahead = asked.micros() - there.micros();
    let behind = there.micros() - answered.micros();
    let (off, side) = match ahead > behind {
        true => (ahead, "ahead of"),
        false => (behind, "behind"),
    };
    let seconds = |micros: i64| micros as f64 / 1e6;
    (off > CLOCK_SKEW_MAX).then(|| {
        format!(
            "the clock of this host is {:.1} s {side} the journal's; the limit is {} s",
            seconds(off),
            seconds(CLOCK_SKEW_MAX)
        )
    })
}

/// Creates the error for groups that the journal did not accept. `last_seq` is the event before these groups.
pub(super) fn outcome_error(outcome: Outcome, last_seq: u64) -> Error {
    match outcome {
        Outcome::Conflict => conflict(last_seq),
        Outcome::Forked => forked(last_seq),
        Outcome::NotDurable(why) => Error::journal(JournalFault::NotDurable, why),
        Outcome::Refused(why) => Error::journal(JournalFault::Refused, why),
        Outcome::Unfit(fault, why) => Error::journal(fault, why),
        Outcome::Unreachable(why) => Error::journal(JournalFault::Unreachable, why),
        Outcome::Unknown(why) => Error::journal(JournalFault::Unknown, why),
        Outcome::Closed(LogState::Loading) => Error::journal(
            JournalFault::Loading,
            "a host is still copying the log to the journal",
        ),
        Outcome::Closed(LogState::Left) => left(),
        Outcome::Appended | Outcome::Closed(LogState::Open) => Error::journal(
            JournalFault::Opened,
            "another process already has the log open in the journal",
        ),
    }
}

/// Creates the error for a failed read of the groups after the event `last_seq`.
pub(crate) fn read_error(error: ReadError, last_seq: u64) -> Error {
    match error {
        ReadError::Unreachable(why) => Error::journal(JournalFault::Unreachable, why),
        ReadError::Behind(end) => Error::journal(
            JournalFault::Behind,
            format!("the journal ends with event {end}, but this host has event {last_seq}"),
        ),
        ReadError::Forked => forked(last_seq),
        ReadError::Trimmed(end) => Error::journal(
            JournalFault::Trimmed,
            format!(
                "it was trimmed up to event {end}, and this host has only events up to {last_seq}"
            ),
        ),
        ReadError::NotDurable(why) => Error::journal(JournalFault::NotDurable, why),
        ReadError::Refused(why) => Error::journal(JournalFault::Refused, why),
        ReadError::Unfit(fault, why) => Error::journal(fault, why),
        ReadError::OtherJournal(why) => Error::journal(JournalFault::OtherJournal, why),
    }
}

/// Creates the error for a group of another host that came first.
pub(crate) fn conflict(last_seq: u64) -> Error {
    let why = format!("event {} is from another host", last_seq + 1);
    Error::journal(JournalFault::Conflict, why)
}

fn left() -> Error {
    let why = "the log left its journal and continues on one host; this copy has ended";
    Error::journal(JournalFault::Left, why)
}

pub(super) fn forked(last_seq: u64) -> Error {
    let why = format!("the events up to event {last_seq} differ");
    Error::journal(JournalFault::Forked, why)
}

/// Creates the error for a group of the journal at a wrong position.
pub(crate) fn misplaced(position: Position, why: &str) -> Error {
    let why = format!(
        "the journal's group that ends with event {} {why}",
        position.last_seq
    );
    Error::journal(JournalFault::Forked, why)
}

//! A host's side of a journal: where its log stands, what is behind that, and its own groups.

use super::cursor::{self, End, Kept};
use super::{Append, Journal, LogState, Outcome, Page, Position, ReadError, Term};
use crate::clock::Clock;
use crate::layout::JOURNAL_LEFT;
use crate::limits::CLOCK_SKEW_MAX;
use crate::prelude::*;
use crate::reader::Reader;
use std::thread;
use std::time::Instant;

/// About how much is read of the journal at once.
const PAGE_BYTES: usize = 1 << 20;
/// How long the first repetition of an append waits whose outcome is unknown; each further one twice as long.
const REPEAT_MIN: Duration = Duration::from_millis(1);
/// A process that stays tells others at most so often that it read the journal.
const KEPT_FOR: Duration = Duration::from_millis(100);
/// How long a comparison of clocks counts.
const COMPARED_FOR: Duration = Duration::from_secs(10);
/// At most.
const REPEAT_MAX: Duration = Duration::from_millis(500);

/// The journal of a log, and how far the local log has followed it.
pub(crate) struct Replica {
    journal: Box<dyn Journal>,
    log: LogId,
    end: End,
    /// Up to where the local log was synced at least.
    synced: End,
    /// The segment and its end, of which the part behind what was synced was written by other processes.
    left: Option<(u32, u64)>,
    /// As [`Kept::owed`].
    owed: Option<(u64, EventId)>,
    /// The last term in which the journal answered.
    term: Term,
    /// The version by which this host folds; 0 where nobody asks.
    fold_version: u32,
    /// The one that the journal names.
    named_version: u32,
    /// The place behind a group that the journal has, and that is being written here.
    next: Option<Position>,
    /// The segments that begin before it, where the rule alone does not say so.
    begins: Vec<String>,
    /// Whether the last append was one of this process: the next one is then decided without reading before. It is compared
    /// all the same.
    pub leads: bool,
    /// Whether the last event took the log off its journal: then this host records nothing behind it.
    has_left: bool,
    /// When the journal was last read, and what was wrong with the host's clock then.
    compared: Option<(Instant, Option<String>)>,
    /// Time of the last read by the host's clock; `None` before the first read of this process.
    asked_at: Option<Timestamp>,
    /// Time of the last read that the journal confirmed: by an append after it, or by [`Journal::confirm`].
    read_at: Timestamp,
    /// When that was kept for other processes.
    kept: Instant,
}

impl Replica {
    /// For a log that is recovered.
    pub fn open(
        mut journal: Box<dyn Journal>,
        reader: &Reader,
        fold_version: u32,
    ) -> Result<Replica> {
        let kept = Kept::of(reader)?.unwrap_or_default();
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

    /// The journal has a group behind the end of the local log, which is to be written there next.
    pub fn expect(&mut self, position: Position, begins: &[String]) {
        self.next = Some(position);
        self.begins = begins.to_vec();
    }

    /// The segments that begin before that group, where the rule alone does not say so.
    pub fn begins(&mut self) -> Vec<String> {
        std::mem::take(&mut self.begins)
    }

    /// That group is written here too; its last event is this one.
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

    /// All that was written here is synced.
    pub fn mark_synced(&mut self) {
        self.synced = self.end;
        self.left = None;
    }

    /// What other processes wrote of a segment and nobody is known to have synced, once.
    pub fn take_left(&mut self) -> Option<(u32, Range<u64>)> {
        let (segment, end) = self.left.take()?;
        let start = self.synced_in(segment).map_or(0, |place| place.end());
        Some((segment, start..end))
    }

    /// Whether that is so.
    pub fn is_synced(&self) -> bool {
        self.synced == self.end
    }

    /// The last event up to which that segment was synced, if one of it was.
    pub fn synced_in(&self, segment: u32) -> Option<Place> {
        let (_, place) = self.synced.last?;
        (place.segment == segment).then_some(place)
    }

    /// Refuses a journal that ends before what this host had: it lost what a power loss took away here.
    pub fn check_owed(&self) -> Result<()> {
        let end = self.end.position.last_seq;
        match self.owed {
            Some((seq, _)) if end < seq => Err(of_read(ReadError::Behind(end), seq)),
            _ => Ok(()),
        }
    }

    /// Refuses a journal that has another event in the place of the one that this host had.
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

    /// The position behind one more group.
    pub fn behind(&self, last_seq: u64, bytes: &[u8]) -> Position {
        Position {
            last_seq,
            digest: self.end.position.digest.then(bytes),
        }
    }

    /// What stands behind the end of the local log. Holds the host's clock against the journal's.
    pub fn read(&mut self, clock: &dyn Clock) -> Result<Page> {
        let after = self.end.position;
        let asked = clock.now();
        let page = self.journal.read(self.log, after, PAGE_BYTES);
        let page = page.map_err(|error| of_read(error, after.last_seq))?;
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

    /// Confirms that what was read last was not the answer of a server that decides no more. Otherwise it has to be read again.
    pub fn confirm(&mut self, since: Instant) -> Result<()> {
        let confirmed = self.journal.confirm(since);
        confirmed.map_err(|error| of_read(error, self.end.position.last_seq))?;
        self.note_confirmed();
        Ok(())
    }

    fn note_confirmed(&mut self) {
        self.read_at = self.asked_at.unwrap_or(self.read_at);
    }

    /// Keeps how far the log was synced, and when the journal was read, for other processes.
    pub fn keep(&mut self, storage: &dyn Storage, dir: &Path, identity: &Identity) {
        if self.asked_at.is_some() {
            let synced = self.synced.position.last_seq;
            self.owed = self.owed.filter(|(seq, _)| *seq > synced);
            let kept = Kept {
                synced: self.synced,
                read_at: self.read_at,
                owed: self.owed,
                term: self.term,
            };
            // It is derived, but for what is owed; where that cannot be kept anew, it stays as it was.
            let _ = kept.keep(storage, dir, identity, self.owed.is_some());
            self.kept = Instant::now();
        }
    }

    /// Whether that was done long ago.
    pub fn is_kept_late(&self) -> bool {
        self.kept.elapsed() >= KEPT_FOR
    }

    /// Whether the next group may be decided without reading before: the last one was of this process, and its clock was
    /// looked at not long ago.
    pub fn may_go_on(&self) -> bool {
        let is_good = |(at, wrong): &(Instant, Option<String>)| {
            wrong.is_none() && at.elapsed() < COMPARED_FOR
        };
        self.leads && self.compared.as_ref().is_some_and(is_good)
    }

    /// Refuses to record anything behind the event by which the log was taken off: a journal that lost it and got it back from a
    /// host would take more.
    pub fn check_goes_on(&self) -> Result<()> {
        match self.has_left {
            true => Err(left()),
            false => Ok(()),
        }
    }

    /// Refuses to record anything by a clock that is too far from the journal's.
    pub fn check_clock(&self) -> Result<()> {
        match &self.compared {
            Some((_, Some(why))) => Err(Error::journal(JournalFault::ClockSkew, why.clone())),
            _ => Ok(()),
        }
    }

    /// Refuses to record anything where newer hosts fold the log's events otherwise; where older ones did so far, they stop.
    pub fn check_fold_version(&mut self) -> Result<()> {
        let (own, named) = (self.fold_version, self.named_version);
        if own == 0 || own == named {
            return Ok(());
        }
        if own < named {
            let why = format!("its hosts fold events by version {named}, and this one by {own}");
            return Err(Error::journal(JournalFault::NewerHost, why));
        }
        let raised = self.journal.raise_fold_version(self.log, own);
        raised.map_err(|error| of_read(error, self.end.position.last_seq))?;
        self.named_version = own;
        Ok(())
    }

    /// Appends a group behind the end of the local log. An unknown outcome is settled by appending it again until `deadline` is
    /// over, once at least: what was sent may come to stand there at any later time, so that reading settles nothing. With
    /// `turn` the log comes into another state by it.
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
                // The journal may lack the group before this one, or have another group there.
                Outcome::Forked => return Err(self.why_forked(append.after)),
                other => return Err(of_outcome(other, append.after.last_seq)),
            }
            thread::sleep(pause.min(deadline.saturating_sub(started.elapsed())));
            pause = (pause * 2).min(REPEAT_MAX);
        }
    }

    /// Asks where the log ends in the journal, so that one that lost its end is not taken for one with another history.
    fn why_forked(&mut self, after: Position) -> Error {
        match self.journal.read(self.log, after, 1) {
            Err(error) => of_read(error, after.last_seq),
            Ok(_) => forked(after.last_seq),
        }
    }

    /// Where the same bytes were sent before, only the group of another host in their place says that they did not and will
    /// not stand there.
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
                // It may not be as durable as the journal promises yet: an append has to say so.
                Some(group) if group.position == append.position => {
                    Outcome::Unknown("it has the group, and did not say for how long".into())
                }
                Some(_) => Outcome::Conflict,
                None => Outcome::Unknown("it took nothing in the group's place".into()),
            },
            Err(error) => Outcome::Unknown(format!("{error:?}")),
        }
    }
}

/// Whether what answers is the one that decides, so far as this host can tell.
fn check_term(term: Term, seen: Term) -> Result<()> {
    if term.is_of_another_system(seen) {
        return Err(moved(term, seen));
    }
    match term.is_before(seen) {
        true => {
            let why = format!(
                "a server answers that decided once: its term is {}, and {} was seen",
                term.number, seen.number
            );
            Err(Error::journal(JournalFault::Unreachable, why))
        }
        false => Ok(()),
    }
}

/// Why a journal on another system of servers is refused.
pub(crate) fn moved(term: Term, seen: Term) -> Error {
    let why = format!(
        "its system id is {}, and was {}: this may be a copy of its database",
        term.system, seen.system
    );
    Error::journal(JournalFault::Moved, why)
}

/// What a log comes into another state by.
pub(crate) struct Turn {
    pub to: LogState,
    /// As [`Append::begins`].
    pub begins: Vec<String>,
}

/// What is wrong with a host's clock, which showed the first and the last of these times before and behind the moment when the
/// journal's showed the one between.
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
            "the clock of this host is {:.1} s {side} the journal's, and may be {} s",
            seconds(off),
            seconds(CLOCK_SKEW_MAX)
        )
    })
}

/// Why groups behind an event were not taken.
pub(super) fn of_outcome(outcome: Outcome, last_seq: u64) -> Error {
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
            "the host that hands it over has not finished",
        ),
        Outcome::Closed(LogState::Left) => left(),
        Outcome::Appended | Outcome::Closed(LogState::Open) => {
            Error::journal(JournalFault::Opened, "the log is open there already")
        }
    }
}

/// Why nothing behind an event could be read.
pub(crate) fn of_read(error: ReadError, last_seq: u64) -> Error {
    match error {
        ReadError::Unreachable(why) => Error::journal(JournalFault::Unreachable, why),
        ReadError::Behind(end) => Error::journal(
            JournalFault::Behind,
            format!("it ends with event {end}, but this host has all up to event {last_seq}"),
        ),
        ReadError::Forked => forked(last_seq),
        ReadError::Trimmed(end) => Error::journal(
            JournalFault::Trimmed,
            format!(
                "it has what stands behind event {end}, and this host has all up to event {last_seq}"
            ),
        ),
        ReadError::NotDurable(why) => Error::journal(JournalFault::NotDurable, why),
        ReadError::Refused(why) => Error::journal(JournalFault::Refused, why),
        ReadError::Unfit(fault, why) => Error::journal(fault, why),
        ReadError::OtherJournal(why) => Error::journal(JournalFault::OtherJournal, why),
    }
}

/// The groups of another host came first.
pub(crate) fn conflict(last_seq: u64) -> Error {
    let why = format!("another host recorded event {} first", last_seq + 1);
    Error::journal(JournalFault::Conflict, why)
}

fn left() -> Error {
    let why = "the log goes on at one host alone, and this copy of it ends here";
    Error::journal(JournalFault::Left, why)
}

pub(super) fn forked(last_seq: u64) -> Error {
    let why = format!("it has another history than this host up to event {last_seq}");
    Error::journal(JournalFault::Forked, why)
}

/// A group of the journal cannot stand where it does.
pub(crate) fn misplaced(position: Position, why: &str) -> Error {
    let why = format!("its group up to event {} {why}", position.last_seq);
    Error::journal(JournalFault::Forked, why)
}

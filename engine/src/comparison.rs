//! Comparison of a log with its journal: says if the log or the journal has more events, and if all hosts fold the same events to
//! the same state.

use crate::journal::{
    Append, End, GroupStore, JournalCheck, JournalRow, check_rows, cursor, read_error, skew,
};
use crate::log::Log;
use crate::prelude::*;
use crate::reader::Reader;

/// Result of comparing a log with its journal, if neither is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// True if the journal has events that this host lacks.
    pub is_behind: bool,
    /// Problem of this host's clock; absent if the clock is right.
    pub clock: Option<String>,
    /// True if other hosts fold the events by a newer version.
    pub is_older: bool,
    /// Hosts whose state at the same event differs from the state of this host.
    pub diverged: Vec<String>,
}

impl Log {
    /// Returns the time, by this host's clock, at which this host last read the journal. This host may lack later events of other
    /// hosts. Returns `None` if the log has no journal, or if the time was not stored.
    pub fn journal_read_at(&self) -> Option<Timestamp> {
        self.identity().journal.as_ref()?;
        let kept = cursor::read(self.storage().as_ref(), self.dir(), self.identity());
        let read_at = kept.map(|kept| kept.read_at);
        read_at.filter(|at| *at > Timestamp::default())
    }

    /// Compares the events of a reader with the journal, and `state`, a digest of the folded state, with the digests of other
    /// hosts. Returns `None` if the log has no journal. Records nothing.
    ///
    /// # Errors
    /// `Journal`: the journal lacks events of this host, has another history, or does not answer; `Corrupt`, I/O.
    pub fn compare(&self, reader: &Reader, state: Option<&str>) -> Result<Option<Comparison>> {
        let Some(journal) = &self.identity().journal else {
            return Ok(None);
        };
        let mut handle = self.journal(journal)?;
        let (log, end, clock) = (
            self.identity().log,
            End::from_reader(reader)?,
            &self.options().clock,
        );
        let last_seq = end.position.last_seq;
        let told = |error| -> Error { read_error(error, last_seq) };
        let asked = clock.now();
        let page = handle.read(log, end.position, 1).map_err(told)?;
        let clock = page.now.and_then(|there| skew(asked, there, clock.now()));
        let diverged = match state {
            Some(digest) => handle.compare_state(log, last_seq, digest).map_err(told)?,
            None => Vec::new(),
        };
        Ok(Some(Comparison {
            is_behind: !page.groups.is_empty(),
            clock,
            is_older: self.options().fold_version < page.fold_version,
            diverged,
        }))
    }

    /// Compares the journal of this log with this host, group by group. If asked, restores groups that were changed or removed in
    /// the journal. Calls `progress` with the number of compared events, and the number of all events.
    ///
    /// # Errors
    /// `Journal`: the journal does not answer, or the role may not change its tables; `Corrupt`, I/O.
    pub fn check_journal(
        &self,
        stores: &dyn GroupStore,
        repair: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<JournalCheck> {
        check_rows(stores, &self.reader()?, repair, progress)
    }

    /// Compares the journal of this log with this host, group by group, as a slow background task. Calls `pace` with the bytes
    /// of each page; if `pace` returns `false`, the comparison ends. Returns `None` if the log has no journal, or if the
    /// journal cannot be compared. A difference is checked twice, because the journal may be trimmed during the comparison.
    ///
    /// # Errors
    /// Like [`Log::check_journal`]; `Journal`: `pace` ended the comparison.
    pub fn scrub_journal(
        &self,
        pace: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<Option<JournalCheck>> {
        let Some(journal) = &self.identity().journal else {
            return Ok(None);
        };
        let server = self.journals(journal)?.server(journal)?;
        let Some(stores) = server.as_deref().and_then(|server| server.group_store()) else {
            return Ok(None);
        };
        let paced = Paced { stores, pace };
        let check = self.check_journal(&paced, false, &mut |_, _| {})?;
        match check.damaged.is_empty() {
            true => Ok(Some(check)),
            false => self.check_journal(&paced, false, &mut |_, _| {}).map(Some),
        }
    }
}

/// Reads the rows of a journal, and calls `pace` for each page.
struct Paced<'a> {
    stores: &'a dyn GroupStore,
    pace: &'a (dyn Fn(usize) -> bool + Sync),
}

impl GroupStore for Paced<'_> {
    fn rows(&self, log: LogId, from: u64, bytes_max: usize) -> Result<Vec<JournalRow>> {
        let rows = self.stores.rows(log, from, bytes_max)?;
        match (self.pace)(rows.iter().map(|row| row.bytes.len()).sum()) {
            true => Ok(rows),
            false => Err(Error::journal(
                JournalFault::Unreachable,
                "the comparison was stopped",
            )),
        }
    }

    fn restore(&self, group: &Append<'_>) -> Result<()> {
        self.stores.restore(group)
    }
}

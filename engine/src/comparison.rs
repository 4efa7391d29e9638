//! A log held against its journal: who has more, and whether hosts fold the same events to the same state.

use crate::journal::{
    Append, End, GroupStore, JournalCheck, JournalRow, check_rows, cursor, of_read, skew,
};
use crate::log::Log;
use crate::prelude::*;
use crate::reader::Reader;

/// How a log stands beside its journal, where nothing is wrong with either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// Whether the journal has more.
    pub is_behind: bool,
    /// What is wrong with this host's clock.
    pub clock: Option<String>,
    /// Whether newer hosts fold its events otherwise.
    pub is_older: bool,
    /// The hosts whose state at the same event is another one.
    pub diverged: Vec<String>,
}

impl Log {
    /// When the journal of this log was last read on this host, by its clock: what others recorded since is not here. `None`
    /// where the log has none, or nobody kept it.
    pub fn journal_read_at(&self) -> Option<Timestamp> {
        self.identity().journal.as_ref()?;
        let kept = cursor::read(self.storage().as_ref(), self.dir(), self.identity());
        let read_at = kept.map(|kept| kept.read_at);
        read_at.filter(|at| *at > Timestamp::default())
    }

    /// Holds what a reader reads against the journal, and the digest of its state, where one is given, against those of other
    /// hosts. `None` where the log has no journal. Records nothing.
    ///
    /// # Errors
    /// `Journal`: it lacks what is here, has another history, or does not take part; `Corrupt`, I/O.
    pub fn compare(&self, reader: &Reader, state: Option<&str>) -> Result<Option<Comparison>> {
        let Some(journal) = &self.identity().journal else {
            return Ok(None);
        };
        let mut handle = self.journal(journal)?;
        let (log, end, clock) = (self.identity().log, End::of(reader)?, &self.options().clock);
        let last_seq = end.position.last_seq;
        let told = |error| -> Error { of_read(error, last_seq) };
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

    /// Compares the journal of this log with what is here, group by group, and puts back what was changed or removed there, if that
    /// is asked for. `progress` hears how many events were compared, of how many.
    ///
    /// # Errors
    /// `Journal`: it does not answer, or the role may not change its tables; `Corrupt`, I/O.
    pub fn check_journal(
        &self,
        stores: &dyn GroupStore,
        repair: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<JournalCheck> {
        check_rows(stores, &self.reader()?, repair, progress)
    }

    /// Compares the journal of this log with what is here, group by group, at the pace of a background task. `pace` hears the bytes
    /// of each page, and ends the comparison by `false`. `None` if the log has no journal, or the journal has nothing to compare.
    /// Differences are looked for a second time: groups may be trimmed meanwhile.
    ///
    /// # Errors
    /// As [`Log::check_journal`]; `Journal`: `pace` ended it.
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

/// Reads the rows of a journal at a pace.
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
                "the comparison was ended",
            )),
        }
    }

    fn restore(&self, group: &Append<'_>) -> Result<()> {
        self.stores.restore(group)
    }
}

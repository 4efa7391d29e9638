//! Comparison of a journal's groups with the groups of this host.
//!
//! Hosts read a group only once. If a group is changed or removed in the journal later, only the next host that joins would
//! notice the change. This check finds such groups, and restores them from the segments.

use super::cursor::{End, StoredGroup};
use super::{Append, GroupDigest, GroupStore, Position};
use crate::prelude::*;
use crate::reader::Reader;
use std::collections::VecDeque;

/// Approximate bytes of a page that is read from the journal.
const PAGE_BYTES: usize = 4 << 20;

/// A group as stored in a journal, valid or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRow {
    /// Seq of the group's first event.
    pub first_seq: u64,
    /// Seq of the group's last event.
    pub last_seq: u64,
    /// Digest before the group; `None` for the row at the start of a trimmed log.
    pub after: Option<GroupDigest>,
    /// Digest after the group.
    pub digest: GroupDigest,
    /// Frames of the group; empty for the row at the start of a trimmed log.
    pub bytes: Vec<u8>,
}

/// A group that differs between the journal and this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedGroup {
    /// Seq of the group's first event.
    pub first_seq: u64,
    /// Seq of the group's last event.
    pub last_seq: u64,
    /// Description of the difference.
    pub why: &'static str,
}

/// Result of comparing a journal with the log of this host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalCheck {
    /// Number of groups compared.
    pub groups: u64,
    /// Seq of the journal's last event, up to the end of this host's log.
    pub last_seq: u64,
    /// Groups that differ.
    pub damaged: Vec<DamagedGroup>,
    /// Number of groups that were restored.
    pub repaired: u64,
}

impl JournalCheck {
    /// Describes the first difference; `None` if the journal and the log agree.
    pub fn first_difference(&self) -> Option<String> {
        let first = self.damaged.first()?;
        Some(format!(
            "{} groups differ in the journal; the first one has events {} to {}: {}",
            self.damaged.len(),
            first.first_seq,
            first.last_seq,
            first.why
        ))
    }
}

/// Compares the rows of a log with the reader's groups, and, if asked, restores rows that differ.
pub(crate) fn check_rows(
    stores: &dyn GroupStore,
    reader: &Reader,
    repair: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<JournalCheck> {
    let (log, last_seq) = (reader.identity().log, reader.head().last_seq);
    let segments = reader.segments()?;
    let mut rows = Rows {
        stores,
        log,
        page: VecDeque::new(),
        next: 0,
        ended: false,
    };
    let mut check = JournalCheck::default();
    let mut segment = 0;
    let Some(base) = rows.take_base()? else {
        check.damaged.push(DamagedGroup {
            first_seq: 0,
            last_seq: 0,
            why: "the first row of the log is missing",
        });
        return Ok(check);
    };
    check.last_seq = base.last_seq;
    End::default().each_group(reader, |group| {
        let begun = segment..group.last.1.segment as usize;
        segment = begun.end;
        let last = group.position.last_seq;
        let why = match last.cmp(&base.last_seq) {
            std::cmp::Ordering::Less => return Ok(()),
            std::cmp::Ordering::Equal if base.digest == group.position.digest => return Ok(()),
            std::cmp::Ordering::Equal => Some("the log starts with another group"),
            std::cmp::Ordering::Greater => match rows.take(group.after.last_seq + 1)? {
                RowLookup::End => return Ok(()),
                RowLookup::Row(row) => difference(&row, &group),
                RowLookup::Nothing => Some("it is missing"),
            },
        };
        (check.groups, check.last_seq) = (check.groups + 1, last);
        if check.groups.is_multiple_of(1024) {
            progress(last, last_seq);
        }
        let Some(why) = why else {
            return Ok(());
        };
        check.damaged.push(DamagedGroup {
            first_seq: group.after.last_seq + 1,
            last_seq: last,
            why,
        });
        if repair {
            let begins = segments.get(begun).unwrap_or_default();
            stores.restore(&append(log, &group, begins))?;
            check.repaired += 1;
        }
        Ok(())
    })?;
    Ok(check)
}

fn append<'a>(log: LogId, group: &StoredGroup<'a>, begins: &'a [String]) -> Append<'a> {
    Append {
        log,
        after: group.after,
        position: group.position,
        last_id: group.last.0,
        bytes: group.bytes,
        begins,
    }
}

fn difference(row: &JournalRow, group: &StoredGroup<'_>) -> Option<&'static str> {
    let position = Position {
        last_seq: row.last_seq,
        digest: row.digest,
    };
    match () {
        () if row.bytes != group.bytes => Some("its bytes differ"),
        () if position != group.position => Some("its digest or its last event differs"),
        () if row.after != Some(group.after.digest) => Some("it follows another digest"),
        () => None,
    }
}

/// The rows of a log, in order, read by pages.
struct Rows<'a> {
    stores: &'a dyn GroupStore,
    log: LogId,
    page: VecDeque<JournalRow>,
    next: u64,
    ended: bool,
}

/// Result of looking for the row of a group.
enum RowLookup {
    Row(JournalRow),
    /// The journal has no row for the group, but has later rows.
    Nothing,
    /// The journal has no row for the group, and no later row.
    End,
}

impl Rows<'_> {
    fn fill(&mut self) -> Result<()> {
        if self.page.is_empty() && !self.ended {
            self.page = self.stores.rows(self.log, self.next, PAGE_BYTES)?.into();
            match self.page.back() {
                Some(last) => self.next = last.first_seq + 1,
                None => self.ended = true,
            }
        }
        Ok(())
    }

    /// Takes the row at the start of a trimmed log.
    fn take_base(&mut self) -> Result<Option<JournalRow>> {
        self.fill()?;
        let is_base = self.page.front().is_some_and(|row| row.after.is_none());
        Ok(is_base.then(|| self.page.pop_front()).flatten())
    }

    fn take(&mut self, first_seq: u64) -> Result<RowLookup> {
        loop {
            self.fill()?;
            match self.page.front() {
                None => return Ok(RowLookup::End),
                // The row fits no group of this host. Skip the row, because it is reported as a difference of the previous group.
                Some(row) if row.first_seq < first_seq => drop(self.page.pop_front()),
                Some(row) if row.first_seq > first_seq => return Ok(RowLookup::Nothing),
                Some(_) => {}
            }
            if self
                .page
                .front()
                .is_some_and(|row| row.first_seq == first_seq)
            {
                return Ok(self.page.pop_front().map_or(RowLookup::End, RowLookup::Row));
            }
        }
    }
}

//! Copies to a journal the groups of a log that the journal lacks: all groups on adoption, or the groups after the
//! journal's end if an older state of the journal was restored.

use super::cursor::{End, StoredGroup};
use super::replica::{forked, outcome_error, read_error};
use super::{Append, Journal, LogState, Outcome, Position, ReadError};
use crate::prelude::*;
use crate::reader::Reader;
use std::thread;
use std::time::Instant;

/// Approximate bytes of a batch.
const BATCH_BYTES: usize = 4 << 20;
/// Largest number of groups in a batch.
const BATCH_GROUPS: usize = 1024;
/// Delay before a batch without an answer is sent again.
const REPEAT: Duration = Duration::from_millis(250);

/// Groups that were copied to a journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PushReport {
    /// Number of groups.
    pub groups: u64,
    /// Number of events in the groups.
    pub events: u64,
}

/// Copies to the journal the groups that it lacks. Returns their number, and the names of the segments that began after the last
/// group. Calls `progress` with the number of events in the journal, and the number of all events.
///
/// # Errors
/// `Journal`: the journal does not answer until the deadline, is in another state, or has another history (and is left
/// unchanged).
pub(crate) fn push(
    journal: &mut dyn Journal,
    state: LogState,
    reader: &Reader,
    deadline: Duration,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(PushReport, Vec<String>)> {
    let (log, last_seq) = (reader.identity().log, reader.head().last_seq);
    let segments = reader.segments()?;
    let has = has(journal, log, &End::from_reader(reader)?)?;
    let mut push = Push {
        journal,
        log,
        state,
        deadline,
        batch: Batch::default(),
        pushed: PushReport::default(),
    };
    if has == 0 && last_seq > 0 {
        push.check_position(Position::default())?;
    }
    let (mut segment, mut is_checked) = (0, has == 0);
    End::default().each_group(reader, |group| {
        let begun = segment..group.last.1.segment as usize;
        segment = begun.end;
        let seq = group.position.last_seq;
        if seq <= has {
            is_checked = seq == has;
            return match is_checked {
                true => push.check_position(group.position),
                false => Ok(()),
            };
        }
        if !is_checked {
            return Err(forked(has));
        }
        push.add(&group, segments.get(begun).unwrap_or_default());
        if push.batch.is_full() {
            push.send()?;
            progress(seq, last_seq);
        }
        Ok(())
    })?;
    push.send()?;
    let begun = segments.get(segment..).unwrap_or_default().to_vec();
    Ok((push.pushed, begun))
}

/// Checks that the journal has a prefix of the reader's log.
///
/// # Errors
/// `Journal`: the journal has another history, does not know the log, or does not answer.
pub(crate) fn check_prefix(journal: &mut dyn Journal, reader: &Reader) -> Result<()> {
    let (log, last_seq) = (reader.identity().log, reader.head().last_seq);
    let has = has(journal, log, &End::from_reader(reader)?)?;
    let mut position = Some(Position::default()).filter(|start| start.last_seq == has);
    if has < last_seq {
        End::default().each_group(reader, |group| {
            if group.position.last_seq == has {
                position = Some(group.position);
            }
            Ok(())
        })?;
        let position = position.ok_or_else(|| forked(has))?;
        let page = journal.read(log, position, 1);
        page.map_err(|error| read_error(error, has))?;
    }
    Ok(())
}

/// Returns the seq of the journal's last event, or of the local log's last event if the journal has more events.
fn has(journal: &mut dyn Journal, log: LogId, end: &End) -> Result<u64> {
    let last_seq = end.position.last_seq;
    match journal.read(log, end.position, 1) {
        Ok(_) => Ok(last_seq),
        Err(ReadError::Behind(has)) => Ok(has),
        Err(error) => Err(read_error(error, last_seq)),
    }
}

struct Push<'a> {
    journal: &'a mut dyn Journal,
    log: LogId,
    state: LogState,
    deadline: Duration,
    batch: Batch,
    pushed: PushReport,
}

/// Groups that are sent together.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    groups: Vec<Part>,
}

/// A group of a batch.
struct Part {
    after: Position,
    position: Position,
    last_id: EventId,
    bytes: Range<usize>,
    begins: Vec<String>,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.bytes.len() >= BATCH_BYTES || self.groups.len() >= BATCH_GROUPS
    }

    fn appends(&self, log: LogId) -> Vec<Append<'_>> {
        let append = |part| self.append(log, part);
        self.groups.iter().map(append).collect()
    }

    fn append<'a>(&'a self, log: LogId, part: &'a Part) -> Append<'a> {
        Append {
            log,
            after: part.after,
            position: part.position,
            last_id: part.last_id,
            bytes: self.bytes.get(part.bytes.clone()).unwrap_or_default(),
            begins: &part.begins,
        }
    }
}

impl Push<'_> {
    /// Checks that the journal has the same history up to `position`.
    fn check_position(&mut self, position: Position) -> Result<()> {
        let page = self.journal.read(self.log, position, 1);
        page.map(drop)
            .map_err(|error| read_error(error, position.last_seq))
    }

    fn add(&mut self, group: &StoredGroup<'_>, begins: &[String]) {
        let from = self.batch.bytes.len();
        self.batch.bytes.extend_from_slice(group.bytes);
        self.batch.groups.push(Part {
            after: group.after,
            position: group.position,
            last_id: group.last.0,
            bytes: from..self.batch.bytes.len(),
            begins: begins.to_vec(),
        });
    }

    /// Sends the batch repeatedly until each group has an answer. The journal ignores groups that it already has.
    fn send(&mut self) -> Result<()> {
        let started = Instant::now();
        let (Some(first), Some(last)) = (self.batch.groups.first(), self.batch.groups.last())
        else {
            return Ok(());
        };
        let (before, behind) = (first.after.last_seq, last.position.last_seq);
        loop {
            let outcomes = self
                .journal
                .append(&self.batch.appends(self.log), self.state);
            let lost = |outcome: Outcome| match outcome {
                Outcome::Appended => None,
                other => Some(other),
            };
            match outcomes.into_iter().find_map(lost) {
                None => break,
                Some(Outcome::Unknown(why) | Outcome::Unreachable(why)) => {
                    if started.elapsed() >= self.deadline {
                        return Err(Error::journal(JournalFault::Unreachable, why));
                    }
                    thread::sleep(REPEAT);
                }
                // Another host appended a group after a position that this host's own groups follow.
                Some(Outcome::Conflict) => return Err(forked(behind)),
                Some(other) => return Err(outcome_error(other, before)),
            }
        }
        self.pushed.groups += self.batch.groups.len() as u64;
        self.pushed.events += behind - before;
        self.batch.bytes.clear();
        self.batch.groups.clear();
        Ok(())
    }
}

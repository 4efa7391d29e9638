//! The end of a log whose groups a journal orders. It is written without waiting for the disk, so a power loss may take any part
//! of it, in any order; what it takes is fetched from the journal again.
//!
//! What was synced ends where the cursor says, or else with the first group of the last segment.

use super::{LockedLog, Recovered};
use crate::codec::SegmentHeader;
use crate::error::Result;
use crate::head::Head;
use crate::identity::Identity;
use crate::journal::End;
use crate::journal::cursor::{self, Kept};
use crate::reader::Reader;
use crate::segment::end_of_log;
use crate::sequence::LastEvent;
use crate::storage::{NamedFile, Open, Storage};
use crate::tail::{self, Tail};
use std::path::Path;
use std::sync::Arc;

/// Where what was synced ends, as a head, if what is behind that is not what `head` says. `None` where all is there, where no
/// journal has it, and where the damage is none of this kind.
pub(crate) fn synced_before(
    storage: &Arc<dyn Storage>,
    dir: &Path,
    identity: &Identity,
    head: &Head,
) -> Result<Option<Head>> {
    // A segment was synced before it is over.
    if identity.journal.is_none() || head.segment == 0 || head.rotating {
        return Ok(None);
    }
    let reader = Reader::new(storage.clone(), dir, identity.clone(), head.clone());
    let path = head.path(dir);
    let Some(file) = storage.named().open_if_there(&path, Open::Read)? else {
        return Ok(None);
    };
    let kept = cursor::read(storage.as_ref(), dir, identity.log);
    let synced = match kept.and_then(|kept| Some((kept, kept.synced.last?))) {
        Some((_, (_, place))) if (place.segment, place.end()) >= (head.segment, head.end) => None,
        Some((kept, (id, place))) if place.segment == head.segment && kept.is_in(&reader)? => {
            let last_seq = kept.synced.position.last_seq;
            Some(head.back_to(place.end(), last_seq, id))
        }
        _ => first_group(&file, identity, head)?,
    };
    let Some(synced) = synced else {
        return Ok(None);
    };
    let len = end_of_log(identity, &file, head.end)?.min(head.end);
    let tail = read(&file, identity, synced.end..len, synced.last())?;
    let last = tail.groups.last();
    let is_whole = tail.broken.is_none()
        && last.is_some_and(|group| {
            (group.end, group.last_seq, Some(group.last_id))
                == (head.end, head.last_seq, head.last_id)
        });
    Ok((!is_whole && synced.last_seq < head.last_seq).then_some(synced))
}

/// The end of a segment's first group, which is always synced.
fn first_group(file: &NamedFile, identity: &Identity, head: &Head) -> Result<Option<Head>> {
    let bytes = file.read_up_to(head.end)?;
    let Ok((header, len)) = SegmentHeader::decode(identity.format, &bytes) else {
        return Ok(None);
    };
    let (content, before) = (
        bytes.get(len..).unwrap_or_default(),
        LastEvent::before(header.first_seq),
    );
    let tail = tail::read_tail(identity.format, content, len as u64, before, |_, _| {});
    let first = tail.groups.first();
    Ok(first.map(|group| head.back_to(group.end, group.last_seq, group.last_id)))
}

fn read(
    file: &NamedFile,
    identity: &Identity,
    range: std::ops::Range<u64>,
    last: LastEvent,
) -> Result<Tail> {
    let start = range.start;
    let bytes = file.read_range(range)?;
    let tail = tail::read_tail(identity.format, &bytes, start, last, |_, _| {});
    Ok(tail)
}

impl LockedLog<'_> {
    /// Goes back to where the log was synced, keeps what stands whole behind that, and notes what the journal has to have.
    pub(super) fn go_back(&self, synced: Head, head: &Head) -> Result<Recovered> {
        let evidence = self.examine(synced.clone())?;
        let reader = Reader::new(
            self.storage.clone(),
            self.dir,
            self.identity.clone(),
            synced,
        );
        let (storage, log) = (self.storage.as_ref(), self.identity.log);
        let before = cursor::read(storage, self.dir, log);
        let owed = Kept {
            synced: End::of(&reader)?,
            read_at: before.map(|kept| kept.read_at).unwrap_or_default(),
            owed: head.last_seq.max(before.map_or(0, |kept| kept.owed)),
            term: before.map_or(0, |kept| kept.term),
        };
        // Durable before the head forgets it.
        owed.keep(storage, self.dir, log, true)?;
        let mut recovered = self.act(evidence)?;
        self.head_file.write(&mut recovered.head, true)?;
        let (found, due) = (recovered.head.last_seq, head.last_seq);
        if found < due {
            recovered.notes.push(format!(
                "a power loss took events {} to {due}, which the journal has",
                found + 1
            ));
        }
        Ok(recovered)
    }
}

//! The end of a log whose groups a journal orders. It is written without waiting for the disk, so a power loss may take any part
//! of it, in any order; what it takes is fetched from the journal again.
//!
//! What was synced ends where the cursor says, or else with the first group of the last segment.

use super::{Recovered, RecoveryContext};
use crate::journal::End;
use crate::journal::cursor::{self, Kept};
use crate::prelude::*;
use crate::reader::Reader;
use crate::segment::end_of_log;
use crate::storage::if_long_enough;
use crate::tail::{self, Tail};

/// A log whose head names more than is there.
pub(crate) struct Broken {
    /// The head where it was synced.
    pub synced: Head,
    /// The head behind the last group that stands whole behind that.
    pub whole: Head,
}

/// How much of a segment is read at once to find its first group.
const PIECE_BYTES: u64 = 64 << 10;

/// What is there of a log whose head names more; `None` where all is there, where no journal has it, and where the damage is
/// none of this kind.
pub(crate) fn broken(
    storage: &Arc<dyn Storage>,
    dir: &Path,
    identity: &Identity,
    head: &Head,
) -> Result<Option<Broken>> {
    // A segment was synced before it is over.
    if identity.journal.is_none() || head.segment == 0 || head.rotating {
        return Ok(None);
    }
    let path = head.path(dir);
    let Some(file) = storage.named().open_if_there(&path, OpenMode::Read)? else {
        return Ok(None);
    };
    let Some(synced) = synced(storage, dir, identity, head, &file)? else {
        return Ok(None);
    };
    let Some(tail) = tail_behind(&file, identity, &synced, head)? else {
        // It is cut this moment, by a recovery.
        return Ok(Some(Broken {
            whole: synced.clone(),
            synced,
        }));
    };
    let whole = match tail.groups.last() {
        Some(group) => synced.back_to(group.end, group.last_seq, group.last_id),
        None => synced.clone(),
    };
    let is_all = tail.broken.is_none() && whole == *head;
    Ok((!is_all && synced.last_seq < head.last_seq).then_some(Broken { synced, whole }))
}

/// Where a log was synced, as a head; `None` where that is all of it, and where nothing says so.
fn synced(
    storage: &Arc<dyn Storage>,
    dir: &Path,
    identity: &Identity,
    head: &Head,
    file: &NamedFile,
) -> Result<Option<Head>> {
    let reader = Reader::new(storage, dir, identity, head.clone());
    let kept = cursor::read(storage.as_ref(), dir, identity);
    match kept.and_then(|kept| Some((kept, kept.synced.last?))) {
        Some((_, (_, place))) if (place.segment, place.end()) >= (head.segment, head.end) => {
            Ok(None)
        }
        Some((kept, (id, place))) if place.segment == head.segment && kept.is_in(&reader)? => {
            let last_seq = kept.synced.position.last_seq;
            Ok(Some(head.back_to(place.end(), last_seq, id)))
        }
        _ => first_group(file, identity, head),
    }
}

/// The end of a segment's first group, which is always synced.
fn first_group(file: &NamedFile, identity: &Identity, head: &Head) -> Result<Option<Head>> {
    let len = file.stat()?.len.min(head.end);
    let mut piece = PIECE_BYTES;
    loop {
        let bytes = file.read_up_to(piece.min(len))?;
        if let Ok((header, at)) = SegmentHeader::decode(identity.format, &bytes) {
            let content = bytes.get(at..).unwrap_or_default();
            let before = LastEvent::before(header.first_seq);
            let tail = tail::read_tail(identity.into(), content, at as u64, before, |_, _| {});
            if let Some(group) = tail.groups.first() {
                return Ok(Some(head.back_to(group.end, group.last_seq, group.last_id)));
            }
        }
        if piece >= len {
            return Ok(None);
        }
        piece = piece.saturating_mul(2);
    }
}

/// What stands between two heads; `None` where the file was cut meanwhile.
fn tail_behind(
    file: &NamedFile,
    identity: &Identity,
    synced: &Head,
    head: &Head,
) -> Result<Option<Tail>> {
    let Some(len) = if_long_enough(end_of_log(identity, file, head.end))? else {
        return Ok(None);
    };
    let bytes = if_long_enough(file.read_range(synced.end..len.min(head.end)))?;
    let read = |bytes: Vec<u8>| {
        let last = synced.last();
        tail::read_tail(identity.into(), &bytes, synced.end, last, |_, _| {})
    };
    Ok(bytes.map(read))
}

/// What a power loss took, for people: the head that is, and the one that was.
pub(crate) fn taken(whole: &Head, head: &Head) -> String {
    format!(
        "a power loss took events {} to {}, which are to come from the journal again",
        whole.last_seq + 1,
        head.last_seq
    )
}

impl RecoveryContext<'_> {
    /// Goes back to where the log was synced, keeps what stands whole behind that, and notes what the journal has to have.
    pub(super) fn go_back(&self, synced: Head, head: &Head) -> Result<Recovered> {
        let evidence = self.examine(synced.clone())?;
        let reader = Reader::new(self.storage, self.dir, self.identity, synced);
        let storage = self.storage.as_ref();
        let before = cursor::read(storage, self.dir, self.identity).unwrap_or_default();
        let owed = Kept {
            synced: End::of(&reader)?,
            owed: before.owed.max(head.last_id.map(|id| (head.last_seq, id))),
            ..before
        };
        // Durable before the head forgets it.
        owed.keep(storage, self.dir, self.identity, true)?;
        let mut recovered = self.act(evidence)?;
        self.head_file.write(&mut recovered.head, true)?;
        if recovered.head.last_seq < head.last_seq {
            recovered.notes.push(taken(&recovered.head, head));
        }
        Ok(recovered)
    }
}

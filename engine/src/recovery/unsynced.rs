//! The unsynced end of a log with a journal. This end is written without syncs, so a power loss may remove any part of
//! it, in any order; this host then fetches the lost part from the journal again.
//!
//! The cursor holds the synced end; without a cursor, the synced end is the end of the first group of the last segment.

use super::{Recovered, RecoveryContext};
use crate::journal::End;
use crate::journal::cursor::{self, CursorState};
use crate::prelude::*;
use crate::reader::Reader;
use crate::segment::end_of_log;
use crate::storage::if_long_enough;
use crate::tail::{self, Tail};

/// A log whose head names missing bytes.
pub(crate) struct Broken {
    /// The head at the synced end.
    pub synced: Head,
    /// The head after the last complete group past the synced end.
    pub whole: Head,
}

/// Number of bytes that are read at once to find the first group of a segment.
const PIECE_BYTES: u64 = 64 << 10;

/// Returns the state of a log whose head names missing bytes. Returns `None` if no bytes are missing, if the log has no journal,
/// or if the log has other damage.
pub(crate) fn broken(
    storage: &Arc<dyn Storage>,
    dir: &Path,
    identity: &Identity,
    head: &Head,
) -> Result<Option<Broken>> {
    // While a rotation is pending, the segment is synced: a segment is synced before the next segment starts.
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
        // Another process is cutting the file as part of a recovery.
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

/// Returns the head at the synced end. Returns `None` if the whole log is synced, or if the synced end is unknown.
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

/// Returns the end of a segment's first group, which is always synced.
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

/// Reads the bytes between two heads; `None` if the file was cut in the meantime.
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

/// Describes the loss for people, from the head before (`whole`) and the head now (`head`).
pub(crate) fn taken(whole: &Head, head: &Head) -> String {
    format!(
        "a power loss removed events {} to {}, which will be fetched from the journal",
        whole.last_seq + 1,
        head.last_seq
    )
}

impl RecoveryContext<'_> {
    /// Reads the log from the synced end on, and keeps the complete groups that survived after this end. Stores the seq and id
    /// of the last event that the old head named, because the journal must still deliver this event.
    pub(super) fn go_back(&self, synced: Head, head: &Head) -> Result<Recovered> {
        let evidence = self.examine(synced.clone())?;
        let reader = Reader::new(self.storage, self.dir, self.identity, synced);
        let storage = self.storage.as_ref();
        let before = cursor::read(storage, self.dir, self.identity).unwrap_or_default();
        let owed = CursorState {
            synced: End::from_reader(&reader)?,
            owed: before.owed.max(head.last_id.map(|id| (head.last_seq, id))),
            ..before
        };
        // `owed` is durable before the head stops naming the lost event.
        owed.keep(storage, self.dir, self.identity, true)?;
        let mut recovered = self.act(evidence)?;
        self.head_file.write(&mut recovered.head, true)?;
        if recovered.head.last_seq < head.last_seq {
            recovered.notes.push(taken(&recovered.head, head));
        }
        Ok(recovered)
    }
}

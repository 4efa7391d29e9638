//! The cursor: how far the local log was synced, with the position there, so that not all of it is hashed whenever it is opened.
//! Derived: where it is gone, damaged, of another log, or names an event that is not where it says, the position is computed
//! from the segments, and what was synced ends with the first group of the last one. Only what a power loss took
//! (`owed`) is known by it alone.

use super::{GroupDigest, Position, Term};
use crate::error::REPLACE;
use crate::layout::JOURNAL_FILE;
use crate::prelude::*;
use crate::reader::{Chain, Reader, SPAN_BYTES};

const VERSION: u32 = 3;
/// No cursor is longer than this.
const CURSOR_BYTES_MAX: u64 = 1024;

/// What the file `journal` holds: one line of JSON with its own CRC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    version: u32,
    log: LogId,
    journal: String,
    last_seq: u64,
    last_id: EventId,
    digest: String,
    #[serde(flatten)]
    place: Place,
    /// When the journal was last read, by this host's clock.
    read_at: Timestamp,
    /// As [`Kept::owed`]; 0 and empty for nothing.
    owed: u64,
    owed_id: String,
    /// As [`Kept::term`].
    term: Term,
}

/// What the cursor says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// All up to there was synced.
    pub synced: End,
    /// When the journal was last read, by this host's clock.
    pub read_at: Timestamp,
    /// The last event that this host had before a power loss took it away: a journal that ends before it, or has another one in
    /// its place, lost it too.
    pub owed: Option<(u64, EventId)>,
    /// The last term in which the journal answered.
    pub term: Term,
}

/// Where the log ends that a reader reads, and the place of its last event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct End {
    /// Behind its last group.
    pub position: Position,
    /// The last event; `None` of an empty log.
    pub last: Option<(EventId, Place)>,
}

/// A group as the local log has it.
pub struct StoredGroup<'a> {
    /// The place before it.
    pub after: Position,
    /// The place behind it.
    pub position: Position,
    /// Its last event.
    pub last: (EventId, Place),
    /// Its frames.
    pub bytes: &'a [u8],
}

impl End {
    /// Computes it: from the cursor, and from what the log holds behind it.
    pub fn of(reader: &Reader) -> Result<End> {
        let kept = Kept::of(reader)?.map(|kept| kept.synced);
        kept.unwrap_or_default().read_on(reader)
    }

    /// Reads the groups behind it.
    pub fn read_on(self, reader: &Reader) -> Result<End> {
        self.each_group(reader, |_| Ok(()))
    }

    /// Shows the groups behind it, and gives the end behind the last one.
    pub fn each_group(
        mut self,
        reader: &Reader,
        mut show: impl FnMut(StoredGroup<'_>) -> Result<()>,
    ) -> Result<End> {
        let mut chain = Chain::behind(self.last.map(|(id, _)| (self.position.last_seq, id)));
        let mut bytes = Vec::new();
        for span in reader.spans(self.last.map(|(_, place)| place), SPAN_BYTES) {
            let span = span?;
            let frames = span.decode()?;
            chain.link(&span, &frames)?;
            let mut at = 0;
            for located in &frames {
                let frame = span.content().get(at..at + located.frame.len);
                bytes.extend_from_slice(frame.unwrap_or_default());
                at += located.frame.len;
                let part = located.frame.group;
                if part.index + 1 < part.len {
                    continue;
                }
                let after = self.position;
                let position = Position {
                    last_seq: located.frame.event.seq,
                    digest: after.digest.then(&bytes),
                };
                let last = (located.frame.event.id, located.place);
                self = End {
                    position,
                    last: Some(last),
                };
                show(StoredGroup {
                    after,
                    position,
                    last,
                    bytes: &bytes,
                })?;
                bytes.clear();
            }
        }
        Ok(self)
    }
}

impl Kept {
    /// What the file of a log says, if the event that it names is there.
    pub fn of(reader: &Reader) -> Result<Option<Kept>> {
        match read(reader.storage().as_ref(), reader.dir(), reader.identity()) {
            Some(kept) => Ok(kept.is_in(reader)?.then_some(kept)),
            None => Ok(None),
        }
    }

    /// Whether the event that it names is there. Nothing behind the head is found, so a cursor that is ahead of it does not
    /// count.
    pub fn is_in(&self, reader: &Reader) -> Result<bool> {
        let Some((id, place)) = self.synced.last else {
            return Ok(false);
        };
        let there = reader.frame_at(place)?;
        let last_seq = self.synced.position.last_seq;
        Ok(there.is_some_and(|(event, _)| event.seq == last_seq && event.id == id))
    }

    /// Keeps it for the next process. It is derived: only what is owed has to be durable.
    pub fn keep(
        &self,
        storage: &dyn Storage,
        dir: &Path,
        identity: &Identity,
        durable: bool,
    ) -> Result<()> {
        let Some(bytes) = self.encode(identity) else {
            return Ok(());
        };
        let path = dir.join(JOURNAL_FILE);
        let kept = storage.replace(&path, &bytes, durable);
        kept.map_err(Error::io(REPLACE, &path))
    }

    fn encode(&self, identity: &Identity) -> Option<Vec<u8>> {
        let End { position, last } = self.synced;
        let (id, place) = last?;
        let cursor = Cursor {
            version: VERSION,
            log: identity.log,
            journal: identity.journal.as_ref()?.id.clone(),
            last_seq: position.last_seq,
            last_id: id,
            digest: position.digest.to_string(),
            place,
            read_at: self.read_at,
            owed: self.owed.map_or(0, |(seq, _)| seq),
            owed_id: self.owed.map_or(String::new(), |(_, id)| id.to_string()),
            term: self.term,
        };
        let mut line = serde_json::to_vec(&cursor).ok()?;
        let crc = crc32fast::hash(&line);
        line.extend_from_slice(format!(" {crc:08x}\n").as_bytes());
        Some(line)
    }
}

/// What the file says, if it is of that log and journal. It is derived: whatever is wrong with it, it is not needed.
pub(crate) fn read(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Option<Kept> {
    let bytes = storage
        .named()
        .read_if_there(&dir.join(JOURNAL_FILE), CURSOR_BYTES_MAX);
    decode(&bytes.ok().flatten()?, identity)
}

/// Returns the last term in which the journal answered. It counts although the event that the file names may be gone by a
/// power loss: a copy of the journal must not be taken for it then.
pub(crate) fn known_term(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Term {
    let kept = read(storage, dir, identity);
    kept.map(|kept| kept.term).unwrap_or_default()
}

/// Accepts exactly what `encode` writes for that log.
fn decode(bytes: &[u8], identity: &Identity) -> Option<Kept> {
    let at = bytes.iter().rposition(|byte| *byte == b' ')?;
    let cursor: Cursor = serde_json::from_slice(bytes.get(..at)?).ok()?;
    let synced = End {
        position: Position {
            last_seq: cursor.last_seq,
            digest: GroupDigest(*blake3::Hash::from_hex(&cursor.digest).ok()?.as_bytes()),
        },
        last: Some((cursor.last_id, cursor.place)),
    };
    let owed = EventId::from_text(cursor.owed_id.as_bytes()).map(|id| (cursor.owed, id));
    let kept = Kept {
        synced,
        read_at: cursor.read_at,
        owed,
        term: cursor.term,
    };
    let is_as_written = cursor.version == VERSION && kept.encode(identity)? == bytes;
    is_as_written.then_some(kept)
}

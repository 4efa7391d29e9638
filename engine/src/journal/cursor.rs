//! The cursor: the synced end of the local log and its journal position, so that opening the log does not hash the whole log.
//!
//! The cursor is derived. If the cursor is missing, damaged, of another log, or names an event that is not in the log, the
//! position is computed from the segments, and the synced end is the end of the first group of the last segment. Only `owed`,
//! the last event that a power loss removed, is stored nowhere else.

use super::{GroupDigest, Position, Term};
use crate::error::REPLACE;
use crate::layout::JOURNAL_FILE;
use crate::prelude::*;
use crate::reader::{Chain, Reader, SPAN_BYTES};

const VERSION: u32 = 3;
/// Largest size of a cursor.
const CURSOR_BYTES_MAX: u64 = 1024;

/// Content of the file `journal`: one line of JSON with its own CRC.
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
    /// Time of the last read of the journal, by this host's clock.
    read_at: Timestamp,
    /// Seq and id of [`CursorState::owed`]; 0 and empty if no event is owed.
    owed: u64,
    owed_id: String,
    /// Like [`CursorState::term`].
    term: Term,
}

/// The cursor's content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CursorState {
    /// The synced end.
    pub synced: End,
    /// Time of the last read of the journal, by this host's clock.
    pub read_at: Timestamp,
    /// The last event that a power loss removed from this host. If a journal ends before this event, or has another event in its
    /// place, the journal lost the event, too.
    pub owed: Option<(u64, EventId)>,
    /// Last term in which the journal answered.
    pub term: Term,
}

/// End of the log for a reader, with the place of its last event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct End {
    /// Position after the last group.
    pub position: Position,
    /// The last event; `None` for an empty log.
    pub last: Option<(EventId, Place)>,
}

/// A group of the local log.
pub struct StoredGroup<'a> {
    /// Position before the group.
    pub after: Position,
    /// Position after the group.
    pub position: Position,
    /// Last event of the group.
    pub last: (EventId, Place),
    /// Frames of the group.
    pub bytes: &'a [u8],
}

impl End {
    /// Computes the end from the cursor and the groups after the cursor.
    pub fn from_reader(reader: &Reader) -> Result<End> {
        let kept = CursorState::load(reader)?.map(|kept| kept.synced);
        kept.unwrap_or_default().read_on(reader)
    }

    /// Reads the groups after this end, and returns the end after the last group.
    pub fn read_on(self, reader: &Reader) -> Result<End> {
        self.each_group(reader, |_| Ok(()))
    }

    /// Calls `each` with the groups after this end, and returns the end after the last group.
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

impl CursorState {
    /// Reads the cursor of a log, if the log has the event that the cursor names.
    pub fn load(reader: &Reader) -> Result<Option<CursorState>> {
        match read(reader.storage().as_ref(), reader.dir(), reader.identity()) {
            Some(kept) => Ok(kept.is_in(reader)?.then_some(kept)),
            None => Ok(None),
        }
    }

    /// Returns true if the event that the cursor names is in the log. Returns false for a cursor after the head, because events
    /// after the head are not found.
    pub fn is_in(&self, reader: &Reader) -> Result<bool> {
        let Some((id, place)) = self.synced.last else {
            return Ok(false);
        };
        let there = reader.frame_at(place)?;
        let last_seq = self.synced.position.last_seq;
        Ok(there.is_some_and(|(event, _)| event.seq == last_seq && event.id == id))
    }

    /// Writes the cursor for the next process. Only `owed` must be durable; all other fields are derived.
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

/// Reads the cursor, if it belongs to the log and journal of `identity`. A damaged cursor counts as missing, because a cursor
/// can be computed again.
pub(crate) fn read(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Option<CursorState> {
    let bytes = storage
        .named()
        .read_if_there(&dir.join(JOURNAL_FILE), CURSOR_BYTES_MAX);
    decode(&bytes.ok().flatten()?, identity)
}

/// Returns the last term in which the journal answered. A power loss may have removed the event that the file names. The term is
/// still valid, and prevents that a copy of the journal is mistaken for the journal.
pub(crate) fn known_term(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Term {
    let kept = read(storage, dir, identity);
    kept.map(|kept| kept.term).unwrap_or_default()
}

/// Decodes the output of `encode` for the log of `identity`; refuses anything else.
fn decode(bytes: &[u8], identity: &Identity) -> Option<CursorState> {
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
    let kept = CursorState {
        synced,
        read_at: cursor.read_at,
        owed,
        term: cursor.term,
    };
    let is_as_written = cursor.version == VERSION && kept.encode(identity)? == bytes;
    is_as_written.then_some(kept)
}

//! The durable head: the end of the durable log, in one file of two alternating slots.
//!
//! Invariants: a slot is written whole, after the bytes up to its end were synced. The newest valid slot is the head; the other
//! slot holds the head before. While the machine runs, the head is never before the acknowledged end. After a power loss the head
//! may be too early, because the file is synced only at rotation, before a tail is cut, and at a clean close.

use crate::error::{Error, Result};
use crate::event_id::EventId;
use crate::identity::LogId;
use crate::layout::{EVENTS_DIR, HEAD_FILE};
use crate::sequence::LastEvent;
use crate::storage::{NamedFile, OpenMode, Storage};
use std::path::{Path, PathBuf};

/// Bytes of one slot: one sector, so that a torn write damages one slot only.
pub(crate) const SLOT_BYTES: usize = 512;
/// Version of a slot's layout. This version does not depend on the format version of the log.
const SLOT_VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"\x1eTLHEAD\0";
const NAME_AT: usize = 84;
const NAME_BYTES_MAX: usize = 64;
const CRC_AT: usize = SLOT_BYTES - 4;
const ROTATING: u32 = 1;
const QUARANTINING: u32 = 2;
const CUTTING: u32 = 4;

/// The head of a log: a lower bound of its durable end, and the end up to which readers read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// Number of head writes.
    pub generation: u64,
    /// Number of the active segment; 0 while the log is empty.
    pub segment: u32,
    /// File name of the active segment; empty while the log is empty.
    pub name: String,
    /// Bytes of the active segment that are durable.
    pub end: u64,
    /// Seq of the last event; 0 while the log is empty.
    pub last_seq: u64,
    /// Id of the last event.
    pub last_id: Option<EventId>,
    /// True if a rotation has begun: a segment after the segment `name` may exist.
    pub rotating: bool,
    /// True if a tail is being moved to quarantine: `quarantine/` may hold a file that no event names yet.
    pub quarantining: bool,
    /// True if a repair cut the log at this head. The next writer removes the bytes after the head and records the cut as an event.
    pub cutting: bool,
}

impl Head {
    /// Creates the head of an empty log.
    pub(crate) fn empty() -> Head {
        Head::default()
    }

    /// Returns the last event.
    pub(crate) fn last(&self) -> LastEvent {
        LastEvent {
            seq: self.last_seq,
            id: self.last_id,
        }
    }

    /// Returns the path of the active segment.
    pub(crate) fn path(&self, dir: &Path) -> PathBuf {
        dir.join(EVENTS_DIR).join(&self.name)
    }

    /// Returns this head with an earlier end of the same segment.
    pub(crate) fn back_to(&self, end: u64, last_seq: u64, last_id: EventId) -> Head {
        Head {
            end,
            last_seq,
            last_id: Some(last_id),
            ..self.clone()
        }
    }

    /// Creates the error for a missing segment.
    pub(crate) fn segment_missing(&self, path: impl Into<PathBuf>) -> Error {
        let why = "the segment that the head names is missing";
        Error::corrupt(path, 0, self.last_seq, why)
    }

    /// Creates the error for a segment with only `len` bytes, fewer than are durable.
    pub(crate) fn cut_short(&self, path: &Path, len: u64) -> Error {
        let end = self.end;
        let why = format!("the segment ends here, before the durable end at byte {end}");
        Error::corrupt(path, len, self.last_seq, why)
    }

    /// Encodes a slot.
    #[doc(hidden)]
    pub fn encode(&self, log: LogId) -> [u8; SLOT_BYTES] {
        assert!(
            self.name.len() <= NAME_BYTES_MAX,
            "a segment's name has {} bytes",
            self.name.len()
        );
        let flags = u32::from(self.rotating) * ROTATING
            + u32::from(self.quarantining) * QUARANTINING
            + u32::from(self.cutting) * CUTTING;
        let mut fields = Vec::with_capacity(SLOT_BYTES);
        fields.extend_from_slice(&MAGIC);
        fields.extend_from_slice(&SLOT_VERSION.to_le_bytes());
        fields.extend_from_slice(&flags.to_le_bytes());
        fields.extend_from_slice(&log.0);
        fields.extend_from_slice(&self.generation.to_le_bytes());
        fields.extend_from_slice(&self.end.to_le_bytes());
        fields.extend_from_slice(&self.last_seq.to_le_bytes());
        fields.extend_from_slice(&self.last_id.map(EventId::bytes).unwrap_or_default());
        fields.extend_from_slice(&self.segment.to_le_bytes());
        fields.extend_from_slice(&[0; 4]);
        fields.extend_from_slice(&(self.name.len() as u32).to_le_bytes());
        debug_assert_eq!(
            fields.len(),
            NAME_AT,
            "the name must stand behind the fixed fields"
        );
        fields.extend_from_slice(self.name.as_bytes());
        fields.resize(CRC_AT, 0);
        fields.extend_from_slice(&crc32fast::hash(&fields).to_le_bytes());
        let mut slot = [0; SLOT_BYTES];
        slot.copy_from_slice(&fields);
        slot
    }

    /// Returns the bytes of a head file with this head in one slot, and with the other slot unused.
    #[doc(hidden)]
    pub fn file(&self, log: LogId) -> Vec<u8> {
        let mut bytes = vec![0; 2 * SLOT_BYTES];
        let at = (self.generation % 2) as usize * SLOT_BYTES;
        if let Some(slot) = bytes.get_mut(at..at + SLOT_BYTES) {
            slot.copy_from_slice(&self.encode(log));
        }
        bytes
    }

    /// Reads a slot.
    fn decode(log: LogId, slot: &[u8]) -> Slot {
        let Ok(slot): Result<&[u8; SLOT_BYTES], _> = slot.try_into() else {
            return Slot::Damaged;
        };
        if slot.iter().all(|byte| *byte == 0) {
            return Slot::Unwritten;
        }
        let (fields, crc) = slot.split_at(CRC_AT);
        if fields[..8] != MAGIC || crc32fast::hash(fields).to_le_bytes() != crc {
            return Slot::Damaged;
        }
        if u32_at(fields, 8) > SLOT_VERSION {
            return Slot::Newer(u32_at(fields, 8));
        }
        if fields[16..32] != log.0 {
            return Slot::OtherLog;
        }
        let name_end = NAME_AT + u32_at(fields, 80) as usize;
        let name = fields
            .get(NAME_AT..name_end)
            .and_then(|name| std::str::from_utf8(name).ok());
        let mut id = [0; 16];
        id.copy_from_slice(&fields[56..72]);
        let last_id = EventId::from_bytes(id);
        let (flags, last_seq) = (u32_at(fields, 12), u64_at(fields, 48));
        let head = Head {
            generation: u64_at(fields, 32),
            segment: u32_at(fields, 72),
            name: name.unwrap_or_default().to_string(),
            end: u64_at(fields, 40),
            last_seq,
            last_id,
            rotating: flags & ROTATING != 0,
            quarantining: flags & QUARANTINING != 0,
            cutting: flags & CUTTING != 0,
        };
        // Refuse numbers that cannot grow by one.
        let countable =
            head.generation < u64::MAX && head.segment < u32::MAX && last_seq < u64::MAX;
        // Accept only bytes that `encode` writes: no unknown flags, no long name, no nonzero gap.
        let written = head.name.len() <= NAME_BYTES_MAX && head.encode(log) == *slot;
        if countable && written && last_id.is_some() == (last_seq > 0) {
            Slot::Valid(head)
        } else {
            Slot::Damaged
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u32::from_le_bytes)
        .unwrap_or_default()
}
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..at + 8)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u64::from_le_bytes)
        .unwrap_or_default()
}

enum Slot {
    Valid(Head),
    Unwritten,
    Damaged,
    Newer(u32),
    OtherLog,
}

/// Content of the head file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slots {
    /// The newest valid slot.
    pub newest: Option<Head>,
    /// Number of slots that are unreadable.
    pub damaged: usize,
    /// True if a slot belongs to another log, after a finished or interrupted conversion.
    pub foreign: bool,
}

/// The open head file.
pub(crate) struct HeadFile {
    file: NamedFile,
    log: LogId,
}

impl HeadFile {
    /// Opens the head file of the log in `dir`. Creates a missing file if `how` demands it.
    pub fn open(storage: &dyn Storage, dir: &Path, log: LogId, how: OpenMode) -> Result<HeadFile> {
        let file = storage.named().open(&dir.join(HEAD_FILE), how)?;
        Ok(HeadFile { file, log })
    }

    /// Returns true if the path of the head file still leads to the open file.
    pub(crate) fn is_at(&self, storage: &dyn Storage) -> Result<bool> {
        let path = &self.file.path;
        let there = storage.look(path).map_err(Error::io("stat", path))?;
        let own = self.file.stat()?.identity;
        Ok(there.is_some_and(|there| there.identity == own))
    }

    /// Reads both slots.
    pub fn read(&self) -> Result<Slots> {
        let bytes = self.file.read_up_to(2 * SLOT_BYTES as u64)?;
        let mut slots = Slots::default();
        for slot in bytes.chunks(SLOT_BYTES) {
            match Head::decode(self.log, slot) {
                Slot::Valid(head)
                    if slots
                        .newest
                        .as_ref()
                        .is_none_or(|newest| newest.generation < head.generation) =>
                {
                    slots.newest = Some(head);
                }
                Slot::Valid(_) | Slot::Unwritten => {}
                Slot::Damaged => slots.damaged += 1,
                Slot::Newer(found) => {
                    return Err(Error::unsupported(&self.file.path, found, SLOT_VERSION));
                }
                Slot::OtherLog => slots.foreign = true,
            }
        }
        // A conversion leaves a slot of another log beside a slot of this log. If no slot is of this log, the file belongs to
        // another log.
        if slots.foreign && slots.newest.is_none() && slots.damaged == 0 {
            return Err(Error::foreign(
                &self.file.path,
                "its log id differs from the log id in log.json",
            ));
        }
        Ok(slots)
    }

    /// Writes the next generation over the older slot; syncs the file if `durable`.
    pub fn write(&self, head: &mut Head, durable: bool) -> Result<()> {
        assert_eq!(
            head.last_id.is_some(),
            head.last_seq > 0,
            "a head with event {} must have the id of that event",
            head.last_seq
        );
        assert!(
            head.generation < u64::MAX,
            "no head can follow generation {}",
            head.generation
        );
        head.generation += 1;
        let at = (head.generation % 2) * SLOT_BYTES as u64;
        self.file.write_all_at(&head.encode(self.log), at)?;
        if durable { self.sync() } else { Ok(()) }
    }

    /// Makes the last write durable.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data()
    }
}

/// Reads the head of the log in `dir` once. A missing file has no slots.
pub fn read_slots(storage: &dyn Storage, dir: &Path, log: LogId) -> Result<Slots> {
    let path = dir.join(HEAD_FILE);
    match storage.named().open_if_there(&path, OpenMode::Read)? {
        Some(file) => HeadFile { file, log }.read(),
        None => Ok(Slots::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    const LOG: LogId = LogId([7; 16]);

    fn example() -> Head {
        Head {
            generation: 41,
            segment: 3,
            name: "2026-11-21.x002.jsonl".into(),
            end: 123_456,
            last_seq: 99,
            last_id: Some(EventId::new(
                Timestamp::from_micros(1_763_719_200_000_001).unwrap(),
                5,
            )),
            rotating: false,
            quarantining: true,
            cutting: true,
        }
    }

    #[test]
    fn a_slot_reads_back_and_every_bit_flip_is_seen() {
        let head = example();
        let slot = head.encode(LOG);
        assert!(matches!(Head::decode(LOG, &slot), Slot::Valid(read) if read == head));
        for bit in 0..SLOT_BYTES * 8 {
            let mut damaged = slot;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(
                matches!(Head::decode(LOG, &damaged), Slot::Damaged),
                "bit {bit}"
            );
        }
    }

    #[test]
    fn a_sound_slot_that_leaves_no_room_is_damaged() {
        let sealed = |change: &dyn Fn(&mut [u8; SLOT_BYTES])| {
            let mut slot = example().encode(LOG);
            change(&mut slot);
            let crc = crc32fast::hash(&slot[..CRC_AT]);
            slot[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
            Head::decode(LOG, &slot)
        };
        assert!(matches!(sealed(&|_| {}), Slot::Valid(_)));
        for (at, bytes) in [(32, 8), (48, 8), (72, 4)] {
            let full = sealed(&|slot| slot[at..at + bytes].fill(0xFF));
            assert!(matches!(full, Slot::Damaged), "field at {at}");
        }
        let long = sealed(&|slot| {
            slot[80..84].copy_from_slice(&65_u32.to_le_bytes());
            slot[NAME_AT..NAME_AT + 65].fill(b'x');
        });
        assert!(
            matches!(long, Slot::Damaged),
            "no name of 65 bytes can be written again"
        );
    }

    #[test]
    fn a_slot_of_another_log_is_named_as_such() {
        assert!(matches!(
            Head::decode(LogId([8; 16]), &example().encode(LOG)),
            Slot::OtherLog
        ));
    }
}

//! The witness: the last acknowledged event, stored in the lock file.
//!
//! Programs that move files (version control, a copy of an older state) restore `events/`, `head` and `log.json`, but not the
//! lock file. If a log ends before its witness, or has another event in its place, the log was rolled back.
//!
//! Invariants: the witness is written after the head and before the answer, so the witness is never later than the synced end.
//! The witness is not synced, so it may be too early. A witness that is set to an earlier event is synced, so that no later
//! witness reappears. A missing or damaged witness is unknown.

use crate::error::Rollback;
use crate::layout::LOCK_FILE;
use crate::prelude::*;

const MAGIC: [u8; 8] = *b"\x1eTLLAST\0";
const CRC_AT: usize = 48;
/// Bytes of a witness.
pub(crate) const WITNESS_BYTES: usize = CRC_AT + 4;

/// The last event that a log is known to have acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Witness {
    /// The log's id.
    pub log: LogId,
    /// Seq of the event.
    pub seq: u64,
    /// Id of the event.
    pub id: EventId,
}

impl Witness {
    /// Returns the witness of a log that ends at `head`; `None` for an empty log, and for a log with a journal, which
    /// restores missing events.
    pub(crate) fn from_head(identity: &Identity, head: &Head) -> Option<Witness> {
        let id = head.last_id.filter(|_| identity.journal.is_none())?;
        Some(Witness {
            log: identity.log,
            seq: head.last_seq,
            id,
        })
    }

    pub(crate) fn encode(&self) -> [u8; WITNESS_BYTES] {
        let mut bytes = [0; WITNESS_BYTES];
        let (fields, crc) = bytes.split_at_mut(CRC_AT);
        let (magic, rest) = fields.split_at_mut(MAGIC.len());
        let (log, rest) = rest.split_at_mut(self.log.0.len());
        let (seq, id) = rest.split_at_mut(size_of::<u64>());
        magic.copy_from_slice(&MAGIC);
        log.copy_from_slice(&self.log.0);
        seq.copy_from_slice(&self.seq.to_le_bytes());
        id.copy_from_slice(&self.id.bytes());
        crc.copy_from_slice(&crc32fast::hash(fields).to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Witness> {
        let fields = bytes.get(MAGIC.len()..CRC_AT)?;
        let (log, rest) = fields.split_first_chunk::<16>()?;
        let (seq, rest) = rest.split_first_chunk::<8>()?;
        let (id, _) = rest.split_first_chunk::<16>()?;
        let witness = Witness {
            log: LogId(*log),
            seq: u64::from_le_bytes(*seq),
            id: EventId::from_bytes(*id)?,
        };
        (witness.encode() == bytes).then_some(witness)
    }

    /// Reads the witness of the log in `dir`, without a lock; `None` if the witness is unknown.
    pub fn read(storage: &dyn Storage, dir: &Path) -> Option<Witness> {
        let file = storage.open(&dir.join(LOCK_FILE), OpenMode::Read).ok()?;
        let mut bytes = [0; WITNESS_BYTES];
        file.read_exact_at(&mut bytes, 0).ok()?;
        Witness::decode(&bytes)
    }

    /// Returns the rollback that the witness proves, if `head` alone shows that the log ends too early.
    pub(crate) fn against(&self, identity: &Identity, head: &Head) -> Option<Rollback> {
        let is_there =
            head.last_seq > self.seq || (head.last_seq, head.last_id) == (self.seq, Some(self.id));
        (self.counts_for(identity, head) && !is_there).then(|| self.rollback(head))
    }

    /// Returns true if the witness applies to a log that ends at `head`. A cut of the log replaces the witness, and a journal
    /// restores missing events.
    pub(crate) fn counts_for(&self, identity: &Identity, head: &Head) -> bool {
        self.log == identity.log && identity.journal.is_none() && !head.cutting
    }

    /// Creates the rollback of a log that ends at `head` and lacks the event of the witness.
    pub(crate) fn rollback(&self, head: &Head) -> Rollback {
        Rollback {
            known_seq: self.seq,
            known_id: Some(self.id.to_string()),
            last_seq: head.last_seq,
            witness: LOCK_FILE.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_reads_back_and_every_bit_flip_is_seen() {
        let time = Timestamp::from_micros(1_763_719_200_000_001).unwrap();
        let witness = Witness {
            log: LogId([7; 16]),
            seq: 99,
            id: EventId::new(time, 5),
        };
        let bytes = witness.encode();
        assert_eq!(Witness::decode(&bytes), Some(witness));
        for bit in 0..WITNESS_BYTES * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Witness::decode(&damaged), None, "bit {bit}");
        }
        assert_eq!(Witness::decode(&bytes[..WITNESS_BYTES - 1]), None);
        assert_eq!(Witness::decode(&[0; WITNESS_BYTES]), None);
        assert_eq!(Witness::decode(b""), None);
    }
}

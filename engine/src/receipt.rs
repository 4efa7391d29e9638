//! Receipts: evidence of what the log held, checkable without teamlog.

use crate::head;
use crate::log::Log;
use crate::prelude::*;
use crate::reader::{BEFORE_HEAD, Reader};

/// `head -c LENGTH SEGMENT | b3sum` gives `digest`.
///
/// The segment's header holds the digest of the segment before it, and so on: a receipt vouches for the
/// whole log up to `seq`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The log's id, as hyphenated text.
    pub log: String,
    /// Seq of the last event covered.
    pub seq: u64,
    /// File name of its segment.
    pub segment: String,
    /// Bytes of that segment up to the end of that event's group.
    pub length: u64,
    /// BLAKE3 of those bytes, lower-case hex.
    pub digest: String,
}

/// How a log compares with a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptStatus {
    /// Every byte that the receipt covers is there.
    Holds,
    /// It is a receipt of another log.
    OtherLog,
    /// It names a segment by a name that no segment can have.
    Malformed,
    /// The log is intact but ends with this event, before the receipt's: an older state was restored.
    RolledBack(u64),
    /// Bytes that the receipt covers are gone, though the head does not say that the log ends before them.
    Cut,
    /// The bytes that the receipt covers have changed.
    Changed,
    /// Its own segment is as it was, but one before it is not what was sealed.
    ChangedBefore {
        /// The file of that segment, relative to the data root.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl Log {
    /// Compares a receipt with the log, and the segments before it with the chain of digests. Changes nothing of the log and
    /// waits for no lock. It hashes what the receipt covers of its segment, and those segments before it that were changed
    /// or not hashed yet. Only the bytes count, not the head, which may lag behind after a power loss.
    pub fn check_receipt(&self, receipt: &Receipt) -> Result<ReceiptStatus> {
        let status = self.check_receipt_segment(receipt)?;
        if status != ReceiptStatus::Holds {
            return Ok(status);
        }
        let names = self.reader_up_to(Head::empty()).every_segment()?;
        let Some(number) = names.iter().position(|name| *name == receipt.segment) else {
            return Ok(ReceiptStatus::Cut);
        };
        let head = Head {
            segment: number as u32 + 1,
            name: receipt.segment.clone(),
            end: receipt.length,
            last_seq: receipt.seq,
            ..Head::empty()
        };
        match self.reader_up_to(head).check_chain_with_known_digests() {
            Ok(()) => Ok(ReceiptStatus::Holds),
            Err(Error::Corrupt { path, why, .. } | Error::ForeignFile { path, why }) => {
                Ok(ReceiptStatus::ChangedBefore { file: path, why })
            }
            Err(error) => Err(error),
        }
    }

    /// As [`Log::check_receipt`], without a look at the segments before the receipt's.
    pub(crate) fn check_receipt_segment(&self, receipt: &Receipt) -> Result<ReceiptStatus> {
        if receipt.log != self.identity().log.to_string() {
            return Ok(ReceiptStatus::OtherLog);
        }
        if SegmentName::parse(&receipt.segment, self.identity().format).is_none() {
            return Ok(ReceiptStatus::Malformed);
        }
        let reader = self.reader_up_to(Head::empty());
        match reader.digest(&receipt.segment, receipt.length)? {
            Some(digest) if digest == receipt.digest => return Ok(ReceiptStatus::Holds),
            Some(_) => return Ok(ReceiptStatus::Changed),
            None => {}
        }
        let slots = head::read_slots(self.storage().as_ref(), self.dir(), self.identity().log)?;
        Ok(match slots.newest {
            Some(head) if head.last_seq < receipt.seq => ReceiptStatus::RolledBack(head.last_seq),
            _ => ReceiptStatus::Cut,
        })
    }

    fn reader_up_to(&self, head: Head) -> Reader {
        Reader::new(self.storage(), self.dir(), self.identity(), head)
    }
}

/// The digest of some bytes as receipts and quarantine events have it: BLAKE3, lower-case hex.
pub fn hex_digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl Reader {
    /// The receipt of the head; `None` while the log is empty. Costs hashing the active segment so far.
    ///
    /// # Errors
    /// `Corrupt` where the segment is shorter than the head says, I/O.
    pub fn receipt(&self) -> Result<Option<Receipt>> {
        let head = self.head();
        if head.segment == 0 {
            return Ok(None);
        }
        let digest = self.digest(&head.name, head.end)?.ok_or_else(|| {
            let path = self.dir().join(EVENTS_DIR).join(&head.name);
            Error::corrupt(path, 0, head.last_seq, BEFORE_HEAD)
        })?;
        Ok(Some(Receipt {
            log: self.identity().log.to_string(),
            seq: head.last_seq,
            segment: head.name.clone(),
            length: head.end,
            digest,
        }))
    }

    /// BLAKE3 of the first `length` bytes of a segment's file, as hex; `None` where it has fewer or is missing.
    pub fn digest(&self, segment: &str, length: u64) -> Result<Option<String>> {
        let path = self.dir().join(EVENTS_DIR).join(segment);
        self.storage().named().digest(&path, length)
    }
}

//! Receipts: evidence of the log's content, which can be checked without teamlog.

use crate::head;
use crate::log::Log;
use crate::prelude::*;
use crate::reader::{BEFORE_HEAD, Reader};

/// Proof of a log's content up to an event: `head -c LENGTH SEGMENT | b3sum` gives `digest`.
///
/// The header of each segment holds the digest of the segment before it, so a receipt proves the whole log up to `seq`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The log's id, as hyphenated text.
    pub log: String,
    /// Seq of the last event covered.
    pub seq: u64,
    /// File name of the segment that holds the event.
    pub segment: String,
    /// Number of bytes from the start of the segment to the end of the event's group.
    pub length: u64,
    /// BLAKE3 of the first `length` bytes of the segment, lower-case hex.
    pub digest: String,
}

/// Result of comparing a log with a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptStatus {
    /// All bytes that the receipt covers are unchanged.
    Holds,
    /// The receipt is of another log.
    OtherLog,
    /// The receipt's segment name is not valid.
    Malformed,
    /// The log is intact but ends with this event, which is before the event of the receipt: an older state was restored.
    RolledBack(u64),
    /// Bytes that the receipt covers are missing, but the head says that they exist.
    Cut,
    /// Bytes that the receipt covers have changed.
    Changed,
    /// The receipt's segment is unchanged, but an earlier segment differs from its digest in the chain.
    ChangedBefore {
        /// File of the earlier segment, relative to the data root.
        file: PathBuf,
        /// Description of the difference.
        why: String,
    },
}

impl Log {
    /// Compares a receipt with the log, and the earlier segments with the chain of digests. Needs no lock and changes nothing.
    /// Hashes the covered bytes of the receipt's segment, and the earlier segments that were changed or not hashed yet. Does not
    /// use the head, which may be too early after a power loss.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{path::Path, sync::Arc};
    /// # use teamlog_engine::storage::Memory;
    /// # use teamlog_engine::*;
    /// # let storage = Arc::new(Memory::new());
    /// # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
    /// # let writer = log.lock()?.into_writer(());
    /// # for _ in 0..3 {
    /// #     writer.append(vec![NewEvent::new("ticked", "clock", Json::parse("{}")?)], Durability::Synced)?;
    /// # }
    /// # writer.close()?;
    /// let receipt = log.reader()?.receipt()?.ok_or("the log is empty")?;
    /// let kept = serde_json::to_string(&receipt)?;
    /// // Later, perhaps on another machine:
    /// let receipt: Receipt = serde_json::from_str(&kept)?;
    /// assert_eq!(log.check_receipt(&receipt)?, ReceiptStatus::Holds);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// Like [`Log::check_receipt`], for the receipt's segment alone.
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

/// Returns the digest of bytes as in receipts and quarantine events: BLAKE3, lower-case hex.
pub fn hex_digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl Reader {
    /// Returns the receipt of the head; `None` while the log is empty. Hashes the active segment.
    ///
    /// # Errors
    /// `Corrupt` if the segment is shorter than the head says, I/O.
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

    /// Returns BLAKE3 of the first `length` bytes of a segment's file, as hex; `None` if the file is missing or has fewer bytes.
    pub(crate) fn digest(&self, segment: &str, length: u64) -> Result<Option<String>> {
        let path = self.dir().join(EVENTS_DIR).join(segment);
        self.storage().named().digest(&path, length)
    }
}

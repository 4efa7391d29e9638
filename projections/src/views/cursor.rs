//! The cursor `views`: the event up to which the view files are current.
//!
//! The file has 36 bytes: `TLVIEWS1`, 16 bytes log id, u64 seq, u32 CRC-32 of the bytes before (little-endian). The file is
//! overwritten in place and never synced. A wrong checksum means that there is no cursor, and all views are compared.

use crate::files::{Home, failed};
use crate::prelude::*;
use std::io::ErrorKind;
use teamlog_engine::storage::{File, OpenMode};

pub(super) const NAME: &str = "views";
const MAGIC: &[u8; 8] = b"TLVIEWS1";
const BYTES: usize = 36;

/// The cursor of a team's views.
pub(super) struct Cursor {
    seq: Option<u64>,
    /// The file, open for writing after the first write.
    file: Option<Arc<dyn File>>,
}

impl Cursor {
    /// Reads the cursor. The cursor has no seq if the file is missing, damaged, or of another log.
    pub fn read(home: &Home) -> Result<Cursor> {
        let path = home.path(NAME);
        let seq = match home.storage.read(&path, 4096) {
            Ok(bytes) => decode(&bytes, &home.log),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::FileTooLarge) => {
                None
            }
            Err(error) => return Err(failed("read", &path)(error)),
        };
        Ok(Cursor { seq, file: None })
    }
    /// Returns the last event that the views contain.
    pub fn seq(&self) -> Option<u64> {
        self.seq
    }
    /// Notes that the views contain all events up to `seq`.
    pub fn write(&mut self, home: &Home, seq: u64) -> Result<()> {
        let path = home.path(NAME);
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => {
                let file = home.open(&path, OpenMode::Create)?;
                Arc::clone(self.file.insert(Arc::from(file)))
            }
        };
        file.write_all_at(&encode(&home.log, seq), 0)
            .map_err(failed("write", &path))?;
        self.seq = Some(seq);
        Ok(())
    }
}

fn encode(log: &[u8; 16], seq: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(log);
    bytes.extend_from_slice(&seq.to_le_bytes());
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], log: &[u8; 16]) -> Option<u64> {
    let (fields, _) = bytes.split_at_checked(BYTES - 4)?;
    let seq = u64::from_le_bytes(*fields.last_chunk::<8>()?);
    (encode(log, seq) == bytes).then_some(seq)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_and_damage_is_noticed() {
        let log = [7; 16];
        let bytes = encode(&log, 35_440);
        assert_eq!(decode(&bytes, &log), Some(35_440));
        assert_eq!(decode(&bytes, &[8; 16]), None);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(decode(&damaged, &log), None, "bit {bit} of byte {at}");
            }
            assert_eq!(decode(&bytes[..at], &log), None);
        }
    }
}

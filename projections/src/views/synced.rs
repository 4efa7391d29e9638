//! The file `views.synced`: the event up to which view files are known to be on the disk, with the machine's boot id and the
//! directory.
//!
//! The cursor `views` and the files up to it are not synced. After a power loss the cursor may be ahead of the files, and a copy
//! of a live directory mixes files of different times. `views.synced` shows which files can be trusted.
//!
//! The file has 76 bytes, little-endian: `TLVSYNC1`, 16 bytes log id, u64 seq, 16 bytes boot id, u64 device and u64 inode of
//! the team's directory, i64 microseconds since 1970 of the last sync, u32 CRC-32 of the bytes before. The file is overwritten
//! in place. If there is no valid file, nothing is known about the view files.

use crate::files::{Home, failed};
use crate::prelude::*;
use std::io::ErrorKind;
use teamlog_engine::LogOptions;
use teamlog_engine::storage::OpenMode;

pub(super) const NAME: &str = "views.synced";
const MAGIC: &[u8; 8] = b"TLVSYNC1";
const BYTES: usize = 76;

/// Largest number of events in unsynced view files, after which the file system is synced.
pub const SYNC_EVENTS: u64 = 1_000;
/// Longest time, in microseconds, for which the files of any event stay unsynced.
pub const SYNC_MICROS: i64 = 60_000_000;

/// Last known sync of the view files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Synced {
    /// Last event that the files durably contain, with all earlier events.
    pub seq: u64,
    /// Boot id of the machine when the files after `seq` were written.
    pub boot: [u8; 16],
    /// Device and inode of the files' directory.
    pub dir: (u64, u64),
    /// Time of the last sync, in microseconds since 1970.
    pub at: i64,
}

impl Synced {
    /// Reads the file; `None` if the file is missing, damaged, or of another log.
    pub fn read(home: &Home) -> Result<Option<Synced>> {
        let path = home.path(NAME);
        match home.storage.read(&path, 4096) {
            Ok(bytes) => Ok(Synced::decode(&bytes, &home.log)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::FileTooLarge) => {
                Ok(None)
            }
            Err(error) => Err(failed("read", &path)(error)),
        }
    }

    pub fn write(&self, home: &Home, how: OpenMode) -> Result<()> {
        let path = home.path(NAME);
        let file = home.open(&path, how)?;
        let written = file.write_all_at(&self.encode(&home.log), 0);
        written.map_err(failed("write", &path))
    }

    fn encode(&self, log: &[u8; 16]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(log);
        bytes.extend_from_slice(&self.seq.to_le_bytes());
        bytes.extend_from_slice(&self.boot);
        bytes.extend_from_slice(&self.dir.0.to_le_bytes());
        bytes.extend_from_slice(&self.dir.1.to_le_bytes());
        bytes.extend_from_slice(&self.at.to_le_bytes());
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8], log: &[u8; 16]) -> Option<Synced> {
        let (_, rest) = bytes.split_at_checked(MAGIC.len() + log.len())?;
        let (seq, rest) = rest.split_first_chunk()?;
        let (boot, rest) = rest.split_first_chunk()?;
        let (device, rest) = rest.split_first_chunk()?;
        let (inode, rest) = rest.split_first_chunk()?;
        let (at, _) = rest.split_first_chunk()?;
        let synced = Synced {
            seq: u64::from_le_bytes(*seq),
            boot: *boot,
            dir: (u64::from_le_bytes(*device), u64::from_le_bytes(*inode)),
            at: i64::from_le_bytes(*at),
        };
        (synced.encode(log) == bytes).then_some(synced)
    }
}

/// Trust in the cursor `views`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// The caller gave no boot id: the cursor is trusted.
    Unchecked,
    /// Every file was written after the machine started, or synced before the start.
    Current(Synced),
    /// The machine was restarted after the last sync: files of events after `seq` may be empty, old or partly zero.
    OtherBoot(Synced),
    /// The directory is a copy, or nothing is known: any file may be wrong.
    Unknown,
}

impl Trust {
    /// Determines the trust in the cursor for the current boot id.
    pub fn read(home: &Home, dir: Option<(u64, u64)>, options: &LogOptions) -> Result<Trust> {
        let Some(boot) = options.boot else {
            return Ok(Trust::Unchecked);
        };
        let Some(synced) = Synced::read(home)? else {
            return Ok(Trust::Unknown);
        };
        Ok(match Some(synced.dir) == dir {
            false => Trust::Unknown,
            true if synced.boot == boot => Trust::Current(synced),
            true => Trust::OtherBoot(synced),
        })
    }

    /// Returns true if the files can be trusted to contain all events up to the cursor.
    pub fn is_current(self) -> bool {
        matches!(self, Trust::Unchecked | Trust::Current(_))
    }
}

/// A due sync of the file system for view files. The sync needs neither the lock nor the state.
pub struct ViewsSync {
    home: Home,
    synced: Synced,
}

impl ViewsSync {
    /// Returns the sync of view files that contain all events up to `seq`, if a sync is due at `now`.
    pub(super) fn due(home: &Home, trust: Trust, seq: Option<u64>, now: i64) -> Option<ViewsSync> {
        let (Trust::Current(before), Some(seq)) = (trust, seq) else {
            return None;
        };
        let behind = seq.saturating_sub(before.seq);
        let late = now.abs_diff(before.at) >= SYNC_MICROS.unsigned_abs();
        let due = behind >= SYNC_EVENTS || (behind > 0 && late);
        due.then(|| ViewsSync {
            home: home.clone(),
            synced: Synced {
                seq,
                at: now,
                ..before
            },
        })
    }

    /// Syncs the file system, then records the event up to which view files are on the disk.
    ///
    /// # Errors
    /// If I/O fails. The record then keeps its old value, so that a repair after a power loss covers more events.
    pub fn run(&self) -> Result<()> {
        let synced = self.home.storage.sync_file_system();
        synced.map_err(failed("sync", &self.home.dir))?;
        let Some(there) = Synced::read(&self.home)? else {
            // The team was closed meanwhile, or its log was replaced.
            return Ok(());
        };
        let newer = there.boot == self.synced.boot
            && there.dir == self.synced.dir
            && there.seq < self.synced.seq;
        match newer {
            true => self.synced.write(&self.home, OpenMode::Write),
            false => Ok(()),
        }
    }

    pub(super) fn synced(&self) -> Synced {
        self.synced
    }
}

impl std::fmt::Debug for ViewsSync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.synced.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_comes_back_and_damage_is_noticed() {
        let log = [7; 16];
        let synced = Synced {
            seq: 35_440,
            boot: [3; 16],
            dir: (64_512, 1_048_577),
            at: 1_764_000_000_000_000,
        };
        let bytes = synced.encode(&log);
        assert_eq!(bytes.len(), BYTES);
        assert_eq!(Synced::decode(&bytes, &log), Some(synced));
        assert_eq!(Synced::decode(&bytes, &[8; 16]), None);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(
                    Synced::decode(&damaged, &log),
                    None,
                    "bit {bit} of byte {at}"
                );
            }
            assert_eq!(Synced::decode(&bytes[..at], &log), None);
        }
    }
}

//! The active segment, and its digest for the next segment's header.
//!
//! The digest is updated in pieces as bytes are written, so that sealing a segment does not read the whole segment.

use crate::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of bytes to hash at once. Smaller pieces take several times as long per byte.
const PIECE_BYTES: u64 = 128 << 10;

/// The active segment. Clones share the digest and the length.
#[derive(Clone)]
pub(crate) struct ActiveSegment {
    pub file: Arc<dyn File>,
    /// Identity of the file that the segment's path must name.
    pub identity: (u64, u64),
    hashed: Arc<Mutex<Hashed>>,
    /// The file's length: its bytes, then zeros that this writer wrote ahead.
    len: Arc<AtomicU64>,
}

/// Digest of a segment's first bytes.
#[derive(Default)]
struct Hashed {
    hasher: blake3::Hasher,
    end: u64,
}

impl Hashed {
    /// Hashes the file up to `end`, but at most `pieces` pieces.
    fn advance(&mut self, file: &dyn File, end: u64, pieces: u64) -> io::Result<()> {
        for _ in 0..pieces {
            let piece = PIECE_BYTES.min(end.saturating_sub(self.end));
            let mut bytes = vec![0; piece as usize];
            file.read_exact_at(&mut bytes, self.end)?;
            self.hasher.update(&bytes);
            self.end += piece;
        }
        Ok(())
    }
}

impl ActiveSegment {
    pub fn new(segment: NamedFile) -> Result<ActiveSegment> {
        let stat = segment.stat()?;
        Ok(ActiveSegment {
            identity: stat.identity,
            file: Arc::from(segment.file),
            hashed: Arc::default(),
            len: Arc::new(AtomicU64::new(stat.len)),
        })
    }

    /// Returns the length that the segment's file must have.
    pub fn len(&self) -> u64 {
        self.len.load(Relaxed)
    }

    /// Writes `bytes` at `start`. If the bytes end after the zeros ahead, also writes `ahead` zeros after the bytes. The sync of
    /// the bytes also syncs the zeros.
    pub fn write(&self, bytes: &[u8], start: u64, ahead: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, start)?;
        let end = start + bytes.len() as u64;
        if end <= self.len() {
            return Ok(());
        }
        self.len.store(end, Relaxed);
        if ahead > 0 {
            let zeros = vec![0; ahead as usize];
            match self.file.write_all_at(&zeros, end) {
                Ok(()) => self.len.store(end + ahead, Relaxed),
                // There may be no space for the zeros, although there was space for the bytes.
                Err(_) => self.file.set_len(end)?,
            }
        }
        Ok(())
    }

    /// Removes the zeros ahead.
    pub fn cut_ahead(&self, end: u64) -> io::Result<()> {
        if self.len() > end {
            self.file.set_len(end)?;
            self.len.store(end, Relaxed);
        }
        Ok(())
    }

    /// Returns true if no other process wrote at the next group's place.
    pub fn is_free(&self, end: u64) -> io::Result<bool> {
        let mut first = [0];
        if self.len() > end {
            self.file.read_exact_at(&mut first, end)?;
        }
        Ok(first == [0])
    }

    fn hashed(&self) -> MutexGuard<'_, Hashed> {
        self.hashed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Continues hashing after `len` bytes were written up to `end`. Hashes whole pieces, about as many bytes as were written.
    /// Hashes older bytes only with `catches_up`.
    pub fn hash_written(&self, end: u64, len: u64, catches_up: bool) {
        let mut hashed = self.hashed();
        let lag = end.saturating_sub(hashed.end);
        if catches_up || lag < len + 2 * PIECE_BYTES {
            let pieces = (lag / PIECE_BYTES).min(1 + len / PIECE_BYTES);
            // If a piece cannot be read now, sealing the segment reads it again.
            let _ = hashed.advance(&*self.file, end, pieces);
        }
    }

    /// Returns BLAKE3 of the segment's first `end` bytes.
    pub fn digest(&self, end: u64) -> io::Result<[u8; 32]> {
        let mut hashed = self.hashed();
        assert!(
            hashed.end <= end,
            "{} bytes were hashed, but the segment has {end}",
            hashed.end
        );
        let pieces = (end - hashed.end).div_ceil(PIECE_BYTES);
        hashed.advance(&*self.file, end, pieces)?;
        Ok(*hashed.hasher.finalize().as_bytes())
    }
}

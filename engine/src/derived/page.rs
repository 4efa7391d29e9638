//! Pages: a run is a file of 4 KiB pages. A block is one or more neighbouring pages under one CRC-32.
//!
//! Invariants: a block starts at a page boundary. Its first four bytes are the CRC of all bytes that follow, with the
//! block's [`Mark`] as initial value, so that the check also fails for a block in the wrong place or of another run.
//! Padding is under the CRC. A block is checked when it is first read; a bit per page remembers the check.

use super::store::RunMeta;
use crate::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Bytes of the CRC at the start of a block.
pub const CRC: usize = 4;
/// Bytes of content in a block of one page.
pub const CONTENT: usize = PAGE - CRC;

/// Description of damaged bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage(pub String);

impl Damage {
    pub fn new(why: impl Into<String>) -> Damage {
        Damage(why.into())
    }
}

/// A pointer to a block: its first page, and its number of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// First page of the block.
    pub page: u32,
    pub pages: u32,
}

impl Pointer {
    /// Returns the page after the block.
    pub fn end(self) -> u64 {
        u64::from(self.page) + u64::from(self.pages)
    }
}

/// Start value for the CRCs of a run's blocks. Each run has another value. For each block, the number of the block's first page
/// is added.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark(u32);

impl Mark {
    /// Returns the mark of a run: the CRC of its first seq, last seq and last id.
    pub fn for_run(run: &RunMeta) -> Mark {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&run.first_seq.to_le_bytes());
        hasher.update(&run.last.seq.to_le_bytes());
        hasher.update(&run.last.id.bytes());
        Mark(hasher.finalize())
    }
    /// Returns the mark of the block that starts at `page`.
    pub fn at(self, page: u32) -> Mark {
        Mark(self.0.wrapping_add(page))
    }
}

pub fn pages_of(len: usize) -> usize {
    len.div_ceil(PAGE)
}

/// Pads `block` (which begins with space for the CRC) to whole pages and sets its CRC.
pub fn seal(block: &mut Vec<u8>, mark: Mark) {
    block.resize(pages_of(block.len()) * PAGE, 0);
    debug_assert!(!block.is_empty(), "a block must have bytes");
    seal_page(block, mark);
}

/// Sets the CRC of a block of whole pages.
pub fn seal_page(block: &mut [u8], mark: Mark) {
    debug_assert!(
        block.len().is_multiple_of(PAGE),
        "{} bytes must be whole pages",
        block.len()
    );
    if let Some((crc, content)) = block.split_first_chunk_mut::<CRC>() {
        *crc = checksum(content, mark).to_le_bytes();
    }
}

fn checksum(content: &[u8], mark: Mark) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(mark.0);
    hasher.update(content);
    hasher.finalize()
}

/// The pages of a file, each block checked when it is first read.
pub struct Pages {
    bytes: Bytes,
    mark: Mark,
    checked: Box<[AtomicU64]>,
}

impl Pages {
    /// Creates the pages from the bytes of a whole file, which is the run with the mark `mark`.
    pub fn new(bytes: Bytes, mark: Mark) -> Result<Pages, Damage> {
        if !bytes.len().is_multiple_of(PAGE) || bytes.len() / PAGE > u32::MAX as usize {
            return Err(Damage::new(format!(
                "{} bytes are no whole number of pages",
                bytes.len()
            )));
        }
        let words = (bytes.len() / PAGE).div_ceil(64);
        Ok(Pages {
            checked: (0..words).map(|_| AtomicU64::new(0)).collect(),
            bytes,
            mark,
        })
    }
    /// Returns the number of blocks read so far, each counted once.
    pub fn blocks_read(&self) -> u64 {
        let words = self.checked.iter();
        words
            .map(|word| u64::from(word.load(Ordering::Relaxed).count_ones()))
            .sum()
    }
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
    /// Returns the range of a block's content in the file.
    pub fn content_range(at: Pointer) -> Range<usize> {
        at.page as usize * PAGE + CRC..at.end() as usize * PAGE
    }
    /// Returns the content of a block after checking its CRC.
    pub fn read(&self, at: Pointer) -> Result<&[u8], Damage> {
        let block = self
            .bytes
            .get(at.page as usize * PAGE..at.end() as usize * PAGE)
            .and_then(|block| block.split_first_chunk::<CRC>());
        let Some((crc, content)) = block else {
            return Err(Damage::new(format!(
                "a block at page {} is beyond the file",
                at.page
            )));
        };
        let bit = 1_u64 << (at.page % 64);
        let Some(word) = self.checked.get(at.page as usize / 64) else {
            return Err(Damage::new("a block is beyond the file"));
        };
        if word.load(Ordering::Relaxed) & bit == 0 {
            if checksum(content, self.mark.at(at.page)) != u32::from_le_bytes(*crc) {
                return Err(Damage::new(format!("the CRC of page {} fails", at.page)));
            }
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(content)
    }
}

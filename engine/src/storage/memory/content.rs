//! The bytes of one file in memory: as programs read them, as a power loss would leave them, and the changes in
//! between.
//!
//! Invariant: `durable` with every unsynced change applied in order is `now`.

use std::sync::Arc;

/// Size of a sector in bytes. A disk writes whole sectors; any subset of the sectors of one write may reach the disk.
pub(super) const SECTOR: usize = 512;

/// A write, or (without bytes) a change of length.
#[derive(Debug, Clone)]
struct Change {
    offset: usize,
    bytes: Arc<[u8]>,
    /// The length before and after, if the change changes the length.
    len: Option<(usize, usize)>,
}

/// Content of a file: `durable` and `now`. Both share their memory with clones until one of the clones is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    now: Arc<Vec<u8>>,
    durable: Arc<Vec<u8>>,
    unsynced: Vec<Change>,
}

impl Content {
    /// Returns the bytes as programs see them.
    pub(super) fn now(&self) -> &Arc<Vec<u8>> {
        &self.now
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let (len, end) = (self.now.len(), offset.saturating_add(bytes.len()));
        let grows = (end > len && !bytes.is_empty()).then_some((len, end));
        self.change(Change {
            offset,
            bytes: bytes.into(),
            len: grows,
        });
    }

    pub(super) fn set_len(&mut self, len: usize) {
        let before = self.now.len();
        if before != len {
            self.change(Change {
                offset: 0,
                bytes: Arc::new([]),
                len: Some((before, len)),
            });
        }
    }

    fn change(&mut self, change: Change) {
        apply(Arc::make_mut(&mut self.now), &change);
        self.unsynced.push(change);
    }

    /// Makes all changes so far durable.
    pub(super) fn sync(&mut self) {
        if self.unsynced.is_empty() {
            return;
        }
        let durable = Arc::make_mut(&mut self.durable);
        for change in self.unsynced.drain(..) {
            apply(durable, &change);
        }
    }

    /// Simulates a failed sync: the bytes can still be read, but no later sync writes them. The length is durable.
    pub(super) fn forget(&mut self) {
        self.unsynced.clear();
        Arc::make_mut(&mut self.durable).resize(self.now.len(), 0);
    }

    /// Damages a byte of both images; returns false if there is no such byte.
    pub(super) fn corrupt(&mut self, offset: usize, xor: u8) -> bool {
        if offset >= self.now.len() {
            return false;
        }
        for image in [&mut self.now, &mut self.durable] {
            if let Some(byte) = Arc::make_mut(image).get_mut(offset) {
                *byte ^= xor;
            }
        }
        true
    }

    /// Returns the content after a power loss. Each `choose(n)` answers 0..n: 0 means that nothing of a change reached the disk,
    /// n - 1 means that all of it did.
    pub(super) fn crash(&self, choose: &mut dyn FnMut(usize) -> usize) -> Content {
        let mut left = self.durable.clone();
        if !self.unsynced.is_empty() {
            let image = Arc::make_mut(&mut left);
            for change in &self.unsynced {
                land(image, change, choose);
            }
        }
        Content {
            now: left.clone(),
            durable: left,
            unsynced: Vec::new(),
        }
    }
}

fn apply(image: &mut Vec<u8>, change: &Change) {
    if let Some((_, len)) = change.len {
        image.resize(len, 0);
    }
    put(image, change.offset, &change.bytes);
}

/// Applies any part of a change. The new length may be there without the bytes, which then read as zero. The file may end at any
/// sector of a write that grew the file; bytes past the end are missing.
fn land(image: &mut Vec<u8>, change: &Change, choose: &mut dyn FnMut(usize) -> usize) {
    if let Some((before, after)) = change.len {
        let by_sectors = after > before && !change.bytes.is_empty();
        let steps = if by_sectors {
            after.div_ceil(SECTOR) - before / SECTOR
        } else {
            1
        };
        match choose(steps + 1) {
            0 => {}
            step if step < steps => image.resize((before / SECTOR + step) * SECTOR, 0),
            _ => image.resize(after, 0),
        }
    }
    let mut offset = change.offset;
    let mut bytes = &*change.bytes;
    while !bytes.is_empty() {
        let (sector, rest) = bytes.split_at(bytes.len().min(SECTOR - offset % SECTOR));
        if choose(2) > 0 {
            put(image, offset, sector);
        }
        offset += sector.len();
        bytes = rest;
    }
}

fn put(image: &mut [u8], offset: usize, bytes: &[u8]) {
    if let Some(room) = image.get_mut(offset..) {
        let fits = room.len().min(bytes.len());
        room[..fits].copy_from_slice(&bytes[..fits]);
    }
}

//! A group on its way to the disk: encoded, written in one piece, synced.

use super::active::ActiveSegment;
use super::checks::{crcs, places};
use crate::codec::{self, Encoding};
use crate::prelude::*;
use crate::refs::RefNames;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Buffers for a group; reused for the next group.
#[derive(Default)]
pub(crate) struct Buffers {
    pub events: Vec<Event<'static>>,
    pub bytes: Vec<u8>,
    /// Length of each frame of `bytes`; empty if the events are not encoded yet.
    pub frames: Vec<u32>,
}

impl Buffers {
    /// Returns the length of each frame; encodes the events if needed.
    fn encoded(&mut self, encoding: Encoding<'_>) -> Vec<u32> {
        let frames = std::mem::take(&mut self.frames);
        if !frames.is_empty() {
            return frames;
        }
        self.bytes.clear();
        codec::encode_group(encoding, &self.events, &mut self.bytes)
    }
}

/// A group to write.
pub(super) struct Group {
    pub format: Format,
    pub refs: RefNames,
    pub buffers: Buffers,
    /// Length in bytes.
    pub len: u64,
    pub segment: u32,
    pub active: ActiveSegment,
    pub path: PathBuf,
    pub start: u64,
    /// True for a long-lived writer, which prepares zeros and digests in advance.
    pub stays: bool,
    /// Number of zeros to keep after the group.
    pub ahead: u64,
    /// True for the last group of its segment: the file must then have its exact length, durably.
    pub seals: bool,
    /// True if the group needs no sync of its own.
    pub defers: bool,
}

/// A durable group: on this disk, or in a journal.
pub(super) struct WrittenGroup {
    pub buffers: Buffers,
    pub start: u64,
    pub places: Vec<Place>,
    pub crcs: Vec<u32>,
    pub seals: bool,
    /// True if the group and everything before it was synced.
    pub synced: bool,
    /// Duration of write and sync.
    pub took: Duration,
}

impl Group {
    /// Writes the group, and syncs it unless its sync is deferred.
    pub fn write(self) -> Result<WrittenGroup> {
        let mut buffers = self.buffers;
        let frames = buffers.encoded(Encoding {
            format: self.format,
            refs: &self.refs,
        });
        assert_eq!(
            (frames.len(), buffers.bytes.len() as u64),
            (buffers.events.len(), self.len),
            "each event must have one frame, and the frames as many bytes as were reckoned with"
        );
        let started = Instant::now();
        let (active, file) = (&self.active, &self.active.file);
        if self.seals {
            let cut = active.cut_ahead(self.start);
            cut.map_err(Error::io("cut", &self.path))?;
        }
        let ahead = if self.seals { 0 } else { self.ahead };
        active
            .write(&buffers.bytes, self.start, ahead)
            .map_err(Error::io("write", &self.path))?;
        let synced = match self.seals {
            true => file.sync_all(),
            false if self.defers => Ok(()),
            false => file.sync_data(),
        };
        synced.map_err(Error::io("sync", &self.path))?;
        let took = started.elapsed();
        self.active
            .hash_written(self.start + self.len, self.len, self.stays);
        Ok(WrittenGroup {
            places: places(self.segment, self.start, &frames),
            crcs: crcs(self.format, &buffers.bytes, &frames),
            buffers,
            seals: self.seals,
            synced: self.seals || !self.defers,
            start: self.start,
            took,
        })
    }
}

/// A group that a thread writes and syncs while the next group fills.
pub(crate) struct InFlightGroup {
    pub last: (u64, EventId),
    thread: Option<JoinHandle<Result<WrittenGroup>>>,
}

impl InFlightGroup {
    /// Starts a thread that writes the group; returns the group if no thread can be started.
    pub(super) fn start(
        last: (u64, EventId),
        group: Group,
    ) -> Result<std::result::Result<InFlightGroup, Group>> {
        // The group is sent through a channel. If the thread cannot start, its closure is dropped, but the group must not be
        // lost.
        let (give, given) = mpsc::channel::<Group>();
        let thread = thread::Builder::new().name("teamlog-write".into());
        let started = thread.spawn(move || match given.recv() {
            Ok(group) => group.write(),
            Err(_) => Err(Error::Poisoned("the writing thread got no group".into())),
        });
        let Ok(thread) = started else {
            return Ok(Err(group));
        };
        if give.send(group).is_err() {
            return Err(Error::Poisoned("a writing thread ended early".into()));
        }
        Ok(Ok(InFlightGroup {
            last,
            thread: Some(thread),
        }))
    }

    /// Returns true if the group is written.
    pub(super) fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    pub(super) fn finish_write(&mut self) -> Result<WrittenGroup> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(written)) => written,
            _ => Err(Error::Poisoned("a writing thread panicked".into())),
        }
    }
}

impl Drop for InFlightGroup {
    /// Waits for the write, because the lock must outlive every write.
    fn drop(&mut self) {
        if self.thread.is_some() {
            let _ = self.finish_write();
        }
    }
}

//! Rotation: seals a full segment, and starts a new segment whose header has the digest.

use crate::codec;
use crate::journal::Replica;
use crate::prelude::*;

use super::State;
use super::active::ActiveSegment;
use super::core::Core;

/// A long-lived writer leaves at most one part in `LAST_PART` of a segment free.
const LAST_PART: u64 = 8;

impl<S: State> Core<S> {
    /// Returns true if a group that ends at `end` should be the last group of its segment. Only a long-lived writer ends a segment early:
    /// this group and the next group then share the syncs of a rotation.
    pub(super) fn is_last_of_segment(&self, end: u64) -> bool {
        let max = self.options.segment_bytes_max;
        let margin = self.options.ahead_bytes.min(max / LAST_PART);
        // In a log with a journal, a segment must end after the same group on all hosts, so no host may end it early.
        self.replica.is_none() && self.stays() && end + margin > max
    }

    /// Starts the next segment if the active segment has ended, or if the group belongs to another day or would not fit. Returns
    /// true if a segment was started.
    pub(super) fn rotate_if_needed(&mut self, at: Timestamp, bytes: u64) -> Result<bool> {
        let format = self.identity.format;
        let mut begun = false;
        for name in self
            .replica
            .as_mut()
            .map(Replica::begins)
            .unwrap_or_default()
        {
            let name = SegmentName::parse(&name, format);
            // An interrupted rotation may have started the segment already.
            if let Some(name) = name.filter(|name| !self.has_begun(name)) {
                self.rotate(name)?;
                begun = true;
            }
        }
        let current = SegmentName::parse(&self.head.name, format);
        let stays = current.as_ref().is_some_and(|name| {
            let fits = self.head.end + bytes <= self.options.segment_bytes_max;
            name.day == at.day() && fits && !self.head.rotating
        });
        if !stays {
            self.rotate(SegmentName::next(current.as_ref(), at))?;
        }
        Ok(!stays || begun)
    }

    /// Returns true if the active segment is the segment `name`, or a later segment.
    fn has_begun(&self, name: &SegmentName) -> bool {
        let active = SegmentName::parse(&self.head.name, self.identity.format);
        active.is_some_and(|active| active >= *name)
    }

    fn rotate(&mut self, name: SegmentName) -> Result<()> {
        assert!(
            self.in_flight.is_none(),
            "segment {} must not be sealed while a group is written to it",
            self.head.segment
        );
        if !self.head.rotating {
            self.seal()?;
        }
        let previous = self.predecessor()?;
        assert_eq!(
            previous.is_some(),
            self.active.is_some(),
            "segment {} must be described by the next one",
            self.head.segment
        );
        let header = SegmentHeader {
            version: self.identity.version,
            log: self.identity.log.0,
            name: self.identity.name.clone(),
            number: self.head.segment + 1,
            first_seq: self.head.last_seq + 1,
            previous,
        };
        assert_eq!(
            self.pending.first().map(|event| event.seq),
            Some(header.first_seq),
            "segment {} must begin with the pending group",
            header.number
        );
        let bytes = header.encode(self.identity.format);
        let path = self
            .dir
            .join(EVENTS_DIR)
            .join(name.file(self.identity.format));
        let storage = self.storage.named();
        if storage.stat(&path)?.is_some() {
            let why = "a new segment would replace this file";
            return Err(Error::corrupt(path, 0, header.first_seq, why));
        }
        storage.replace(&path, &bytes)?;
        let active = storage.open(&path, OpenMode::Write)?;
        self.active = Some(ActiveSegment::new(active)?);
        let begun = Head {
            segment: header.number,
            name: name.file(self.identity.format),
            end: bytes.len() as u64,
            rotating: false,
            ..self.head.clone()
        };
        self.write_head(begun, true)
    }

    /// Seals the active segment, unless its last group sealed it. Afterwards all of its bytes are durable: each group is synced
    /// before the next group, and an unsynced last group is synced now.
    fn seal(&mut self) -> Result<()> {
        self.sync_deferred()?;
        // The next segment's header names the length of this segment, so a cut of its zeros (perhaps by recovery) must be durable
        // first.
        if self.identity.may_prewrite()
            && let Some(active) = &self.active
        {
            let path = self.dir.join(EVENTS_DIR).join(&self.head.name);
            let cut = active.cut_ahead(self.head.end);
            cut.map_err(Error::io("cut", &path))?;
            let synced = active.file.sync_all();
            synced.map_err(Error::io("sync", &path))?;
        }
        let rotating = Head {
            rotating: true,
            ..self.head.clone()
        };
        self.write_head(rotating, true)
    }

    /// Returns the description of the active segment for the header of the next segment.
    fn predecessor(&self) -> Result<Option<codec::Predecessor>> {
        let Some(active) = &self.active else {
            return Ok(None);
        };
        let path = self.dir.join(EVENTS_DIR).join(&self.head.name);
        let digest = active
            .digest(self.head.end)
            .map_err(Error::io("read", &path))?;
        Ok(Some(codec::Predecessor {
            name: self.head.name.clone(),
            len: self.head.end,
            digest,
        }))
    }
}

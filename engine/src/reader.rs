//! Reads a log up to a head: events in order, a single event by its place, or spans for parallel workers.
//!
//! Invariants: a reader returns nothing past the head. Everything that it returns was checked (CRC, order of seqs and ids, whole
//! groups, chained headers). Damage is an error with its place, never the end of the log. A reader changes nothing.

mod find;
mod header;
mod span;
mod spans;

pub use find::Point;
pub(crate) use header::read_header;
pub use span::{Chain, LocatedFrame, Span};
pub use spans::Spans;

use crate::codec;
use crate::error::Rollback;
use crate::prelude::*;
use crate::storage::{Reads, if_long_enough, if_there};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Span size that keeps two workers busy and memory small.
pub const SPAN_BYTES: usize = 256 << 10;
/// Largest size of a segment header.
const HEADER_BYTES_MAX: usize = 4096;
/// Error text for a segment with fewer bytes than the head says.
pub(crate) const BEFORE_HEAD: &str = "the segment ends before the durable head";

/// Reads a log up to a fixed head. Cheap to clone.
#[derive(Clone)]
pub struct Reader {
    inner: Arc<Inner>,
}

struct Inner {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    identity: Identity,
    head: Head,
    opening: Opening,
    names: Mutex<Option<Arc<Vec<String>>>>,
    files: Mutex<HashMap<u32, Arc<NamedFile>>>,
    /// Maps of sealed segments, for reading single events.
    maps: Mutex<HashMap<u32, Bytes>>,
}

/// Findings from opening a log.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// Bytes after the head.
    pub beyond: u64,
    /// Notes for people.
    pub notes: Vec<String>,
    /// The rollback that the witness shows.
    pub rollback: Option<Rollback>,
    /// `true` if other files add no evidence about the log's end: a witness or a journal shows the end, or recovery is pending.
    pub end_known: bool,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("dir", &self.inner.dir)
            .field("head", &self.inner.head)
            .finish()
    }
}

impl Reader {
    pub(crate) fn new(
        storage: &Arc<dyn Storage>,
        dir: &Path,
        identity: &Identity,
        head: Head,
    ) -> Reader {
        let opening = Opening {
            end_known: true,
            ..Opening::default()
        };
        Reader::opened(storage, dir, identity, head, opening)
    }

    /// Creates a reader with the findings from opening its log.
    pub(crate) fn opened(
        storage: &Arc<dyn Storage>,
        dir: &Path,
        identity: &Identity,
        head: Head,
        opening: Opening,
    ) -> Reader {
        let inner = Inner {
            storage: storage.clone(),
            dir: dir.to_path_buf(),
            identity: identity.clone(),
            head,
            opening,
            names: Mutex::default(),
            files: Mutex::default(),
            maps: Mutex::default(),
        };
        Reader {
            inner: Arc::new(inner),
        }
    }

    /// Returns the head up to which the reader reads.
    pub fn head(&self) -> &Head {
        &self.inner.head
    }

    /// Returns the number of bytes after the head in the active segment that this process cannot recover (a full disk,
    /// a read-only file system); 0 otherwise.
    pub fn beyond(&self) -> u64 {
        self.inner.opening.beyond
    }

    /// Returns notes about recovery, as texts for people; no notes after a clean close.
    pub fn notes(&self) -> &[String] {
        &self.inner.opening.notes
    }

    /// Returns the rollback that the log's witness shows: acknowledged events are missing.
    pub fn rollback(&self) -> Option<&Rollback> {
        self.inner.opening.rollback.as_ref()
    }

    /// Returns a copy of this reader that reports `rollback`: files outside the log show the loss of events.
    #[must_use]
    pub fn with_rollback(&self, note: String, rollback: Rollback) -> Reader {
        let mut notes = self.notes().to_vec();
        notes.push(note);
        let opening = Opening {
            beyond: self.beyond(),
            notes,
            rollback: Some(rollback),
            end_known: true,
        };
        let head = self.head().clone();
        Reader::opened(self.storage(), self.dir(), self.identity(), head, opening)
    }

    /// Returns `true` if other files add no evidence about the log's end, for example because the log has a witness.
    pub fn is_end_known(&self) -> bool {
        self.inner.opening.end_known
    }

    /// Returns the log's directory.
    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// Returns the storage of the log.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.inner.storage
    }

    /// Returns the log's identity.
    pub fn identity(&self) -> &Identity {
        &self.inner.identity
    }

    /// Returns the file names of the segments up to the head, in order: the n-th is segment n.
    pub fn segments(&self) -> Result<Vec<String>> {
        if self.head().segment == 0 {
            return Ok(Vec::new());
        }
        let mut names = self.names()?.to_vec();
        names.push(self.head().name.clone());
        Ok(names)
    }

    /// Reads and checks the event at a place.
    pub fn at(&self, place: Place) -> Result<Event<'static>> {
        match self.frame_at(place)? {
            Some((event, _)) => Ok(event),
            None => {
                let why = "the index names this place, but there is no valid event";
                let path = self.path(place.segment)?;
                Err(Error::corrupt(path, place.offset, None, why))
            }
        }
    }

    /// Returns the event at a place with its CRC; `None` if the place has no valid frame of its length.
    pub fn frame_at(&self, place: Place) -> Result<Option<(Event<'static>, u32)>> {
        let head = self.head();
        let past_head = place.segment > head.segment
            || (place.segment == head.segment && place.end() > head.end);
        if place.segment == 0
            || past_head
            || u64::from(place.len) > 4 * crate::limits::EVENT_BYTES_MAX as u64
        {
            return Ok(None);
        }
        if place.segment < head.segment {
            let sealed = self.sealed(place.segment)?;
            let range = place.offset as usize..place.end() as usize;
            let bytes = sealed.as_ref().and_then(|sealed| sealed.get(range));
            return Ok(bytes.and_then(|bytes| self.whole_frame(bytes)));
        }
        let Some(file) = self.file(place.segment)? else {
            return Ok(None);
        };
        let bytes = if_long_enough(file.read_range(place.offset..place.end()))?;
        Ok(bytes.and_then(|bytes| self.whole_frame(&bytes)))
    }

    /// Decodes `bytes`, which must be exactly one frame.
    fn whole_frame(&self, bytes: &[u8]) -> Option<(Event<'static>, u32)> {
        let frame = codec::decode(&self.inner.identity, bytes).ok()?;
        (frame.len == bytes.len()).then(|| (frame.event.into_owned(), frame.crc))
    }

    /// Maps a sealed segment, so that only the pages in use are read.
    fn sealed(&self, segment: u32) -> Result<Option<Bytes>> {
        let maps = self.inner.maps.lock();
        let mut maps = maps.unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = maps.get(&segment) {
            return Ok(Some(bytes.clone()));
        }
        let path = self.path(segment)?;
        let bytes = if_there(self.storage().named().sealed(&path))?;
        if let Some(bytes) = &bytes {
            bytes.expect(Reads::Scattered);
            maps.insert(segment, bytes.clone());
        }
        Ok(bytes)
    }

    /// Returns the spans after `after` (from the first event if `None`) up to the head, each of about `bytes` bytes, in
    /// order. Checks the headers of the segments.
    pub fn spans(&self, after: Option<Place>, bytes: usize) -> Spans {
        let (segment, offset) = match after {
            Some(place) => (place.segment, Some(place.end())),
            None => (1, None),
        };
        Spans {
            reader: self.clone(),
            about: bytes.max(1),
            segment,
            offset,
            sealed: None,
            failed: false,
        }
    }

    /// Calls `each` with every event after `after` up to the head, until `each` breaks.
    pub fn each<B, E: From<Error>>(
        &self,
        after: Option<Place>,
        mut each: impl FnMut(&LocatedFrame<'_>) -> Result<std::ops::ControlFlow<B>, E>,
    ) -> Result<Option<B>, E> {
        let mut chain = after.is_none().then(|| Chain::behind(None));
        for span in self.spans(after, SPAN_BYTES) {
            let span = span?;
            let mut at = 0;
            while at < span.content().len() {
                let located = span.located(at)?;
                at += located.frame.len;
                chain
                    .get_or_insert_with(|| Chain::from_frame(&located.frame))
                    .link(&span, std::slice::from_ref(&located))?;
                if let std::ops::ControlFlow::Break(value) = each(&located)? {
                    return Ok(Some(value));
                }
            }
        }
        if let Some(chain) = chain
            && chain.last_seq() != self.head().last_seq
        {
            return Err(self.short(chain.last_seq()).into());
        }
        Ok(None)
    }

    /// Like [`Reader::each`], from the head backward to the first event.
    pub fn each_reversed<B, E: From<Error>>(
        &self,
        mut each: impl FnMut(&LocatedFrame<'_>) -> Result<std::ops::ControlFlow<B>, E>,
    ) -> Result<Option<B>, E> {
        for segment in (1..=self.head().segment).rev() {
            let mut spans = Spans {
                segment,
                ..self.spans(None, SPAN_BYTES)
            };
            let mut found = Vec::new();
            while let Some(span) = spans.next_within(segment) {
                found.push(span?);
            }
            for span in found.iter().rev() {
                let frames = span.decode()?;
                if let Some(first) = frames.first() {
                    Chain::from_frame(&first.frame).link(span, &frames)?;
                }
                for located in frames.iter().rev() {
                    if let std::ops::ControlFlow::Break(value) = each(located)? {
                        return Ok(Some(value));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the events after `after` up to the head, in order, with place and CRC.
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
    /// let reader = log.reader()?;
    /// let mut last = None;
    /// for event in reader.events(None).take(2) {
    ///     last = Some(event?.0);
    /// }
    /// // Later: the events after the last one that was read.
    /// let rest: Vec<u64> = reader.events(last).map(|event| Ok(event?.2.seq)).collect::<Result<_>>()?;
    /// assert_eq!(rest, [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events(
        &self,
        after: Option<Place>,
    ) -> impl Iterator<Item = Result<(Place, u32, Event<'static>)>> + use<> {
        let mut spans = self.spans(after, SPAN_BYTES);
        let mut chain = after.is_none().then(|| Chain::behind(None));
        let (mut ready, mut failed) = (Vec::new().into_iter(), false);
        std::iter::from_fn(move || {
            loop {
                if let Some(event) = ready.next() {
                    return Some(Ok(event));
                }
                if failed {
                    return None;
                }
                let read = spans.next()?.and_then(|span| {
                    let frames = span.decode()?;
                    if let Some(first) = frames.first() {
                        chain
                            .get_or_insert_with(|| Chain::from_frame(&first.frame))
                            .link(&span, &frames)?;
                    }
                    let own = |located: LocatedFrame<'_>| {
                        (
                            located.place,
                            located.frame.crc,
                            located.frame.event.into_owned(),
                        )
                    };
                    Ok(frames.into_iter().map(own).collect::<Vec<_>>())
                });
                match read {
                    Ok(events) => ready = events.into_iter(),
                    Err(error) => {
                        failed = true;
                        return Some(Err(error));
                    }
                }
            }
        })
    }

    /// Checks every event of the head's segment.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn check_active_segment(&self) -> Result<()> {
        let mut spans = self.spans(None, SPAN_BYTES);
        spans.segment = self.head().segment;
        let mut chain: Option<Chain> = None;
        for span in spans {
            let span = span?;
            let frames = span.decode()?;
            if let Some(first) = frames.first() {
                chain
                    .get_or_insert_with(|| Chain::from_frame(&first.frame))
                    .link(&span, &frames)?;
            }
        }
        match chain.map(|chain| chain.last_seq()) {
            Some(last) if last != self.head().last_seq => Err(self.short(last)),
            _ => Ok(()),
        }
    }

    fn missing(&self, path: &Path) -> Error {
        Error::corrupt(path, 0, None, "the segment is missing")
    }

    fn short(&self, last_seq: u64) -> Error {
        let head = self.head();
        let path = self.inner.dir.join(EVENTS_DIR).join(&head.name);
        let said = head.last_seq;
        let why = format!("the log ends with event {last_seq}, but its head says {said}");
        Error::corrupt(path, head.end, last_seq + 1, why)
    }

    /// Returns the path of a segment, relative to the storage's root.
    fn path(&self, segment: u32) -> Result<PathBuf> {
        Ok(self.inner.dir.join(EVENTS_DIR).join(self.name(segment)?))
    }

    /// Returns the name of a segment. The head holds the name of the active segment; other names come from the directory.
    fn name(&self, segment: u32) -> Result<String> {
        if segment == self.head().segment {
            return Ok(self.head().name.clone());
        }
        let names = self.names()?;
        (segment as usize)
            .checked_sub(1)
            .and_then(|index| names.get(index))
            .cloned()
            .ok_or_else(|| {
                let (there, all) = (names.len(), self.head().segment);
                let why =
                    format!("segment {segment} is missing: the directory holds {there} of {all}");
                Error::corrupt(self.inner.dir.join(EVENTS_DIR), 0, None, why)
            })
    }

    /// Returns the names of the segments up to the head, in order: the n-th is segment n.
    fn names(&self) -> Result<Arc<Vec<String>>> {
        let cached = self.inner.names.lock();
        let mut cached = cached.unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = &*cached {
            return Ok(names.clone());
        }
        let mut names = self.every_segment()?;
        let before = names.iter().position(|name| *name == self.head().name);
        names.truncate(before.unwrap_or(names.len()));
        if names.len() + 1 != self.head().segment.max(1) as usize {
            let why = format!(
                "the head names {} as segment {}, but {} segments come before it",
                self.head().name,
                self.head().segment,
                names.len()
            );
            let events = self.inner.dir.join(EVENTS_DIR);
            return Err(Error::corrupt(events, 0, None, why));
        }
        let names = Arc::new(names);
        *cached = Some(names.clone());
        Ok(names)
    }

    /// Returns the names of all segments in order, including segments after the head.
    pub(crate) fn every_segment(&self) -> Result<Vec<String>> {
        let (inner, format) = (&self.inner, self.inner.identity.format);
        let names = SegmentName::list(inner.storage.as_ref(), &inner.dir, format)?;
        Ok(names.iter().map(|name| name.file(format)).collect())
    }

    fn file(&self, segment: u32) -> Result<Option<Arc<NamedFile>>> {
        let files = self.inner.files.lock();
        let mut files = files.unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(&segment) {
            return Ok(Some(file.clone()));
        }
        let path = self.path(segment)?;
        let file = self
            .storage()
            .named()
            .open_if_there(&path, OpenMode::Read)?;
        let file = file.map(Arc::new);
        files.extend(file.clone().map(|file| (segment, file)));
        Ok(file)
    }
}

//! Reading a log up to a head: events in order, one by its place, or spans for parallel workers.
//!
//! Invariants: nothing past the head is shown; everything shown was checked (CRC, order of seqs and ids, whole groups,
//! chained headers); damage is an error with its place, never the end of the log; a reader changes nothing.

use crate::codec::{self, Frame, SegmentHeader};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::head::Head;
use crate::identity::{FORMAT_VERSION, Format, Identity};
use crate::place::Place;
use crate::recovery::tail::{Position, follows};
use crate::segment::{EVENTS_DIR, SegmentName};
use crate::storage::{Bytes, File, Open, Storage};
use crate::timestamp::Timestamp;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Spans of about this many bytes keep two workers busy and memory small.
pub const SPAN_BYTES: usize = 256 << 10;

/// Reads a log up to the head that it was made with. Cheap to clone.
#[derive(Clone)]
pub struct Reader {
    inner: Arc<Inner>,
}

struct Inner {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    identity: Identity,
    head: Head,
    beyond: u64,
    names: Mutex<Option<Arc<Vec<String>>>>,
    files: Mutex<HashMap<u32, Arc<dyn File>>>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("dir", &self.inner.dir)
            .field("head", &self.inner.head)
            .finish()
    }
}

/// Whole frames of one segment, to be decoded anywhere.
#[derive(Clone, Debug)]
pub struct Span {
    /// How they are stored.
    pub format: Format,
    /// The segment's number.
    pub segment: u32,
    /// The segment's file, for errors.
    pub path: Arc<PathBuf>,
    /// Where `bytes[range]` starts in the segment's file.
    pub offset: u64,
    /// The bytes that hold the span.
    pub bytes: Bytes,
    /// The span's part of `bytes`: whole frames.
    pub range: Range<usize>,
}

/// One frame with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<'a> {
    /// The frame: the event, its part in its group, its CRC.
    pub frame: Frame<'a>,
    /// Its place.
    pub place: Place,
}

impl Span {
    /// Decodes every frame of the span, checking each by itself; a [`Chain`] checks how they follow each other.
    ///
    /// # Errors
    /// `Corrupt` with the place.
    pub fn decode(&self) -> Result<Vec<Located<'_>>> {
        let bytes = self.content();
        let mut located = Vec::with_capacity(bytes.len() / 256);
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let frame = codec::decode(self.format, rest)
                .map_err(|error| self.corrupt(at, error.to_string()))?;
            let place = Place {
                segment: self.segment,
                offset: self.offset + at as u64,
                len: frame.len as u32,
            };
            at += frame.len;
            located.push(Located { frame, place });
        }
        Ok(located)
    }

    /// The span's own bytes.
    pub fn content(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }

    fn corrupt(&self, at: usize, why: String) -> Error {
        Error::Corrupt {
            path: (*self.path).clone(),
            offset: self.offset + at as u64,
            seq: None,
            why,
        }
    }
}

/// Checks that frames follow each other: seqs without a gap, ids increasing, groups whole.
#[derive(Debug, Clone)]
pub struct Chain {
    last: Position,
    group: (u32, u32),
}

impl Chain {
    /// Behind the event with that seq and id; `None` at the start of the log.
    pub fn behind(last: Option<(u64, crate::event_id::EventId)>) -> Chain {
        let last = Position {
            seq: last.map_or(0, |(seq, _)| seq),
            id: last.map(|(_, id)| id),
        };
        Chain {
            last,
            group: (0, 0),
        }
    }

    /// From the middle of a log on: the first frame is taken as it is.
    fn from_frame(frame: &Frame<'_>) -> Chain {
        let last = Position {
            seq: frame.event.seq.saturating_sub(1),
            id: None,
        };
        let len = if frame.group.index == 0 {
            0
        } else {
            frame.group.len
        };
        Chain {
            last,
            group: (frame.group.index, len),
        }
    }

    /// The next frames.
    ///
    /// # Errors
    /// `Corrupt` at the first that does not follow.
    pub fn link(&mut self, span: &Span, frames: &[Located<'_>]) -> Result<()> {
        for Located { frame, place } in frames {
            let (index, len) = match self.group {
                (index, len) if index < len => (index, len),
                _ => (0, frame.group.len),
            };
            follows(self.last, frame, index, len).map_err(|why| Error::Corrupt {
                path: (*span.path).clone(),
                offset: place.offset,
                seq: Some(self.last.next()),
                why,
            })?;
            self.last = Position {
                seq: frame.event.seq,
                id: Some(frame.event.id),
            };
            self.group = (index + 1, len);
        }
        Ok(())
    }

    /// The seq of the last frame.
    pub fn last_seq(&self) -> u64 {
        self.last.seq
    }
}

impl Reader {
    pub(crate) fn new(
        storage: Arc<dyn Storage>,
        dir: &Path,
        identity: Identity,
        head: Head,
    ) -> Reader {
        Reader::with_beyond(storage, dir, identity, head, 0)
    }

    pub(crate) fn with_beyond(
        storage: Arc<dyn Storage>,
        dir: &Path,
        identity: Identity,
        head: Head,
        beyond: u64,
    ) -> Reader {
        let inner = Inner {
            storage,
            dir: dir.to_path_buf(),
            identity,
            head,
            beyond,
            names: Mutex::default(),
            files: Mutex::default(),
        };
        Reader {
            inner: Arc::new(inner),
        }
    }

    /// The end of what it reads.
    pub fn head(&self) -> &Head {
        &self.inner.head
    }

    /// Bytes that lie beyond the head in the active segment and that this process may not recover
    /// (a read-only file system); 0 otherwise.
    pub fn beyond(&self) -> u64 {
        self.inner.beyond
    }

    /// The log's directory.
    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// The storage that the log lies on.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.inner.storage
    }

    /// Which log it reads.
    pub fn identity(&self) -> &Identity {
        &self.inner.identity
    }

    /// Reads and checks the event at a place.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn at(&self, place: Place) -> Result<Event<'static>> {
        match self.frame_at(place)? {
            Some((event, _)) => Ok(event),
            None => Err(Error::Corrupt {
                path: self.path(place.segment)?,
                offset: place.offset,
                seq: None,
                why: "no valid event stands where the index says".into(),
            }),
        }
    }

    /// The event at a place with its CRC; `None` where no valid frame of that length stands there.
    ///
    /// # Errors
    /// I/O.
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
        let Some(file) = self.file(place.segment)? else {
            return Ok(None);
        };
        let mut bytes = vec![0; place.len as usize];
        match file.read_exact_at(&mut bytes, place.offset) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(Error::io("read", self.path(place.segment)?)(error)),
        }
        match codec::decode(self.inner.identity.format, &bytes) {
            Ok(frame) if frame.len == bytes.len() => {
                Ok(Some((frame.event.into_owned(), frame.crc)))
            }
            _ => Ok(None),
        }
    }

    /// The spans behind `after` (from the first event if `None`) up to the head, each about `bytes` long, in order.
    /// Headers of segments are checked on the way.
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
            open: None,
            failed: false,
        }
    }

    /// Shows every event behind `after` up to the head to `each`, until it breaks off.
    ///
    /// # Errors
    /// `Corrupt`, I/O, or what `each` returns.
    pub fn each<B, E: From<Error>>(
        &self,
        after: Option<Place>,
        mut each: impl FnMut(&Located<'_>) -> Result<std::ops::ControlFlow<B>, E>,
    ) -> Result<Option<B>, E> {
        let mut chain = after.is_none().then(|| Chain::behind(None));
        for span in self.spans(after, SPAN_BYTES) {
            let span = span?;
            let frames = span.decode()?;
            if let Some(first) = frames.first() {
                chain
                    .get_or_insert_with(|| Chain::from_frame(&first.frame))
                    .link(&span, &frames)?;
            }
            for located in &frames {
                if let std::ops::ControlFlow::Break(value) = each(located)? {
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

    /// As [`Reader::each`], from the head backward to just behind `after`.
    ///
    /// # Errors
    /// As [`Reader::each`].
    pub fn each_reversed<B, E: From<Error>>(
        &self,
        mut each: impl FnMut(&Located<'_>) -> Result<std::ops::ControlFlow<B>, E>,
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

    /// Events behind `after` up to the head, in order, with place and CRC.
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
                    let own = |located: Located<'_>| {
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

    /// The place of the event with that seq, found without an index: by the segments' headers, then a walk over one segment.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn find_seq(&self, seq: u64) -> Result<Option<Place>> {
        self.find(
            |header, _| header.first_seq <= seq,
            |envelope| envelope.seq >= seq,
        )
    }

    /// The place of the first event at or after `time`, found without an index.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn find_time(&self, time: Timestamp) -> Result<Option<Place>> {
        self.find(
            |_, name| name.day <= time.day(),
            |envelope| envelope.id.created_at() >= time,
        )
    }

    /// Bisects to the last segment that `starts_before`, and walks from there to the first event that is `reached`.
    fn find(
        &self,
        starts_before: impl Fn(&SegmentHeader, &SegmentName) -> bool,
        reached: impl Fn(&codec::Envelope<'_>) -> bool,
    ) -> Result<Option<Place>> {
        let (mut low, mut high) = (1, self.head().segment);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let file = self.name(middle)?;
            let name = SegmentName::parse(&file, self.inner.identity.format);
            let before = match name {
                Some(name) => starts_before(&self.header(middle)?, &name),
                None => false,
            };
            if before {
                low = middle
            } else {
                high = middle - 1
            }
        }
        let mut spans = Spans {
            segment: low.max(1),
            ..self.spans(None, SPAN_BYTES)
        };
        for span in &mut spans {
            let span = span?;
            let mut at = 0;
            while let Some(rest) = span.content().get(at..).filter(|rest| !rest.is_empty()) {
                let envelope = codec::envelope(span.format, rest)
                    .map_err(|error| span.corrupt(at, error.to_string()))?;
                if reached(&envelope) {
                    let (offset, len) = (span.offset + at as u64, envelope.len as u32);
                    return Ok(Some(Place {
                        segment: span.segment,
                        offset,
                        len,
                    }));
                }
                at += envelope.len;
            }
        }
        Ok(None)
    }

    /// The header of a segment, held against what is known of it.
    ///
    /// # Errors
    /// `Corrupt`, `UnsupportedFormat`, `ForeignFile`, I/O.
    pub fn header(&self, segment: u32) -> Result<SegmentHeader> {
        let path = self.path(segment)?;
        let file = self.file(segment)?.ok_or_else(|| self.missing(&path))?;
        let len = file.stat().map_err(Error::io("stat", &path))?.len.min(4096);
        let mut bytes = vec![0; len as usize];
        file.read_exact_at(&mut bytes, 0)
            .map_err(Error::io("read", &path))?;
        Ok(self.check_header(segment, &path, &bytes)?.0)
    }

    fn check_header(
        &self,
        segment: u32,
        path: &Path,
        bytes: &[u8],
    ) -> Result<(SegmentHeader, usize)> {
        let (header, len) = read_header(&self.inner.identity, path, bytes)?;
        if header.number != segment {
            let why = format!(
                "its header says segment {}, but its name makes it segment {segment}",
                header.number
            );
            return Err(Error::Corrupt {
                path: path.to_path_buf(),
                offset: 0,
                seq: None,
                why,
            });
        }
        Ok((header, len))
    }

    fn missing(&self, path: &Path) -> Error {
        Error::Corrupt {
            path: path.to_path_buf(),
            offset: 0,
            seq: None,
            why: "the segment is missing".into(),
        }
    }

    fn short(&self, last_seq: u64) -> Error {
        let head = self.head();
        Error::Corrupt {
            path: self.inner.dir.join(EVENTS_DIR).join(&head.name),
            offset: head.end,
            seq: Some(last_seq + 1),
            why: format!(
                "the log ends with event {last_seq}, but its head says {}",
                head.last_seq
            ),
        }
    }

    /// The file of a segment, relative to the storage's root.
    fn path(&self, segment: u32) -> Result<PathBuf> {
        Ok(self.inner.dir.join(EVENTS_DIR).join(self.name(segment)?))
    }

    /// The name of a segment. The active one's is in the head; only others need the directory.
    fn name(&self, segment: u32) -> Result<String> {
        if segment == self.head().segment {
            return Ok(self.head().name.clone());
        }
        let names = self.names()?;
        (segment as usize)
            .checked_sub(1)
            .and_then(|index| names.get(index))
            .cloned()
            .ok_or_else(|| Error::Corrupt {
                path: self.inner.dir.join(EVENTS_DIR),
                offset: 0,
                seq: None,
                why: format!(
                    "segment {segment} is missing: the directory holds {} of {}",
                    names.len(),
                    self.head().segment
                ),
            })
    }

    /// Names of the segments up to the head, in order: the n-th is segment n.
    fn names(&self) -> Result<Arc<Vec<String>>> {
        let mut cached = self
            .inner
            .names
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = &*cached {
            return Ok(names.clone());
        }
        let (dir, format) = (self.inner.dir.join(EVENTS_DIR), self.inner.identity.format);
        let listed = self
            .inner
            .storage
            .list(&dir)
            .map_err(Error::io("list", &dir))?;
        let mut names: Vec<_> = listed
            .iter()
            .filter_map(|name| SegmentName::parse(name, format))
            .collect();
        names.sort();
        let names: Vec<String> = names
            .iter()
            .map(|name| name.file(format))
            .take_while(|name| *name != self.head().name)
            .collect();
        if names.len() + 1 != self.head().segment.max(1) as usize {
            let why = format!(
                "{} segments stand before {}, which is segment {}",
                names.len(),
                self.head().name,
                self.head().segment
            );
            return Err(Error::Corrupt {
                path: dir,
                offset: 0,
                seq: None,
                why,
            });
        }
        let names = Arc::new(names);
        *cached = Some(names.clone());
        Ok(names)
    }

    fn file(&self, segment: u32) -> Result<Option<Arc<dyn File>>> {
        let path = self.path(segment)?;
        let mut files = self
            .inner
            .files
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(&segment) {
            return Ok(Some(file.clone()));
        }
        match self.inner.storage.open(&path, Open::Read) {
            Ok(file) => {
                let file: Arc<dyn File> = Arc::from(file);
                files.insert(segment, file.clone());
                Ok(Some(file))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("open", path)(error)),
        }
    }
}

/// Reads a segment's header and holds it against the log's identity.
pub(crate) fn read_header(
    identity: &Identity,
    path: &Path,
    bytes: &[u8],
) -> Result<(SegmentHeader, usize)> {
    let (header, len) =
        SegmentHeader::decode(identity.format, bytes).map_err(|error| match error {
            codec::FrameError::Newer(found) => Error::UnsupportedFormat {
                path: path.to_path_buf(),
                found,
                known: FORMAT_VERSION,
            },
            error => Error::Corrupt {
                path: path.to_path_buf(),
                offset: 0,
                seq: None,
                why: format!("its header is unusable: {error}"),
            },
        })?;
    if header.log != identity.log.0 || header.team != identity.team {
        let why = format!(
            "its header names log {} of team {}",
            crate::identity::LogId(header.log),
            header.team
        );
        return Err(Error::ForeignFile {
            path: path.to_path_buf(),
            why,
        });
    }
    Ok((header, len))
}

/// The spans of a log, in order; see [`Reader::spans`].
pub struct Spans {
    reader: Reader,
    about: usize,
    segment: u32,
    /// Where to go on in `segment`; `None` before its header was read.
    offset: Option<u64>,
    open: Option<Window>,
    failed: bool,
}

/// The part of a segment that is in memory.
struct Window {
    path: Arc<PathBuf>,
    /// Offset of the first byte of `bytes` in the file.
    start: u64,
    bytes: Bytes,
    /// Where the segment ends, for readers.
    end: u64,
}

impl Iterator for Spans {
    type Item = Result<Span>;

    fn next(&mut self) -> Option<Result<Span>> {
        while self.segment <= self.reader.head().segment {
            if let Some(span) = self.next_within(self.segment) {
                return Some(span);
            }
            if self.failed {
                return None;
            }
            self.segment += 1;
            self.offset = None;
            self.open = None;
        }
        None
    }
}

impl Spans {
    /// The next span of that segment, `None` at its end.
    fn next_within(&mut self, segment: u32) -> Option<Result<Span>> {
        if self.failed {
            return None;
        }
        let span = self.cut(segment);
        self.failed = span.is_err();
        span.transpose()
    }

    fn cut(&mut self, segment: u32) -> Result<Option<Span>> {
        if self.open.is_none() {
            self.open = Some(self.window(segment)?);
        }
        let Some(window) = &self.open else {
            return Ok(None);
        };
        let format = self.reader.inner.identity.format;
        let offset = match self.offset {
            Some(offset) => offset,
            None => {
                let (header, len) =
                    self.reader
                        .check_header(segment, &window.path, &window.bytes)?;
                self.reader.check_previous(&header)?;
                len as u64
            }
        };
        self.offset = Some(offset);
        let from = (offset - window.start) as usize;
        let to = (window.end - window.start) as usize;
        let corrupt = |at: usize, why: String| Error::Corrupt {
            path: (*window.path).clone(),
            offset: window.start + at as u64,
            seq: None,
            why,
        };
        let Some(rest) = window.bytes.get(from..to).filter(|rest| !rest.is_empty()) else {
            return Ok(None);
        };
        let len = codec::split(format, rest, self.about)
            .map_err(|(at, error)| corrupt(from + at, error.to_string()))?;
        self.offset = Some(offset + len as u64);
        Ok(Some(Span {
            format,
            segment,
            path: window.path.clone(),
            offset,
            bytes: window.bytes.clone(),
            range: from..from + len,
        }))
    }

    /// A sealed segment is mapped whole; of the active one what lies between `offset` and the head is read.
    fn window(&self, segment: u32) -> Result<Window> {
        let inner = &self.reader.inner;
        let path = Arc::new(self.reader.path(segment)?);
        if segment < inner.head.segment {
            let bytes = inner
                .storage
                .sealed(&path)
                .map_err(|error| match error.kind() {
                    std::io::ErrorKind::NotFound => self.reader.missing(&path),
                    _ => Error::io("read", &*path)(error),
                })?;
            let end = bytes.len() as u64;
            return Ok(Window {
                path,
                start: 0,
                bytes,
                end,
            });
        }
        let (start, end) = (self.offset.unwrap_or(0), inner.head.end);
        let file = self
            .reader
            .file(segment)?
            .ok_or_else(|| self.reader.missing(&path))?;
        let mut bytes = vec![0; end.saturating_sub(start) as usize];
        file.read_exact_at(&mut bytes, start)
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => Error::Corrupt {
                    path: (*path).clone(),
                    offset: end,
                    seq: Some(inner.head.last_seq),
                    why: "the segment ends before the durable head".into(),
                },
                _ => Error::io("read", &*path)(error),
            })?;
        Ok(Window {
            path,
            start,
            bytes: Bytes::new(bytes),
            end,
        })
    }
}

impl Reader {
    /// The header has to name the segment before by its name and length (its digest is `verify`'s business).
    fn check_previous(&self, header: &SegmentHeader) -> Result<()> {
        let corrupt = |why: String| -> Result<()> {
            Err(Error::Corrupt {
                path: self.path(header.number)?,
                offset: 0,
                seq: Some(header.first_seq),
                why,
            })
        };
        let (number, previous) = (header.number, &header.previous);
        let Some(previous) = previous else {
            return if number == 1 {
                Ok(())
            } else {
                corrupt("its header names no segment before it".into())
            };
        };
        if number == 1 {
            return corrupt("its header names a segment before the first".into());
        }
        let path = self.path(number - 1)?;
        let found = self
            .inner
            .storage
            .stat(&path)
            .map_err(Error::io("stat", &path))?;
        let len = found.map(|stat| stat.len);
        if previous.name != self.name(number - 1)? || Some(previous.len) != len {
            return corrupt(format!(
                "its header does not describe the segment before: it names {} with {} bytes",
                previous.name, previous.len
            ));
        }
        Ok(())
    }
}

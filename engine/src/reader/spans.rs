//! Reads a log span by span.

use super::{BEFORE_HEAD, HEADER_BYTES_MAX, Reader, Span};
use crate::codec::{self, FrameError};
use crate::prelude::*;
use crate::storage::if_there;
use std::io::ErrorKind;

/// The spans of a log, in order; see [`Reader::spans`].
pub struct Spans {
    pub(super) reader: Reader,
    pub(super) about: usize,
    pub(super) segment: u32,
    /// Offset of the next span in `segment`; `None` before the header of the segment was read.
    pub(super) offset: Option<u64>,
    pub(super) sealed: Option<Window>,
    pub(super) failed: bool,
}

/// The part of a segment that is in memory.
#[derive(Clone)]
pub(super) struct Window {
    path: Arc<PathBuf>,
    /// Offset of the first byte of `bytes` in the file.
    start: u64,
    bytes: Bytes,
    /// True if the window ends at the segment's end.
    last: bool,
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
            self.sealed = None;
        }
        None
    }
}

impl Spans {
    /// Returns the next span of the segment; `None` at the segment's end.
    pub(super) fn next_within(&mut self, segment: u32) -> Option<Result<Span>> {
        if self.failed {
            return None;
        }
        let span = self.cut(segment);
        self.failed = span.is_err();
        span.transpose()
    }

    fn cut(&mut self, segment: u32) -> Result<Option<Span>> {
        let format = self.reader.inner.identity.format;
        let mut len = self.about.max(HEADER_BYTES_MAX);
        loop {
            let window = self.window(segment, len)?;
            let offset = match self.offset {
                Some(offset) => offset,
                None => self.behind_header(segment, &window)?,
            };
            self.offset = Some(offset);
            assert!(
                window.start <= offset,
                "the window from byte {} must hold byte {offset}",
                window.start
            );
            let from = (offset - window.start) as usize;
            let rest = window.bytes.get(from..).unwrap_or_default();
            if rest.is_empty() && window.last {
                return Ok(None);
            }
            let whole = match codec::split(format, rest, self.about) {
                Ok(whole) => whole,
                // The window ends within a frame.
                Err((whole, FrameError::Incomplete)) if !window.last && whole > 0 => whole,
                Err((_, FrameError::Incomplete)) if !window.last => {
                    len *= 2;
                    continue;
                }
                Err((at, error)) => {
                    let path = (*window.path).clone();
                    return Err(Error::corrupt(
                        path,
                        offset + at as u64,
                        None,
                        error.to_string(),
                    ));
                }
            };
            assert!(
                (1..=rest.len()).contains(&whole),
                "a span must have whole frames, but has {whole} of {} bytes",
                rest.len()
            );
            self.offset = Some(offset + whole as u64);
            return Ok(Some(Span {
                format,
                refs: self.reader.inner.identity.refs.clone(),
                segment,
                path: window.path,
                offset,
                bytes: window.bytes,
                range: from..from + whole,
            }));
        }
    }

    /// Checks the header and returns the offset after it.
    fn behind_header(&self, segment: u32, window: &Window) -> Result<u64> {
        let reader = &self.reader;
        let (header, len) = reader.check_header(segment, &window.path, &window.bytes)?;
        reader.check_previous(&header)?;
        Ok(len as u64)
    }

    /// Maps a sealed segment whole. Of the active segment, reads about `len` bytes from `offset`, never past the head.
    fn window(&mut self, segment: u32, len: usize) -> Result<Window> {
        if let Some(sealed) = &self.sealed {
            return Ok(sealed.clone());
        }
        let inner = &self.reader.inner;
        let path = Arc::new(self.reader.path(segment)?);
        if segment < inner.head.segment {
            let bytes = if_there(inner.storage.named().sealed(&path))?;
            let bytes = bytes.ok_or_else(|| self.reader.missing(&path))?;
            let window = Window {
                path,
                start: 0,
                bytes,
                last: true,
            };
            return Ok(self.sealed.insert(window).clone());
        }
        let (start, end) = (self.offset.unwrap_or(0), inner.head.end);
        let left = end.saturating_sub(start);
        let file = self
            .reader
            .file(segment)?
            .ok_or_else(|| self.reader.missing(&path))?;
        let wanted = start..start + left.min(len as u64);
        let bytes = file.read_range(wanted).map_err(|error| match error {
            Error::Io { ref source, .. } if source.kind() == ErrorKind::UnexpectedEof => {
                Error::corrupt(&*path, end, inner.head.last_seq, BEFORE_HEAD)
            }
            error => error,
        })?;
        Ok(Window {
            path,
            start,
            last: bytes.len() as u64 == left,
            bytes: Bytes::new(bytes),
        })
    }
}

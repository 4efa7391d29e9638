//! Checks segment headers against the log's identity and against each other.

use super::{HEADER_BYTES_MAX, Reader};
use crate::codec;
use crate::prelude::*;

impl Reader {
    /// Reads and checks the header of a segment.
    pub fn header(&self, segment: u32) -> Result<SegmentHeader> {
        let path = self.path(segment)?;
        let file = self.file(segment)?.ok_or_else(|| self.missing(&path))?;
        let len = file.stat()?.len.min(HEADER_BYTES_MAX as u64);
        Ok(self
            .check_header(segment, &path, &file.read_range(0..len)?)?
            .0)
    }

    pub(super) fn check_header(
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
            return Err(Error::corrupt(path, 0, None, why));
        }
        Ok((header, len))
    }

    /// Checks that a header has the name and the length of the previous segment. (`verify` also checks the digest in the header.)
    pub(crate) fn check_previous(&self, header: &SegmentHeader) -> Result<()> {
        let corrupt = |why: String| -> Result<()> {
            let path = self.path(header.number)?;
            Err(Error::corrupt(path, 0, header.first_seq, why))
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
        let found = self.storage().named().stat(&self.path(number - 1)?)?;
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

/// Reads a segment's header and checks it against the log's identity.
pub(crate) fn read_header(
    identity: &Identity,
    path: &Path,
    bytes: &[u8],
) -> Result<(SegmentHeader, usize)> {
    let (header, len) =
        SegmentHeader::decode(identity.format, bytes).map_err(|error| match error {
            codec::FrameError::Newer(found) => {
                Error::unsupported(path, found, identity.format.version())
            }
            error => Error::corrupt(path, 0, None, format!("its header is unusable: {error}")),
        })?;
    if header.log != identity.log.0 || header.name != identity.name {
        let why = format!(
            "its header names log {} ({})",
            crate::identity::LogId(header.log),
            header.name
        );
        return Err(Error::foreign(path, why));
    }
    Ok((header, len))
}

//! Checks a log from outside: its head, and the names, lengths and headers of its segments. Reads no event.

use super::Report;
use crate::head;
use crate::log::Log;
use crate::prelude::*;
use crate::reader::Reader;
use crate::segment::end_of_log;

/// Largest number of segment headers to read, the newest first. The number is limited because each file stays open while the reader lives.
const HEADERS_MAX: u32 = 128;

impl Log {
    /// Returns the report of [`Log::verify`] for a sound log, from its head and the names, lengths and headers of its newest
    /// segments.
    ///
    /// # Errors
    /// `Corrupt` for any state that a clean close does not leave. Such a state is perhaps harmless; only [`Log::verify`] shows
    /// if the state is damage. I/O.
    pub fn outline(&self, reader: &Reader) -> Result<Report> {
        let head = reader.head();
        let slots = head::read_slots(self.storage().as_ref(), self.dir(), self.identity().log)?;
        let clean = slots.damaged == 0 && slots.newest.as_ref() == Some(head);
        // `head.rotating` needs no check: a rotation that has begun shows as a further segment, and the end of the segment is
        // compared with the head.
        if !clean || head.quarantining || head.cutting || reader.rollback().is_some() {
            return Err(self.unclear(HEAD_FILE));
        }
        let names = reader.segments()?;
        if names != self.listed()? {
            return Err(self.unclear(EVENTS_DIR));
        }
        let mut report = Report::empty();
        for name in &names {
            let path = self.dir().join(EVENTS_DIR).join(name);
            let len = self.storage().named().len(&path)?;
            let active = *name == head.name;
            if active && len != head.end {
                let file = self.storage().named().open(&path, OpenMode::Read)?;
                if end_of_log(self.identity(), &file, head.end)? != head.end {
                    return Err(self.unclear(name));
                }
            }
            report.bytes += if active { head.end } else { len };
        }
        let oldest = head.segment.saturating_sub(HEADERS_MAX).max(1);
        for number in oldest..=head.segment {
            reader.check_previous(&reader.header(number)?)?;
        }
        report.segments = names.len() as u64;
        report.events = head.last_seq;
        report.last_seq = head.last_seq;
        Ok(report)
    }

    /// Lists the directory of segments: the segments in order, then other files.
    fn listed(&self) -> Result<Vec<String>> {
        let format = self.identity().format;
        let dir = self.dir().join(EVENTS_DIR);
        let all = self.storage().named().list_if_there(&dir)?;
        let segments = SegmentName::sorted(&all, format);
        let mut listed: Vec<String> = segments.iter().map(|name| name.file(format)).collect();
        let others = all.into_iter();
        listed.extend(others.filter(|name| SegmentName::parse(name, format).is_none()));
        Ok(listed)
    }

    fn unclear(&self, file: &str) -> Error {
        let why = "a quick check could not confirm this file; run verify to check it";
        Error::corrupt(self.dir().join(file), 0, None, why)
    }
}

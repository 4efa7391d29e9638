//! Names of segments: `YYYY-MM-DD.<ext>`, then `YYYY-MM-DD.x001.<ext>` and so on. The order of the names is the order of the log.

use crate::error::Result;
use crate::identity::{Format, Identity};
use crate::layout::EVENTS_DIR;
use crate::storage::{NamedFile, Storage};
use crate::timestamp::Timestamp;
use std::path::Path;

/// Returns the end of the written bytes in the active segment, at least `from`. If the format allows zeros ahead, this is the
/// end of the last nonzero byte, because no frame ends with a zero; otherwise this is the end of the file.
pub(crate) fn end_of_log(identity: &Identity, segment: &NamedFile, from: u64) -> Result<u64> {
    let len = segment.stat()?.len;
    if !identity.may_prewrite() || len <= from {
        return Ok(len);
    }
    let mut end = from;
    segment.pieces(from..len, |piece, at| {
        if let Some(last) = piece.iter().rposition(|byte| *byte != 0) {
            end = at + last as u64 + 1;
        }
        Ok(())
    })?;
    Ok(end)
}

/// Returns the bytes of the last segment without the zeros ahead. `header` is the number of bytes of its header.
pub(crate) fn written<'a>(identity: &Identity, bytes: &'a [u8], header: usize) -> &'a [u8] {
    if !identity.may_prewrite() {
        return bytes;
    }
    let last = bytes.iter().rposition(|byte| *byte != 0);
    let end = last.map_or(0, |last| last + 1).max(header);
    bytes.get(..end).unwrap_or(bytes)
}

/// The parsed name of a segment. Names are ordered like the segments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentName {
    /// `YYYY-MM-DD`, the UTC day of the segment's events.
    pub day: String,
    /// Number of the segment within its day, from 0.
    pub part: u32,
}

impl SegmentName {
    /// Returns the name of the segment that follows `last`. The new segment is for events of the same day as `at`.
    pub fn next(last: Option<&SegmentName>, at: Timestamp) -> SegmentName {
        let day = at.day();
        match last {
            Some(last) if last.day == day => SegmentName {
                day,
                part: last.part + 1,
            },
            _ => SegmentName { day, part: 0 },
        }
    }

    /// Returns the start of the segment's day, in UTC.
    pub fn midnight(&self) -> Timestamp {
        Timestamp::from_canonical(format!("{}T00:00:00.000000Z", self.day).as_bytes())
            .unwrap_or_default()
    }

    /// Returns the file name.
    pub fn file(&self, format: Format) -> String {
        match self.part {
            0 => format!("{}.{}", self.day, format.extension()),
            part => format!("{}.x{part:03}.{}", self.day, format.extension()),
        }
    }

    /// Parses a file name; `None` unless the name is exactly an output of [`SegmentName::file`].
    pub fn parse(file: &str, format: Format) -> Option<SegmentName> {
        let stem = file.strip_suffix(format.extension())?.strip_suffix('.')?;
        let (day, part) = match stem.split_once(".x") {
            Some((day, part)) => (day, part.parse().ok()?),
            None => (stem, 0),
        };
        let midnight = format!("{day}T00:00:00.000000Z");
        Timestamp::from_canonical(midnight.as_bytes())?;
        let name = SegmentName {
            day: day.to_string(),
            part,
        };
        (name.file(format) == file).then_some(name)
    }

    /// Returns the segment names among the file names, in order.
    pub(crate) fn sorted(files: &[String], format: Format) -> Vec<SegmentName> {
        let parsed = files
            .iter()
            .filter_map(|file| SegmentName::parse(file, format));
        let mut names: Vec<SegmentName> = parsed.collect();
        names.sort();
        names
    }

    /// Lists the segments of the log in `dir`, in order.
    pub(crate) fn list(
        storage: &dyn Storage,
        dir: &Path,
        format: Format,
    ) -> Result<Vec<SegmentName>> {
        let events = dir.join(EVENTS_DIR);
        let files = storage.named().list(&events)?;
        Ok(SegmentName::sorted(&files, format))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_each_other_and_sort_in_order() {
        let day = Timestamp::parse("2026-11-21T23:59:59Z").unwrap();
        let mut names = vec![SegmentName::next(None, day)];
        for _ in 0..1001 {
            names.push(SegmentName::next(names.last(), day));
        }
        names.push(SegmentName::next(names.last(), day.plus_micros(1_000_000)));
        assert_eq!(names[0].file(Format::Jsonl), "2026-11-21.jsonl");
        assert_eq!(names[1].file(Format::Binary), "2026-11-21.x001.tlog");
        assert_eq!(names[1001].file(Format::Jsonl), "2026-11-21.x1001.jsonl");
        assert_eq!(names[1002].file(Format::Jsonl), "2026-11-22.jsonl");
        assert!(names.is_sorted());
        for name in &names {
            assert_eq!(
                SegmentName::parse(&name.file(Format::Jsonl), Format::Jsonl).as_ref(),
                Some(name)
            );
        }
    }

    #[test]
    fn other_names_are_not_segments() {
        let others = [
            "",
            "x.jsonl",
            "2026-11-21",
            "2026-13-21.jsonl",
            "2026-11-21.jsonl.tmp",
            "2026-11-21.x1.jsonl",
            "2026-11-21.x000.jsonl",
            "2026-11-21.x+01.jsonl",
            "2026-11-21.tlog",
            "a2026-11-21.jsonl",
            "2026-02-30.jsonl",
        ];
        for other in others {
            assert_eq!(SegmentName::parse(other, Format::Jsonl), None, "{other}");
        }
    }
}

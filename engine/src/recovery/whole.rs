//! Recovery without a valid head: reads the whole log, and writes a head only if the log is clean to the end.

use super::table::{Before, HeadFound, Past, Position, Verdict, verdict};
use super::{Recovered, RecoveryContext};
use crate::prelude::*;
use crate::segment::written;
use crate::tail;

/// Reads every segment and writes the resulting head.
pub(super) fn rebuild_head(log: &RecoveryContext<'_>) -> Result<Recovered> {
    let mut head = Head::empty();
    let names = log.segments()?;
    for (index, name) in names.iter().enumerate() {
        read_segment(log, &mut head, name, index + 1 == names.len())?;
    }
    assert_eq!(
        head.segment as usize,
        names.len(),
        "the rebuilt head must be in the last segment"
    );
    let mut active = None;
    if head.segment > 0 {
        let path = log.segment_path(&head.name);
        let last = log.storage.named().open(&path, OpenMode::Write)?;
        last.cut_behind(head.end)?;
        // The bytes before the end are perhaps not synced, so they are written again.
        last.write_again(0..head.end)?;
        active = Some(last);
    }
    log.sync_names()?;
    let unnamed = log.unnamed(&head)?;
    head.quarantining = !unnamed.is_empty();
    log.head_file.write(&mut head, true)?;
    let notes = vec![format!(
        "rebuilt the head from the whole log, which is clean up to event {}",
        head.last_seq
    )];
    Ok(Recovered {
        head,
        active,
        unnamed,
        cut: None,
        notes,
    })
}

fn read_segment(
    log: &RecoveryContext<'_>,
    head: &mut Head,
    name: &SegmentName,
    last: bool,
) -> Result<()> {
    let file = name.file(log.identity.format);
    let path = log.segment_path(&file);
    let corrupt = |offset: u64, seq: u64, why: String| {
        let why = format!("{why}; no valid head says where the durable part of the log ends");
        Error::corrupt(&path, offset, seq, why)
    };
    let bytes = log.storage.named().sealed(&path)?;
    let (header, len) = SegmentHeader::decode(log.identity.format, &bytes).map_err(|error| {
        corrupt(
            0,
            head.last_seq + 1,
            format!("its header is unusable: {error}"),
        )
    })?;
    if !log.continues(&header, head)? {
        return Err(corrupt(
            0,
            head.last_seq + 1,
            "its header does not continue the segment before".into(),
        ));
    }
    let bytes = match last {
        true => written(log.identity, &bytes, len),
        false => &bytes,
    };
    let content = bytes.get(len..).unwrap_or_default();
    let (encoding, start) = (log.identity.into(), len as u64);
    let tail = tail::read_tail(encoding, content, start, head.last(), |_, _| {});
    let found = verdict(
        HeadFound::None,
        Before::Intact,
        Position::Last,
        Past::from_tail(&tail),
    );
    if found == Verdict::Corrupt || (!last && tail.broken.is_some()) {
        let (offset, seq, why) = match &tail.broken {
            Some(broken) => (broken.offset, broken.seq, broken.why.clone()),
            None => (len as u64, head.last_seq + 1, "it cannot be read".into()),
        };
        return Err(corrupt(offset, seq, why));
    }
    head.segment = header.number;
    head.name = file;
    head.end = bytes.len() as u64;
    if let Some(group) = tail.groups.last() {
        assert!(
            group.last_seq > head.last_seq,
            "a group that ends with event {} must follow event {}",
            group.last_seq,
            head.last_seq
        );
        head.last_seq = group.last_seq;
        head.last_id = Some(group.last_id);
    }
    Ok(())
}

//! Recovery without a valid head: the whole log is read, and a head is written only if it is clean to the end.

use super::{LockedLog, Recovered, past_without_head, quarantine, table::Verdict, tail};
use crate::codec::{Predecessor, SegmentHeader};
use crate::error::{Error, Result};
use crate::head::Head;
use crate::segment::SegmentName;
use crate::sequence::LastEvent;
use crate::storage::Open;

/// How the header of the segment behind `head`'s has to describe it; `None` if there is no segment yet.
pub(super) fn predecessor(log: &LockedLog<'_>, head: &Head) -> Result<Option<Predecessor>> {
    if head.segment == 0 {
        return Ok(None);
    }
    let path = log.segment_path(&head.name);
    let bytes = log.storage.sealed(&path).map_err(Error::io("read", path))?;
    let digest = *blake3::hash(&bytes).as_bytes();
    Ok(Some(Predecessor {
        name: head.name.clone(),
        len: bytes.len() as u64,
        digest,
    }))
}

/// Reads every segment and writes the head that they amount to.
pub(super) fn rebuild_head(log: &LockedLog<'_>) -> Result<Recovered> {
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
    let active = match head.segment {
        0 => None,
        _ => Some(rewrite_last(log, &head)?),
    };
    log.sync_names()?;
    let unnamed = quarantine::unnamed(log, &head)?;
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
    log: &LockedLog<'_>,
    head: &mut Head,
    name: &SegmentName,
    last: bool,
) -> Result<()> {
    let file = name.file(log.identity.format);
    let path = log.segment_path(&file);
    let corrupt = |offset: u64, seq: u64, why: String| {
        let why = format!("{why}, and no valid head says how far the log was durable");
        Error::Corrupt {
            path: path.clone(),
            offset,
            seq: Some(seq),
            why,
        }
    };
    let bytes = log
        .storage
        .sealed(&path)
        .map_err(Error::io("read", &path))?;
    let (header, len) = SegmentHeader::decode(log.identity.format, &bytes).map_err(|error| {
        corrupt(
            0,
            head.last_seq + 1,
            format!("its header is unusable: {error}"),
        )
    })?;
    let fits = header.log == log.identity.log.0
        && header.number == head.segment + 1
        && header.first_seq == head.last_seq + 1
        && header.previous == predecessor(log, head)?;
    if !fits {
        return Err(corrupt(
            0,
            head.last_seq + 1,
            "its header does not continue the segment before".into(),
        ));
    }
    let position = LastEvent {
        seq: head.last_seq,
        id: head.last_id,
    };
    let content = bytes.get(len..).unwrap_or_default();
    let tail = tail::read_tail(
        log.identity.format,
        content,
        len as u64,
        position,
        |_, _| {},
    );
    if past_without_head(&tail) == Verdict::Corrupt || (!last && tail.broken.is_some()) {
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
        head.last_seq = group.last_seq;
        head.last_id = Some(group.last_id);
    }
    Ok(())
}

/// It is unknown which bytes were synced, so all of the last segment is written again.
fn rewrite_last(log: &LockedLog<'_>, head: &Head) -> Result<Box<dyn crate::storage::File>> {
    let path = log.segment_path(&head.name);
    let file = log
        .storage
        .open(&path, Open::Write)
        .map_err(Error::io("open", &path))?;
    let bytes = log.read_range(file.as_ref(), &head.name, 0, head.end)?;
    file.write_all_at(&bytes, 0)
        .map_err(Error::io("write", &path))?;
    file.sync_all().map_err(Error::io("sync", &path))?;
    Ok(file)
}

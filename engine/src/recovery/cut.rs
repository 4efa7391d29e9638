//! Finishes a cut: a head with its flag *cutting* ends the log at the place that an operator chose.
//!
//! The next process that takes the lock removes the bytes after that head and records the event, which clears the flag.
//! A crash in between changes nothing: the next process that opens the log starts again.

use super::{Recovered, RecoveryContext};
use crate::layout::{ARCHIVE_DIR, SHORTENED_FILE};
use crate::prelude::*;

/// File that describes a cut, in the cut's archive.
pub(crate) const NOTE: &str = "cut.json";
const NOTE_BYTES_MAX: u64 = 64 << 10;

/// Description of a cut: the payload of its event, and the content of the note in its archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cut {
    /// Seq of the last event that stayed.
    pub to: u64,
    /// Directory of the originals, relative to the log's directory; `null` if they no longer exist.
    pub archive: Option<String>,
    /// Bytes removed.
    pub bytes: u64,
    /// Number of removed events that could be read.
    pub events: u64,
    /// The operator that asked for the cut.
    pub actor: String,
    /// Generation of the head before the cut.
    pub generation: u64,
    /// Seq of the last acknowledged event, if it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_seq: Option<u64>,
}

/// Returns the preferred name of the archive for a cut after the event `to`.
pub(crate) fn archive_name(to: u64) -> String {
    format!("cut-after-{to}")
}

/// Removes the bytes after a head with the flag *cutting*. The call can be repeated.
pub(super) fn finish(log: &RecoveryContext<'_>, mut head: Head) -> Result<Recovered> {
    assert!(
        head.cutting,
        "nothing was cut after event {}",
        head.last_seq
    );
    let storage = log.storage.as_ref();
    log.sweep()?;
    let format = log.identity.format;
    for name in log.segments()?.iter().map(|name| name.file(format)) {
        let path = log.segment_path(&name);
        if is_behind(log, &name, &head.name) {
            storage.named().remove_file(&path)?;
        }
    }
    log.sync_names()?;
    let path = log.segment_path(&head.name);
    let file = storage.named().open(&path, OpenMode::Write)?;
    let len = file.stat()?.len;
    if len < head.end {
        return Err(head.cut_short(&path, len));
    }
    let file = match len > head.end {
        true => shortened(log, &file, head.end)?,
        false => file,
    };
    head.rotating = false;
    let cut = found(storage, log.dir, &head)?;
    let kept = cut
        .archive
        .as_deref()
        .unwrap_or("an archive that was removed");
    let notes = vec![format!(
        "cut the log after event {}; the original is in {kept}",
        cut.to
    )];
    Ok(Recovered {
        head,
        active: Some(file),
        unnamed: Vec::new(),
        cut: Some(cut),
        notes,
    })
}

/// Replaces a segment by a new file with the remaining bytes. The old file is not cut, because other processes may have mapped
/// the segment as sealed, and reading the map past the end of the file would kill these processes.
fn shortened(log: &RecoveryContext<'_>, file: &NamedFile, end: u64) -> Result<NamedFile> {
    let storage = log.storage.named();
    let aside = log.dir.join(SHORTENED_FILE);
    storage.replace(&aside, &file.read_range(0..end)?)?;
    storage.rename(&aside, &file.path)?;
    log.sync_names()?;
    storage.open(&file.path, OpenMode::Write)
}

fn is_behind(log: &RecoveryContext<'_>, name: &str, last: &str) -> bool {
    let parse = |name| SegmentName::parse(name, log.identity.format);
    parse(name) > parse(last)
}

/// Returns the archive's newest note about a cut that ended the log at `head`.
fn found(storage: &dyn Storage, dir: &Path, head: &Head) -> Result<Cut> {
    let archive = dir.join(ARCHIVE_DIR);
    let mut newest: Option<Cut> = None;
    let own = archive_name(head.last_seq);
    for name in storage.named().list_if_there(&archive)? {
        let ours = name
            .strip_prefix(&own)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if !ours || name.ends_with(".tmp") {
            continue;
        }
        let read = storage.read(&archive.join(&name).join(NOTE), NOTE_BYTES_MAX);
        let Some(cut) = read
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Cut>(&bytes).ok())
        else {
            continue;
        };
        // A cut that was prepared but not decided has the same generation as the decided cut, or an earlier one.
        let newer = newest
            .as_ref()
            .is_none_or(|newest| newest.generation <= cut.generation);
        if cut.to == head.last_seq && cut.generation < head.generation && newer {
            newest = Some(Cut {
                archive: Some(format!("{ARCHIVE_DIR}/{name}")),
                ..cut
            });
        }
    }
    Ok(newest.unwrap_or(Cut {
        to: head.last_seq,
        archive: None,
        bytes: 0,
        events: 0,
        actor: ENGINE_ACTOR.to_owned(),
        generation: head.generation,
        known_seq: None,
    }))
}

//! The quarantine: bytes that were cut from a log, kept for people. An event names each file.

use super::RecoveryContext;
use crate::layout::{QUARANTINE_DIR, QUARANTINED};
use crate::prelude::*;
use crate::reader::Reader;
use std::collections::HashSet;

/// Description of a quarantine file, in its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// File name in `quarantine/`: segment, offset, and the start of its digest.
    pub file: String,
    /// Segment from which the bytes were cut.
    pub segment: String,
    /// Offset of the bytes in the segment.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    /// BLAKE3 of the bytes, lower-case hex.
    pub blake3: String,
}

impl Quarantined {
    fn new(segment: &str, offset: u64, bytes: &[u8]) -> Quarantined {
        let blake3 = blake3::hash(bytes).to_hex().to_string();
        let file = format!("{segment}.{offset}.{}", &blake3[..16]);
        Quarantined {
            file,
            segment: segment.into(),
            offset,
            length: bytes.len() as u64,
            blake3,
        }
    }
}

/// Writes `bytes` durably. The name is derived from the content, so the call can be repeated.
pub(super) fn keep(
    log: &RecoveryContext<'_>,
    segment: &str,
    offset: u64,
    bytes: &[u8],
) -> Result<Quarantined> {
    assert!(
        !bytes.is_empty(),
        "something must be set aside from byte {offset} of {segment}"
    );
    let quarantined = Quarantined::new(segment, offset, bytes);
    let dir = log.dir.join(QUARANTINE_DIR);
    let storage = log.storage.named();
    storage.create_dir(&dir)?;
    storage.sync_dir(log.dir)?;
    storage.replace(&dir.join(&quarantined.file), bytes)?;
    Ok(quarantined)
}

/// Returns the quarantine files that no event of the log names. Reads the whole log, so call this only after an unfinished
/// recovery.
pub(crate) fn unnamed(reader: &Reader) -> Result<Vec<Quarantined>> {
    let storage = reader.storage().named();
    let dir = reader.dir().join(QUARANTINE_DIR);
    let mut files = storage.list_if_there(&dir)?;
    files.retain(|name| !name.ends_with(".tmp"));
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let named = named(reader)?;
    let mut unnamed = Vec::new();
    for file in files.iter().filter(|file| !named.contains(*file)) {
        let bytes = storage.sealed(&dir.join(file))?;
        // Only files of a recovery name a place in a segment.
        if let Some((segment, offset)) = origin(file) {
            let found = Quarantined::new(&segment, offset, &bytes);
            if found.file == *file {
                unnamed.push(found);
            }
        }
    }
    Ok(unnamed)
}

fn origin(file: &str) -> Option<(String, u64)> {
    let (rest, _) = file.rsplit_once('.')?;
    let (segment, offset) = rest.rsplit_once('.')?;
    Some((segment.to_string(), offset.parse().ok()?))
}

fn named(reader: &Reader) -> Result<HashSet<String>> {
    let mut named = HashSet::new();
    for event in reader.events(None) {
        let (_, _, event) = event?;
        if event.kind == QUARANTINED
            && let Ok(quarantined) = serde_json::from_str::<Quarantined>(&event.payload)
        {
            named.insert(quarantined.file);
        }
    }
    Ok(named)
}

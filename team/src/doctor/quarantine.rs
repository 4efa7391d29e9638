//! Check `quarantine`: recovery cuts bytes off a log and moves them into files of the quarantine. An event of the log must name each file.

use super::*;
use std::io::ErrorKind;
use teamlog_engine::internals::layout::{QUARANTINE_DIR, QUARANTINED};
use teamlog_engine::internals::receipt::hex_digest;
use teamlog_engine::internals::recovery::Quarantined;

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let dir = seen.dir.join(QUARANTINE_DIR);
    let storage = seen.root.storage();
    let mut files = match storage.list(&dir) {
        Ok(files) => files,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Check::healthy("the quarantine is empty"));
        }
        Err(error) => return Err(error_text(error)),
    };
    files.retain(|name| !name.ends_with(".tmp"));
    if files.is_empty() {
        return Ok(Check::healthy("nothing is set aside"));
    }
    let named = match seen.sampled {
        None => Some(named(borrowed(&seen.reader)?).map_err(error_text)?),
        Some(_) => None,
    };
    let (mut unnamed, mut changed, mut bytes) = (Vec::new(), Vec::new(), 0);
    for file in &files {
        let content = storage.sealed(&dir.join(file));
        let content = content.map_err(|error| format!("{file}: {error}"))?;
        bytes += content.len() as u64;
        let digest = hex_digest(&content);
        let event = named
            .as_ref()
            .map(|named| named.iter().find(|named| named.file == *file));
        match event {
            _ if !is_as_named(file, &digest) => changed.push(file.as_str()),
            Some(None) => unnamed.push(file.as_str()),
            Some(Some(named)) if named.blake3 != digest => changed.push(file.as_str()),
            Some(Some(_)) | None => {}
        }
    }
    let check = match (changed.first(), unnamed.first()) {
        (Some(first), _) => Check::unhealthy(format!(
            "{first} was changed after it was put into quarantine"
        )),
        (None, Some(first)) => {
            Check::warn(format!("no event of the log names {first}")).recommend(seen.rehydrate())
        }
        (None, None) if named.is_none() => {
            let count = files.len();
            Check::healthy(format!(
                "{count} files match the digests in their names; --deep compares them with the log"
            ))
        }
        (None, None) => Check::healthy(format!("{} files are unchanged", files.len())),
    };
    let count = files.len();
    Ok(check
        .details(json!({"files": count, "bytes": bytes, "unnamed": unnamed, "changed": changed})))
}

/// Compares a digest with the 16 digits at the end of a file's name. A name without digits matches every digest.
fn is_as_named(file: &str, digest: &str) -> bool {
    let end = file.rsplit_once('.').map_or("", |(_, end)| end);
    let is_digest = end.len() == 16 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_digest || digest.starts_with(end)
}

/// Returns the quarantined files that the log's events name.
fn named(reader: &Reader) -> Result<Vec<Quarantined>, Error> {
    let mut named = Vec::new();
    for event in reader.events(None) {
        let (_, _, event) = event?;
        if event.kind == QUARANTINED
            && let Ok(quarantined) = serde_json::from_str(&event.payload)
        {
            named.push(quarantined);
        }
    }
    Ok(named)
}

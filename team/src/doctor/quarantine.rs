//! The quarantine: what recovery cut off lies there as it was, and an event of the log names each file.

use super::scene::Scene;
use super::{Check, Health};
use serde_json::json;
use std::io::ErrorKind;
use teamlog_engine::layout::{QUARANTINE_DIR, QUARANTINED};
use teamlog_engine::recovery::Quarantined;

const NAME: &str = "quarantine";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let dir = scene.dir.join(QUARANTINE_DIR);
    let storage = scene.root.storage();
    let mut files = match storage.list(&dir) {
        Ok(files) => files,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Check::healthy(NAME, "nothing was ever set aside");
        }
        Err(error) => return Check::not_made(NAME, &error.to_string()),
    };
    files.retain(|name| !name.ends_with(".tmp"));
    if files.is_empty() {
        return Check::healthy(NAME, "nothing is set aside");
    }
    let named = match named(scene) {
        Ok(named) => named,
        Err(why) => return Check::not_made(NAME, &why),
    };
    let (mut unnamed, mut changed, mut bytes) = (Vec::new(), Vec::new(), 0);
    for file in &files {
        let content = match storage.sealed(&dir.join(file)) {
            Ok(content) => content,
            Err(error) => return Check::not_made(NAME, &format!("{file}: {error}")),
        };
        bytes += content.len() as u64;
        match named.iter().find(|named| named.file == *file) {
            None => unnamed.push(file.as_str()),
            Some(named) if named.blake3 != blake3_hex(&content) => changed.push(file.as_str()),
            Some(_) => {}
        }
    }
    let check = match (changed.first(), unnamed.first()) {
        (Some(first), _) => {
            let summary = format!("{first} is not what was set aside: it was changed since");
            Check::new(NAME, Health::Unhealthy, summary)
        }
        (None, Some(first)) => {
            let summary = format!("no event of the log names {first}");
            Check::new(NAME, Health::Warn, summary).recommend(scene.rehydrate())
        }
        (None, None) => Check::healthy(
            NAME,
            format!("{} files, each as it was set aside", files.len()),
        ),
    };
    check
        .detail("files", files.len())
        .detail("bytes", bytes)
        .detail("unnamed", json!(unnamed))
        .detail("changed", json!(changed))
}

fn blake3_hex(bytes: &[u8]) -> String {
    teamlog_engine::receipt::digest_of(bytes)
}

/// What the log says of the quarantine.
fn named(scene: &Scene<'_>) -> Result<Vec<Quarantined>, String> {
    let reader = scene.reader.as_ref().map_err(Clone::clone)?;
    let mut named = Vec::new();
    for event in reader.events(None) {
        let (_, _, event) = event.map_err(|error| error.to_string())?;
        if event.kind == QUARANTINED
            && let Ok(quarantined) = serde_json::from_str(&event.payload)
        {
            named.push(quarantined);
        }
    }
    Ok(named)
}

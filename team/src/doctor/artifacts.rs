//! Check `artifacts`: artifacts with missing or changed files. A full check reads every file. A quick check compares the
//! lengths of some files.

use super::*;
use crate::artifact::{ARTIFACT_BYTES_MAX, is_whole};
use crate::projections::artifact::Artifact;
use teamlog_engine::storage::Stat;

/// Maximum number of artifacts that a quick check compares.
const QUICK_MAX: usize = 100;

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let quick = seen.sampled.is_some();
    let most = if quick { QUICK_MAX } else { usize::MAX };
    let artifacts = borrowed(&seen.fresh)?.artifacts(None, None, most);
    let artifacts = artifacts.map_err(error_text)?;
    let is_damaged = |artifact: &&Artifact| {
        let path = seen.dir.join(artifact.stored.path());
        // An artifact of another host has no local file until the artifact is first read from the
        // journal.
        if seen.has_journal() && matches!(seen.root.storage().stat(&path), Ok(None)) {
            return false;
        }
        if quick {
            let stat = seen.root.storage().stat(&path);
            let is_there = |stat: Stat| !stat.is_dir && stat.len == artifact.stored.size;
            return !stat.is_ok_and(|stat| stat.is_some_and(is_there));
        }
        let bytes = seen.root.storage().read(&path, ARTIFACT_BYTES_MAX);
        !bytes.is_ok_and(|bytes| is_whole(artifact, &bytes))
    };
    let damaged: Vec<&Artifact> = artifacts.iter().filter(is_damaged).collect();
    let all = artifacts.len();
    let check = match damaged.first() {
        None if quick => Check::healthy(format!(
            "the files of {all} artifacts have the right length"
        )),
        None => Check::healthy(format!("the files of {all} artifacts are intact")),
        Some(first) => Check::unhealthy(format!(
            "{} of {all} artifacts have a missing or changed file: {}",
            damaged.len(),
            first.stored.path()
        ))
        .recommend(seen.command("artifact list", "")),
    };
    let listed = damaged.iter().take(LISTED_MAX);
    let listed: Vec<Value> = listed
        .map(|one| json!({"name": one.stored.name, "path": one.stored.path()}))
        .collect();
    Ok(check.details(json!({"artifacts": all, "damaged": damaged.len(), "files": listed})))
}

//! Artifacts whose files are not what was left: gone, or of other bytes. Every one of them is read.

use super::scene::Scene;
use super::{Check, Health};
use crate::artifact::{ARTIFACT_BYTES_MAX, is_whole};
use crate::projections::artifact::Artifact;
use serde_json::{Value, json};

const NAME: &str = "artifacts";
/// No more of them than this are listed.
const LISTED_MAX: usize = 20;

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let live = match &scene.fresh {
        Ok(live) => live,
        Err(why) => return Check::not_made(NAME, why),
    };
    let artifacts = match live.artifacts(None, None, usize::MAX) {
        Ok(artifacts) => artifacts,
        Err(error) => return Check::not_made(NAME, &error.to_string()),
    };
    let damaged: Vec<&Artifact> = artifacts
        .iter()
        .filter(|artifact| !is_there(scene, artifact))
        .collect();
    let check = match damaged.first() {
        None => Check::healthy(NAME, format!("{} artifacts, all whole", artifacts.len())),
        Some(first) => {
            let summary = format!(
                "{} of {} artifacts are gone or hold something else: {}",
                damaged.len(),
                artifacts.len(),
                first.stored.path()
            );
            Check::new(NAME, Health::Unhealthy, summary)
                .recommend(scene.command("artifact list", ""))
        }
    };
    let listed: Vec<Value> = damaged
        .iter()
        .take(LISTED_MAX)
        .map(|one| json!({"name": one.stored.name, "path": one.stored.path()}))
        .collect();
    check
        .detail("artifacts", artifacts.len())
        .detail("damaged", damaged.len())
        .detail("files", listed)
}

fn is_there(scene: &Scene<'_>, artifact: &Artifact) -> bool {
    let path = scene.dir.join(artifact.stored.path());
    let bytes = scene.root.storage().read(&path, ARTIFACT_BYTES_MAX);
    bytes.is_ok_and(|bytes| is_whole(artifact, &bytes))
}

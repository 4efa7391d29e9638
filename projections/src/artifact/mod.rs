//! Artifacts: what was left last under each name. The bytes lie beside the log.

pub mod event;
mod query;

use crate::artifact::event::{ArtifactFact, ArtifactKind, ArtifactStored};
use crate::prelude::*;

/// By name: the artifact.
const ARTIFACT: u8 = 0x4E;
/// By kind and name: that there is one.
const BY_KIND: u8 = 0x4F;

/// An artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// What was recorded of it.
    pub stored: ArtifactStored,
    /// How many versions it has had.
    pub versions: u64,
    /// The event that recorded the last of them.
    pub seq: u64,
    /// When that was.
    pub at: Timestamp,
}

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct ArtifactRow {
    seq: u64,
    at: i64,
    versions: u64,
    kind: ArtifactKind,
    digest: String,
    size: u64,
    task_id: Option<String>,
    worker: Option<String>,
}
row!(ArtifactRow);

/// The fold.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Artifact(fact) = recorded.fact else {
        return Ok(());
    };
    let ArtifactFact::Stored(stored) = &**fact;
    let key = key_of(ARTIFACT, stored.name.as_bytes());
    let before: Option<ArtifactRow> = tx.get(&key)?;
    if let Some(before) = before.as_ref().filter(|before| before.kind != stored.kind) {
        tx.delete(&by_kind(before.kind, &stored.name));
    }
    tx.mark(&by_kind(stored.kind, &stored.name));
    let row = ArtifactRow {
        seq: recorded.event.seq,
        at: recorded.event.created_at.micros(),
        versions: before.map_or(0, |before| before.versions) + 1,
        kind: stored.kind,
        digest: stored.digest.clone(),
        size: stored.size,
        task_id: stored.task_id.clone(),
        worker: stored.worker.clone(),
    };
    tx.put(&key, &row);
    Ok(())
}

fn by_kind(kind: ArtifactKind, name: &str) -> Vec<u8> {
    [&kind_prefix(kind), name.as_bytes()].concat()
}

/// How keys name a kind; never changed.
fn kind_prefix(kind: ArtifactKind) -> [u8; 2] {
    let number = match kind {
        ArtifactKind::Summaries => 1,
        ArtifactKind::Patches => 2,
    };
    [BY_KIND, number]
}

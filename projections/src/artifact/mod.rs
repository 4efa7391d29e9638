//! Artifacts: what was left last under each name. The bytes lie beside the log.

pub use crate::event::artifact as event;
mod query;

use crate::event::artifact::{ArtifactFact, ArtifactKind, ArtifactStored};
use crate::prelude::*;

/// By name: the artifact.
const ARTIFACT: u8 = 0x4E;
/// By kind and name: that there is one.
const BY_KIND: u8 = 0x4F;

/// An artifact.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Artifact {
    /// The event that recorded its last version.
    pub seq: u64,
    /// When that was.
    pub at: Timestamp,
    /// How many versions it has had.
    pub versions: u64,
    /// What was recorded of it.
    pub stored: ArtifactStored,
}
row!(Artifact);

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Artifact(fact) = recorded.fact else {
        return Ok(());
    };
    let ArtifactFact::Stored(stored) = &**fact;
    let key = key_of(ARTIFACT, stored.name.as_bytes());
    let before: Option<Artifact> = tx.get(&key)?;
    if let Some(before) = before
        .as_ref()
        .filter(|before| before.stored.kind != stored.kind)
    {
        tx.delete(&by_kind(before.stored.kind, &stored.name));
    }
    tx.mark(&by_kind(stored.kind, &stored.name));
    let row = Artifact {
        seq: recorded.event.seq,
        at: recorded.event.created_at,
        versions: before.map_or(0, |before| before.versions) + 1,
        stored: stored.clone(),
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

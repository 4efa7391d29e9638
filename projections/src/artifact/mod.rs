//! Artifacts: the last version under each name. Their contents are files in the team's directory.

pub use crate::event::artifact as event;
mod query;

use crate::event::artifact::{ArtifactFact, ArtifactKind, ArtifactStored};
use crate::prelude::*;

/// Namespace of artifacts; key: name.
const ARTIFACT: u8 = 0x4E;
/// Namespace of markers of existing artifacts; key: kind and name.
const BY_KIND: u8 = 0x4F;

/// An artifact.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Artifact {
    /// Event that recorded the last version.
    pub seq: u64,
    /// Time of the event that recorded the last version.
    pub at: Timestamp,
    /// Number of versions so far.
    pub versions: u64,
    /// Recorded fields of the last version.
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

/// Returns the key prefix of a kind. The number of a kind in the prefix never changes.
fn kind_prefix(kind: ArtifactKind) -> [u8; 2] {
    let number = match kind {
        ArtifactKind::Summaries => 1,
        ArtifactKind::Patches => 2,
    };
    [BY_KIND, number]
}

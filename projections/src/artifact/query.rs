//! Questions about artifacts.

use super::{ARTIFACT, Artifact, ArtifactRow, kind_prefix};
use crate::artifact::event::{ArtifactKind, ArtifactStored};
use crate::prelude::*;

impl Live {
    /// What was last left under a name.
    pub fn artifact(&self, name: &str) -> Result<Option<Artifact>> {
        let row: Option<ArtifactRow> = self.rows().get(&key_of(ARTIFACT, name.as_bytes()))?;
        Ok(row.map(|row| shown(name.to_owned(), row)))
    }
    /// Artifacts by name, of one kind or of all, from behind `after` on.
    pub fn artifacts(
        &self,
        kind: Option<ArtifactKind>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Artifact>> {
        let prefix = match kind {
            None => vec![ARTIFACT],
            Some(kind) => kind_prefix(kind).to_vec(),
        };
        let from = match after {
            None => prefix.clone(),
            // The next key there can be.
            Some(after) => [&prefix, after.as_bytes(), &[0]].concat(),
        };
        let mut found = Vec::new();
        for entry in self.rows().walk(&from, &end_of(&prefix), false).take(limit) {
            let entry: Entry<'_> = entry?;
            let name = String::from_utf8_lossy(entry.behind(prefix.len())).into_owned();
            match kind {
                None => found.push(shown(name, entry.row()?)),
                Some(_) => found.extend(self.artifact(&name)?),
            }
        }
        Ok(found)
    }
}

fn shown(name: String, row: ArtifactRow) -> Artifact {
    Artifact {
        stored: ArtifactStored {
            name,
            kind: row.kind,
            digest: row.digest,
            size: row.size,
            task_id: row.task_id,
            worker: row.worker,
        },
        versions: row.versions,
        seq: row.seq,
        at: time(row.at),
    }
}

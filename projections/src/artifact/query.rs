//! Queries of artifacts.

use super::{ARTIFACT, Artifact, kind_prefix};
use crate::event::artifact::ArtifactKind;
use crate::prelude::*;

impl TeamState {
    /// Returns the last version under a name.
    pub fn artifact(&self, name: &str) -> Result<Option<Artifact>> {
        let found = self.rows().get(&key_of(ARTIFACT, name.as_bytes()))?;
        Ok(found.map(|artifact| named(artifact, name)))
    }
    /// Returns artifacts sorted by name, of one kind or of all, starting after the name `after`.
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
        let mut found = Vec::new();
        for entry in self.rows().behind(&prefix, after).take(limit) {
            let entry = entry?;
            let name = entry.name(prefix.len());
            match kind {
                None => found.push(named(entry.row()?, &name)),
                Some(_) => found.extend(self.artifact(&name)?),
            }
        }
        Ok(found)
    }
}

fn named(mut artifact: Artifact, name: &str) -> Artifact {
    artifact.stored.name = name.to_owned();
    artifact
}

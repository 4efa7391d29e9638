//! Artifacts: files that agents leave for others, and the JSON of what is recorded of them. Their bytes lie beside the log.

use super::*;

events! {
    /// What is recorded of artifacts.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum ArtifactFact {
        /// An artifact was stored, with its digest and size.
        "artifact_stored" by "teamlog artifact put TEAM" => Stored:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        ArtifactStored [digest digest, name name, name task_id, name worker] {
            /// Its name, which rows have in their keys.
            #[rkyv(with = Skip)]
            pub name: String,
            /// What it is.
            pub kind: ArtifactKind,
            /// BLAKE3 of its bytes, lower-case hex.
            pub digest: String,
            /// How many bytes it has.
            pub size: u64,
            /// The task that it belongs to.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub task_id: Option<String>,
            /// Who left it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub worker: Option<String>,
        },
    }
}

words! {
    /// What an artifact is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum ArtifactKind {
        /// What somebody found out.
        Summaries = "summaries",
        /// A change of code.
        Patches = "patches",
    }
}

impl ArtifactFact {
    /// The event that records it; `trace` is that of the task.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> NewEvent {
        let ArtifactFact::Stored(stored) = self;
        let refs = [
            (RefKind::Agent, stored.worker.as_deref()),
            (RefKind::Task, stored.task_id.as_deref()),
            (RefKind::Trace, trace),
        ];
        event(self.kind(), actor, write(self), refs)
    }
}

impl ArtifactStored {
    /// Where its bytes lie, relative to the team's directory. Another version of it lies elsewhere.
    pub fn path(&self) -> String {
        let begins = self.digest.get(..16).unwrap_or(&self.digest);
        format!("{DIR}/{}/{begins}-{}", self.kind.name(), self.name)
    }
}

/// The directory of artifacts.
pub const DIR: &str = "artifacts";

//! Artifacts: files that agents leave for others, and the JSON of their events. The files lie in the team's directory,
//! outside the log.

use super::*;

events! {
    /// Events of artifacts.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum ArtifactFact {
        /// An artifact was stored, with its digest and size.
        "artifact_stored" by "teamlog artifact put TEAM" => Stored:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        ArtifactStored [digest digest, name name, name task_id, name worker] {
            /// Name of the artifact; rows have the name in their keys.
            #[rkyv(with = Skip)]
            pub name: String,
            /// Sort of artifact.
            pub kind: ArtifactKind,
            /// BLAKE3 of the content, as lower-case hex.
            pub digest: String,
            /// Size in bytes.
            pub size: u64,
            /// Task of the artifact, if any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub task_id: Option<String>,
            /// Worker who stored the artifact, if known.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub worker: Option<String>,
        },
    }
}

words! {
    /// Sort of artifact.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum ArtifactKind {
        /// Findings, written for others.
        Summaries = "summaries",
        /// Code changes.
        Patches = "patches",
    }
}

impl ArtifactFact {
    /// Builds the event; `trace` is the trace id of the task.
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
    /// Returns the path of the content, relative to the team's directory. Each version of an artifact has a path of its
    /// own.
    pub fn path(&self) -> String {
        let begins = self.digest.get(..16).unwrap_or(&self.digest);
        format!("{DIR}/{}/{begins}-{}", self.kind.name(), self.name)
    }
}

/// Directory of artifacts.
pub const DIR: &str = "artifacts";

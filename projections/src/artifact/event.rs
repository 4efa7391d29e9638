//! Artifacts: files that agents leave for others, and the JSON of what is recorded of them.
//!
//! | kind | payload |
//! |---|---|
//! | `artifact_stored` | `{name, kind, digest, size, task_id?, worker?}`; the bytes lie beside the log |

use crate::fact::event;
use crate::fact::stored::{Decoded, name, read, write};
use crate::words;
use serde::{Deserialize, Serialize};
use teamlog_engine::{NewEvent, RefKind};

pub(crate) const STORED: &str = "artifact_stored";

/// Letters of a digest: BLAKE3 in lower-case hex.
const DIGEST_LETTERS: usize = 64;

words! {
    /// What an artifact is.
    #[derive(
        Debug,
        Clone,
        Copy,
        PartialEq,
        Eq,
        Serialize,
        Deserialize,
        schemars::JsonSchema,
        rkyv::Archive,
        rkyv::Serialize,
        rkyv::Deserialize,
    )]
    #[serde(rename_all = "lowercase")]
    pub enum ArtifactKind {
        /// What somebody found out.
        Summaries = "summaries",
        /// A change of code.
        Patches = "patches",
    }
}

/// `artifact_stored`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactStored {
    /// Its name.
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
}

pub(crate) fn parse(payload: &str) -> Decoded<ArtifactStored> {
    let stored: ArtifactStored = read(payload)?;
    name("name", &stored.name)?;
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if stored.digest.len() != DIGEST_LETTERS || !stored.digest.bytes().all(hex) {
        return Err("digest is none".to_owned());
    }
    for (field, value) in [("task_id", &stored.task_id), ("worker", &stored.worker)] {
        if let Some(value) = value {
            name(field, value)?;
        }
    }
    Ok(stored)
}

impl ArtifactStored {
    /// The event that records it; `trace` is that of the task.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> NewEvent {
        let mut event = event(STORED, actor, write(self));
        event.refs.set_given([
            (RefKind::Agent, self.worker.as_deref()),
            (RefKind::Task, self.task_id.as_deref()),
            (RefKind::Trace, trace),
        ]);
        event
    }

    /// Where its bytes lie, relative to the team's directory. Another version of it lies elsewhere.
    pub fn path(&self) -> String {
        let begins = self.digest.get(..16).unwrap_or(&self.digest);
        format!("{DIR}/{}/{begins}-{}", self.kind.name(), self.name)
    }
}

/// The directory of artifacts.
pub const DIR: &str = "artifacts";

//! Scripted projections, and the JSON of their events. A log holds the whole script, so that every reader can fold it.

use super::*;

events! {
    /// Events of scripted projections.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum ScriptFact {
        /// A scripted projection was declared, or declared again with other rules.
        "projection_declared" by "teamlog project TEAM NAME" => Declared:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        ProjectionDeclared [name name] {
            /// Name of the projection; rows have the name in their keys.
            #[rkyv(with = Skip)]
            pub name: String,
            /// Name of the script language.
            pub language: String,
            /// Version of the script language.
            pub language_version: u32,
            /// Source of the fold.
            pub fold: String,
            /// First state of each key, as JSON text.
            pub init: String,
            /// Expression of the key, if the projection has keys.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub key: Option<String>,
            /// Filter of the events, as text, if the projection folds only some events.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub filter: Option<String>,
        },
        /// A scripted projection was removed.
        "projection_removed" by "teamlog project remove TEAM NAME" => Removed: ProjectionRemoved [name name] {
            /// Name of the projection.
            pub name: String,
        },
    }
}

impl ScriptFact {
    /// Builds the event.
    pub fn event(&self, actor: &str) -> NewEvent {
        event(self.kind(), actor, write(self), [])
    }
}

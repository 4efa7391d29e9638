//! The fold of a scripted projection as a projection of the engine: one set of one projection per script.

use crate::log::filter::EventFilter;
use crate::operation::prelude::*;
use crate::projections::script::event::ProjectionDeclared;
use crate::projections::tag::{Content, TAGGED_VERSION};
use teamlog_engine::projection::{
    Progress, Projection, ProjectionError, ProjectionOptions, Projections, RowChanges,
};
use teamlog_script::{EventView, Field, FoldError, LANGUAGE, LANGUAGE_VERSION, Script, Source};

/// Name of the projection in its set.
pub(super) const ROWS: &str = "script";
/// Prefix of the keys of states.
pub(super) const STATE: &[u8] = b"s";
/// Key of the failure.
pub(super) const FAILURE: &[u8] = b"f";
/// Claims in teamlog's own events have these members, which are secrets of the holder.
const HIDDEN: &[&str] = &["token", "claim_token", "claimToken"];
/// Stored answers repeat claims, and are no facts of the team.
const BOOKKEEPING: &str = "response_stored";

/// The failure of a fold, at which its projection stopped
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionFailure {
    /// Seq of the event at which the projection stopped
    pub seq: u64,
    /// Text of the script with the error: `fold` or `key`
    pub field: String,
    /// The error
    pub message: String,
    /// Line of the error, from 1, if it has one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// A compiled script with its filter.
pub struct ScriptFold {
    script: Script,
    filter: EventFilter,
    version: u64,
}

impl std::fmt::Debug for ScriptFold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptFold")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Result of one event.
pub(super) enum Folded {
    /// The projection skips the event.
    Skipped,
    /// The event has this key, and gives this state.
    State(String, Vec<u8>),
}

impl ScriptFold {
    /// Compiles a declaration.
    ///
    /// # Errors
    /// A sentence for people: the language is not known, or a text breaks a rule of this version.
    pub fn new(declared: &ProjectionDeclared) -> Result<ScriptFold, String> {
        let (language, version) = (&declared.language, declared.language_version);
        if language != LANGUAGE || version != LANGUAGE_VERSION {
            return Err(format!(
                "this teamlog knows the language {LANGUAGE}, version {LANGUAGE_VERSION}, but the projection is written in \
                 {language}, version {version}"
            ));
        }
        let source = Source {
            fold: &declared.fold,
            init: &declared.init,
            key: declared.key.as_deref(),
        };
        let script = Script::compile(&source).map_err(|error| error.to_string())?;
        let filter = declared.filter.as_deref().unwrap_or_default();
        let filter = EventFilter::from_text("filter", filter).map_err(|refusal| refusal.message)?;
        Ok(ScriptFold {
            script,
            filter,
            version: version_of(declared),
        })
    }

    /// Returns the first state of each key, as JSON.
    pub fn init(&self) -> &[u8] {
        self.script.init()
    }

    /// Returns true if the projection folds the event.
    pub fn wants(&self, event: &Event<'_>) -> bool {
        event.kind != BOOKKEEPING && self.filter.matches(event)
    }

    /// Folds an event. `before` returns the state of a key.
    pub(super) fn fold<E>(
        &self,
        event: &Event<'_>,
        before: impl FnOnce(&str) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Result<Folded, FoldError>, E> {
        let folding = match self.begin(event) {
            Ok(Some(folding)) => folding,
            Ok(None) => return Ok(Ok(Folded::Skipped)),
            Err(error) => return Ok(Err(error)),
        };
        let key = folding.key().to_owned();
        let state = before(&key)?;
        let state = self.script.fold(folding, state.as_deref());
        Ok(state.map(|state| Folded::State(key, state)))
    }

    fn begin(&self, event: &Event<'_>) -> Result<Option<teamlog_script::Folding>, FoldError> {
        let script = &self.script;
        let is_tagged = event.foreign && event.schema_version == TAGGED_VERSION;
        let content = match is_tagged {
            true => Content::from_event(event),
            false => Content {
                tags: Vec::new(),
                payload: &event.payload,
            },
        };
        let text = |field, text: &dyn Fn() -> String| match script.reads(field) {
            true => text(),
            false => String::new(),
        };
        let (id, at) = (
            text(Field::Id, &|| event.id.to_string()),
            text(Field::At, &|| event.created_at.to_string()),
        );
        script.begin(&EventView {
            seq: event.seq,
            id: &id,
            kind: &event.kind,
            at: &at,
            at_ms: event.created_at.micros().div_euclid(1000),
            actor: &event.actor,
            trace: event.refs.get(RefKind::Trace),
            task: event.refs.get(RefKind::Task),
            agent: event.refs.get(RefKind::Agent),
            message: event.refs.get(RefKind::Message),
            thread: event.refs.get(RefKind::Thread),
            session: event.refs.get(RefKind::Session),
            tags: &content.tags,
            payload: content.payload,
            hidden: if event.foreign { &[] } else { HIDDEN },
        })
    }
}

impl ProjectionFailure {
    pub(super) fn new(seq: u64, error: FoldError) -> ProjectionFailure {
        ProjectionFailure {
            seq,
            field: error.field.to_owned(),
            message: error.message,
            line: error.line,
        }
    }
}

impl Projection for ScriptFold {
    fn name(&self) -> &str {
        ROWS
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        ScriptFold::wants(self, event)
    }

    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
        // After a failure, the rows stay as they are.
        if rows.get(FAILURE)?.is_some() {
            return Ok(());
        }
        let before = |key: &str| -> Result<Option<Vec<u8>>, ProjectionError> {
            let state = rows.get(&state_key(key))?;
            Ok(state.map(Cow::into_owned))
        };
        match self.fold(event, before)? {
            Ok(Folded::Skipped) => Ok(()),
            Ok(Folded::State(key, state)) => rows.put(&state_key(&key), &state),
            Err(error) => {
                let failure = ProjectionFailure::new(event.seq, error);
                let json = serde_json::to_vec(&failure);
                let json = json.map_err(|error| ProjectionError::new(error.to_string()))?;
                rows.put(FAILURE, &json)
            }
        }
    }
}

/// Returns the key of a state's row.
pub(super) fn state_key(key: &str) -> Vec<u8> {
    [STATE, key.as_bytes()].concat()
}

/// Returns a number that differs between declarations with other rules.
fn version_of(declared: &ProjectionDeclared) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let version = declared.language_version.to_string();
    let texts = [
        Some(declared.language.as_str()),
        Some(version.as_str()),
        Some(declared.fold.as_str()),
        Some(declared.init.as_str()),
        declared.key.as_deref(),
        declared.filter.as_deref(),
    ];
    for text in texts {
        hasher.update(
            &text
                .map_or(u64::MAX, |text| text.len() as u64)
                .to_le_bytes(),
        );
        hasher.update(text.unwrap_or_default().as_bytes());
    }
    let mut first = [0; 8];
    hasher.finalize_xof().fill(&mut first);
    u64::from_le_bytes(first)
}

/// Name of the directory with the rows of a projection.
pub(super) fn set_name(name: &str) -> String {
    format!("script-{name}")
}

impl Team {
    /// Opens the stored rows of a scripted projection. Folds nothing yet.
    pub(super) fn open_fold(
        &self,
        name: &str,
        fold: Arc<ScriptFold>,
        progress: Option<FoldProgress>,
    ) -> Result<Projections> {
        let mut options = ProjectionOptions::default();
        if let Some(progress) = progress {
            options = options.with_progress(move |at: Progress| progress(at.events, at.total));
        }
        Ok(Projections::open(
            &self.log,
            &set_name(name),
            vec![fold],
            options,
        )?)
    }
}

/// Receives the number of folded events, and the number of all events.
pub type FoldProgress = Arc<dyn Fn(u64, u64) + Send + Sync>;

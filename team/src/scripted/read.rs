//! `list-projections`, `show-projection`: the states of scripted projections.
//!
//! A projection is a view of the history: at a point in the past, the rules are the present ones, and the events are those up to that
//! point.

use super::declared;
use super::fold::{FAILURE, FoldProgress, ProjectionFailure, ROWS, STATE, ScriptFold, state_key};
use crate::operation::prelude::*;
use crate::projections::script::ScriptedProjection;
use std::ops::Bound;
use teamlog_engine::Point;
use teamlog_engine::projection::{ProjectionRows, Projections};

/// Number of events after the stored rows up to which a list folds them.
const LISTED_EVENTS_MAX: u64 = 4096;
/// Maximum number of states in an answer.
pub const STATES_MAX: usize = 1000;
/// Number of bytes after which an answer ends.
const ANSWER_BYTES: usize = 4 << 20;

operation! {
    /// List the scripted projections of a team
    "list-projections": Reads(ListProjections {}) -> ProjectionListAnswer = |team, _| team.projections()
}

operation! {
    /// Show the states of a scripted projection
    "show-projection": Reads(ShowProjection {
        /// Name of the projection
        #[arg(value_name = "NAME")]
        name: String,
        /// Only the state of this key
        #[arg(value_name = "KEY")]
        key: Option<String>,
        /// Largest number of states, 1 to 1000; 50 if absent
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page: the last key of that page
        #[arg(long, value_name = "KEY")]
        cursor: Option<String>,
    }) -> ProjectionAnswer = |team, asked| team.projection(&asked),
    refuses = [ProjectionNotFound]
}

/// A scripted projection
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionShown {
    /// Name of the projection
    pub name: String,
    /// Seq of the event that declared the projection
    pub declared_seq: u64,
    /// Actor that declared the projection
    pub declared_by: String,
    /// Time at which the projection was declared
    pub declared_at: Timestamp,
    /// Name of the script language
    pub language: String,
    /// Version of the script language
    pub language_version: u32,
    /// Expression of the key; absent if there is one state
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_by: Option<String>,
    /// Filter of the events; absent if all events are folded
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Seq of the last event that the states include; absent if the projection is not folded here
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The error at which the projection stopped
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ProjectionFailure>,
    /// The reason why the projection is not folded here, such as an unknown language version
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
}

/// The answer of `list-projections`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionListAnswer {
    /// The team
    pub team: String,
    /// The projections, sorted by name
    pub projections: Vec<ProjectionShown>,
    /// Number of projections
    pub count: usize,
}

/// The answer of `show-projection`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionAnswer {
    /// The team
    pub team: String,
    /// The projection
    pub projection: ProjectionShown,
    /// The states, sorted by key
    pub states: Vec<KeyedState>,
    /// Number of states on the page
    pub count: usize,
    /// Cursor of the next page: the last key of this page; `null` on the last page
    pub next_cursor: Option<String>,
}

/// The state of a key
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyedState {
    /// The key; absent if the projection has one state
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The state
    pub state: Value,
}

impl From<&ScriptedProjection> for ProjectionShown {
    fn from(found: &ScriptedProjection) -> ProjectionShown {
        let declared = found.declared.clone();
        ProjectionShown {
            name: declared.name,
            declared_seq: found.seq,
            declared_by: found.declared_by.by.clone(),
            declared_at: found.declared_by.at,
            language: declared.language,
            language_version: declared.language_version,
            key_by: declared.key,
            filter: declared.filter,
            seq: None,
            failure: None,
            unsupported: None,
        }
    }
}

impl ShowProjection {
    /// Refuses a key and a cursor for a projection with one state, which has no keys.
    fn check_keys(&self, has_keys: bool) -> Result<(), Refusal> {
        let given = [("key", &self.key), ("cursor", &self.cursor)];
        let given = given.iter().find(|(_, value)| value.is_some());
        match given.filter(|_| !has_keys) {
            None => Ok(()),
            Some((field, _)) => {
                let name = &self.name;
                let message = format!(
                    "projection {name} has one state for all events, so {field} must be absent"
                );
                Err(Refusal::new(Code::InvalidInput, message).field(*field))
            }
        }
    }
}

/// The rows of a projection: now, or at a point in the past.
enum Rows {
    Present(Projections),
    Past(ProjectionRows),
}

impl Rows {
    fn rows(&self) -> &ProjectionRows {
        match self {
            Rows::Present(rows) => rows,
            Rows::Past(rows) => rows,
        }
    }
}

impl Team {
    /// Lists the scripted projections. Folds the last events of each, if they are few.
    ///
    /// # Errors
    /// Errors of the log.
    pub fn projections(&mut self) -> Result<ProjectionListAnswer> {
        let found = self.with_present(|live| Ok(live.scripted_projections()?))?;
        let mut projections = Vec::with_capacity(found.len());
        for found in &found {
            projections.push(self.listed_projection(found)?);
        }
        Ok(ProjectionListAnswer {
            team: self.name().to_owned(),
            count: projections.len(),
            projections,
        })
    }

    fn listed_projection(&mut self, found: &ScriptedProjection) -> Result<ProjectionShown> {
        let mut shown = ProjectionShown::from(found);
        let fold = match ScriptFold::new(&found.declared) {
            Ok(fold) => Arc::new(fold),
            Err(why) => {
                shown.unsupported = Some(why);
                return Ok(shown);
            }
        };
        let mut rows = self.open_fold(&shown.name, fold, None)?;
        let reader = self.reader()?;
        let last = reader.head().last_seq;
        if rows.seq() > last {
            let past = rows.at(Point::Seq(last))?;
            return described(shown, &past);
        }
        if last - rows.seq() <= LISTED_EVENTS_MAX {
            rows.catch_up_to(&reader)?;
        }
        described(shown, &rows)
    }

    /// Returns states of a scripted projection, after folding the events that are missing.
    ///
    /// # Errors
    /// `projection_not_found`; errors of the log.
    pub fn projection(&mut self, asked: &ShowProjection) -> Result<ProjectionAnswer> {
        let limit = page::within("limit", asked.limit, page::PAGE, STATES_MAX)?;
        let found = self.with_present(|live| declared(live, &asked.name))?;
        asked.check_keys(found.declared.key.is_some())?;
        let mut answer = ProjectionAnswer {
            team: self.name().to_owned(),
            projection: ProjectionShown::from(&found),
            states: Vec::new(),
            count: 0,
            next_cursor: None,
        };
        let fold = match ScriptFold::new(&found.declared) {
            Ok(fold) => Arc::new(fold),
            Err(why) => {
                answer.projection.unsupported = Some(why);
                return Ok(answer);
            }
        };
        let rows = self.folded(&asked.name, fold.clone(), None)?;
        let rows = rows.rows();
        answer.projection = described(answer.projection, rows)?;
        match (&found.declared.key, &asked.key) {
            (None, _) => answer.states.push(single_state(rows, &fold)?),
            (Some(_), Some(key)) => answer.states.extend(state_of(rows, key)?),
            (Some(_), None) => {
                let after = asked.cursor.as_deref();
                (answer.states, answer.next_cursor) = page_of(rows, after, limit)?;
            }
        }
        answer.count = answer.states.len();
        Ok(answer)
    }

    /// Returns the rows of a projection up to the head of this handle.
    fn folded(
        &mut self,
        name: &str,
        fold: Arc<ScriptFold>,
        progress: Option<FoldProgress>,
    ) -> Result<Rows> {
        let mut rows = self.open_fold(name, fold, progress)?;
        if let Some(past) = self.past() {
            let seq = past.moment.seq;
            let _fold = self.past_fold()?;
            return Ok(Rows::Past(rows.at(Point::Seq(seq))?));
        }
        let reader = self.reader()?;
        rows.catch_up_to(&reader)?;
        Ok(Rows::Present(rows))
    }

    /// Folds the missing events of a scripted projection, and reports the progress.
    ///
    /// # Errors
    /// `projection_not_found`; errors of the log.
    pub fn fold_projection(&mut self, name: &str, progress: FoldProgress) -> Result<()> {
        let found = self.with_present(|live| declared(live, name))?;
        if let Ok(fold) = ScriptFold::new(&found.declared) {
            self.folded(name, Arc::new(fold), Some(progress))?;
        }
        Ok(())
    }

    /// Folds at most `events_max` of the missing events of each scripted projection, and writes the rows. For a process that has time.
    /// Returns true if events are still missing.
    ///
    /// # Errors
    /// Errors of the log.
    pub fn fold_projections(&mut self, events_max: u64) -> Result<bool> {
        let found = self.with_present(|live| Ok(live.scripted_projections()?))?;
        let mut any = false;
        for found in found {
            let Ok(fold) = ScriptFold::new(&found.declared) else {
                continue;
            };
            let mut rows = self.open_fold(&found.declared.name, Arc::new(fold), None)?;
            let reader = self.reader()?;
            let end = rows.seq().saturating_add(events_max);
            let cut = match end < reader.head().last_seq {
                true => reader.upto(Point::Seq(end))?,
                false => None,
            };
            any |= cut.is_some();
            rows.catch_up_to(cut.as_ref().unwrap_or(&reader))?;
        }
        Ok(any)
    }

    /// Answers from the present state, also if this handle is at a point in the past.
    pub(super) fn with_present<A>(&mut self, answer: impl Fn(&Live) -> Result<A>) -> Result<A> {
        if self.past().is_none() {
            return self.query(|live, _| answer(live));
        }
        let past = self.live.take();
        let mut present = self.sibling();
        self.live = past;
        present.query(|live, _| answer(live))
    }
}

/// Adds the last folded event and the failure.
fn described(shown: ProjectionShown, rows: &ProjectionRows) -> Result<ProjectionShown> {
    let failure = failure(rows)?;
    // The states do not include the event at which the projection stopped.
    let last = failure
        .as_ref()
        .map(|failure| failure.seq.saturating_sub(1));
    Ok(ProjectionShown {
        seq: Some(last.unwrap_or(rows.seq())),
        failure,
        ..shown
    })
}

/// Returns the failure at which a projection stopped.
pub(super) fn failure(rows: &ProjectionRows) -> Result<Option<ProjectionFailure>> {
    let failure = rows.get(ROWS, FAILURE)?;
    failure.map(|json| parsed(&json)).transpose()
}

fn single_state(rows: &ProjectionRows, fold: &ScriptFold) -> Result<KeyedState> {
    let state = rows.get(ROWS, &state_key(""))?;
    Ok(KeyedState {
        key: None,
        state: parsed(state.as_deref().unwrap_or(fold.init()))?,
    })
}

fn state_of(rows: &ProjectionRows, key: &str) -> Result<Option<KeyedState>> {
    let state = rows.get(ROWS, &state_key(key));
    // A key that is too long for a row has no state.
    let state = state.unwrap_or_default();
    let state = state.map(|state| parsed(&state)).transpose()?;
    Ok(state.map(|state| KeyedState {
        key: Some(key.to_owned()),
        state,
    }))
}

fn page_of(
    rows: &ProjectionRows,
    after: Option<&str>,
    limit: usize,
) -> Result<(Vec<KeyedState>, Option<String>)> {
    let from = match after {
        Some(after) => Bound::Excluded(state_key(after)),
        None => Bound::Included(STATE.to_vec()),
    };
    let end = STATE.iter().map(|byte| byte.saturating_add(1)).collect();
    let (mut states, mut bytes) = (Vec::<KeyedState>::new(), 0);
    for row in rows.scan(ROWS, (from, Bound::Excluded(end)), false)? {
        let (key, state) = row?;
        if states.len() == limit || bytes > ANSWER_BYTES {
            let last = states.last().and_then(|last| last.key.clone());
            return Ok((states, last));
        }
        bytes += key.len() + state.len();
        let key = key.strip_prefix(STATE).unwrap_or(&key);
        states.push(KeyedState {
            key: Some(String::from_utf8_lossy(key).into_owned()),
            state: parsed(&state)?,
        });
    }
    Ok((states, None))
}

/// Parses a row. A damaged row is found by its checksum before.
fn parsed<T: serde::de::DeserializeOwned>(json: &[u8]) -> Result<T> {
    serde_json::from_slice(json)
        .map_err(|error| Error::Poisoned(format!("a row of a projection: {error}")).into())
}

//! `test-projection`: folds the history twice from the first event, and compares the states with each other and with the kept states.

use super::declared;
use super::fold::{Folded, ProjectionFailure, ROWS, STATE, ScriptFold};
use super::read::failure;
use crate::operation::prelude::*;
use teamlog_engine::projection::ProjectionRows;

/// Largest number of bytes of all states together that a test keeps in memory.
const TEST_BYTES_MAX: usize = 256 << 20;

operation! {
    /// Test a scripted projection: fold the history twice, and compare the states with each other and with the kept states
    "test-projection": Reads(TestProjection {
        /// Name of the projection
        #[arg(value_name = "NAME")]
        name: String,
    }) -> ProjectionTestAnswer = |team, asked| team.test_projection(&asked.name),
    refuses = [ProjectionNotFound, TooLarge]
}

/// Result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProjectionTestStatus {
    /// Both folds gave the kept states
    Equal,
    /// The folds gave different states
    Different,
    /// The projection stopped at an event; the states before it are equal
    Stopped,
    /// The projection is not folded here
    Unsupported,
}

/// The answer of `test-projection`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionTestAnswer {
    /// The team
    pub team: String,
    /// Name of the projection
    pub name: String,
    /// Result of the test
    pub status: ProjectionTestStatus,
    /// Seq of the last event
    pub last_seq: u64,
    /// Number of events that changed a state
    pub folded: u64,
    /// Number of keys
    pub keys: usize,
    /// First key with different states
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub different_key: Option<String>,
    /// The error at which the projection stopped
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ProjectionFailure>,
    /// The reason why the projection is not folded here
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
}

/// A fold of the whole history in memory.
#[derive(Debug, Default, PartialEq, Eq)]
struct History {
    states: BTreeMap<String, Vec<u8>>,
    /// Total size of keys and states.
    bytes: usize,
    folded: u64,
    failure: Option<ProjectionFailure>,
}

impl Team {
    /// Tests a scripted projection.
    ///
    /// # Errors
    /// `projection_not_found`; `too_large` if the states do not fit into memory; errors of the log.
    pub fn test_projection(&mut self, name: &str) -> Result<ProjectionTestAnswer> {
        let found = self.with_present(|live| declared(live, name))?;
        let reader = self.reader()?;
        let mut answer = ProjectionTestAnswer {
            team: self.name().to_owned(),
            name: name.to_owned(),
            status: ProjectionTestStatus::Equal,
            last_seq: reader.head().last_seq,
            folded: 0,
            keys: 0,
            different_key: None,
            failure: None,
            unsupported: None,
        };
        let compile = || ScriptFold::new(&found.declared);
        let (first, second) = match (compile(), compile()) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(why), _) | (_, Err(why)) => {
                answer.status = ProjectionTestStatus::Unsupported;
                answer.unsupported = Some(why);
                return Ok(answer);
            }
        };
        let one = History::fold(&first, &reader)?;
        let other = History::fold(&second, &reader)?;
        let kept = self.kept(name, first, &reader)?;
        answer.different_key = one.difference(&other).or_else(|| one.difference(&kept));
        let is_equal =
            one == other && one.failure == kept.failure && answer.different_key.is_none();
        answer.status = match (is_equal, &one.failure) {
            (false, _) => ProjectionTestStatus::Different,
            (true, Some(_)) => ProjectionTestStatus::Stopped,
            (true, None) => ProjectionTestStatus::Equal,
        };
        answer.folded = one.folded;
        answer.keys = one.states.len();
        answer.failure = one.failure;
        Ok(answer)
    }

    /// Returns the kept states up to the head of a reader.
    fn kept(&mut self, name: &str, fold: ScriptFold, reader: &Reader) -> Result<History> {
        let mut rows = self.open_fold(name, Arc::new(fold), None)?;
        if let Some(past) = self.past() {
            let point = teamlog_engine::Point::Seq(past.moment.seq);
            return History::kept(&rows.at(point)?);
        }
        rows.catch_up_to(reader)?;
        History::kept(&rows)
    }
}

impl History {
    fn fold(fold: &ScriptFold, reader: &Reader) -> Result<History> {
        let mut history = History::default();
        for read in reader.events(None) {
            let (_, _, event) = read?;
            if fold.wants(&event) && !history.add(fold, &event)? {
                break;
            }
        }
        Ok(history)
    }

    /// Folds an event. Returns false if the projection stops.
    fn add(&mut self, fold: &ScriptFold, event: &Event<'_>) -> Result<bool> {
        let before = |key: &str| Ok::<_, Failure>(self.states.get(key).cloned());
        match fold.fold(event, before)? {
            Ok(Folded::Skipped) => {}
            Ok(Folded::State(key, state)) => {
                self.folded += 1;
                self.put(key, state)?;
            }
            Err(error) => {
                self.failure = Some(ProjectionFailure::new(event.seq, error));
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn kept(rows: &ProjectionRows) -> Result<History> {
        let mut history = History::default();
        for row in rows.scan_prefix(ROWS, STATE, false)? {
            let (key, state) = row?;
            let key = key.strip_prefix(STATE).unwrap_or(&key);
            history.put(String::from_utf8_lossy(key).into_owned(), state)?;
        }
        history.failure = failure(rows)?;
        Ok(history)
    }

    fn put(&mut self, key: String, state: Vec<u8>) -> Result<()> {
        self.bytes += key.len() + state.len();
        if let Some(before) = self.states.insert(key, state) {
            self.bytes = self.bytes.saturating_sub(before.len());
        }
        if self.bytes > TEST_BYTES_MAX {
            let most = TEST_BYTES_MAX >> 20;
            let message = format!("the states must have at most {most} MiB together for a test");
            return Err(Refusal::new(Code::TooLarge, message).into());
        }
        Ok(())
    }

    /// Returns the first key whose states differ.
    fn difference(&self, other: &History) -> Option<String> {
        let keys: BTreeSet<&String> = self.states.keys().chain(other.states.keys()).collect();
        let differs = |key: &&&String| self.states.get(**key) != other.states.get(**key);
        keys.iter().find(differs).map(|key| (*key).clone())
    }
}

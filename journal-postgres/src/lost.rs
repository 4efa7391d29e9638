//! Why a call has no answer.

use teamlog_engine::JournalFault::{Denied, NotDurable, OtherJournal, Refused, Unreachable};
use teamlog_engine::{Error, JournalFault};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, ToSql};

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// The server said no: nothing was written.
    Refused(SqlState, String),
    /// The server may not be asked, for this reason. The connection is not to be used again.
    Unfit(JournalFault, String),
    /// There was no answer, or none that says what became of it. The connection is not to be used again.
    Gone(String),
}

impl Lost {
    /// In words.
    pub fn why(self) -> String {
        match self {
            Lost::Refused(_, why) | Lost::Unfit(_, why) | Lost::Gone(why) => why,
        }
    }
}

impl From<Lost> for Error {
    fn from(lost: Lost) -> Error {
        match lost {
            Lost::Refused(state, why) => Error::journal(of_state(&state), why),
            Lost::Unfit(fault, why) => Error::journal(fault, why),
            Lost::Gone(why) => Error::journal(Unreachable, why),
        }
    }
}

/// Maps a refused statement to a fault: a missing right or table stays missing until a person changes it.
fn of_state(state: &SqlState) -> JournalFault {
    match *state {
        SqlState::INSUFFICIENT_PRIVILEGE => Denied,
        SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_COLUMN | SqlState::UNDEFINED_FUNCTION => {
            OtherJournal
        }
        _ => Refused,
    }
}

pub type Answer<T> = Result<T, tokio_postgres::Error>;

/// Parameters of a statement.
pub type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Returns whether a statement failed because the session is not the one that prepared it.
pub fn is_of_pooler(state: &SqlState) -> bool {
    [
        SqlState::INVALID_SQL_STATEMENT_NAME,
        SqlState::DUPLICATE_PSTATEMENT,
    ]
    .contains(state)
}

/// Refuses a pooler that gives a connection one session for a transaction and another one for the next.
pub fn pooled() -> Lost {
    let why = "a pooler in front of the server shares one session among connections, so that settings and prepared statements \
        do not stay: use session pooling (pool_mode = session in PgBouncer)";
    Lost::Unfit(NotDurable, why.into())
}

/// An error with what lies beneath it.
pub fn said(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

/// A column of a row. Another type than ours stands there where somebody changed the tables.
pub fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Lost> {
    row.try_get(at).map_err(|error| Lost::Gone(said(&error)))
}

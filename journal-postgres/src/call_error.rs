//! Reasons why a call has no answer.

use teamlog_engine::JournalFault::{Denied, NotDurable, OtherJournal, Refused, Unreachable};
use teamlog_engine::{Error, JournalFault};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, ToSql};

/// Reason why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The server refused the call: nothing was written.
    Refused(SqlState, String),
    /// The server must not be used, for this reason. Drop the connection.
    Unfit(JournalFault, String),
    /// There was no answer, or the answer does not tell the outcome. Drop the connection.
    Gone(String),
}

impl CallError {
    /// Returns a description.
    pub fn why(self) -> String {
        match self {
            CallError::Refused(_, why) | CallError::Unfit(_, why) | CallError::Gone(why) => why,
        }
    }
}

impl From<CallError> for Error {
    fn from(lost: CallError) -> Error {
        match lost {
            CallError::Refused(state, why) => Error::journal(of_state(&state), why),
            CallError::Unfit(fault, why) => Error::journal(fault, why),
            CallError::Gone(why) => Error::journal(Unreachable, why),
        }
    }
}

/// Maps a refused statement to a fault. A missing right or table is a permanent fault, because an operator must add the right
/// or the table.
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

/// Returns true if a statement failed because the pooler gave this connection another session. That session has other prepared
/// statements.
pub fn is_of_pooler(state: &SqlState) -> bool {
    [
        SqlState::INVALID_SQL_STATEMENT_NAME,
        SqlState::DUPLICATE_PSTATEMENT,
    ]
    .contains(state)
}

/// Returns the error for a pooler that may give a connection another session for each transaction.
pub fn pooled() -> CallError {
    let why = "a pooler in front of the server shares one session among connections, so that settings and prepared statements \
        do not stay: use session pooling (pool_mode = session in PgBouncer)";
    CallError::Unfit(NotDurable, why.into())
}

/// Formats an error with its causes.
pub fn said(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

/// Reads a column of a row. An unexpected type means that the tables were changed.
pub fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, CallError> {
    row.try_get(at)
        .map_err(|error| CallError::Gone(said(&error)))
}

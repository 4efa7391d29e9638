//! Exports a team into an SQLite database: events, tags, tasks, messages, claims and usage as tables.
//!
//! One transaction stores the events that a run reads, the rows that these events change, and the position in the log. So the tables
//! agree with the position after any end of the process, and the next run continues at the position. docs/export.md describes the
//! tables.
//!
//! Start at [`Export`].
#![forbid(unsafe_code)]

mod batch;
mod claims;
mod database;
mod error;
mod export;
mod position;
mod schema;

pub use error::{Error, Result};
pub use export::{Export, Mode, Progress};
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};

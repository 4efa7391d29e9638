//! PostgreSQL as a [journal](teamlog_engine::journal): it orders the groups of a log that several hosts write.
//!
//! A group is a row that names the row before it by a foreign key, on seq and digest, so that the database itself refuses
//! gaps and forks. What is answered as appended is committed, on as many servers as the journal was made to ask for; where a
//! commit's outcome is not known, that is said, and the same group is appended again. A connection is trusted only behind a
//! barrier, a commit of its own: what it reads then is as durable as what is appended.
//!
//! | file | owns |
//! |---|---|
//! | `config.rs` | which server, and what of it may not be said in a URL |
//! | `tls.rs` | who a server is, and who asks it |
//! | `lost.rs` | why a call has no answer |
//! | `raw.rs` | one connection before it is believed: its settings, deadline and warnings |
//! | `connection.rs` | one connection, and whether it may be believed |
//! | `connections.rs` | a few of them, for all logs |
//! | `copies.rs` | how many servers have a commit, and whether the one that says so decides |
//! | `probe.rs` | the functions that tell the term |
//! | `look.rs` | asking a server for its settings, its term and its session, of which a managed service or a pooler keeps some back |
//! | `gathered.rs` | one commit for the groups that many logs append at once |
//! | `pipeline.rs` | several requests in one round trip |
//! | `schema.rs` | the tables and statements |
//! | `host.rs` | how a journal knows this host |
//! | `journals.rs` | what is asked of a journal as a whole: make it, enroll a log, find one, look at it |
//! | `journal.rs` | appending and reading |
#![forbid(unsafe_code)]

mod config;
mod connection;
mod connections;
mod copies;
mod gathered;
mod host;
mod journal;
mod journals;
mod look;
mod lost;
mod pipeline;
mod probe;
mod raw;
mod schema;
mod tls;

pub use config::Config;
pub use journals::PostgresJournals;
pub use teamlog_engine::journal::Connector;
pub use tls::TlsFiles;

/// The word for this kind of journal in `log.json`.
pub const KIND: &str = "postgres";

//! PostgreSQL as a [journal](teamlog_engine::journal): it orders the groups of a log that several hosts write.
//!
//! A group is a row that names the previous row by a foreign key, on seq and digest, so that the database itself refuses gaps and
//! forks. An append is answered after its commit, on as many servers as the journal was created for. If the outcome of a commit is
//! unknown, the answer says so, and the same group is appended again. A connection is trusted only after a barrier, a commit of its
//! own: everything read before the barrier is then as durable as the barrier.
//!
//! | file | owns |
//! |---|---|
//! | `config.rs` | the servers, and the rules for their URL |
//! | `tls.rs` | certificates of servers and of this host |
//! | `call_error.rs` | reasons for a call without an answer |
//! | `raw.rs` | one connection before any check: its settings, time limit and warnings |
//! | `connection.rs` | one connection, with the checks that its answers can be trusted |
//! | `connections.rs` | a small pool of connections, for all logs |
//! | `copies.rs` | number of servers that have a commit, and the check that the server decides |
//! | `probe.rs` | functions for a server's term |
//! | `look.rs` | reading a server's settings, its term and its session, some of which a managed service or a pooler hides |
//! | `append_queue.rs` | one commit for groups that several logs append at the same time |
//! | `pipeline.rs` | several requests in one round trip |
//! | `schema.rs` | the tables and statements |
//! | `host.rs` | identity of this host in a journal |
//! | `journals.rs` | requests about a journal as a whole: create it, enroll a log, find one, inspect it |
//! | `journal.rs` | appending and reading |
#![forbid(unsafe_code)]

mod append_queue;
mod call_error;
mod config;
mod connection;
mod connections;
mod copies;
mod host;
mod journal;
mod journals;
mod look;
mod pipeline;
mod probe;
mod raw;
mod schema;
mod tls;

pub use config::Config;
pub use journals::PostgresJournals;
pub use teamlog_engine::journal::Connector;
pub use tls::TlsFiles;

/// The word in `log.json` for a journal on PostgreSQL.
pub const KIND: &str = "postgres";

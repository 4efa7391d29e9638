//! NATS JetStream as a [journal](teamlog_engine::journal), **experimental**: a quorum of its servers orders the groups of a log
//! that several hosts write.
//!
//! A team is a stream, and a group is a message in it, which is stored only directly behind the one that it names
//! (`Nats-Expected-Last-Sequence`). A message says which group digest stands before it and which behind it, and in which state
//! the log is then, so that whoever appends knows both by the message before, and whoever reads checks each group. The server
//! compares a sequence and knows nothing of digests: what a fork is, is found by the hosts. Everything is read from the leader of a
//! stream. What is answered as appended is on a quorum of servers that sync each write, which is looked up and not assumed.
//!
//! `Nats-Expected-Last-Msg-Id`, by which a server could compare a digest, is never sent: where it does not fit, it ends the
//! stream for good.
//!
//! | file | owns |
//! |---|---|
//! | `config.rs` | which servers, and what of them may not be said in a URL |
//! | `message.rs` | a group as a message: its headers, its names |
//! | `line.rs` | the connection: its thread, its deadlines, the errors of servers |
//! | `stream.rs` | streams: what they are like, what they hold |
//! | `servers.rs` | what the servers say of themselves, by their monitors |
//! | `shared.rs` | one line for all logs, and what was found out about them |
//! | `journals.rs` | what is asked of a journal as a whole: make it, enroll a log, find one, look at it |
//! | `journal.rs` | appending and reading |
#![forbid(unsafe_code)]

mod config;
mod journal;
mod journals;
mod line;
mod message;
mod servers;
mod shared;
mod stream;

pub use config::Config;
pub use journals::NatsJournals;

/// The word for this kind of journal in `log.json`.
pub const KIND: &str = "nats";

//! Teams: commands, rules and refusals over a team's log.
//!
//! A [`Root`] is a data root. A [`Team`] is a handle on a team in the root; the handle loads the state, decides, appends events and
//! folds the events. Each command is one file in the folder of its noun ([`task`], [`message`], …), with its input, its pure `decide`
//! and its answer. The answer serializes to the documented JSON, with fields in documented order. If a rule forbids a command, the
//! command returns a [`Refusal`]; all other errors are the variant [`Failure::Failed`].
//!
//! This crate prints nothing, and reads neither argv nor HTTP. Clock, ids and paths are arguments.
#![forbid(unsafe_code)]

#[cfg(test)]
#[macro_use]
#[path = "../../engine/tests/support/cases.rs"]
mod cases;

mod accepted_tokens;
pub mod agent_token;
pub mod api;
#[cfg(feature = "cli")]
pub mod argv;
pub mod artifact;
pub mod attention;
pub mod backup;
pub mod bootstrap;
mod budget;
mod claim;
pub mod command;
pub mod doctor;
pub mod doubts;
pub mod failure;
pub mod handle;
pub mod hint;
pub mod import;
pub mod integrity;
pub mod lifecycle;
pub mod log;
mod membership;
pub mod message;
pub mod mode;
pub mod names;
pub mod operation;
pub mod ownership;
mod page;
mod prelude;
pub mod receipt;
pub mod redaction;
pub mod refusal;
pub mod resource;
pub mod scripted;
pub mod search;
mod shapes;
pub mod shell;
pub mod story;
pub mod subscription;
pub mod task;
pub mod thread;
mod time;
pub mod undo;
pub mod usage;
mod uuid;
pub mod worker;

pub use backup::dir::BackupDir;

pub use failure::{Failure, Result};
pub use handle::exchange::Exchange;
pub use handle::notes::Notes;
pub use handle::root::{Root, RootOptions};
pub use handle::team::Team;
pub use log::recorded::Recorded;
pub use receipt::given::GivenReceipt;
pub use receipt::key::{PublicKey, SecretKey};
pub use refusal::{Code, Refusal};
pub use task::session_claim::{SessionClaim, SessionClaimAnswer};

pub use teamlog_engine as engine;
pub use teamlog_projections as projections;

//! What may happen to a team: commands, rules and refusals over its log.
//!
//! A [`Root`] is a data root; a [`Team`] is a handle on one of its teams that loads, decides, appends and folds.
//! Each command is one file of [`command`]: its input, its pure `decide`, its answer (which serialises to the
//! documented JSON, fields in documented order). A domain's "no" is a [`Refusal`]; everything that went wrong
//! beneath it is the other half of [`Failure`].
//!
//! This crate prints nothing and knows no argv and no HTTP; clock, ids and paths are arguments.
#![forbid(unsafe_code)]

pub mod act;
pub mod api;
mod aside;
mod backup_notes;
pub mod blocking;
pub mod bootstrap;
pub mod budget;
mod claimant;
mod closing;
pub mod command;
pub mod doctor;
pub mod event_type;
mod evidence;
pub mod exchange;
pub mod failure;
pub mod feed_entry;
pub mod fenced;
pub mod follower;
mod grant;
pub mod holding;
pub mod ignored;
pub mod key;
mod lines;
pub mod listed;
pub mod mail;
pub mod membership;
pub mod modes;
pub mod names;
pub mod next;
mod notes;
pub mod past;
pub mod patience;
mod pem;
pub mod presented;
pub mod recorded;
pub mod refusal;
pub mod report;
mod resident;
pub mod resource;
pub mod root;
mod shapes;
pub mod shell;
pub mod staging;
pub mod story;
pub mod task_record;
pub mod team;
pub mod team_event;
pub mod tokens;
mod uuid;
pub mod vault;

pub use exchange::Exchange;
pub use failure::{Failure, Result};
pub use key::{PublicKey, SecretKey};
pub use notes::Notes;
pub use presented::Presented;
pub use recorded::Recorded;
pub use refusal::{Code, Refusal};
pub use root::{Root, RootOptions};
pub use team::Team;
pub use vault::Vault;

pub use teamlog_engine as engine;
pub use teamlog_projections as projections;

//! Tasks: what is made, claimed, finished and given back, and who holds it.

pub mod approval;
pub mod assign;
pub mod blocking;
pub(crate) mod by_message;
pub mod cancel;
pub mod change;
pub mod claim;
pub mod claim_next;
pub(crate) mod claimant;
pub mod create;
pub(crate) mod evidence;
pub mod fenced;
pub mod finish;
pub(crate) mod grant;
pub mod holding;
pub mod list;
pub mod listed;
pub mod read;
pub mod ready;
pub mod record;
pub mod release;
pub mod renew;
pub mod reopen;
pub mod report;
pub mod show;
pub mod update;

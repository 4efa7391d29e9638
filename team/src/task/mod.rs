//! Tasks: creation, claims, completion, release and holders.

pub mod approval;
pub mod blocking;
pub mod cancel;
pub mod change;
pub mod claim;
pub mod claim_next;
pub mod create;
pub(crate) mod evidence;
pub mod finish;
pub mod history;
pub mod list;
pub mod listed;
pub mod plan;
pub(crate) mod prelude;
pub mod read;
pub mod ready;
pub mod record;
pub mod release;
pub mod renew;
pub mod reopen;
pub mod report;
pub mod resources;
pub(crate) mod session_claim;
pub mod show;
pub mod sorting;

pub use crate::claim::holding;

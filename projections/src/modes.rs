//! Workflow modes: which ones there are, and where their states lie.

mod mode;
mod scope;

pub use mode::Mode;
pub use scope::{Scope, is_session_id};

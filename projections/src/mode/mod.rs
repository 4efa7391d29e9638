//! Workflow modes: which ones there are, where their states lie, and what is known of them.
//!
//! A state is a JSON object, one per scope and mode. The list of active skills of a scope follows from its states alone,
//! so that a mode that ended cannot come back through it; what is said beside the list is metadata of the scope.

mod fold;
mod query;
mod row;
mod shown;
pub(crate) mod view;

pub use crate::event::mode as event;
pub use crate::event::mode::{Mode, Scope, is_session_id};
pub(crate) use fold::apply;
pub use row::{ModeEntry, ModeScope, ModeState, SessionLife};
pub use shown::{DERIVED, follows_root, run_state, skills_state};

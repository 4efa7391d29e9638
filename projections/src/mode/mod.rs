//! Workflow modes: the known modes, their states and scopes.
//!
//! A state is a JSON object, one per scope and mode. The list of active skills of a scope follows from the scope's states alone,
//! so that the list cannot revive an ended mode. Extra fields of the list are metadata of the scope.

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

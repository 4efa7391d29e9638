//! Imports for the files about modes.

pub(crate) use crate::command::Origin;
pub(crate) use crate::mode::rules::decision::{
    ModeDecision, WorkingState, is_tombstone, object, put, visible_from,
};
pub(crate) use crate::mode::rules::denial::ActiveMode;
pub(crate) use crate::mode::rules::outcome::{Lifecycle, RunOutcome};
pub(crate) use crate::mode::rules::prompt::KeywordMatch;
pub(crate) use crate::mode::rules::reading::is_asked;
pub(crate) use crate::mode::rules::reconcile::{Ending, Exit, Source, ended, is_waiting};
pub(crate) use crate::mode::rules::shown::{Decided, ModeAnswer, missing, path, scope};
pub(crate) use crate::mode::rules::skill::{CANCEL, Skill};
pub(crate) use crate::mode::rules::transition::{Denial, Kind, Review, Transition, decide, join};
pub(crate) use crate::mode::rules::*;
pub(crate) use crate::operation::prelude::*;
pub(crate) use crate::projections::mode::event::{Change, Fields, SessionEnd};
pub(crate) use crate::projections::mode::{Mode, ModeState, Scope};

//! What most files of modes name.

pub(crate) use crate::mode::rules::board::{Board, Standing, object, put, visible_from};
pub(crate) use crate::mode::rules::outcome::Lifecycle;
pub(crate) use crate::mode::rules::reconcile::{Ending, Exit, Source};
pub(crate) use crate::mode::rules::shown::{Asked, Decided, ModeAnswer, path, scope};
pub(crate) use crate::mode::rules::skill;
pub(crate) use crate::prelude::*;
pub(crate) use crate::projections::mode::event::{Change, Fields};
pub(crate) use crate::projections::mode::{Mode, Scope};
pub(crate) use serde_json::json;

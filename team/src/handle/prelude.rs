//! Imports for most files about handles.

pub(crate) use crate::command::{Command, Control};
pub(crate) use crate::handle::root::{Root, team_dir};
pub(crate) use crate::handle::team::Team;
pub(crate) use crate::prelude::*;

//! Imports for files with operations: commands, a team, `operation!`, and other common names.

pub(crate) use crate::budget;
pub(crate) use crate::command::{
    Acted, After, Authority, Command, CommandTerms, Ctx, Decision, act,
};
pub(crate) use crate::handle::root::{Root, team_dir};
pub(crate) use crate::handle::team::Team;
pub(crate) use crate::membership;
pub(crate) use crate::operation::Rules;
pub(crate) use crate::operation::record::operation;
pub(crate) use crate::prelude::*;

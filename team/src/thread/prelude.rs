//! Imports for the files about threads.

pub(crate) use crate::operation::prelude::*;
pub(crate) use crate::projections::thread::event::{ThreadAct, ThreadFact};
pub(crate) use crate::projections::thread::{PostShown, Thread, ThreadShown};
pub(crate) use crate::thread::RULES;
pub(crate) use crate::thread::start::{SYSTEM, ThreadAnswer, author, found, shown};
pub(crate) use crate::thread::tail::post;

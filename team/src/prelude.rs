//! What most files of this crate name: results and refusals, a team and its state, operations and commands.

pub(crate) use crate::Recorded;
pub(crate) use crate::api::record::operation;
pub(crate) use crate::api::rules::Rules;
pub(crate) use crate::failure::{Failure, Result};
pub(crate) use crate::handle::authority::{Authority, CommandTerms};
pub(crate) use crate::handle::command::{Acted, After, Command, Control, Ctx, Decision, act};
pub(crate) use crate::handle::root::{Root, team_dir};
pub(crate) use crate::handle::team::Team;
pub(crate) use crate::lifecycle::membership::{self, LEADER};
pub(crate) use crate::log::append::DEFAULT_ACTOR;
pub(crate) use crate::log::replay::Replay;
pub(crate) use crate::projections::RefKind;
pub(crate) use crate::projections::team::event::{MembersAdded, TeamFact};
pub(crate) use crate::projections::{
    Live, Message, MessageType, Priority, Setting, Status, Task, TaskFilter, spelling, words,
};
pub(crate) use crate::refusal::{Code, Refusal, shown};
pub(crate) use crate::usage::budget;
pub(crate) use crate::{names, page};
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::value::RawValue;
pub(crate) use serde_json::{Map, Value, json};
pub(crate) use std::borrow::Cow;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::io::ErrorKind;
pub(crate) use std::ops::ControlFlow;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::Arc;
pub(crate) use std::time::{Duration, Instant};
pub(crate) use teamlog_engine::storage::Storage;
pub(crate) use teamlog_engine::{
    Cause, Error, Event, EventId, Format, Json, Log, NewEvent, Reader, Receipt, Timestamp,
};

//! Imports for most files of this crate: results, refusals, names, and types of the projections and the engine.

pub(crate) use crate::failure::{Failure, Result};
pub(crate) use crate::names::{self, DEFAULT_ACTOR, LEADER};
pub(crate) use crate::page;
pub(crate) use crate::projections::RefKind;
pub(crate) use crate::projections::team::event::{MembersAdded, TeamFact};
pub(crate) use crate::projections::{
    Live, Message, MessageType, Priority, Setting, Status, Task, TaskFilter, spelling, words,
};
pub(crate) use crate::refusal::{Code, Refusal, shown};
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

//! What most files of this crate name: the state, facts, rows and how they are stored.

pub(crate) use crate::error::Result;
pub(crate) use crate::fact::Fact;
pub(crate) use crate::state::TeamState;
pub(crate) use crate::tx::{
    As, Entry, Micros, Recorded, Row, Rows, Stored, Tx, end_of, key_of, named, numbered, row, time,
};
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::value::RawValue;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use teamlog_engine::{
    Event, EventId, Json, JsonError, NewEvent, Reader, RefKind, Timestamp,
};

//! What most files of this crate name: the state, facts and how they are stored, rows and how they are stored.

pub(crate) use crate::error::{Error, Result};
pub(crate) use crate::fact::events::{Decode, Payload, checks, events};
pub(crate) use crate::fact::stored::{Decoded, read, write};
pub(crate) use crate::fact::{Fact, Sent, event};
pub(crate) use crate::state::TeamState;
pub(crate) use crate::tx::{
    As, Entry, Recorded, Row, Rows, SeqPage, Stored, TIMED_BYTES, Tx, end_of, key_of, named,
    numbered, row, time, timed,
};
pub(crate) use crate::words;
pub(crate) use rkyv::with::Skip;
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::value::RawValue;
pub(crate) use std::borrow::Cow;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::Arc;
pub(crate) use teamlog_engine::derived::key;
pub(crate) use teamlog_engine::{
    Event, EventId, Json, JsonError, Log, NewEvent, Place, Reader, RefKind, Timestamp,
};

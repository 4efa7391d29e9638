//! Names of the standard library, serde and the engine that most files of this crate use. From this crate, this module exports
//! only errors, words and refs.

pub(crate) use crate::error::{Error, Result};
pub(crate) use crate::refs::RefKind;
pub(crate) use crate::words;
pub(crate) use rkyv::with::Skip;
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::value::RawValue;
pub(crate) use std::borrow::Cow;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::Arc;
pub(crate) use teamlog_engine::internals::derived::key;
pub(crate) use teamlog_engine::{
    Event, EventId, Json, JsonError, Log, NewEvent, Place, Reader, Timestamp,
};

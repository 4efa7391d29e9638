//! Names that most files of the log's modules use: errors, events and places, the files of a log, and its storage.

pub(crate) use crate::codec::{Predecessor, SegmentHeader};
pub(crate) use crate::error::{Error, JournalFault, Result};
pub(crate) use crate::event::{Event, NewEvent};
pub(crate) use crate::event_id::EventId;
pub(crate) use crate::head::Head;
pub(crate) use crate::identity::{Format, Identity, JournalIdentity, LogId};
pub(crate) use crate::layout::{ENGINE_ACTOR, EVENTS_DIR, HEAD_FILE, LOG_FILE};
pub(crate) use crate::place::Place;
pub(crate) use crate::segment::SegmentName;
pub(crate) use crate::sequence::LastEvent;
pub(crate) use crate::storage::{Bytes, File, NamedFile, OpenMode, Storage};
pub(crate) use crate::timestamp::Timestamp;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use std::borrow::Cow;
pub(crate) use std::io;
pub(crate) use std::ops::Range;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::Arc;
pub(crate) use std::time::Duration;

//! Names that most nouns use: the state, facts, rows, and [`crate::common`]. The modules below the nouns do not import this
//! module.

pub(crate) use crate::common::*;
pub(crate) use crate::event::{MessageSent, event, write};
pub(crate) use crate::fact::{Fact, Recorded};
pub(crate) use crate::state::TeamState;
pub(crate) use crate::tx::{
    As, Entry, Row, Rows, SeqPage, Stored, TIMED_BYTES, Tx, end_of, key_of, named, numbered, row,
    time, timed,
};

//! The operations of the mutation contract, in one table from which every surface is built.
//!
//! An operation is the type of its input. The record of an operation is in the file with the code of the operation, see
//! `operation!`. [`OPERATIONS`] lists each operation once. Names, schemas and documents are generated from that table, and [`call`]
//! is the only entry point.

mod envelope;
mod fault;
mod input;
pub(crate) mod operation;
mod rules;
pub mod schema;
pub mod shape;

pub use crate::operation::{Effect, Op, Rules};
pub use crate::time::milliseconds;
pub use envelope::Envelope;
pub use fault::Fault;
pub use operation::{OPERATIONS, Operation, find, meant, refusals};

use crate::command::Control;
use crate::handle::root::Root;
use crate::handle::team::Team;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Answer of an operation.
#[derive(Debug)]
pub struct OperationAnswer {
    /// The data, as JSON.
    pub data: Box<RawValue>,
    /// The open team. Call [`Team::finish`] on this team after the answer is sent.
    pub team: Option<Team>,
}

/// Carries out an operation. If the input has no `key`, `trace_id` or `actor`, `control` provides them.
pub fn call(
    root: &Root,
    operation: &Operation,
    input: Map<String, Value>,
    control: Control,
) -> Result<OperationAnswer, Fault> {
    let request = input::Request::read(operation, input, control)?;
    operation.run(root, request)
}

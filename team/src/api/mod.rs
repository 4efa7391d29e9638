//! The operations of the mutation contract: one table from which every surface is built.
//!
//! An operation is the type of its input, with a record in the file that carries it out; see `operation!`.
//! [`OPERATIONS`] lists each once; names, schemas and documents are generated from it, and [`call`] is the one entry
//! point.

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
    /// The team. Call [`Team::finish`] on it after the answer is sent.
    pub team: Option<Team>,
}

/// Carries out an operation. `control` gives `key`, `trace_id` and `actor` if the input has none.
pub fn call(
    root: &Root,
    operation: &Operation,
    input: Map<String, Value>,
    control: Control,
) -> Result<OperationAnswer, Fault> {
    let request = input::Request::read(operation, input, control)?;
    operation.run(root, request)
}

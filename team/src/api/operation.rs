//! What an operation is, and the table of all of them.

use super::Answered;
use super::fault::Fault;
use super::input::Request;
use super::tasks;
use crate::command::append_event::AppendEvent;
use crate::command::await_event::AwaitEvent;
use crate::command::broadcast::Broadcast;
use crate::command::mailbox_list::MailboxList;
use crate::command::mailbox_mark::{MarkDelivered, MarkNotified};
use crate::command::read_events::ReadEvents;
use crate::command::send_message::SendMessage;
use crate::failure::Result;
use crate::refusal::{Code, Refusal};
use crate::root::Root;
use crate::team::Team;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An operation as a type: its fields are the input beside `team_name` and what every operation takes.
pub(crate) trait Op: DeserializeOwned + JsonSchema {
    /// The answer's data.
    type Data: Serialize + JsonSchema;
    /// The name, in kebab case.
    const NAME: &'static str;
    /// What it does, in a line without a full stop.
    const DOC: &'static str;
    /// Whether it records events.
    const MUTATES: bool;

    /// Carries it out.
    fn run(self, team: &mut Team) -> Result<Self::Data>;

    /// The answer where there is no such team.
    fn without_team(&self, missing: Refusal) -> Result<Self::Data> {
        Err(missing.into())
    }
}

/// A row of the table.
pub struct Operation {
    /// The name, in kebab case.
    pub name: &'static str,
    /// What it does, in a line without a full stop.
    pub doc: &'static str,
    /// Whether it records events.
    pub mutates: bool,
    input: fn() -> Schema,
    data: fn() -> Schema,
    pub(super) run: fn(&Root, Request) -> std::result::Result<Answered, Fault>,
}

impl Operation {
    /// The JSON schema of the input, with what every operation takes.
    pub fn input_schema(&self) -> Schema {
        super::input::complete((self.input)())
    }
    /// The JSON schema of the answer's data.
    pub fn data_schema(&self) -> Schema {
        (self.data)()
    }
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.name)
            .finish()
    }
}

const fn row<O: Op>() -> Operation {
    Operation {
        name: O::NAME,
        doc: O::DOC,
        mutates: O::MUTATES,
        input: schema::<O>,
        data: schema::<O::Data>,
        run: run::<O>,
    }
}

fn schema<T: JsonSchema>() -> Schema {
    SchemaGenerator::new(SchemaSettings::draft2020_12()).into_root_schema_for::<T>()
}

fn run<O: Op>(root: &Root, request: Request) -> std::result::Result<Answered, Fault> {
    let input: O = request.typed()?;
    let answered = match root.team(&request.team) {
        Ok(mut team) => {
            team.under(request.control);
            input.run(&mut team).map(|data| (data, Some(team)))
        }
        Err(failure) => match failure.refusal() {
            Some(missing) if missing.code == Code::TeamNotFound => {
                input.without_team(missing.clone()).map(|data| (data, None))
            }
            _ => Err(failure),
        },
    };
    let (data, team) = answered.map_err(|failure| Fault::of(&failure))?;
    let data = serde_json::value::to_raw_value(&data).map_err(|error| Fault::broken(&error))?;
    Ok(Answered { data, team })
}

/// The operation of that name: in any case, with `_` or `-`, with or without a leading `team_`.
pub fn find(name: &str) -> Option<&'static Operation> {
    let lower = name.trim().to_lowercase();
    let bare = lower.strip_prefix("team_").unwrap_or(&lower);
    let kebab = bare.replace('_', "-");
    OPERATIONS.iter().find(|operation| operation.name == kebab)
}

/// Every operation, in the order in which they are documented.
pub static OPERATIONS: &[Operation] = &[
    // messages and their delivery
    row::<SendMessage>(),
    row::<Broadcast>(),
    row::<MailboxList>(),
    row::<MarkNotified>(),
    row::<MarkDelivered>(),
    // tasks
    row::<tasks::ReadTask>(),
    // the team
    // workers
    // events
    row::<AppendEvent>(),
    row::<ReadEvents>(),
    row::<AwaitEvent>(),
    // supervision
    // the end
];

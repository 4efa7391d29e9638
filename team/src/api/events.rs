//! Operations on team events.

use super::operation::Op;
use super::rules::Rules;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::log::append_event::{AppendEvent, AppendEventAnswer};
use crate::log::await_event::{AwaitEvent, AwaitEventAnswer};
use crate::log::read_events::{ReadEvents, ReadEventsAnswer};
use crate::refusal::Refusal;

/// What chooses events must be right, or nothing could be looked up.
const FILTERS: Rules = Rules {
    lookups: &["wakeable_only", "type", "timeout_ms", "poll_ms"],
    never_null: &["wakeable_only", "type", "timeout_ms", "poll_ms"],
    ..Rules::COMMON
};

impl Op for AppendEvent {
    type Data = AppendEventAnswer;
    const NAME: &'static str = "append-event";
    const DOC: &'static str = "Record what a worker reports; it moves no state";
    const MUTATES: bool = true;
    const RULES: Rules = Rules {
        lookups: &["metadata"],
        never_null: &["metadata"],
        keeps_lookalikes: true,
        ..Rules::COMMON
    };

    fn run(self, team: &mut Team) -> Result<AppendEventAnswer> {
        team.append_event(self)
    }
}

impl Op for ReadEvents {
    type Data = ReadEventsAnswer;
    const NAME: &'static str = "read-events";
    const DOC: &'static str = "Read what happened to a team, from a cursor on";
    const MUTATES: bool = false;
    const ANSWERS_EMPTY: bool = true;
    const RULES: Rules = FILTERS;

    fn run(self, team: &mut Team) -> Result<ReadEventsAnswer> {
        team.read_events(&self)
    }

    fn without_team(&self, _: Refusal) -> Result<ReadEventsAnswer> {
        Ok(self.empty())
    }
}

impl Op for AwaitEvent {
    type Data = AwaitEventAnswer;
    const NAME: &'static str = "await-event";
    const DOC: &'static str = "Wait until something happens to a team";
    const MUTATES: bool = false;
    const RULES: Rules = FILTERS;

    fn run(self, team: &mut Team) -> Result<AwaitEventAnswer> {
        team.await_event(&self)
    }
}

//! Renders the answer of `await`.

use crate::render::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_team::log::await_event::{AwaitEventAnswer, AwaitStatus};
use teamlog_team::log::team_event::TeamEvent;

/// Result of `await`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// An event arrived
    Event,
    /// No event arrived in time
    Timeout,
    /// The team does not exist
    Missing,
}

/// `{team_name, status, cursor, event}`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AwaitAnswer")]
pub struct Answer {
    /// The team
    pub team_name: String,
    /// Outcome of the wait
    pub status: Status,
    /// Value to pass as `--after` in the next call, so that no event is missed
    pub cursor: String,
    /// The event; `null` if there was none
    pub event: Option<TeamEvent>,
}

impl Answer {
    /// Converts the operation's answer into the answer of the command.
    pub fn new(team: &str, answer: AwaitEventAnswer) -> Answer {
        Answer {
            team_name: team.to_owned(),
            status: match answer.status {
                AwaitStatus::Event => Status::Event,
                AwaitStatus::Timeout => Status::Timeout,
            },
            cursor: answer.cursor,
            event: answer.event,
        }
    }
}

/// Formats a line such as `task_completed  dev  T-1  why`.
pub fn line(answer: &Answer, _: &View) -> Vec<String> {
    let text = match (&answer.event, answer.status) {
        (Some(event), _) => {
            let parts = [
                Some(&event.kind),
                Some(&event.worker),
                event.task_id.as_ref(),
            ];
            let more = [event.state.as_ref(), event.reason.as_ref()];
            let parts = parts.into_iter().chain(more).flatten();
            let parts: Vec<_> = parts.map(|part| visible(part)).collect();
            parts.join("  ")
        }
        (None, Status::Missing) => format!("no team {}", visible(&answer.team_name)),
        (None, _) => format!("no event of {} in time", visible(&answer.team_name)),
    };
    vec![text]
}

//! `await`: returns when something happens to a team that is worth waking up for.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::View;
use crate::render::escape::visible;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_team::log::await_event::{AwaitEvent, AwaitStatus};
use teamlog_team::log::event_type::EventType;
use teamlog_team::log::team_event::TeamEvent;
use teamlog_team::names;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Wait until something happens to a team that is worth waking up for\n\nThat is a finished task, a worker's \
        changed state, a message, a nudge and what goes wrong. Exit code 0 also when the time is up and when there is no \
        such team: `status` says which. --after with the cursor of the answer before misses nothing in between.",
    after_help = "\
Examples:
  teamlog await demo --timeout-ms 100
  teamlog await demo --type task_completed --task-id T-6 --timeout-ms 100 --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// The last event that is known: the cursor of the answer before [default: the newest there is]
    #[arg(long, value_name = "EVENT_ID", alias = "after-event-id")]
    after: Option<String>,
    /// At most so long [default: 30000]
    #[arg(long, value_name = "MILLISECONDS", value_parser = super::whole::<u64>)]
    timeout_ms: Option<u64>,
    /// Only events of that type, or that were reported as such
    #[arg(long = "type", value_name = "EVENT_TYPE", value_parser = event_type)]
    kind: Option<EventType>,
    /// Only events of that worker
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    /// Only events of that task
    #[arg(long, value_name = "TASK")]
    task_id: Option<String>,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Something happened
    Event,
    /// Nothing happened in time
    Timeout,
    /// There is no such team
    Missing,
}

/// `{team_name, status, cursor, event}`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AwaitAnswer")]
pub struct Answer {
    /// The team
    pub team_name: String,
    /// How it ended
    pub status: Status,
    /// What to give as known the next time, which then misses nothing
    pub cursor: String,
    /// What happened; `null` where nothing did
    pub event: Option<TeamEvent>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        for (field, name) in [("worker", &self.worker), ("task_id", &self.task_id)] {
            if let Some(name) = name {
                names::check_known(field, name)?;
            }
        }
        let mut team = match context.team(&self.team) {
            Ok(team) => team,
            Err(error) if matches!(error.code(), "team_not_found" | "data_root_not_found") => {
                return self.missing(context);
            }
            Err(error) => return Err(error),
        };
        let answer = team.await_event(&AwaitEvent {
            after_event_id: self.after,
            wakeable_only: Some(true),
            kind: self.kind,
            worker: self.worker,
            task_id: self.task_id,
            timeout_ms: self.timeout_ms,
            poll_ms: None,
        })?;
        let answer = Answer {
            team_name: self.team,
            status: match answer.status {
                AwaitStatus::Event => Status::Event,
                AwaitStatus::Timeout => Status::Timeout,
            },
            cursor: answer.cursor,
            event: answer.event,
        };
        context.answer(&answer, line)?;
        context.done(team, Exit::Done)
    }

    fn missing(self, context: &mut Context) -> Outcome {
        let answer = Answer {
            team_name: self.team,
            status: Status::Missing,
            cursor: self.after.unwrap_or_default(),
            event: None,
        };
        context.answer(&answer, line)?;
        Ok(Exit::Done)
    }
}

/// `task_completed  dev  T-1  why`.
fn line(answer: &Answer, _: &View) -> Vec<String> {
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
        (None, Status::Missing) => format!("there is no team {}", visible(&answer.team_name)),
        (None, _) => format!("nothing happened to {} in time", visible(&answer.team_name)),
    };
    vec![text]
}

fn event_type(text: &str) -> Result<EventType, String> {
    EventType::from_name(text).ok_or_else(|| {
        let names = EventType::ALL.map(EventType::name);
        format!("must be one of {}", names.join(", "))
    })
}

//! `await`: waits for the next event that wakes agents.

use crate::command::prelude::*;
use crate::render::awaited::{Answer, Status, line};
use teamlog_team::engine::EventId;
use teamlog_team::log::await_event::AwaitEvent;
use teamlog_team::names;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Wait for the next event of a team that wakes agents\n\nSuch events are a finished task, a changed state of a worker, a message, a nudge, and failures. The exit code is 0 also after the timeout and for an unknown team; the field `status` says which case it is. With --after and the cursor of the previous answer, no event is missed.",
    after_help = "\
Examples:
  teamlog await demo --timeout-ms 100
  teamlog await demo --type task_completed --task-id T-6 --timeout-ms 100 --json"
)]
pub struct Args {
    /// The team
    team: String,
    #[command(flatten)]
    input: AwaitEvent,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        for (field, name) in [
            ("worker", &self.input.worker),
            ("task_id", &self.input.task_id),
        ] {
            if let Some(name) = name {
                names::check_known(field, name)?;
            }
        }
        if let Some(after) = &self.input.after_event_id {
            check_id(after)?;
        }
        let input = AwaitEvent {
            wakeable_only: Some(true),
            ..self.input.clone()
        };
        match context.read(&self.team, input) {
            Err(error) if matches!(error.code(), "team_not_found" | "data_root_not_found") => {
                self.missing(context)
            }
            answer => context.end(Exit::Done, &Answer::new(&self.team, answer?), line),
        }
    }

    fn missing(self, context: &mut Context) -> Outcome {
        let answer = Answer {
            team_name: self.team,
            status: Status::Missing,
            cursor: self.input.after_event_id.unwrap_or_default(),
            event: None,
        };
        context.end(Exit::Done, &answer, line)
    }
}

/// Refuses a text that is not the id of an event, because a wait after such a text would miss events.
fn check_id(after: &str) -> Result<(), CommandError> {
    let after = after.trim();
    if after.is_empty() || EventId::from_text(after.as_bytes()).is_some() {
        return Ok(());
    }
    let message = format!(
        "--after must be the id of an event, but is {}",
        visible(after)
    );
    Err(CommandError::usage(message).or_hint("pass the cursor of the previous answer"))
}

//! `await`: returns when something happens to a team that is worth waking up for.

use crate::command::prelude::*;
use crate::render::awaited::{Answer, Status, line};
use teamlog_team::log::await_event::AwaitEvent;
use teamlog_team::log::event_type::EventType;
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

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        for (field, name) in [("worker", &self.worker), ("task_id", &self.task_id)] {
            if let Some(name) = name {
                names::check_known(field, name)?;
            }
        }
        let asked = AwaitEvent {
            after_event_id: self.after.clone(),
            wakeable_only: Some(true),
            kind: self.kind,
            worker: self.worker.clone(),
            task_id: self.task_id.clone(),
            timeout_ms: self.timeout_ms,
            poll_ms: None,
        };
        match context.read(&self.team, asked) {
            Err(error) if matches!(error.code(), "team_not_found" | "data_root_not_found") => {
                self.missing(context)
            }
            answer => context.end(Exit::Done, &Answer::of(&self.team, answer?), line),
        }
    }

    fn missing(self, context: &mut Context) -> Outcome {
        let answer = Answer {
            team_name: self.team,
            status: Status::Missing,
            cursor: self.after.unwrap_or_default(),
            event: None,
        };
        context.end(Exit::Done, &answer, line)
    }
}

fn event_type(text: &str) -> Result<EventType, String> {
    EventType::from_name(text).ok_or_else(|| {
        let names = EventType::ALL.map(EventType::name);
        format!("must be one of {}", names.join(", "))
    })
}

//! `dead-letter list|requeue`: messages that nobody acknowledged in time.

use crate::call::Call;
use crate::command::prelude::*;
use crate::render::delivery;
use teamlog_team::message::dead_letter::{DeadLetterList, DeadLetterRequeue};

actions! {
    List = "list", of::<DeadLetterList>;
    Requeue = "requeue", of::<DeadLetterRequeue>;
}

/// List dead letters: the newest, oldest of the page first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog dead-letter list demo
  teamlog dead-letter list demo --agent dev --limit 20 --json")]
struct List {
    /// The team
    team: String,
    /// Only those of that recipient
    #[arg(long)]
    agent: Option<String>,
    /// Most dead letters on the page; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on to older ones: the next_cursor of the page before
    #[arg(long, value_name = "ID")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

/// Give a dead letter another chance: the delivery of its message begins anew
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog dead-letter requeue demo --message-id msg_1
  teamlog dead-letter requeue demo --message-id msg_1 --max-retries 5")]
struct Requeue {
    /// The team
    team: String,
    /// The dead letter
    #[arg(long, value_name = "ID", required_unless_present = "message_id")]
    id: Option<String>,
    /// Its message, in place of its own id
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    message_id: Option<String>,
    /// Seconds that each attempt waits for its ack [default: as before]
    #[arg(long, value_name = "SECONDS", value_parser = super::whole::<u64>)]
    ack_timeout_seconds: Option<u64>,
    /// How often to try again [default: as before]
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    max_retries: Option<u64>,
}

reads!(
    List,
    at,
    render::delivery::dead,
    DeadLetterList(agent, limit, cursor)
);

impl Requeue {
    fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        let requeue = DeadLetterRequeue {
            id: self.id,
            message_id: self.message_id,
            ack_timeout_seconds: self.ack_timeout_seconds,
            max_retries: self.max_retries,
        };
        let answer = context.execute(&Call::operation(), &self.team, requeue)?;
        context.end(Exit::Done, &answer, delivery::requeued)
    }
}

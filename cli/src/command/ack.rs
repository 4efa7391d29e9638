//! `ack`: acknowledges a message as its recipient.

use crate::call::Call;
use crate::command::prelude::*;
use crate::render::inbox;
use teamlog_team::message::ack::{Ack, AckAnswer, AckStatus};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog ack demo --agent dev --message-id m-1")]
pub struct Args {
    /// The team
    team: String,
    /// Recipient of the message [default: the acting agent]
    #[arg(long)]
    agent: Option<String>,
    /// Id of the message, or of a post in a thread: the ack of a post covers all earlier posts to the recipient
    #[arg(long, value_name = "ID")]
    message_id: String,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let agent = context.agent("--agent", self.agent)?;
        context.records(Repeat::Same);
        let ack = Ack {
            agent,
            message_id: self.message_id,
        };
        let answer = context.execute(&Call::operation(), &self.team, ack)?;
        match rejection(&answer, &self.team) {
            // With --json a rejection is an ordinary answer; its exit code differs.
            Some(_) if context.out.is_json() => context.end(Exit::Refused, &answer, inbox::acked),
            Some(error) => context.ended(Exit::Refused).and(Err(error)),
            None => context.end(Exit::Done, &answer, inbox::acked),
        }
    }
}

fn rejection(answer: &AckAnswer, team: &str) -> Option<CommandError> {
    let AckAnswer {
        message_id, agent, ..
    } = answer;
    match answer.status {
        AckStatus::Acked | AckStatus::AlreadyAcked => None,
        AckStatus::NotFound => {
            let message =
                format!("message_id must name a message of {team}, but is {message_id:?}");
            Some(CommandError::new(Exit::Refused, "not_found", message))
        }
        AckStatus::WrongRecipient => {
            let expected = answer.expected.as_deref().unwrap_or("somebody else");
            let message = format!(
                "agent must be {expected}, the recipient of {message_id}, but is {agent:?}"
            );
            Some(CommandError::new(Exit::Refused, "wrong_recipient", message))
        }
    }
}

//! `ack`: acknowledges a message as its recipient.

use crate::command::prelude::*;
use crate::render::inbox;
use teamlog_team::message::ack::{Ack, AckAnswer, AckStatus};

subcommands! {
    operation::<Ack>("ack", inbox::acked)
        .repeatable()
        .agent("agent", |ack| &mut ack.agent)
        .rejection(rejection)
        .examples("\
  teamlog ack demo --agent dev --message-id m-1")
}

fn rejection(answer: &AckAnswer, team: &str) -> Option<CommandError> {
    let AckAnswer {
        message_id, agent, ..
    } = answer;
    match answer.status {
        AckStatus::Acked | AckStatus::AlreadyAcked => None,
        AckStatus::NotFound => {
            let message = format!("no message {message_id:?} in team {team}");
            Some(CommandError::new(Exit::Refused, "not_found", message))
        }
        AckStatus::WrongRecipient => {
            let expected = answer.expected.as_deref().unwrap_or("another agent");
            let message = format!(
                "agent must be {expected}, the recipient of {message_id}, but is {agent:?}"
            );
            Some(CommandError::new(Exit::Refused, "wrong_recipient", message))
        }
    }
}

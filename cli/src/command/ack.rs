//! `ack`: acknowledges a message as its recipient, or all unread messages.

use crate::call::Call;
use crate::command::prelude::*;
use crate::render::{inbox, time};
use serde::Deserialize;
use teamlog_team::message::ack::{Ack, AckAnswer, AckStatus};
use teamlog_team::message::read::Read;
use teamlog_team::projections::message::MessageType;

/// Number of unread messages per page.
const PAGE: usize = 200;

#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("which").required(true).args(["id", "message_id", "all"]),
    after_help = "\
Examples:
  teamlog ack m-1 --as dev
  teamlog ack demo --agent dev --message-id m-1
  teamlog ack --all --as dev"
)]
pub struct Args {
    /// The team
    team: String,
    /// Id of the message or post, in place of --message-id
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Recipient of the message [default: the acting agent]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Id of the message, or of a post in a thread: the ack of a post covers all earlier posts to the recipient
    #[arg(long, value_name = "ID")]
    message_id: Option<String>,
    /// All unread messages and posts; questions stay unread until `reply` answers them
    #[arg(long)]
    all: bool,
}

/// `{agent, acked, posts_read, questions}`: the result of `ack --all`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AckAllAnswer {
    /// The agent that acknowledged
    agent: String,
    /// Number of messages that were acknowledged
    acked: u64,
    /// Number of posts that were acknowledged
    posts_read: u64,
    /// Number of questions that need an answer and stay unread
    questions: u64,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let agent = context.agent("--agent", self.agent)?;
        context.records(Repeat::Same);
        let Some(message_id) = self.message_id.or(self.id) else {
            let answer = acknowledge_all(context, &self.team, agent)?;
            return context.end(Exit::Done, &answer, all_lines);
        };
        let answer = acknowledge(context, &self.team, &agent, message_id)?;
        match rejection(&answer, &self.team) {
            Some(_) if context.out.is_json() => context.end(Exit::Refused, &answer, inbox::acked),
            Some(error) => context.ended(Exit::Refused).and(Err(error)),
            None => context.end(Exit::Done, &answer, inbox::acked),
        }
    }
}

fn acknowledge(
    context: &mut Context,
    team: &str,
    agent: &str,
    message_id: String,
) -> Result<AckAnswer, CommandError> {
    let ack = Ack {
        agent: agent.to_owned(),
        message_id,
    };
    context.execute(&Call::operation(), team, ack)
}

/// Acknowledges all unread messages except questions, page by page from newest to oldest. Then acknowledges the
/// newest post, which covers all earlier posts.
fn acknowledge_all(
    context: &mut Context,
    team: &str,
    agent: String,
) -> Result<AckAllAnswer, CommandError> {
    let mut answer = AckAllAnswer::default();
    let mut cursor = None;
    loop {
        let read = Read {
            agent: agent.clone(),
            unread: true,
            limit: Some(PAGE),
            cursor,
        };
        let page = context.read(team, read)?;
        if let Some(post) = page.posts.items.last() {
            let acked = acknowledge(context, team, &agent, post.id.clone())?;
            answer.posts_read += acked.posts_read.unwrap_or(0);
        }
        for message in page.messages {
            if message.kind == MessageType::DecisionRequired {
                answer.questions += 1;
                continue;
            }
            let acked = acknowledge(context, team, &agent, message.id)?;
            answer.acked += u64::from(acked.status == AckStatus::Acked);
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(AckAllAnswer { agent, ..answer });
        }
    }
}

fn all_lines(answer: &AckAllAnswer, _: &View) -> Vec<String> {
    let mut line = format!("acked {}", time::plural(answer.acked, "message"));
    if answer.posts_read > 0 {
        line += &format!(", {}", time::plural(answer.posts_read, "post"));
    }
    let questions = (answer.questions > 0).then(|| {
        let count = time::plural(answer.questions, "question");
        format!("{count} left to answer: teamlog reply TEXT")
    });
    [line].into_iter().chain(questions).collect()
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

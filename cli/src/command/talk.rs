//! Commands for talking to other agents: `say`, `inbox`, `ask` and `reply`.

use super::words;
use crate::call::Call;
use crate::command::prelude::*;
use crate::forward::SEND_AND_WAIT;
use crate::render::inbox as shown;
use serde::Deserialize;
use serde_json::json;
use teamlog_team::message::ack::{Ack, AckAnswer};
use teamlog_team::message::read::Read;
use teamlog_team::message::send::{Require, Send, SendAnswer, SendStatus};
use teamlog_team::projections::message::{Message, MessageType};

/// Payload field of an answer that holds the id of its question.
const IN_REPLY_TO: &str = "in_reply_to";
/// Number of newest unread messages in which a question or an answer is searched.
const LOOKED_AT: usize = 200;

/// Sends a message. If the call waits, also waits for the ack.
fn deliver(
    context: &mut Context,
    call: &Call<Send, SendAnswer>,
    team: &str,
    send: Send,
) -> Result<SendAnswer, CommandError> {
    context.records(Repeat::Unsafe);
    context.execute(call, team, send)
}

/// Returns the newest unread messages of an agent, oldest first.
fn unread(context: &mut Context, team: &str, agent: &str) -> Result<Vec<Message>, CommandError> {
    let read = Read {
        agent: agent.to_owned(),
        unread: true,
        limit: Some(LOOKED_AT),
        ..Read::default()
    };
    Ok(context.read(team, read)?.messages)
}

pub mod say {
    use super::*;

    #[derive(Debug, clap::Args)]
    #[command(after_help = "\
Examples:
  teamlog say qa the schema is on main --as dev
  teamlog say lead 'T-6 is done' --priority high --as dev
  git diff | teamlog say qa - --task T-6 --as dev")]
    pub struct Args {
        /// The team
        team: String,
        /// Recipient
        #[arg(value_name = "AGENT")]
        to: String,
        /// The text; - reads it from standard input
        #[arg(value_name = "TEXT")]
        text: Vec<String>,
        /// Task that the message concerns
        #[arg(long = "task", value_name = "TASK")]
        task_id: Option<String>,
        /// Priority: low, normal, high or critical [default: normal]
        #[arg(long, value_name = "PRIORITY", value_parser = teamlog_team::argv::priority)]
        priority: Option<String>,
    }

    impl Args {
        pub fn run(self, context: &mut Context) -> Outcome {
            let send = Send {
                from: context.agent("--as", None)?,
                to: self.to,
                kind: MessageType::Message.name().to_owned(),
                payload: Some(
                    json!({"body": words::joined(&self.text, "TEXT", context)?}).to_string(),
                ),
                task_id: self.task_id,
                priority: self.priority,
                ..Send::default()
            };
            let answer = deliver(context, &Call::operation(), &self.team, send)?;
            context.end(Exit::Done, &answer, shown::sent)
        }
    }
}

pub mod inbox {
    use super::*;

    #[derive(Debug, clap::Args)]
    #[group(skip)]
    struct All {
        /// Also messages that the agent acknowledged
        #[arg(long, conflicts_with = "unread")]
        all: bool,
        /// Show whole texts
        #[arg(long)]
        full: bool,
    }

    subcommands! {
        operation::<Read>("inbox", shown::page)
            .at()
            .agent("agent", |read| &mut read.agent)
            .with(|read, All { all, full }, context| {
                read.unread = !all;
                context.show_whole(full);
                Ok(())
            })
            .define(|command| command.mut_arg("unread", |arg| arg.hide(true)))
            .examples("\
  teamlog inbox --as dev
  teamlog inbox --all --limit 20 --as dev")
    }
}

pub mod ask {
    use super::*;

    #[derive(Debug, clap::Args)]
    #[command(
        long_about = "Ask an agent a question\n\nThe question needs an answer: it is delivered again if the recipient does \
            not acknowledge it, and then becomes a dead letter. With --wait the command waits for the answer of `reply`, \
            prints it and acknowledges it; exit code 1 if none comes.",
        after_help = "\
Examples:
  teamlog ask lead 'which database?' --as dev
  teamlog ask qa may I merge this --task T-6 --as dev"
    )]
    pub struct Args {
        /// The team
        team: String,
        /// Recipient
        #[arg(value_name = "AGENT")]
        to: String,
        /// The question; - reads it from standard input
        #[arg(value_name = "QUESTION")]
        text: Vec<String>,
        /// Task that the question concerns
        #[arg(long = "task", value_name = "TASK")]
        task_id: Option<String>,
        /// Wait for the answer
        #[arg(long)]
        wait: bool,
        /// Seconds that each attempt waits for the answer [default: the setting delivery.decision_required]
        #[arg(long, value_name = "SECONDS", value_parser = crate::command::whole::<u64>)]
        ack_timeout_seconds: Option<u64>,
        /// Number of repeated attempts before the question is a dead letter [default: the setting delivery.decision_required]
        #[arg(long, value_name = "N", value_parser = crate::command::whole::<u64>)]
        max_retries: Option<u64>,
    }

    /// `{question, answer?}`.
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    pub struct AskAnswer {
        /// The question as it was sent
        question: SendAnswer,
        /// The answer, if it came while the command waited
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<Answered>,
    }

    /// An answer to a question.
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    struct Answered {
        /// Id of the answer
        message_id: String,
        /// The agent that answered
        from: String,
        /// Text of the answer
        body: String,
        /// True if the command acknowledged the answer, so that it is no longer unread
        #[serde(default)]
        acked: bool,
    }

    impl Args {
        pub fn run(self, context: &mut Context) -> Outcome {
            let from = context.agent("--as", None)?;
            let text = words::joined(&self.text, "QUESTION", context)?;
            let send = Send {
                from: from.clone(),
                to: self.to,
                kind: MessageType::DecisionRequired.name().to_owned(),
                payload: Some(json!({"body": text}).to_string()),
                task_id: self.task_id,
                delivery: Some(Require {
                    ack_timeout_seconds: self.ack_timeout_seconds,
                    max_retries: self.max_retries,
                }),
                ..Send::default()
            };
            let call = match self.wait {
                true => SEND_AND_WAIT,
                false => Call::operation(),
            };
            let question = deliver(context, &call, &self.team, send)?;
            let mut answer = match self.wait && question.status == SendStatus::Acked {
                true => answered(context, &self.team, &from, &question.message.id)?,
                false => None,
            };
            if let Some(answer) = &mut answer {
                let ack = Ack {
                    agent: from,
                    message_id: answer.message_id.clone(),
                };
                // The answer is printed even if its ack fails; it then stays unread.
                let acked: Result<AckAnswer, _> =
                    context.execute(&Call::operation(), &self.team, ack);
                answer.acked = acked.is_ok();
            }
            let exit = Exit::Refused.unless(!self.wait || answer.is_some());
            let asked = AskAnswer { question, answer };
            let waits = self.wait;
            context.end(exit, &asked, |asked, view| lines(asked, waits, view))
        }
    }

    /// Returns the message that answers the question. An answer is sent before its question is acknowledged.
    fn answered(
        context: &mut Context,
        team: &str,
        agent: &str,
        question: &str,
    ) -> Result<Option<Answered>, CommandError> {
        let unread = unread(context, team, agent)?;
        Ok(unread.into_iter().rev().find_map(|message| {
            let payload: serde_json::Value = serde_json::from_str(message.payload.as_str()).ok()?;
            let body = payload.get("body")?.as_str()?.to_owned();
            (payload.get(IN_REPLY_TO)? == question).then_some(Answered {
                message_id: message.id,
                from: message.from,
                body,
                acked: false,
            })
        }))
    }

    fn lines(asked: &AskAnswer, waits: bool, view: &View) -> Vec<String> {
        let id = visible(&asked.question.message.id).into_owned();
        match &asked.answer {
            Some(answer) => vec![visible(&answer.body).into_owned()],
            None if waits && asked.question.status == SendStatus::Acked => {
                vec![format!("{id} was acknowledged without an answer")]
            }
            None => shown::sent(&asked.question, view),
        }
    }
}

pub mod reply {
    use super::*;

    #[derive(Debug, clap::Args)]
    #[command(
        long_about = "Answer a question\n\nThe answer names the question, which is acknowledged. Without --message-id, the \
            question is the newest one in the inbox of the acting agent.",
        after_help = "\
Examples:
  teamlog reply postgres --as dev
  teamlog reply --message-id m-1 'yes, after the tests pass' --as dev"
    )]
    pub struct Args {
        /// The team
        team: String,
        /// The answer; - reads it from standard input
        #[arg(value_name = "TEXT")]
        text: Vec<String>,
        /// Id of the question [default: the newest unread question]
        #[arg(long, value_name = "ID")]
        message_id: Option<String>,
    }

    impl Args {
        pub fn run(self, context: &mut Context) -> Outcome {
            let agent = context.agent("--as", None)?;
            let question = question(context, &self.team, &agent, self.message_id.as_deref())?;
            let text = words::joined(&self.text, "TEXT", context)?;
            let payload = json!({"body": text, IN_REPLY_TO: question.id});
            let send = Send {
                from: agent.clone(),
                to: question.from,
                kind: MessageType::Message.name().to_owned(),
                payload: Some(payload.to_string()),
                task_id: question.task_id,
                trace_id: question.trace_id,
                ..Send::default()
            };
            let answer = deliver(context, &Call::operation(), &self.team, send)?;
            let ack = Ack {
                agent,
                message_id: question.id,
            };
            let _: AckAnswer = context.execute(&Call::operation(), &self.team, ack)?;
            context.end(Exit::Done, &answer, shown::sent)
        }
    }

    /// Returns the unread message with this id. Without an id, returns the newest unread question.
    fn question(
        context: &mut Context,
        team: &str,
        agent: &str,
        id: Option<&str>,
    ) -> Result<Message, CommandError> {
        let unread = unread(context, team, agent)?;
        let is_meant = |message: &Message| match id {
            Some(id) => message.id == id,
            None => message.kind == MessageType::DecisionRequired,
        };
        unread.into_iter().rev().find(is_meant).ok_or_else(|| {
            let message = match id {
                Some(id) => format!("no unread message {} to {agent}", visible(id)),
                None => format!("no unread question to {agent}"),
            };
            let error = CommandError::new(Exit::Refused, "not_found", message);
            error.or_hint(context.command(&format!("inbox {}", quoted(team))))
        })
    }
}

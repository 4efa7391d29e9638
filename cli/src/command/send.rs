//! `send`: sends one message to one inbox. `task-assign` and `task-update` also accept these options.

use crate::call::Call;
use crate::command::prelude::*;
use crate::context::again;
use crate::forward::SEND_AND_WAIT;
use crate::random;
use crate::render::inbox;
use std::io::{self, Read};
use teamlog_team::argv;
use teamlog_team::message::send::{Require, Send, SendStatus};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Send a message to an agent\n\nA send with a known message id is a duplicate and changes nothing, so an \
        interrupted send can be repeated with the same --message-id. With --wait the repeated send continues to wait."
)]
#[command(after_help = "\
Examples:
  teamlog send demo --from lead --to dev --type handoff --payload-json '{\"note\":\"yours\"}'
  teamlog send demo --from lead --to dev --type message --message-id m-7 --payload-file payload.json
  teamlog send demo --from dev --to lead --type idle_notification --cooldown-seconds 600")]
pub struct Args {
    /// The team
    team: String,
    /// Sender [default: the acting agent]
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// Recipient
    #[arg(long, value_name = "AGENT")]
    to: String,
    /// Type of the message: handoff, decision_required, idle_notification, task_assign …
    #[arg(long = "type", value_name = "TYPE", value_parser = argv::message_type)]
    kind: String,
    /// Task that the message concerns
    #[arg(long, value_name = "TASK")]
    task_id: Option<String>,
    /// Payload, a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "payload_file")]
    payload_json: Option<String>,
    /// File with the payload; - is standard input
    #[arg(long, value_name = "FILE")]
    payload_file: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

// Options of every message. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Id of the message [default: msg_ and 12 hex digits]
    #[arg(long, value_name = "ID")]
    message_id: Option<String>,
    /// Trace of the message [default: the trace of its task]
    #[arg(long, value_name = "TRACE")]
    trace_id: Option<String>,
    /// Priority: low, normal, high or critical [default: normal]
    #[arg(long, value_name = "PRIORITY", value_parser = argv::priority)]
    priority: Option<String>,
    /// Time of the message, ISO 8601; a task message older than the task's last one changes nothing [default: now]
    #[arg(long, value_name = "TIME")]
    created_at: Option<String>,
    /// Suppress the message if one with the same recipient, task and type was sent in the last SECONDS
    #[arg(long, value_name = "SECONDS", value_parser = super::whole::<u64>)]
    cooldown_seconds: Option<u64>,
    /// Require an ack: without one the message is repeated, and then becomes a dead letter (see `tick`)
    #[arg(long)]
    require_ack: bool,
    /// Require an ack, and wait until it arrives or the message is a dead letter (exit 1)
    #[arg(long)]
    wait: bool,
    /// Seconds that each attempt waits for the ack [default: by type, see `config list`]
    #[arg(long, value_name = "SECONDS", value_parser = super::whole::<u64>)]
    ack_timeout_seconds: Option<u64>,
    /// Number of repeated attempts before the message is a dead letter [default: by type, see `config list`]
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    max_retries: Option<u64>,
}

impl Options {
    /// Returns the delivery options if an ack is required. Refuses delivery options without `--require-ack` or `--wait`.
    fn require(&self) -> Result<Option<Require>, CommandError> {
        if self.require_ack || self.wait {
            return Ok(Some(Require {
                ack_timeout_seconds: self.ack_timeout_seconds,
                max_retries: self.max_retries,
            }));
        }
        let stray = match (self.ack_timeout_seconds, self.max_retries) {
            (None, None) => return Ok(None),
            (Some(_), _) => "--ack-timeout-seconds",
            (None, Some(_)) => "--max-retries",
        };
        let message = format!("{stray} needs --require-ack or --wait");
        Err(CommandError::usage(message))
    }

    /// Sends the message with these options, waits for the ack if requested, and returns the answer.
    pub fn send(self, context: &mut Context, team: &str, send: Send) -> Outcome {
        context.records(Repeat::of_message(self.message_id.as_deref()));
        let delivery = self.require()?;
        let mut send = Send {
            message_id: self.message_id,
            trace_id: self.trace_id,
            priority: self.priority,
            created_at: self.created_at,
            cooldown_seconds: self.cooldown_seconds,
            delivery,
            ..send
        };
        let mut id = None;
        if context.is_remote() {
            // Generate the id here. If the connection breaks after the message was sent, the message can be sent again with its
            // id.
            if send.message_id.is_none() {
                send.message_id = Some(random::name("msg")?);
                context.records(Repeat::UnderMessageId);
            }
            id = send.message_id.clone();
        }
        let call = match self.wait {
            true => SEND_AND_WAIT,
            false => Call::operation(),
        };
        let sent = context.execute(&call, team, send);
        let mut answer = sent.map_err(|error| match id {
            Some(id) if error.code() == "outcome_unknown" => again(error, "message_id", &id),
            _ => error,
        })?;
        if self.wait && answer.is_open() {
            return Err(left(&answer.message.id));
        }
        if let Some(kept) = &mut answer.reported {
            context.own_commands(&mut kept.next);
        }
        let exit = Exit::Refused.unless(answer.status != SendStatus::DeadLetter);
        context.end(exit, &answer, inbox::sent)
    }
}

/// Makes the error for a wait that ended because the daemon stopped.
fn left(id: &str) -> CommandError {
    let message = format!(
        "the daemon stopped before the ack of message {id}: the message is recorded and still needs its ack"
    );
    let error = CommandError::new(Exit::Unavailable, "daemon_gone", message);
    error.detailing("message_id", id).or_hint(format!(
        "repeat the command with --message-id {}: the command continues to wait, and the message is not sent again",
        quoted(id)
    ))
}

/// Maximum size of a payload file in bytes. This size is far above the limit for payloads, so that a large payload
/// gets the error of the payload limit.
const PAYLOAD_FILE_BYTES_MAX: u64 = 8 << 20;

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let payload = match &self.payload_file {
            Some(path) => Some(payload_from(context.env(), path)?),
            None => self.payload_json,
        };
        let send = Send {
            from: context.agent("--from", self.from)?,
            to: self.to,
            kind: self.kind,
            task_id: self.task_id,
            payload,
            ..Send::default()
        };
        self.options.send(context, &self.team, send)
    }
}

fn payload_from(env: &ProcessEnv, path: &Path) -> Result<String, CommandError> {
    let shown = path.display().to_string();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            CommandError::invalid("payload_file", format!("payload file not found: {shown}"))
        }
        io::ErrorKind::IsADirectory => CommandError::invalid(
            "payload_file",
            format!("payload file must be a file, but {shown} is a directory"),
        ),
        io::ErrorKind::InvalidData => CommandError::invalid(
            "payload_file",
            format!("payload file must be UTF-8: {shown}"),
        ),
        _ => CommandError::io("read", &format!("payload file {shown}"), &error),
    };
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(env.stdin())
    } else {
        Box::new(env.open(path).map_err(failed)?)
    };
    let mut text = String::new();
    let read = source
        .take(PAYLOAD_FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if read as u64 > PAYLOAD_FILE_BYTES_MAX {
        let message =
            format!("payload file {shown} must have at most {PAYLOAD_FILE_BYTES_MAX} bytes");
        return Err(CommandError::invalid("payload_file", message));
    }
    Ok(text)
}

//! `append`: records events of kinds that teamlog does not interpret, one event or a batch.
//!
//! This command has separate arguments, because `--batch` excludes fields that the input of the operation `append`
//! requires.

use crate::call::Call;
use crate::command::prelude::*;
use crate::file::open;
use serde_json::Map;
use std::io::{BufRead, BufReader};
use teamlog_team::engine::EventId;
use teamlog_team::log::append::Append;
use teamlog_team::log::append_batch::{AppendBatch, Groups};
use teamlog_team::log::condition::Conditions;
use teamlog_team::log::filter::EventFilter;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Record events of your own kinds; they are ordered, traced and indexed, and change no state\n\nA batch is JSON \
        lines {kind, actor?, trace_id?, task_id?, agent?, message_id?, thread_id?, session_id?, key?, tags?, cause?, \
        payload?}, read in bounded memory and appended in atomic groups. An event with a key (--key, or the key of a line) is recorded once; other content under a known key is refused.\n\n\
        With --if-seq or --if-none the events are recorded only if the condition holds. Otherwise the command fails with \
        append_conflict, which names the newest event that matched. A batch with a condition is one atomic group.\n\n\
        FILTER is a list of terms FIELD=VALUE. An event matches if all terms match. FIELD is kind (several kinds: one of them), \
        tag, task, agent, trace, message, thread or session. \
        It can also be a JSON object, like {\"kinds\":[\"name_taken\"],\"tags\":[\"name=anna b\"]}."
)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["kind", "batch"]))]
#[command(after_help = "\
Examples:
  teamlog append demo --kind build_finished --actor ci --trace-id tr-1 --data '{\"ok\":true}'
  teamlog append demo --batch facts.jsonl --actor ci
  teamlog append demo --kind name_taken --tag name=anna --if-none 'kind=name_taken tag=name=anna'
  teamlog append demo --kind counted --tag of=builds --if-none tag=of=builds --after 5")]
pub struct Args {
    /// The team
    team: String,
    /// Kind of the event, in snake_case and the past tense, for example build_finished
    #[arg(long)]
    kind: Option<String>,
    /// Payload, JSON; - reads it from standard input [default: {}]
    #[arg(long, value_name = "JSON", conflicts_with = "batch")]
    data: Option<String>,
    #[command(flatten)]
    refs: Refs,
    /// Tag of the event, indexed and found by --tag of log, tail and replay; may be repeated
    #[arg(long = "tag", value_name = "NAME=VALUE", conflicts_with = "batch")]
    tags: Vec<String>,
    /// Record nothing if the log has an event after this seq
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    if_seq: Option<u64>,
    /// Record nothing if an event matches; may be repeated
    #[arg(long, value_name = "FILTER", value_parser = filter)]
    if_none: Vec<EventFilter>,
    /// Limit --if-none to events after this seq
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>, requires = "if_none")]
    after: Option<u64>,
    /// File of JSON lines; - is standard input
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// Lines per atomic group [default: 1000]
    #[arg(long, value_name = "N", conflicts_with = "kind", value_parser = super::whole::<usize>)]
    batch_size: Option<usize>,
}

// Refs of the event.
#[derive(Debug, clap::Args)]
struct Refs {
    /// Trace of the event
    #[arg(long, value_name = "TRACE", conflicts_with = "batch")]
    trace_id: Option<String>,
    /// Task that the event concerns
    #[arg(long, value_name = "TASK", conflicts_with = "batch")]
    task_id: Option<String>,
    /// Agent that the event concerns
    #[arg(long, conflicts_with = "batch")]
    agent: Option<String>,
    /// Message that the event concerns
    #[arg(long, value_name = "ID", conflicts_with = "batch")]
    message_id: Option<String>,
    /// Thread that the event concerns
    #[arg(long, value_name = "THREAD", conflicts_with = "batch")]
    thread_id: Option<String>,
    /// Session that the event concerns
    #[arg(long, value_name = "SESSION", conflicts_with = "batch")]
    session_id: Option<String>,
    /// Id of the event that caused this event
    #[arg(long, value_name = "EVENT_ID", value_parser = event_id, conflicts_with = "batch")]
    cause: Option<EventId>,
    /// Idempotency key, kept with the event: repeating the command with this key records nothing new
    #[arg(long, conflicts_with = "batch")]
    key: Option<String>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let conditions = Conditions {
            if_seq: self.if_seq,
            if_none: self.if_none.clone(),
            after: self.after,
        };
        conditions.check()?;
        match &self.batch {
            Some(path) => {
                let batch = AppendBatch {
                    batch_size: self.batch_size,
                    actor: context.doer(),
                    conditions,
                };
                many(context, &self.team, path, batch)
            }
            None => self.one(context),
        }
    }

    fn one(self, context: &mut Context) -> Outcome {
        context.records(match &self.refs.key {
            Some(_) => Repeat::UnderKey,
            None => Repeat::Never,
        });
        let append = Append {
            kind: self.kind.unwrap_or_default(),
            actor: context.doer(),
            trace_id: self.refs.trace_id,
            task_id: self.refs.task_id,
            agent: self.refs.agent,
            message_id: self.refs.message_id,
            thread_id: self.refs.thread_id,
            session_id: self.refs.session_id,
            key: self.refs.key,
            tags: (!self.tags.is_empty()).then_some(self.tags),
            cause: self.refs.cause,
            payload: match self.data.as_deref() {
                Some("-") => Some(given::stdin(context.env(), "data")?),
                _ => self.data,
            },
            if_seq: self.if_seq,
            if_none: (!self.if_none.is_empty()).then_some(self.if_none),
            after: self.after,
        };
        if let Some(payload) = &append.payload {
            Append::check_payload(payload)?;
        }
        let answer = context.execute(&Call::operation(), &self.team, append)?;
        context.end(Exit::Done, &answer, |answer, _| {
            vec![format!(
                "event {} recorded at {} as {}",
                answer.seq, answer.created_at, answer.id
            )]
        })
    }
}

fn many(context: &mut Context, team: &str, path: &Path, batch: AppendBatch) -> Outcome {
    let mut source = lines_of(context.env(), "batch", path)?;
    context.records(Repeat::Never);
    if !context.is_remote() {
        // Refuse an unknown team before reading the input.
        drop(context.team(team)?);
    }
    let mut groups = batch.groups(&mut *source);
    let mut keyed = true;
    while let Some(group) = groups
        .read_next()
        .map_err(|failure| stopped(failure.into(), &groups))?
    {
        let last_line = group.last_line();
        keyed &= group.is_keyed();
        context.records(match keyed {
            true => Repeat::UnderKey,
            false => Repeat::Never,
        });
        let recorded = context
            .execute(&Call::operation(), team, group)
            .map_err(|error| stopped(error, &groups))?;
        groups.advance(last_line, recorded);
    }
    let (answer, _) = groups.so_far();
    context.replays(answer.is_replayed());
    context.end(Exit::Done, &answer, |answer, _| {
        vec![match (answer.first_seq, answer.last_seq) {
            (Some(first), Some(last)) => {
                let new = answer.count - answer.replayed_lines;
                let replayed = match answer.replayed_lines {
                    0 => String::new(),
                    lines => format!(
                        "; {} replayed, recorded before under the same key",
                        time::plural(lines, "line")
                    ),
                };
                let range = match first == last {
                    true => format!("event {first}"),
                    false => format!("events {first} to {last}"),
                };
                match new {
                    0 => format!("nothing new recorded: {range}{replayed}"),
                    new => format!("{} recorded: {range}{replayed}", time::plural(new, "event")),
                }
            }
            _ => "nothing to record".to_owned(),
        }]
    })
}

/// Adds the number of recorded events to the error of a batch that ended early. A refusal already has this number.
fn stopped(error: CommandError, groups: &Groups<'_>) -> CommandError {
    let (recorded, next_line) = groups.so_far();
    if error.number("appended").is_some() {
        return error;
    }
    let mut details = Map::new();
    details.insert("appended".to_owned(), recorded.count.into());
    details.insert("last_seq".to_owned(), recorded.last_seq.into());
    details.insert("first_line".to_owned(), next_line.into());
    let told = match recorded.last_seq {
        Some(_) => format!("{}, which is all before line {next_line}", recorded.told()),
        None => String::new(),
    };
    error.adding(&told).with_details(details)
}

/// Opens a file for reading by line. The path `-` means standard input.
pub fn lines_of(
    env: &ProcessEnv,
    flag: &str,
    path: &Path,
) -> Result<Box<dyn BufRead>, CommandError> {
    if path == Path::new("-") {
        return Ok(env.stdin());
    }
    let file = open(env, flag, path)?;
    Ok(Box::new(BufReader::with_capacity(64 << 10, file)))
}

fn filter(text: &str) -> Result<EventFilter, String> {
    let filter = EventFilter::from_text("if_none", text);
    filter.map_err(|refusal| refusal.message)
}

fn event_id(text: &str) -> Result<EventId, String> {
    EventId::from_text(text.as_bytes())
        .ok_or_else(|| "must be an event id, as `replay` shows it".to_owned())
}

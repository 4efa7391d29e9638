//! `subscribe`: receives the events of a durable subscription, and settles each.

pub mod consumer;
pub mod program;

use crate::command::prelude::*;
use crate::render::event;
use consumer::{Calls, Consumer, End, Job, Run, Terms};
use program::Program;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use teamlog_team::subscription::fetch::{DeliveredEvent, FetchAnswer, FetchSubscription};
use teamlog_team::subscription::manage::{Subscribe, SubscriptionShown};
use teamlog_team::subscription::settle::{
    AckSubscription, NakAnswer, NakSubscription, ReleaseSubscription,
};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Receive the events of a durable subscription, in order, and continue after a restart where it ended\n\n\
        Creates the subscription NAME if it does not exist. Without --exec, prints each event, and acknowledges it after the \
        line is written. With --exec, runs a program per event, with the event as JSON on standard input: exit code 0 \
        acknowledges the event, any other outcome delivers it again later. After --max-attempts failures the event is \
        parked: attention lists it, and subscription replay delivers it again. Each event is delivered at least once: an \
        event whose ack was not stored is delivered again. One consumer per NAME is active; a second one waits until the \
        lease of the first ends. Runs until SIGTERM or SIGINT.",
    after_help = "\
Examples:
  teamlog subscribe demo alerts --kind task_failed --exec ./notify.sh
  teamlog subscribe demo audit --from start --once --json
  teamlog subscribe demo build --kind task_completed --window 8 --exec sh -- -c 'make -C ci'"
)]
pub struct Args {
    /// The team
    team: String,
    #[command(flatten)]
    input: Subscribe,
    /// Program to run per event; TEAMLOG_TEAM, TEAMLOG_SUBSCRIPTION, TEAMLOG_EVENT_SEQ, TEAMLOG_EVENT_KIND,
    /// TEAMLOG_EVENT_TASK and TEAMLOG_EVENT_ATTEMPT are set
    #[arg(long, value_name = "PROGRAM")]
    exec: Option<PathBuf>,
    /// Arguments of the program, after --
    #[arg(last = true, value_name = "ARGUMENT", requires = "exec")]
    arguments: Vec<OsString>,
    /// Seconds after which the program is killed, which counts as a failure [default: no limit]
    #[arg(long, value_name = "SECONDS", requires = "exec", value_parser = super::whole::<u64>)]
    exec_timeout_seconds: Option<u64>,
    /// End when no event is due
    #[arg(long)]
    once: bool,
    /// Name of this consumer, for people [default: the acting agent and the process id]
    #[arg(long, value_name = "NAME")]
    consumer: Option<String>,
    /// Seconds after which another consumer takes over if this process is killed, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = lease)]
    lease_seconds: u64,
}

/// Longest wait for an event before this process looks for a signal.
const WAIT: Duration = Duration::from_millis(500);
/// Longest wait of a daemon on another machine.
const REMOTE_WAIT: Duration = Duration::from_secs(5);

fn lease(text: &str) -> Result<u64, String> {
    let seconds = text.parse().ok();
    let seconds = seconds.filter(|seconds| (1..=3600).contains(seconds));
    seconds.ok_or_else(|| "must be 1 to 3600".to_owned())
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        let stopping = Arc::<AtomicBool>::default();
        for signal in [SIGTERM, SIGINT] {
            signal_hook::flag::register(signal, stopping.clone())
                .map_err(|error| CommandError::io("handle", "signals", &error))?;
        }
        let shown = context.read(&self.team, self.input.clone())?;
        let agent = context.actor().unwrap_or_else(|| "teamlog".to_owned());
        let label = self.consumer.clone();
        let from = self.input.from.as_deref();
        let wait = match (self.once, context.is_remote()) {
            (true, _) => Duration::ZERO,
            (false, true) => REMOTE_WAIT,
            (false, false) => WAIT,
        };
        let terms = Terms {
            name: self.input.name.clone(),
            label: label.unwrap_or_else(|| format!("{agent}-{}", std::process::id())),
            lease: Duration::from_secs(self.lease_seconds),
            wait,
            window: shown.subscription.window,
            once: self.once,
        };
        let from_seq = from.and_then(|from| from.parse().ok());
        note_move(context, from_seq, &shown.subscription);
        let calls = CommandLine {
            context,
            args: &self,
            stopping,
        };
        let mut consumer = Consumer::new(calls, terms, from_seq);
        let done = consumer.consume();
        let released = consumer.epoch().map(|epoch| consumer.calls.release(epoch));
        if let End::Held(answer) = done? {
            return Err(held(&answer));
        }
        released.transpose()?;
        let failures = consumer.failures();
        if self.once && failures > 0 {
            let deliveries = match failures {
                1 => "1 delivery".to_owned(),
                failures => format!("{failures} deliveries"),
            };
            let note = format!(
                "{deliveries} failed: teamlog subscription show {} {}",
                quoted(&self.team),
                self.input.name
            );
            consumer.calls.context.note(&note);
            return Ok(Exit::Refused);
        }
        Ok(Exit::Done)
    }
}

/// Tells that `--from SEQ` moves an existing subscription.
fn note_move(context: &mut Context, from_seq: Option<u64>, shown: &SubscriptionShown) {
    let (name, position) = (&shown.name, shown.position);
    let note = match from_seq {
        Some(seq) if seq > position => format!(
            "{name} moves from {position} to {seq}: the events in between are settled without delivery"
        ),
        Some(seq) if seq < position => format!(
            "{name} moves back from {position} to {seq}: the events in between are delivered again"
        ),
        _ => return,
    };
    context.note(&note);
}

/// The calls of `subscribe`.
struct CommandLine<'a> {
    context: &'a mut Context,
    args: &'a Args,
    /// Becomes true after SIGTERM or SIGINT.
    stopping: Arc<AtomicBool>,
}

/// An event that was printed.
struct Printed {
    /// True if the reader of the output may have left before it read the line.
    is_reader_gone: bool,
}

impl Job for Printed {
    fn poll(&mut self) -> Option<Run> {
        Some(match self.is_reader_gone {
            true => Run::failed("the reader of the output has left"),
            false => Run::Succeeded,
        })
    }

    fn cancel(&mut self) {}
}

impl Calls for CommandLine<'_> {
    type Error = CommandError;

    fn fetch(&mut self, fetch: FetchSubscription) -> Result<FetchAnswer, CommandError> {
        self.context.read(&self.args.team, fetch)
    }

    fn ack(&mut self, ack: AckSubscription) -> Result<(), CommandError> {
        self.context.read(&self.args.team, ack).map(drop)
    }

    fn nak(&mut self, nak: NakSubscription) -> Result<NakAnswer, CommandError> {
        self.context.read(&self.args.team, nak)
    }

    fn code(error: &CommandError) -> &str {
        error.code()
    }

    fn start(&mut self, delivered: &DeliveredEvent) -> Result<Box<dyn Job>, CommandError> {
        let Some(path) = &self.args.exec else {
            self.print(delivered)?;
            let is_reader_gone = self.context.out.reader_left();
            return Ok(Box::new(Printed { is_reader_gone }));
        };
        let program = Program {
            path,
            arguments: &self.args.arguments,
            team: &self.args.team,
            subscription: &self.args.input.name,
            deadline: self.args.exec_timeout_seconds.map(Duration::from_secs),
        };
        program.start(delivered).map_err(|error| {
            let message = format!(
                "cannot run {}: {error}; no event was settled",
                path.display()
            );
            CommandError::invalid("exec", message)
        })
    }

    fn is_stopping(&self) -> bool {
        let is_printing = self.args.exec.is_none();
        self.stopping.load(Ordering::Acquire)
            || (is_printing && (self.context.out.reader_left() || is_reader_gone()))
    }

    fn failed(&mut self, reason: &str, answer: &NakAnswer) {
        let again = match answer.next_at {
            None => "parked".to_owned(),
            Some(at) => format!("delivered again after {at}"),
        };
        let (seq, attempts) = (answer.seq, answer.attempts);
        let note = format!("event {seq}: {reason}; attempt {attempts}, {again}");
        self.context.note(&note);
    }

    fn lost(&mut self, code: &str) {
        let name = &self.args.input.name;
        let note = match code {
            "subscription_fenced" => {
                format!("another consumer took over {name}; waiting for its lease to end")
            }
            _ => format!("{name} no longer knows the deliveries; fetching the events again"),
        };
        self.context.note(&note);
    }
}

impl CommandLine<'_> {
    fn print(&mut self, delivered: &DeliveredEvent) -> Result<(), CommandError> {
        let view = self.context.view();
        match self.context.out.is_json() {
            true => {
                let line = delivered.event.json();
                self.context.out.json_line(line.as_bytes())?;
            }
            false => {
                let line = event::line(&delivered.event.event, &view);
                self.context.out.line(line)?;
            }
        }
        self.context.out.flush()
    }

    /// Ends the lease, so that another consumer can take over at once.
    fn release(&mut self, epoch: u64) -> Result<(), CommandError> {
        let name = self.args.input.name.clone();
        let release = ReleaseSubscription { name, epoch };
        match self.context.read(&self.args.team, release) {
            Err(error) if error.code() == "subscription_fenced" => Ok(()),
            released => released.map(drop),
        }
    }
}

/// Returns true if the reader of standard output is gone. Without this check, a consumer without a reader would keep its lease until
/// the next event.
fn is_reader_gone() -> bool {
    let stdout = std::io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let gone = PollFlags::ERR | PollFlags::HUP;
    let ready = poll(&mut polled, Some(&now));
    ready.is_ok() && polled.iter().any(|fd| fd.revents().intersects(gone))
}

fn held(answer: &FetchAnswer) -> CommandError {
    let FetchAnswer {
        name,
        consumer,
        leased_until,
        ..
    } = answer;
    let message = format!("subscription {name} is held by {consumer} until {leased_until}");
    CommandError::new(Exit::Refused, "subscription_fenced", message)
}

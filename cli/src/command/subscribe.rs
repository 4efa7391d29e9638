//! `subscribe`: receives the events of a durable subscription, and settles each.

pub mod program;

use crate::command::prelude::*;
use crate::render::event;
use program::{Program, Run};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use teamlog_team::subscription::fetch::{
    DeliveredEvent, FetchAnswer, FetchStatus, FetchSubscription,
};
use teamlog_team::subscription::manage::Subscribe;
use teamlog_team::subscription::settle::{AckSubscription, NakSubscription, ReleaseSubscription};

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

/// A consumer of a subscription.
struct Consumer<'a> {
    context: &'a mut Context,
    args: &'a Args,
    label: String,
    /// Epoch of the lease, while this consumer has one.
    epoch: Option<u64>,
    /// Position that the caller keeps itself, until the first lease is taken.
    from_seq: Option<u64>,
    /// Becomes true after SIGTERM or SIGINT.
    stopping: Arc<AtomicBool>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        let stopping = Arc::<AtomicBool>::default();
        for signal in [SIGTERM, SIGINT] {
            signal_hook::flag::register(signal, stopping.clone())
                .map_err(|error| CommandError::io("handle", "signals", &error))?;
        }
        context.read(&self.team, self.input.clone())?;
        let agent = context.actor().unwrap_or_else(|| "teamlog".to_owned());
        let label = self.consumer.clone();
        let from = self.input.from.as_deref();
        let mut consumer = Consumer {
            context,
            label: label.unwrap_or_else(|| format!("{agent}-{}", std::process::id())),
            epoch: None,
            from_seq: from.and_then(|from| from.parse().ok()),
            stopping,
            args: &self,
        };
        let done = consumer.consume();
        let released = consumer.release();
        done.and(released)?;
        Ok(Exit::Done)
    }
}

impl Consumer<'_> {
    /// Delivers events until this process shall end.
    fn consume(&mut self) -> Result<(), CommandError> {
        while !self.is_over() {
            let answer = match self.fetch() {
                Err(error) if error.code() == "subscription_fenced" => {
                    self.lost_lease();
                    continue;
                }
                answer => answer?,
            };
            self.epoch = answer.epoch;
            match answer.status {
                FetchStatus::Events => self.deliver(answer)?,
                FetchStatus::Empty if self.args.once => return Ok(()),
                FetchStatus::Held if self.args.once => return Err(held(&answer)),
                FetchStatus::Empty | FetchStatus::Held => {}
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let is_printing = self.args.exec.is_none();
        self.stopping.load(Ordering::Acquire)
            || (is_printing && (self.context.out.reader_left() || is_reader_gone()))
    }

    fn fetch(&mut self) -> Result<FetchAnswer, CommandError> {
        let wait = match (self.args.once, self.context.is_remote()) {
            (true, _) => Duration::ZERO,
            (false, true) => REMOTE_WAIT,
            (false, false) => WAIT,
        };
        let fetch = FetchSubscription {
            timeout_ms: u64::try_from(wait.as_millis()).ok(),
            from_seq: self.from_seq.filter(|_| self.epoch.is_none()),
            ..self.request(Vec::new())
        };
        let answer: FetchAnswer = self.context.read(&self.args.team, fetch)?;
        if answer.epoch.is_some() {
            self.from_seq = None;
        }
        Ok(answer)
    }

    fn request(&self, holding: Vec<u64>) -> FetchSubscription {
        FetchSubscription {
            name: self.args.input.name.clone(),
            consumer: Some(self.label.clone()),
            epoch: self.epoch,
            holding: Some(holding),
            lease_ms: Some(self.args.lease_seconds * 1_000),
            ..FetchSubscription::default()
        }
    }

    /// Forgets the lease, because another consumer took over.
    fn lost_lease(&mut self) {
        self.epoch = None;
        let name = &self.args.input.name;
        let note = format!("another consumer took over {name}; waiting for its lease to end");
        self.context.note(&note);
    }

    fn deliver(&mut self, answer: FetchAnswer) -> Result<(), CommandError> {
        let mut holding: Vec<u64> = answer.events.iter().map(seq).collect();
        for delivered in &answer.events {
            if self.is_over() {
                return Ok(());
            }
            let settled = self.handle(delivered, &holding);
            match settled {
                Err(error) if error.code() == "subscription_fenced" => {
                    self.lost_lease();
                    return Ok(());
                }
                settled => settled?,
            }
            holding.retain(|held| *held != seq(delivered));
        }
        Ok(())
    }

    fn handle(&mut self, delivered: &DeliveredEvent, holding: &[u64]) -> Result<(), CommandError> {
        let Some(path) = &self.args.exec else {
            self.print(delivered)?;
            return match self.context.out.reader_left() {
                true => Ok(()),
                false => self.ack(seq(delivered)),
            };
        };
        let program = Program {
            path,
            arguments: &self.args.arguments,
            team: &self.args.team,
            subscription: &self.args.input.name,
            deadline: self.args.exec_timeout_seconds.map(Duration::from_secs),
            renewal: Duration::from_secs(self.args.lease_seconds) / 3,
        };
        let stopping = self.stopping.clone();
        let is_stopping = move || stopping.load(Ordering::Acquire);
        let run = program.run(delivered, &is_stopping, || self.renew(holding));
        match run? {
            Run::Succeeded => self.ack(seq(delivered)),
            Run::Failed(reason) => self.nak(delivered, reason),
            // The event is delivered again under the next lease.
            Run::Interrupted => Ok(()),
        }
    }

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

    fn renew(&mut self, holding: &[u64]) -> Result<(), CommandError> {
        let renewal = FetchSubscription {
            limit: Some(0),
            timeout_ms: Some(0),
            ..self.request(holding.to_vec())
        };
        self.context.read(&self.args.team, renewal).map(drop)
    }

    fn ack(&mut self, seq: u64) -> Result<(), CommandError> {
        let ack = AckSubscription {
            name: self.args.input.name.clone(),
            epoch: self.epoch.unwrap_or_default(),
            seqs: vec![seq],
        };
        self.context.read(&self.args.team, ack).map(drop)
    }

    fn nak(&mut self, delivered: &DeliveredEvent, reason: String) -> Result<(), CommandError> {
        let nak = NakSubscription {
            name: self.args.input.name.clone(),
            epoch: self.epoch.unwrap_or_default(),
            seq: seq(delivered),
            reason: Some(reason.clone()),
            delay_ms: None,
        };
        let answer = self.context.read(&self.args.team, nak)?;
        let again = match answer.next_at {
            None => "parked".to_owned(),
            Some(at) => format!("delivered again after {at}"),
        };
        let (seq, attempts) = (answer.seq, answer.attempts);
        let note = format!("event {seq}: {reason}; attempt {attempts}, {again}");
        self.context.note(&note);
        Ok(())
    }

    /// Ends the lease, so that another consumer can take over at once.
    fn release(&mut self) -> Result<(), CommandError> {
        let Some(epoch) = self.epoch.take() else {
            return Ok(());
        };
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

fn seq(delivered: &DeliveredEvent) -> u64 {
    delivered.event.event.seq
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

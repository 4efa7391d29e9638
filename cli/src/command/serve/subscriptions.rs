//! The subscriptions that the daemon runs: `subscriptions.toml` of the data root lists them, each with a program or a receiver.
//!
//! ```toml
//! [[subscription]]
//! team = "demo"
//! name = "alerts"
//! kind = "task_failed"
//! exec = ["/home/ada/bin/notify.sh"]
//! ```
//!
//! The file decides which programs run, so only the daemon's user may have access to it. No backup and no other host has it.
//! The programs are started by threads of the main thread, which the confinement of the daemon's writes does not cover.

mod file;
mod post;
mod url;

use crate::command::subscribe::consumer::{Calls, Consumer, Job, Terms};
use crate::command::subscribe::program::Program;
use crate::env::ProcessEnv;
use crate::exit::CommandError;
use crate::render::escape::visible;
pub use file::read;
use post::{Delivery, Receiving};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use teamlog_server::Served;
use teamlog_team::command::Control;
use teamlog_team::command::deadline::Deadline;
use teamlog_team::engine::{Error, Timestamp};
use teamlog_team::subscription::fetch::{DeliveredEvent, FetchAnswer, FetchSubscription, LEASE_MS};
use teamlog_team::subscription::manage::Subscribe;
use teamlog_team::subscription::runner::SubscriptionRunner;
use teamlog_team::subscription::settle::{
    AckSubscription, NakAnswer, NakSubscription, ReleaseSubscription,
};
use teamlog_team::{Failure, Team};

/// Name of the file in the data root.
pub const FILE: &str = "subscriptions.toml";
/// Pause after an error.
const PAUSE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait of a fetch.
const WAIT: Duration = Duration::from_secs(30);

/// A subscription of the file.
#[derive(Debug)]
pub struct Entry {
    team: String,
    subscribe: Subscribe,
    target: Target,
}

/// The target of a subscription's events.
#[derive(Debug)]
pub enum Target {
    /// A program that runs once per event.
    Exec {
        /// Program and arguments.
        words: Vec<String>,
        /// Time after which the program is killed.
        timeout: Option<Duration>,
    },
    /// A URL to which each event is posted.
    Post(Arc<Receiving>),
}

impl Target {
    /// Describes the target without arguments, path and query, which can be secrets.
    fn shown(&self) -> String {
        match self {
            Target::Exec { words, .. } => {
                format!("exec {}", words.first().map_or("", String::as_str))
            }
            Target::Post(receiving) => format!("post {}", receiving.url.origin()),
        }
    }

    fn start(
        &self,
        delivered: &DeliveredEvent,
        about: Delivery<'_>,
    ) -> Result<Box<dyn Job>, Failure> {
        let (words, timeout) = match self {
            Target::Post(receiving) => return Ok(receiving.start(delivered, about)),
            Target::Exec { words, timeout } => (words, timeout),
        };
        let (path, arguments) = words.split_first().unwrap_or((&EMPTY, &[]));
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let program = Program {
            path: &PathBuf::from(path),
            arguments: &arguments,
            team: about.team,
            subscription: about.subscription,
            deadline: *timeout,
        };
        let started = program.start(delivered);
        Ok(started.map_err(Error::io("run", PathBuf::from(path)))?)
    }
}

static EMPTY: String = String::new();

/// The running subscriptions of a daemon.
pub struct Runners(Vec<JoinHandle<()>>);

impl Runners {
    /// Starts a thread per subscription. The threads end when the daemon stops.
    pub fn start(
        entries: Vec<Entry>,
        served: &Arc<Served>,
        env: &ProcessEnv,
    ) -> Result<Runners, CommandError> {
        forget_others(&entries, served);
        let start = |entry: Entry| {
            let (served, env) = (served.clone(), env.clone());
            thread::Builder::new()
                .name(format!("subscription {}", entry.subscribe.name))
                .spawn(move || entry.run(&served, &env))
                .map_err(|error| CommandError::io("start", "a thread", &error))
        };
        let started: Result<_, _> = entries.into_iter().map(start).collect();
        Ok(Runners(started?))
    }

    /// Waits until all threads have ended.
    pub fn join(self) {
        for thread in self.0 {
            // A panic was printed by the panic hook.
            let _ = thread.join();
        }
    }
}

/// Removes the descriptions of subscriptions that an earlier daemon ran, and that this one does not run.
fn forget_others(entries: &[Entry], served: &Served) {
    let mut kept: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in entries {
        let names = kept.entry(entry.team.as_str()).or_default();
        names.push(entry.subscribe.name.as_str());
    }
    for team in served.names() {
        let names = kept.get(team.as_str()).map_or(&[][..], Vec::as_slice);
        // A team that cannot be opened is reported elsewhere, and its old descriptions do no harm.
        let _ = served
            .team(&team)
            .and_then(|mut team| team.forget_runners(names));
    }
}

impl Entry {
    fn run(&self, served: &Arc<Served>, env: &ProcessEnv) {
        let mut last = String::new();
        while !served.is_stopping() {
            let Err(failure) = self.consume(served) else {
                continue;
            };
            let error = failure.to_string();
            if error != last {
                let (team, name) = (&self.team, &self.subscribe.name);
                let line = format!("subscription {name} of {team}: {error}");
                env.say(&format!("{}\n", visible(&line)));
            }
            last = error;
            let until = Instant::now() + PAUSE;
            while Instant::now() < until && !served.is_stopping() {
                thread::sleep(LOOK);
            }
        }
    }

    /// Delivers events until the daemon stops.
    fn consume(&self, served: &Arc<Served>) -> Result<(), Failure> {
        let mut team = served.team(&self.team)?;
        let shown = team.subscribe(&self.subscribe)?;
        let waits = served.clone();
        team.under(Control {
            deadline: Deadline::as_long_as(move || !waits.is_stopping()),
            ..Control::default()
        });
        let runner = SubscriptionRunner {
            pid: std::process::id(),
            target: self.target.shown(),
            last_error: None,
            last_error_at: None,
        };
        let terms = Terms {
            name: self.subscribe.name.clone(),
            label: runner.consumer(),
            lease: Duration::from_millis(LEASE_MS),
            wait: WAIT,
            window: shown.subscription.window,
            once: false,
        };
        let mut calls = DaemonCalls {
            entry: self,
            served,
            team,
            runner,
        };
        calls.record();
        let mut consumer = Consumer::new(calls, terms, None);
        let done = consumer.consume();
        let epoch = consumer.epoch();
        consumer.calls.end(epoch, done.as_ref().err());
        done.map(drop)
    }
}

/// The calls of a subscription that the daemon runs.
struct DaemonCalls<'a> {
    entry: &'a Entry,
    served: &'a Arc<Served>,
    team: Team,
    runner: SubscriptionRunner,
}

impl DaemonCalls<'_> {
    fn now(&self) -> Timestamp {
        self.served.root().options().clock.now()
    }

    /// Stores the description of this runner. It is information for people, so an error of the disk does not end the deliveries.
    fn record(&mut self) {
        let name = &self.entry.subscribe.name;
        let _ = self.team.record_runner(name, Some(&self.runner));
    }

    fn set_error(&mut self, error: Option<String>) {
        if self.runner.last_error != error {
            self.runner.last_error_at = error.as_ref().map(|_| self.now());
            self.runner.last_error = error;
            self.record();
        }
    }

    /// Ends the lease. Keeps the description if the deliveries ended with an error.
    fn end(&mut self, epoch: Option<u64>, error: Option<&Failure>) {
        let name = self.entry.subscribe.name.clone();
        match error {
            Some(error) => self.set_error(Some(error.to_string())),
            None => {
                let _ = self.team.record_runner(&name, None);
            }
        }
        if let Some(epoch) = epoch {
            // If the release fails, the lease ends at its time.
            let _ = self
                .team
                .release_subscription(&ReleaseSubscription { name, epoch });
        }
    }
}

impl Calls for DaemonCalls<'_> {
    type Error = Failure;

    fn fetch(&mut self, fetch: FetchSubscription) -> Result<FetchAnswer, Failure> {
        self.team.fetch_subscription(&fetch)
    }

    fn ack(&mut self, ack: AckSubscription) -> Result<(), Failure> {
        self.team.ack_subscription(&ack).map(drop)
    }

    fn nak(&mut self, nak: NakSubscription) -> Result<NakAnswer, Failure> {
        self.team.nak_subscription(&nak)
    }

    fn code(error: &Failure) -> &str {
        error.code()
    }

    fn start(&mut self, delivered: &DeliveredEvent) -> Result<Box<dyn Job>, Failure> {
        let about = Delivery {
            team: &self.entry.team,
            subscription: &self.entry.subscribe.name,
            now: self.now(),
        };
        self.entry.target.start(delivered, about)
    }

    fn is_stopping(&self) -> bool {
        self.served.is_stopping()
    }

    fn succeeded(&mut self) {
        self.set_error(None);
    }

    fn failed(&mut self, reason: &str, answer: &NakAnswer) {
        self.set_error(Some(format!("event {}: {reason}", answer.seq)));
    }

    /// Another consumer took over: this one waits for its lease without a message.
    fn lost(&mut self, _: &str) {}
}

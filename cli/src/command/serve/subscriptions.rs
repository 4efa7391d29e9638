//! The subscriptions that the daemon runs: `subscriptions.toml` of the data root lists them, each with a program.
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

use crate::command::subscribe::program::{Program, Run};
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit};
use crate::file::{check_private, open};
use crate::render::escape::visible;
use serde::Deserialize;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use teamlog_server::Served;
use teamlog_team::command::Control;
use teamlog_team::command::deadline::Deadline;
use teamlog_team::subscription::fetch::{DeliveredEvent, FetchStatus, FetchSubscription, LEASE_MS};
use teamlog_team::subscription::manage::Subscribe;
use teamlog_team::subscription::settle::{AckSubscription, NakSubscription, ReleaseSubscription};
use teamlog_team::{Failure, Team};

/// Name of the file in the data root.
pub const FILE: &str = "subscriptions.toml";
/// Maximum size of the file in bytes.
const BYTES_MAX: u64 = 1 << 20;
/// Maximum number of subscriptions in the file. Each has a thread.
const ENTRIES_MAX: usize = 32;
/// Pause after an error.
const PAUSE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default)]
    subscription: Vec<Entry>,
}

/// A subscription of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    team: String,
    name: String,
    kind: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    task: Option<String>,
    about: Option<String>,
    trace: Option<String>,
    by: Option<String>,
    #[serde(rename = "type")]
    message_type: Option<String>,
    not: Option<String>,
    from: Option<String>,
    max_attempts: Option<u32>,
    /// Program and arguments.
    exec: Vec<String>,
    /// Time after which the program is killed.
    timeout_seconds: Option<u64>,
}

/// Reads the file. A missing file has no subscriptions.
///
/// # Errors
/// `key_exposed` if others have access to the file, `not_permitted` if it belongs to another user, `invalid_input`; I/O.
pub fn read(env: &ProcessEnv, root: &Path) -> Result<Vec<Entry>, CommandError> {
    let path = root.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let file = open(env, "subscriptions.toml", &path)?;
    check_private("subscriptions.toml", &path, &file)?;
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| CommandError::io("read", &shown, &error);
    let owner = file.metadata().map_err(failed)?.uid();
    if owner != rustix::process::geteuid().as_raw() {
        let message = format!("{shown} belongs to user {owner}, not to the user of the daemon");
        return Err(CommandError::new(
            Exit::NotPermitted,
            "not_permitted",
            message,
        ));
    }
    let mut text = String::new();
    file.take(BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(failed)?;
    let invalid =
        |why: String| CommandError::invalid("subscriptions.toml", format!("{shown}: {why}"));
    let stored: Stored = toml::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    let entries = stored.subscription;
    if entries.len() > ENTRIES_MAX {
        let count = entries.len();
        return Err(invalid(format!(
            "at most {ENTRIES_MAX} subscriptions, but {count}"
        )));
    }
    match entries.iter().find(|entry| entry.exec.is_empty()) {
        Some(entry) => Err(invalid(format!("exec of {} is empty", entry.name))),
        None => Ok(entries),
    }
}

/// The running subscriptions of a daemon.
pub struct Runners(Vec<JoinHandle<()>>);

impl Runners {
    /// Starts a thread per subscription. The threads end when the daemon stops.
    pub fn start(
        entries: Vec<Entry>,
        served: &Arc<Served>,
        env: &ProcessEnv,
    ) -> Result<Runners, CommandError> {
        let start = |entry: Entry| {
            let (served, env) = (served.clone(), env.clone());
            thread::Builder::new()
                .name(format!("subscription {}", entry.name))
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

impl Entry {
    fn run(&self, served: &Arc<Served>, env: &ProcessEnv) {
        let mut last = String::new();
        while !served.is_stopping() {
            let Err(failure) = self.consume(served) else {
                continue;
            };
            // Another consumer took over: wait for its lease without a message.
            if failure.code() != "subscription_fenced" {
                let error = failure.to_string();
                if error != last {
                    let (team, name) = (&self.team, &self.name);
                    let line = format!("subscription {name} of {team}: {error}");
                    env.say(&format!("{}\n", visible(&line)));
                }
                last = error;
            }
            let until = Instant::now() + PAUSE;
            while Instant::now() < until && !served.is_stopping() {
                thread::sleep(LOOK);
            }
        }
    }

    fn subscribe(&self) -> Subscribe {
        Subscribe {
            name: self.name.clone(),
            kind: self.kind.clone(),
            tag: Some(self.tags.clone()).filter(|tags| !tags.is_empty()),
            task_id: self.task.clone(),
            agent: self.about.clone(),
            trace_id: self.trace.clone(),
            actor: self.by.clone(),
            message_type: self.message_type.clone(),
            not: self.not.clone(),
            from: self.from.clone(),
            window: None,
            max_attempts: self.max_attempts,
        }
    }

    /// Delivers events until the daemon stops.
    fn consume(&self, served: &Arc<Served>) -> Result<(), Failure> {
        let mut team = served.team(&self.team)?;
        team.subscribe(&self.subscribe())?;
        let waits = served.clone();
        team.under(Control {
            deadline: Deadline::as_long_as(move || !waits.is_stopping()),
            ..Control::default()
        });
        let mut epoch = None;
        let done = self.deliver(served, &mut team, &mut epoch);
        if let Some(epoch) = epoch {
            let name = self.name.clone();
            // If the release fails, the lease ends at its time.
            let _ = team.release_subscription(&ReleaseSubscription { name, epoch });
        }
        done
    }

    fn deliver(
        &self,
        served: &Arc<Served>,
        team: &mut Team,
        epoch: &mut Option<u64>,
    ) -> Result<(), Failure> {
        while !served.is_stopping() {
            let answer = team.fetch_subscription(&self.fetch(*epoch))?;
            *epoch = answer.epoch;
            if let (FetchStatus::Events, Some(epoch)) = (answer.status, answer.epoch) {
                for delivered in &answer.events {
                    self.handle(served, (&mut *team, epoch), delivered)?;
                }
            }
        }
        Ok(())
    }

    fn fetch(&self, epoch: Option<u64>) -> FetchSubscription {
        FetchSubscription {
            name: self.name.clone(),
            consumer: Some(format!("daemon-{}", std::process::id())),
            epoch,
            ..FetchSubscription::default()
        }
    }

    fn handle(
        &self,
        served: &Arc<Served>,
        (team, epoch): (&mut Team, u64),
        delivered: &DeliveredEvent,
    ) -> Result<(), Failure> {
        let [path, arguments @ ..] = self.exec.as_slice() else {
            return Ok(());
        };
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let program = Program {
            path: &PathBuf::from(path),
            arguments: &arguments,
            team: &self.team,
            subscription: &self.name,
            deadline: self.timeout_seconds.map(Duration::from_secs),
            renewal: Duration::from_millis(LEASE_MS) / 3,
        };
        let seq = delivered.event.event.seq;
        let renewal = FetchSubscription {
            holding: Some(vec![seq]),
            limit: Some(0),
            timeout_ms: Some(0),
            ..self.fetch(Some(epoch))
        };
        let run = program.run(delivered, &|| served.is_stopping(), || {
            team.fetch_subscription(&renewal).map(drop)
        })?;
        let name = self.name.clone();
        match run {
            Run::Succeeded => {
                let seqs = vec![seq];
                let ack = AckSubscription { name, epoch, seqs };
                team.ack_subscription(&ack).map(drop)
            }
            Run::Failed(reason) => {
                let nak = NakSubscription {
                    name,
                    epoch,
                    seq,
                    reason: Some(reason),
                    delay_ms: None,
                };
                team.nak_subscription(&nak).map(drop)
            }
            Run::Interrupted => Ok(()),
        }
    }
}

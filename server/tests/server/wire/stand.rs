//! A data root with teams, its daemons, and clients with raw connections.

use crate::client::LONGEST_WAIT;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use teamlog_server::{Answer, Call, Daemon, Limits, Reply, Runtime, ServeOptions, Streamed, serve};
use teamlog_team::lifecycle::init::Init;
use teamlog_team::{Root, RootOptions};
use tempfile::TempDir;

/// A data root in a temporary directory.
pub struct Stand {
    pub dir: TempDir,
    /// Number of answered calls.
    pub calls: Arc<AtomicUsize>,
}

impl Stand {
    /// Creates a data root with these teams.
    pub fn new(teams: &[&str]) -> Stand {
        let stand = Stand {
            dir: tempfile::tempdir().unwrap(),
            calls: Arc::default(),
        };
        for team in teams {
            stand.init(team);
        }
        stand
    }
    /// Starts a daemon for the team `demo`. Also returns the team's token.
    pub fn demo() -> (Stand, Daemon, String) {
        Stand::demo_within(|_| ())
    }
    /// Starts a daemon for the team `demo` with changed limits.
    pub fn demo_within(change: impl FnOnce(&mut Limits)) -> (Stand, Daemon, String) {
        let stand = Stand::new(&["demo"]);
        let daemon = stand.serve_within(change);
        let token = stand.token("demo");
        (stand, daemon, token)
    }
    pub fn init(&self, team: &str) {
        let root = Root::create(self.dir.path(), RootOptions::default()).unwrap();
        let init = Init {
            team: team.to_owned(),
            ..Init::default()
        };
        root.init(init).unwrap();
    }
    pub fn options(&self) -> ServeOptions {
        let calls = self.calls.clone();
        let answer = move |call: &Call| {
            calls.fetch_add(1, Ordering::SeqCst);
            told(call)
        };
        ServeOptions::new(self.dir.path(), Arc::new(move |_, call| answer(call)))
    }
    pub fn serve(&self) -> Daemon {
        serve(self.options()).unwrap()
    }
    pub fn serve_within(&self, change: impl FnOnce(&mut Limits)) -> Daemon {
        let mut options = self.options();
        change(&mut options.limits);
        serve(options).unwrap()
    }
    pub fn runtime_path(&self, team: &str) -> PathBuf {
        self.dir
            .path()
            .join("teams")
            .join(team)
            .join("runtime.json")
    }
    pub fn runtime(&self, team: &str) -> Runtime {
        serde_json::from_slice(&std::fs::read(self.runtime_path(team)).unwrap()).unwrap()
    }
    pub fn token(&self, team: &str) -> String {
        self.runtime(team).token
    }
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Answers a call with a description of the call. A few paths have other answers.
fn told(call: &Call) -> Answer {
    let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["v1", "api", "await-event" | "Team_Await_Event"] => {
            let since = Instant::now();
            while since.elapsed() < LONGEST_WAIT && !call.deadline.is_over() {
                std::thread::sleep(Duration::from_millis(5));
            }
            Reply::json(200, &()).into()
        }
        ["v1", "panic"] => panic!("on purpose"),
        ["v1", "slow", millis] => {
            std::thread::sleep(Duration::from_millis(millis.parse().unwrap()));
            Reply::json(200, &json!({"slept": millis})).into()
        }
        ["v1", "large", bytes] => {
            let mut reply = Reply::json(200, &());
            reply.body = vec![b'x'; bytes.parse().unwrap()];
            reply.into()
        }
        ["v1", "stream", every] => Answer::Streamed(stream(every.parse().unwrap())),
        ["v1", "write", file] => match std::fs::write(file, "written") {
            Ok(()) => Reply::json(200, &()).into(),
            Err(error) => Reply::error(403, "not_permitted", &error.to_string()).into(),
        },
        ["v1", "flood"] => Answer::Streamed(flood()),
        _ => Reply::json(200, &of(call)).into(),
    }
}

pub fn of(call: &Call) -> Value {
    json!({
        "method": call.method.name(),
        "path": call.path,
        "query": call.query,
        "team": call.team,
        "key": call.key,
        "trace": call.trace_id,
        "last": call.last_event_id,
        "stream": call.wants_stream,
        "body": String::from_utf8_lossy(&call.body),
    })
}

/// Sends a numbered frame every `every` milliseconds until the receiver is dropped.
fn stream(every: u64) -> Streamed {
    let (to, frames) = tokio::sync::mpsc::channel(4);
    std::thread::spawn(move || {
        for number in 0.. {
            let frame = format!("data: {number}\n\n");
            // `blocking_send` waits for a slow receiver. The call fails after the client disconnected.
            if to.blocking_send(frame.into()).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(every));
        }
    });
    Streamed {
        content_type: "text/event-stream",
        frames,
        heartbeat: b":\n\n",
    }
}

/// Sends as much as possible until the receiver is dropped.
fn flood() -> Streamed {
    let (to, frames) = tokio::sync::mpsc::channel(4);
    std::thread::spawn(move || while to.blocking_send(vec![b'x'; 1 << 16].into()).is_ok() {});
    Streamed {
        content_type: "text/event-stream",
        frames,
        heartbeat: b"",
    }
}

//! A daemon with its own data root, and a client that uses TCP.

use crate::client::{Client, Heard};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use teamlog_server::{Daemon, Limits, Runtime, ServeOptions, serve, stream};
use teamlog_team::Root;
use teamlog_team::engine::{ManualClock, Timestamp};
use teamlog_team::lifecycle::init::Init;
use tempfile::TempDir;

pub const TEAM: &str = "demo";

pub struct Stand {
    pub daemon: Daemon,
    pub dir: TempDir,
    /// The daemon's clock if the test controls it.
    pub clock: Arc<ManualClock>,
}

impl Stand {
    /// Starts a daemon that serves the open team `demo`.
    pub fn new() -> Stand {
        Stand::within(|_| {})
    }

    /// Starts a daemon for the open team `demo` with changed limits.
    pub fn within(change: impl FnOnce(&mut Limits)) -> Stand {
        Stand::begin(&[TEAM], false, change)
    }

    /// Starts a daemon for these teams with a manual clock.
    pub fn timed(teams: &[&str], change: impl FnOnce(&mut Limits)) -> Stand {
        Stand::begin(teams, true, change)
    }

    fn begin(teams: &[&str], timed: bool, change: impl FnOnce(&mut Limits)) -> Stand {
        let dir = tempfile::tempdir().unwrap();
        let start = Timestamp::parse("2026-11-25T12:00:00.000000Z").unwrap();
        let clock = Arc::new(ManualClock::new(start));
        let mut options = options(dir.path());
        if timed {
            options.root_options.clock = clock.clone();
        }
        let root = Root::create(dir.path(), options.root_options.clone()).unwrap();
        for team in teams {
            root.init(Init::for_team(*team)).unwrap();
        }
        drop(root);
        change(&mut options.limits);
        let daemon = serve(options).unwrap();
        Stand { daemon, dir, clock }
    }

    /// Gives the team a new token.
    pub fn rotate(&self) {
        self.control(&format!("POST /control/token/{TEAM}")).is(200);
    }

    /// Restarts the daemon with the data unchanged.
    pub fn restarted(self) -> Stand {
        self.restarted_after(|| {})
    }

    /// Restarts the daemon. Calls `between` while no daemon runs.
    pub fn restarted_after(self, between: impl FnOnce()) -> Stand {
        let Stand { daemon, dir, clock } = self;
        assert!(daemon.stop());
        between();
        let daemon = serve(options(dir.path())).unwrap();
        Stand { daemon, dir, clock }
    }

    /// Returns the path of a team's `runtime.json`. For `None`, returns the path of the data root's `runtime.json`.
    pub fn path(&self, team: Option<&str>) -> PathBuf {
        let dir = match team {
            Some(team) => self.dir.path().join("teams").join(team),
            None => self.dir.path().to_owned(),
        };
        dir.join("runtime.json")
    }

    pub fn token(&self, team: Option<&str>) -> String {
        runtime(&self.path(team)).token
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.token(Some(TEAM)))
    }

    /// Opens a connection and sends one request. Returns the connection.
    pub fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut client = Client::tcp(&self.daemon);
        let mut headers = headers.to_vec();
        headers.push(("Connection", "close"));
        client.send(&format!("{method} {target}"), &headers, body);
        client.stream
    }

    /// Sends a request with exactly these headers.
    pub fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Heard {
        Client::tcp(&self.daemon).ask(&format!("{method} {target}"), headers, body)
    }

    /// Sends a request with the team's token.
    pub fn with_token(&self, method: &str, target: &str, body: &str) -> Heard {
        let token = self.token(Some(TEAM));
        self.call(&token, &format!("{method} {target}"), body)
    }

    pub fn call(&self, bearer: &str, line: &str, body: &str) -> Heard {
        Client::tcp(&self.daemon).call(bearer, line, body)
    }

    /// Sends a request over the Unix socket.
    pub fn control(&self, line: &str) -> Heard {
        Client::unix(&self.daemon).ask(line, &[], "")
    }

    /// Creates a one-time code. `of` has its scope and team, for example `read/demo`, or `act` for all teams.
    pub fn code(&self, of: &str) -> String {
        let heard = self.control(&format!("POST /control/code/{of}"));
        heard.is(201).json()["code"].as_str().unwrap().to_owned()
    }

    pub fn session(&self, of: &str) -> String {
        let heard = self.call(&self.code(of), "POST /v1/session", "{}");
        heard.is(201).json()["session"].as_str().unwrap().to_owned()
    }
}

pub fn options(root: &Path) -> ServeOptions {
    ServeOptions::new(root, stream::answering())
}

pub fn runtime(path: &Path) -> Runtime {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

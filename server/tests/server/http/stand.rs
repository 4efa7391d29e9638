//! A daemon on a root of its own, and a client that speaks to it over TCP.

use crate::client::{Client, Heard};
use std::net::TcpStream;
use std::path::Path;
use teamlog_server::{Daemon, Limits, Runtime, ServeOptions, serve, stream};
use teamlog_team::lifecycle::init::Init;
use teamlog_team::{Root, RootOptions};
use tempfile::TempDir;

/// The team that is served.
pub const TEAM: &str = "demo";

pub struct Stand {
    daemon: Daemon,
    pub dir: TempDir,
}

impl Stand {
    /// A daemon that serves the open team `demo`.
    pub fn new() -> Stand {
        Stand::within(|_| {})
    }

    /// The same within other limits.
    pub fn within(change: impl FnOnce(&mut Limits)) -> Stand {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::create(dir.path(), RootOptions::default()).unwrap();
        root.init(Init::of(TEAM)).unwrap();
        let mut options = options(dir.path());
        change(&mut options.limits);
        let daemon = serve(options).unwrap();
        Stand { daemon, dir }
    }

    /// The same daemon with a new token for its team.
    pub fn rotate(&self) {
        let line = format!("POST /control/token/{TEAM}");
        let heard = Client::unix(&self.daemon).ask(&line, &[], "");
        assert_eq!(heard.status, 200, "{heard:?}");
    }

    /// The same data under another daemon.
    pub fn restarted(self) -> Stand {
        self.restarted_after(|| {})
    }

    /// The same, with something done to the data in between.
    pub fn restarted_after(self, between: impl FnOnce()) -> Stand {
        let Stand { daemon, dir } = self;
        assert!(daemon.stop());
        between();
        let daemon = serve(options(dir.path())).unwrap();
        Stand { daemon, dir }
    }

    pub fn runtime(&self) -> Runtime {
        let path = self
            .dir
            .path()
            .join("teams")
            .join(TEAM)
            .join("runtime.json");
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    /// A connection on which one request was sent.
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

    /// Asks with these headers and no others.
    pub fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Heard {
        Client::tcp(&self.daemon).ask(&format!("{method} {target}"), headers, body)
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.runtime().token)
    }

    /// Asks with the team's token.
    pub fn with_token(&self, method: &str, target: &str, body: &str) -> Heard {
        let bearer = self.bearer();
        let headers = [("Authorization", bearer.as_str())];
        self.ask(method, target, &headers, body)
    }
}

fn options(root: &Path) -> ServeOptions {
    ServeOptions::new(root, stream::answering())
}

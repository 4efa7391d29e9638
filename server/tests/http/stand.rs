//! A daemon on a root of its own, and a client that speaks to it over TCP.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
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

/// An answer, read.
#[derive(Debug)]
pub struct Heard {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Heard {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
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
        let mut stream = UnixStream::connect(self.daemon.socket()).unwrap();
        let request = format!(
            "POST /control/token/{TEAM} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
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
        let address = self
            .daemon
            .url()
            .strip_prefix("http://")
            .unwrap()
            .to_owned();
        let mut stream = TcpStream::connect(&address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let mut text =
            format!("{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        text.push_str(body);
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// Asks with these headers and no others.
    pub fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Heard {
        let mut text = String::new();
        let mut stream = self.send(method, target, headers, body);
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Heard {
            status: status.expect("a status"),
            head: head.to_owned(),
            body: body.to_owned(),
        }
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

//! A daemon in another process, and a connection to it.

use crate::release::run_quietly;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Name of the team that every daemon serves.
pub const TEAM: &str = "bench";

/// Time at which a daemon updates view files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Views {
    /// The daemon updates view files after its answers.
    After,
    /// The daemon updates view files before it answers.
    Before,
    /// The team has no view files.
    Off,
}

impl Views {
    /// All variants.
    pub const ALL: [Views; 3] = [Views::After, Views::Before, Views::Off];

    /// Returns the value of the setting.
    pub fn name(self) -> &'static str {
        match self {
            Views::After => "after_answer",
            Views::Before => "before_answer",
            Views::Off => "off",
        }
    }
}

/// A daemon on a root of its own, killed when dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    /// Host and port.
    pub address: String,
    /// Token for clients.
    pub token: String,
}

impl Daemon {
    /// Creates a team in `root` and serves it.
    pub fn start(teamlog: &Path, root: &Path, format: &str, views: Views) -> Daemon {
        let command = |args: &[&str]| {
            let mut command = Command::new(teamlog);
            command.arg("--data-root").arg(root).args(args);
            command
        };
        let mut init = command(&["init", TEAM, "--format", format]);
        if views == Views::Off {
            init.arg("--no-views");
        }
        run_quietly(&mut init);
        if views == Views::Before {
            run_quietly(&mut command(&[
                "config",
                "set",
                TEAM,
                "views.when",
                "before_answer",
            ]));
        }
        let mut serve = command(&["serve", "--json"]);
        let mut child = serve.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        answers.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let runtime = root.join("teams").join(TEAM).join("runtime.json");
        let runtime: Value = serde_json::from_slice(&std::fs::read(runtime).unwrap()).unwrap();
        let url = said["url"].as_str().unwrap();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Daemon {
            child,
            address: address.into(),
            token: runtime["token"].as_str().unwrap().into(),
        }
    }

    /// Returns the process id of the daemon.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Opens a connection to the daemon.
    pub fn client(&self) -> Client {
        Client::connect(&self.address, &self.token)
    }

    /// Returns the resident memory of the daemon in MiB.
    pub fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let mut lines = status
            .lines()
            .filter_map(|line| line.strip_prefix("VmRSS:"));
        let kib = lines.next().unwrap().trim_end_matches("kB").trim();
        let kib: f64 = kib.parse().unwrap();
        kib / 1024.0
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the header lines of every request.
pub fn headers(address: &str, token: &str) -> String {
    format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n")
}

/// Returns the body of a request that creates a task.
pub fn create() -> Value {
    json!({"teamId": TEAM, "title": "look at the second half of the parser"})
}

/// A connection that stays open.
#[derive(Debug)]
pub struct Client {
    reader: BufReader<TcpStream>,
    head: String,
}

impl Client {
    /// Connects to the daemon at `address`.
    pub fn connect(address: &str, token: &str) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Client {
            reader: BufReader::new(stream),
            head: headers(address, token),
        }
    }

    /// Sends a request, and returns status and body.
    pub fn call(&mut self, method: &str, path: &str, body: &str) -> (u16, String) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        );
        self.reader.get_mut().write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut length = 0;
        loop {
            line.clear();
            self.reader.read_line(&mut line).unwrap();
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        (status, String::from_utf8(body).unwrap())
    }

    /// Creates a task.
    pub fn create(&mut self) {
        let (status, answer) = self.call("POST", "/v1/tasks", &create().to_string());
        assert!((200..300).contains(&status), "{status} {answer}");
    }

    /// Requests a stream of events, and does not wait for the first event.
    pub fn follow(&mut self, query: &str) {
        let request = format!(
            "GET /v1/events?{query} HTTP/1.1\r\n{}Accept: text/event-stream\r\n\r\n",
            self.head
        );
        self.reader.get_mut().write_all(request.as_bytes()).unwrap();
    }

    /// Requests the events of a subscription as a stream, and does not wait for the first event.
    pub fn follow_subscription(&mut self, name: &str) {
        let request = format!(
            "POST /v1/subscriptions/{name}/fetch HTTP/1.1\r\n{}Accept: text/event-stream\r\n\r\n",
            self.head
        );
        self.reader.get_mut().write_all(request.as_bytes()).unwrap();
    }

    /// Appends an event of kind `built`.
    pub fn append(&mut self) {
        let (status, answer) = self.call("POST", "/v1/events", r#"{"kind":"built","actor":"ci"}"#);
        assert_eq!(status, 201, "{answer}");
    }

    /// Waits for the next event of the stream.
    pub fn next_event(&mut self) {
        let mut line = String::new();
        while !line.starts_with("id:") {
            line.clear();
            assert!(
                self.reader.read_line(&mut line).unwrap() > 0,
                "the stream ended"
            );
        }
    }

    /// Returns a counter of `/metrics`, summed over its labels.
    pub fn counter(&mut self, name: &str) -> f64 {
        let text = self.call("GET", "/metrics", "").1;
        text.lines()
            .filter(|line| {
                line.strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with(['{', ' ']))
            })
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }
}

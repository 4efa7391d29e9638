//! A root with teams, daemons on it, and clients that speak to them byte by byte.

use crate::documented;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use teamlog_server::{Answer, Call, Daemon, Limits, Reply, Runtime, ServeOptions, Streamed, serve};
use teamlog_team::lifecycle::init::Init;
use teamlog_team::{Root, RootOptions};
use tempfile::TempDir;

/// Nothing here takes so long, unless it hangs.
pub const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// A data root of its own.
pub struct Stand {
    pub dir: TempDir,
    /// How many calls were answered.
    pub calls: Arc<AtomicUsize>,
}

impl Stand {
    /// With these teams.
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

/// Tells a call what it is; a few are answered in other ways.
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

/// A numbered frame every so many milliseconds, until nobody takes it.
fn stream(every: u64) -> Streamed {
    let (to, frames) = tokio::sync::mpsc::channel(4);
    std::thread::spawn(move || {
        for number in 0.. {
            let frame = format!("data: {number}\n\n");
            if to.try_send(frame.into()).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(every));
        }
    });
    Streamed {
        content_type: "text/event-stream",
        headers: Vec::new(),
        frames,
        timeouts: b":\n\n",
    }
}

/// As much as can be sent, for as long as somebody takes it.
fn flood() -> Streamed {
    let (to, frames) = tokio::sync::mpsc::channel(4);
    std::thread::spawn(move || while to.blocking_send(vec![b'x'; 1 << 16].into()).is_ok() {});
    Streamed {
        content_type: "text/event-stream",
        headers: Vec::new(),
        frames,
        timeouts: b"",
    }
}

/// Where a daemon listens.
pub fn address(daemon: &Daemon) -> SocketAddr {
    let url = daemon.url().strip_prefix("http://").unwrap();
    url.parse().unwrap()
}

/// A client that speaks bytes.
pub struct Client<S> {
    pub stream: S,
    host: String,
    read: Vec<u8>,
}

/// An answer, taken apart.
#[derive(Debug, Clone)]
pub struct Heard {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Heard {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

impl Client<TcpStream> {
    pub fn tcp(daemon: &Daemon) -> Client<TcpStream> {
        Client::at(address(daemon))
    }
    pub fn at(address: SocketAddr) -> Client<TcpStream> {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONGEST_WAIT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client {
            stream,
            host: address.to_string(),
            read: Vec::new(),
        }
    }
}

impl Client<UnixStream> {
    pub fn unix(daemon: &Daemon) -> Client<UnixStream> {
        let stream = UnixStream::connect(daemon.socket()).unwrap();
        stream.set_read_timeout(Some(LONGEST_WAIT)).unwrap();
        Client {
            stream,
            host: "localhost".to_owned(),
            read: Vec::new(),
        }
    }
}

impl<S: Read + Write> Client<S> {
    /// Sends a request with these headers beside `Host`, and hears the answer.
    pub fn ask(&mut self, line: &str, headers: &[(&str, &str)], body: &str) -> Heard {
        let mut request = format!("{line} HTTP/1.1\r\nHost: {}\r\n", self.host);
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        request += "\r\n";
        request += body;
        self.say(request.as_bytes());
        let heard = self.hear().unwrap_or_else(|| panic!("no answer to {line}"));
        if heard.status >= 400 && !heard.body.is_empty() {
            let (method, target) = line.split_once(' ').unwrap();
            documented::check(method, target, heard.status, &heard.json());
        }
        heard
    }
    /// The same, with a token.
    pub fn call(&mut self, token: &str, line: &str, body: &str) -> Heard {
        let bearer = format!("Bearer {token}");
        self.ask(line, &[("Authorization", &bearer)], body)
    }
    pub fn get(&mut self, path: &str) -> Heard {
        self.ask(&format!("GET {path}"), &[], "")
    }
    /// Says something, heard or not.
    pub fn say(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }
    /// The next answer, unless the connection ends before it.
    pub fn hear(&mut self) -> Option<Heard> {
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            if !self.more() {
                return None;
            }
        };
        let head = String::from_utf8(self.read.drain(..end + 4).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut heard = Heard {
            status,
            head,
            body: String::new(),
        };
        let length = heard
            .header("content-length")
            .map_or(0, |n| n.parse().unwrap());
        while self.read.len() < length && self.more() {}
        let length = length.min(self.read.len());
        heard.body = String::from_utf8(self.read.drain(..length).collect()).unwrap();
        Some(heard)
    }
    /// Everything until the connection ends.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.more() {}
        std::mem::take(&mut self.read)
    }
    /// Everything of a body in chunks up to its last one; `None` where the connection ends before.
    pub fn chunks(&mut self) -> Option<Vec<u8>> {
        let since = Instant::now();
        while !self.read.ends_with(b"0\r\n\r\n") {
            assert!(since.elapsed() < LONGEST_WAIT, "the body goes on and on");
            if !self.more() {
                return None;
            }
        }
        Some(std::mem::take(&mut self.read))
    }
    /// Whether the connection has ended, as far as what it says goes.
    pub fn is_over(&mut self) -> bool {
        self.read.is_empty() && !self.more()
    }
    fn more(&mut self) -> bool {
        let mut space = [0; 65536];
        match self.stream.read(&mut space) {
            Ok(0) => false,
            Ok(read) => {
                self.read.extend_from_slice(&space[..read]);
                true
            }
            Err(error) => {
                let waited = matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                );
                assert!(!waited, "the connection neither answers nor ends");
                false
            }
        }
    }
}

/// Waits until it is so.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let since = std::time::Instant::now();
    while !so() {
        assert!(since.elapsed() < LONGEST_WAIT, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

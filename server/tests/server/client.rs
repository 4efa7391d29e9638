//! A client that exchanges raw bytes with a daemon.

use crate::documented;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Instant;
use teamlog_server::Daemon;

pub use crate::waiting::LONGEST_WAIT;

/// Returns the address on which a daemon listens.
pub fn address(daemon: &Daemon) -> SocketAddr {
    let url = daemon.url().strip_prefix("http://").unwrap();
    url.parse().unwrap()
}

/// A client on a raw connection.
pub struct Client<S> {
    pub stream: S,
    host: String,
    read: Vec<u8>,
    /// The error that ended the connection. `None` if the daemon closed the connection.
    broken: Option<std::io::Error>,
}

#[derive(Debug, Clone)]
pub struct Heard {
    /// Request line and body of the request. Empty if the answer belongs to no request of this client.
    asked: String,
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Heard {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
    /// Asserts that the answer is a refusal with this status and code.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> &Self {
        let told = (self.status, self.code());
        assert_eq!(told, (status, code.to_owned()), "{self:?}");
        self
    }
    /// Asserts the status of the answer.
    #[track_caller]
    pub fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        self
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
            broken: None,
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
            broken: None,
        }
    }
}

impl<S: Read + Write> Client<S> {
    /// Sends a request with these headers and a header `Host`.
    pub fn send(&mut self, line: &str, headers: &[(&str, &str)], body: &str) {
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
    }
    /// Sends a request with these headers and a header `Host`. Reads the answer.
    pub fn ask(&mut self, line: &str, headers: &[(&str, &str)], body: &str) -> Heard {
        self.send(line, headers, body);
        let Some(mut heard) = self.hear() else {
            panic!("no answer to {line}: {:?}", self.broken);
        };
        heard.asked = format!("{line} {body}");
        if heard.status >= 400 && !heard.body.is_empty() {
            let (method, target) = line.split_once(' ').unwrap();
            documented::check(method, target, heard.status, &heard.json());
        }
        heard
    }
    pub fn begin(&mut self, token: &str, line: &str, body: &str) {
        let bearer = format!("Bearer {token}");
        self.send(line, &[("Authorization", &bearer)], body);
    }
    /// Sends a request with a token. Reads the answer.
    pub fn call(&mut self, token: &str, line: &str, body: &str) -> Heard {
        self.call_with(token, line, &[], body)
    }
    /// Sends a request with a token and further headers. Reads the answer.
    pub fn call_with(
        &mut self,
        token: &str,
        line: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Heard {
        let bearer = format!("Bearer {token}");
        let own = [("Authorization", bearer.as_str())];
        self.ask(line, &[&own, headers].concat(), body)
    }
    pub fn get(&mut self, path: &str) -> Heard {
        self.ask(&format!("GET {path}"), &[], "")
    }
    /// Sends bytes. Ignores errors.
    pub fn say(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }
    /// Reads the next answer. Returns `None` if the connection ends first.
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
            asked: String::new(),
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
    /// Reads all bytes until the connection ends.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.more() {}
        std::mem::take(&mut self.read)
    }
    /// Reads a chunked body including its last chunk. Returns `None` if the connection ends first.
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
    /// Reads until the bytes that were read so far fulfil the condition `so`. A later call of `rest` also returns
    /// these bytes.
    #[track_caller]
    pub fn until(&mut self, so: impl Fn(&str) -> bool) {
        let since = Instant::now();
        loop {
            let told = String::from_utf8_lossy(&self.read).into_owned();
            if so(&told) {
                return;
            }
            let goes_on = since.elapsed() < LONGEST_WAIT && self.more();
            assert!(goes_on, "{told}");
        }
    }
    /// Returns true if the daemon closes the connection without sending anything.
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
                self.broken = Some(error);
                false
            }
        }
    }
}

pub use crate::waiting::until;

//! One client: a non-blocking connection, and its current task.

use serde::Deserialize;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;
use teamlog_benches::daemon::{TEAM, create};

/// Bytes to read at once.
const READ_BYTES: usize = 16 << 10;

/// A request that a client makes for its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Create,
    Claim,
    Complete,
}

/// The parts of an answer that the next request needs.
#[derive(Debug, Deserialize)]
struct Answer {
    task: Option<Task>,
    lease: Option<Lease>,
}

#[derive(Debug, Deserialize)]
struct Task {
    id: String,
}

#[derive(Debug, Deserialize)]
struct Lease {
    epoch: u64,
}

/// One client.
#[derive(Debug)]
pub struct Connection {
    /// Stream of the connection.
    pub stream: TcpStream,
    /// The step of the pending request.
    pub step: Step,
    /// Time at which the pending request was sent.
    pub asked: Instant,
    agent: String,
    task: String,
    epoch: u64,
    head: String,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connection {
    /// Connects, and requests the first task.
    pub fn open(address: &str, head: &str, number: usize) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_nonblocking(true).unwrap();
        let mut connection = Connection {
            stream,
            step: Step::Create,
            asked: Instant::now(),
            agent: format!("agent-{number}"),
            task: String::new(),
            epoch: 0,
            head: head.into(),
            request: Vec::new(),
            answer: Vec::new(),
        };
        connection.ask();
        connection
    }

    /// Sends the request of the current step.
    pub fn ask(&mut self) {
        let (agent, task, epoch) = (&self.agent, &self.task, self.epoch);
        let (path, body) = match self.step {
            Step::Create => ("/v1/tasks".to_owned(), create().to_string()),
            Step::Claim => (
                format!("/v1/tasks/{task}/claim"),
                format!(r#"{{"teamId":"{TEAM}","agentId":"{agent}"}}"#),
            ),
            Step::Complete => (
                format!("/v1/tasks/{task}/complete"),
                format!(r#"{{"teamId":"{TEAM}","agentId":"{agent}","epoch":{epoch}}}"#),
            ),
        };
        self.request.clear();
        write!(
            self.request,
            "POST {path} HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        )
        .unwrap();
        self.asked = Instant::now();
        // The send buffer of the socket is empty here, so the buffer has room for this small request.
        self.stream.write_all(&self.request).unwrap();
    }

    /// Reads the available bytes. If the answer is complete, returns its step, and prepares the next request.
    pub fn take(&mut self) -> Option<Step> {
        let held = self.answer.len();
        self.answer.resize(held + READ_BYTES, 0);
        let read = match self.stream.read(&mut self.answer[held..]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Ok(0) => panic!("the daemon closed a connection"),
            read => read.unwrap(),
        };
        self.answer.truncate(held + read);
        let (head, body) = whole(&self.answer)?;
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(
            (200..300).contains(&status),
            "{head}{}",
            String::from_utf8_lossy(body)
        );
        let answer: Answer = serde_json::from_slice(body).unwrap();
        let done = self.step;
        self.step = match done {
            Step::Create => {
                self.task = answer.task.unwrap().id;
                Step::Claim
            }
            Step::Claim => {
                self.epoch = answer.lease.unwrap().epoch;
                Step::Complete
            }
            Step::Complete => Step::Create,
        };
        self.answer.clear();
        Some(done)
    }
}

/// Returns head and body of a complete answer.
fn whole(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().unwrap())
    });
    let body = &bytes[end..];
    (body.len() == length.unwrap()).then_some((head, body))
}

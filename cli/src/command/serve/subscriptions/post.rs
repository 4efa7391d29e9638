//! Posts an event to the URL of a subscription: one signed HTTP request per event, over TLS or to the loopback.
//!
//! Any status from 200 to 299 acknowledges the event. No redirect is followed: 3xx is a failure like all others. The addresses
//! of a host name are checked again for each request, so a name that later resolves to another host gets no event without TLS.

use super::url::PostUrl;
use crate::command::subscribe::consumer::{Job, Run};
use crate::forward::trust::handshake_failure;
use ring::hmac;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::engine::Timestamp;
use teamlog_team::subscription::DELAY_MS_MAX;
use teamlog_team::subscription::fetch::DeliveredEvent;

/// Maximum number of bytes of a response that are read: status line and headers. The body is not read.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Time after the deadline before a request counts as failed whose thread does not answer, for example during name resolution.
const MARGIN: Duration = Duration::from_secs(1);

/// The receiver of a subscription's events.
pub struct Receiving {
    pub url: PostUrl,
    pub key: hmac::Key,
    /// Configuration of TLS; `None` for `http`.
    pub tls: Option<Arc<ClientConfig>>,
    /// Time limit of a request, from the name resolution to the end of the response's headers.
    pub timeout: Duration,
}

impl fmt::Debug for Receiving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The output leaves out the secret and the path.
        write!(f, "Receiving({})", self.url.origin())
    }
}

/// Headers that name the delivery.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    pub team: &'a str,
    pub subscription: &'a str,
    pub now: Timestamp,
}

/// A request that runs on a thread of its own.
struct PostJob {
    outcome: Receiver<Run>,
    until: Instant,
    timeout: Duration,
}

impl Receiving {
    /// Starts the request of an event.
    pub fn start(
        self: &Arc<Self>,
        delivered: &DeliveredEvent,
        about: Delivery<'_>,
    ) -> Box<dyn Job> {
        let body = delivered.event.json();
        let request = self.request(delivered, about, body.as_bytes());
        let (send, outcome) = channel();
        let receiving = self.clone();
        let posts = thread::Builder::new().name("post".to_owned());
        let spawned = posts.spawn(move || {
            let run = receiving.post(&request).unwrap_or_else(Run::failed);
            // Sending fails after the job was cancelled.
            let _ = send.send(run);
        });
        // If no thread can be started, the sender is dropped, and the job fails.
        drop(spawned);
        Box::new(PostJob {
            outcome,
            until: Instant::now() + self.timeout + MARGIN,
            timeout: self.timeout,
        })
    }

    fn request(&self, delivered: &DeliveredEvent, about: Delivery<'_>, body: &[u8]) -> Vec<u8> {
        let event = &delivered.event.event;
        let seconds = about.now.micros().div_euclid(1_000_000);
        let mut signed = format!("{seconds}.").into_bytes();
        signed.extend_from_slice(body);
        let signature = hex(hmac::sign(&self.key, &signed).as_ref());
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: teamlog/{}\r\nConnection: close\r\n\
            Content-Type: application/json\r\nContent-Length: {}\r\nTeamlog-Team: {}\r\n\
            Teamlog-Subscription: {}\r\nTeamlog-Seq: {}\r\nTeamlog-Attempt: {}\r\n\
            Teamlog-Timestamp: {seconds}\r\nTeamlog-Signature: v1={signature}\r\n\r\n",
            self.url.target,
            self.url.authority(),
            env!("CARGO_PKG_VERSION"),
            body.len(),
            about.team,
            about.subscription,
            event.seq,
            delivered.attempt,
        );
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// Sends the request and reads the status. Returns the reason of a failure without a status.
    fn post(&self, request: &[u8]) -> Result<Run, String> {
        let until = Instant::now() + self.timeout;
        let mut last = "no address has that name".to_owned();
        for address in self.url.addresses()? {
            match self.post_to(address, request, until) {
                Ok(run) => return Ok(run),
                Err(Failure::NotConnected(why)) => last = why,
                Err(Failure::Sent(why)) => return Err(why),
            }
        }
        Err(format!("cannot connect to {}: {last}", self.url.origin()))
    }

    fn post_to(&self, address: SocketAddr, request: &[u8], until: Instant) -> Result<Run, Failure> {
        let left = until.saturating_duration_since(Instant::now());
        let left = left.max(Duration::from_millis(1));
        let stream = TcpStream::connect_timeout(&address, left)
            .map_err(|error| Failure::NotConnected(error.to_string()))?;
        let _ = stream.set_nodelay(true);
        let mut stream = BoundedStream { stream, until };
        let Some(tls) = &self.tls else {
            return exchange(&mut stream, request).map_err(|error| self.sent(&error));
        };
        let name = ServerName::try_from(self.url.host.clone())
            .map_err(|error| Failure::Sent(error.to_string()))?;
        let client = ClientConnection::new(tls.clone(), name)
            .map_err(|error| Failure::Sent(error.to_string()))?;
        let mut connection = StreamOwned::new(client, stream);
        while connection.conn.is_handshaking() {
            let shaken = connection.conn.complete_io(&mut connection.sock);
            shaken.map_err(|error| Failure::Sent(handshake_failure(&error, "ca_file")))?;
        }
        exchange(&mut connection, request).map_err(|error| self.sent(&error))
    }

    fn sent(&self, error: &io::Error) -> Failure {
        Failure::Sent(match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                format!("no response within {} s", self.timeout.as_secs())
            }
            _ => error.to_string(),
        })
    }
}

enum Failure {
    /// The next address of the host may work.
    NotConnected(String),
    Sent(String),
}

impl Job for PostJob {
    fn poll(&mut self) -> Option<Run> {
        match self.outcome.try_recv() {
            Ok(run) => Some(run),
            Err(TryRecvError::Disconnected) => Some(Run::failed("cannot start a thread")),
            Err(TryRecvError::Empty) if Instant::now() < self.until => None,
            Err(TryRecvError::Empty) => {
                let seconds = self.timeout.as_secs();
                Some(Run::failed(format!("no response within {seconds} s")))
            }
        }
    }

    /// The thread ends at the deadline of the request.
    fn cancel(&mut self) {}
}

/// A connection whose reads and writes all end at one time, so that a peer that sends a byte now and then does not extend the
/// exchange.
struct BoundedStream {
    stream: TcpStream,
    until: Instant,
}

impl BoundedStream {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for BoundedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for BoundedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn exchange(stream: &mut (impl Read + Write), request: &[u8]) -> io::Result<Run> {
    // A receiver may answer before it has read the whole body, and then close the connection.
    let written = stream.write_all(request).and_then(|()| stream.flush());
    match (read_head(stream), written) {
        (Err(_), Err(error)) => Err(error),
        (head, _) => Ok(outcome(&head?)),
    }
}

/// Reads the head of the response. Skips interim responses (1xx).
fn read_head(stream: &mut impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 2048];
    loop {
        while let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            let head = String::from_utf8_lossy(&bytes).into_owned();
            if status(&head).is_none_or(|status| !(100..200).contains(&status)) {
                return Ok(head);
            }
            bytes = rest;
        }
        if bytes.len() > HEAD_BYTES_MAX {
            let message = format!("the response has headers of more than {HEAD_BYTES_MAX} bytes");
            return Err(io::Error::other(message));
        }
        match stream.read(&mut chunk)? {
            0 => return Err(io::Error::other("the connection ended before a response")),
            count => bytes.extend(chunk.iter().take(count)),
        }
    }
}

fn status(head: &str) -> Option<u16> {
    let line = head.lines().next()?;
    let mut words = line.split(' ');
    words
        .next()
        .filter(|version| version.starts_with("HTTP/1."))?;
    words.next()?.parse().ok()
}

fn outcome(head: &str) -> Run {
    match status(head) {
        Some(200..=299) => Run::Succeeded,
        Some(status) => Run::Failed {
            reason: match status {
                300..=399 => format!("HTTP {status}: redirects are not followed"),
                _ => format!("HTTP {status}"),
            },
            delay: retry_after(head),
        },
        None => Run::failed("the response is not HTTP/1.1"),
    }
}

/// Returns the delay of `Retry-After` in seconds, at most a day. A date is not supported: the usual delay applies.
fn retry_after(head: &str) -> Option<Duration> {
    let values = head.lines().filter_map(|line| line.split_once(':'));
    let mut values = values.filter(|(name, _)| name.trim().eq_ignore_ascii_case("retry-after"));
    let (_, value) = values.next()?;
    let seconds: u64 = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(Duration::from_millis(DELAY_MS_MAX)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_acknowledges_or_fails() {
        let head = |status: &str, rest: &str| format!("HTTP/1.1 {status} x\r\n{rest}\r\n");
        assert_eq!(outcome(&head("204", "")), Run::Succeeded);
        let failed = |reason: &str, seconds: Option<u64>| Run::Failed {
            reason: reason.to_owned(),
            delay: seconds.map(Duration::from_secs),
        };
        let gone = outcome(&head("410", "retry-after: 7\r\n"));
        assert_eq!(gone, failed("HTTP 410", Some(7)));
        let long = outcome(&head("503", "Retry-After: 99999999\r\n"));
        assert_eq!(long, failed("HTTP 503", Some(86_400)));
        let moved = outcome(&head("302", "Location: /x\r\n"));
        assert_eq!(moved, failed("HTTP 302: redirects are not followed", None));
        let other = outcome("SSH-2.0-x\r\n\r\n");
        assert_eq!(other, failed("the response is not HTTP/1.1", None));
    }

    #[test]
    fn interim_responses_are_skipped_and_a_head_without_end_is_refused() {
        let mut two = &b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody"[..];
        assert!(read_head(&mut two).unwrap().starts_with("HTTP/1.1 200"));
        let mut endless = io::repeat(b'x');
        let error = read_head(&mut endless).unwrap_err();
        assert!(
            error.to_string().contains("more than 16384 bytes"),
            "{error}"
        );
        assert!(read_head(&mut io::empty()).is_err());
    }
}

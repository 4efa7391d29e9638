//! The connection to the servers: it runs on a thread of its own, every call has a deadline, and errors are told by their codes.

use crate::config::Config;
use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, HeaderMap, Message, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::pin::pin;
use std::time::{Duration, Instant};
use teamlog_engine::journal::ConfigError;
use teamlog_engine::{Error, JournalFault};
use tokio::runtime::{Builder, Handle, Runtime};

/// How long one call may take.
pub const CALL: Duration = Duration::from_secs(3);
/// What a line carries at least in a second: a call has as much longer as its bytes need then.
const BYTES_A_SECOND: usize = 1 << 20;
/// An answer with the largest message is not larger.
const ANSWER_BYTES_MAX: usize = 11 << 20;
/// How long to wait before what nobody took is sent again.
pub const PAUSE: Duration = Duration::from_millis(20);
/// With less time left than that it is not: what has no time for an answer is in doubt for nothing.
const ANSWER: Duration = Duration::from_millis(500);

/// When a short question is asked again, and when it is given up.
pub const SHORT: (Duration, Duration) = (Duration::from_secs(1), CALL);

/// How long a call may take that carries so many bytes.
pub fn time_for(bytes: usize) -> Duration {
    CALL + Duration::from_millis((bytes / (BYTES_A_SECOND / 1_000)) as u64)
}

/// When a message is asked for again, and when it is given up: it may be large.
pub fn for_message() -> (Duration, Duration) {
    (CALL, time_for(ANSWER_BYTES_MAX))
}

/// Another message stands behind the one that was named.
pub const WRONG_LAST_SEQUENCE: u64 = 10_071;
/// The same, in other words of the server.
pub const WRONG_LAST_SEQUENCE_TOO: u64 = 10_164;
/// A message of the same id is being stored.
pub const BEING_STORED: u64 = 10_158;
/// There is no such stream.
pub const NO_STREAM: u64 = 10_059;
/// There is no such message.
pub const NO_MESSAGE: u64 = 10_037;
/// A stream of that name is there already.
pub const STREAM_EXISTS: u64 = 10_058;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// Nothing was sent, or nobody was there to take it.
    Unsent(String),
    /// It was sent, and there was no answer.
    Unanswered(String),
    /// The server said no, by that code, and did nothing.
    Refused(u64, String),
}

impl Lost {
    /// Whether the server refused by that code.
    pub fn is(&self, code: u64) -> bool {
        matches!(self, Lost::Refused(found, _) if *found == code)
    }

    /// Whether the server compared, and something else stands there, or comes to stand there.
    pub fn is_compare(&self) -> bool {
        [WRONG_LAST_SEQUENCE, WRONG_LAST_SEQUENCE_TOO, BEING_STORED]
            .iter()
            .any(|code| self.is(*code))
    }
}

/// What a server answers with where it refuses.
#[derive(Deserialize)]
struct Answer {
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    #[serde(default)]
    code: u64,
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

/// What a server answers with where it stored a message.
#[derive(Debug, Deserialize)]
pub struct Ack {
    pub seq: u64,
    /// Whether one of the same id was there before.
    #[serde(default)]
    pub duplicate: bool,
}

/// One connection.
pub struct Line {
    /// `None` once it is dropped.
    runtime: Option<Runtime>,
    thread: Handle,
    client: Client,
}

impl Line {
    /// Connects to one of the servers.
    pub fn connect(config: &Config) -> Result<Line, Error> {
        let unconfigured =
            |error: ConfigError| Error::journal(JournalFault::Unconfigured, error.to_string());
        let unreachable = |why: String| Error::journal(JournalFault::Unreachable, why);
        let servers = config.servers().map_err(unconfigured)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| unreachable(error.to_string()))?;
        let named = servers.addresses.join(", ");
        let connecting = async { servers.options.connect(servers.addresses).await };
        let client = runtime.block_on(connecting).map_err(|error| {
            let said = error.to_string();
            let beneath = std::error::Error::source(&error).map(|source| source.to_string());
            match beneath.filter(|beneath| !said.contains(beneath)) {
                Some(beneath) => unreachable(format!("{named}: {said}: {beneath}")),
                None => unreachable(format!("{named}: {said}")),
            }
        })?;
        Ok(Line {
            thread: runtime.handle().clone(),
            runtime: Some(runtime),
            client,
        })
    }

    /// Runs what asks it, and waits.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.thread.block_on(work)
    }

    /// The server that it leads to now.
    pub fn server_name(&self) -> String {
        self.client.server_info().server_name
    }

    /// Asks the part of a server that keeps streams. What is asked may be asked twice, and is where no answer comes soon:
    /// between servers that just found each other, or lost one, a question is lost without a word. The first answer counts.
    pub async fn api<T: DeserializeOwned>(
        &self,
        subject: &str,
        body: &Value,
        (soon, most): (Duration, Duration),
    ) -> Result<T, Lost> {
        let body = body.to_string().into_bytes();
        let until = Instant::now() + most;
        let ask = || {
            let request = Request::new().payload(body.clone().into());
            self.ask(format!("$JS.API.{subject}"), request, until)
        };
        let mut first = pin!(ask());
        let answered = match tokio::time::timeout(soon, first.as_mut()).await {
            Ok(Ok(answered)) => Ok(answered),
            Ok(Err(_)) => ask().await,
            Err(_) => {
                let mut second = pin!(ask());
                tokio::select! {
                    one = first.as_mut() => match one {
                        Err(_) => second.await,
                        answered => answered,
                    },
                    other = second.as_mut() => match other {
                        Err(_) => first.await,
                        answered => answered,
                    },
                }
            }
        };
        answer(&answered?)
    }

    /// Has a message stored. Where nobody is there to take it, as while a leader is elected, it is sent again until that time.
    pub async fn publish(
        &self,
        subject: &str,
        headers: &HeaderMap,
        bytes: &[u8],
        until: Instant,
    ) -> Result<Ack, Lost> {
        loop {
            let request = Request::new().headers(headers.clone());
            let request = request.payload(bytes.to_vec().into());
            match self.ask(subject.to_owned(), request, until).await {
                Ok(answered) => return answer(&answered),
                Err(Lost::Unsent(why)) if Instant::now() + ANSWER >= until => {
                    return Err(Lost::Unsent(why));
                }
                Err(Lost::Unsent(_)) => tokio::time::sleep(PAUSE).await,
                Err(lost) => return Err(lost),
            }
        }
    }

    async fn ask(
        &self,
        subject: String,
        request: Request,
        until: Instant,
    ) -> Result<Message, Lost> {
        // What is sent while there is no connection would be sent later.
        let connected = until.min(Instant::now() + CALL);
        while self.client.connection_state() != State::Connected {
            if Instant::now() >= connected {
                return Err(Lost::Unsent("no server is connected".into()));
            }
            tokio::time::sleep(PAUSE).await;
        }
        let sent = self.client.send_request(subject, request.timeout(None));
        match tokio::time::timeout_at(until.into(), sent).await {
            Ok(Ok(message)) => Ok(message),
            Ok(Err(error)) => Err(match error.kind() {
                RequestErrorKind::NoResponders => Lost::Unsent(
                    "nobody takes it: JetStream is off, or the stream has no leader or is gone"
                        .into(),
                ),
                RequestErrorKind::MaxPayloadExceeded | RequestErrorKind::InvalidSubject => {
                    Lost::Refused(0, error.to_string())
                }
                _ => Lost::Unanswered(error.to_string()),
            }),
            Err(_) => Err(Lost::Unanswered("no answer in time".into())),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Reads an answer. One that is none of the server's is taken for no answer.
fn answer<T: DeserializeOwned>(message: &Message) -> Result<T, Lost> {
    let unreadable = |error| Lost::Unanswered(format!("the answer cannot be read: {error}"));
    let refused: Answer = serde_json::from_slice(&message.payload).map_err(unreadable)?;
    match refused.error {
        None => serde_json::from_slice(&message.payload).map_err(unreadable),
        Some(fault) => {
            let why = format!("{} ({})", fault.description, fault.err_code);
            Err(match fault.code {
                // It may have been on its way already.
                500.. => Lost::Unanswered(why),
                _ => Lost::Refused(fault.err_code, why),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Message {
        Message {
            subject: "x".into(),
            reply: None,
            payload: text.to_owned().into(),
            headers: None,
            status: None,
            description: None,
            length: 0,
        }
    }

    #[test]
    fn errors_are_told_by_their_codes() {
        let lost = |text: &str| answer::<Ack>(&message(text)).unwrap_err();
        for code in [10_071, 10_164, 10_158] {
            let text = format!(
                r#"{{"error":{{"code":400,"err_code":{code},"description":"wrong last"}},"stream":"x","seq":0}}"#
            );
            assert!(lost(&text).is_compare(), "{code}");
        }
        let unavailable = r#"{"error":{"code":503,"err_code":10008,"description":"unavailable"}}"#;
        assert!(matches!(lost(unavailable), Lost::Unanswered(_)));
        let gone =
            lost(r#"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#);
        assert!(gone.is(NO_STREAM) && !gone.is_compare());
        for text in ["", "{}", "[]", "{\"seq\":-1}", "+ACK", "{\"error\":7}"] {
            assert!(matches!(lost(text), Lost::Unanswered(_)), "{text}");
        }
        let ack = answer::<Ack>(&message(r#"{"stream":"x","seq":7,"duplicate":true}"#)).unwrap();
        assert_eq!((ack.seq, ack.duplicate), (7, true));
    }
}

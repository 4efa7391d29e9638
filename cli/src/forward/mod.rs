//! What records something in a team that a daemon has is asked of that daemon, since it holds the team's lock.
//!
//! Says the team's `runtime.json` that a daemon serves it ([`runtime`]), then the [`Call`](crate::call::Call) goes there in
//! one request, and comes back as one answer or one error ([`client`]). Where nobody answers, the file is a leftover, and the
//! call is carried out here. Commands on the whole log ask the daemon to give way instead, and work here. In the daemon,
//! [`resident`] answers.

mod client;
mod connection;
pub mod control;
mod events;
mod remote;
mod resident;
pub mod runtime;
mod transport;
mod trust;
mod unknown;
mod upload;

pub use remote::Remote;
pub use resident::Resident;
pub use transport::{
    API, ARTIFACT_GET, ARTIFACT_PUT, ApiAnswer, ApiInput, CATCH_UP, INIT, SEND_AND_WAIT, TOOL,
};
pub use unknown::Repeat;

use crate::call::{Sent, Who};
use crate::exit::{CommandError, Exit};
use crate::random;
use crate::stream::Streamed;
use client::{Deadlines, Exchange, Peer, Stream, received};
use runtime::Runtime;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::api::Op;
use teamlog_team::engine::Point;
use teamlog_team::engine::{Receipt, Timestamp};
use teamlog_team::import::messages::ImportMessages;
use teamlog_team::lifecycle::freshness::AsOf;
use teamlog_team::log::await_event::AwaitEvent;
use teamlog_team::log::sync_views::SyncViews;
use unknown::outcome_unknown;

/// Calls that may wait for others.
const WAITING: [&str; 5] = [
    SEND_AND_WAIT.name,
    "wait",
    AwaitEvent::NAME,
    SyncViews::NAME,
    API.name,
];
/// How long a daemon on another machine may take for an answer, beside what it waits for locks.
const REPLY_DEADLINE: Duration = Duration::from_secs(60);
/// Longest wait for a daemon's answer to a token.
const REVOKED_CHECK: Duration = Duration::from_secs(10);
/// How often a daemon is asked that hangs up before it has the request.
const ATTEMPTS: usize = 5;

/// Refusals before anything of a request was carried out, which end by themselves.
const BUSY_CODES: [&str; 2] = ["busy", "rate_limited"];
/// Longest pause before a refused command asks again.
const RETRY_PAUSE_MAX: Duration = Duration::from_millis(200);

/// What a daemon is asked.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    /// Which directory the data root is, whatever it is called: a copy of it is another one. Left out by another machine.
    root: Option<(u64, u64)>,
    team: String,
    wanted: Wanted,
}

#[derive(Debug, Serialize, Deserialize)]
enum Wanted {
    /// That it carries out a call.
    Call(Box<NamedCall>),
    /// Marks a read that is forwarded for another machine.
    Question(Box<NamedQuestion>),
    /// That it sends events, to another machine, as the input of the call says.
    Stream(Box<NamedCall>),
    /// That it imports the messages of a file that another machine sends: in messages, of which the last one is empty.
    Import(Box<NamedCall>),
    /// That it keeps off the team for as long as the connection lasts.
    GiveWay,
}

#[derive(Debug, Serialize, Deserialize)]
struct NamedQuestion {
    call: NamedCall,
    /// The point of the team's past that is asked about.
    at: Option<Point>,
}

#[derive(Debug, Serialize, Deserialize)]
struct NamedCall {
    name: String,
    input: Box<RawValue>,
    who: Who,
    /// How long it may wait for a lock.
    lock_deadline: Duration,
    /// Whether the answer is to come with a receipt.
    receipt: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Ended(Ended),
    /// The file may come.
    Send,
    /// Lines of a stream, each of JSON; there is more to come.
    Lines(String),
    /// It keeps off the team.
    GaveWay,
    /// Nothing was done, for the team is not served there.
    Elsewhere,
}

/// How a call ended in the daemon.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ended {
    pub outcome: Result<Box<RawValue>, CommandError>,
    /// Whether that is the answer of an earlier request under the same key.
    pub replayed: bool,
    pub receipt: Option<Receipt>,
    /// What is to be said beside it.
    pub notes: Vec<String>,
    /// How new the answer is, where other hosts record too.
    pub as_of: Option<AsOf>,
    /// The last event that an answer about the past knows, and as of when it is.
    pub moment: Option<(u64, Timestamp)>,
}

impl Ended {
    fn of(outcome: Result<Box<RawValue>, CommandError>) -> Ended {
        Ended {
            outcome,
            replayed: false,
            receipt: None,
            notes: Vec::new(),
            as_of: None,
            moment: None,
        }
    }
}

/// While it lives, a daemon keeps off a team.
pub type GaveWay = Stream;

/// Asks the daemons of a data root, or the one on another machine.
#[derive(Debug, Clone)]
pub struct Client {
    pub root: PathBuf,
    /// The daemon on another machine that is to be asked, if one is.
    pub remote: Option<Remote>,
    pub lock_deadline: Duration,
    /// The longest wait for each step of a daemon: to be connected to, to say that it listens, to reply. Without it a reply of a
    /// daemon on this machine takes as long as it takes.
    pub step_limit: Option<Duration>,
    pub receipt: bool,
}

impl Client {
    /// Has a call carried out by the daemon that serves the team; `None` where none does, and nothing was done.
    ///
    /// # Errors
    /// `runtime.json` is not to be trusted; the daemon is of another version, does not answer, or went away in the middle.
    pub fn call(
        &self,
        sent: Sent<'_>,
        team: &str,
        who: &Who,
        repeat: Repeat,
    ) -> Result<Option<Ended>, CommandError> {
        if self.remote.is_none() {
            let file = Runtime::place(&self.root, team).symlink_metadata();
            if file.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                return Ok(None);
            }
        }
        let wanted = Wanted::Call(Box::new(self.named(sent.name, (sent.input)(), who)?));
        let Some((Reply::Ended(mut ended), _)) = self.reply(team, wanted, Some(repeat))? else {
            return Ok(None);
        };
        if ended
            .outcome
            .as_deref()
            .is_ok_and(|answer| (sent.read)(answer).is_err())
        {
            ended.outcome = Err(outcome_unknown(repeat));
        }
        Ok(Some(ended))
    }

    /// Has the daemon on another machine read by an operation; `None` where it does not serve the team.
    ///
    /// # Errors
    /// The daemon cannot be reached, is of another version, or lets nobody in.
    pub fn ask(
        &self,
        name: &str,
        (team, at): (&str, Option<Point>),
        who: &Who,
        input: serde_json::Result<Box<RawValue>>,
    ) -> Result<Option<Ended>, CommandError> {
        let question = NamedQuestion {
            call: self.named(name, input, who)?,
            at,
        };
        match self.reply(team, Wanted::Question(Box::new(question)), None)? {
            Some((Reply::Ended(ended), _)) => Ok(Some(ended)),
            _ => Ok(None),
        }
    }

    /// Has the daemon on another machine send events as lines of JSON, and hands on what comes until `each` breaks off; `None`
    /// where it does not serve the team.
    ///
    /// # Errors
    /// As for a question; the connection ended before the stream did.
    pub fn stream(
        &self,
        team: &str,
        who: &Who,
        wanted: Streamed,
        each: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Option<Ended>, CommandError> {
        let call = self.named("stream", to_raw_value(&wanted), who)?;
        let wanted = Wanted::Stream(Box::new(call));
        let reply = self.reply(team, wanted, None)?;
        let Some((mut reply, mut connection)) = reply else {
            return Ok(None);
        };
        loop {
            match reply {
                Reply::Lines(chunk) if each(&chunk).is_break() => {
                    return Ok(Some(Ended::of(Ok(RawValue::NULL.to_owned()))));
                }
                Reply::Lines(_) => {}
                Reply::Ended(ended) => return Ok(Some(ended)),
                Reply::GaveWay | Reply::Send | Reply::Elsewhere => return Ok(None),
            }
            reply = match received(&mut connection) {
                Some(reply) => reply,
                None => return Err(self.stream_end(team)),
            };
        }
    }

    /// Has the daemon on another machine import the messages of that file; `None` where it does not serve the team.
    ///
    /// # Errors
    /// As for a question; the file cannot be read; the connection ended, before the daemon had the file or behind that.
    pub fn import(
        &self,
        team: &str,
        who: &Who,
        import: &ImportMessages,
        file: &mut dyn Read,
    ) -> Result<Option<Ended>, CommandError> {
        let call = self.named("import", to_raw_value(import), who)?;
        let wanted = Wanted::Import(Box::new(call));
        let (reply, mut connection) = match self.reply(team, wanted, None)? {
            Some((Reply::Ended(ended), _)) => return Ok(Some(ended)),
            Some(replied) => replied,
            None => return Ok(None),
        };
        debug_assert!(matches!(reply, Reply::Send), "{reply:?}");
        upload::sent(file, connection.get_mut())?;
        match received(&mut connection) {
            Some(Reply::Ended(ended)) => Ok(Some(ended)),
            _ => Err(outcome_unknown(Repeat::Same)),
        }
    }

    /// Returns why a stream broke off: the token was revoked, or the connection ended.
    fn stream_end(&self, team: &str) -> CommandError {
        let refused = match &self.remote {
            // An empty request is carried out by no daemon; only the answer to the token counts.
            Some(_) => self.exchange(team, &[], Some(REVOKED_CHECK)).err(),
            None => None,
        };
        refused
            .filter(|error| error.code() == "unauthorized")
            .unwrap_or_else(cut_off)
    }

    fn named(
        &self,
        name: &str,
        input: serde_json::Result<Box<RawValue>>,
        who: &Who,
    ) -> Result<NamedCall, CommandError> {
        Ok(NamedCall {
            name: name.to_owned(),
            input: input.map_err(|error| unsendable(&error))?,
            who: who.clone(),
            lock_deadline: self.lock_deadline,
            receipt: self.receipt,
        })
    }

    /// Has the daemon that serves the team keep off it; `None` where none does.
    pub fn give_way(&self, team: &str) -> Result<Option<GaveWay>, CommandError> {
        match self.reply(team, Wanted::GiveWay, None)? {
            Some((Reply::Ended(ended), _)) => ended.outcome.map(|_| None),
            Some((_, connection)) => Ok(Some(connection)),
            None => Ok(None),
        }
    }

    /// The daemon's reply; nothing where none takes the request. One that hung up before it had it has done nothing, and
    /// there may be another one by now. Without `repeat` nothing is done by a request whose reply is lost.
    fn reply(
        &self,
        team: &str,
        wanted: Wanted,
        repeat: Option<Repeat>,
    ) -> Result<Option<(Reply, Stream)>, CommandError> {
        let root = match (&self.remote, place(&self.root)) {
            (Some(_), _) => None,
            (None, Ok(root)) => Some(root),
            (None, Err(_)) => return Ok(None),
        };
        let within = self.reply_deadline(&wanted);
        let request = Request {
            root,
            team: team.to_owned(),
            wanted,
        };
        let request = serde_json::to_vec(&request).map_err(|error| unsendable(&error))?;
        for _ in 0..ATTEMPTS {
            match (self.exchange_when_free(team, &request, within)?, repeat) {
                (Exchange::Nowhere, _) => return Ok(None),
                (Exchange::Replied(reply, connection), _) => {
                    let served = !matches!(*reply, Reply::Elsewhere);
                    return Ok(served.then_some((*reply, connection)));
                }
                (Exchange::Lost, Some(repeat)) => return Err(outcome_unknown(repeat)),
                (Exchange::Lost, None) | (Exchange::HungUp, _) => {}
            }
        }
        match &self.remote {
            None => Ok(None),
            Some(remote) => Err(remote.unreachable("hangs up")),
        }
    }

    /// Sends the request, again and again if the daemon takes no more commands now: until it does, or the deadline for a lock is
    /// over. Nothing of a refused request was carried out.
    fn exchange_when_free(
        &self,
        team: &str,
        request: &[u8],
        within: Option<Duration>,
    ) -> Result<Exchange, CommandError> {
        let began = Instant::now();
        let most = self.step_limit.unwrap_or(self.lock_deadline);
        loop {
            match self.exchange(team, request, within) {
                Err(error) if BUSY_CODES.contains(&error.code()) && began.elapsed() < most => {
                    let left = most.saturating_sub(began.elapsed());
                    thread::sleep(retry_pause()?.min(left));
                }
                exchanged => return exchanged,
            }
        }
    }

    fn exchange(
        &self,
        team: &str,
        request: &[u8],
        within: Option<Duration>,
    ) -> Result<Exchange, CommandError> {
        match (&self.remote, Runtime::of_team(&self.root, team)) {
            (Some(remote), _) => remote.exchange(request, within, self.step_limit),
            (None, Ok(Some(runtime))) => {
                let deadlines = Deadlines::here(self.lock_deadline, self.step_limit);
                client::exchange(&runtime, request, deadlines)
            }
            (None, Ok(None)) => Ok(Exchange::Nowhere),
            (None, Err(error)) => Err(error),
        }
    }

    /// How long another machine may take to answer: what lies between may swallow what is said and say nothing. What waits for
    /// others takes as long as it takes.
    fn reply_deadline(&self, wanted: &Wanted) -> Option<Duration> {
        let waits = match wanted {
            Wanted::Call(call) => WAITING.contains(&&*call.name),
            Wanted::Question(question) => WAITING.contains(&&*question.call.name),
            Wanted::Stream(_) | Wanted::Import(_) | Wanted::GiveWay => true,
        };
        let remote = self.remote.is_some() && !waits;
        remote.then(|| self.lock_deadline.saturating_add(REPLY_DEADLINE))
    }
}

/// Returns a random time up to [`RETRY_PAUSE_MAX`], so that many commands do not ask again at once.
fn retry_pause() -> Result<Duration, CommandError> {
    let [share] = random::bytes()?;
    Ok(RETRY_PAUSE_MAX.mul_f64((f64::from(share) + 1.0) / 256.0))
}

/// Whoever reads a stream has not seen its end.
fn cut_off() -> CommandError {
    let message = "the connection ended before all events had come";
    CommandError::new(Exit::Unavailable, "daemon_gone", message)
        .or_hint("go on behind the last one: --from-seq SEQ")
}

/// Only for the compiler: what is asked serialises.
fn unsendable(error: &serde_json::Error) -> CommandError {
    let message = format!("what is asked must serialise, but: {error}");
    CommandError::bug(message)
}

/// Which directory a path leads to.
fn place(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = path.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

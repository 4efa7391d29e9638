//! Forwards calls that record events to the daemon that holds the team's lock.
//!
//! If the team's `runtime.json` names a daemon ([`runtime`]), the [`Call`](crate::call::Call) is sent to the daemon in one
//! request ([`client`]), and the daemon replies with one answer or error. If no daemon listens, the file is left over from an
//! earlier daemon, and the call runs in this process. Commands on the whole log ask the daemon to release the team, and
//! run in this process. [`resident`] is the side of the daemon.

mod client;
mod connection;
pub mod control;
mod events;
mod remote;
mod resident;
pub mod runtime;
mod transport;
pub mod trust;
mod unknown;
mod upload;

pub use remote::{REMOTE_VARIABLES, Remote};
pub use resident::RequestRunner;
pub use transport::{
    API, ARTIFACT_GET, ARTIFACT_PUT, ApiAnswer, ApiInput, CATCH_UP, GUARD_VIEW, INIT,
    SEND_AND_WAIT, SESSION_CLAIM, TOOL,
};
pub use unknown::Repeat;

use crate::call::{CallerIdentity, ErasedCall};
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
use teamlog_team::subscription::fetch::FetchSubscription;
use unknown::outcome_unknown;

/// Names of calls that may wait for other agents.
const WAITING: [&str; 6] = [
    SEND_AND_WAIT.name,
    "wait",
    AwaitEvent::NAME,
    FetchSubscription::NAME,
    SyncViews::NAME,
    API.name,
];
/// Time limit for the reply of a daemon on another machine. The wait for locks is added to this limit.
const REPLY_DEADLINE: Duration = Duration::from_secs(60);
/// Time limit for checking if the daemon still accepts a token.
const REVOKED_CHECK: Duration = Duration::from_secs(10);
/// Number of attempts to send a request if the daemon closes the connection before it reads the request.
const ATTEMPTS: usize = 5;

/// Codes of temporary refusals. A request that was refused with such a code was not carried out.
const BUSY_CODES: [&str; 2] = ["busy", "rate_limited"];
/// Maximum pause before a refused request is sent again.
const RETRY_PAUSE_MAX: Duration = Duration::from_millis(200);

/// A request to a daemon.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    /// Device and inode of the data root, which distinguish the root from a copy. `None` if the client is on another machine.
    root: Option<(u64, u64)>,
    team: String,
    wanted: Wanted,
}

#[derive(Debug, Serialize, Deserialize)]
enum Wanted {
    /// Runs a call.
    Call(Box<NamedCall>),
    /// Runs an operation that only reads, for a client on another machine.
    Question(Box<NamedQuestion>),
    /// Streams events to a client on another machine. The call's input selects the events.
    Stream(Box<NamedCall>),
    /// Imports a file of messages that a client on another machine sends in pieces. An empty piece ends the file.
    Import(Box<NamedCall>),
    /// Releases the team until the connection ends.
    GiveWay,
}

#[derive(Debug, Serialize, Deserialize)]
struct NamedQuestion {
    call: NamedCall,
    /// Past point at which the operation reads, if any.
    at: Option<Point>,
}

#[derive(Debug, Serialize, Deserialize)]
struct NamedCall {
    name: String,
    input: Box<RawValue>,
    who: CallerIdentity,
    /// Maximum wait for a lock.
    lock_deadline: Duration,
    /// True if the answer must have a receipt.
    receipt: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Ended(Ended),
    /// The daemon is ready to receive the file.
    Send,
    /// Lines of JSON from a stream. More messages follow.
    Lines(String),
    /// The daemon has released the team.
    GaveWay,
    /// The daemon does not serve the team, and did nothing.
    Elsewhere,
}

/// Result of a call in the daemon.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ended {
    pub outcome: Result<Box<RawValue>, CommandError>,
    /// True if the answer is the stored answer of an earlier call with the same key.
    pub replayed: bool,
    pub receipt: Option<Receipt>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Time up to which the answer has the events of other hosts, if other hosts record events.
    pub as_of: Option<AsOf>,
    /// Seq and time of the last event before the past point, if the call read at a past point.
    pub moment: Option<(u64, Timestamp)>,
}

impl Ended {
    fn from_outcome(outcome: Result<Box<RawValue>, CommandError>) -> Ended {
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

/// Connection that keeps a team released by its daemon. Dropping the connection ends the release.
pub type GaveWay = Stream;

/// Client of the daemons of a data root, or of a daemon on another machine.
#[derive(Debug, Clone)]
pub struct Client {
    pub root: PathBuf,
    /// Daemon on another machine, if the client uses one.
    pub remote: Option<Remote>,
    pub lock_deadline: Duration,
    /// Time limit for each step of a daemon: connect, accept, reply. Without this limit, a local daemon may take any time for
    /// its reply.
    pub step_limit: Option<Duration>,
    pub receipt: bool,
}

impl Client {
    /// Runs a call in the daemon that serves the team. Returns `None` if no daemon serves the team; nothing was done then.
    ///
    /// # Errors
    /// `runtime.json` cannot be trusted; the daemon has another version, does not reply, or ended during the call.
    pub fn call(
        &self,
        sent: ErasedCall<'_>,
        team: &str,
        who: &CallerIdentity,
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

    /// Runs an operation that only reads in the daemon on another machine. Returns `None` if the daemon does not serve the
    /// team.
    ///
    /// # Errors
    /// The daemon cannot be reached, has another version, or refuses the token.
    pub fn ask(
        &self,
        name: &str,
        (team, at): (&str, Option<Point>),
        who: &CallerIdentity,
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

    /// Requests events as lines of JSON from the daemon on another machine, and passes each line to `each` until `each` returns
    /// `Break`. Returns `None` if the daemon does not serve the team.
    ///
    /// # Errors
    /// The errors of [`ask`](Client::ask); the connection ended before the stream ended.
    pub fn stream(
        &self,
        team: &str,
        who: &CallerIdentity,
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
                    return Ok(Some(Ended::from_outcome(Ok(RawValue::NULL.to_owned()))));
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

    /// Imports a file of messages through the daemon on another machine. Returns `None` if the daemon does not serve the
    /// team.
    ///
    /// # Errors
    /// The errors of [`ask`](Client::ask); the file cannot be read; the connection ended during the upload or before the reply.
    pub fn import(
        &self,
        team: &str,
        who: &CallerIdentity,
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

    /// Makes the error for a stream that ended early: the token was revoked, or the connection ended.
    fn stream_end(&self, team: &str) -> CommandError {
        let refused = match &self.remote {
            // The request is empty. Only the error for a revoked token matters.
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
        who: &CallerIdentity,
    ) -> Result<NamedCall, CommandError> {
        Ok(NamedCall {
            name: name.to_owned(),
            input: input.map_err(|error| unsendable(&error))?,
            who: who.clone(),
            lock_deadline: self.lock_deadline,
            receipt: self.receipt,
        })
    }

    /// Asks the daemon that serves the team to release the team. Returns `None` if no daemon serves the team.
    pub fn give_way(&self, team: &str) -> Result<Option<GaveWay>, CommandError> {
        match self.reply(team, Wanted::GiveWay, None)? {
            Some((Reply::Ended(ended), _)) => ended.outcome.map(|_| None),
            Some((_, connection)) => Ok(Some(connection)),
            None => Ok(None),
        }
    }

    /// Returns the daemon's reply, or `None` if no daemon accepts the request.
    ///
    /// A daemon that closed the connection before it read the request has done nothing, so the request is sent again; another
    /// daemon may have started. If the reply is lost and the request is not safe to repeat, returns an error.
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

    /// Sends the request, and repeats it while the daemon is overloaded, until the time limit for locks. A refused request was
    /// not carried out.
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

    /// Returns the time limit for a reply from another machine. A limit is needed because a network can lose data silently.
    /// Calls that wait for other agents have no limit.
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

/// Returns a random pause up to [`RETRY_PAUSE_MAX`], so that many clients do not retry at one moment.
fn retry_pause() -> Result<Duration, CommandError> {
    let [share] = random::bytes()?;
    Ok(RETRY_PAUSE_MAX.mul_f64((f64::from(share) + 1.0) / 256.0))
}

/// Makes the error for a stream that ended early.
fn cut_off() -> CommandError {
    let message = "lost the connection to the daemon before all events arrived";
    CommandError::new(Exit::Unavailable, "daemon_gone", message)
        .or_hint("continue after the last event received: --from-seq SEQ")
}

/// Makes the error for a request that cannot be serialised, which does not happen.
fn unsendable(error: &serde_json::Error) -> CommandError {
    let message = format!("the request cannot be written as JSON: {error}");
    CommandError::bug(message)
}

/// Returns the device and inode of a directory.
fn place(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = path.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

//! What records something in a team that a daemon has is asked of that daemon, since it holds the team's lock.
//!
//! Says the team's `runtime.json` that a daemon serves it ([`runtime`]), then the [`Call`] goes there in one request, and
//! comes back as one answer or one error ([`client`]). Where nobody answers, the file is a leftover, and the call is carried
//! out here. Commands on the whole log ask the daemon to give way instead, and work here. In the daemon, [`resident`] answers.

mod client;
pub mod control;
mod resident;
pub mod runtime;
mod unknown;

pub use resident::Resident;
pub use unknown::Repeat;

use crate::call::{Call, Who};
use crate::exit::{CommandError, Exit};
use client::Exchange;
use runtime::Runtime;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use teamlog_team::engine::Receipt;
use unknown::outcome_unknown;

/// How often a daemon is asked that hangs up before it has the request.
const ATTEMPTS: usize = 5;

/// What a daemon is asked.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    /// Which directory the data root is, whatever it is called: a copy of it is another one.
    root: (u64, u64),
    team: String,
    wanted: Wanted,
}

#[derive(Debug, Serialize, Deserialize)]
enum Wanted {
    /// That it carries out a call.
    Call(Box<NamedCall>),
    /// That it keeps off the team for as long as the connection lasts.
    GiveWay,
}

/// A call by its name.
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

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    /// How the call ended.
    Ended(Ended<Box<RawValue>>),
    /// It keeps off the team.
    GaveWay,
    /// Nothing was done, for the team is not served there.
    Elsewhere,
}

/// How a call ended in the daemon.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ended<A> {
    /// What it answered, or why not.
    pub outcome: Result<A, CommandError>,
    /// Whether that is the answer of an earlier request under the same key.
    pub replayed: bool,
    /// A receipt for it, where one was wanted.
    pub receipt: Option<Receipt>,
    /// What is to be said beside it.
    pub notes: Vec<String>,
}

/// While it lives, a daemon keeps off a team.
#[derive(Debug)]
pub struct GaveWay {
    _connection: UnixStream,
}

/// Asks the daemons of a data root.
#[derive(Debug, Clone)]
pub struct Client {
    /// The data root.
    pub root: PathBuf,
    /// How long a call may wait for a lock.
    pub lock_deadline: Duration,
    /// Whether an answer is to come with a receipt.
    pub receipt: bool,
}

impl Client {
    /// Has a call carried out by the daemon that serves the team; `None` where none does, and nothing was done.
    ///
    /// # Errors
    /// `runtime.json` is not to be trusted; the daemon is of another version, does not answer, or went away in the middle.
    pub fn call<I: Serialize, A: DeserializeOwned>(
        &self,
        call: &Call<I, A>,
        team: &str,
        who: &Who,
        input: &I,
        repeat: Repeat,
    ) -> Result<Option<Ended<A>>, CommandError> {
        let file = Runtime::place(&self.root, team).symlink_metadata();
        if file.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let call = NamedCall {
            name: call.name.to_owned(),
            input: to_raw_value(input).map_err(|error| unsendable(&error))?,
            who: who.clone(),
            lock_deadline: self.lock_deadline,
            receipt: self.receipt,
        };
        let wanted = Wanted::Call(Box::new(call));
        let Some((Reply::Ended(ended), _)) = self.reply(team, wanted, Some(repeat))? else {
            return Ok(None);
        };
        let typed = |data: Box<RawValue>| {
            serde_json::from_str(data.get()).map_err(|_| outcome_unknown(team, repeat))
        };
        Ok(Some(Ended {
            outcome: ended.outcome.and_then(typed),
            replayed: ended.replayed,
            receipt: ended.receipt,
            notes: ended.notes,
        }))
    }

    /// Has the daemon that serves the team keep off it; `None` where none does.
    pub fn give_way(&self, team: &str) -> Result<Option<GaveWay>, CommandError> {
        match self.reply(team, Wanted::GiveWay, None)? {
            Some((Reply::Ended(ended), _)) => ended.outcome.map(|_| None),
            Some((_, connection)) => Ok(Some(GaveWay {
                _connection: connection,
            })),
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
    ) -> Result<Option<(Reply, UnixStream)>, CommandError> {
        let Ok(root) = place(&self.root) else {
            return Ok(None);
        };
        let request = Request {
            root,
            team: team.to_owned(),
            wanted,
        };
        let request = serde_json::to_vec(&request).map_err(|error| unsendable(&error))?;
        for _ in 0..ATTEMPTS {
            let Some(runtime) = Runtime::of_team(&self.root, team)? else {
                return Ok(None);
            };
            match (client::exchange(&runtime, &request)?, repeat) {
                (Exchange::Replied(Reply::Elsewhere, _) | Exchange::Nowhere, _) => return Ok(None),
                (Exchange::Replied(reply, connection), _) => return Ok(Some((reply, connection))),
                (Exchange::Lost, Some(repeat)) => return Err(outcome_unknown(team, repeat)),
                (Exchange::Lost, None) | (Exchange::HungUp, _) => {}
            }
        }
        Ok(None)
    }
}

/// Only for the compiler: what is asked serialises.
fn unsendable(error: &serde_json::Error) -> CommandError {
    let message = format!("what is asked must serialise, but: {error}");
    CommandError::new(Exit::Bug, "bug", message)
}

/// Which directory a path leads to.
fn place(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = path.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

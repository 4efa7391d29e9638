//! `workers/<name>/…`: a worker, one file per known part.
//!
//! | file | content |
//! |---|---|
//! | `identity.json` | identity |
//! | `heartbeat.json` | last heartbeat |
//! | `status.json` | status |
//! | `inbox.md` | instructions, as written |
//! | `shutdown-request.json` | shutdown request |
//! | `shutdown-ack.json` | answer to the shutdown request |

use crate::event::worker::{WorkerAct, inbox_content};
use crate::files::{self, Home, ViewUpdate, Walk};
use crate::prelude::*;
use crate::worker::{
    self, HeartbeatShown, LastKnown, ShutdownAckShown, ShutdownRequestShown, StatusShown,
    WorkerPart, WorkerShown,
};

pub(crate) const DIR: &str = "workers";

/// Changed parts, by worker.
pub(crate) type TouchedParts = BTreeMap<String, BTreeSet<WorkerPart>>;

/// The common fields of all records of parts.
#[derive(Serialize)]
struct Part<'a, T> {
    worker: &'a str,
    #[serde(flatten)]
    shown: T,
    seq: u64,
}

/// Returns a worker's directory, relative to the team's directory; names were checked when their event was decoded.
fn dir(worker: &str) -> String {
    format!("{DIR}/{worker}")
}

/// Returns the part that a fact changes.
pub(crate) fn touched(act: &WorkerAct) -> WorkerPart {
    match act {
        WorkerAct::Identity(_) => WorkerPart::Identity,
        WorkerAct::Heartbeat(_) => WorkerPart::Heartbeat,
        WorkerAct::Status(_) => WorkerPart::Status,
        WorkerAct::Inbox(_) => WorkerPart::Inbox,
        WorkerAct::ShutdownRequested(_) => WorkerPart::ShutdownRequest,
        WorkerAct::ShutdownAcked(_) => WorkerPart::ShutdownAck,
    }
}

/// Returns the content of a part's file; `None` if the part is unknown.
fn text(
    live: &TeamState,
    reader: &Reader,
    worker: &str,
    part: WorkerPart,
) -> Result<Option<Vec<u8>>> {
    Ok(match part {
        WorkerPart::Identity => record(worker, live.identity(worker)?, |noted| WorkerShown {
            name: worker.to_owned(),
            identity: noted.what,
        }),
        WorkerPart::Heartbeat => record(worker, live.heartbeat(worker)?, HeartbeatShown::from),
        WorkerPart::Status => record(worker, live.worker_status(worker)?, StatusShown::from),
        WorkerPart::Inbox => match live.worker_inbox(worker)? {
            None => None,
            Some(seq) => match live.event(reader, seq)? {
                None => None,
                Some(event) => Some(inbox_content(&event)?.into_bytes()),
            },
        },
        WorkerPart::ShutdownRequest => record(
            worker,
            live.shutdown_request(worker)?,
            ShutdownRequestShown::from,
        ),
        WorkerPart::ShutdownAck => {
            record(worker, live.shutdown_ack(worker)?, ShutdownAckShown::from)
        }
    })
}

fn record<T, S: Serialize>(
    worker: &str,
    noted: Option<LastKnown<T>>,
    show: impl FnOnce(LastKnown<T>) -> S,
) -> Option<Vec<u8>> {
    let noted = noted?;
    Some(files::record(Part {
        worker,
        seq: noted.seq,
        shown: show(noted),
    }))
}

/// Writes the changed parts. A worker whose directory is missing gets all its parts.
pub(crate) fn write(
    live: &TeamState,
    reader: &Reader,
    home: &Home,
    touched: &TouchedParts,
) -> Result<ViewUpdate> {
    if !home.exists(DIR)? {
        return Walk::mend(home, |to| walk(live, reader, to));
    }
    let mut mended = ViewUpdate::default();
    for (worker, parts) in touched {
        if !home.exists(&dir(worker))? {
            mended.add(Walk::mend(home, |to| {
                walk_worker(live, reader, worker, to)
            })?);
            continue;
        }
        for part in parts {
            if let Some(text) = text(live, reader, worker, *part)? {
                let path = home.path(&dir(worker)).join(part.name());
                home.replace(&path, &text)?;
                mended.written += 1;
            }
        }
    }
    Ok(mended)
}

pub(crate) fn walk(live: &TeamState, reader: &Reader, to: &mut Walk<'_>) -> Result<()> {
    for worker in worker::workers(live.rows())? {
        walk_worker(live, reader, &worker, to)?;
        to.end(&dir(&worker))?;
        to.keep(DIR, &worker);
    }
    to.end(DIR)
}

fn walk_worker(live: &TeamState, reader: &Reader, worker: &str, to: &mut Walk<'_>) -> Result<()> {
    for part in worker::parts(live.rows(), worker)? {
        if let Some(text) = text(live, reader, worker, part)? {
            to.file(&dir(worker), part.name(), &text)?;
        }
    }
    Ok(())
}

//! `workers/<name>/…`: what is known of a worker, a file for each part, there once it is known.
//!
//! | file | content |
//! |---|---|
//! | `identity.json` | who it is |
//! | `heartbeat.json` | its last sign of life |
//! | `status.json` | what it does |
//! | `inbox.md` | its instructions, as they were written |
//! | `shutdown-request.json` | that it was asked to stop |
//! | `shutdown-ack.json` | what it says to that |

use crate::prelude::*;
use crate::views::mend::{put, remove_others};
use crate::views::{Home, Mended, failed};
use crate::worker::event::{WorkerAct, inbox_content};
use crate::worker::{
    self, HeartbeatShown, Noted, ShutdownAckShown, ShutdownRequestShown, StatusShown, WorkerPart,
    WorkerShown,
};

pub(crate) const DIR: &str = "workers";

/// What some events touched: parts by worker.
pub(crate) type TouchedParts = BTreeMap<String, BTreeSet<WorkerPart>>;

/// What every one of the records says.
#[derive(Serialize)]
struct Record<'a, T> {
    schema_version: u32,
    #[serde(rename = "schemaVersion")]
    schema_version_text: &'static str,
    worker: &'a str,
    #[serde(flatten)]
    shown: T,
    seq: u64,
}

/// The file of a part.
pub(crate) fn file_name(part: WorkerPart) -> &'static str {
    match part {
        WorkerPart::Identity => "identity.json",
        WorkerPart::Heartbeat => "heartbeat.json",
        WorkerPart::Status => "status.json",
        WorkerPart::Inbox => "inbox.md",
        WorkerPart::ShutdownRequest => "shutdown-request.json",
        WorkerPart::ShutdownAck => "shutdown-ack.json",
    }
}

/// A worker's directory, relative to the team's; names were checked when their event was decoded.
pub(crate) fn dir(worker: &str) -> String {
    format!("{DIR}/{worker}")
}

/// The part that a fact says something new of.
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

/// The content of a part's file; `None` where nothing is known.
pub(crate) fn text(
    live: &Live,
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
    noted: Option<Noted<T>>,
    show: impl FnOnce(Noted<T>) -> S,
) -> Option<Vec<u8>> {
    let noted = noted?;
    let record = Record {
        schema_version: 1,
        schema_version_text: "1.0.0",
        worker,
        seq: noted.seq,
        shown: show(noted),
    };
    // Into memory nothing fails.
    let mut text = serde_json::to_vec_pretty(&record).unwrap_or_default();
    text.push(b'\n');
    Some(text)
}

/// Writes the parts that some events touched. A worker whose directory is missing gets all that is known of it.
pub(crate) fn write(
    live: &Live,
    reader: &Reader,
    home: &Home,
    touched: &TouchedParts,
) -> Result<Mended> {
    if !home.exists(DIR)? {
        return mend(live, reader, home);
    }
    let mut mended = Mended::default();
    for (worker, parts) in touched {
        if !home.exists(&dir(worker))? {
            mended.add(mend_worker(live, reader, home, worker)?.0);
            continue;
        }
        for part in parts {
            if let Some(text) = text(live, reader, worker, *part)? {
                let path = home.path(&dir(worker)).join(file_name(*part));
                home.replace(&path, &text)?;
                mended.written += 1;
            }
        }
    }
    Ok(mended)
}

/// Brings `workers/` in line with the state.
pub(crate) fn mend(live: &Live, reader: &Reader, home: &Home) -> Result<Mended> {
    let mut mended = Mended::default();
    let workers = worker::workers(live.rows())?;
    if workers.is_empty() && !home.exists(DIR)? {
        return Ok(mended);
    }
    let all = home.path(DIR);
    home.storage
        .create_dir(&all)
        .map_err(failed("create", &all))?;
    for worker in &workers {
        let (files, names) = mend_worker(live, reader, home, worker)?;
        mended.add(files);
        mended.removed += remove_others(home, &dir(worker), &names)?;
    }
    mended.removed += remove_others(home, DIR, &workers)?;
    Ok(mended)
}

/// Brings a worker's files in line; says which ones there should be.
fn mend_worker(
    live: &Live,
    reader: &Reader,
    home: &Home,
    worker: &str,
) -> Result<(Mended, BTreeSet<String>)> {
    let (mut mended, mut names) = (Mended::default(), BTreeSet::new());
    let place = home.path(&dir(worker));
    home.storage
        .create_dir(&place)
        .map_err(failed("create", &place))?;
    for part in worker::parts(live.rows(), worker)? {
        if let Some(text) = text(live, reader, worker, part)? {
            mended.add(Mended::one(put(home, &place.join(file_name(part)), &text)?));
            names.insert(file_name(part).to_owned());
        }
    }
    Ok((mended, names))
}

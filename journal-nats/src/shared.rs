//! One line for all logs of a process, what was found out about their streams, and whether what is there may be trusted.

use crate::config::Config;
use crate::line::{Line, Lost};
use crate::message::{Stored, subjects_of};
use crate::servers::{self, Server};
use crate::stream::{self, Info};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use teamlog_engine::JournalFault::{NotDurable, OfAnother, Refused, Unreachable};
use teamlog_engine::identity::LogId;
use teamlog_engine::{Error, Result};

/// How long what was found out about durability counts.
pub const DURABLE_FOR: Duration = Duration::from_secs(10);
/// The stream whose first message says which journal it is.
pub const META: &str = "teamlog_journal";
/// The version of what stands in the streams.
pub const SCHEMA: u32 = 1;

impl From<Lost> for Error {
    fn from(lost: Lost) -> Error {
        match lost {
            Lost::Unsent(why) | Lost::Unanswered(why) => Error::journal(Unreachable, why),
            Lost::Refused(_, why) => Error::journal(Refused, why),
        }
    }
}

/// What says which journal it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Meta {
    pub schema: u32,
    pub journal: String,
    /// On how many servers a message must be before it is acknowledged.
    pub min_copies: u32,
}

/// A line to a journal.
pub struct Open {
    pub line: Line,
    pub meta: Meta,
    servers: Mutex<Option<(Instant, Arc<Vec<Server>>)>>,
    monitors: Vec<String>,
}

/// The stream of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    pub name: String,
    /// What its subjects begin with: random bits are a part, so that nothing that is meant for it comes into another one.
    pub subjects: String,
    /// When it was made.
    pub created: String,
}

impl Stream {
    /// As its server shows it; `None` where it is none of that log.
    pub fn of(name: &str, info: &Info, log: LogId) -> Option<Stream> {
        let subjects = info.subject().strip_suffix(".*")?;
        subjects.starts_with(&subjects_of(log)).then(|| Stream {
            name: name.to_owned(),
            subjects: subjects.to_owned(),
            created: info.created.clone(),
        })
    }
}

/// What all handles of one journal share.
pub struct Shared {
    pub config: Config,
    pub journal: String,
    open: Mutex<Option<Arc<Open>>>,
    streams: Mutex<HashMap<LogId, Arc<Stream>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Open {
    /// Connects to the journal that a configuration names.
    pub fn connect(config: &Config) -> Result<Open> {
        let line = Line::connect(config)?;
        let meta = line.wait(meta(&line))?.ok_or_else(not_made)?;
        if meta.schema > SCHEMA {
            let why = format!(
                "it needs a newer teamlog: its streams have version {}, this one knows {SCHEMA}",
                meta.schema
            );
            return Err(Error::journal(OfAnother, why));
        }
        Ok(Open {
            line,
            meta,
            servers: Mutex::default(),
            monitors: config.monitors.clone(),
        })
    }

    /// What the servers say of themselves, at most so old.
    pub async fn servers(&self, max_age: Duration) -> Arc<Vec<Server>> {
        let known = locked(&self.servers).clone();
        match known {
            Some((at, servers)) if at.elapsed() < max_age => servers,
            _ => {
                let servers = Arc::new(servers::look(&self.monitors).await);
                *locked(&self.servers) = Some((Instant::now(), servers.clone()));
                servers
            }
        }
    }

    /// What keeps a stream from being as durable as the journal promises, in words.
    pub async fn wrong(&self, name: &str, info: &Info) -> Vec<String> {
        let mut wrong = info.wrong(name, self.meta.min_copies);
        let connected = self.line.server_name();
        let mut of_servers = Vec::new();
        // What was wrong may have been mended.
        for max_age in [DURABLE_FOR, Duration::ZERO] {
            of_servers = servers::wrong(&self.servers(max_age).await, info, &connected);
            if of_servers.is_empty() {
                break;
            }
        }
        wrong.extend(of_servers);
        wrong
    }

    /// A message of a log, by its sequence or otherwise.
    pub async fn message(&self, name: &str, which: Value, log: LogId) -> Result<Option<Stored>> {
        let raw = stream::message(&self.line, name, which).await?;
        let stored = raw.map(|raw| Stored::of(&raw, log)).transpose();
        stored.map_err(|why| Error::journal(Refused, why))
    }

    /// The message of that sequence, if it is there.
    pub async fn at(&self, name: &str, seq: u64, log: LogId) -> Result<Option<Stored>> {
        let stored = self.message(name, json!({ "seq": seq }), log).await?;
        Ok(stored.filter(|stored| stored.seq == seq))
    }

    /// The same, where it must be.
    pub async fn there(&self, name: &str, seq: u64, log: LogId) -> Result<Stored> {
        let stored = self.at(name, seq, log).await?;
        let missing = || format!("message {seq} of stream {name} is missing");
        stored.ok_or_else(|| Error::journal(Refused, missing()))
    }

    /// What the leader says of a stream, which must be as it must be.
    pub async fn durable(&self, name: &str) -> Result<Option<Info>> {
        let Some(info) = stream::info(&self.line, name).await? else {
            return Ok(None);
        };
        let wrong = self.wrong(name, &info).await;
        match wrong.is_empty() {
            true => Ok(Some(info)),
            false => Err(Error::journal(NotDurable, wrong.join("; "))),
        }
    }
}

/// What says which journal is there, if one is.
pub async fn meta(line: &Line) -> Result<Option<Meta>> {
    let first = match stream::message(line, META, json!({ "seq": 1 })).await {
        Err(lost) if lost.is(crate::line::NO_STREAM) => None,
        first => first?,
    };
    let Some(first) = first else {
        return Ok(None);
    };
    let foreign = |_| Error::journal(OfAnother, format!("stream {META} is another program's"));
    let meta = serde_json::from_slice(&first.bytes().unwrap_or_default());
    meta.map(Some).map_err(foreign)
}

/// There is no journal on these servers.
pub fn not_made() -> Error {
    Error::journal(OfAnother, "no journal was made there")
}

impl Shared {
    /// Of the journal of that id; nothing is connected yet.
    pub fn new(config: Config, journal: String) -> Shared {
        Shared {
            config,
            journal,
            open: Mutex::default(),
            streams: Mutex::default(),
        }
    }

    /// The line to the journal, connected where there is none.
    pub fn open(&self) -> Result<Arc<Open>> {
        let mut kept = locked(&self.open);
        if let Some(open) = &*kept {
            return Ok(open.clone());
        }
        let open = Arc::new(Open::connect(&self.config)?);
        if open.meta.journal != self.journal {
            let (found, named) = (&open.meta.journal, &self.journal);
            let why = format!("it is journal {found}, and the log names {named}");
            return Err(Error::journal(OfAnother, why));
        }
        *kept = Some(open.clone());
        Ok(open)
    }

    /// Asks by the line to the journal; where no answer comes it is not used again.
    pub fn ask<A>(&self, ask: impl AsyncFnOnce(&Arc<Open>) -> Result<A>) -> Result<A> {
        let open = self.open()?;
        let answer = open.line.wait(ask(&open));
        if let Err(error) = &answer
            && error.journal_fault() == Some(Unreachable)
        {
            self.forget(&open);
        }
        answer
    }

    /// Connects anew next time: no answer came by that line.
    pub fn forget(&self, open: &Arc<Open>) {
        let mut kept = locked(&self.open);
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, open)) {
            *kept = None;
        }
    }

    /// The stream of a log, looked up once in a process; `None` where it has none.
    pub async fn stream(&self, open: &Open, log: LogId) -> Result<Option<Arc<Stream>>> {
        if let Some(stream) = locked(&self.streams).get(&log) {
            return Ok(Some(stream.clone()));
        }
        let names = stream::names(&open.line, &format!("{}>", subjects_of(log))).await?;
        let name = match names.as_slice() {
            [] => return Ok(None),
            [name] => name,
            several => {
                let why = format!("it has several streams of the log: {}", several.join(", "));
                return Err(Error::journal(Refused, why));
            }
        };
        let Some(info) = stream::info(&open.line, name).await? else {
            return Ok(None);
        };
        let stream = Stream::of(name, &info, log);
        Ok(stream.map(|stream| self.keep(log, stream)))
    }

    /// Keeps which stream a log has.
    pub fn keep(&self, log: LogId, stream: Stream) -> Arc<Stream> {
        let stream = Arc::new(stream);
        locked(&self.streams).insert(log, stream.clone());
        stream
    }

    /// What the leader says of a log's stream, which must be the same as before and as it must be.
    pub async fn durable(&self, open: &Open, stream: &Stream) -> Result<Info> {
        let removed = |more: &str| {
            let why = format!("its stream {} was removed{more}", stream.name);
            Error::journal(OfAnother, why)
        };
        let info = open.durable(&stream.name).await?;
        let info = info.ok_or_else(|| removed(""))?;
        match info.created == stream.created {
            true => Ok(info),
            false => Err(removed(" and made again")),
        }
    }
}

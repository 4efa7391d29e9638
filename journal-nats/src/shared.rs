//! One line for all logs of a process, what was found out about their streams, and whether what is there may be trusted.

use crate::config::Config;
use crate::line::{Line, Lost, NoLine};
use crate::message::subjects_of;
use crate::servers::{self, Server};
use crate::stream::{self, Info};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{Outcome, ReadError};
use teamlog_engine::{Error, JournalFault};

/// How long what was found out about durability counts.
pub const DURABLE_FOR: Duration = Duration::from_secs(10);
/// The stream whose first message says which journal it is.
pub const META: &str = "teamlog_journal";
/// The version of what stands in the streams.
pub const SCHEMA: u32 = 1;

/// Why nothing can be asked, or was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// There is no answer.
    Unreachable(String),
    /// It promises less than it must.
    NotDurable(String),
    /// It is another journal, or another log.
    OfAnother(String),
    /// The configuration names none.
    Unconfigured(String),
    /// It says no, or another program wrote there.
    Refused(String),
}

impl From<Lost> for Trouble {
    fn from(lost: Lost) -> Trouble {
        match lost {
            Lost::Unsent(why) | Lost::Unanswered(why) => Trouble::Unreachable(why),
            Lost::Refused(_, why) => Trouble::Refused(why),
        }
    }
}

impl From<NoLine> for Trouble {
    fn from(none: NoLine) -> Trouble {
        match none {
            NoLine::Unreachable(why) => Trouble::Unreachable(why),
            NoLine::Unconfigured(error) => Trouble::Unconfigured(error.to_string()),
        }
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Error {
        let (fault, why) = match trouble {
            Trouble::Unreachable(why) => (JournalFault::Unreachable, why),
            Trouble::NotDurable(why) => (JournalFault::NotDurable, why),
            Trouble::OfAnother(why) => (JournalFault::OfAnother, why),
            Trouble::Unconfigured(why) => (JournalFault::Unconfigured, why),
            Trouble::Refused(why) => (JournalFault::Refused, why),
        };
        Error::journal(fault, why)
    }
}

impl From<Trouble> for ReadError {
    fn from(trouble: Trouble) -> ReadError {
        match trouble {
            Trouble::Unreachable(why) => ReadError::Unreachable(why),
            Trouble::NotDurable(why) => ReadError::NotDurable(why),
            Trouble::OfAnother(why) | Trouble::Unconfigured(why) => ReadError::OfAnother(why),
            Trouble::Refused(why) => ReadError::Refused(why),
        }
    }
}

impl Trouble {
    /// What becomes of an append by it, of which something was sent or nothing.
    pub fn outcome(self, sent: bool) -> Outcome {
        match self {
            Trouble::Unreachable(why) if sent => Outcome::Unknown(why),
            Trouble::Unreachable(why) => Outcome::Unreachable(why),
            Trouble::NotDurable(why) => Outcome::NotDurable(why),
            Trouble::OfAnother(why) | Trouble::Unconfigured(why) | Trouble::Refused(why) => {
                Outcome::Refused(why)
            }
        }
    }
}

/// What says which journal it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Meta {
    /// The version of what stands in the streams.
    pub schema: u32,
    /// The journal's id.
    pub journal: String,
    /// On how many servers a message must be before it is acknowledged.
    pub min_copies: u32,
}

/// A line to a journal.
pub struct Open {
    /// To its servers.
    pub line: Line,
    /// Which journal it is.
    pub meta: Meta,
    servers: Mutex<Option<(Instant, Arc<Vec<Server>>)>>,
    monitors: Vec<String>,
}

/// The stream of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Its name.
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
    /// Where it is.
    pub config: Config,
    /// Its id.
    pub journal: String,
    open: Mutex<Option<Arc<Open>>>,
    streams: Mutex<HashMap<LogId, Arc<Stream>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Open {
    /// Connects to the journal that a configuration names.
    pub fn connect(config: &Config) -> Result<Open, Trouble> {
        let line = Line::connect(config)?;
        let none = || Trouble::OfAnother("no journal was made there".into());
        let meta = line.wait(meta(&line))?.ok_or_else(none)?;
        Open::with(line, meta, config)
    }

    /// By a line to it.
    pub fn with(line: Line, meta: Meta, config: &Config) -> Result<Open, Trouble> {
        if meta.schema > SCHEMA {
            let why = format!(
                "it needs a newer teamlog: its streams have version {}, this one knows {SCHEMA}",
                meta.schema
            );
            return Err(Trouble::OfAnother(why));
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

    /// What the leader says of a stream, which must be as it must be.
    pub async fn durable(&self, name: &str) -> Result<Option<Info>, Trouble> {
        let Some(info) = stream::info(&self.line, name).await? else {
            return Ok(None);
        };
        let wrong = self.wrong(name, &info).await;
        match wrong.is_empty() {
            true => Ok(Some(info)),
            false => Err(Trouble::NotDurable(wrong.join("; "))),
        }
    }
}

/// What says which journal is there, if one is.
pub async fn meta(line: &Line) -> Result<Option<Meta>, Trouble> {
    let first = match stream::message(line, META, json!({ "seq": 1 })).await {
        Err(lost) if lost.is(crate::line::NO_STREAM) => None,
        first => first?,
    };
    let Some(first) = first else {
        return Ok(None);
    };
    let meta = serde_json::from_slice(&first.bytes().unwrap_or_default());
    meta.map(Some)
        .map_err(|_| Trouble::OfAnother(format!("stream {META} is another program's")))
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
    pub fn open(&self) -> Result<Arc<Open>, Trouble> {
        let mut kept = locked(&self.open);
        if let Some(open) = &*kept {
            return Ok(open.clone());
        }
        let open = Arc::new(Open::connect(&self.config)?);
        if open.meta.journal != self.journal {
            let (found, named) = (&open.meta.journal, &self.journal);
            return Err(Trouble::OfAnother(format!(
                "it is journal {found}, and the log names {named}"
            )));
        }
        *kept = Some(open.clone());
        Ok(open)
    }

    /// Connects anew next time: no answer came by that line.
    pub fn forget(&self, open: &Arc<Open>) {
        let mut kept = locked(&self.open);
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, open)) {
            *kept = None;
        }
    }

    /// The stream of a log, looked up once in a process; `None` where it has none.
    pub async fn stream(&self, open: &Open, log: LogId) -> Result<Option<Arc<Stream>>, Trouble> {
        if let Some(stream) = locked(&self.streams).get(&log) {
            return Ok(Some(stream.clone()));
        }
        let names = stream::names(&open.line, &format!("{}>", subjects_of(log))).await?;
        let name = match names.as_slice() {
            [] => return Ok(None),
            [name] => name,
            several => {
                let why = format!("it has several streams of the log: {}", several.join(", "));
                return Err(Trouble::Refused(why));
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
    pub async fn durable(&self, open: &Open, stream: &Stream) -> Result<Info, Trouble> {
        let name = &stream.name;
        let info = open.durable(name).await?;
        let info =
            info.ok_or_else(|| Trouble::OfAnother(format!("its stream {name} was removed")))?;
        match info.created == stream.created {
            true => Ok(info),
            false => Err(Trouble::OfAnother(format!(
                "its stream {name} was removed and made again"
            ))),
        }
    }
}

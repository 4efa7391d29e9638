//! What is asked of a journal as a whole.

use crate::config::{Config, ConfigError};
use crate::journal::{BLOB_SUBJECTS, BLOBS, NatsJournal};
use crate::line::{CALL, Line, Lost, STREAM_EXISTS};
use crate::message::{Headers, Stored, What, stream_name, subjects_of};
use crate::shared::{META, Meta, Open, SCHEMA, Shared, Stream, Trouble, meta};
use crate::stream::{self, Info};
use async_nats::HeaderMap;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_engine::event_id::RandomIds;
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{Journal, Journals, LogState, LogStatus, Position};
use teamlog_engine::{Error, Identity, JournalFault, JournalIdentity, Result};

/// How long to look again whether a log is enrolled.
const ENROLL: Duration = Duration::from_secs(10);
/// More copies than that take more servers than a stream may have.
const COPIES_MAX: u32 = 3;
/// The subject of what says which journal it is.
const META_SUBJECT: &str = "teamlog.journal";

/// A journal on NATS. Cheap to clone; all clones share a line, which is opened when it is needed.
#[derive(Clone)]
pub struct NatsJournals(Arc<Shared>);

impl std::fmt::Debug for NatsJournals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NatsJournals")
            .field(&self.0.journal)
            .finish()
    }
}

/// A journal as its servers show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copies {
    /// The journal's id.
    pub journal: String,
    /// How many servers must have what is acknowledged.
    pub min_copies: u32,
    /// How many are as far as the leader now, with it.
    pub copies: u32,
    /// The servers that have the journal, its leader first.
    pub servers: Vec<String>,
    /// The version of the oldest of those whose monitors answer.
    pub version: String,
    /// What keeps it from being durable, in words; then nothing is written.
    pub wrong: Vec<String>,
}

impl NatsJournals {
    /// The journal of that id; nothing is connected yet.
    #[must_use]
    pub fn new(config: Config, journal: String) -> NatsJournals {
        NatsJournals(Arc::new(Shared::new(config, journal)))
    }

    /// Makes a journal's own streams on the servers, and looks at it. What is there already stays as it is; `min_copies` counts for a
    /// new one, whose streams are on `2 * min_copies - 1` servers.
    ///
    /// # Errors
    /// `Journal`: no server can be reached or lets streams be made; there are too few of them.
    pub fn create(config: &Config, min_copies: u32) -> Result<Copies> {
        if !(1..=COPIES_MAX).contains(&min_copies) {
            let why = format!(
                "of {min_copies} copies a stream would be on {} servers, and may be on 5",
                stream::replicas(min_copies)
            );
            return Err(Error::journal(JournalFault::Refused, why));
        }
        let line = Line::connect(config).map_err(Trouble::from)?;
        line.wait(made(&line, min_copies))?;
        NatsJournals::look(config)
    }

    /// Looks at the journal on these servers.
    ///
    /// # Errors
    /// `Journal`: none can be reached, or there is no journal.
    pub fn look(config: &Config) -> Result<Copies> {
        let open = Open::connect(config)?;
        let looked = open.line.wait(async {
            let none = || Trouble::OfAnother("no journal was made there".into());
            let info = stream::info(&open.line, META).await?.ok_or_else(none)?;
            let mut wrong = open.wrong(META, &info).await;
            match stream::info(&open.line, BLOBS).await? {
                Some(blobs) => wrong.extend(blobs.wrong(BLOBS, open.meta.min_copies)),
                None => wrong.push(format!("stream {BLOBS} must be there, but is not")),
            }
            Ok::<_, Trouble>((info, wrong))
        });
        let (info, wrong) = looked?;
        let servers = open.line.wait(open.servers(CALL));
        let oldest = servers.iter().min_by_key(|server| server.release());
        let peers = info.peers();
        let current = peers.iter().filter(|(_, is_current)| *is_current).count();
        Ok(Copies {
            journal: open.meta.journal.clone(),
            min_copies: open.meta.min_copies,
            copies: u32::try_from(current.max(1)).unwrap_or(u32::MAX),
            servers: peers.iter().map(|(name, _)| (*name).to_owned()).collect(),
            version: oldest.map_or_else(|| "unknown".into(), |server| server.version.clone()),
            wrong,
        })
    }

    /// Whether the URL and the files can be used.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(config: &Config) -> std::result::Result<(), ConfigError> {
        config.servers().map(drop)
    }

    /// A handle for one log.
    #[must_use]
    pub fn journal(&self) -> Box<dyn Journal> {
        Box::new(NatsJournal::new(self.0.clone()))
    }

    /// What `log.json` says of the log of a team, on every host, where all of it is in the journal.
    ///
    /// # Errors
    /// `Journal`, also where it is being handed over, or was taken off.
    pub fn find(&self, team: &str) -> Result<Option<Vec<u8>>> {
        let Some(name) = stream_name(team) else {
            return Ok(None);
        };
        let found = self.ask(async |open| {
            let Some(info) = open.durable(&name).await? else {
                return Ok(None);
            };
            let stream = log_of(&info).and_then(|log| Some((log, Stream::of(&name, &info, log)?)));
            match stream {
                Some((log, stream)) => there(open, &stream, info.state.last_seq, log).await,
                None => Ok(None),
            }
        })?;
        let loading = "the host that hands it over has not finished";
        match found {
            None => Ok(None),
            Some((_, LogState::Loading)) => Err(Error::journal(JournalFault::Loading, loading)),
            Some((identity, LogState::Open)) => Ok(Some(identity)),
            Some((_, LogState::Left)) => {
                let why = "the log goes on at one host alone";
                Err(Error::journal(JournalFault::Left, why))
            }
        }
    }

    /// What the journal has of a log; `None` where it does not know it.
    ///
    /// # Errors
    /// `Journal`.
    pub fn status(&self, log: LogId) -> Result<Option<LogStatus>> {
        self.ask(async |open| {
            let Some(stream) = self.0.stream(open, log).await? else {
                return Ok(None);
            };
            let Some(info) = stream::info(&open.line, &stream.name).await? else {
                return Ok(None);
            };
            let last = message(open, &stream, json!({ "seq": info.state.last_seq }), log).await?;
            Ok(last.map(|last| LogStatus {
                state: last.headers.state.name().to_owned(),
                last_seq: last.headers.position.last_seq,
                groups: info.state.messages.saturating_sub(1),
                bytes: info.state.bytes,
            }))
        })
    }

    fn ask<A>(&self, ask: impl AsyncFnOnce(&Open) -> std::result::Result<A, Trouble>) -> Result<A> {
        let open = self.0.open()?;
        let answer = open.line.wait(ask(&open));
        if matches!(answer, Err(Trouble::Unreachable(_))) {
            self.0.forget(&open);
        }
        Ok(answer?)
    }

    /// Whether a log is the team's, enrolled with that identity in that state, which it is made where nothing else is there.
    /// What has no answer is looked at again: whoever gives up would leave a stream that holds nothing, and has the name.
    async fn enrolled(
        &self,
        open: &Open,
        identity: &Identity,
        state: LogState,
    ) -> std::result::Result<bool, Trouble> {
        let until = Instant::now() + ENROLL;
        loop {
            let waits = match self.enroll_once(open, identity, state).await {
                Ok(Some(is_its)) => return Ok(is_its),
                Ok(None) => "it did not say in time whether it knows the log".to_owned(),
                Err(Trouble::Unreachable(why)) => why,
                Err(trouble) => return Err(trouble),
            };
            if Instant::now() >= until {
                return Err(Trouble::Unreachable(waits));
            }
        }
    }

    /// One step towards that; `None` where what it came to has to be looked at.
    async fn enroll_once(
        &self,
        open: &Open,
        identity: &Identity,
        state: LogState,
    ) -> std::result::Result<Option<bool>, Trouble> {
        let none = || Trouble::Refused("no stream can have the team's name".into());
        let name = stream_name(&identity.team).ok_or_else(none)?;
        let (log, bytes) = (identity.log, identity.encode());
        let Some(info) = open.durable(&name).await? else {
            let subjects = format!("{}{}.*", subjects_of(log), LogId::new(&RandomIds));
            return match stream::make(&open.line, &name, &subjects, open.meta.min_copies).await {
                Err(lost) if !lost.is(STREAM_EXISTS) => Err(lost.into()),
                _ => Ok(None),
            };
        };
        let Some(stream) = Stream::of(&name, &info, log) else {
            return Ok(Some(false));
        };
        let last = info.state.last_seq;
        let there = there(open, &stream, last, log).await?;
        if there.as_ref().is_some_and(|(_, found)| *found != state) {
            return Ok(Some(false));
        }
        let stream = self.0.keep(log, stream);
        match there {
            Some((found, _)) if found == bytes => return Ok(Some(true)),
            Some(_) if state != LogState::Loading => return Ok(Some(false)),
            _ => {}
        }
        let position = match last {
            0 => Position::default(),
            _ => position(open, &stream, last, log).await?,
        };
        match introduce(open, &stream, (last, position), (log, state), &bytes).await {
            Err(lost) if !lost.is_compare() => Err(lost.into()),
            _ => Ok(None),
        }
    }
}

/// Makes what is not there of a journal's own streams.
async fn made(line: &Line, min_copies: u32) -> std::result::Result<(), Trouble> {
    let there = match meta(line).await? {
        Some(there) => there,
        None => {
            let new = Meta {
                schema: SCHEMA,
                journal: LogId::new(&RandomIds).to_string(),
                min_copies,
            };
            stream::make(line, META, META_SUBJECT, min_copies).await?;
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Expected-Last-Sequence", "0");
            let text = serde_json::to_vec(&new).unwrap_or_default();
            match line
                .publish(META_SUBJECT, &headers, &text, Instant::now() + CALL)
                .await
            {
                // Another host made it meanwhile.
                Err(lost) if !lost.is_compare() => return Err(lost.into()),
                _ => new,
            }
        }
    };
    match stream::info(line, BLOBS).await? {
        Some(_) => Ok(()),
        None => {
            Ok(stream::make(line, BLOBS, &format!("{BLOB_SUBJECTS}>"), there.min_copies).await?)
        }
    }
}

/// Has an identity stored behind a message.
async fn introduce(
    open: &Open,
    stream: &Stream,
    (last, position): (u64, Position),
    (log, state): (LogId, LogState),
    bytes: &[u8],
) -> std::result::Result<(), Lost> {
    let headers = Headers {
        log,
        prev: position.digest,
        position,
        state,
        begins: Vec::new(),
    };
    let encoded = headers.encode(What::Identity, last);
    let encoded = encoded.map_err(|why| Lost::Refused(0, why))?;
    let subject = What::Identity.subject(&stream.subjects);
    let until = Instant::now() + CALL;
    open.line
        .publish(&subject, &encoded, bytes, until)
        .await
        .map(drop)
}

/// A message of a log.
async fn message(
    open: &Open,
    stream: &Stream,
    which: Value,
    log: LogId,
) -> std::result::Result<Option<Stored>, Trouble> {
    let raw = stream::message(&open.line, &stream.name, which).await?;
    let stored = raw.map(|raw| Stored::of(&raw, log)).transpose();
    stored.map_err(Trouble::Refused)
}

async fn position(
    open: &Open,
    stream: &Stream,
    seq: u64,
    log: LogId,
) -> std::result::Result<Position, Trouble> {
    let stored = message(open, stream, json!({ "seq": seq }), log).await?;
    let missing = || {
        Trouble::Refused(format!(
            "message {seq} of stream {} is missing",
            stream.name
        ))
    };
    stored
        .map(|stored| stored.headers.position)
        .ok_or_else(missing)
}

/// What a stream says of its log last, and the state at its last message; `None` where it is empty.
async fn there(
    open: &Open,
    stream: &Stream,
    last: u64,
    log: LogId,
) -> std::result::Result<Option<(Vec<u8>, LogState)>, Trouble> {
    if last == 0 {
        return Ok(None);
    }
    let subject = What::Identity.subject(&stream.subjects);
    let identity = message(open, stream, json!({ "last_by_subj": subject }), log).await?;
    let end = message(open, stream, json!({ "seq": last }), log).await?;
    let both = identity.zip(end);
    Ok(both.map(|(identity, end)| (identity.bytes, end.headers.state)))
}

/// The log that a stream's subjects name.
fn log_of(info: &Info) -> Option<LogId> {
    let log = info
        .subject()
        .strip_prefix("teamlog.log.")?
        .split('.')
        .next()?;
    LogId::from_text(log)
}

impl Journals for NatsJournals {
    fn open(&self, _: &JournalIdentity) -> Result<Box<dyn Journal>> {
        Ok(self.journal())
    }

    fn enroll(&self, identity: &Identity, state: LogState) -> Result<()> {
        let is_its = self.ask(async |open| self.enrolled(open, identity, state).await)?;
        match is_its {
            true => Ok(()),
            false => {
                let team = &identity.team;
                let why = format!("it has another log of team {team}, or had this one before");
                Err(Error::journal(JournalFault::Refused, why))
            }
        }
    }
}

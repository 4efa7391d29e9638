//! What is asked of a journal as a whole.

use crate::KIND;
use crate::config::Config;
use crate::journal::{BLOB_SUBJECTS, BLOBS, NatsJournal};
use crate::line::{CALL, Line, Lost, STREAM_EXISTS};
use crate::message::{Headers, What, stream_name, subjects_of};
use crate::shared::{META, Meta, Open, SCHEMA, Shared, Stream, meta, not_made};
use crate::stream::{self, Info};
use async_nats::HeaderMap;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_engine::JournalFault::{Refused, Unreachable};
use teamlog_engine::event_id::RandomIds;
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{
    ConfigError, Copies, Journal, Journals, LogState, LogStatus, Position, Server, Term, Way,
    enrolled,
};
use teamlog_engine::{Error, Identity, JournalIdentity, Result};

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

impl Way for Config {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.servers().map(drop)
    }

    /// A new one has its streams on `2 * min_copies - 1` servers.
    fn create(&self, min_copies: u32) -> Result<Copies> {
        if !(1..=COPIES_MAX).contains(&min_copies) {
            let why = format!(
                "of {min_copies} copies a stream would be on {} servers, and may be on 5",
                stream::replicas(min_copies)
            );
            return Err(Error::journal(Refused, why));
        }
        let line = Line::connect(self)?;
        line.wait(made(&line, min_copies))?;
        self.look()
    }

    fn look(&self) -> Result<Copies> {
        let open = Open::connect(self)?;
        let looked = open.line.wait(async {
            let info = stream::info(&open.line, META).await?.ok_or_else(not_made)?;
            let mut wrong = open.wrong(META, &info).await;
            match stream::info(&open.line, BLOBS).await? {
                Some(blobs) => wrong.extend(blobs.wrong(BLOBS, open.meta.min_copies)),
                None => wrong.push(format!("stream {BLOBS} must be there, but is not")),
            }
            Ok::<_, Error>((info, wrong))
        });
        let (info, wrong) = looked?;
        let servers = open.line.wait(open.servers(CALL));
        let oldest = servers.iter().min_by_key(|server| server.release());
        let peers = info.peers();
        let current = peers.iter().filter(|(_, is_current)| *is_current).count();
        let names: Vec<&str> = peers.iter().map(|(name, _)| *name).collect();
        Ok(Copies {
            journal: open.meta.journal.clone(),
            min_copies: open.meta.min_copies,
            copies: u32::try_from(current.max(1)).unwrap_or(u32::MAX),
            names: names.join(", "),
            term: Term::default(),
            version: oldest.map_or_else(|| "unknown".into(), |server| server.version.clone()),
            wrong,
        })
    }

    fn open(&self, id: &str) -> Arc<dyn Server> {
        Arc::new(NatsJournals::new(self.clone(), id.to_owned()))
    }
}

impl Server for NatsJournals {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn identity(&self, team: &str) -> Result<Option<(Vec<u8>, LogState)>> {
        let Some(name) = stream_name(team) else {
            return Ok(None);
        };
        self.0.ask(async |open| {
            let Some(info) = open.durable(&name).await? else {
                return Ok(None);
            };
            let stream = log_of(&info).and_then(|log| Some((log, Stream::of(&name, &info, log)?)));
            match stream {
                Some((log, stream)) => there(open, &stream, info.state.last_seq, log).await,
                None => Ok(None),
            }
        })
    }

    fn status(&self, log: LogId) -> Result<Option<LogStatus>> {
        self.0.ask(async |open| {
            let Some(stream) = self.0.stream(open, log).await? else {
                return Ok(None);
            };
            let Some(info) = stream::info(&open.line, &stream.name).await? else {
                return Ok(None);
            };
            let last = open.at(&stream.name, info.state.last_seq, log).await?;
            Ok(last.map(|last| LogStatus {
                state: last.headers.state.name().to_owned(),
                last_seq: last.headers.position.last_seq,
                groups: info.state.messages.saturating_sub(1),
                bytes: info.state.bytes,
            }))
        })
    }
}

impl NatsJournals {
    /// The journal of that id; nothing is connected yet.
    #[must_use]
    pub fn new(config: Config, journal: String) -> NatsJournals {
        NatsJournals(Arc::new(Shared::new(config, journal)))
    }

    /// A handle for one log.
    #[must_use]
    pub fn journal(&self) -> Box<dyn Journal> {
        Box::new(NatsJournal::new(self.0.clone()))
    }

    /// Whether a log is the team's, enrolled with that identity in that state, which it is made where nothing else is there.
    /// What has no answer is looked at again: whoever gives up would leave a stream that holds nothing, and has the name.
    async fn enrolled(&self, open: &Open, identity: &Identity, state: LogState) -> Result<bool> {
        let until = Instant::now() + ENROLL;
        loop {
            let waits = match self.enroll_once(open, identity, state).await {
                Ok(Some(is_its)) => return Ok(is_its),
                Ok(None) => "it did not say in time whether it knows the log".to_owned(),
                Err(Error::Journal {
                    fault: Unreachable,
                    why,
                }) => why,
                Err(error) => return Err(error),
            };
            if Instant::now() >= until {
                return Err(Error::journal(Unreachable, waits));
            }
        }
    }

    /// One step towards that; `None` where what it came to has to be looked at.
    async fn enroll_once(
        &self,
        open: &Open,
        identity: &Identity,
        state: LogState,
    ) -> Result<Option<bool>> {
        let none = || Error::journal(Refused, "no stream can have the team's name");
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
            _ => open.there(&stream.name, last, log).await?.headers.position,
        };
        match introduce(open, &stream, (last, position), (log, state), &bytes).await {
            Err(lost) if !lost.is_compare() => Err(lost.into()),
            _ => Ok(None),
        }
    }
}

/// Makes what is not there of a journal's own streams.
async fn made(line: &Line, min_copies: u32) -> Result<()> {
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
            let until = Instant::now() + CALL;
            match line.publish(META_SUBJECT, &headers, &text, until).await {
                // Another host made it meanwhile.
                Err(lost) if !lost.is_compare() => return Err(lost.into()),
                _ => new,
            }
        }
    };
    if stream::info(line, BLOBS).await?.is_none() {
        stream::make(line, BLOBS, &format!("{BLOB_SUBJECTS}>"), there.min_copies).await?;
    }
    Ok(())
}

/// Has an identity stored behind a message.
async fn introduce(
    open: &Open,
    stream: &Stream,
    (last, position): (u64, Position),
    (log, state): (LogId, LogState),
    bytes: &[u8],
) -> Result<(), Lost> {
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
    let acked = open.line.publish(&subject, &encoded, bytes, until);
    acked.await.map(drop)
}

/// What a stream says of its log last, and the state at its last message; `None` where it is empty.
async fn there(
    open: &Open,
    stream: &Stream,
    last: u64,
    log: LogId,
) -> Result<Option<(Vec<u8>, LogState)>> {
    if last == 0 {
        return Ok(None);
    }
    let subject = What::Identity.subject(&stream.subjects);
    let which = json!({ "last_by_subj": subject });
    let identity = open.message(&stream.name, which, log).await?;
    let end = open.at(&stream.name, last, log).await?;
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
        let enrolling = async |open: &Arc<Open>| self.enrolled(open, identity, state).await;
        enrolled(self.0.ask(enrolling)?, &identity.team)
    }
}

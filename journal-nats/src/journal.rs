//! Appending groups, and reading them.

use crate::line::{Lost, time_for};
use crate::message::{Headers, Stored, What};
use crate::shared::{DURABLE_FOR, Open, Shared, Stream};
use crate::stream::{self, Info};
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_engine::JournalFault::{OfAnother, Refused, Unreachable};
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{
    Append, Journal, JournalGroup, LogState, Outcome, Page, Position, ReadError, Term,
};
use teamlog_engine::{Error, Result, Timestamp};

/// At most so many groups are read at once.
const GROUPS_MAX: usize = 1024;
/// At most so many are asked for at a time: a server drops a line that it owes more than 64 MiB.
const ASKED_MAX: usize = 6;
/// And about so many bytes.
const ASKED_BYTES: usize = 4 << 20;
/// How long to wait before what was not stored, with nothing in its place, is sent again.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a server may take itself for the leader, and have less than a host that read from the one that is: one that was paused
/// learns only behind that.
const LEARNS: Duration = Duration::from_secs(1);
/// The stream of what lies beside logs.
pub const BLOBS: &str = "teamlog_blobs";
/// Its subjects begin with that.
pub const BLOB_SUBJECTS: &str = "teamlog.blob.";

/// A handle on the journal, for one log.
pub struct NatsJournal {
    shared: Arc<Shared>,
    /// Where the end of each log was.
    ends: HashMap<LogId, End>,
}

/// A message, and when its stream was last looked at.
#[derive(Clone, Copy)]
struct End {
    seq: u64,
    /// The place behind it.
    position: Position,
    /// The state of the log there.
    state: LogState,
    looked: Instant,
}

impl End {
    fn of(stored: &Stored, looked: Instant) -> End {
        End {
            seq: stored.seq,
            position: stored.headers.position,
            state: stored.headers.state,
            looked,
        }
    }

    /// The sequence of what stands directly behind it.
    fn next(&self) -> u64 {
        self.seq.saturating_add(1)
    }
}

/// What an append asks of the state of its log, and what it makes it.
#[derive(Clone, Copy)]
struct By {
    within: LogState,
    to: LogState,
}

/// A log's stream, by a line.
struct Place<'a> {
    open: &'a Arc<Open>,
    stream: Arc<Stream>,
    log: LogId,
}

impl Place<'_> {
    async fn there(&self, seq: u64) -> Result<Stored> {
        self.open.there(&self.stream.name, seq, self.log).await
    }

    /// Seq of the last event; 0 where there is none.
    async fn end(&self, last: u64) -> Result<u64> {
        match last {
            0 => Ok(0),
            last => Ok(self.there(last).await?.headers.position.last_seq),
        }
    }

    /// The message that a position stands behind, by a guess or by searching; `None` where it stands behind none.
    async fn find(&self, after: Position, last: u64, guess: Option<u64>) -> Result<Option<Stored>> {
        let likely = [guess.filter(|seq| *seq < last), Some(last)];
        for seq in likely.into_iter().flatten().filter(|seq| *seq > 0) {
            let stored = self.there(seq).await?;
            if stored.headers.position == after {
                return Ok(Some(stored));
            }
        }
        // The last one that ends no later: all messages up to `low` do, none from `high` on.
        let (mut low, mut high, mut found) = (0, last.saturating_add(1), None);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let stored = self.there(middle).await?;
            match stored.headers.position.last_seq <= after.last_seq {
                true => (low, found) = (middle, Some(stored)),
                false => high = middle,
            }
        }
        Ok(found.filter(|stored| stored.headers.position == after))
    }
}

impl NatsJournal {
    /// On that journal.
    pub fn new(shared: Arc<Shared>) -> NatsJournal {
        NatsJournal {
            shared,
            ends: HashMap::new(),
        }
    }

    async fn place<'a>(&self, open: &'a Arc<Open>, log: LogId) -> Result<Place<'a>> {
        let none = || Error::journal(OfAnother, "it has no such log");
        let stream = self.shared.stream(open, log).await?.ok_or_else(none)?;
        Ok(Place { open, stream, log })
    }

    /// What a group is to stand behind; `None` where the journal never had that.
    async fn before(&self, place: &Place<'_>, after: Position) -> Result<Option<End>> {
        let known = self
            .ends
            .get(&place.log)
            .filter(|end| end.position == after);
        if let Some(end) = known.filter(|end| end.looked.elapsed() < DURABLE_FOR) {
            return Ok(Some(*end));
        }
        let guess = known.map(|end| end.seq);
        Ok(self.end(place, after, guess).await?.1.ok())
    }

    /// What the leader says of the stream, and the message that a position stands behind, by a guess or by searching; where it
    /// stands behind none, the seq of the last event. Where that is less than it must be, the leader is asked again for a moment.
    async fn end(
        &self,
        place: &Place<'_>,
        after: Position,
        guess: Option<u64>,
    ) -> Result<(Info, Result<End, u64>)> {
        let until = Instant::now() + LEARNS;
        loop {
            let info = self.shared.durable(place.open, &place.stream).await?;
            let (last, looked) = (info.state.last_seq, Instant::now());
            if let Some(stored) = place.find(after, last, guess).await? {
                return Ok((info, Ok(End::of(&stored, looked))));
            }
            let end = place.end(last).await?;
            if end >= after.last_seq || looked >= until {
                return Ok((info, Err(end)));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn take(&mut self, group: &Append<'_>, by: By) -> Outcome {
        let open = match self.shared.open() {
            Ok(open) => open,
            Err(error) => return Outcome::of(error, false),
        };
        let mut sent = false;
        let placed = open.line.wait(self.append_one(&open, group, by, &mut sent));
        let outcome = placed.unwrap_or_else(|error| Outcome::of(error, sent));
        if matches!(outcome, Outcome::Unknown(_) | Outcome::Unreachable(_)) {
            self.shared.forget(&open);
        }
        outcome
    }

    /// Appends a group behind the message that it names. Where it was not stored and nothing is in its place, it is sent again:
    /// the server compares with what is on its way, too. `sent` says whether it may come to stand there without an answer.
    async fn append_one(
        &mut self,
        open: &Arc<Open>,
        group: &Append<'_>,
        by: By,
        sent: &mut bool,
    ) -> Result<Outcome> {
        let place = self.place(open, group.log).await?;
        let Some(mut before) = self.before(&place, group.after).await? else {
            return Ok(Outcome::Forked);
        };
        let until = Instant::now() + time_for(group.bytes.len());
        let headers = Headers {
            log: group.log,
            prev: group.after.digest,
            position: group.position,
            state: by.to,
            begins: group.begins.to_vec(),
        };
        let subject = What::Group.subject(&place.stream.subjects);
        loop {
            let is_closed = before.state != by.within;
            if !is_closed {
                let encoded = headers.encode(What::Group, before.seq);
                let encoded = encoded.map_err(|why| Error::journal(Refused, why))?;
                let acked = open.line.publish(&subject, &encoded, group.bytes, until);
                let acked = acked.await;
                *sent |= !matches!(acked, Err(Lost::Unsent(_)));
                match acked {
                    Ok(ack) if !ack.duplicate && ack.seq == before.next() => {
                        let end = End {
                            seq: ack.seq,
                            position: group.position,
                            state: by.to,
                            ..before
                        };
                        self.ends.insert(group.log, end);
                        return Ok(Outcome::Appended);
                    }
                    // One of its id may be another: what stands there decides.
                    Ok(_) => {}
                    Err(lost) if lost.is_compare() => {}
                    Err(lost) => return Err(lost.into()),
                }
            }
            match open
                .at(&place.stream.name, before.next(), group.log)
                .await?
            {
                Some(there)
                    if there.what == What::Identity
                        && there.headers.position == before.position =>
                {
                    before = End::of(&there, before.looked);
                }
                Some(there) => return Ok(self.settled(group, &there, before)),
                None if is_closed => return Ok(Outcome::Closed(before.state)),
                None if Instant::now() >= until => {
                    return Ok(Outcome::Unknown(
                        "it took nothing in the group's place".into(),
                    ));
                }
                None => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// What became of a group, by the message that stands in its place.
    fn settled(&mut self, group: &Append<'_>, there: &Stored, before: End) -> Outcome {
        if there.headers.prev != before.position.digest {
            return Outcome::Forked;
        }
        if there.headers.position != group.position {
            return Outcome::Conflict;
        }
        self.ends.insert(group.log, End::of(there, before.looked));
        Outcome::Appended
    }

    async fn page(
        &mut self,
        open: &Arc<Open>,
        log: LogId,
        after: Position,
        bytes_max: usize,
    ) -> Result<Result<Page, ReadError>> {
        let place = self.place(open, log).await?;
        let guess = self.ends.get(&log).filter(|end| end.position == after);
        let guess = guess.map(|end| end.seq);
        let (info, end) = self.end(&place, after, guess).await?;
        let last = info.state.last_seq;
        let mut end = match end {
            Ok(end) => end,
            Err(_) if last == 0 => {
                return Ok(Err(ReadError::OfAnother("it has no such log".into())));
            }
            Err(end) if end < after.last_seq => return Ok(Err(ReadError::Behind(end))),
            Err(_) => return Ok(Err(ReadError::Forked)),
        };
        let mut groups = Vec::new();
        let mut bytes = 0;
        let mut coming = Coming {
            place: &place,
            next: end.next(),
            last,
            most: 1,
            asked: VecDeque::new(),
        };
        while bytes < bytes_max.max(1)
            && groups.len() < GROUPS_MAX
            && let Some(stored) = coming.next().await?
        {
            let headers = &stored.headers;
            let follows =
                headers.position.last_seq > end.position.last_seq || stored.what == What::Identity;
            if headers.prev != end.position.digest || !follows {
                return Ok(Err(ReadError::Forked));
            }
            end = End::of(&stored, end.looked);
            if stored.what == What::Group {
                bytes += stored.bytes.len();
                groups.push(JournalGroup {
                    position: end.position,
                    bytes: stored.bytes,
                    begins: stored.headers.begins,
                });
            }
        }
        self.ends.insert(log, end);
        Ok(Ok(Page {
            groups,
            more: end.seq < last,
            now: info.ts.and_then(|ts| Timestamp::parse(&ts).ok()),
            // The server compares, whoever leads.
            term: Term::default(),
            fold_version: 0,
        }))
    }
}

/// The messages of a stream one after the other, of which the next few are asked for already, so many as may be of the size of the
/// last one: a slow line has one large one at a time.
struct Coming<'a> {
    place: &'a Place<'a>,
    next: u64,
    last: u64,
    most: usize,
    asked: VecDeque<tokio::task::JoinHandle<Result<Stored>>>,
}

impl Coming<'_> {
    async fn next(&mut self) -> Result<Option<Stored>> {
        while self.next <= self.last && self.asked.len() < self.most {
            let (open, name) = (self.place.open.clone(), self.place.stream.name.clone());
            let (log, seq) = (self.place.log, self.next);
            let asked = tokio::spawn(async move { open.there(&name, seq, log).await });
            self.asked.push_back(asked);
            self.next = self.next.saturating_add(1);
        }
        let Some(asked) = self.asked.pop_front() else {
            return Ok(None);
        };
        let lost = |error: tokio::task::JoinError| Error::journal(Unreachable, error.to_string());
        let stored = asked.await.map_err(lost)??;
        self.most = (ASKED_BYTES / stored.bytes.len().max(1)).clamp(1, ASKED_MAX);
        Ok(Some(stored))
    }
}

/// The subject of what a log keeps under a digest.
fn blob_subject(log: LogId, digest: &str) -> Result<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_:=".contains(c);
    match !digest.is_empty() && digest.chars().all(plain) {
        true => Ok(format!("{BLOB_SUBJECTS}{log}.{digest}")),
        false => {
            let rule = "a digest must have letters, digits and -_:= alone";
            Err(Error::journal(Refused, rule))
        }
    }
}

/// Keeps bytes under a subject, on which nothing stands yet.
async fn put(open: &Open, subject: &str, bytes: &[u8]) -> Result<()> {
    let none = || Error::journal(OfAnother, format!("its stream {BLOBS} was removed"));
    open.durable(BLOBS).await?.ok_or_else(none)?;
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("Nats-Expected-Last-Subject-Sequence", "0");
    let until = Instant::now() + time_for(bytes.len());
    match open.line.publish(subject, &headers, bytes, until).await {
        // What is on its way may still fail, so it has to be there.
        Err(lost) if lost.is_compare() => match blob(open, subject).await? {
            Some(_) => Ok(()),
            None => Err(Error::journal(Unreachable, "it is being stored")),
        },
        acked => Ok(acked.map(drop)?),
    }
}

async fn blob(open: &Open, subject: &str) -> Result<Option<Vec<u8>>> {
    let raw = stream::message(&open.line, BLOBS, json!({ "last_by_subj": subject })).await?;
    let damaged = || Error::journal(Refused, "what is kept cannot be read");
    raw.map(|raw| raw.bytes().ok_or_else(damaged)).transpose()
}

impl Journal for NatsJournal {
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome> {
        let by = By {
            within: state,
            to: state,
        };
        groups.iter().map(|group| self.take(group, by)).collect()
    }

    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        let within = to.before();
        self.take(group, By { within, to })
    }

    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError> {
        let shared = self.shared.clone();
        shared.ask(async |open| self.page(open, log, after, bytes_max).await)?
    }

    fn put_blob(&mut self, log: LogId, digest: &str, bytes: &[u8]) -> Result<(), ReadError> {
        let subject = blob_subject(log, digest)?;
        Ok(self
            .shared
            .ask(async |open| put(open, &subject, bytes).await)?)
    }

    fn blob(&mut self, log: LogId, digest: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let subject = blob_subject(log, digest)?;
        Ok(self.shared.ask(async |open| blob(open, &subject).await)?)
    }
}

//! One connection to the server that decides: its settings, its deadline, its warnings, and whether it may be trusted.

use crate::config::{Config, Server};
use crate::copies::{check, found};
use crate::host::HostName;
use crate::pipeline::{Reply, pipelined, prepare, rows, run};
use crate::schema;
use crate::tls;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use teamlog_engine::JournalFault::{
    Denied, NotDurable, OfAnother, Refused, Unconfigured, Unreachable,
};
use teamlog_engine::journal::{Copies, Term};
use teamlog_engine::{Error, JournalFault, Result};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, NoTls, Row, Socket, Statement, ToStatement};

/// How long one call may take. Behind it the connection is dropped: to cancel a commit that waits for its copies would make
/// it count without them.
const CALL: Duration = Duration::from_secs(3);
/// What a line carries at least in a second: a call has as much longer as its bytes need then.
const BYTES_A_SECOND: u64 = 1 << 20;
/// How long a fence counts: the term, the copies and the barrier of a connection are checked again before it is used later.
const FENCED_FOR: Duration = Duration::from_secs(3);

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// The server said no: nothing was written.
    Refused(SqlState, String),
    /// The server may not be asked, for this reason. The connection is not to be used again.
    Unfit(JournalFault, String),
    /// There was no answer, or none that says what became of it. The connection is not to be used again.
    Gone(String),
}

impl Lost {
    /// In words.
    pub fn why(self) -> String {
        match self {
            Lost::Refused(_, why) | Lost::Unfit(_, why) | Lost::Gone(why) => why,
        }
    }
}

impl From<Lost> for Error {
    fn from(lost: Lost) -> Error {
        match lost {
            Lost::Refused(state, why) => Error::journal(of_state(&state), why),
            Lost::Unfit(fault, why) => Error::journal(fault, why),
            Lost::Gone(why) => Error::journal(Unreachable, why),
        }
    }
}

/// Maps a refused statement to a fault: a missing right or table stays missing until a person changes it.
fn of_state(state: &SqlState) -> JournalFault {
    match *state {
        SqlState::INSUFFICIENT_PRIVILEGE => Denied,
        SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_COLUMN | SqlState::UNDEFINED_FUNCTION => {
            OfAnother
        }
        _ => Refused,
    }
}

pub type Answer<T> = Result<T, tokio_postgres::Error>;

/// What a statement is asked with.
pub type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection that passed a fence.
pub struct Connection {
    raw: Raw,
    pub append: Statement,
    pub append_one: Statement,
    read: Statement,
    look: Statement,
    barrier: Statement,
    followed: Statement,
    /// As the server showed itself when the connection was opened.
    found: Copies,
    /// Time at which the last barrier was sent that was acknowledged.
    fenced: Instant,
    /// Index of the server in the configuration.
    pub server: usize,
    /// As [`Connections`](crate::connections::Connections) counts them.
    pub generation: u64,
    host: HostName,
}

/// A connection with its settings, of which nothing is known yet.
pub struct Raw {
    runtime: Runtime,
    pub client: Client,
    /// Whether the server gave a warning since this was last asked.
    warned: Arc<AtomicBool>,
}

impl Raw {
    /// Connects to one server that takes writes.
    pub fn connect(server: &Server) -> Result<Raw> {
        let raw = Raw::open(&server.client, server)?;
        raw.wait(raw.client.batch_execute(schema::SETTINGS))?;
        Ok(raw)
    }

    /// Connects to one server, without the settings.
    fn open(client: &tokio_postgres::Config, server: &Server) -> Result<Raw> {
        let unreachable = |why: String| Error::journal(Unreachable, why);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unreachable(error.to_string()))?;
        let warned = Arc::new(AtomicBool::new(false));
        let notes = warned.clone();
        let connected = match &server.tls {
            Some(tls) => runtime.block_on(connected(server, client, tls.clone(), notes)),
            None => runtime.block_on(connected(server, client, NoTls, notes)),
        };
        Ok(Raw {
            client: connected?,
            runtime,
            warned,
        })
    }

    /// The rows that a statement gives.
    pub fn rows(&self, statement: &str, params: Params<'_>) -> Result<Vec<Row>, Lost> {
        self.wait(self.client.query(statement, params))
    }

    /// The row that one gives that gives no other.
    pub fn row(&self, statement: &str, params: Params<'_>) -> Result<Option<Row>, Lost> {
        self.wait(self.client.query_opt(statement, params))
    }

    /// Has a statement committed that carries so many bytes. A warning says that it may not be on as many servers as it must be.
    pub fn commit<S: ToStatement + ?Sized>(
        &self,
        bytes: usize,
        statement: &S,
        params: Params<'_>,
    ) -> Result<Vec<Row>, Lost> {
        self.warned.store(false, Ordering::SeqCst);
        let rows = self.wait_for(bytes, self.client.query(statement, params))?;
        self.check_unwarned()?;
        Ok(rows)
    }

    /// Has requests answered of which one is committed.
    fn commit_all<T>(&self, requests: impl Future<Output = Answer<T>>) -> Result<T, Lost> {
        self.warned.store(false, Ordering::SeqCst);
        let replies = self.wait(requests)?;
        self.check_unwarned()?;
        Ok(replies)
    }

    fn check_unwarned(&self) -> Result<(), Lost> {
        match self.warned.load(Ordering::SeqCst) {
            true => Err(Lost::Gone(
                "the server warned that it did not wait for its copies".into(),
            )),
            false => Ok(()),
        }
    }

    /// Waits for a short answer to a short call.
    pub fn wait<T>(&self, work: impl Future<Output = Answer<T>>) -> Result<T, Lost> {
        self.wait_for(0, work)
    }

    /// Waits for an answer; so many bytes go one way or the other.
    pub fn wait_for<T>(
        &self,
        bytes: usize,
        work: impl Future<Output = Answer<T>>,
    ) -> Result<T, Lost> {
        let time = CALL + Duration::from_millis(bytes as u64 * 1_000 / BYTES_A_SECOND);
        let answered = async { tokio::time::timeout(time, work).await };
        let error = match self.runtime.block_on(answered) {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_) => {
                let why = format!("no answer within {} s", time.as_secs());
                return Err(Lost::Gone(why));
            }
        };
        // Of these classes the statement failed before anything was to be committed.
        let is_refused = |state: &&SqlState| {
            let mut classes = ["22", "23", "25", "42"].iter();
            classes.any(|class| state.code().starts_with(class))
        };
        Err(match error.code().filter(is_refused) {
            Some(state) => Lost::Refused(state.clone(), said(error)),
            None => Lost::Gone(said(error)),
        })
    }
}

/// Connects, and keeps the connection going while its runtime is run.
async fn connected<T>(
    server: &Server,
    client: &tokio_postgres::Config,
    tls: T,
    warned: Arc<AtomicBool>,
) -> Result<Client, Lost>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let connecting = tokio::time::timeout(server.connect_timeout, client.connect(tls)).await;
    let (client, mut connection) = match connecting {
        Ok(connected) => connected.map_err(not_let_in)?,
        Err(_) => {
            let why = format!(
                "not let in within {} ms",
                server.connect_timeout.as_millis()
            );
            return Err(Lost::Gone(why));
        }
    };
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notice(notice) = message
                && notice.code().code().starts_with("01")
            {
                warned.store(true, Ordering::SeqCst);
            }
        }
    });
    Ok(client)
}

/// Why a connection was not opened: a wrong password or certificate stays wrong until a person changes it.
fn not_let_in(error: tokio_postgres::Error) -> Lost {
    let state = error.code().map(SqlState::code);
    let is_denied = state.is_some_and(|state| state.starts_with("28") || state == "42501")
        || tls::is_of_certificate(&error)
        // The server asks for a password, and there is none.
        || error.to_string().starts_with("invalid configuration");
    let is_unknown = state == Some(SqlState::INVALID_CATALOG_NAME.code());
    let why = said(error);
    match (is_denied, is_unknown) {
        (true, _) => Lost::Unfit(Denied, why),
        (_, true) => Lost::Unfit(Unconfigured, why),
        _ => Lost::Gone(why),
    }
}

/// An error with what lies beneath it.
fn said(error: tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

impl Deref for Connection {
    type Target = Raw;

    fn deref(&self) -> &Raw {
        &self.raw
    }
}

impl Connection {
    /// The term of its server.
    pub fn term(&self) -> Term {
        self.found.term
    }

    /// Time at which the last barrier was sent that was acknowledged.
    pub fn fenced(&self) -> Instant {
        self.fenced
    }

    /// Connects to the journal of that id, on the first server that may be trusted; to the one to avoid last.
    pub fn connect(
        config: &Config,
        expected: &str,
        avoid: Option<usize>,
        last_term: impl Fn(Term) -> Term,
    ) -> Result<Connection> {
        any_server(config, avoid, |at, server| {
            Connection::to(server, at, config.host_name()?, expected, &last_term)
        })
    }

    /// Connects to one server, and fences the connection; all in one round trip behind the handshake.
    fn to(
        server: &Server,
        at: usize,
        host: HostName,
        expected: &str,
        last_term: impl Fn(Term) -> Term,
    ) -> Result<Connection> {
        let raw = Raw::open(&server.client_of_any(), server)?;
        let client = &raw.client;
        let (text, id, begun) = (Type::TEXT, host.id(), Instant::now());
        let named: &[(&(dyn ToSql + Sync), Type)] = &[
            (&id, text.clone()),
            (&host.name, text.clone()),
            (&expected, text),
        ];
        let mut requests = vec![
            run(client, schema::SETTINGS),
            rows(client.query_typed(schema::LOOK, &[])),
        ];
        requests.extend(STATEMENTS.map(|text| prepare(client, text)));
        requests.push(rows(client.query_typed(schema::BARRIER, named)));
        let mut looked: Option<Result<Copies, Lost>> = None;
        let replies = raw.commit_all(pipelined(requests, |at, reply| {
            if at == 1 {
                looked = Some(fit(reply, expected, &last_term));
            }
            matches!(looked, Some(Err(_)))
        }));
        let silent = || Err(Lost::Gone("the server said nothing of itself".into()));
        let found = match (looked, &replies) {
            (Some(looked), _) => looked,
            (None, Err(lost)) => Err(lost.clone()),
            (None, Ok(_)) => silent(),
        }?;
        let statements = replies?.into_iter().filter_map(|reply| match reply {
            Reply::Statement(statement) => Some(statement),
            Reply::Done | Reply::Rows(_) => None,
        });
        let statements = <[Statement; STATEMENTS.len()]>::try_from(statements.collect::<Vec<_>>());
        let Ok([append, append_one, read, look, barrier, followed]) = statements else {
            return Err(Lost::Gone("the server prepared too few statements".into()).into());
        };
        Ok(Connection {
            raw,
            append,
            append_one,
            read,
            look,
            barrier,
            followed,
            found,
            fenced: begun,
            server: at,
            generation: 0,
            host,
        })
    }

    /// Commits a write of its own: WAL is in order, so what was read before is on as many servers as it is. A server that lost its
    /// standbys to another primary never acknowledges it.
    pub fn pass_barrier(&mut self) -> Result<(), Lost> {
        let sent = Instant::now();
        let params: Params<'_> = &[&self.host.id(), &self.host.name, &self.found.journal];
        self.commit(0, &self.barrier, params)?;
        self.fenced = sent;
        Ok(())
    }

    /// Checks that the server still decides: its term, the copies that a commit waits for, and a barrier.
    pub fn fence(&mut self, last_term: impl Fn(Term) -> Term) -> Result<(), Lost> {
        let sent = Instant::now();
        let id = self.host.id();
        let named: Params<'_> = &[&id, &self.host.name, &self.found.journal];
        let requests = vec![
            rows(self.client.query(&self.look, &[])),
            rows(self.client.query(&self.barrier, named)),
        ];
        let mut looked = None;
        let passed = self.commit_all(pipelined(requests, |at, reply| {
            if at == 0 {
                looked = Some(fit(reply, &self.found.journal, &last_term));
            }
            matches!(looked, Some(Err(_)))
        }));
        // A server that is not fit may not answer the barrier.
        let Some(looked) = looked else {
            return passed.map(drop);
        };
        let (is, was) = (looked?.term, self.found.term);
        if is != was {
            let why = format!("its term was {}, and is {}", was.number, is.number);
            return Err(Lost::Unfit(Unreachable, why));
        }
        passed?;
        self.fenced = sent;
        Ok(())
    }

    /// Reads groups of a log; and notes up to which event this host has it, if that is given. The reader does not wait for the note.
    pub fn read_page(
        &self,
        bytes: usize,
        params: Params<'_>,
        (log, followed): (&String, Option<i64>),
    ) -> Result<Vec<Row>, Lost> {
        let mut requests = vec![rows(self.client.query(&self.read, params))];
        let (id, seq) = (self.host.id(), followed.unwrap_or(0));
        let note: Params<'_> = &[&id, &self.host.name, log, &seq];
        if followed.is_some() {
            requests.push(rows(self.client.query(&self.followed, note)));
        }
        let replies = self.wait_for(bytes, pipelined(requests, |_, _| true))?;
        let page = replies.into_iter().next();
        Ok(page.map(Reply::into_rows).unwrap_or_default())
    }

    /// Notes which digest this host's state has at an event.
    pub fn note_state(&self, log: &String, seq: i64, digest: &str) -> Result<(), Lost> {
        let host = &self.host;
        let params: Params<'_> = &[&host.id(), log, &seq, &digest, &host.name];
        self.rows(schema::NOTE_STATE, params).map(drop)
    }

    /// Fences the connection unless that was done a moment ago.
    pub fn fence_if_due(&mut self, last_term: impl Fn(Term) -> Term) -> Result<(), Lost> {
        match self.fenced.elapsed() < FENCED_FOR {
            true => Ok(()),
            false => self.fence(last_term),
        }
    }
}

/// The statements that a connection prepares, in the order of its fields.
const STATEMENTS: [&str; 6] = [
    schema::APPEND,
    schema::APPEND_ONE,
    schema::READ,
    schema::LOOK,
    schema::BARRIER,
    schema::FOLLOWED,
];

/// Judges what a server shows of itself: whether it is the journal of that id, and may be believed.
fn fit(
    shown: &Answer<Reply>,
    expected: &str,
    last_term: impl Fn(Term) -> Term,
) -> Result<Copies, Lost> {
    let none = || Lost::Unfit(OfAnother, "no journal was made there".into());
    let reply = match shown {
        Ok(reply) => reply,
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => return Err(none()),
        Err(error) => return Err(Lost::Gone(error.to_string())),
    };
    let row = reply.rows().first().ok_or_else(none)?;
    let found = found(row)?.map_err(|why| Lost::Unfit(OfAnother, why))?;
    if found.journal != expected {
        let why = format!(
            "it is journal {}, and the log names {expected}",
            found.journal
        );
        return Err(Lost::Unfit(OfAnother, why));
    }
    check(&found, last_term)?;
    Ok(found)
}

/// Why a server is not reached: what says more comes later.
const TELLING: [JournalFault; 5] = [Unreachable, NotDurable, Denied, OfAnother, Unconfigured];

/// The first server of a configuration with which that works; else what says most about why none does, of each that says it.
/// The one to avoid is tried last.
pub fn any_server<T>(
    config: &Config,
    avoid: Option<usize>,
    connect: impl Fn(usize, &Server) -> Result<T>,
) -> Result<T> {
    let servers = config.servers();
    let servers = servers.map_err(|error| Error::journal(Unconfigured, error.to_string()))?;
    let mut order: Vec<(usize, &Server)> = servers.iter().enumerate().collect();
    order.sort_by_key(|(at, _)| Some(*at) == avoid);
    let mut failed = Vec::new();
    for (at, server) in order {
        match connect(at, server) {
            Ok(connected) => return Ok(connected),
            Err(Error::Journal { fault, why }) => failed.push((server, fault, why)),
            Err(error) => return Err(error),
        }
    }
    let telling = |fault: &JournalFault| TELLING.iter().position(|one| one == fault);
    let faults = failed.iter().map(|(_, fault, _)| *fault);
    let most = faults.max_by_key(telling).unwrap_or(Unreachable);
    let same = failed.iter().filter(|(_, fault, _)| *fault == most);
    let whys = same.map(|(server, _, why)| match failed.len() {
        1 => why.clone(),
        _ => format!("{server}: {why}"),
    });
    Err(Error::journal(most, whys.collect::<Vec<_>>().join("; ")))
}

/// A column of a row. Another type than ours stands there where somebody changed the tables.
pub fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Lost> {
    row.try_get(at).map_err(|error| Lost::Gone(said(error)))
}

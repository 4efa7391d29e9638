//! One connection to the server that decides: its settings, its deadline, its warnings, and whether it may be trusted.

use crate::config::{Config, Server};
use crate::schema;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use teamlog_engine::JournalFault::{NotDurable, OfAnother, Refused, Unconfigured, Unreachable};
use teamlog_engine::journal::{Copies, Term};
use teamlog_engine::{Error, JournalFault, Result};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{FromSql, ToSql};
use tokio_postgres::{AsyncMessage, Client, NoTls, Row, Socket, Statement, ToStatement};

/// How long one call may take. Behind it the connection is dropped: to cancel a commit that waits for its copies would make
/// it count without them.
const CALL: Duration = Duration::from_secs(3);
/// What a line carries at least in a second: a call has as much longer as its bytes need then.
const BYTES_A_SECOND: u64 = 1 << 20;
/// How long a server may take to let a connection in; then the next one is tried.
const CONNECT: Duration = Duration::from_millis(1_500);
/// How long what was found out about durability counts.
const DURABLE_FOR: Duration = Duration::from_secs(10);

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// The server said no: nothing was written.
    Refused(SqlState, String),
    /// There was no answer, or none that says what became of it. The connection is not to be used again.
    Gone(String),
}

impl Lost {
    /// In words.
    pub fn why(self) -> String {
        match self {
            Lost::Refused(_, why) | Lost::Gone(why) => why,
        }
    }
}

impl From<Lost> for Error {
    fn from(lost: Lost) -> Error {
        match lost {
            Lost::Refused(_, why) => Error::journal(Refused, why),
            Lost::Gone(why) => Error::journal(Unreachable, why),
        }
    }
}

type Answer<T> = Result<T, tokio_postgres::Error>;

/// What a statement is asked with.
pub type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection that passed its barrier.
pub struct Connection {
    raw: Raw,
    pub append: Statement,
    pub append_one: Statement,
    pub read: Statement,
    found: Copies,
    looked: Instant,
    host: String,
}

/// A connection with its settings, of which nothing is known yet.
pub struct Raw {
    runtime: Runtime,
    pub client: Client,
    /// Whether the server gave a warning since this was last asked.
    warned: Arc<AtomicBool>,
}

impl Raw {
    /// Connects to one server.
    pub fn connect(server: &Server) -> Result<Raw> {
        let unreachable = |why: String| Error::journal(Unreachable, why);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unreachable(error.to_string()))?;
        let warned = Arc::new(AtomicBool::new(false));
        let notes = warned.clone();
        let connected = match &server.tls {
            Some(tls) => runtime.block_on(connected(&server.client, tls.clone(), notes)),
            None => runtime.block_on(connected(&server.client, NoTls, notes)),
        };
        let raw = Raw {
            client: connected.map_err(unreachable)?,
            runtime,
            warned,
        };
        let set = raw.wait(raw.client.batch_execute(schema::SETTINGS));
        set.map_err(|lost| unreachable(lost.why()))?;
        Ok(raw)
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
        match self.warned.load(Ordering::SeqCst) {
            true => Err(Lost::Gone(
                "the server warned that it did not wait for its copies".into(),
            )),
            false => Ok(rows),
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
    client: &tokio_postgres::Config,
    tls: T,
    warned: Arc<AtomicBool>,
) -> Result<Client, String>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let connecting = tokio::time::timeout(CONNECT, client.connect(tls)).await;
    let (client, mut connection) = match connecting {
        Ok(connected) => connected.map_err(said)?,
        Err(_) => return Err(format!("not let in within {} ms", CONNECT.as_millis())),
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

    /// Connects to the journal of that id, on the first server that may be trusted.
    pub fn connect(
        config: &Config,
        expected: &str,
        last_term: impl Fn(Term) -> Term,
    ) -> Result<Connection> {
        any_server(config, |server| {
            Connection::to(server, &config.host, expected, &last_term)
        })
    }

    /// Connects to one server, and passes a barrier: what is read from here on is as durable as an append.
    fn to(
        server: &Server,
        host: &str,
        expected: &str,
        last_term: impl Fn(Term) -> Term,
    ) -> Result<Connection> {
        let raw = Raw::connect(server)?;
        let found = look(&raw)?;
        if found.journal != expected {
            let why = format!(
                "it is journal {}, and the log names {expected}",
                found.journal
            );
            return Err(Error::journal(OfAnother, why));
        }
        let last = last_term(found.term);
        if found.term.is_before(last) {
            let why = format!(
                "the server is a former primary: its timeline is {}, and {} was seen",
                found.term.number, last.number
            );
            return Err(Error::journal(Unreachable, why));
        }
        if !found.wrong.is_empty() {
            return Err(Error::journal(NotDurable, found.wrong.join("; ")));
        }
        let unreachable = |lost: Lost| Error::journal(Unreachable, lost.why());
        let prepared = raw.wait(async {
            let append = raw.client.prepare(schema::APPEND).await?;
            let append_one = raw.client.prepare(schema::APPEND_ONE).await?;
            Ok((append, append_one, raw.client.prepare(schema::READ).await?))
        });
        let (append, append_one, read) = prepared.map_err(unreachable)?;
        let connection = Connection {
            raw,
            append,
            append_one,
            read,
            found,
            looked: Instant::now(),
            host: host.to_owned(),
        };
        connection.barrier().map_err(unreachable)?;
        Ok(connection)
    }

    /// A commit of its own: WAL is in order, so what was read before is on as many servers as it is.
    pub fn barrier(&self) -> Result<(), Lost> {
        self.commit(0, schema::BARRIER, &[&self.host]).map(drop)
    }

    /// Whether what is committed now is as durable as the journal promises; looked up now and then, and always where it was
    /// not.
    pub fn durable(&mut self) -> Result<Result<(), String>, Lost> {
        if self.looked.elapsed() >= DURABLE_FOR || !self.found.wrong.is_empty() {
            let row = self.wait(self.client.query_one(schema::LOOK, &[]))?;
            self.found = found(&row)?.map_err(Lost::Gone)?;
            self.looked = Instant::now();
        }
        Ok(match self.found.wrong.is_empty() {
            true => Ok(()),
            false => Err(self.found.wrong.join("; ")),
        })
    }
}

/// Why a server is not reached: what says more comes later.
const TELLING: [JournalFault; 4] = [Unreachable, NotDurable, OfAnother, Unconfigured];

/// The first server of a configuration with which that works; else what says most about why none does, of each that says it.
pub fn any_server<T>(config: &Config, connect: impl Fn(&Server) -> Result<T>) -> Result<T> {
    let servers = config.servers();
    let servers = servers.map_err(|error| Error::journal(Unconfigured, error.to_string()))?;
    let mut failed = Vec::new();
    for server in &servers {
        match connect(server) {
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

/// What the server says of itself.
pub fn look(raw: &Raw) -> Result<Copies> {
    let row = match raw.row(schema::LOOK, &[]) {
        Ok(Some(row)) => row,
        Ok(None) | Err(Lost::Refused(SqlState::UNDEFINED_TABLE, _)) => {
            return Err(Error::journal(OfAnother, "no journal was made there"));
        }
        Err(lost) => return Err(Error::journal(Unreachable, lost.why())),
    };
    let found = found(&row).unwrap_or_else(|lost| Err(lost.why()));
    found.map_err(|why| Error::journal(OfAnother, why))
}

/// The same of a row; an inner error where its tables are of another version.
fn found(row: &Row) -> Result<Result<Copies, String>, Lost> {
    let min_reader: i32 = column(row, 1)?;
    if min_reader > schema::SCHEMA {
        return Ok(Err(format!(
            "it needs a newer teamlog: its tables have version {min_reader}, this one knows {}",
            schema::SCHEMA
        )));
    }
    let tables: i32 = column(row, 0)?;
    if tables < schema::SCHEMA {
        return Ok(Err(format!(
            "its tables have version {tables}, and this teamlog needs {}: teamlog journal migrate NAME brings them there",
            schema::SCHEMA
        )));
    }
    let number = |at: usize| Ok(u32::try_from(column::<i32>(row, at)?).unwrap_or(0));
    let (min_copies, standbys) = (number(3)?, number(8)?);
    let mut wrong = Vec::new();
    for (at, name, wanted) in [
        (4, "synchronous_commit", "on"),
        (5, "fsync", "on"),
        (6, "full_page_writes", "on"),
    ] {
        let is: String = column(row, at)?;
        // More than asked for is as good.
        if is != wanted && is != "remote_apply" {
            wrong.push(format!("{name} must be {wanted}, but is {is}"));
        }
    }
    let names: String = column(row, 7)?;
    if min_copies > 1 && names.is_empty() {
        wrong.push("synchronous_standby_names must name standbys, but is empty".into());
    }
    if standbys + 1 < min_copies {
        wrong.push(format!(
            "{min_copies} copies must be there, but {} are: standbys that stream and are synchronous, as a role with pg_monitor sees them",
            standbys + 1
        ));
    }
    let timeline: Option<String> = column(row, 9)?;
    Ok(Ok(Copies {
        journal: column(row, 2)?,
        min_copies,
        copies: standbys + 1,
        names,
        term: Term {
            system: column::<i64>(row, 11)?.cast_unsigned(),
            number: timeline
                .and_then(|digits| u32::from_str_radix(&digits, 16).ok())
                .unwrap_or(0),
        },
        version: column(row, 10)?,
        wrong,
    }))
}

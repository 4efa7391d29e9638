//! One connection to the server that decides: its settings, its deadline, its warnings, and whether it may be trusted.

use crate::config::{Config, Server};
use crate::schema;
use std::future::{Future, poll_fn};
use std::mem::discriminant;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use teamlog_engine::journal::Term;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, NoTls, Socket, Statement};

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

/// Why there is no connection; what says more about it comes later.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoConnection {
    /// The server is not there, or not the one that decides.
    Unreachable(String),
    /// It has fewer copies than it promises.
    NotDurable(String),
    /// It is another journal, or another program's.
    OfAnother(String),
    /// The configuration names none.
    Unconfigured(String),
}

impl NoConnection {
    fn why(&self) -> &str {
        match self {
            NoConnection::Unreachable(why)
            | NoConnection::NotDurable(why)
            | NoConnection::OfAnother(why)
            | NoConnection::Unconfigured(why) => why,
        }
    }

    /// The same in other words.
    fn saying(&self, why: String) -> NoConnection {
        match self {
            NoConnection::Unreachable(_) => NoConnection::Unreachable(why),
            NoConnection::NotDurable(_) => NoConnection::NotDurable(why),
            NoConnection::OfAnother(_) => NoConnection::OfAnother(why),
            NoConnection::Unconfigured(_) => NoConnection::Unconfigured(why),
        }
    }
}

/// A journal as its server shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copies {
    /// The journal's id.
    pub journal: String,
    /// How many servers must have what is acknowledged.
    pub min_copies: u32,
    /// Standbys that stream and are synchronous.
    pub standbys: u32,
    /// `synchronous_standby_names`.
    pub standby_names: String,
    /// The server's timeline; it rises with each promotion.
    pub timeline: u32,
    /// What the servers of one cluster have in common; one that was restored from a dump is another.
    pub system: u64,
    /// The server's version.
    pub version: String,
    /// What keeps it from being durable, in words; then nothing is written.
    pub wrong: Vec<String>,
}

impl Copies {
    fn term(&self) -> Term {
        Term {
            system: self.system,
            number: self.timeline,
        }
    }
}

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
    pub fn connect(server: &Server) -> Result<Raw, NoConnection> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| NoConnection::Unreachable(error.to_string()))?;
        let warned = Arc::new(AtomicBool::new(false));
        let notes = warned.clone();
        let connected = match &server.tls {
            Some(tls) => runtime.block_on(connected(&server.client, tls.clone(), notes)),
            None => runtime.block_on(connected(&server.client, NoTls, notes)),
        };
        let raw = Raw {
            client: connected.map_err(NoConnection::Unreachable)?,
            runtime,
            warned,
        };
        let set = raw.client.batch_execute(schema::SETTINGS);
        raw.wait(set)
            .map_err(|lost| NoConnection::Unreachable(lost.why()))?;
        Ok(raw)
    }

    /// Waits for a short answer to a short call.
    pub fn wait<T>(
        &self,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Lost> {
        self.wait_for(0, work)
    }

    /// Waits for an answer; so many bytes go one way or the other.
    pub fn wait_for<T>(
        &self,
        bytes: usize,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Lost> {
        wait(&self.runtime, time_for(bytes), work)
    }

    /// The same for what has to be durable: a warning says that it may not be.
    pub fn wait_for_copies<T>(
        &self,
        bytes: usize,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Lost> {
        self.warned.store(false, Ordering::SeqCst);
        let answer = self.wait_for(bytes, work)?;
        match self.warned.load(Ordering::SeqCst) {
            true => Err(Lost::Gone(
                "the server warned that it did not wait for its copies".into(),
            )),
            false => Ok(answer),
        }
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

fn time_for(bytes: usize) -> Duration {
    CALL + Duration::from_millis(bytes as u64 * 1_000 / BYTES_A_SECOND)
}

fn wait<T>(
    runtime: &Runtime,
    time: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, Lost> {
    let answered = runtime.block_on(async { tokio::time::timeout(time, work).await });
    match answered {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(match error.code() {
            // Of these classes the statement failed before anything was to be committed.
            Some(state)
                if ["22", "23", "25", "42"]
                    .iter()
                    .any(|class| state.code().starts_with(class)) =>
            {
                Lost::Refused(state.clone(), said(error))
            }
            _ => Lost::Gone(said(error)),
        }),
        Err(_) => Err(Lost::Gone(no_answer(time))),
    }
}

fn no_answer(time: Duration) -> String {
    format!("no answer within {} s", time.as_secs())
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
        self.found.term()
    }

    /// Connects to the journal of that id, on the first server that may be trusted.
    pub fn connect(
        config: &Config,
        expected: &str,
        last_term: impl Fn(Term) -> Term,
    ) -> Result<Connection, NoConnection> {
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
    ) -> Result<Connection, NoConnection> {
        let raw = Raw::connect(server)?;
        let found = look(&raw)?;
        if found.journal != expected {
            return Err(NoConnection::OfAnother(format!(
                "it is journal {}, and the log names {expected}",
                found.journal
            )));
        }
        let last = last_term(found.term());
        if found.term().is_before(last) {
            let why = format!(
                "the server is a former primary: its timeline is {}, and {} was seen",
                found.timeline, last.number
            );
            return Err(NoConnection::Unreachable(why));
        }
        if !found.wrong.is_empty() {
            return Err(NoConnection::NotDurable(found.wrong.join("; ")));
        }
        let unreachable = |lost: Lost| NoConnection::Unreachable(lost.why());
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
        let host: &(dyn tokio_postgres::types::ToSql + Sync) = &self.host;
        let params = [host];
        let commit = self.client.execute(schema::BARRIER, &params);
        self.wait_for_copies(0, commit).map(drop)
    }

    /// Whether what is committed now is as durable as the journal promises; looked up now and then, and always where it was
    /// not.
    pub fn durable(&mut self) -> Result<Result<(), String>, Lost> {
        if self.looked.elapsed() >= DURABLE_FOR || !self.found.wrong.is_empty() {
            let row = self.wait(self.client.query_one(schema::LOOK, &[]))?;
            self.found = found(&row).map_err(Lost::Gone)?;
            self.looked = Instant::now();
        }
        Ok(match self.found.wrong.is_empty() {
            true => Ok(()),
            false => Err(self.found.wrong.join("; ")),
        })
    }
}

/// The first server of a configuration with which that works; else what says most about why none does, of each that says it.
pub fn any_server<T>(
    config: &Config,
    connect: impl Fn(&Server) -> Result<T, NoConnection>,
) -> Result<T, NoConnection> {
    let servers = config.servers();
    let servers = servers.map_err(|error| NoConnection::Unconfigured(error.to_string()))?;
    let mut failed = Vec::new();
    for server in &servers {
        match connect(server) {
            Ok(connected) => return Ok(connected),
            Err(error) => failed.push((server, error)),
        }
    }
    Err(most_telling(&failed))
}

fn most_telling(failed: &[(&Server, NoConnection)]) -> NoConnection {
    let most = failed.iter().map(|(_, error)| error).max();
    let Some(most) = most else {
        return NoConnection::Unreachable("no server is named".into());
    };
    let same = |(_, error): &&(&Server, NoConnection)| discriminant(error) == discriminant(most);
    let named = |(server, error): &(&Server, NoConnection)| match failed.len() {
        1 => error.why().to_owned(),
        _ => format!("{server}: {}", error.why()),
    };
    let whys: Vec<String> = failed.iter().filter(same).map(named).collect();
    most.saying(whys.join("; "))
}

/// A column of a row. Another type than ours stands there where somebody changed the tables.
pub fn column<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a tokio_postgres::Row,
    at: usize,
) -> Result<T, Lost> {
    row.try_get(at).map_err(|error| Lost::Gone(said(error)))
}

/// What the server says of itself.
pub fn look(raw: &Raw) -> Result<Copies, NoConnection> {
    let row = match raw.wait(raw.client.query_opt(schema::LOOK, &[])) {
        Ok(Some(row)) => row,
        Ok(None) => return Err(NoConnection::OfAnother("no journal was made there".into())),
        Err(Lost::Refused(SqlState::UNDEFINED_TABLE, _)) => {
            return Err(NoConnection::OfAnother("no journal was made there".into()));
        }
        Err(lost) => return Err(NoConnection::Unreachable(lost.why())),
    };
    found(&row).map_err(NoConnection::OfAnother)
}

fn found(row: &tokio_postgres::Row) -> Result<Copies, String> {
    read_found(row).map_err(Lost::why)?
}

fn read_found(row: &tokio_postgres::Row) -> Result<Result<Copies, String>, Lost> {
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
    let standby_names: String = column(row, 7)?;
    if min_copies > 1 && standby_names.is_empty() {
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
        standbys,
        standby_names,
        timeline: timeline
            .and_then(|digits| u32::from_str_radix(&digits, 16).ok())
            .unwrap_or(0),
        system: column::<i64>(row, 11)?.cast_unsigned(),
        version: column(row, 10)?,
        wrong,
    }))
}

//! A connection to one server before any check: its settings, its time limit, its warnings, and its errors.

use crate::call_error::{Answer, CallError, Params, column, is_of_pooler, pooled, said};
use crate::config::Server;
use crate::pipeline::{Reply, Request, pipelined, rows, run};
use crate::schema;
use crate::tls;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use teamlog_engine::IdSource;
use teamlog_engine::JournalFault::{Denied, Unconfigured, Unreachable};
use teamlog_engine::{Error, RandomIds, Result};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, NoTls, Row, Socket, ToStatement};

/// Time limit of a call. After the limit the connection is dropped. The call is not canceled, because a canceled commit that
/// waits for its copies would count without them.
const CALL: Duration = Duration::from_secs(3);
/// Lowest expected speed of a line, in bytes per second. The time limit of a call grows with its bytes at this speed.
const BYTES_A_SECOND: u64 = 1 << 20;

/// A connection and its settings, before any check.
pub struct Raw {
    runtime: Runtime,
    pub client: Client,
    /// True if the server sent a warning after the flag was last cleared.
    warned: Arc<AtomicBool>,
    /// The word by which the session is marked.
    session: String,
}

impl Raw {
    /// Connects to one server that takes writes.
    pub fn connect(server: &Server) -> Result<Raw> {
        let raw = Raw::open(&server.client, server)?;
        let mut marked = Ok(());
        raw.wait(pipelined(raw.begin(), |_, reply| {
            marked = check_mark(reply);
            marked.is_err()
        }))?;
        marked?;
        Ok(raw)
    }

    /// Returns the requests that begin a session: its settings, and its mark.
    pub fn begin(&self) -> Vec<Request<'_>> {
        let mark = async {
            let mark = &[(&self.session as &(dyn ToSql + Sync), Type::TEXT)];
            self.client.query_typed(schema::MARK, mark).await
        };
        vec![run(&self.client, schema::SETTINGS), rows(mark)]
    }

    /// Returns the word by which the session is marked.
    pub fn session(&self) -> &String {
        &self.session
    }

    /// Connects to one server, without the settings.
    pub fn open(client: &tokio_postgres::Config, server: &Server) -> Result<Raw> {
        let unreachable = |why: String| Error::journal(Unreachable, why);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unreachable(error.to_string()))?;
        let session = RandomIds.random();
        let session = session.map_err(|error| unreachable(error.to_string()))?;
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
            session: format!("{session:016x}"),
        })
    }

    /// Runs a query and returns its rows.
    pub fn rows(&self, statement: &str, params: Params<'_>) -> Result<Vec<Row>, CallError> {
        self.wait(self.client.query(statement, params))
    }

    /// Runs a query that returns at most one row.
    pub fn row(&self, statement: &str, params: Params<'_>) -> Result<Option<Row>, CallError> {
        self.wait(self.client.query_opt(statement, params))
    }

    /// Commits a statement that transfers `bytes` bytes. A warning means that the commit may be on too few servers.
    pub fn commit<S: ToStatement + ?Sized>(
        &self,
        bytes: usize,
        statement: &S,
        params: Params<'_>,
    ) -> Result<Vec<Row>, CallError> {
        self.warned.store(false, Ordering::SeqCst);
        let rows = self.wait_for(bytes, self.client.query(statement, params))?;
        self.check_unwarned()?;
        Ok(rows)
    }

    /// Runs requests, one of which is a commit.
    pub fn commit_all<T>(&self, requests: impl Future<Output = Answer<T>>) -> Result<T, CallError> {
        self.warned.store(false, Ordering::SeqCst);
        let replies = self.wait(requests)?;
        self.check_unwarned()?;
        Ok(replies)
    }

    fn check_unwarned(&self) -> Result<(), CallError> {
        match self.warned.load(Ordering::SeqCst) {
            true => Err(CallError::Gone(
                "the server warned that it did not wait for its copies".into(),
            )),
            false => Ok(()),
        }
    }

    /// Waits for the answer of a call that transfers few bytes.
    pub fn wait<T>(&self, work: impl Future<Output = Answer<T>>) -> Result<T, CallError> {
        self.wait_for(0, work)
    }

    /// Waits for the answer of a call that transfers `bytes` bytes.
    pub fn wait_for<T>(
        &self,
        bytes: usize,
        work: impl Future<Output = Answer<T>>,
    ) -> Result<T, CallError> {
        let time = CALL + Duration::from_millis(bytes as u64 * 1_000 / BYTES_A_SECOND);
        let answered = async { tokio::time::timeout(time, work).await };
        let error = match self.runtime.block_on(answered) {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_) => {
                let why = format!("no answer within {} s", time.as_secs());
                return Err(CallError::Gone(why));
            }
        };
        // An error of one of these classes means that the statement failed before the commit.
        let is_refused = |state: &SqlState| {
            let mut classes = ["22", "23", "25", "42"].iter();
            classes.any(|class| state.code().starts_with(class))
        };
        Err(match error.code() {
            Some(state) if is_of_pooler(state) => pooled(),
            Some(state) if is_refused(state) => CallError::Refused(state.clone(), said(&error)),
            _ => CallError::Gone(said(&error)),
        })
    }
}

/// Refuses a session that another connection has marked.
pub fn check_mark(reply: &Answer<Reply>) -> Result<(), CallError> {
    let row = reply.as_ref().ok().and_then(|reply| reply.rows().first());
    let before: Option<String> = row.map(|row| column(row, 0)).transpose()?;
    match before.is_none_or(|before| before.is_empty()) {
        true => Ok(()),
        false => Err(pooled()),
    }
}

/// Connects. The connection works while its runtime is run.
async fn connected<T>(
    server: &Server,
    client: &tokio_postgres::Config,
    tls: T,
    warned: Arc<AtomicBool>,
) -> Result<Client, CallError>
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
            return Err(CallError::Gone(why));
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

/// Returns the reason for a failed connection. A wrong password or certificate stays wrong until an operator changes it.
fn not_let_in(error: tokio_postgres::Error) -> CallError {
    let state = error.code().map(SqlState::code);
    let is_denied = state.is_some_and(|state| state.starts_with("28") || state == "42501")
        || tls::is_of_certificate(&error)
        // The server asks for a password, but the configuration has none.
        || error.to_string().starts_with("invalid configuration");
    let is_unknown = state == Some(SqlState::INVALID_CATALOG_NAME.code());
    let why = said(&error);
    match (is_denied, is_unknown) {
        (true, _) => CallError::Unfit(Denied, why),
        (_, true) => CallError::Unfit(Unconfigured, why),
        _ => CallError::Gone(why),
    }
}

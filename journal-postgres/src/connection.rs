//! A connection to the deciding server, with the checks that its answers can be trusted.

use crate::call_error::{CallError, Params};
use crate::config::{Config, Server};
use crate::copies::ServerState;
use crate::host::HostName;
use crate::look::{self, ServerCheck, fit, probes, silent};
use crate::pipeline::{Reply, pipelined, prepare, rows};
use crate::probe::Probe;
use crate::raw::{Raw, check_mark};
use crate::schema;
use std::ops::Deref;
use std::time::{Duration, Instant};
use teamlog_engine::JournalFault::{Denied, NotDurable, OtherJournal, Unconfigured, Unreachable};
use teamlog_engine::journal::{Durability, JournalInfo, Term};
use teamlog_engine::{Error, JournalFault, Result};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Statement};

/// Time for which a connection's checks (term, copies, barrier) are valid. After this time, the checks run again before the next
/// use.
const FENCED_FOR: Duration = Duration::from_secs(3);

/// A connection that passed its checks: a fence.
pub struct Connection {
    raw: Raw,
    pub append: Statement,
    pub append_one: Statement,
    read: Statement,
    look: Statement,
    barrier: Statement,
    followed: Statement,
    /// State of the server when the connection was opened.
    found: JournalInfo,
    /// Probes that the server answered when the connection was opened. Refused probes are not repeated.
    probes: Vec<Probe>,
    /// Time at which the last acknowledged barrier was sent.
    fenced: Instant,
    /// Index of the server in the configuration.
    pub server: usize,
    /// Number of the connection, counted by [`Connections`](crate::connections::Connections).
    pub generation: u64,
    host: HostName,
}

impl Deref for Connection {
    type Target = Raw;

    fn deref(&self) -> &Raw {
        &self.raw
    }
}

impl Connection {
    /// Returns the term of the connection's server.
    pub fn term(&self) -> Term {
        self.found.term
    }

    /// Returns the time at which the last acknowledged barrier was sent.
    pub fn fenced(&self) -> Instant {
        self.fenced
    }

    /// Connects to the journal with the given id, on the first trusted server. Tries the server `avoid` last.
    pub fn connect(
        config: &Config,
        expected: &str,
        avoid: Option<usize>,
        last_term: impl Fn(Term) -> Term,
    ) -> Result<Connection> {
        any_server(config, avoid, |at, server| {
            Connection::to(config, (at, server), expected, &last_term)
        })
    }

    /// Connects to one server, and fences the connection. Takes one round trip after the handshake.
    fn to(
        config: &Config,
        (at, server): (usize, &Server),
        expected: &str,
        last_term: impl Fn(Term) -> Term,
    ) -> Result<Connection> {
        let (host, durability) = (config.host_name()?, config.durability);
        let raw = Raw::open(&server.client_of_any(), server)?;
        let client = &raw.client;
        let (text, id, begun) = (Type::TEXT, host.id(), Instant::now());
        let named: &[(&(dyn ToSql + Sync), Type)] = &[
            (&id, text.clone()),
            (&host.name, text.clone()),
            (&expected, text),
        ];
        let probes = probes(durability);
        let mut requests = raw.begin();
        let mut look = ServerCheck::new(durability, &probes, requests.len(), raw.session());
        requests.push(rows(client.query_typed(look::statement(durability), &[])));
        requests.extend(look::requests(client, &probes));
        requests.extend(statements(durability).map(|text| prepare(client, text)));
        requests.push(rows(client.query_typed(schema::BARRIER, named)));
        let mut looked: Option<Result<ServerState, CallError>> = None;
        let replies = raw.commit_all(pipelined(requests, |at, reply| {
            if at == MARKED
                && let Err(lost) = check_mark(reply)
            {
                looked = Some(Err(lost));
            } else if looked.is_none() {
                let heard = look.hear(at, reply);
                looked = heard.map(|heard| {
                    let shown = heard?;
                    fit(&shown, expected, &last_term).map(|()| shown)
                });
            }
            matches!(looked, Some(Err(_)))
        }));
        let shown = match (looked, &replies) {
            (Some(looked), _) => looked,
            (None, Err(lost)) => Err(lost.clone()),
            (None, Ok(_)) => Err(silent()),
        }?;
        let statements = replies?.into_iter().filter_map(|reply| match reply {
            Reply::Statement(statement) => Some(statement),
            Reply::Done | Reply::Rows(_) | Reply::Refused(_) => None,
        });
        let statements = <[Statement; 6]>::try_from(statements.collect::<Vec<_>>());
        let Ok([append, append_one, read, look, barrier, followed]) = statements else {
            return Err(CallError::Gone("the server prepared too few statements".into()).into());
        };
        Ok(Connection {
            raw,
            append,
            append_one,
            read,
            look,
            barrier,
            followed,
            found: shown.copies,
            probes: shown.answering,
            fenced: begun,
            server: at,
            generation: 0,
            host,
        })
    }

    /// Commits a write that serves only as a barrier. WAL is in order, so every earlier read is on as many servers as this
    /// write. A server that lost its standbys to another primary never acknowledges the write.
    pub fn pass_barrier(&mut self) -> Result<(), CallError> {
        let sent = Instant::now();
        let params: Params<'_> = &[&self.host.id(), &self.host.name, &self.found.journal];
        self.commit(0, &self.barrier, params)?;
        self.fenced = sent;
        Ok(())
    }

    /// Checks that the server is still the deciding server: reads its term and the number of copies that a commit waits for, and passes a
    /// barrier.
    pub fn fence(&mut self, last_term: impl Fn(Term) -> Term) -> Result<(), CallError> {
        let sent = Instant::now();
        let id = self.host.id();
        let named: Params<'_> = &[&id, &self.host.name, &self.found.journal];
        let mut requests = vec![rows(self.client.query(&self.look, &[]))];
        requests.extend(look::requests(&self.client, &self.probes));
        requests.push(rows(self.client.query(&self.barrier, named)));
        let mut look = ServerCheck::new(self.found.durability, &self.probes, 0, self.session());
        let mut looked = None;
        let passed = self.commit_all(pipelined(requests, |at, reply| {
            if looked.is_none() {
                let heard = look.hear(at, reply);
                looked = heard.map(|heard| {
                    let shown = heard?;
                    fit(&shown, &self.found.journal, &last_term).map(|()| shown.copies)
                });
            }
            matches!(looked, Some(Err(_)))
        }));
        // A server that fails the checks may never answer the barrier.
        let Some(looked) = looked else {
            return passed.map(drop);
        };
        let (is, was) = (looked?.term, self.found.term);
        if is != was {
            let why = format!("its term was {}, and is {}", was.number, is.number);
            return Err(CallError::Unfit(Unreachable, why));
        }
        passed?;
        self.fenced = sent;
        Ok(())
    }

    /// Reads groups of a log. If `followed` is given, also notes that this host has the log up to event `followed`; the reader
    /// does not wait for the note.
    pub fn read_page(
        &self,
        bytes: usize,
        params: Params<'_>,
        (log, followed): (&String, Option<i64>),
    ) -> Result<Vec<Row>, CallError> {
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

    /// Notes the digest of this host's state at an event.
    pub fn note_state(&self, log: &String, seq: i64, digest: &str) -> Result<(), CallError> {
        let host = &self.host;
        let params: Params<'_> = &[&host.id(), log, &seq, &digest, &host.name];
        self.rows(schema::NOTE_STATE, params).map(drop)
    }

    /// Fences the connection unless the last fence is recent.
    pub fn fence_if_due(&mut self, last_term: impl Fn(Term) -> Term) -> Result<(), CallError> {
        match self.fenced.elapsed() < FENCED_FOR {
            true => Ok(()),
            false => self.fence(last_term),
        }
    }
}

/// Index of the reply with the session's mark, among the replies to [`Raw::begin`].
const MARKED: usize = 1;

/// Returns the statements that a connection prepares, in the order of its fields.
fn statements(durability: Durability) -> [&'static str; 6] {
    [
        schema::APPEND,
        schema::APPEND_ONE,
        schema::READ,
        look::statement(durability),
        schema::BARRIER,
        schema::FOLLOWED,
    ]
}

/// Reasons for a failed connection, from the least to the most informative.
const TELLING: [JournalFault; 5] = [Unreachable, NotDurable, Denied, OtherJournal, Unconfigured];

/// Returns the result of the first server for which `connect` succeeds. If there is no such server, returns the most informative
/// error, with the servers that it applies to. Tries the server `avoid` last.
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

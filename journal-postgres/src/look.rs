//! Reads a server's settings, its term and its session in one round trip.
//!
//! A managed service may refuse the functions for the term. With [`Durability::External`] each function is called by a request of
//! its own, so that a refused function does not affect the other requests.

use crate::call_error::{Answer, CallError, column, is_of_pooler, pooled, said};
use crate::copies::{ServerState, check, shown};
use crate::pipeline::{Reply, Request, attempt, pipelined, rows};
use crate::probe::{PROBES, Probe, timeline};
use crate::raw::Raw;
use crate::schema;
use teamlog_engine::JournalFault::{Denied, NotDurable, OtherJournal};
use teamlog_engine::journal::{Durability, GroupDigest, JournalInfo, Term};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Row};

/// Returns the probes for a new connection.
pub fn probes(durability: Durability) -> Vec<Probe> {
    match durability {
        Durability::Standbys => Vec::new(),
        Durability::External => PROBES.to_vec(),
    }
}

/// Returns the statement for a server's settings.
pub fn statement(durability: Durability) -> &'static str {
    match durability {
        Durability::Standbys => schema::LOOK,
        Durability::External => schema::LOOK_EXTERNAL,
    }
}

/// Returns a request for each probe, to be sent after the request for the settings.
pub fn requests<'a>(client: &'a Client, probes: &[Probe]) -> Vec<Request<'a>> {
    let request = |probe: &Probe| {
        let asked = client.query_typed(probe.statement(), &[]);
        attempt(rows(asked), is_refusal)
    };
    probes.iter().map(request).collect()
}

/// Returns true if a function is refused permanently.
fn is_refusal(state: &SqlState) -> bool {
    [
        SqlState::INSUFFICIENT_PRIVILEGE,
        SqlState::UNDEFINED_FUNCTION,
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
    ]
    .contains(state)
}

/// Collects the replies about a server.
pub struct ServerCheck<'a> {
    durability: Durability,
    probes: &'a [Probe],
    /// Index of the reply with the settings.
    first: usize,
    session: &'a str,
    shown: Option<Result<ServerState, CallError>>,
}

impl<'a> ServerCheck<'a> {
    /// Creates a collector. The reply with index `first` has the settings; the replies to the probes follow that reply.
    pub fn new(
        durability: Durability,
        probes: &'a [Probe],
        first: usize,
        session: &'a str,
    ) -> Self {
        ServerCheck {
            durability,
            probes,
            first,
            session,
            shown: None,
        }
    }

    /// Takes the next reply. Returns the server's state after the last reply, or at the first error.
    pub fn hear(
        &mut self,
        at: usize,
        reply: &Answer<Reply>,
    ) -> Option<Result<ServerState, CallError>> {
        let at = at.checked_sub(self.first)?;
        let heard = match (at.checked_sub(1), self.shown.take()) {
            (None, _) => self.settings(reply),
            (Some(at), Some(Ok(shown))) => match self.probes.get(at) {
                Some(probe) => told(*probe, shown, reply),
                None => return None,
            },
            (Some(_), _) => return None,
        };
        match heard {
            Ok(shown) if at < self.probes.len() => {
                self.shown = Some(Ok(shown));
                None
            }
            heard => Some(heard),
        }
    }

    fn settings(&self, reply: &Answer<Reply>) -> Result<ServerState, CallError> {
        let none = || CallError::Unfit(OtherJournal, "the database holds no journal".into());
        let reply = reply.as_ref().map_err(unseen)?;
        let row = reply.rows().first().ok_or_else(none)?;
        if column::<String>(row, schema::LOOK_SESSION)? != self.session {
            return Err(pooled());
        }
        let mut shown =
            shown(row, self.durability)?.map_err(|why| CallError::Unfit(OtherJournal, why))?;
        if self.durability == Durability::External {
            shown.copies.term = stand_in(row)?;
        }
        Ok(shown)
    }
}

/// Returns a term for a server that does not show its term. In that term, a digest of the object ids of the journal's database
/// replaces the system id.
fn stand_in(row: &Row) -> Result<Term, CallError> {
    let objects: String = column(row, schema::LOOK_OBJECTS)?;
    let digest = GroupDigest::default().then(objects.as_bytes()).0;
    let mut system = [0; 8];
    system.copy_from_slice(&digest[..8]);
    Ok(Term {
        // The value 0 would mean an unknown system.
        system: u64::from_le_bytes(system).max(1),
        number: 0,
    })
}

/// Adds the reply to a probe.
fn told(
    probe: Probe,
    mut shown: ServerState,
    reply: &Answer<Reply>,
) -> Result<ServerState, CallError> {
    let row = match reply {
        Ok(Reply::Refused(why)) => {
            let copies = &mut shown.copies;
            copies
                .unverified
                .push(format!("{}: {why}", probe.consequence()));
            return Ok(shown);
        }
        Ok(reply) => reply.rows().first(),
        Err(error) => return Err(CallError::Gone(said(error))),
    };
    let value: Option<String> = row.map(|row| column(row, 0)).transpose()?.flatten();
    let term = &mut shown.copies.term;
    match (probe, value) {
        (Probe::Timeline, Some(digits)) => term.number = timeline(&digits),
        (Probe::System, Some(digits)) => {
            let id: i64 = digits.parse().unwrap_or(0);
            term.system = id.cast_unsigned();
        }
        // A standby has no timeline, so the reply is empty.
        (_, None) => {}
    }
    shown.answering.push(probe);
    Ok(shown)
}

/// Returns the reason why a server does not show its settings.
fn unseen(error: &tokio_postgres::Error) -> CallError {
    let why = said(error);
    let Some(state) = error.code() else {
        return CallError::Gone(why);
    };
    let external = "if copies are made below PostgreSQL, set durability = \"external\", which does not need these functions";
    match *state {
        SqlState::UNDEFINED_TABLE => {
            CallError::Unfit(OtherJournal, "the database holds no journal".into())
        }
        SqlState::INSUFFICIENT_PRIVILEGE => CallError::Unfit(Denied, format!("{why}; {external}")),
        SqlState::FEATURE_NOT_SUPPORTED | SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE => {
            CallError::Unfit(NotDurable, format!("{why}; {external}"))
        }
        _ if is_of_pooler(state) => pooled(),
        _ => CallError::Gone(why),
    }
}

/// Refuses a server that has another journal, or that cannot be trusted.
pub fn fit(
    shown: &ServerState,
    expected: &str,
    last_term: impl Fn(Term) -> Term,
) -> Result<(), CallError> {
    let copies = &shown.copies;
    if copies.journal != expected {
        let why = format!(
            "it is journal {}, and the log names {expected}",
            copies.journal
        );
        return Err(CallError::Unfit(OtherJournal, why));
    }
    check(shown, last_term)
}

/// Reads the state of a server while the id of its journal is unknown.
pub fn look(raw: &Raw, durability: Durability) -> Result<JournalInfo, CallError> {
    let probes = probes(durability);
    let client = &raw.client;
    let mut asked = vec![rows(client.query_typed(statement(durability), &[]))];
    asked.extend(requests(client, &probes));
    let mut look = ServerCheck::new(durability, &probes, 0, raw.session());
    let mut shown = None;
    let replies = raw.wait(pipelined(asked, |at, reply| {
        shown = look.hear(at, reply);
        shown.is_some()
    }));
    match shown {
        Some(shown) => Ok(shown?.copies),
        None => Err(replies.err().unwrap_or_else(silent)),
    }
}

/// Returns the error for a missing reply.
pub fn silent() -> CallError {
    CallError::Gone("the server did not report its state".into())
}

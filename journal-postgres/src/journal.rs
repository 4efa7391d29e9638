//! Appends groups and reads them.

use crate::append_queue::unanswered;
use crate::call_error::{CallError, Params, column};
use crate::connection::Connection;
use crate::connections::Connections;
use crate::schema;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_engine::LogId;
use teamlog_engine::journal::{
    Append, GroupDigest, Journal, JournalGroup, LogState, Outcome, Page, Position, ReadError, Term,
};
use teamlog_engine::{JournalFault, Timestamp};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

/// Largest size of an artifact.
const BLOB_BYTES_MAX: usize = 8 << 20;
/// Interval at which a handle notes the event up to which its host has followed the log. The note is sent together with a read.
const NOTED_FOR: Duration = Duration::from_secs(5);
/// Largest number of groups in one read.
const GROUPS_MAX: i64 = 1024;

/// A handle on the journal for one log.
pub struct PostgresJournal {
    connections: Arc<Connections>,
    /// Generation of the connection that answered the last read.
    read_in: u64,
    /// Id of the system of servers that this host knows; 0 for none.
    system: u64,
    /// Time of the last read that noted the event up to which this host has followed the log.
    noted: Option<Instant>,
}

/// Converts a seq to a bigint. Seqs are far below the limit of a bigint.
pub fn bigint(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// The required state of the log, and the new state.
#[derive(Clone, Copy)]
struct By {
    within: LogState,
    to: LogState,
}

/// The log of an inserted group, and the seq of the group's first event.
type Taken = (String, i64);

impl Journal for PostgresJournal {
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome> {
        let by = By {
            within: state,
            to: state,
        };
        match (groups, state) {
            ([group], LogState::Open) => {
                let take = |groups: &[Append<'_>]| self.take(groups, by);
                vec![self.connections.queue.append(group, take)]
            }
            _ => self.take(groups, by),
        }
    }

    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        let within = to.before();
        let outcome = self.take(&[*group], By { within, to }).pop();
        outcome.unwrap_or_else(unanswered)
    }

    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError> {
        let asked = Instant::now();
        let notes = self.noted.is_none_or(|noted| noted.elapsed() >= NOTED_FOR);
        let (page, generation) = self.connections.ask(|connection| {
            self.check_system(connection)?;
            let page = read(connection, log, after, bytes_max, notes)?;
            if page.is_err() {
                // A former primary may lack groups, or have other groups.
                self.connections.fence_since(connection, asked)?;
            }
            Ok((page, connection.generation))
        })?;
        self.read_in = generation;
        if notes {
            self.noted = Some(asked);
        }
        page
    }

    fn confirm(&mut self, since: Instant) -> Result<(), ReadError> {
        Ok(self.connections.confirm(self.read_in, since)?)
    }

    fn put_blob(&mut self, log: LogId, digest: &str, bytes: &[u8]) -> Result<(), ReadError> {
        let log = log.to_string();
        let put = self.connections.ask(|connection| {
            self.check_system(connection)?;
            let params: Params<'_> = &[&log, &digest, &bytes];
            connection.commit(bytes.len(), schema::PUT_BLOB, params)
        });
        Ok(put.map(drop)?)
    }

    fn compare_state(
        &mut self,
        log: LogId,
        seq: u64,
        digest: &str,
    ) -> Result<Vec<String>, ReadError> {
        let (log, seq) = (log.to_string(), bigint(seq));
        let others = self.connections.ask(|connection| {
            self.check_system(connection)?;
            connection.note_state(&log, seq, digest)?;
            let others = connection.rows(schema::OTHER_STATES, &[&log, &seq, &digest])?;
            others.iter().map(|row| column(row, 0)).collect()
        });
        Ok(others?)
    }

    fn expect_term(&mut self, term: Term) {
        self.connections.expect_term(term);
        self.system = term.system;
    }

    fn term(&mut self) -> Result<Term, ReadError> {
        Ok(self.connections.ask(|connection| Ok(connection.term()))?)
    }

    fn raise_fold_version(&mut self, log: LogId, version: u32) -> Result<(), ReadError> {
        let (log, version) = (log.to_string(), i32::try_from(version).unwrap_or(i32::MAX));
        let raised = self.connections.ask(|connection| {
            self.check_system(connection)?;
            let params: Params<'_> = &[&log, &version];
            connection.commit(0, schema::RAISE_FOLD_VERSION, params)
        });
        Ok(raised.map(drop)?)
    }

    fn blob(&mut self, log: LogId, digest: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let log = log.to_string();
        let blob = self.connections.ask(|connection| {
            let params: Params<'_> = &[&log, &digest];
            let blob = connection.client.query_opt(schema::BLOB, params);
            let row = connection.wait_for(BLOB_BYTES_MAX, blob)?;
            row.map(|row| column(&row, 0)).transpose()
        });
        Ok(blob?)
    }
}

impl PostgresJournal {
    /// Creates a handle that has read nothing yet.
    pub fn new(connections: Arc<Connections>) -> PostgresJournal {
        PostgresJournal {
            connections,
            read_in: 0,
            system: 0,
            noted: None,
        }
    }

    /// Refuses a server whose system id differs from the id that this host knows. Such a server may have only a copy of the
    /// journal's database.
    fn check_system(&self, connection: &Connection) -> Result<(), CallError> {
        let is = connection.term();
        let known = Term {
            system: self.system,
            ..is
        };
        match is.is_of_another_system(known) {
            true => Err(CallError::Unfit(
                JournalFault::Moved,
                format!(
                    "the system id of the database is {} and was {}, so this may be a copy of the database",
                    is.system, known.system
                ),
            )),
            false => Ok(()),
        }
    }

    fn take(&self, groups: &[Append<'_>], by: By) -> Vec<Outcome> {
        let asked = Instant::now();
        let taken = self.connections.with(|connection| {
            if let Err(lost) = self.check_system(connection) {
                let outcome = Outcome::from_error(lost.into(), false);
                return (vec![outcome; groups.len()], false);
            }
            let mut appending = Appending {
                connections: &self.connections,
                connection,
                by,
                asked,
            };
            appending.insert(groups)
        });
        taken.unwrap_or_else(|error| vec![Outcome::from_error(error, false); groups.len()])
    }
}

/// A call that appends groups on one connection.
struct Appending<'a> {
    connections: &'a Connections,
    connection: &'a mut Connection,
    by: By,
    asked: Instant,
}

impl Appending<'_> {
    /// Appends groups. Returns the outcome of each group, and true if the connection is broken.
    fn insert(&mut self, groups: &[Append<'_>]) -> (Vec<Outcome>, bool) {
        let all = |outcome: Outcome| vec![outcome; groups.len()];
        match taken(self.connection, groups, self.by) {
            Ok(taken) => self.settle(groups, Some(&taken)),
            // The server has become a standby.
            Err(CallError::Refused(SqlState::READ_ONLY_SQL_TRANSACTION, why)) => {
                (all(Outcome::Unreachable(why)), true)
            }
            // One wrong group, for example a group without its predecessor, prevents the whole commit.
            Err(CallError::Refused(..)) if groups.len() > 1 => self.insert_each(groups),
            Err(CallError::Refused(SqlState::FOREIGN_KEY_VIOLATION, _)) => {
                self.settle(groups, None)
            }
            Err(lost @ CallError::Refused(..)) => {
                (all(Outcome::from_error(lost.into(), false)), false)
            }
            // No statement was started, because another connection owns the session.
            Err(lost @ CallError::Unfit(..)) => {
                (all(Outcome::from_error(lost.into(), false)), true)
            }
            Err(CallError::Gone(why)) => (all(Outcome::Unknown(why)), true),
        }
    }

    /// Inserts each group in its own commit. After the connection breaks, the remaining groups are not tried.
    fn insert_each(&mut self, groups: &[Append<'_>]) -> (Vec<Outcome>, bool) {
        let mut spent = false;
        let mut one = |group: &Append<'_>| {
            if spent {
                return Outcome::Unreachable("the connection was lost before".into());
            }
            let (mut outcomes, lost) = self.insert(&[*group]);
            spent = lost;
            outcomes.pop().unwrap_or_else(unanswered)
        };
        let outcomes = groups.iter().map(&mut one).collect();
        (outcomes, spent)
    }

    /// Returns the outcome of each group. If a group was not inserted, the outcome comes from the row in its place. Also returns true if
    /// the connection is broken.
    fn settle(
        &mut self,
        groups: &[Append<'_>],
        taken: Option<&BTreeSet<Taken>>,
    ) -> (Vec<Outcome>, bool) {
        let is_taken = |group: &Append<'_>| {
            let group = (group.log.to_string(), bigint(group.after.last_seq + 1));
            taken.is_some_and(|taken| taken.contains(&group))
        };
        let mut lost: Option<String> = None;
        let mut settle_one = |group: &Append<'_>| match (is_taken(group), &lost) {
            (true, _) => Outcome::Appended,
            (false, Some(why)) => Outcome::Unknown(why.clone()),
            (false, None) => self.stands(group).unwrap_or_else(|error| {
                let why = error.why();
                lost = Some(why.clone());
                Outcome::Unknown(why)
            }),
        };
        let outcomes = groups.iter().map(&mut settle_one).collect();
        (outcomes, lost.is_some())
    }

    /// Returns the reason why a group was not inserted, or [`Outcome::Appended`] if the group was already there.
    fn stands(&mut self, group: &Append<'_>) -> Result<Outcome, CallError> {
        let outcome = stands(self.connection, group, self.by)?;
        match outcome {
            // The group may have been committed by a connection that did not wait for the copies.
            Outcome::Appended => self.connection.pass_barrier()?,
            // A former primary may report a group that the journal never had.
            Outcome::Forked => self.connections.fence_since(self.connection, self.asked)?,
            _ => {}
        }
        Ok(outcome)
    }
}

/// Inserts the groups in one commit, and returns the inserted groups.
fn taken(
    connection: &Connection,
    groups: &[Append<'_>],
    by: By,
) -> Result<BTreeSet<Taken>, CallError> {
    if let [group] = groups {
        return taken_alone(connection, group, by);
    }
    let each = |value: fn(&Append<'_>) -> i64| groups.iter().map(value).collect::<Vec<i64>>();
    let first = each(|group| bigint(group.after.last_seq + 1));
    let last = each(|group| bigint(group.position.last_seq));
    let texts = |value: fn(&Append<'_>) -> String| groups.iter().map(value).collect::<Vec<_>>();
    let (logs, ids) = (
        texts(|group| group.log.to_string()),
        texts(|group| group.last_id.to_string()),
    );
    let prev: Vec<&[u8]> = groups
        .iter()
        .map(|group| &group.after.digest.0[..])
        .collect();
    let chain: Vec<&[u8]> = groups
        .iter()
        .map(|group| &group.position.digest.0[..])
        .collect();
    let bytes: Vec<&[u8]> = groups.iter().map(|group| group.bytes).collect();
    let begins: Vec<Option<String>> = groups.iter().map(begins).collect();
    let state = by.within.name();
    let params: Params<'_> = &[
        &logs,
        &first,
        &last,
        &prev,
        &chain,
        &ids,
        &bytes,
        &begins,
        &state,
        connection.session(),
    ];
    let size = bytes.iter().map(|bytes| bytes.len()).sum();
    let rows = connection.commit(size, &connection.append, params)?;
    rows.iter().map(taken_row).collect()
}

fn taken_alone(
    connection: &Connection,
    group: &Append<'_>,
    by: By,
) -> Result<BTreeSet<Taken>, CallError> {
    let (log, id) = (group.log.to_string(), group.last_id.to_string());
    let (first, last) = (
        bigint(group.after.last_seq + 1),
        bigint(group.position.last_seq),
    );
    let (prev, chain) = (&group.after.digest.0[..], &group.position.digest.0[..]);
    let (begins, state) = (begins(group), by.within.name());
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![
        &log,
        &first,
        &last,
        &prev,
        &chain,
        &id,
        &group.bytes,
        &begins,
        &state,
        connection.session(),
    ];
    let bytes = group.bytes.len();
    let to = by.to.name();
    let rows = match by.within == by.to {
        true => connection.commit(bytes, &connection.append_one, &params),
        false => {
            params.push(&to);
            connection.commit(bytes, schema::TURN, &params)
        }
    };
    rows?.iter().map(taken_row).collect()
}

fn taken_row(row: &tokio_postgres::Row) -> Result<Taken, CallError> {
    Ok((column(row, 0)?, column(row, 1)?))
}

/// Encodes the names of the segments that begin before a group; see [`Append::begins`].
pub fn begins(group: &Append<'_>) -> Option<String> {
    (!group.begins.is_empty()).then(|| group.begins.join(" "))
}

/// Reads which row the journal has at the position where the group would be appended.
fn stands(connection: &Connection, group: &Append<'_>, by: By) -> Result<Outcome, CallError> {
    let (log, first) = (group.log.to_string(), bigint(group.after.last_seq + 1));
    let prev = &group.after.digest.0[..];
    let Some(row) = connection.row(schema::STANDS, &[&log, &first, &prev])? else {
        return Ok(Outcome::Refused("it has no such log".into()));
    };
    let (state, chain): (String, Option<Vec<u8>>) = (column(&row, 0)?, column(&row, 1)?);
    let state = LogState::from_name(&state);
    let follows: bool = column(&row, 2)?;
    match chain {
        Some(chain) if chain == group.position.digest.0 => Ok(Outcome::Appended),
        Some(_) => Ok(Outcome::Conflict),
        None if !follows => Ok(Outcome::Forked),
        None if state != Some(by.within) => Ok(match state {
            Some(state) => Outcome::Closed(state),
            None => Outcome::Refused("the log is in an unknown state".into()),
        }),
        None => Ok(Outcome::Unknown("it has no group at that position".into())),
    }
}

fn read(
    connection: &Connection,
    log: LogId,
    after: Position,
    bytes_max: usize,
    notes: bool,
) -> Result<Result<Page, ReadError>, CallError> {
    let (log, next) = (log.to_string(), bigint(after.last_seq + 1));
    let max = i64::try_from(bytes_max).unwrap_or(i64::MAX);
    let params: Params<'_> = &[&log, &next, &max, &GROUPS_MAX];
    let followed = notes.then(|| bigint(after.last_seq));
    let rows = connection.read_page(bytes_max, params, (&log, followed))?;
    let stored = |row| {
        let (last_seq, chain): (i64, Vec<u8>) = (column(row, 0)?, column(row, 1)?);
        // An invalid text becomes a digest that equals no other digest.
        let digest = GroupDigest(<[u8; 32]>::try_from(chain).unwrap_or_default());
        let last_seq = u64::try_from(last_seq).unwrap_or(0);
        let position = Position { last_seq, digest };
        let begins: Option<String> = column(row, 3)?;
        let names = begins.iter().flat_map(|names| names.split(' '));
        Ok(JournalGroup {
            position,
            bytes: column(row, 2)?,
            begins: names.map(str::to_owned).collect(),
        })
    };
    let groups = rows
        .iter()
        .map(stored)
        .collect::<Result<Vec<_>, CallError>>()?;
    let now = rows.last().map(|row| column(row, 4)).transpose()?;
    let named: Option<i32> = match rows.last() {
        Some(row) => column(row, 5)?,
        None => None,
    };
    let mut groups = groups.into_iter();
    if groups.next().map(|there| there.position) != Some(after) {
        return end(connection, &log).map(|end| {
            Err(match end {
                None => ReadError::OtherJournal("it has no such log".into()),
                Some((end, _)) if end < after.last_seq => ReadError::Behind(end),
                Some((_, base)) if after.last_seq < base => ReadError::Trimmed(base),
                Some(_) => ReadError::Forked,
            })
        });
    }
    let groups: Vec<JournalGroup> = groups.collect();
    let bytes: usize = groups.iter().map(|group| group.bytes.len()).sum();
    let is_full = rows.len() as u64 >= GROUPS_MAX.unsigned_abs() || bytes >= bytes_max;
    Ok(Ok(Page {
        more: is_full && !groups.is_empty(),
        now: now.and_then(Timestamp::from_micros),
        term: connection.term(),
        fold_version: named
            .and_then(|named| u32::try_from(named).ok())
            .unwrap_or(0),
        groups,
    }))
}

/// Returns the seq of a log's last event, and the seq after which the journal still stores all groups of the log.
fn end(connection: &Connection, log: &String) -> Result<Option<(u64, u64)>, CallError> {
    let Some(row) = connection.row(schema::END, &[log])? else {
        return Ok(None);
    };
    let seq = |at| {
        let seq: Option<i64> = column(&row, at)?;
        Ok(seq.and_then(|seq| u64::try_from(seq).ok()))
    };
    Ok(seq(0)?.zip(seq(1)?))
}

//! Appending groups, and reading them.

use crate::connection::{Connection, Lost, NoConnection, column};
use crate::connections::Connections;
use crate::schema;
use std::collections::BTreeSet;
use std::sync::Arc;
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{
    Append, GroupDigest, Journal, JournalGroup, Outcome, Page, Position, ReadError,
};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

/// At most so many groups are read at once.
const GROUPS_MAX: i64 = 1024;

/// A handle on the journal, for one log.
pub struct PostgresJournal(pub Arc<Connections>);

/// Seqs are counted from 1 and far below what a bigint holds.
fn bigint(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

impl Journal for PostgresJournal {
    fn append(&mut self, groups: &[Append<'_>]) -> Vec<Outcome> {
        let all = |outcome: Outcome| vec![outcome; groups.len()];
        match self.0.with(|connection| append(connection, groups)) {
            Ok(outcomes) => outcomes,
            Err(NoConnection::Unreachable(why)) => all(Outcome::Unreachable(why)),
            Err(NoConnection::NotDurable(why)) => all(Outcome::NotDurable(why)),
            Err(NoConnection::OfAnother(why) | NoConnection::Unconfigured(why)) => {
                all(Outcome::Refused(why))
            }
        }
    }

    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError> {
        let mut why = String::new();
        // A server that went away while nobody asked takes its idle connections with it: that alone says nothing.
        for _ in 0..2 {
            let asked = self.0.with(|connection| {
                let page = read(connection, log, after, bytes_max);
                let spent = matches!(page, Err(Lost::Gone(_)));
                (page, spent)
            });
            match asked {
                Ok(Ok(page)) => return page,
                Ok(Err(lost)) => why = lost.why(),
                Err(NoConnection::Unreachable(why)) => return Err(ReadError::Unreachable(why)),
                Err(NoConnection::NotDurable(why)) => return Err(ReadError::NotDurable(why)),
                Err(NoConnection::OfAnother(why) | NoConnection::Unconfigured(why)) => {
                    return Err(ReadError::OfAnother(why));
                }
            }
        }
        Err(ReadError::Unreachable(why))
    }
}

/// Appends groups; says what became of each, and whether the connection is spent.
fn append(connection: &mut Connection, groups: &[Append<'_>]) -> (Vec<Outcome>, bool) {
    let all = |outcome: Outcome| vec![outcome; groups.len()];
    match connection.durable() {
        Ok(Ok(())) => insert(connection, groups),
        Ok(Err(why)) => (all(Outcome::NotDurable(why)), false),
        // Nothing was sent yet.
        Err(lost) => (all(Outcome::Unreachable(lost.why())), true),
    }
}

fn insert(connection: &Connection, groups: &[Append<'_>]) -> (Vec<Outcome>, bool) {
    let all = |outcome: Outcome| vec![outcome; groups.len()];
    match taken(connection, groups) {
        Ok(logs) => settle(connection, groups, Some(&logs)),
        // One that stands behind nothing keeps all of them from being taken.
        Err(Lost::Refused(SqlState::FOREIGN_KEY_VIOLATION, _)) if groups.len() > 1 => {
            let each = groups.iter().map(|group| insert(connection, &[*group]));
            each.fold((Vec::new(), false), |(mut all, spent), (one, lost)| {
                all.extend(one);
                (all, spent || lost)
            })
        }
        Err(Lost::Refused(SqlState::FOREIGN_KEY_VIOLATION, _)) => settle(connection, groups, None),
        // A standby by now.
        Err(Lost::Refused(SqlState::READ_ONLY_SQL_TRANSACTION, why)) => {
            (all(Outcome::Unreachable(why)), true)
        }
        Err(Lost::Refused(_, why)) => (all(Outcome::Refused(why)), false),
        Err(Lost::Gone(why)) => (all(Outcome::Unknown(why)), true),
    }
}

/// Says of each group whether it was taken, or what stands in its place; and whether the connection is spent.
fn settle(
    connection: &Connection,
    groups: &[Append<'_>],
    taken: Option<&BTreeSet<String>>,
) -> (Vec<Outcome>, bool) {
    let is_taken =
        |group: &Append<'_>| taken.is_some_and(|logs| logs.contains(&group.log.to_string()));
    let mut spent = false;
    let mut settle_one = |group: &Append<'_>| match is_taken(group) {
        true => Outcome::Appended,
        false => stands(connection, group).unwrap_or_else(|lost| {
            spent = true;
            Outcome::Unknown(lost.why())
        }),
    };
    let outcomes = groups.iter().map(&mut settle_one).collect();
    (outcomes, spent)
}

/// Inserts the groups in one commit, and gives the logs of those that were taken.
fn taken(connection: &Connection, groups: &[Append<'_>]) -> Result<BTreeSet<String>, Lost> {
    if let [group] = groups {
        return taken_alone(connection, group);
    }
    let logs: Vec<String> = groups.iter().map(|group| group.log.to_string()).collect();
    let first = groups.iter().map(|group| bigint(group.after.last_seq + 1));
    let last = groups.iter().map(|group| bigint(group.position.last_seq));
    let (first, last): (Vec<i64>, Vec<i64>) = (first.collect(), last.collect());
    let prev: Vec<&[u8]> = groups
        .iter()
        .map(|group| &group.after.digest.0[..])
        .collect();
    let chain: Vec<&[u8]> = groups
        .iter()
        .map(|group| &group.position.digest.0[..])
        .collect();
    let ids: Vec<String> = groups
        .iter()
        .map(|group| group.last_id.to_string())
        .collect();
    let bytes: Vec<&[u8]> = groups.iter().map(|group| group.bytes).collect();
    let params: [&(dyn ToSql + Sync); 7] = [&logs, &first, &last, &prev, &chain, &ids, &bytes];
    let rows = connection.wait_for_copies(connection.client.query(&connection.append, &params))?;
    rows.iter().map(|row| column(row, 0)).collect()
}

fn taken_alone(connection: &Connection, group: &Append<'_>) -> Result<BTreeSet<String>, Lost> {
    let (log, id) = (group.log.to_string(), group.last_id.to_string());
    let (first, last) = (
        bigint(group.after.last_seq + 1),
        bigint(group.position.last_seq),
    );
    let (prev, chain) = (&group.after.digest.0[..], &group.position.digest.0[..]);
    let params: [&(dyn ToSql + Sync); 7] = [&log, &first, &last, &prev, &chain, &id, &group.bytes];
    let rows =
        connection.wait_for_copies(connection.client.query(&connection.append_one, &params))?;
    rows.iter().map(|row| column(row, 0)).collect()
}

/// What keeps a group from being taken, or whether it was before.
fn stands(connection: &Connection, group: &Append<'_>) -> Result<Outcome, Lost> {
    let (log, first) = (group.log.to_string(), bigint(group.after.last_seq + 1));
    let prev = &group.after.digest.0[..];
    let params: [&(dyn ToSql + Sync); 3] = [&log, &first, &prev];
    let Some(row) = connection.wait(connection.client.query_opt(schema::STANDS, &params))? else {
        return Ok(Outcome::Refused("it has no such log".into()));
    };
    let (state, chain): (String, Option<Vec<u8>>) = (column(&row, 0)?, column(&row, 1)?);
    let follows: bool = column(&row, 2)?;
    match chain {
        Some(chain) if chain == group.position.digest.0 => {
            // It may have been committed by a connection that did not wait for the copies.
            connection.barrier()?;
            Ok(Outcome::Appended)
        }
        Some(_) => Ok(Outcome::Conflict),
        None if !follows => Ok(Outcome::Forked),
        None if state != "open" => Ok(Outcome::Refused(format!("the log is {state} there"))),
        None => Ok(Outcome::Unknown(
            "it took nothing in the group's place".into(),
        )),
    }
}

fn read(
    connection: &Connection,
    log: LogId,
    after: Position,
    bytes_max: usize,
) -> Result<Result<Page, ReadError>, Lost> {
    let (log, next) = (log.to_string(), bigint(after.last_seq + 1));
    let max = i64::try_from(bytes_max).unwrap_or(i64::MAX);
    let params: [&(dyn ToSql + Sync); 4] = [&log, &next, &max, &GROUPS_MAX];
    let rows = connection.wait(connection.client.query(&connection.read, &params))?;
    let stored = |row| {
        let (last_seq, chain): (i64, Vec<u8>) = (column(row, 0)?, column(row, 1)?);
        // What is no digest equals none.
        let digest = GroupDigest(<[u8; 32]>::try_from(chain).unwrap_or_default());
        let last_seq = u64::try_from(last_seq).unwrap_or(0);
        let position = Position { last_seq, digest };
        let bytes = column(row, 2)?;
        Ok(JournalGroup { position, bytes })
    };
    let groups = rows.iter().map(stored).collect::<Result<Vec<_>, Lost>>()?;
    let mut groups = groups.into_iter();
    if groups.next().map(|there| there.position) != Some(after) {
        return end(connection, &log).map(|end| {
            Err(match end {
                None => ReadError::OfAnother("it has no such log".into()),
                Some(end) if end < after.last_seq => ReadError::Behind(end),
                Some(_) => ReadError::Forked,
            })
        });
    }
    let groups: Vec<JournalGroup> = groups.collect();
    let bytes: usize = groups.iter().map(|group| group.bytes.len()).sum();
    let is_full = rows.len() as u64 >= GROUPS_MAX.unsigned_abs() || bytes >= bytes_max;
    Ok(Ok(Page {
        more: is_full && !groups.is_empty(),
        groups,
    }))
}

fn end(connection: &Connection, log: &String) -> Result<Option<u64>, Lost> {
    let params: [&(dyn ToSql + Sync); 1] = [log];
    let row = connection.wait(connection.client.query_one(schema::END, &params))?;
    let end: Option<i64> = column(&row, 0)?;
    Ok(end.and_then(|end| u64::try_from(end).ok()))
}

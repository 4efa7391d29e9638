//! Requests about a journal as a whole.

use crate::KIND;
use crate::call_error::{CallError, Params, column, pooled};
use crate::config::Config;
use crate::connection::any_server;
use crate::connections::Connections;
use crate::journal::{PostgresJournal, begins, bigint};
use crate::look::look;
use crate::raw::Raw;
use crate::schema;
use std::sync::Arc;
use teamlog_engine::LogId;
use teamlog_engine::internals::journal::check_enrolled;
use teamlog_engine::journal::{
    Append, ConfigError, Connector, Durability, GroupDigest, GroupStore, HostRecord, Journal,
    JournalInfo, JournalRow, Journals, LogState, LogStatus, Server, Trimmer,
};
use teamlog_engine::{Error, Identity, JournalIdentity, Result};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

/// A journal on PostgreSQL. Cheap to clone. All clones share a few connections, which are opened when they are needed.
#[derive(Clone)]
pub struct PostgresJournals(Arc<Connections>);

impl std::fmt::Debug for PostgresJournals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PostgresJournals")
            .field(&self.0.journal)
            .finish()
    }
}

impl Connector for Config {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.servers().map(drop)
    }

    fn durability(&self) -> Durability {
        self.durability
    }

    /// Creates the journal's tables in the database. Tables of an older version stay unchanged, and are an error.
    fn create(&self, min_copies: u32) -> Result<JournalInfo> {
        let raw = connect_unshared(self)?;
        if tables(&raw)?.is_none_or(|version| version == schema::SCHEMA) {
            let copies = i32::try_from(min_copies).unwrap_or(i32::MAX);
            make(&raw, schema::NAME, &[&schema::SCHEMA, &copies])?;
        }
        Ok(look(&raw, self.durability)?)
    }

    fn inspect(&self) -> Result<JournalInfo> {
        let raw = connect_unshared(self)?;
        let mut copies = look(&raw, self.durability)?;
        for row in raw.rows(schema::MISSING, &[])? {
            copies.wrong.push(column(&row, 0)?);
        }
        Ok(copies)
    }

    fn migrate(&self) -> Option<Result<JournalInfo>> {
        let migrated = || {
            let raw = connect(self)?;
            if tables(&raw)?.is_some_and(|version| version < schema::SCHEMA) {
                make(&raw, schema::MIGRATED, &[&schema::SCHEMA])?;
            }
            Ok(look(&raw, self.durability)?)
        };
        Some(migrated())
    }

    fn open(&self, id: &str) -> Arc<dyn Server> {
        Arc::new(PostgresJournals::new(self.clone(), id.to_owned()))
    }
}

impl PostgresJournals {
    /// Returns the journal with this id, without connecting.
    #[must_use]
    pub fn new(config: Config, journal: String) -> PostgresJournals {
        PostgresJournals(Arc::new(Connections::new(config, journal)))
    }

    /// Returns a handle for one log.
    #[must_use]
    pub fn journal(&self) -> Box<dyn Journal> {
        Box::new(PostgresJournal::new(self.0.clone()))
    }

    /// Runs a statement, and converts each row of the result.
    fn all<A>(
        &self,
        statement: &str,
        params: Params<'_>,
        says: fn(&Row) -> Result<A, CallError>,
    ) -> Result<Vec<A>> {
        self.0.ask(|connection| {
            let rows = connection.rows(statement, params)?;
            rows.iter().map(says).collect()
        })
    }
}

impl Server for PostgresJournals {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn identity(&self, team: &str) -> Result<Option<(Vec<u8>, LogState)>> {
        let found = self.all(schema::FIND, &[&team], |row| {
            let state: String = column(row, 1)?;
            let state = LogState::from_name(&state).unwrap_or(LogState::Left);
            Ok((column(row, 0)?, state))
        })?;
        Ok(found.into_iter().next())
    }

    fn status(&self, log: LogId) -> Result<Option<LogStatus>> {
        let found = self.all(schema::STATUS, &[&log.to_string()], |row| {
            Ok(LogStatus {
                state: column(row, 0)?,
                last_seq: count(row, 1)?,
                groups: count(row, 2)?,
                bytes: count(row, 3)?,
            })
        })?;
        Ok(found.into_iter().next())
    }

    fn hosts(&self, log: LogId) -> Result<Vec<HostRecord>> {
        self.all(schema::HOSTS, &[&log.to_string()], |row| {
            let followed: Option<i64> = column(row, 3)?;
            Ok(HostRecord {
                id: column(row, 0)?,
                name: column(row, 1)?,
                seconds_ago: column(row, 2)?,
                followed: followed.and_then(|seq| u64::try_from(seq).ok()),
            })
        })
    }

    fn group_store(&self) -> Option<&dyn GroupStore> {
        Some(self)
    }

    fn trimmer(&self) -> Option<&dyn Trimmer> {
        Some(self)
    }
}

impl GroupStore for PostgresJournals {
    fn rows(&self, log: LogId, from: u64, bytes_max: usize) -> Result<Vec<JournalRow>> {
        let (log, from) = (log.to_string(), i64::try_from(from).unwrap_or(i64::MAX));
        let max = i64::try_from(bytes_max).unwrap_or(i64::MAX);
        self.0.ask(|connection| {
            let params: Params<'_> = &[&log, &from, &max];
            let rows = connection.client.query(schema::ROWS, params);
            let rows = connection.wait_for(bytes_max, rows)?;
            rows.iter().map(stored).collect()
        })
    }

    fn restore(&self, group: &Append<'_>) -> Result<()> {
        let (log, id) = (group.log.to_string(), group.last_id.to_string());
        let (first, last) = (
            bigint(group.after.last_seq + 1),
            bigint(group.position.last_seq),
        );
        let (prev, chain) = (&group.after.digest.0[..], &group.position.digest.0[..]);
        let begins = begins(group);
        self.0.ask(|connection| {
            let params: Params<'_> = &[
                &log,
                &first,
                &last,
                &prev,
                &chain,
                &id,
                &group.bytes,
                &begins,
            ];
            connection.commit(group.bytes.len(), schema::RESTORE, params)?;
            Ok(())
        })
    }
}

/// Converts a row of [`schema::ROWS`].
fn stored(row: &Row) -> Result<JournalRow, CallError> {
    // An invalid text becomes a digest that equals no other digest.
    let digest = |bytes: Vec<u8>| GroupDigest(<[u8; 32]>::try_from(bytes).unwrap_or([0xff; 32]));
    let after: Option<Vec<u8>> = column(row, 2)?;
    Ok(JournalRow {
        first_seq: count(row, 0)?,
        last_seq: count(row, 1)?,
        after: after.map(digest),
        digest: digest(column(row, 3)?),
        bytes: column(row, 4)?,
    })
}

impl Trimmer for PostgresJournals {
    fn holders(&self, log: LogId, seq: u64) -> Result<Vec<String>> {
        let (log, seq) = (log.to_string(), i64::try_from(seq).unwrap_or(i64::MAX));
        self.all(schema::HOLDERS, &[&log, &seq], |row| column(row, 0))
    }

    fn trim(&self, log: LogId, before: u64) -> Result<(u64, u64)> {
        let (log, before) = (log.to_string(), i64::try_from(before).unwrap_or(i64::MAX));
        let (mut groups, mut bytes) = (0, 0);
        loop {
            let some = self.0.ask(|connection| {
                let rows = connection.commit(0, schema::TRIM, &[&log, &before])?;
                let some = rows.first().map(|row| Ok((count(row, 0)?, count(row, 1)?)));
                some.transpose()
            })?;
            match some {
                None | Some((0, _)) => return Ok((groups, bytes)),
                Some(some) => (groups, bytes) = (groups + some.0, bytes + some.1),
            }
        }
    }
}

impl Journals for PostgresJournals {
    fn open(&self, _: &JournalIdentity) -> Result<Box<dyn Journal>> {
        Ok(self.journal())
    }

    fn enroll(&self, identity: &Identity, state: LogState) -> Result<()> {
        let (log, bytes) = (identity.log.to_string(), identity.encode());
        let journal = identity.journal.as_ref();
        let max = journal.map_or(0, |journal| journal.segment_bytes_max);
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let has_it = self.0.ask(|connection| {
            let params: Params<'_> = &[&log, &identity.name, &bytes, &max, &state.name()];
            let rows = connection.commit(0, schema::ENROLL, params)?;
            let has_it = rows.first().map(|row| column(row, 0)).transpose()?;
            Ok(has_it.unwrap_or(false))
        })?;
        check_enrolled(has_it, &identity.name)
    }

    fn readmit(&self, identity: &Identity) -> Result<Option<Vec<u8>>> {
        let log = identity.log.to_string();
        self.0.ask(|connection| {
            let rows = connection.commit(0, schema::READMIT, &[&log, &identity.name])?;
            let stored = rows.first().map(|row| column(row, 0)).transpose()?;
            Ok(stored.flatten())
        })
    }
}

/// Reads a number; a negative number becomes 0.
fn count(row: &Row, at: usize) -> Result<u64, CallError> {
    Ok(u64::try_from(column::<i64>(row, at)?).unwrap_or(0))
}

/// Returns the version of a journal's tables; `None` if there are no tables.
fn tables(raw: &Raw) -> Result<Option<i32>> {
    match raw.row(schema::VERSION, &[]) {
        Ok(row) => Ok(row.map(|row| column(&row, 0)).transpose()?),
        Err(CallError::Refused(SqlState::UNDEFINED_TABLE, _)) => Ok(None),
        Err(lost) => Err(lost.into()),
    }
}

/// Creates or migrates the tables, then runs the statement that records this.
fn make(raw: &Raw, statement: &str, params: Params<'_>) -> Result<()> {
    raw.wait(raw.client.batch_execute(schema::CREATE))?;
    raw.rows(statement, params)?;
    Ok(())
}

/// Connects twice, and refuses a pooler that gives the second connection the session of the first connection.
fn connect_unshared(config: &Config) -> Result<Raw> {
    let first = connect(config)?;
    let shared = pooled().why();
    match connect(config) {
        Err(Error::Journal { why, .. }) if why.contains(&shared) => Err(pooled().into()),
        // The second connection may be refused for another reason, because a session pooler may allow only one session.
        _ => Ok(first),
    }
}

fn connect(config: &Config) -> Result<Raw> {
    any_server(config, None, |_, server| Raw::connect(server))
}

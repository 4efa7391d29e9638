//! What is asked of a journal as a whole.

use crate::KIND;
use crate::config::Config;
use crate::connection::{Lost, Params, Raw, any_server, column};
use crate::connections::Connections;
use crate::copies::look;
use crate::journal::PostgresJournal;
use crate::schema;
use std::sync::Arc;
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{
    ConfigError, Copies, Journal, Journals, LogState, LogStatus, Server, Trims, Way, enrolled,
};
use teamlog_engine::{Identity, JournalIdentity, Result};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

/// A journal on PostgreSQL. Cheap to clone; all clones share a few connections, which are opened when they are needed.
#[derive(Clone)]
pub struct PostgresJournals(Arc<Connections>);

impl std::fmt::Debug for PostgresJournals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PostgresJournals")
            .field(&self.0.journal)
            .finish()
    }
}

impl Way for Config {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.servers().map(drop)
    }

    /// Makes its tables in the database. Those of an older version stay, and are an error.
    fn create(&self, min_copies: u32) -> Result<Copies> {
        let raw = connect(self)?;
        if tables(&raw)?.is_none_or(|version| version == schema::SCHEMA) {
            let copies = i32::try_from(min_copies).unwrap_or(i32::MAX);
            make(&raw, schema::NAME, &[&schema::SCHEMA, &copies])?;
        }
        look(&raw)
    }

    fn look(&self) -> Result<Copies> {
        look(&connect(self)?)
    }

    fn migrate(&self) -> Option<Result<Copies>> {
        let migrated = || {
            let raw = connect(self)?;
            if tables(&raw)?.is_some_and(|version| version < schema::SCHEMA) {
                make(&raw, schema::MIGRATED, &[&schema::SCHEMA])?;
            }
            look(&raw)
        };
        Some(migrated())
    }

    fn open(&self, id: &str) -> Arc<dyn Server> {
        Arc::new(PostgresJournals::new(self.clone(), id.to_owned()))
    }
}

impl PostgresJournals {
    /// The journal of that id; nothing is connected yet.
    #[must_use]
    pub fn new(config: Config, journal: String) -> PostgresJournals {
        PostgresJournals(Arc::new(Connections::new(config, journal)))
    }

    /// A handle for one log.
    #[must_use]
    pub fn journal(&self) -> Box<dyn Journal> {
        Box::new(PostgresJournal::new(self.0.clone()))
    }

    /// What each row says that a statement gives.
    fn all<A>(
        &self,
        statement: &str,
        params: Params<'_>,
        says: fn(&Row) -> Result<A, Lost>,
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

    fn hosts(&self) -> Result<Vec<(String, f64)>> {
        self.all(schema::HOSTS, &[], |row| {
            Ok((column(row, 0)?, column(row, 1)?))
        })
    }

    fn trims(&self) -> Option<&dyn Trims> {
        Some(self)
    }
}

impl Trims for PostgresJournals {
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
            let params: Params<'_> = &[&log, &identity.team, &bytes, &max, &state.name()];
            let rows = connection.commit(0, schema::ENROLL, params)?;
            let has_it = rows.first().map(|row| column(row, 0)).transpose()?;
            Ok(has_it.unwrap_or(false))
        })?;
        enrolled(has_it, &identity.team)
    }
}

/// A number that is none below 0.
fn count(row: &Row, at: usize) -> Result<u64, Lost> {
    Ok(u64::try_from(column::<i64>(row, at)?).unwrap_or(0))
}

/// The version of a journal's tables, where there are any.
fn tables(raw: &Raw) -> Result<Option<i32>> {
    match raw.row(schema::VERSION, &[]) {
        Ok(row) => Ok(row.map(|row| column(&row, 0)).transpose()?),
        Err(Lost::Refused(SqlState::UNDEFINED_TABLE, _)) => Ok(None),
        Err(lost) => Err(lost.into()),
    }
}

/// Makes the tables, and says so by a statement.
fn make(raw: &Raw, statement: &str, params: Params<'_>) -> Result<()> {
    raw.wait(raw.client.batch_execute(schema::CREATE))?;
    raw.rows(statement, params)?;
    Ok(())
}

fn connect(config: &Config) -> Result<Raw> {
    any_server(config, None, |_, server| Raw::connect(server))
}

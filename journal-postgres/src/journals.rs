//! What is asked of a journal as a whole.

use crate::config::{Config, ConfigError};
use crate::connection::{Connection, Copies, Lost, NoConnection, Raw, any_server, column, look};
use crate::connections::Connections;
use crate::journal::PostgresJournal;
use crate::schema;
use std::sync::Arc;
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{Journal, Journals, LogState, LogStatus};
use teamlog_engine::{Error, Identity, JournalFault, JournalIdentity, Result};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

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

/// When a host last spoke to the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSeen {
    /// What it calls itself.
    pub host: String,
    /// Seconds ago, by the server's clock.
    pub seconds_ago: f64,
}

impl PostgresJournals {
    /// The journal of that id; nothing is connected yet.
    #[must_use]
    pub fn new(config: Config, journal: String) -> PostgresJournals {
        PostgresJournals(Arc::new(Connections::new(config, journal)))
    }

    /// Makes the tables of a journal in the database, and looks at it. What is there already stays as it is; `min_copies`
    /// counts for a new one.
    ///
    /// # Errors
    /// `Journal`: the server cannot be reached, does not let the tables be made, or has those of an older version.
    pub fn create(config: &Config, min_copies: u32) -> Result<Copies> {
        let raw = connect(config)?;
        if tables(&raw)?.is_some_and(|version| version != schema::SCHEMA) {
            return look(&raw).map_err(no_connection);
        }
        raw.wait(raw.client.batch_execute(schema::CREATE))
            .map_err(refused)?;
        let copies = i32::try_from(min_copies).unwrap_or(i32::MAX);
        let params: [&(dyn ToSql + Sync); 2] = [&schema::SCHEMA, &copies];
        raw.wait(raw.client.execute(schema::NAME, &params))
            .map_err(refused)?;
        look(&raw).map_err(no_connection)
    }

    /// Makes the tables of an older version those of this one. Older hosts are refused from then on.
    ///
    /// # Errors
    /// `Journal`: the server cannot be reached, has no journal or a newer one, or does not let the tables be changed.
    pub fn migrate(config: &Config) -> Result<Copies> {
        let raw = connect(config)?;
        if tables(&raw)?.is_some_and(|version| version < schema::SCHEMA) {
            raw.wait(raw.client.batch_execute(schema::CREATE))
                .map_err(refused)?;
            let params: [&(dyn ToSql + Sync); 1] = [&schema::SCHEMA];
            raw.wait(raw.client.execute(schema::MIGRATED, &params))
                .map_err(refused)?;
        }
        look(&raw).map_err(no_connection)
    }

    /// Looks at the journal in a database.
    ///
    /// # Errors
    /// `Journal`: the server cannot be reached, or there is no journal.
    pub fn look(config: &Config) -> Result<Copies> {
        look(&connect(config)?).map_err(no_connection)
    }

    /// Whether the URL and the passfile can be used.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(config: &Config) -> Result<(), ConfigError> {
        config.servers().map(drop)
    }

    /// A handle for one log.
    #[must_use]
    pub fn journal(&self) -> Box<dyn Journal> {
        Box::new(PostgresJournal(self.0.clone()))
    }

    /// What `log.json` says of the log of a team, on every host, where all of it is in the journal.
    ///
    /// # Errors
    /// `Journal`, also where it is being handed over, or was taken off.
    pub fn find(&self, team: &str) -> Result<Option<Vec<u8>>> {
        let found: Option<(Vec<u8>, String)> = self.ask(|connection| {
            let params: [&(dyn ToSql + Sync); 1] = [&team];
            let row = connection.wait(connection.client.query_opt(schema::FIND, &params))?;
            row.map(|row| Ok((column(&row, 0)?, column(&row, 1)?)))
                .transpose()
        })?;
        match found {
            None => Ok(None),
            Some((identity, state)) => match LogState::from_name(&state) {
                Some(LogState::Open) => Ok(Some(identity)),
                Some(LogState::Loading) => Err(Error::journal(
                    JournalFault::Loading,
                    "the host that hands it over has not finished",
                )),
                _ => Err(Error::journal(
                    JournalFault::Left,
                    "the log goes on at one host alone",
                )),
            },
        }
    }

    /// What the journal has of a log; `None` where it does not know it.
    ///
    /// # Errors
    /// `Journal`.
    pub fn status(&self, log: LogId) -> Result<Option<LogStatus>> {
        let log = log.to_string();
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        self.ask(|connection| {
            let params: [&(dyn ToSql + Sync); 1] = [&log];
            let row = connection.wait(connection.client.query_opt(schema::STATUS, &params))?;
            let status = |row: tokio_postgres::Row| {
                Ok(LogStatus {
                    state: column(&row, 0)?,
                    last_seq: count(column(&row, 1)?),
                    groups: count(column(&row, 2)?),
                    bytes: count(column(&row, 3)?),
                })
            };
            row.map(status).transpose()
        })
    }

    /// The hosts that noted that they have a log up to an event: `doctor` does.
    ///
    /// # Errors
    /// `Journal`.
    pub fn holders(&self, log: LogId, seq: u64) -> Result<Vec<String>> {
        let (log, seq) = (log.to_string(), i64::try_from(seq).unwrap_or(i64::MAX));
        self.ask(|connection| {
            let params: [&(dyn ToSql + Sync); 2] = [&log, &seq];
            let rows = connection.wait(connection.client.query(schema::HOLDERS, &params))?;
            rows.iter().map(|row| column(row, 0)).collect()
        })
    }

    /// Removes the groups of a log that end before an event, and says how many went, and their bytes. Repeating it is harmless.
    /// Needs a role that may change the tables. Nobody can join by the journal alone from then on.
    ///
    /// # Errors
    /// `Journal`.
    pub fn trim(&self, log: LogId, before: u64) -> Result<(u64, u64)> {
        let (log, before) = (log.to_string(), i64::try_from(before).unwrap_or(i64::MAX));
        let (mut groups, mut bytes) = (0, 0);
        loop {
            let some = self.ask(|connection| {
                let params: [&(dyn ToSql + Sync); 2] = [&log, &before];
                let trimmed = connection.client.query_one(schema::TRIM, &params);
                let row = connection.wait_for_copies(0, trimmed)?;
                let count = |at| Ok(u64::try_from(column::<i64>(&row, at)?).unwrap_or(0));
                Ok((count(0)?, count(1)?))
            })?;
            if some.0 == 0 {
                return Ok((groups, bytes));
            }
            (groups, bytes) = (groups + some.0, bytes + some.1);
        }
    }

    /// The hosts that have spoken to the journal.
    ///
    /// # Errors
    /// `Journal`.
    pub fn hosts(&self) -> Result<Vec<HostSeen>> {
        self.ask(|connection| {
            let rows = connection.wait(connection.client.query(schema::HOSTS, &[]))?;
            let seen = rows.iter().map(|row| {
                Ok(HostSeen {
                    host: column(row, 0)?,
                    seconds_ago: column(row, 1)?,
                })
            });
            seen.collect()
        })
    }

    fn ask<A>(&self, ask: impl Fn(&Connection) -> Result<A, Lost>) -> Result<A> {
        let mut why = String::new();
        // The first connection may be one that its server left long ago.
        for _ in 0..2 {
            let asked = self.0.with(|connection| {
                let answer = ask(connection);
                let spent = matches!(answer, Err(Lost::Gone(_)));
                (answer, spent)
            });
            match asked.map_err(no_connection)? {
                Ok(answer) => return Ok(answer),
                Err(Lost::Refused(_, why)) => {
                    return Err(Error::journal(JournalFault::Refused, why));
                }
                Err(Lost::Gone(gone)) => why = gone,
            }
        }
        Err(Error::journal(JournalFault::Unreachable, why))
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
        let is_its = self.ask(|connection| {
            let state = state.name();
            let params: [&(dyn ToSql + Sync); 5] = [&log, &identity.team, &bytes, &max, &state];
            let asked = connection.client.query_one(schema::ENROLL, &params);
            column::<bool>(&connection.wait_for_copies(0, asked)?, 0)
        })?;
        match is_its {
            true => Ok(()),
            false => Err(Error::journal(
                JournalFault::Refused,
                format!(
                    "it has another log of team {}, or had this one before",
                    identity.team
                ),
            )),
        }
    }
}

/// The version of a journal's tables, where there are any.
fn tables(raw: &Raw) -> Result<Option<i32>> {
    match raw.wait(raw.client.query_opt(schema::VERSION, &[])) {
        Ok(row) => row.map(|row| column(&row, 0)).transpose().map_err(refused),
        Err(Lost::Refused(SqlState::UNDEFINED_TABLE, _)) => Ok(None),
        Err(lost) => Err(refused(lost)),
    }
}

fn refused(lost: Lost) -> Error {
    match lost {
        Lost::Refused(_, why) => Error::journal(JournalFault::Refused, why),
        Lost::Gone(why) => Error::journal(JournalFault::Unreachable, why),
    }
}

fn connect(config: &Config) -> Result<Raw> {
    any_server(config, Raw::connect).map_err(no_connection)
}

fn no_connection(error: NoConnection) -> Error {
    match error {
        NoConnection::Unreachable(why) => Error::journal(JournalFault::Unreachable, why),
        NoConnection::NotDurable(why) => Error::journal(JournalFault::NotDurable, why),
        NoConnection::OfAnother(why) => Error::journal(JournalFault::OfAnother, why),
        NoConnection::Unconfigured(why) => Error::journal(JournalFault::Unconfigured, why),
    }
}

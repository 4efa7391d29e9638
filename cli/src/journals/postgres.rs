//! Journals on PostgreSQL.

use super::server::{Server, Shown, Trims, Way};
use crate::exit::CommandError;
use std::sync::Arc;
use teamlog_journal_postgres::{Config, Copies, KIND, PostgresJournals};
use teamlog_team::engine::Result;
use teamlog_team::engine::identity::LogId;
use teamlog_team::engine::journal::LogStatus;

impl Way for Config {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn create(&self, min_copies: u32) -> Result<Shown> {
        PostgresJournals::create(self, min_copies).map(shown)
    }

    fn look(&self) -> Result<Shown> {
        PostgresJournals::look(self).map(shown)
    }

    fn migrate(&self) -> std::result::Result<Shown, CommandError> {
        Ok(PostgresJournals::migrate(self).map(shown)?)
    }

    fn open(&self, id: &str) -> Arc<dyn Server> {
        Arc::new(PostgresJournals::new(self.clone(), id.to_owned()))
    }
}

fn shown(copies: Copies) -> Shown {
    Shown {
        journal: copies.journal,
        min_copies: copies.min_copies,
        copies: copies.standbys + 1,
        names: copies.standby_names,
        timeline: copies.timeline,
        version: copies.version,
        wrong: copies.wrong,
    }
}

impl Server for PostgresJournals {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn find(&self, team: &str) -> Result<Option<Vec<u8>>> {
        PostgresJournals::find(self, team)
    }

    fn status(&self, log: LogId) -> Result<Option<LogStatus>> {
        PostgresJournals::status(self, log)
    }

    fn hosts(&self) -> Result<Vec<(String, f64)>> {
        let seen = PostgresJournals::hosts(self)?.into_iter();
        Ok(seen.map(|seen| (seen.host, seen.seconds_ago)).collect())
    }

    fn trims(&self) -> std::result::Result<&dyn Trims, CommandError> {
        Ok(self)
    }
}

impl Trims for PostgresJournals {
    fn holders(&self, log: LogId, seq: u64) -> Result<Vec<String>> {
        PostgresJournals::holders(self, log, seq)
    }

    fn trim(&self, log: LogId, before: u64) -> Result<(u64, u64)> {
        PostgresJournals::trim(self, log, before)
    }
}

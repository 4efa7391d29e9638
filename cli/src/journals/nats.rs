//! Journals on NATS JetStream, where teamlog is built with them.

use super::server::{Server, Shown, Way};
use std::sync::Arc;
use teamlog_journal_nats::{Config, Copies, KIND, NatsJournals};
use teamlog_team::engine::Result;
use teamlog_team::engine::identity::LogId;
use teamlog_team::engine::journal::LogStatus;

impl Way for Config {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn create(&self, min_copies: u32) -> Result<Shown> {
        NatsJournals::create(self, min_copies).map(shown)
    }

    fn look(&self) -> Result<Shown> {
        NatsJournals::look(self).map(shown)
    }

    fn open(&self, id: &str) -> Arc<dyn Server> {
        Arc::new(NatsJournals::new(self.clone(), id.to_owned()))
    }
}

fn shown(copies: Copies) -> Shown {
    Shown {
        journal: copies.journal,
        min_copies: copies.min_copies,
        copies: copies.copies,
        names: copies.servers.join(", "),
        timeline: 0,
        version: copies.version,
        wrong: copies.wrong,
    }
}

impl Server for NatsJournals {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn find(&self, team: &str) -> Result<Option<Vec<u8>>> {
        NatsJournals::find(self, team)
    }

    fn status(&self, log: LogId) -> Result<Option<LogStatus>> {
        NatsJournals::status(self, log)
    }
}

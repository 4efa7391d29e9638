//! A journal that does not answer keeps the teams waiting that it orders, and no others.

use super::stand::options;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_server::serve;
use teamlog_team::Root;
use teamlog_team::engine::identity::LogId;
use teamlog_team::engine::journal::memory::MemoryJournal;
use teamlog_team::engine::journal::{
    Append, Journal, Journals, LogState, Outcome, Page, Position, ReadError,
};
use teamlog_team::engine::{Error, Identity, JournalIdentity};
use teamlog_team::lifecycle::init::Init;

/// A journal that answers no read while a test holds `silence`.
#[derive(Debug, Clone, Default)]
struct Hanging {
    journal: MemoryJournal,
    silence: Arc<Mutex<()>>,
}

impl Journals for Hanging {
    fn open(&self, _: &JournalIdentity) -> Result<Box<dyn Journal>, Error> {
        Ok(Box::new(self.clone()))
    }
    fn enroll(&self, identity: &Identity, state: LogState) -> Result<(), Error> {
        self.journal.enroll(identity, state)
    }
}

impl Journal for Hanging {
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome> {
        self.journal.append(groups, state)
    }
    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        self.journal.turn(group, to)
    }
    fn read(&mut self, log: LogId, after: Position, max: usize) -> Result<Page, ReadError> {
        drop(self.silence.lock().unwrap_or_else(PoisonError::into_inner));
        self.journal.read(log, after, max)
    }
}

#[test]
fn a_journal_that_hangs_keeps_no_local_team_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let hanging = Hanging::default();
    let mut options = options(dir.path());
    options.root_options.journals = Some(Arc::new(hanging.clone()));
    options.limits.tick_time = Duration::from_millis(20);
    let root = Root::create(dir.path(), options.root_options.clone()).unwrap();
    let journal = JournalIdentity {
        kind: "memory".into(),
        id: "00000000-0000-4000-8000-000000000000".into(),
        segment_bytes_max: 8_000_000,
    };
    root.init(Init {
        journal: Some(journal),
        ..Init::of("shared")
    })
    .unwrap();
    let silence = hanging.silence.lock().unwrap();
    let daemon = serve(options).unwrap();
    let comes_to_be_served = |team: &str| {
        let runtime = dir.path().join("teams").join(team).join("runtime.json");
        let end = Instant::now() + Duration::from_secs(60);
        while !runtime.exists() {
            assert!(Instant::now() < end, "{team} is not served");
            thread::sleep(Duration::from_millis(20));
        }
    };
    for team in ["after", "then", "zoo"] {
        root.init(Init::of(team)).unwrap();
        comes_to_be_served(team);
    }
    drop(silence);
    assert!(daemon.stop());
}

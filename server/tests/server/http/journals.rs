//! A journal that does not answer delays only its own teams.

use super::stand::{options, runtime};
use crate::client::Client;
use crate::waiting::{until, until_some};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use teamlog_server::serve;
use teamlog_team::Root;
use teamlog_team::engine::LogId;
use teamlog_team::engine::internals::journal::MemoryJournal;
use teamlog_team::engine::journal::{
    Append, GroupDigest, GroupStore, Journal, JournalRow, Journals, LogState, LogStatus, Outcome,
    Page, Position, ReadError, Server,
};
use teamlog_team::engine::{Error, Identity, JournalIdentity};
use teamlog_team::lifecycle::init::Init;

/// A journal whose reads hang while a test holds `silence`. If `of` is set, only reads of this log hang.
#[derive(Debug, Clone, Default)]
struct Hanging {
    journal: MemoryJournal,
    silence: Arc<Mutex<()>>,
    of: Arc<Mutex<Option<LogId>>>,
    /// Number of reads that were started, per log.
    reads: Arc<Mutex<HashMap<LogId, usize>>>,
}

impl Hanging {
    fn reads(&self, log: LogId) -> usize {
        let reads = self.reads.lock().unwrap();
        reads.get(&log).copied().unwrap_or(0)
    }
}

/// Creates a team whose log has this journal.
fn shared(team: &str) -> Init {
    let journal = JournalIdentity {
        kind: "memory".into(),
        id: "00000000-0000-4000-8000-000000000000".into(),
        segment_bytes_max: 8_000_000,
    };
    Init {
        journal: Some(journal),
        ..Init::for_team(team)
    }
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
        *self.reads.lock().unwrap().entry(log).or_default() += 1;
        let of = *self.of.lock().unwrap();
        if of.is_none_or(|of| of == log) {
            drop(self.silence.lock().unwrap_or_else(PoisonError::into_inner));
        }
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
    root.init(shared("shared")).unwrap();
    // `daemon` is declared first, so that it is dropped last. If a test fails, `silence` must end before the daemon
    // stops, because the daemon waits for the journal.
    let daemon;
    let silence = hanging.silence.lock().unwrap();
    daemon = serve(options).unwrap();
    let comes_to_be_served = |team: &str| {
        let runtime = dir.path().join("teams").join(team).join("runtime.json");
        until(&format!("{team} is served"), || runtime.exists());
    };
    for team in ["after", "then", "zoo"] {
        root.init(Init::for_team(team)).unwrap();
        comes_to_be_served(team);
    }
    drop(silence);
    assert!(daemon.stop());
}

#[test]
fn a_team_that_misses_its_deadline_keeps_no_team_of_its_journal_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let hanging = Hanging::default();
    let mut options = options(dir.path());
    options.root_options.journals = Some(Arc::new(hanging.clone()));
    options.limits.tick_time = Duration::from_millis(20);
    let root = Root::create(dir.path(), options.root_options.clone()).unwrap();
    // Teams are followed in the order of their names.
    let [slow, other] = ["a-slow", "b-other"].map(|team| {
        root.init(shared(team)).unwrap();
        root.team(team).unwrap().log().identity().log
    });
    *hanging.of.lock().unwrap() = Some(slow);
    // `daemon` is declared first, so that it is dropped last: `silence` must end before the daemon stops.
    let daemon;
    let silence = hanging.silence.lock().unwrap();
    let before = [slow, other].map(|log| hanging.reads(log));
    daemon = serve(options).unwrap();
    // The other team is followed in several rounds. Each round leaves out the team that is late.
    until("the other team is followed", || {
        hanging.reads(other) >= before[1] + 3
    });
    // The journal of the late team is read only once, no matter how many rounds started.
    assert_eq!(hanging.reads(slow), before[0] + 1);
    drop(silence);
    assert!(daemon.stop());
}

/// A journal whose servers return its groups. A test can change a byte in one group.
#[derive(Debug, Clone, Default)]
struct EditableJournal {
    journal: MemoryJournal,
    changed: Arc<AtomicBool>,
    pages: Arc<AtomicUsize>,
}

impl Journals for EditableJournal {
    fn open(&self, journal: &JournalIdentity) -> Result<Box<dyn Journal>, Error> {
        self.journal.open(journal)
    }
    fn enroll(&self, identity: &Identity, state: LogState) -> Result<(), Error> {
        self.journal.enroll(identity, state)
    }
    fn server(&self, _: &JournalIdentity) -> Result<Option<Arc<dyn Server>>, Error> {
        Ok(Some(Arc::new(self.clone())))
    }
}

impl Server for EditableJournal {
    fn kind(&self) -> &'static str {
        "memory"
    }
    fn identity(&self, _: &str) -> Result<Option<(Vec<u8>, LogState)>, Error> {
        Ok(None)
    }
    fn status(&self, _: LogId) -> Result<Option<LogStatus>, Error> {
        Ok(None)
    }
    fn group_store(&self) -> Option<&dyn GroupStore> {
        Some(self)
    }
}

impl GroupStore for EditableJournal {
    fn rows(&self, log: LogId, from: u64, _: usize) -> Result<Vec<JournalRow>, Error> {
        let mut after = Position::default();
        let mut rows = vec![JournalRow {
            first_seq: 0,
            last_seq: 0,
            after: None,
            digest: GroupDigest::default(),
            bytes: Vec::new(),
        }];
        for mut group in self.journal.groups(log) {
            if self.changed.load(Ordering::SeqCst) && group.position.last_seq == 2 {
                group.bytes[3] ^= 1;
            }
            rows.push(JournalRow {
                first_seq: after.last_seq + 1,
                last_seq: group.position.last_seq,
                after: Some(after.digest),
                digest: group.position.digest,
                bytes: group.bytes,
            });
            after = group.position;
        }
        rows.retain(|row| row.first_seq >= from);
        self.pages.fetch_add(1, Ordering::SeqCst);
        Ok(rows)
    }
    fn restore(&self, _: &Append<'_>) -> Result<(), Error> {
        unreachable!("the daemon puts nothing back")
    }
}

#[test]
fn the_daemon_finds_a_changed_byte_in_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    let shown = EditableJournal::default();
    let options = || {
        let mut options = options(dir.path());
        options.root_options.journals = Some(Arc::new(shown.clone()));
        options
    };
    let root = Root::create(dir.path(), options().root_options).unwrap();
    root.init(shared("demo")).unwrap();
    for kind in ["first_told", "then_told"] {
        let mut team = root.team("demo").unwrap();
        let event = teamlog_team::log::append::Append {
            kind: kind.into(),
            ..Default::default()
        };
        team.append(event).unwrap();
    }
    drop(root);
    let found = |is_wanted: &dyn Fn(&serde_json::Value) -> bool| {
        let daemon = serve(options()).unwrap();
        let token = runtime(&dir.path().join("teams/demo/runtime.json")).token;
        let attention = until_some("that needs attention", || {
            let mut client = Client::tcp(&daemon);
            let heard = client.call(&token, "GET /v1/attention", "").is(200).json();
            if is_wanted(&heard) {
                Ok(heard)
            } else {
                Err(heard)
            }
        });
        assert!(daemon.stop());
        attention
    };
    // Start with a sound journal: after a difference, the daemon would compare again at once.
    let sound = found(&|_| shown.pages.load(Ordering::SeqCst) > 0);
    assert_eq!(sound["count"], 0, "{sound}");
    shown.changed.store(true, Ordering::SeqCst);
    let damaged = found(&|heard| heard["count"] == 1);
    let item = &damaged["items"][0];
    assert_eq!(item["kind"], "damaged");
    assert_eq!(item["command"], "teamlog journal check demo --deep");
    let text = item["text"].as_str().unwrap();
    assert!(text.contains("events 2 to 2: its bytes differ"), "{text}");
}

//! Helpers for the engine's tests: a log on any storage, with a clock and ids under the test's control.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    reason = "each test uses a part, and fails by panicking"
)]

pub mod faults;
pub mod forge;

pub use faults::*;

pub use std::path::{Path, PathBuf};
pub use std::sync::Arc;
pub use std::sync::atomic::AtomicU64;
pub use std::time::Duration;
use teamlog_engine::AppendedGroup;
use teamlog_engine::LogId;
pub use teamlog_engine::internals::codec::{SegmentHeader, encode_group};
use teamlog_engine::internals::layout::LOCK_FILE;
pub use teamlog_engine::internals::storage::{Fault, Faulty};
use teamlog_engine::journal::{Journal, Journals, LogState};
pub use teamlog_engine::repair::salvage;
pub use teamlog_engine::storage::{Files, Memory, Storage};
pub use teamlog_engine::{
    Durability, Error, Format, Head, IdSource, Json, Log, LogOptions, NewEvent, SeededIds,
    Timestamp,
};
use teamlog_engine::{Event, Identity, JournalIdentity, ManualClock, NewLog, State, Writer};

/// Both formats. Every test runs in both.
pub const FORMATS: [Format; 2] = [Format::Jsonl, Format::Binary];

/// Returns the time at which the tests' clock starts: 2026-11-21T10:00:00Z.
pub fn start() -> Timestamp {
    Timestamp::parse("2026-11-21T10:00:00Z").unwrap()
}

pub fn dir() -> PathBuf {
    PathBuf::from("teams/demo")
}

/// Returns options with a fixed clock and seeded ids.
pub fn options() -> (Arc<ManualClock>, LogOptions) {
    let clock = Arc::new(ManualClock::new(start()));
    let options = given!(LogOptions, clock: clock.clone(), ids: Arc::new(SeededIds(42.into())),
        lock_deadline: Duration::from_millis(200));
    (clock, options)
}

pub fn create(storage: &Arc<dyn Storage>, format: Format, options: &LogOptions) -> Log {
    let new = given!(NewLog; name: "demo", format, origin: "init");
    Log::create(storage.clone(), &dir(), new, options.clone()).unwrap()
}

/// Creates a log whose groups a journal orders.
pub fn create_shared(storage: &Arc<dyn Storage>, format: Format, options: &LogOptions) -> Log {
    let identity = Identity {
        log: LogId::new(options.ids.as_ref()).unwrap(),
        name: "demo".into(),
        format,
        version: format.version(),
        created_at: start(),
        origin: "init".into(),
        journal: Some(JournalIdentity {
            kind: "memory".into(),
            id: "00000000-0000-4000-8000-000000000000".into(),
            segment_bytes_max: 2_000,
        }),
        refs: Default::default(),
    };
    Log::create_from(identity, storage.clone(), &dir(), options.clone()).unwrap()
}

/// Returns options with which every log uses clones of this journal.
pub fn through<J>(journal: J, options: &LogOptions) -> LogOptions
where
    J: Journal + Clone + Sync + 'static,
{
    let mut options = options.clone();
    options.journals = Some(Arc::new(Only(journal)));
    options
}

struct Only<J>(J);

impl<J> std::fmt::Debug for Only<J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Only")
    }
}

impl<J: Journal + Clone + Sync + 'static> Journals for Only<J> {
    fn open(&self, _: &JournalIdentity) -> Result<Box<dyn Journal>, Error> {
        Ok(Box::new(self.0.clone()))
    }
    fn enroll(&self, _: &Identity, _: LogState) -> Result<(), Error> {
        Ok(())
    }
}

pub fn open(storage: &Arc<dyn Storage>, options: &LogOptions) -> Log {
    Log::open(storage.clone(), &dir(), options.clone()).unwrap()
}

pub fn writer(log: &Log) -> Writer<()> {
    log.lock().unwrap().into_writer(())
}

/// Returns an event with `text`.
pub fn said(text: &str) -> NewEvent {
    let payload = Json::from_value(&serde_json::json!({ "text": text })).unwrap();
    NewEvent::new("note_said", "lead", payload).with_ref(undeclared::TRACE, "tr_1")
}

/// Returns the texts of all events of the log, in order.
pub fn texts(log: &Log) -> Vec<String> {
    events(log)
        .iter()
        .filter(|event| event.kind == "note_said")
        .map(|event| text(event))
        .collect()
}

pub fn text(event: &Event<'_>) -> String {
    let payload: serde_json::Value = serde_json::from_str(&event.payload).unwrap();
    payload["text"].as_str().unwrap_or_default().to_string()
}

pub fn events(log: &Log) -> Vec<Event<'static>> {
    log.reader()
        .unwrap()
        .events(None)
        .map(|event| event.unwrap().2)
        .collect()
}

/// Returns the file of the only (or first) segment.
pub fn segment(format: Format) -> PathBuf {
    Path::new("teams/demo/events").join(format!("2026-11-21.{}", format.extension()))
}

/// Returns options with small segments, so that there are several segments, and with other ids for each seed.
pub fn small(seed: u64) -> LogOptions {
    given!(LogOptions, segment_bytes_max: 2_000, ids: Arc::new(SeededIds(seed.into())),
        ..options().1)
}

/// Removes the witness, so that the acknowledged end of the log is unknown. No crash leaves such a state.
pub fn forget_witness(memory: &Memory) {
    memory.truncate(&dir().join(LOCK_FILE), 0).unwrap();
}

pub fn arc(memory: &Memory) -> Arc<dyn Storage> {
    Arc::new(memory.clone())
}

pub fn other(format: Format) -> Format {
    match format {
        Format::Jsonl => Format::Binary,
        Format::Binary => Format::Jsonl,
    }
}

/// Appends one event with `text`.
pub fn say<S: State>(writer: &Writer<S>, text: &str) -> AppendedGroup {
    let appended = writer.append(vec![said(text)], Durability::Synced);
    appended.unwrap().unwrap()
}

/// Creates a storage in a temporary directory.
pub fn files() -> (tempfile::TempDir, Arc<dyn Storage>) {
    let dir = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Files::open(dir.path()).unwrap());
    (dir, storage)
}

/// Creates a log in a temporary directory.
pub fn on_disk(format: Format) -> (tempfile::TempDir, Log) {
    let (dir, storage) = files();
    let log = create(&storage, format, &options().1);
    (dir, log)
}

/// Copies a directory of the real file system with its content.
pub fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy_dir(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// The refs of a log that declares no refs.
#[allow(dead_code, reason = "not every program of tests uses each")]
pub mod undeclared {
    use teamlog_engine::Ref;

    pub const TRACE: Ref = Ref::new(0);
    pub const TASK: Ref = Ref::new(1);
    pub const AGENT: Ref = Ref::new(2);
    pub const MESSAGE: Ref = Ref::new(3);
}

//! Tests of a team on two hosts. If the other host records first, the fold of this host's events is undone.

use crate::support::*;
use std::path::Path;
use std::sync::Arc;
use teamlog_engine::LogId;
use teamlog_engine::internals::journal::MemoryJournal;
use teamlog_engine::storage::Memory;
use teamlog_engine::{
    CommitError, Durability, Identity, JournalIdentity, Log, LogOptions, ManualClock, Reader,
    SeededIds, Writer,
};

/// Creates a team whose log is ordered by a journal.
fn create(memory: &Memory) {
    let identity = Identity {
        log: LogId([7; 16]),
        name: "demo".into(),
        format: Format::Jsonl,
        version: Format::Jsonl.version(),
        created_at: at(0),
        origin: "init".into(),
        journal: Some(JournalIdentity {
            kind: "memory".into(),
            id: "00000000-0000-4000-8000-000000000000".into(),
            segment_bytes_max: 1 << 20,
        }),
        refs: Default::default(),
    };
    let (storage, dir) = (Arc::new(memory.clone()), Path::new("teams/demo"));
    Log::create_from(identity, storage, dir, LogOptions::default()).unwrap();
}

/// Opens the team on a host that writes through the journal.
fn host(memory: &Memory, journal: &MemoryJournal, seed: u64) -> (Log, Writer<Live>) {
    let options = LogOptions {
        clock: Arc::new(ManualClock::new(at(0))),
        ids: Arc::new(SeededIds(seed.into())),
        journals: Some(Arc::new(journal.clone())),
        ..LogOptions::default()
    };
    let storage = Arc::new(memory.clone());
    let log = Log::open(storage, Path::new("teams/demo"), options).unwrap();
    let exclusive = log.lock().unwrap();
    let reader = exclusive.reader();
    let mut live = Live::load(&log, &reader).unwrap();
    live.keep_views(&reader).unwrap();
    (log, exclusive.into_writer(live))
}

fn records(writer: &Writer<Live>, text: &str) -> bool {
    let id = format!("m-{text}");
    let message = assign(&id, &format!("T-{text}"), "dev", 0, "{}");
    let event = message.sent().unwrap();
    match writer.commit(Durability::Synced, move |_: &Live, _| {
        Ok::<_, ()>(((), vec![event]))
    }) {
        Ok(_) => true,
        Err(CommitError::Conflict(_)) => false,
        Err(CommitError::Failed(error)) => panic!("{error}"),
        Err(CommitError::Refused(())) => unreachable!(),
    }
}

/// Compares the folded state with a fold of the whole log.
fn check(log: &Log, writer: &Writer<Live>) {
    writer.with_reader(|live: &mut Live, reader: &Reader| {
        let anew = Live::at(log, reader, u64::MAX).unwrap();
        assert_eq!(live.last_at(), anew.last_at());
        assert_eq!(live.digest().unwrap(), anew.digest().unwrap());
    });
}

#[test]
fn what_a_host_lost_is_taken_back_and_both_fold_the_same() {
    let memory = Memory::new();
    create(&memory);
    let journal = MemoryJournal::default();
    let other = memory.snapshot();
    let (first_log, first) = host(&memory, &journal, 1);
    let (other_log, second) = host(&other, &journal, 2);
    commit(&first, vec![created(&["lead", "dev", "qa"], true)]);
    let mut lost = 0;
    for round in 0..12 {
        let (one, two) = match round % 3 {
            0 => (&first, &second),
            _ => (&second, &first),
        };
        for (place, writer) in [one, two, two, one].into_iter().enumerate() {
            while !records(writer, &format!("{round}-{place}")) {
                lost += 1;
                check(&first_log, &first);
                check(&other_log, &second);
            }
        }
    }
    assert!(lost >= 12, "{lost}");
    // Each host records one more event, which makes it read the events of the other host.
    while !records(&second, "second") {}
    while !records(&first, "first") {}
    check(&first_log, &first);
    let state = first.close().unwrap();
    assert!(state.views_error().is_none());
    assert_eq!(
        Team::of(first_log).faults(),
        [],
        "its view files show what it holds"
    );
    let rows = state.tasks(&Default::default(), None, usize::MAX).unwrap();
    assert_eq!(rows.tasks.len(), 12 * 4 + 2);
}

//! Tests of a log whose files were reset to an older state, except the lock file. Writers refuse the log, readers report the
//! rollback, nothing is changed, and an operator may accept the rollback. States after crashes and older programs are no
//! rollback.

use crate::support::*;
use teamlog_engine::internals::layout::{EVENTS_DIR, HEAD_FILE, LOCK_FILE, LOG_FILE, ROLLED_BACK};
use teamlog_engine::storage::OpenMode;
use teamlog_engine::verify::ProblemKind;
use teamlog_engine::{AcceptedRollback, LostEvent};
use teamlog_engine::{Rollback, internals::Witness};

/// Returns the files that version control would keep: all files of the log except the lock file.
fn kept(storage: &Arc<dyn Storage>) -> Vec<(PathBuf, Vec<u8>)> {
    let events = dir().join(EVENTS_DIR);
    let segments = storage.list(&events).unwrap();
    let segments = segments.iter().map(|name| events.join(name));
    let others = [HEAD_FILE, LOG_FILE].map(|name| dir().join(name));
    let read = |path: PathBuf| (path.clone(), storage.read(&path, 1 << 20).unwrap());
    segments.chain(others).map(read).collect()
}

/// Restores the files, and removes later segments.
fn put_back(storage: &Arc<dyn Storage>, files: &[(PathBuf, Vec<u8>)]) {
    let events = dir().join(EVENTS_DIR);
    for name in storage.list(&events).unwrap() {
        storage.remove_file(&events.join(name)).unwrap();
    }
    for (path, bytes) in files {
        storage.replace(path, bytes, false).unwrap();
    }
}

/// Creates a log of three events that was rolled back to its first event.
fn rolled_back(format: Format) -> Arc<dyn Storage> {
    let storage = arc(&Memory::new());
    let log = create(&storage, format, &options().1);
    let writer = writer(&log);
    say(&writer, "one");
    writer.release().unwrap();
    let old = kept(&storage);
    let writer = crate::support::writer(&log);
    say(&writer, "two");
    say(&writer, "three");
    writer.release().unwrap();
    put_back(&storage, &old);
    storage
}

/// Returns the rollback in an error.
fn told<T>(answer: Result<T, Error>, what: &str) -> Rollback {
    match answer.err() {
        Some(Error::RolledBack { rollback, .. }) => rollback,
        other => panic!("{what}: {other:?}"),
    }
}

fn lock_file() -> PathBuf {
    dir().join(LOCK_FILE)
}

#[test]
fn a_shorter_log_is_refused_to_writers_and_told_to_readers() {
    for format in FORMATS {
        let storage = rolled_back(format);
        let log = open(&storage, &options().1);
        let before = kept(&storage);
        for _ in 0..2 {
            let rollback = told(log.lock(), "lock");
            assert_eq!((rollback.known_seq, rollback.last_seq), (3, 1));
            assert!(rollback.known_id.is_some());
        }
        for reader in [log.reader().unwrap(), log.peek().unwrap()] {
            assert_eq!(reader.head().last_seq, 1);
            assert_eq!(reader.rollback().map(|one| one.known_seq), Some(3));
            let notes = reader.notes().join("\n");
            assert!(notes.contains("event 3 was acknowledged"), "{notes}");
        }
        let report = log.verify(None).unwrap();
        let kinds: Vec<ProblemKind> = report.problems.iter().map(|one| one.kind).collect();
        assert_eq!((report.ok, kinds), (false, vec![ProblemKind::RolledBack]));
        let salvaged =
            teamlog_engine::repair::salvage(&storage, &dir(), &options().1, "lead", &mut |_| {
                Ok(Vec::new())
            });
        told(salvaged, "salvage");
        assert_eq!(kept(&storage), before, "nothing is changed");
    }
}

#[test]
fn a_log_that_grew_again_by_a_program_without_witness_is_refused() {
    for format in FORMATS {
        let storage = rolled_back(format);
        let witness = storage.read(&lock_file(), 1 << 10).unwrap();
        // An older program writes no witness.
        storage.replace(&lock_file(), b"", false).unwrap();
        let log = open(&storage, &options().1);
        let writer = writer(&log);
        for text in ["other", "history", "and", "longer"] {
            say(&writer, text);
        }
        writer.release().unwrap();
        storage.replace(&lock_file(), &witness, false).unwrap();
        let rollback = told(log.lock(), "lock");
        assert_eq!((rollback.known_seq, rollback.last_seq), (3, 5));
        assert!(!log.verify(None).unwrap().ok);
    }
}

#[test]
fn an_accepted_rollback_is_recorded_and_the_log_goes_on() {
    for format in FORMATS {
        let storage = rolled_back(format);
        let log = open(&storage, &options().1);
        let found = log.lock_rolled_back().unwrap();
        let rollback = found.rollback().unwrap().unwrap();
        let accepted = AcceptedRollback {
            known_seq: rollback.known_seq,
            known_id: rollback.known_id,
            last_seq: rollback.last_seq,
            witness: rollback.witness,
            lost: vec![LostEvent {
                seq: 3,
                ..LostEvent::default()
            }],
            lost_omitted: 0,
        };
        drop(found.accept("lead", &accepted).unwrap());
        let event = events(&log).pop().unwrap();
        assert_eq!((event.seq, &*event.kind), (2, ROLLED_BACK));
        let recorded: AcceptedRollback = serde_json::from_str(&event.payload).unwrap();
        assert_eq!(recorded, accepted);
        let writer = writer(&log);
        say(&writer, "after");
        writer.release().unwrap();
        assert!(log.reader().unwrap().rollback().is_none());
        assert!(log.verify(None).unwrap().ok);
        // A second rollback is detected, too.
        let known = Witness::read(&*storage, &dir()).unwrap();
        assert_eq!(known.seq, 3);
    }
}

#[test]
fn a_killed_acceptance_is_asked_for_again_and_power_loss_brings_no_old_witness_back() {
    for format in FORMATS {
        let begin = || {
            let memory = Memory::new();
            let storage = arc(&memory);
            let old = rolled_back(format);
            storage.create_dir_all(&dir().join(EVENTS_DIR)).unwrap();
            for (path, bytes) in kept(&old) {
                storage.replace(&path, &bytes, true).unwrap();
            }
            let witness = old.read(&lock_file(), 1 << 10).unwrap();
            storage.replace(&lock_file(), &witness, true).unwrap();
            for above in [dir(), dir().parent().unwrap().into(), PathBuf::new()] {
                storage.sync_dir(&above).unwrap();
            }
            memory
        };
        let accept = |storage: &Arc<dyn Storage>| {
            let log = Log::open(storage.clone(), &dir(), options().1)?;
            let found = log.lock_rolled_back()?;
            let known_seq = found.rollback()?.map_or(0, |found| found.known_seq);
            let accepted = AcceptedRollback {
                known_seq,
                ..AcceptedRollback::default()
            };
            found.accept("lead", &accepted).map(drop)
        };
        let whole = at_every_call(&begin(), Fault::Stop, accept, |stopped| {
            for (how, after) in stopped.crashes(6) {
                let storage = arc(&after);
                let log = open(&storage, &options().1);
                match log.lock() {
                    Ok(_) => {
                        let last = events(&log).pop().unwrap();
                        assert_eq!(last.kind, ROLLED_BACK, "{how}");
                    }
                    Err(error) => {
                        told::<()>(Err(error), &how);
                        accept(&storage).unwrap();
                        log.lock().unwrap();
                    }
                }
            }
        });
        whole.unwrap();
    }
}

#[test]
fn a_missing_or_damaged_witness_is_unknown_and_written_by_the_next_append() {
    for format in FORMATS {
        let storage = rolled_back(format);
        let mut damaged = storage.read(&lock_file(), 1 << 10).unwrap();
        damaged[30] ^= 1;
        for bytes in [damaged.as_slice(), b"", b"pid 7", &[0; 52]] {
            storage.replace(&lock_file(), bytes, false).unwrap();
            let log = open(&storage, &options().1);
            assert_eq!(Witness::read(&*storage, &dir()), None);
            assert!(!log.reader().unwrap().is_end_known());
            let writer = writer(&log);
            say(&writer, "more");
            writer.release().unwrap();
            let witness = Witness::read(&*storage, &dir()).unwrap();
            let head = log.reader().unwrap().head().clone();
            assert_eq!(
                (witness.seq, Some(witness.id)),
                (head.last_seq, head.last_id)
            );
        }
    }
}

#[test]
fn repair_and_conversion_replace_the_witness() {
    for format in FORMATS {
        let storage = arc(&Memory::new());
        let log = create(&storage, format, &options().1);
        let writer = writer(&log);
        for text in ["one", "two", "three"] {
            say(&writer, text);
        }
        writer.release().unwrap();
        let (_, exclusive) = log.cut(1, "lead").unwrap();
        assert_eq!(exclusive.head().last_seq, 2);
        drop(exclusive);
        let cut: serde_json::Value = serde_json::from_str(&events(&log)[1].payload).unwrap();
        assert_eq!(cut["known_seq"], 3, "what later claims are fenced by");
        assert!(log.reader().unwrap().rollback().is_none());
        let other = match format {
            Format::Jsonl => Format::Binary,
            Format::Binary => Format::Jsonl,
        };
        log.convert(other).unwrap().unwrap();
        let log = open(&storage, &options().1);
        let witness = Witness::read(&*storage, &dir()).unwrap();
        assert_eq!((witness.log, witness.seq), (log.identity().log, 3));
        drop(log.lock().unwrap());
        assert!(log.verify(None).unwrap().ok);
    }
}

#[test]
fn a_writer_that_stays_notices_before_its_next_group() {
    for format in FORMATS {
        let storage = arc(&Memory::new());
        let log = create(&storage, format, &options().1);
        let staying = writer(&log);
        say(&staying, "one");
        let old = kept(&storage);
        say(&staying, "two");
        staying.check_end().unwrap();
        put_back(&storage, &old);
        told(staying.check_end(), "a look");
        told(
            staying.append(vec![said("three")], Durability::Synced),
            "an append",
        );
        drop(staying);
        told(log.lock(), "the next writer");
    }
}

#[test]
fn an_older_head_is_noticed_though_the_segment_is_a_later_one() {
    let (clock, options) = options();
    let storage = arc(&Memory::new());
    let log = create(&storage, Format::Jsonl, &options);
    let staying = writer(&log);
    say(&staying, "one");
    let old = kept(&storage);
    clock.advance(86_400_000_000);
    say(&staying, "two");
    for (path, bytes) in &old {
        storage.replace(path, bytes, false).unwrap();
    }
    told(
        staying.append(vec![said("three")], Durability::Synced),
        "an append",
    );
}

#[test]
fn readers_beside_a_writer_raise_no_alarm() {
    for format in FORMATS {
        let storage = arc(&Memory::new());
        let log = create(&storage, format, &options().1);
        let writer = writer(&log);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let mut last = 0;
                while last < 300 {
                    let reader = log.reader().unwrap();
                    assert_eq!(reader.rollback(), None);
                    assert_eq!(log.peek().unwrap().rollback(), None);
                    last = reader.head().last_seq;
                }
            });
            for _ in 0..300 {
                say(&writer, "more");
            }
            reading.join().unwrap();
        });
        writer.close().unwrap();
    }
}

/// If a log is removed, its lock file does not apply to a new log in the same directory.
#[test]
fn a_new_log_begins_without_witness() {
    let storage = rolled_back(Format::Jsonl);
    storage.remove_file(&dir().join(LOG_FILE)).unwrap();
    storage.remove_dir_all(&dir().join(EVENTS_DIR)).unwrap();
    storage.remove_file(&dir().join(HEAD_FILE)).unwrap();
    assert!(storage.open(&lock_file(), OpenMode::Read).is_ok());
    let log = create(&storage, Format::Jsonl, &options().1);
    assert_eq!(Witness::read(&*storage, &dir()), None);
    drop(log.lock().unwrap());
}

//! Tests of a replica that is written without syncs. After a power loss the lost part is fetched from the journal. After a failed
//! sync the bytes are written again.

use super::*;
use teamlog_engine::internals::UNSYNCED_BYTES_MAX;

/// Creates two hosts with five events. If unsynced replica writes are allowed, the first host did not sync the last four events.
fn written(format: Format) -> Hosts {
    let hosts = Hosts::new(format, Compares::Position);
    let writer = hosts.writer(0);
    for text in ["a", "b", "c", "d", "e"] {
        say(&writer, text);
    }
    writer.release().unwrap();
    hosts.says(1, &[]);
    hosts
}

#[test]
fn what_a_power_loss_takes_is_fetched_again() {
    let mut lost = 0;
    for format in FORMATS {
        for seed in 0..40 {
            let mut hosts = written(format);
            let choices = SeededIds(seed.into());
            let choose = &mut |n: usize| usize::try_from(choices.random() % n as u64).unwrap();
            hosts.hosts[0] = match seed {
                0 => hosts.hosts[0].lose_unsynced(),
                _ => hosts.hosts[0].crash(choose),
            };
            if seed % 2 == 0 {
                let cursor = dir().join(JOURNAL_FILE);
                let _ = hosts.hosts[0].remove_file(&cursor);
            }
            let read = texts(&hosts.log(0));
            assert_eq!(read, ["a", "b", "c", "d", "e"][..read.len()]);
            lost += 5 - read.len();
            hosts.says(0, &[]);
            assert_eq!(texts(&hosts.log(0)), ["a", "b", "c", "d", "e"]);
            assert_eq!(hosts.segments(0), hosts.segments(1));
            assert!(hosts.log(0).verify(None).unwrap().ok);
        }
    }
    assert!(lost > 20, "{lost}");
}

#[test]
fn a_journal_that_lost_what_a_power_loss_took_is_refused() {
    for format in FORMATS {
        let mut hosts = written(format);
        let log = hosts.log(0).identity().log;
        let groups = hosts.journal.groups(log);
        hosts.put_back();
        // The head reached the disk, but its bytes did not.
        let (path, bytes) = hosts.segments(0).pop_first().unwrap();
        let first = groups[0].bytes.len() + SegmentHeader::decode(format, &bytes).unwrap().1;
        let path = dir().join(EVENTS_DIR).join(path);
        forge::write(&hosts.hosts[0], &path, &bytes[..first]);
        for _ in 0..2 {
            assert_eq!(texts(&hosts.log(0)), ["a"]);
            assert_eq!(fault(hosts.lock(0)), Some(JournalFault::Behind));
            // The second power loss does not remove `owed`.
            hosts.hosts[0] = hosts.hosts[0].lose_unsynced();
        }
        for (before, group) in groups.iter().zip(&groups[1..]) {
            let append = Append {
                log,
                after: before.position,
                position: group.position,
                last_id: events(&hosts.log(1))[0].id,
                bytes: &group.bytes,
                begins: &[],
            };
            let outcome = hosts.journal.append(&[append], LogState::Open);
            assert_eq!(outcome, [Outcome::Appended]);
        }
        hosts.says(0, &["f"]);
        assert_eq!(texts(&hosts.log(0)), ["a", "b", "c", "d", "e", "f"]);
    }
}

#[test]
fn what_a_failed_sync_leaves_in_doubt_is_written_again() {
    let mut failed = 0;
    for format in FORMATS {
        for call in 0..12 {
            let hosts = Hosts::new(format, Compares::Position);
            let faulty = Faulty::new(arc(&hosts.hosts[0]));
            let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
            let options = through(hosts.journal.clone(), &small(0));
            let writer = writer(&open(&storage, &options));
            for text in ["a", "b", "c"] {
                say(&writer, text);
            }
            let at = faulty.count() + call;
            faulty.arm(at, Fault::Os(5));
            let closed = writer.close();
            if !faulty
                .calls()
                .get(at)
                .is_some_and(|call| is_of_segment(&call))
            {
                continue;
            }
            assert!(closed.is_err_and(|error| error.is_sync_error()));
            failed += 1;
            // The operating system treats the bytes as written, although their write failed.
            hosts.hosts[0]
                .forget_unsynced(&faulty.calls()[at].1)
                .unwrap();
            assert_eq!(texts(&hosts.log(0)), ["a", "b", "c"]);
            hosts.writer(0).close().unwrap();
            let after = hosts.hosts[0].keep_unsynced();
            assert_eq!(
                texts(&open(&arc(&after), &small(0))),
                ["a", "b", "c"],
                "it is durable now"
            );
        }
    }
    assert_eq!(failed, FORMATS.len());
}

/// Returns true if a call is the sync of a segment.
fn is_of_segment((name, path): &&(&'static str, PathBuf)) -> bool {
    *name == "sync_data" && path.parent() == Some(&dir().join(EVENTS_DIR))
}

#[test]
fn a_bounded_part_of_a_segment_waits_for_its_sync() {
    for format in FORMATS {
        let (log, memory) = large(format);
        let faulty = Faulty::new(arc(&memory));
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let writer = writer(&open(&storage, log.options()));
        for _ in 0..150 {
            say(&writer, &"x".repeat(1_000));
        }
        writer.release().unwrap();
        let calls = faulty.calls();
        let syncs = calls.iter().filter(is_of_segment).count();
        assert!((2..=5).contains(&syncs), "{syncs} syncs of 150 groups");
        let end = log.reader().unwrap().head().end;
        let left = open(&arc(&memory.lose_unsynced()), log.options());
        let lost = end - left.reader().unwrap().head().end;
        assert!(
            lost > 0 && lost <= UNSYNCED_BYTES_MAX,
            "{lost} of {end} bytes were lost"
        );
        drop(left.lock().unwrap());
        assert_eq!(texts(&left).len(), 150);
    }
}

/// Creates a log with segments of the default size.
fn large(format: Format) -> (Log, Memory) {
    let memory = Memory::new();
    let small = create_shared(&arc(&Memory::new()), format, &options().1);
    let mut identity = small.identity().clone();
    if let Some(journal) = &mut identity.journal {
        journal.segment_bytes_max = 64 << 20;
    }
    let options = through(MemoryJournal::default(), &options().1);
    let log = Log::create_from(identity, arc(&memory), &dir(), options).unwrap();
    (log, memory)
}

#[test]
fn a_process_that_is_killed_behind_a_failed_sync_leaves_nothing_that_a_later_one_takes_for_synced()
{
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        let faulty = Faulty::new(arc(&hosts.hosts[0]));
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let first = writer(&open(&storage, &through(hosts.journal.clone(), &small(0))));
        for text in ["a", "b", "c"] {
            say(&first, text);
        }
        let at = faulty.count();
        faulty.arm(at, Fault::Os(5));
        faulty.arm(at + 1, Fault::Stop);
        assert!(first.close().is_err());
        let path = faulty.calls()[at].1.clone();
        hosts.hosts[0].forget_unsynced(&path).unwrap();
        hosts.says(0, &["d"]);
        let after = open(&arc(&hosts.hosts[0].keep_unsynced()), &small(1));
        assert_eq!(texts(&after), ["a", "b", "c", "d"]);
    }
}

#[test]
fn a_sync_that_fails_while_a_log_is_opened_is_made_up_for() {
    let mut failed = 0;
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        let first = hosts.writer(0);
        for text in ["a", "b", "c", "d", "e"] {
            say(&first, text);
        }
        drop(first);
        let _ = hosts.hosts[0].remove_file(&dir().join(JOURNAL_FILE));
        for call in 0..80 {
            let memory = hosts.hosts[0].snapshot();
            let faulty = Faulty::new(arc(&memory));
            faulty.arm(call, Fault::Os(5));
            let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
            let options = through(hosts.journal.clone(), &small(0));
            let locked = Log::open(storage, &dir(), options.clone()).and_then(|log| log.lock());
            let calls = faulty.calls();
            let Some((_, path)) = calls.get(call).filter(is_of_segment) else {
                continue;
            };
            assert!(locked.is_err_and(|error| error.is_sync_error()));
            failed += 1;
            memory.forget_unsynced(path).unwrap();
            writer(&open(&arc(&memory), &options)).close().unwrap();
            let log = open(&arc(&memory.keep_unsynced()), &options);
            assert_eq!(texts(&log), ["a", "b", "c", "d", "e"]);
        }
    }
    assert!(failed > 0);
}

/// Creates hosts after a power loss. The first host's head is on the disk, but of its groups only the first group is; the other
/// groups are missing or incomplete.
fn broken(format: Format, is_missing: bool) -> Hosts {
    let hosts = written(format);
    let groups = hosts.journal.groups(hosts.log(0).identity().log);
    let (path, mut bytes) = hosts.segments(0).pop_first().unwrap();
    let first = groups[0].bytes.len() + SegmentHeader::decode(format, &bytes).unwrap().1;
    match is_missing {
        true => bytes.truncate(first),
        false => bytes[first..first + 40].fill(0),
    }
    let path = dir().join(EVENTS_DIR).join(path);
    forge::write(&hosts.hosts[0], &path, &bytes);
    hosts
}

/// Returns the texts that a reader sees.
fn read(log: &Log) -> Result<Vec<String>, Error> {
    let reader = log.reader()?;
    let events = reader.events(None).map(|event| Ok(text(&event?.2)));
    events.collect()
}

#[test]
fn what_is_there_is_read_whoever_else_recovers_and_whatever_cannot_be_written() {
    for (format, is_missing) in [(0, false), (0, true), (1, false), (1, true)] {
        let format = FORMATS[format];
        let hosts = broken(format, is_missing);
        let only = |storage: &Arc<dyn Storage>| -> Result<(), Error> {
            let log = Log::open(storage.clone(), &dir(), small(0))?;
            assert_eq!(read(&log)?, ["a"]);
            Ok(())
        };
        let _ = at_every_call(&hosts.hosts[0], Fault::Os(28), only, |failed| {
            let is_written = ["write_at", "set_len", "sync_data", "sync_all", "sync_dir"];
            if is_written.contains(&failed.name) || ["create_dir", "rename"].contains(&failed.name)
            {
                failed.done.unwrap();
            }
        });
        let storage = arc(&hosts.hosts[0]);
        let held = storage.lock(&dir().join("lock"), Duration::ZERO);
        let held = held.ok().unwrap();
        assert_eq!(read(&hosts.log(0)).unwrap(), ["a"]);
        let peeked = hosts.log(0).peek().unwrap();
        assert_eq!(peeked.events(None).filter(Result::is_ok).count(), 1);
        assert!(!peeked.notes().is_empty());
        let report = hosts.log(0).verify(None).unwrap();
        assert!(
            report.ok && report.problems[0].kind == "unsynced_tail",
            "{report:?}"
        );
        drop(held);
        // Another process is stopped at each call of its recovery.
        for call in 0..60 {
            let memory = hosts.hosts[0].snapshot();
            let faulty = Faulty::new(arc(&memory));
            let other = open(&arc(&memory), &small(1));
            faulty.meanwhile(call, move || drop(other.reader().unwrap()));
            let storage: Arc<dyn Storage> = Arc::new(faulty);
            only(&storage).unwrap();
        }
        hosts.says(0, &[]);
        assert_eq!(hosts.segments(0), hosts.segments(1));
    }
}

#[test]
fn another_event_in_the_place_of_one_that_a_power_loss_took_is_another_history() {
    for format in FORMATS {
        let mut hosts = broken(format, true);
        assert_eq!(read(&hosts.log(0)).unwrap(), ["a"]);
        hosts.put_back();
        let fresh = Memory::new();
        create_shared(&arc(&fresh), format, &options().1);
        hosts.hosts[1] = fresh;
        assert_eq!(fault(hosts.lock(0)), Some(JournalFault::Behind));
        hosts.says(1, &["other b", "other c", "other d", "other e"]);
        for _ in 0..2 {
            assert_eq!(fault(hosts.lock(0)), Some(JournalFault::Forked));
        }
    }
}

#[test]
fn what_is_owed_outlives_every_later_power_loss() {
    for format in FORMATS {
        let hosts = broken(format, true);
        assert_eq!(read(&hosts.log(0)).unwrap(), ["a"]);
        hosts.put_back();
        let slow = Answering {
            journal: hosts.journal.clone(),
            term: Term::default(),
            takes: Duration::from_millis(120),
        };
        let slow = hosts.through(0, slow);
        assert_eq!(fault(slow.lock()), Some(JournalFault::Behind));
        for seed in 0..20 {
            let choices = SeededIds((seed as u64).into());
            let choose = &mut |n: usize| (choices.random() % n as u64) as usize;
            let memory = hosts.hosts[0].crash(choose);
            let log = open(&arc(&memory), &through(hosts.journal.clone(), &small(0)));
            assert_eq!(fault(log.lock()), Some(JournalFault::Behind), "{seed}");
        }
    }
}

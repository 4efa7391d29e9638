//! A replica is written without waiting for the disk: what a power loss takes is fetched from the journal again, and what a
//! failed sync leaves in doubt is written again.

use super::*;
use teamlog_engine::limits::UNSYNCED_BYTES_MAX;

/// Two hosts that have five events. The first one's command ended without a sync of the last four, if that may be.
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
        // The head reached the disk, and what it stands for did not.
        let (path, bytes) = hosts.segments(0).pop_first().unwrap();
        let first = groups[0].bytes.len() + SegmentHeader::decode(format, &bytes).unwrap().1;
        let path = dir().join(EVENTS_DIR).join(path);
        forge::write(&hosts.hosts[0], &path, &bytes[..first]);
        for _ in 0..2 {
            assert_eq!(texts(&hosts.log(0)), ["a"]);
            assert_eq!(fault(hosts.lock(0)), Some(JournalFault::Behind));
            // Nothing of what says so is lost by another one.
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
            assert!(closed.is_err_and(|error| error.is_of_sync()));
            failed += 1;
            let exclusive = hosts.lock(0).unwrap();
            assert_eq!(
                exclusive.recovered(),
                ["adopted events 2 to 3 that stood complete behind the durable head"]
            );
            drop(exclusive);
            let after = hosts.hosts[0].lose_unsynced();
            assert_eq!(
                texts(&open(&arc(&after), &small(0))),
                ["a", "b", "c"],
                "it is durable now"
            );
        }
    }
    assert_eq!(failed, FORMATS.len());
}

/// Whether a call is the sync of a segment.
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

/// A log whose segments are of the usual size.
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

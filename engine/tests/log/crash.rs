//! Power loss and death at every call to the storage: what was acknowledged is there, what is there was attempted,
//! appends are whole or absent, and the log goes on.

mod again;

use crate::support::*;
use std::collections::HashSet;
use teamlog_engine::layout::{QUARANTINE_DIR, QUARANTINED};
use teamlog_engine::recovery::Quarantined;

/// What a history did before it stopped.
#[derive(Default, Debug)]
struct Outcome {
    /// Texts of appends in the order of their attempt; each inner list is one append.
    attempted: Vec<Vec<String>>,
    /// How many of them were acknowledged as durable.
    acked: usize,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// One synced append of so many events of about so many bytes.
    Append(usize, usize),
    /// One buffered append.
    Buffer(usize),
    Sync,
    /// The next day begins.
    NextDay,
    /// Closes (`true`) or drops the writer, and opens the log again.
    Reopen(bool),
}

/// Small segments, so that rotation happens within a day too.
fn small(options: &LogOptions) -> LogOptions {
    given!(LogOptions, segment_bytes_max: 4_000, ..options.clone())
}

/// Runs the steps until the storage fails.
fn run(storage: &Arc<dyn Storage>, steps: &[Step]) -> Outcome {
    let mut outcome = Outcome::default();
    let (clock, options) = options();
    let options = small(&options);
    let Ok(log) = Log::open(storage.clone(), &dir(), options) else {
        return outcome;
    };
    let Ok(lock) = log.lock() else { return outcome };
    let mut writer = lock.into_writer(());
    for step in steps {
        let attempt = outcome.attempted.len();
        let texts = |events: usize, bytes: usize| -> Vec<String> {
            (0..events)
                .map(|event| format!("{attempt}.{event}.{}", "x".repeat(bytes)))
                .collect()
        };
        match *step {
            Step::NextDay => clock.advance(86_400_000_000),
            Step::Sync => match writer.sync() {
                Ok(()) => outcome.acked = outcome.attempted.len(),
                Err(_) => return outcome,
            },
            Step::Append(events, bytes) => {
                outcome.attempted.push(texts(events, bytes));
                let new = texts(events, bytes).iter().map(|text| said(text)).collect();
                match writer.append(new, Durability::Synced) {
                    Ok(_) => outcome.acked = outcome.attempted.len(),
                    Err(_) => return outcome,
                }
            }
            Step::Buffer(events) => {
                outcome.attempted.push(texts(events, 10));
                let new = texts(events, 10).iter().map(|text| said(text)).collect();
                if writer.append(new, Durability::Buffered).is_err() {
                    return outcome;
                }
            }
            Step::Reopen(close) => {
                if close {
                    if writer.close().is_err() {
                        return outcome;
                    }
                    outcome.acked = outcome.attempted.len();
                } else {
                    // Buffered events die with a writer that is not closed: they were never acknowledged as durable.
                    if writer.sync().is_err() {
                        return outcome;
                    }
                    outcome.acked = outcome.attempted.len();
                    drop(writer);
                }
                let Ok(lock) = log.lock() else { return outcome };
                writer = lock.into_writer(());
            }
        }
    }
    outcome
}

/// Holds the log against what was attempted and acknowledged; then appends once more.
fn check(memory: &Arc<dyn Storage>, outcome: &Outcome, what: &str) {
    let (_, options) = options();
    let log = Log::open(memory.clone(), &dir(), small(&options))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let lock = log.lock().unwrap_or_else(|error| panic!("{what}: {error}"));
    let found = texts(&log);
    let mut rest = found.as_slice();
    let mut whole = 0;
    for append in &outcome.attempted {
        match rest.strip_prefix(append.as_slice()) {
            Some(behind) => (rest, whole) = (behind, whole + 1),
            None => break,
        }
    }
    assert!(
        rest.is_empty(),
        "{what}: phantom or half an append: {} events left over of {outcome:?}",
        rest.len()
    );
    assert!(
        whole >= outcome.acked,
        "{what}: {} acknowledged, {whole} found",
        outcome.acked
    );
    every_quarantine_file_is_named(memory, &log, what);
    let writer = lock.into_writer(());
    writer
        .append(vec![said("after")], Durability::Synced)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    drop(writer);
    assert_eq!(
        texts(&log).last().map(String::as_str),
        Some("after"),
        "{what}"
    );
    let report = log.verify(None).unwrap();
    assert!(report.ok, "{what}: {report:?}");
}

/// And every file that an event names is there, as the event says.
fn every_quarantine_file_is_named(storage: &Arc<dyn Storage>, log: &Log, what: &str) {
    let place = dir().join(QUARANTINE_DIR);
    let mut named = HashSet::new();
    for event in events(log).iter().filter(|event| event.kind == QUARANTINED) {
        let said: Quarantined = serde_json::from_str(&event.payload).unwrap();
        let bytes = storage.read(&place.join(&said.file), 1 << 20);
        let bytes = bytes.unwrap_or_else(|error| panic!("{what}: {}: {error}", said.file));
        let digest = blake3::hash(&bytes).to_hex().to_string();
        let found = (bytes.len() as u64, digest);
        assert_eq!(found, (said.length, said.blake3), "{what}: {}", said.file);
        named.insert(said.file);
    }
    let files = storage.list(&place).unwrap_or_default();
    for file in files.iter().filter(|file| !file.ends_with(".tmp")) {
        assert!(named.contains(file), "{what}: {file} is named by no event");
    }
}

fn fresh(format: Format) -> Memory {
    let memory = Memory::new();
    let storage: Arc<dyn Storage> = Arc::new(memory.clone());
    create(&storage, format, &options().1);
    memory
}

/// Crashes `memory` in the two extreme ways and some random ones.
fn crashes(memory: &Memory, seed: u64, random: usize) -> Vec<(String, Memory)> {
    let mut found = vec![
        ("all lost".into(), memory.lose_unsynced()),
        ("all kept".into(), memory.keep_unsynced()),
    ];
    // The process died, the machine did not.
    found.push(("killed".into(), memory.snapshot()));
    for round in 0..random {
        let bits = SeededIds(AtomicU64::new(seed.wrapping_mul(1_000_003) + round as u64));
        found.push((
            format!("random {round}"),
            memory.crash(&mut |n| (bits.random() % n as u64) as usize),
        ));
    }
    found
}

const HISTORY: [Step; 14] = [
    Step::Append(1, 10),
    Step::Append(3, 600),
    Step::Buffer(2),
    Step::Append(1, 10),
    Step::Append(2, 900),
    Step::Reopen(false),
    Step::Append(1, 700),
    Step::NextDay,
    Step::Buffer(1),
    Step::Sync,
    Step::Append(4, 300),
    Step::Reopen(true),
    Step::Buffer(3),
    Step::Reopen(true),
];

#[test]
fn death_and_power_loss_at_every_call() {
    for format in FORMATS {
        let mut states = 0;
        for call in 0.. {
            let memory = fresh(format);
            let faulty = Faulty::new(arc(&memory));
            faulty.arm(call, Fault::Stop);
            let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
            let outcome = run(&storage, &HISTORY);
            if faulty.count() <= call {
                assert_eq!(outcome.acked, outcome.attempted.len());
                break;
            }
            for (how, after) in crashes(&memory, call as u64, 12) {
                check(
                    &arc(&after),
                    &outcome,
                    &format!(
                        "{format:?}, stopped at call {call} ({:?}), {how}",
                        faulty.calls().last()
                    ),
                );
                states += 1;
            }
        }
        assert!(states > 1_000, "{states}");
    }
}

#[test]
fn an_error_at_every_call_is_never_a_wrong_acknowledgement() {
    let faults = [
        Fault::Error(std::io::ErrorKind::StorageFull),
        Fault::Os(5),
        Fault::ShortWrite,
        Fault::ShortRead,
        Fault::PartialWrite,
    ];
    for format in FORMATS {
        for fault in faults {
            for call in 0.. {
                let memory = fresh(format);
                let faulty = Faulty::new(arc(&memory));
                faulty.arm(call, fault);
                let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
                let outcome = run(&storage, &HISTORY);
                if faulty.count() <= call {
                    break;
                }
                // A failed sync also loses what it should have made durable, whatever the page cache shows.
                if let Some((_, path)) = faulty
                    .calls()
                    .get(call)
                    .filter(|(name, _)| name.starts_with("sync_") && *name != "sync_dir")
                {
                    let _ = memory.forget_unsynced(path);
                }
                for (how, after) in crashes(&memory, call as u64, 2) {
                    let what = format!(
                        "{format:?}, {fault:?} at call {call} ({:?}), {how}",
                        faulty.calls().get(call)
                    );
                    check(&arc(&after), &outcome, &what);
                }
            }
        }
    }
}

#[test]
fn death_at_every_call_of_a_recovery() {
    for format in FORMATS {
        let mut recoveries = 0;
        for call in (0..400).step_by(3) {
            let memory = fresh(format);
            let faulty = Faulty::new(arc(&memory));
            faulty.arm(call, Fault::Stop);
            let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
            let outcome = run(&storage, &HISTORY);
            if faulty.count() <= call {
                break;
            }
            for (how, crashed) in crashes(&memory, call as u64, 3) {
                for inner in 0.. {
                    let again = crashed.snapshot();
                    let faulty = Faulty::new(arc(&again));
                    faulty.arm(inner, Fault::Stop);
                    let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
                    let log = Log::open(storage, &dir(), small(&options().1));
                    let opened = log.and_then(|log| log.lock().map(drop));
                    if opened.is_ok() && faulty.count() <= inner {
                        break;
                    }
                    for (then, after) in crashes(&again, inner as u64, 1) {
                        let what = format!(
                            "{format:?}, call {call}, {how}, recovery call {inner} ({:?}), {then}",
                            faulty.calls().last()
                        );
                        check(&arc(&after), &outcome, &what);
                        recoveries += 1;
                    }
                }
            }
        }
        assert!(recoveries > 1_000, "{recoveries}");
    }
}

#[test]
fn any_subset_of_the_sectors_of_an_unacknowledged_group() {
    for format in FORMATS {
        let memory = fresh(format);
        let before = [Step::Append(1, 300)];
        let outcome = run(&arc(&memory), &before);
        assert_eq!(outcome.acked, 1);
        // Seven sectors, stopped right before the sync: every subset of them may have landed.
        let faulty = Faulty::new(arc(&memory));
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let log = open(&storage, &options().1);
        let writer = log.lock().unwrap().into_writer(());
        // Four looks at the lock and the segment come first, then the write.
        faulty.arm(faulty.count() + 4, Fault::Stop);
        let torn: Vec<String> = (0..5)
            .map(|n| format!("torn {n} {}", "y".repeat(380)))
            .collect();
        let error = writer.append(
            torn.iter().map(|text| said(text)).collect(),
            Durability::Synced,
        );
        assert!(error.is_err());
        assert_eq!(
            faulty.calls().last().map(|(name, _)| *name),
            Some("sync_data")
        );
        drop(writer);
        let attempted = vec![outcome.attempted[0].clone(), torn];
        let outcome = given!(Outcome; attempted, acked: 1);
        let (mut states, mut kept) = (0, 0);
        for after in memory.crashes() {
            let log = open(&arc(&after), &options().1);
            drop(log.lock().unwrap());
            kept += u64::from(texts(&log).len() > 1);
            check(
                &arc(&after),
                &outcome,
                &format!("{format:?}, state {states}"),
            );
            states += 1;
        }
        assert!(states >= 128, "{states}");
        assert!(kept >= 1 && kept < states, "{kept} of {states} adopted");
    }
}

/// A log with `acked` appends acknowledged, and the bytes that one more append would add.
fn with_next_group(format: Format) -> (Memory, Vec<u8>, Vec<u8>) {
    let memory = fresh(format);
    run(&arc(&memory), &[Step::Append(2, 40), Step::Append(1, 20)]);
    let ahead = memory.snapshot();
    {
        let log = open(&arc(&ahead), &options().1);
        let writer = log.lock().unwrap().into_writer(());
        writer
            .append(vec![said("next one"), said("next two")], Durability::Synced)
            .unwrap();
        say(&writer, "later");
    }
    let path = segment(format);
    let now = arc(&memory).read(&path, 1 << 20).unwrap();
    let then = arc(&ahead).read(&path, 1 << 20).unwrap();
    (memory, now.clone(), then[now.len()..].to_vec())
}

fn put(memory: &Memory, path: &Path, bytes: &[u8]) {
    arc(memory).replace(path, bytes, true).unwrap();
}

#[test]
fn a_failed_sync_is_known_as_one_wherever_it_is() {
    for format in FORMATS {
        let (memory, now, next) = with_next_group(format);
        put(
            &memory,
            &segment(format),
            &[&now, &next[..next.len() - 1]].concat(),
        );
        // Sets the torn tail aside, then rotates.
        let fail = |call: usize, fault: Fault| {
            let faulty = Faulty::new(arc(&memory.snapshot()));
            faulty.arm(call, fault);
            let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
            let (clock, options) = options();
            clock.advance(86_400_000_000);
            let done = Log::open(storage, &dir(), options)
                .and_then(|log| log.lock())
                .and_then(|lock| {
                    let writer = lock.into_writer(());
                    writer.append(vec![said("next day")], Durability::Synced)
                });
            (faulty.calls().get(call).cloned(), done.err())
        };
        let (mut replaced, mut full) = (0, 0);
        for call in 0.. {
            let (Some((name, path)), failed) = fail(call, Fault::Os(5)) else {
                break;
            };
            let aside = path.extension().is_some_and(|end| end == "tmp");
            if ["sync_data", "sync_all", "sync_dir"].contains(&name) {
                let error = failed.unwrap();
                assert!(error.is_of_sync(), "{call}, {name} {path:?}: {error}");
                replaced += usize::from(aside);
            }
            if aside && name == "write_at" {
                let error = fail(call, Fault::ShortWrite).1.unwrap();
                assert!(error.is_no_space() && !error.is_of_sync(), "{error}");
                full += 1;
            }
        }
        assert_eq!((replaced, full), (2, 2), "{format:?}");
    }
}

#[test]
fn the_table_on_real_bytes() {
    for format in FORMATS {
        let (memory, now, next) = with_next_group(format);
        let path = segment(format);
        let first_group = group_len(format, &next);
        let state = |tail: &[u8]| {
            let memory = memory.snapshot();
            put(&memory, &path, &[&now, tail].concat());
            let log = open(&arc(&memory), &options().1);
            let opened = log.lock().map(|lock| lock.recovered().to_vec());
            (memory, log, opened)
        };
        // Complete groups past the head are adopted, never dropped.
        let (_, log, opened) = state(&next);
        shows!(opened.unwrap()[0] => has "adopted events 4 to 6");
        assert_eq!(texts(&log).len(), 6);
        // Cut anywhere inside the first group: torn, set aside, named by an event.
        for cut in 1..first_group {
            let (memory, log, opened) = state(&next[..cut]);
            assert!(
                opened.as_ref().unwrap()[0].contains("set aside"),
                "{format:?} {cut}: {opened:?}"
            );
            assert_eq!(texts(&log).len(), 3);
            let kept = arc(&memory).list(&dir().join(QUARANTINE_DIR)).unwrap();
            assert_eq!(kept.len(), 1);
            let bytes = arc(&memory)
                .read(&dir().join(QUARANTINE_DIR).join(&kept[0]), 1 << 20)
                .unwrap();
            assert_eq!(bytes, &next[..cut]);
            every_quarantine_file_is_named(&arc(&memory), &log, "cut");
            assert!(log.verify(None).unwrap().ok);
        }
        // Cut inside the second: the first is adopted, the rest set aside.
        for cut in first_group + 1..next.len() {
            let (_, log, opened) = state(&next[..cut]);
            assert_eq!(opened.unwrap().len(), 2, "{format:?} {cut}");
            assert_eq!(texts(&log).len(), 5);
        }
        // The first event of the group is damaged, the second is whole: parts of one write, so torn.
        for at in 0..10 {
            let mut tail = next[..first_group].to_vec();
            tail[at + 20] ^= 0x10;
            let (_, log, opened) = state(&tail);
            assert!(opened.unwrap()[0].contains("set aside"), "{format:?} {at}");
            assert_eq!(texts(&log).len(), 3);
        }
        // Damage with a later group behind it had been synced: corrupt, and nothing is touched.
        for at in 0..first_group {
            let mut tail = next.clone();
            tail[at] ^= 0x10;
            let (memory, log, opened) = state(&tail);
            let error = opened.unwrap_err();
            assert!(
                matches!(error, teamlog_engine::Error::Corrupt { .. }),
                "{format:?} {at}: {error}"
            );
            assert_eq!(
                arc(&memory).read(&path, 1 << 20).unwrap(),
                [&now[..], &tail].concat()
            );
            assert!(log.reader().is_err() && !log.verify(None).unwrap().ok);
        }
        // Zeros, and garbage.
        for garbage in [
            vec![0; 700],
            b"garbage\n".to_vec(),
            b"{\"seq\":9}\n".to_vec(),
            vec![0x1e; 50],
        ] {
            let (_, log, opened) = state(&garbage);
            assert!(opened.unwrap()[0].contains("set aside"), "{format:?}");
            assert_eq!(texts(&log).len(), 3);
        }
        // The file ends before the head.
        for cut in 1..40 {
            let memory = memory.snapshot();
            put(&memory, &path, &now[..now.len() - cut]);
            let log = open(&arc(&memory), &options().1);
            assert!(
                matches!(
                    log.lock().err(),
                    Some(teamlog_engine::Error::Corrupt { .. })
                ),
                "{format:?} {cut}"
            );
            assert!(log.reader().is_err());
            let report = log.verify(None).unwrap();
            assert!(!report.ok, "{report:?}");
        }
    }
}

fn group_len(format: Format, bytes: &[u8]) -> usize {
    let first = teamlog_engine::codec::decode(format, bytes).unwrap();
    let second = teamlog_engine::codec::decode(format, &bytes[first.len..]).unwrap();
    assert_eq!((first.group.len, second.group.index), (2, 1));
    first.len + second.len
}

#[test]
fn without_a_head_only_a_clean_log_is_opened() {
    for format in FORMATS {
        let (memory, now, next) = with_next_group(format);
        let head = dir().join("head");
        let state = |tail: &[u8]| {
            let memory = memory.snapshot();
            put(&memory, &head, &[0; 1024]);
            put(&memory, &segment(format), &[&now, tail].concat());
            memory
        };
        let memory = state(&next);
        let log = open(&arc(&memory), &options().1);
        assert!(log.lock().unwrap().recovered()[0].contains("rebuilt the head"));
        assert_eq!(texts(&log).len(), 6);
        assert!(log.verify(None).unwrap().ok);
        let memory = state(&next[..next.len() - 1]);
        let log = open(&arc(&memory), &options().1);
        let error = log.lock().err().unwrap();
        assert!(error.to_string().contains("no valid head"), "{error}");
        // One damaged slot is no loss.
        let memory = self::fresh(format);
        run(
            &arc(&memory),
            &[Step::Append(1, 5), Step::Append(1, 5), Step::Append(1, 5)],
        );
        for slot in [0, 512] {
            let memory = memory.snapshot();
            memory.corrupt(&head, slot + 100, 1).unwrap();
            let log = open(&arc(&memory), &options().1);
            log.lock().unwrap();
            assert_eq!(texts(&log).len(), 3);
        }
    }
}

#[test]
fn a_reader_stops_at_the_head_while_somebody_writes() {
    for format in FORMATS {
        let (memory, now, next) = with_next_group(format);
        let log = open(&arc(&memory), &options().1);
        let lock = log.lock().unwrap();
        put(&memory, &segment(format), &[&now, &next[..]].concat());
        assert_eq!(
            texts(&log).len(),
            3,
            "bytes past the head belong to the writer"
        );
        drop(lock);
        assert_eq!(
            texts(&log).len(),
            6,
            "nobody writes any more, so they are adopted"
        );
    }
}

/// A log of two segments, and the bytes of its first one and of its head before it had a second event.
fn two_segments(format: Format) -> (Memory, Vec<u8>) {
    let memory = fresh(format);
    run(&arc(&memory), &[Step::Append(1, 5)]);
    let head = arc(&memory).read(&dir().join("head"), 1 << 20).unwrap();
    run(
        &arc(&memory),
        &[Step::Append(1, 5), Step::NextDay, Step::Append(1, 5)],
    );
    assert_eq!(arc(&memory).list(&dir().join("events")).unwrap().len(), 2);
    (memory, head)
}

#[test]
fn an_older_head_in_front_of_later_segments_is_never_gone_on_from() {
    for format in FORMATS {
        let (memory, old) = two_segments(format);
        put(&memory, &dir().join("head"), &old);
        let log = open(&arc(&memory), &options().1);
        let report = log.verify(None).unwrap();
        let kinds: Vec<_> = report
            .problems
            .iter()
            .map(|problem| problem.kind.word())
            .collect();
        assert_eq!((report.ok, kinds), (false, vec!["stale_head"]));
        let error = log.lock().err().unwrap();
        assert!(
            matches!(error, teamlog_engine::Error::Corrupt { .. }),
            "{error}"
        );
    }
}

#[test]
fn the_head_of_the_empty_log_goes_on_in_the_one_segment_there_is() {
    for format in FORMATS {
        let memory = fresh(format);
        let empty = arc(&memory).read(&dir().join("head"), 1 << 20).unwrap();
        run(&arc(&memory), &[Step::Append(1, 5), Step::Append(2, 5)]);
        put(&memory, &dir().join("head"), &empty);
        let log = open(&arc(&memory), &options().1);
        log.lock().unwrap();
        assert_eq!(texts(&log).len(), 3);
        assert!(log.verify(None).unwrap().ok);
    }
}

#[test]
fn a_tail_torn_right_behind_a_rotation_is_a_warning() {
    for format in FORMATS {
        let (memory, _) = two_segments(format);
        let storage = arc(&memory);
        let log = open(&storage, &options().1);
        let head = log.reader().unwrap().head().clone();
        let first = storage.read(&segment(format), 1 << 20).unwrap();
        let last_id = events(&log)[1].id;
        // As it stood while the first group of the second segment was being written.
        let rotating = given!(teamlog_engine::Head, segment: 1,
            name: format!("2026-11-21.{}", format.extension()), end: first.len() as u64,
            last_seq: 2, last_id, rotating: true, ..head.clone());
        let log_id = log.identity().log;
        put(
            &memory,
            &dir().join("head"),
            &[rotating.encode(log_id), [0; 512]].concat(),
        );
        let second = dir().join("events").join(&head.name);
        let bytes = storage.read(&second, 1 << 20).unwrap();
        put(&memory, &second, &bytes[..bytes.len() - 1]);
        let report = log.verify(None).unwrap();
        let kinds: Vec<_> = report
            .problems
            .iter()
            .map(|problem| problem.kind.word())
            .collect();
        assert_eq!((report.ok, kinds), (true, vec!["torn_tail"]));
        assert!(
            log.lock()
                .unwrap()
                .recovered()
                .iter()
                .any(|note| note.contains("set aside"))
        );
    }
}

#[test]
fn verification_maps_sealed_segments_only() {
    for format in FORMATS {
        let (memory, _) = two_segments(format);
        let faulty = Faulty::new(arc(&memory));
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        assert!(open(&storage, &options().1).verify(None).unwrap().ok);
        let mapped: Vec<_> = faulty
            .calls()
            .into_iter()
            .filter(|(call, _)| *call == "sealed")
            .map(|(_, path)| path)
            .collect();
        assert_eq!(mapped, [segment(format)]);
    }
}

#[test]
fn a_log_whose_head_is_being_rebuilt_is_locked_not_damaged() {
    let memory = fresh(Format::Jsonl);
    run(&arc(&memory), &[Step::Append(1, 5)]);
    let log = open(&arc(&memory), &options().1);
    let writer = log.lock().unwrap();
    put(&memory, &dir().join("head"), &[0; 1024]);
    let error = log.reader().unwrap_err();
    assert!(
        matches!(error, teamlog_engine::Error::Locked { .. }),
        "{error}"
    );
    drop(writer);
    assert_eq!(texts(&log).len(), 1);
}

mod model {
    use super::*;
    use proptest::prelude::*;

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (1..5usize, 0..900usize).prop_map(|(events, bytes)| Step::Append(events, bytes)),
            3 => (1..4usize).prop_map(Step::Buffer),
            1 => Just(Step::Sync),
            2 => Just(Step::NextDay),
            2 => any::<bool>().prop_map(Step::Reopen),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

        /// Random histories against a plain list, dying at every call in turn.
        #[test]
        fn random_histories(steps in prop::collection::vec(step(), 1..14), seed in any::<u64>(), binary in any::<bool>()) {
            let format = if binary { Format::Binary } else { Format::Jsonl };
            for call in 0.. {
                let memory = fresh(format);
                let faulty = Faulty::new(arc(&memory));
                faulty.arm(call, Fault::Stop);
                let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
                let outcome = run(&storage, &steps);
                if faulty.count() <= call {
                    prop_assert_eq!(outcome.acked + buffered_at_the_end(&steps), outcome.attempted.len());
                    break;
                }
                for (how, after) in crashes(&memory, seed.wrapping_add(call as u64), 1) {
                    check(&arc(&after), &outcome, &format!("{format:?} {steps:?}, call {call}, seed {seed}, {how}"));
                }
            }
        }
    }

    /// Appends that nothing made durable before the history ended.
    fn buffered_at_the_end(steps: &[Step]) -> usize {
        let open = steps
            .iter()
            .rev()
            .take_while(|step| matches!(step, Step::Buffer(_) | Step::NextDay));
        open.filter(|step| matches!(step, Step::Buffer(_))).count()
    }
}

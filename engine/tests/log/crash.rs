//! Tests of power loss and death at every call to the storage. Acknowledged events are in the log, all events in the log were
//! attempted, appends are whole or absent, and the log can continue.

mod again;
mod table;

use crate::support::*;
use std::collections::HashSet;
use table::{group_len, put, two_segments, with_next_group};
use teamlog_engine::internals::layout::{QUARANTINE_DIR, QUARANTINED};
use teamlog_engine::internals::recovery::Quarantined;
use teamlog_engine::internals::segment::SegmentName;
use teamlog_engine::verify::ProblemKind;

/// The appends of a history before the history stopped.
#[derive(Default, Debug, Hash)]
struct Outcome {
    /// Texts of the attempted appends, in order. Each inner list is one append.
    attempted: Vec<Vec<String>>,
    /// Number of appends that were acknowledged as durable.
    acked: usize,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Appends this many events of about this many bytes, synced.
    Append(usize, usize),
    /// Appends this many events, buffered.
    Buffer(usize),
    Sync,
    /// Moves the clock to the next day.
    NextDay,
    /// Closes (`true`) or drops (`false`) the writer, and opens the log again.
    Reopen(bool),
}

/// Returns options with small segments, so that rotation also happens within a day.
fn small(options: &LogOptions) -> LogOptions {
    given!(LogOptions, segment_bytes_max: 4_000, ..options.clone())
}

/// Runs the steps until the storage fails.
fn run(storage: &Arc<dyn Storage>, steps: &[Step]) -> Outcome {
    run_with(storage, steps, 0)
}

/// Like `run`, with a writer that, in `binary`, writes zeros ahead from its second group on.
fn run_ahead(storage: &Arc<dyn Storage>, steps: &[Step]) -> Outcome {
    run_with(storage, steps, 1_500)
}

fn run_with(storage: &Arc<dyn Storage>, steps: &[Step], ahead_bytes: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let (clock, options) = options();
    let options = given!(LogOptions, ahead_bytes, ahead_from_group: 1, ..small(&options));
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
                    // A writer that is not closed loses its buffered events, which were never acknowledged as durable.
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

/// Compares the log with the attempted and acknowledged appends, then appends once more.
fn check(memory: &Arc<dyn Storage>, outcome: &Outcome, what: &str) {
    let (_, options) = options();
    let log = Log::open(memory.clone(), &dir(), small(&options))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    // A crash or a power loss is not reported as a rollback, not even by readers, which recover nothing.
    if let Ok(reader) = log.peek() {
        assert_eq!(reader.rollback(), None, "{what}");
    }
    let report = log.verify(None).unwrap();
    let mut problems = report.problems.iter();
    assert!(
        problems.all(|one| one.kind != ProblemKind::RolledBack),
        "{what}: {report:?}"
    );
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

/// Checks that events name every file in the quarantine, and that each file has the length and the digest in its event.
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

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn fresh(format: Format) -> Memory {
    let memory = Memory::new();
    let storage: Arc<dyn Storage> = Arc::new(memory.clone());
    create(&storage, format, &options().1);
    memory
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
        let mut checked = Checked::default();
        let history = |storage: &Arc<dyn Storage>| run_ahead(storage, &HISTORY);
        let whole = at_every_call(&fresh(format), Fault::Stop, history, |stopped| {
            for (how, after) in stopped.crashes(12) {
                if checked.is_new(&after, &stopped.done) {
                    check(&arc(&after), &stopped.done, &format!("{format:?}, {how}"));
                }
            }
        });
        assert_eq!(whole.acked, whole.attempted.len());
        assert!(checked.met > 1_000, "{}", checked.met);
    }
}

/// A long-lived writer ends its segment with one append, and the next append begins another segment.
#[test]
fn death_and_power_loss_around_a_segment_that_is_ended_early() {
    use Step::{Append, Buffer, Reopen, Sync};
    // Each append is smaller than the part of a segment that may stay free, so one append ends in that part.
    let fills = [Append(1, 250); 14];
    let ends = [Buffer(1), Sync, Append(1, 100), Reopen(false), Append(1, 0)];
    let steps = [&fills[..], &ends[..], &fills[..5]].concat();
    for format in FORMATS {
        let (mut checked, mut ended) = (Checked::default(), 0);
        let history = |storage: &Arc<dyn Storage>| run_ahead(storage, &steps);
        for fault in [Fault::Stop, Fault::Os(5), Fault::ShortWrite] {
            let whole = at_every_call(&fresh(format), fault, history, |failed| {
                let segment = SegmentName::parse(&file_name(&failed.path), format);
                ended += usize::from(failed.name == "sync_all" && segment.is_some());
                failed.forget_unsynced();
                for (how, after) in failed.crashes(4) {
                    if checked.is_new(&after, &failed.done) {
                        let what = format!("{format:?}, {fault:?}, {how}");
                        check(&arc(&after), &failed.done, &what);
                    }
                }
            });
            assert_eq!(whole.acked, whole.attempted.len());
        }
        assert!(checked.met > 1_000, "{}", checked.met);
        assert!(ended >= 3, "{ended} segments ended early");
    }
}

/// The recovery of the first segment removed the zeros that the killed writer left. The header of the next segment holds the
/// resulting length.
#[test]
fn zeros_that_were_cut_do_not_come_back_behind_a_sealed_segment() {
    use Step::{Append, NextDay, Reopen};
    let steps = [
        Append(1, 0),
        Append(1, 0),
        NextDay,
        Reopen(false),
        Append(1, 0),
    ];
    let mut checked = Checked::default();
    let history = |storage: &Arc<dyn Storage>| run_ahead(storage, &steps);
    at_every_call(&fresh(Format::Binary), Fault::Stop, history, |stopped| {
        for (how, after) in stopped.crashes(4) {
            if checked.is_new(&after, &stopped.done) {
                check(&arc(&after), &stopped.done, &how);
            }
        }
    });
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
        let mut checked = Checked::default();
        for fault in faults {
            let history = |storage: &Arc<dyn Storage>| run_ahead(storage, &HISTORY);
            at_every_call(&fresh(format), fault, history, |failed| {
                failed.forget_unsynced();
                for (how, after) in failed.crashes(2) {
                    if checked.is_new(&after, &failed.done) {
                        let what = format!("{format:?}, {fault:?}, {how}");
                        check(&arc(&after), &failed.done, &what);
                    }
                }
            });
        }
    }
}

#[test]
fn death_at_every_call_of_a_recovery() {
    for format in FORMATS {
        let (mut crashed, mut checked) = (HashSet::new(), Checked::default());
        let history = |storage: &Arc<dyn Storage>| run_ahead(storage, &HISTORY);
        at_every_call(&fresh(format), Fault::Stop, history, |stopped| {
            if stopped.call % 3 > 0 {
                return;
            }
            for (how, left) in stopped.crashes(3) {
                // The durable state is checked too, because the next crash removes all unsynced changes.
                let durable = left.lose_unsynced();
                if !crashed.insert((tree(&left, Path::new("")), tree(&durable, Path::new("")))) {
                    continue;
                }
                let recover = |storage: &Arc<dyn Storage>| {
                    let log = Log::open(storage.clone(), &dir(), small(&options().1));
                    log.and_then(|log| log.lock().map(drop))
                };
                let _ = at_every_call(&left, Fault::Stop, recover, |again| {
                    for (then, after) in again.crashes(1) {
                        if checked.is_new(&after, &stopped.done) {
                            let what = format!("{format:?}, {how}, recovery {then}");
                            check(&arc(&after), &stopped.done, &what);
                        }
                    }
                });
            }
        });
        assert!(checked.met > 1_000, "{}", checked.met);
    }
}

#[test]
fn any_subset_of_the_sectors_of_an_unacknowledged_group() {
    for format in FORMATS {
        let memory = fresh(format);
        let before = [Step::Append(1, 300)];
        let outcome = run(&arc(&memory), &before);
        assert_eq!(outcome.acked, 1);
        // The history stops right before the sync of seven sectors, so any subset of the sectors may be on the disk.
        let faulty = Faulty::new(arc(&memory));
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let ahead = given!(LogOptions, ahead_bytes: 8_000, ahead_from_group: 0, ..options().1);
        let log = open(&storage, &ahead);
        let writer = log.lock().unwrap().into_writer(());
        say(&writer, "zeros behind");
        // Four checks precede the write. They read the lock once, the segment once, and the head twice. In `binary`, a fifth
        // check reads the bytes ahead.
        let looks = 4 + usize::from(format == Format::Binary);
        faulty.arm(faulty.count() + looks + 1, Fault::Stop);
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
        let attempted = vec![
            outcome.attempted[0].clone(),
            vec!["zeros behind".into()],
            torn,
        ];
        let outcome = given!(Outcome; attempted, acked: 2);
        let (mut states, mut kept) = (0, 0);
        for after in memory.crashes() {
            let log = open(&arc(&after), &options().1);
            drop(log.lock().unwrap());
            kept += u64::from(texts(&log).len() > 2);
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

        /// Compares random histories with a plain list. Each history stops at every call in turn.
        #[test]
        fn random_histories(steps in prop::collection::vec(step(), 1..14), seed in any::<u64>(), binary in any::<bool>()) {
            let format = if binary { Format::Binary } else { Format::Jsonl };
            let mut checked = Checked::default();
            let history = |storage: &Arc<dyn Storage>| run_ahead(storage, &steps);
            let whole = at_every_call(&fresh(format), Fault::Stop, history, |stopped| {
                let seed = seed.wrapping_add(stopped.call as u64);
                for (how, after) in crashes(&stopped.memory, seed, 1) {
                    if checked.is_new(&after, &stopped.done) {
                        let what = format!("{format:?} {steps:?}, call {}, seed {seed}, {how}", stopped.call);
                        check(&arc(&after), &stopped.done, &what);
                    }
                }
            });
            prop_assert_eq!(whole.acked + buffered_at_the_end(&steps), whole.attempted.len());
        }
    }

    /// Returns the number of appends that were not durable when the history ended.
    fn buffered_at_the_end(steps: &[Step]) -> usize {
        let open = steps
            .iter()
            .rev()
            .take_while(|step| matches!(step, Step::Buffer(_) | Step::NextDay));
        open.filter(|step| matches!(step, Step::Buffer(_))).count()
    }
}

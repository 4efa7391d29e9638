//! Tests of giving a log to a journal and of taking the log back. At any interruption, no event is lost or changed, and at most
//! one host continues the log alone.

mod line;

use crate::support::*;
use line::Line;
use std::sync::atomic::Ordering;
use teamlog_engine::internals::journal::MemoryJournal;
use teamlog_engine::internals::layout::{EVENTS_DIR, JOURNAL_ADOPTED, JOURNAL_LEFT};
use teamlog_engine::{JournalFault, JournalIdentity, ManualClock};

const ID: &str = "00000000-0000-4000-8000-000000000000";

fn named() -> JournalIdentity {
    JournalIdentity {
        kind: "memory".into(),
        id: ID.into(),
        segment_bytes_max: 1_000,
    }
}

/// Returns the options of a host that uses the journal.
fn of(journal: &Line, seed: u64) -> LogOptions {
    let mut options = given!(LogOptions, ahead_from_group: 1, ahead_bytes: 300,
        lock_deadline: Duration::ZERO, ..small(seed));
    options.journals = Some(Arc::new(journal.clone()));
    options
}

/// Creates a log of several days and segments that one host wrote alone. `crash` selects how the last group of the log ended.
fn alone(format: Format, crash: usize) -> Memory {
    let memory = Memory::new();
    let clock = Arc::new(ManualClock::new(start()));
    let options = given!(LogOptions, clock: clock.clone(), ..of(&Line::default(), 3));
    let log = create(&arc(&memory), format, &options);
    for day in 0..3 {
        // A writer that prepares zeros in advance ends its segments earlier.
        let ahead_from_group = [1_000, 1, 1][day];
        let writer = writer(&log.clone().with_options(LogOptions {
            ahead_from_group,
            ..options.clone()
        }));
        for number in 0..40 {
            say(&writer, &format!("{day}-{number} {}", "x".repeat(20)));
        }
        match day {
            // Dropping the writer leaves the state of a killed process.
            1 => drop(writer),
            _ => writer.close().unwrap(),
        }
        clock.advance(86_400_000_000);
    }
    let faulty = Faulty::new(arc(&memory));
    faulty.arm(crash, Fault::Stop);
    let storage: Arc<dyn Storage> = Arc::new(faulty);
    if let Ok(log) = Log::open(storage, &dir(), options).and_then(|log| log.lock()) {
        let writer = log.into_writer(());
        let _ = writer.append(vec![said("next day")], Durability::Synced);
    }
    memory
}

fn reopened(memory: &Memory, line: &Line, seed: u64) -> Log {
    open(&arc(memory), &of(line, seed))
}

/// Creates another host that joins the log.
fn join(line: &Line, seed: u64) -> (Memory, Log) {
    let memory = Memory::new();
    let identity = line.journal.find("demo").unwrap();
    let options = of(line, seed);
    let log = Log::create_from(identity, arc(&memory), &dir(), options).unwrap();
    drop(log.lock().unwrap());
    (memory, log)
}

fn segments(memory: &Memory) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    tree(memory, &dir().join(EVENTS_DIR))
}

/// Checks that both memories have the same files. Describes a difference in words, because the files are too long to print.
fn check_equal(one: &Memory, other: &Memory, case: &str) {
    let (one, other) = (segments(one), segments(other));
    let lens = |all: &std::collections::BTreeMap<PathBuf, Vec<u8>>| -> Vec<(PathBuf, usize)> {
        all.iter()
            .map(|(path, bytes)| (path.clone(), bytes.len()))
            .collect()
    };
    assert_eq!(lens(&one), lens(&other), "{case}");
    assert!(one == other, "{case}");
}

fn kinds(log: &Log) -> Vec<String> {
    let events = events(log).into_iter();
    events.map(|event| event.kind.into_owned()).collect()
}

fn check(log: &Log) {
    let report = log.verify(None).unwrap();
    assert!(report.ok, "{report:?}");
}

fn fault<T>(result: Result<T, Error>) -> Option<JournalFault> {
    match result {
        Err(Error::Journal { fault, .. }) => Some(fault),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

/// Lets both hosts record events, and checks that their files are equal.
fn both_record(line: &Line, first: (&Memory, &Log), second: (&Memory, &Log)) {
    let writer = writer(second.1);
    say(&writer, "of the second");
    writer.close().unwrap();
    let writer = crate::support::writer(first.1);
    say(&writer, "of the first");
    writer.close().unwrap();
    drop(second.1.lock().unwrap());
    check_equal(first.0, second.0, "both recorded");
    let receipt = |log: &Log| log.reader().unwrap().receipt().unwrap();
    assert_eq!(receipt(first.1), receipt(second.1));
    check(first.1);
    check(second.1);
    let groups = line.journal.groups(first.1.identity().log);
    assert_eq!(
        groups.last().unwrap().position.last_seq,
        first.1.reader().unwrap().head().last_seq
    );
}

#[test]
fn whatever_a_crash_left_all_hosts_get_the_segments_of_the_one_that_gave_it() {
    for format in FORMATS {
        for crash in 0..60 {
            let (memory, line) = (alone(format, crash), Line::default());
            let log = reopened(&memory, &line, 1);
            let receipt = log.reader().unwrap().receipt().unwrap().unwrap();
            let adopted = log.adopt(&named(), &mut |_, _| {}).unwrap();
            assert!(adopted.changed, "{format:?} {crash}");
            let log = reopened(&memory, &line, 1);
            assert_eq!(
                log.check_receipt(&receipt).unwrap(),
                teamlog_engine::ReceiptStatus::Holds
            );
            assert_eq!(kinds(&log).last().unwrap(), JOURNAL_ADOPTED);
            let (other, joined) = join(&line, 2);
            check_equal(&memory, &other, &format!("{format:?} {crash}"));
            assert_eq!(
                joined.check_receipt(&receipt).unwrap(),
                teamlog_engine::ReceiptStatus::Holds
            );
            both_record(&line, (&memory, &log), (&other, &joined));
            let again = log.adopt(&named(), &mut |_, _| {}).unwrap();
            assert!(!again.changed);
            assert_eq!(again.pushed.groups, 0);
        }
    }
}

/// Continues an interrupted adoption, and checks the result.
fn finish_adoption(memory: &Memory, line: &Line, before: usize) {
    line.mend();
    let log = reopened(memory, line, 5);
    log.adopt(&named(), &mut |_, _| {}).unwrap();
    let log = reopened(memory, line, 5);
    let kinds = kinds(&log);
    let adopted = kinds.iter().filter(|kind| *kind == JOURNAL_ADOPTED);
    assert_eq!(adopted.count(), 1, "{kinds:?}");
    assert_eq!(texts(&log).len(), before);
    let (other, joined) = join(line, 6);
    both_record(line, (memory, &log), (&other, &joined));
}

#[test]
fn an_adoption_goes_on_wherever_it_was_interrupted() {
    for format in FORMATS {
        let start = alone(format, 1_000);
        let act = |storage: &Arc<dyn Storage>| {
            let line = Line::default();
            let options = of(&line, 1);
            let log = Log::open(storage.clone(), &dir(), options);
            let _ = log.map(|log| log.adopt(&named(), &mut |_, _| {}));
            line
        };
        let mut runs = 0;
        at_every_call(&start, Fault::Stop, act, |failed| {
            finish_adoption(&failed.memory, &failed.done, 121);
            runs += 1;
        });
        assert!(runs > 20, "{runs}");
    }
}

#[test]
fn an_adoption_goes_on_wherever_the_line_was_cut() {
    for format in FORMATS {
        for done in [false, true] {
            for call in 0.. {
                let (memory, journal) = (alone(format, 1_000), MemoryJournal::default());
                let line = Line::at(&journal, call, done);
                let adopted = reopened(&memory, &line, 1).adopt(&named(), &mut |_, _| {});
                if !line.is_cut() {
                    assert!(call > 3, "{call}");
                    break;
                }
                assert!(fault(adopted).is_some(), "{call} {done}");
                finish_adoption(&memory, &line, 121);
            }
        }
    }
}

#[test]
fn nobody_else_records_before_an_adoption_is_finished() {
    let (memory, journal) = (alone(Format::Jsonl, 1_000), MemoryJournal::default());
    // The last call to the journal opens the log.
    let calls = (0..).find(|call| {
        let memory = memory.snapshot();
        let line = Line::at(&MemoryJournal::default(), *call, false);
        let _ = reopened(&memory, &line, 1).adopt(&named(), &mut |_, _| {});
        !line.is_cut()
    });
    let last = calls.unwrap() - 1;
    for call in 0..last {
        let (memory, journal) = (memory.snapshot(), MemoryJournal::default());
        let line = Line::at(&journal, call, false);
        let unfinished = reopened(&memory, &line, 1).adopt(&named(), &mut |_, _| {});
        assert_eq!(fault(unfinished), Some(JournalFault::Unreachable));
        let writer = writer(&reopened(&memory, &Line::default(), 1));
        say(&writer, "here alone, as before");
    }
    let line = Line::at(&journal, last, false);
    let unfinished = reopened(&memory, &line, 1).adopt(&named(), &mut |_, _| {});
    assert_eq!(fault(unfinished), Some(JournalFault::Unreachable));
    line.mend();
    for memory in [memory.snapshot(), join(&line, 2).0] {
        let writer = writer(&reopened(&memory, &line, 3));
        let said = writer.append(vec![said("too early")], Durability::Synced);
        assert_eq!(fault(said), Some(JournalFault::Loading));
    }
    finish_adoption(&memory, &line, 121);
}

#[test]
fn another_journal_or_another_log_of_that_name_is_refused_and_nothing_changes() {
    let (memory, line) = (alone(Format::Binary, 1_000), Line::default());
    let stranger = Memory::new();
    let log = create(&arc(&stranger), Format::Jsonl, &of(&line, 9));
    log.adopt(&named(), &mut |_, _| {}).unwrap();
    let before = memory.snapshot();
    let adopted = reopened(&memory, &line, 1).adopt(&named(), &mut |_, _| {});
    assert_eq!(fault(adopted), Some(JournalFault::Refused));
    check_equal(&memory, &before, "refused");
    assert!(reopened(&memory, &line, 1).identity().journal.is_none());
    let other = JournalIdentity {
        id: "00000000-0000-4000-8000-000000000001".into(),
        ..named()
    };
    let adopted = reopened(&stranger, &line, 9).adopt(&other, &mut |_, _| {});
    assert_eq!(fault(adopted), Some(JournalFault::OtherJournal));
}

/// Creates two hosts of one log.
fn two(format: Format, line: &Line) -> [Memory; 2] {
    let memory = alone(format, 1_000);
    let log = reopened(&memory, line, 1);
    log.adopt(&named(), &mut |_, _| {}).unwrap();
    [memory, join(line, 2).0]
}

#[test]
fn a_journal_that_cannot_be_opened_is_left_without_asking_it() {
    for format in Format::ALL {
        let line = Line::default();
        let hosts = two(format, &line);
        let mut options = of(&line, 3);
        options.journals = None;
        let log = Log::open(arc(&hosts[0]), &dir(), options.clone()).unwrap();
        let before = texts(&log).len();
        assert_eq!(fault(log.lock()), Some(JournalFault::Unconfigured));
        assert_eq!(texts(&log).len(), before, "reads need no journal");
        let seq = log.leave_offline().unwrap();
        let log = Log::open(arc(&hosts[0]), &dir(), options).unwrap();
        assert!(log.identity().journal.is_none());
        assert_eq!(
            log.leave_offline().unwrap(),
            None,
            "it has no journal any more"
        );
        let writer = writer(&log);
        say(&writer, "alone again");
        writer.close().unwrap();
        let kinds = kinds(&log);
        assert_eq!(kinds[seq.unwrap() as usize - 1], JOURNAL_LEFT);
        assert_eq!(texts(&log).len(), before + 1);
        check(&log);
    }
}

/// Checks that the first host continues alone, and that the log is closed for the other host.
fn finish_leaving(hosts: &[Memory; 2], line: &Line) {
    line.mend();
    let log = reopened(&hosts[0], line, 3);
    log.leave().unwrap();
    let after = hosts[0].lose_unsynced();
    check_equal(&hosts[0], &after, "nobody has it but this disk");
    let log = reopened(&hosts[0], line, 3);
    assert!(log.identity().journal.is_none());
    let writer = writer(&log);
    say(&writer, "alone again");
    writer.close().unwrap();
    let kinds = kinds(&log);
    let left = kinds.iter().filter(|kind| *kind == JOURNAL_LEFT);
    assert_eq!(left.count(), 1, "{kinds:?}");
    assert_eq!(texts(&log).len(), 122);
    check(&log);
    let other = reopened(&hosts[1], line, 4);
    assert_eq!(fault(other.leave()), Some(JournalFault::Left));
    let writer = crate::support::writer(&other);
    let said = writer.append(vec![said("too late")], Durability::Synced);
    assert_eq!(fault(said), Some(JournalFault::Left));
    drop(writer);
    assert_eq!(
        texts(&reopened(&hosts[1], line, 4)).len(),
        121,
        "what it has is read"
    );
}

#[test]
fn one_host_goes_on_alone_wherever_leaving_was_interrupted() {
    for format in FORMATS {
        let act = |storage: &Arc<dyn Storage>, line: &Line| {
            let log = Log::open(storage.clone(), &dir(), of(line, 7));
            let _ = log.map(|log| log.leave());
        };
        for call in 0.. {
            let line = Line::default();
            let hosts = two(format, &line);
            let faulty = Faulty::new(arc(&hosts[0]));
            faulty.arm(call, Fault::Stop);
            let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
            act(&storage, &line);
            let over = faulty.calls().len() <= call;
            finish_leaving(&hosts, &line);
            if over {
                assert!(call > 10, "{call}");
                break;
            }
        }
        for done in [false, true] {
            for call in 0.. {
                let whole = Line::default();
                let hosts = two(format, &whole);
                let line = Line::at(&whole.journal, call, done);
                act(&arc(&hosts[0]), &line);
                let over = !line.is_cut();
                finish_leaving(&hosts, &line);
                if over {
                    break;
                }
            }
        }
    }
}

#[test]
fn what_comes_to_stand_there_late_is_known_all_the_same() {
    for format in FORMATS {
        let line = Line::default();
        let memory = alone(format, 1_000);
        let log = reopened(&memory, &line, 1);
        line.delays.store(true, Ordering::SeqCst);
        let unknown = log.adopt(&named(), &mut |_, _| {});
        assert_eq!(fault(unknown), Some(JournalFault::Unknown));
        line.delays.store(false, Ordering::SeqCst);
        finish_adoption(&memory, &line, 121);

        let whole = Line::default();
        let hosts = two(format, &whole);
        let log = reopened(&hosts[0], &whole, 8);
        whole.delays.store(true, Ordering::SeqCst);
        assert_eq!(fault(log.leave()), Some(JournalFault::Unknown));
        whole.delays.store(false, Ordering::SeqCst);
        // The closing group of the first attempt arrives late, but before the group of the second attempt. So the second group
        // does not count.
        finish_leaving(&hosts, &whole);
    }
}

#[test]
fn a_journal_that_was_put_back_is_healed_from_the_host_that_has_most() {
    for format in FORMATS {
        let whole = Line::default();
        let hosts = two(format, &whole);
        let groups = whole
            .journal
            .groups(reopened(&hosts[0], &whole, 1).identity().log);
        for kept in 0..groups.len() {
            for call in 0..6 {
                let line = Line::at(&whole.journal, call, call % 2 == 0);
                let log = reopened(&hosts[0], &line, 1);
                whole.journal.put_back(log.identity().log, kept);
                assert_eq!(
                    fault(reopened(&hosts[0], &whole, 1).lock()),
                    Some(JournalFault::Behind)
                );
                let _ = log.heal(&mut |_, _| {});
                line.mend();
                log.heal(&mut |_, _| {}).unwrap();
                assert_eq!(whole.journal.groups(log.identity().log), groups);
            }
        }
        let (first, second) = (
            reopened(&hosts[0], &whole, 1),
            reopened(&hosts[1], &whole, 2),
        );
        both_record(&whole, (&hosts[0], &first), (&hosts[1], &second));
    }
}

#[test]
fn a_journal_that_lost_the_log_gets_all_of_it() {
    for format in FORMATS {
        let hosts = two(format, &Line::default());
        let line = Line::default();
        let (first, second) = (reopened(&hosts[0], &line, 1), reopened(&hosts[1], &line, 2));
        let healed = first.heal(&mut |_, _| {}).unwrap().unwrap();
        assert!(healed.groups > 100, "{healed:?}");
        both_record(&line, (&hosts[0], &first), (&hosts[1], &second));
    }
}

#[test]
fn behind_the_event_that_took_a_log_off_nobody_goes_on_in_a_journal_that_lost_it() {
    for format in FORMATS {
        let line = Line::default();
        let hosts = two(format, &line);
        reopened(&hosts[0], &line, 3).leave().unwrap();
        let other = reopened(&hosts[1], &line, 4);
        drop(other.lock().unwrap());
        let groups = line.journal.groups(other.identity().log).len();
        line.journal.put_back(other.identity().log, groups - 1);
        assert_eq!(other.heal(&mut |_, _| {}).unwrap().unwrap().groups, 1);
        // A third host reads the closing event, although the log is open in the journal.
        for log in [other.clone(), join(&line, 5).1] {
            let writer = writer(&log);
            let said = writer.append(vec![said("too late")], Durability::Synced);
            assert_eq!(fault(said), Some(JournalFault::Left));
            drop(writer);
            assert_eq!(fault(log.leave()), Some(JournalFault::Left));
        }
    }
}

#[test]
fn a_log_by_a_wrong_clock_is_not_handed_over() {
    let memory = alone(Format::Jsonl, 1_000);
    let clock = Arc::new(ManualClock::new(start()));
    let journal = MemoryJournal::default().with_clock(clock);
    let line = Line::to(journal);
    let mut options = of(&line, 1);
    let wrong = ManualClock::new(start());
    wrong.advance(5_000_000);
    options.clock = Arc::new(wrong);
    let adopted = open(&arc(&memory), &options).adopt(&named(), &mut |_, _| {});
    assert_eq!(fault(adopted), Some(JournalFault::ClockSkew));
    assert!(reopened(&memory, &line, 1).identity().journal.is_none());
    finish_adoption(&memory, &line, 121);
}

#[test]
fn a_journal_with_another_history_is_not_healed_and_does_not_change() {
    for format in FORMATS {
        let line = Line::default();
        let hosts = two(format, &line);
        let log = reopened(&hosts[0], &line, 1);
        let before = line.journal.groups(log.identity().log).len();
        let first = writer(&log);
        say(&first, "lost");
        say(&first, "lost, too");
        first.close().unwrap();
        line.journal.put_back(log.identity().log, before);
        let second = writer(&reopened(&hosts[1], &line, 2));
        say(&second, "of the other");
        second.close().unwrap();
        for _ in 0..2 {
            let groups = line.journal.groups(log.identity().log);
            assert_eq!(fault(log.heal(&mut |_, _| {})), Some(JournalFault::Forked));
            assert_eq!(line.journal.groups(log.identity().log), groups);
            let second = writer(&reopened(&hosts[1], &line, 2));
            say(&second, "more of the other");
            say(&second, "and more");
            second.close().unwrap();
        }
        assert_eq!(texts(&log).len(), 123, "what it has is read");
    }
}

#[test]
fn a_log_comes_back_to_the_journal_that_it_left_wherever_that_is_interrupted() {
    for format in FORMATS {
        for done in [false, true] {
            for call in 0.. {
                let line = Line::default();
                let hosts = two(format, &line);
                finish_leaving(&hosts, &line);
                let cut = Line::at(&line.journal, call, done);
                let adopted = reopened(&hosts[0], &cut, 5).adopt(&named(), &mut |_, _| {});
                let is_cut = cut.is_cut();
                assert_eq!(adopted.is_err(), is_cut, "{call} {done}");
                let writer = crate::support::writer(&reopened(&hosts[1], &line, 4));
                let told = fault(writer.append(vec![said("between")], Durability::Synced));
                drop(writer);
                if is_cut {
                    let wanted = [JournalFault::Left, JournalFault::Loading];
                    assert!(told.is_none_or(|told| wanted.contains(&told)), "{told:?}");
                }
                reopened(&hosts[0], &line, 5)
                    .adopt(&named(), &mut |_, _| {})
                    .unwrap();
                let first = reopened(&hosts[0], &line, 5);
                let second = reopened(&hosts[1], &line, 4);
                assert_eq!(first.identity(), second.identity());
                both_record(&line, (&hosts[0], &first), (&hosts[1], &second));
                let kinds = kinds(&first);
                let adopted = kinds.iter().filter(|kind| *kind == JOURNAL_ADOPTED);
                assert_eq!(adopted.count(), 2, "{kinds:?}");
                if !is_cut {
                    assert!(call > 5, "{call}");
                    break;
                }
            }
        }
    }
}

#[test]
fn a_log_that_another_host_has_does_not_come_back_by_it() {
    let line = Line::default();
    let hosts = two(Format::Jsonl, &line);
    finish_leaving(&hosts, &line);
    let other = reopened(&hosts[1], &line, 4);
    assert_eq!(
        fault(other.adopt(&named(), &mut |_, _| {})),
        Some(JournalFault::Left)
    );
    assert!(fault(other.heal(&mut |_, _| {})).is_none());
    let writer = crate::support::writer(&other);
    let told = fault(writer.append(vec![said("too late")], Durability::Synced));
    assert_eq!(told, Some(JournalFault::Left));
}

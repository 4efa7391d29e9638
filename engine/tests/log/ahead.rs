//! Tests of the zeros ahead of the written bytes: when they are written, which readers see them, and when they are removed.

use crate::support::*;
use teamlog_engine::Writer;
use teamlog_engine::storage::OpenMode;

const AHEAD: u64 = 4_096;

/// Options that write zeros ahead from the first group on.
fn ahead() -> LogOptions {
    given!(LogOptions, ahead_bytes: AHEAD, ahead_from_group: 0, ..options().1)
}

/// Returns the bytes of the active segment after the end that the head names.
fn behind(storage: &Arc<dyn Storage>, log: &Log) -> Vec<u8> {
    let head = log.peek().unwrap().head().clone();
    let path = dir().join("events").join(&head.name);
    let bytes = storage.read(&path, 1 << 24).unwrap();
    bytes[head.end as usize..].to_vec()
}

#[test]
fn zeros_stand_behind_what_a_writer_that_stays_wrote_and_go_when_it_closes() {
    for format in FORMATS {
        let storage = arc(&Memory::new());
        let log = create(&storage, format, &ahead());
        let writer = writer(&log);
        for n in 0..40 {
            say(&writer, &format!("number {n}"));
            let zeros = behind(&storage, &log);
            assert!(zeros.iter().all(|byte| *byte == 0), "{zeros:?}");
            // The first group starts the segment without zeros ahead.
            assert_eq!(zeros.is_empty(), format == Format::Jsonl || n == 0, "{n}");
            assert!(zeros.len() as u64 <= AHEAD);
            assert_eq!(texts(&log).len(), n + 1);
        }
        let report = log.verify(None).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        assert_eq!(log.outline(&log.reader().unwrap()).unwrap(), report);
        writer.close().unwrap();
        assert!(behind(&storage, &log).is_empty());
    }
}

#[test]
fn a_writer_that_writes_a_few_groups_fills_nothing() {
    let storage = arc(&Memory::new());
    let log = create(&storage, Format::Binary, &options().1);
    let writer = writer(&log);
    let filled: Vec<bool> = (0..17)
        .map(|n| {
            say(&writer, &n.to_string());
            !behind(&storage, &log).is_empty()
        })
        .collect();
    assert_eq!(filled, [[false; 16].as_slice(), &[true]].concat());
}

#[test]
fn whoever_comes_after_a_killed_writer_takes_its_zeros_away() {
    let storage = arc(&Memory::new());
    let log = create(&storage, Format::Binary, &ahead());
    let writer = writer(&log);
    say(&writer, "one");
    say(&writer, "two");
    drop(writer);
    assert!(!behind(&storage, &log).is_empty());
    let reader = log.reader().unwrap();
    assert_eq!((reader.beyond(), reader.notes().len()), (0, 0));
    assert!(
        !behind(&storage, &log).is_empty(),
        "a reader changes nothing"
    );
    let lock = log.lock().unwrap();
    assert!(lock.recovered().is_empty());
    assert!(behind(&storage, &log).is_empty());
}

#[test]
fn what_is_not_zero_behind_the_head_is_judged_wherever_it_stands() {
    for at in [0, 1, 700, AHEAD - 200] {
        let storage = arc(&Memory::new());
        let log = create(&storage, Format::Binary, &ahead());
        let writer = writer(&log);
        say(&writer, "one");
        say(&writer, "two");
        let end = writer.head().end;
        drop(writer);
        let file = storage
            .open(&segment(Format::Binary), OpenMode::Write)
            .unwrap();
        file.write_all_at(&[7], end + at).unwrap();
        let report = log.verify(None).unwrap();
        assert_eq!(report.problems[0].kind, "torn_tail", "{report:?}");
        let lock = log.lock().unwrap();
        shows!(lock.recovered()[0] => starts &*format!("moved {} bytes", at + 1));
        drop(lock);
        assert_eq!(events(&log).last().unwrap().kind, "log_tail_quarantined");
        assert!(log.verify(None).unwrap().problems.is_empty());
    }
}

#[test]
fn what_somebody_else_wrote_into_the_zeros_is_not_written_over() {
    let storage = arc(&Memory::new());
    let log = create(&storage, Format::Binary, &ahead());
    let writer = writer(&log);
    say(&writer, "one");
    say(&writer, "two");
    let file = storage
        .open(&segment(Format::Binary), OpenMode::Write)
        .unwrap();
    file.write_all_at(b"theirs", writer.head().end).unwrap();
    let error = writer.append(vec![said("three")], Durability::Synced);
    assert!(matches!(error, Err(Error::Corrupt { .. })), "{error:?}");
}

#[test]
fn where_there_is_no_room_for_zeros_events_are_recorded_without() {
    let memory = Memory::new();
    let faulty = Faulty::new(arc(&memory));
    let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
    let log = create(&storage, Format::Binary, &ahead());
    let writer = writer(&log);
    // These events create the segment and its zeros ahead.
    say(&writer, "one");
    say(&writer, "two");
    let before = faulty.count();
    let text = "x".repeat(AHEAD as usize);
    say(&writer, &text);
    let writes = |(at, (name, path)): (usize, &(&str, PathBuf))| {
        (at >= before && *name == "write_at" && path.ends_with("2026-11-21.tlog")).then_some(at)
    };
    let calls = faulty.calls();
    let writes: Vec<usize> = calls.iter().enumerate().filter_map(writes).collect();
    let [write, zeros] = writes[..] else {
        panic!("{writes:?}");
    };
    // Repeat the append, and fail the second of its two writes: the write of the zeros.
    faulty.arm(faulty.count() + zeros - before, Fault::ShortWrite);
    assert!(write < zeros);
    say(&writer, &text);
    assert!(behind(&storage, &log).is_empty());
    say(&writer, "three");
    assert_eq!(texts(&log).len(), 5);
}

/// Creates a long-lived writer that has just ended its segment. The last 500 bytes of a segment may stay free.
fn at_the_end(log: &Log) -> Writer<()> {
    let writer = writer(log);
    for _ in 0..40 {
        say(&writer, &"x".repeat(100));
        if head_of(log).rotating {
            return writer;
        }
    }
    panic!("no group ended a segment");
}

fn head_of(log: &Log) -> Head {
    log.peek().unwrap().head().clone()
}

fn in_small_segments() -> LogOptions {
    given!(LogOptions, segment_bytes_max: 4_000, ..ahead())
}

#[test]
fn the_last_group_of_a_segment_ends_it_and_the_next_begins_another() {
    for format in FORMATS {
        let storage = arc(&Memory::new());
        let log = create(&storage, format, &in_small_segments());
        let writer = at_the_end(&log);
        let ended = head_of(&log);
        assert!((3_500..=4_000).contains(&ended.end), "{ended:?}");
        assert!(behind(&storage, &log).is_empty(), "{format:?}");
        let report = log.verify(None).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        let reader = log.reader().unwrap();
        assert_eq!(log.outline(&reader).unwrap(), report);
        assert_eq!((reader.beyond(), reader.notes().len()), (0, 0));
        assert_eq!(texts(&log).len() as u64, ended.last_seq);
        say(&writer, "goes on");
        let begun = head_of(&log);
        assert_eq!((begun.segment, begun.rotating), (2, false));
        assert!(log.verify(None).unwrap().problems.is_empty());
    }
}

#[test]
fn a_segment_that_was_ended_early_goes_on_where_its_writer_closes_or_dies() {
    for format in FORMATS {
        for close in [true, false] {
            let storage = arc(&Memory::new());
            let log = create(&storage, format, &in_small_segments());
            let writer = at_the_end(&log);
            let ended = head_of(&log);
            match close {
                true => writer.close().unwrap(),
                false => drop(writer),
            }
            assert_eq!(head_of(&log).rotating, !close);
            let lock = log.lock().unwrap();
            assert!(lock.recovered().is_empty(), "{:?}", lock.recovered());
            let head = lock.head().clone();
            assert_eq!(
                (head.segment, head.end, head.rotating),
                (1, ended.end, false)
            );
            drop(lock);
            assert!(log.verify(None).unwrap().problems.is_empty());
        }
    }
}

#[test]
fn a_log_of_version_1_goes_on_as_it_is() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/v1-binary-healthy");
    let copy = tempfile::tempdir().unwrap();
    copy_dir(&fixture, copy.path());
    let storage: Arc<dyn Storage> = Arc::new(Files::open(copy.path()).unwrap());
    let log = open(
        &storage,
        &given!(LogOptions, segment_bytes_max: 4_000, ..ahead()),
    );
    assert_eq!(log.identity().version, 1);
    let writer = writer(&log);
    for n in 0..120 {
        say(&writer, &format!("number {n}"));
        assert!(behind(&storage, &log).is_empty());
    }
    let reader = log.reader().unwrap();
    let newest = reader.head().segment;
    assert!(newest > 5, "{newest}");
    assert_eq!(reader.header(newest).unwrap().version, 1);
}

#[test]
fn a_group_larger_than_what_is_filled_ahead_is_adopted_whole() {
    for format in FORMATS {
        let storage = arc(&Memory::new());
        let options = given!(LogOptions, ahead_from_group: 0, ..options().1);
        let log = create(&storage, format, &options);
        let writer = writer(&log);
        say(&writer, "one");
        say(&writer, "two");
        let head = dir().join("head");
        let before = storage.read(&head, 1 << 20).unwrap();
        let large = "x".repeat(900_000);
        let group = vec![said(&large), said(&large), said("last")];
        writer.append(group, Durability::Synced).unwrap();
        drop(writer);
        // Restore the head from before the last group: the group is durable, but its head was not written.
        forge::write(&*storage, &head, &before);
        assert!(behind(&storage, &log).len() > 1_800_000);
        let lock = log.lock().unwrap();
        shows!(lock.recovered()[0] => starts "adopted complete events 3 to 5");
        assert_eq!(lock.head().last_seq, 5);
        drop(lock);
        assert_eq!(texts(&log).last().unwrap(), "last");
        assert!(log.verify(None).unwrap().problems.is_empty());
    }
}

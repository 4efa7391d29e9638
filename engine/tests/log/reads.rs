//! Tests that a read never needs to write. If a write fails while a reader opens a log, the reader still reads up to the head,
//! and the next writer loses nothing.

use crate::support::*;
use teamlog_engine::Place;

/// Errors of a write for lack of space or permission: ENOSPC, EDQUOT, EFBIG, EROFS, EACCES.
const NOT_WRITTEN: [i32; 5] = [28, 122, 27, 30, 13];
/// Calls that change a file.
const WRITES: [&str; 9] = [
    "write_at",
    "sync_data",
    "sync_all",
    "set_len",
    "create_dir",
    "rename",
    "remove_file",
    "sync_dir",
    "lock",
];

fn append(log: &Log, said_in_it: &[&str]) {
    let events = said_in_it.iter().map(|text| said(text)).collect();
    writer(log).append(events, Durability::Synced).unwrap();
}

/// Creates logs of two events, with different bytes after the head, as a crash can leave them: a torn group, a whole group, or
/// both.
fn left_behind(format: Format) -> Vec<(&'static str, Memory)> {
    let memory = Memory::new();
    let log = create(&arc(&memory), format, &options().1);
    append(&log, &["one"]);
    append(&log, &["two"]);
    let path = segment(format);
    let read = |memory: &Memory| arc(memory).read(&path, 1 << 20).unwrap();
    let known = read(&memory);
    let with_third = memory.snapshot();
    append(&open(&arc(&with_third), &options().1), &["three"]);
    let third = read(&with_third);
    let with_fourth = with_third.snapshot();
    append(&open(&arc(&with_fourth), &options().1), &["four", "five"]);
    let fourth = read(&with_fourth);
    let holding = |bytes: &[u8]| {
        let memory = memory.snapshot();
        arc(&memory).replace(&path, bytes, true).unwrap();
        memory
    };
    assert!(known.len() < third.len() && third.len() < fourth.len());
    vec![
        ("torn", holding(&third[..third.len() - 5])),
        ("whole", holding(&third)),
        ("whole, then torn", holding(&fourth[..fourth.len() - 5])),
    ]
}

#[test]
fn a_reader_answers_whichever_write_of_its_recovery_fails() {
    for format in FORMATS {
        for (what, memory) in left_behind(format) {
            for errno in NOT_WRITTEN {
                let mut failed = 0;
                for call in 0.. {
                    let memory = memory.snapshot();
                    let faulty = Faulty::new(arc(&memory));
                    faulty.arm(call, Fault::Os(errno));
                    let log = open_on(&faulty);
                    let reader = log.and_then(|log| log.reader());
                    let Some((name, path)) = faulty.calls().get(call).cloned() else {
                        break;
                    };
                    // If only the write of the witness fails, recovery succeeds.
                    let of_witness = name == "write_at" && path.ends_with("lock");
                    if !WRITES.contains(&name) || of_witness {
                        continue;
                    }
                    failed += 1;
                    let told = format!("{format:?}, {what}, error {errno} of {name} {path:?}");
                    let reader = reader.unwrap_or_else(|error| panic!("{told}: {error}"));
                    let read: Vec<u64> = reader
                        .events(None)
                        .map(|event| event.unwrap().2.seq)
                        .collect();
                    assert!(read.starts_with(&[1, 2]), "{told}: {read:?}");
                    assert_eq!(reader.beyond() > 0, !reader.notes().is_empty(), "{told}");
                    // The next writer recovers the bytes after the head.
                    let log = open(&arc(&memory), &options().1);
                    let texts = recorded(&log);
                    assert!(
                        texts.starts_with(&["one".into(), "two".into()]),
                        "{told}: {texts:?}"
                    );
                    assert_eq!(
                        texts.contains(&"three".to_owned()),
                        what != "torn",
                        "{told}: {texts:?}"
                    );
                    assert!(log.verify(None).unwrap().ok, "{told}");
                }
                assert!(failed >= 5, "{format:?}, {what}: only {failed} writes");
            }
        }
    }
}

fn open_on(faulty: &Faulty) -> teamlog_engine::Result<Log> {
    let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
    Log::open(storage, &dir(), options().1)
}

/// Lets a writer open the log, and returns the events.
fn recorded(log: &Log) -> Vec<String> {
    drop(log.lock().unwrap());
    texts(log)
}

#[test]
fn a_reader_that_cannot_recover_says_how_much_lies_beyond_and_why() {
    for format in FORMATS {
        let (_, memory) = left_behind(format).remove(0);
        let len = arc(&memory).stat(&segment(format)).unwrap().unwrap().len;
        let faulty = Faulty::new(arc(&memory));
        // The first write sets the quarantine flag in the head.
        for call in 0..50 {
            faulty.arm(call, Fault::ShortWrite);
        }
        let reader = open_on(&faulty).unwrap().reader().unwrap();
        assert_eq!(reader.beyond(), len - reader.head().end, "{format:?}");
        let [note] = reader.notes() else {
            panic!("{:?}", reader.notes());
        };
        let beyond = format!("{} bytes after the durable head", reader.beyond());
        assert!(
            note.starts_with(&beyond) && note.contains("cannot write"),
            "{note}"
        );
        // Bytes are cut off only after their copy is durable.
        let now = arc(&memory).stat(&segment(format)).unwrap().unwrap().len;
        assert_eq!(now, len);
    }
}

/// Opens the log in several runs, and fails another write with `errno` in each run. Returns the errors of the readers.
fn refusals(memory: &Memory, errno: i32) -> Vec<Error> {
    let mut refusals = Vec::new();
    for call in 0.. {
        let faulty = Faulty::new(arc(&memory.snapshot()));
        faulty.arm(call, Fault::Os(errno));
        let read = open_on(&faulty).and_then(|log| log.reader());
        match faulty.calls().get(call) {
            None => break,
            Some((name, _)) if WRITES.contains(name) => refusals.extend(read.err()),
            Some(_) => {}
        }
    }
    assert!(refusals.len() >= 3, "error {errno}: {refusals:?}");
    refusals
}

/// Checks the errors of readers. If the disk fails, the reader reports the error of the disk. If the process must not write,
/// the reader reports an error that `unmended` accepts.
fn assert_told(memory: &Memory, unmended: fn(&Error) -> bool) {
    // The error numbers are EIO, EMFILE and ENOSPC.
    for errno in [5, 24, 28] {
        for error in refusals(memory, errno) {
            let Error::Io { source, .. } = &error else {
                panic!("{errno}: {error}")
            };
            assert_eq!(source.raw_os_error(), Some(errno), "{error}");
        }
    }
    // The error numbers are EROFS and EACCES.
    for errno in [30, 13] {
        for error in refusals(memory, errno) {
            assert!(unmended(&error), "{errno}: {error}");
        }
    }
}

#[test]
fn a_log_without_a_head_is_damaged_only_for_who_may_not_write() {
    for format in FORMATS {
        let memory = Memory::new();
        append(&create(&arc(&memory), format, &options().1), &["one"]);
        let head = dir().join("head");
        arc(&memory).replace(&head, &[0; 1024], true).unwrap();
        assert_told(&memory, |error| matches!(error, Error::Corrupt { .. }));
    }
}

/// Creates a log with a salvage that was interrupted directly after the salvage was decided.
fn salvage_cut_short(format: Format) -> Memory {
    let memory = Memory::new();
    let log = create(&arc(&memory), format, &options().1);
    append(&log, &["one"]);
    append(&log, &["two"]);
    let start = log.reader().unwrap().find_seq(1).unwrap().unwrap().offset;
    memory.corrupt(&segment(format), start + 60, 4).unwrap();
    let salvage = |faulty: &Faulty| {
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let mut options = options().1;
        options.ids = Arc::new(SeededIds(4_242.into()));
        salvage(&storage, &dir(), &options, "lead", &mut |_| Ok(Vec::new()))
    };
    let whole = Faulty::new(arc(&memory.snapshot()));
    salvage(&whole).unwrap().unwrap();
    let calls = whole.calls();
    let named = ("rename", dir().join("log.json.tmp"));
    let decided = calls.iter().rposition(|call| *call == named).unwrap();
    let moved = |call: &(&str, _)| call.0 == "rename";
    let first_move = calls[decided + 1..].iter().position(moved).unwrap();
    let faulty = Faulty::new(arc(&memory));
    faulty.arm(decided + 1 + first_move, Fault::Stop);
    salvage(&faulty).unwrap_err();
    memory
}

#[test]
fn what_keeps_a_salvage_from_being_finished_is_told() {
    for format in FORMATS {
        let memory = salvage_cut_short(format);
        assert_told(&memory, |error| matches!(error, Error::ForeignFile { .. }));
        let log = open(&arc(&memory), &options().1);
        assert_eq!(texts(&log), ["two"]);
    }
}

#[test]
fn a_salvage_that_cannot_be_looked_at_is_not_taken_for_none() {
    for format in FORMATS {
        let memory = salvage_cut_short(format);
        // If there is no head, only the unfinished salvage shows that the segments are not the whole log.
        arc(&memory).remove_file(&dir().join("head")).unwrap();
        let built = dir().join("salvage").join("log.json");
        let mut looked = 0;
        for call in 0.. {
            let faulty = Faulty::new(arc(&memory.snapshot()));
            faulty.arm(call, Fault::Os(5));
            let locked = open_on(&faulty).and_then(|log| log.lock());
            let Some((name, path)) = faulty.calls().get(call).cloned() else {
                assert_eq!(texts(&open(&arc(&memory), &options().1)), ["two"]);
                break;
            };
            if path == built && ["open", "read_at"].contains(&name) {
                let error = locked.err().unwrap();
                assert!(
                    matches!(&error, Error::Io { path, .. } if *path == built),
                    "{error}"
                );
                looked += 1;
            }
        }
        assert!(looked >= 2, "{looked}");
    }
}

#[test]
fn what_does_not_fit_is_no_space_whatever_the_limit_is_called() {
    let errors = NOT_WRITTEN.map(|errno| {
        let source = std::io::Error::from_raw_os_error(errno);
        Error::io("write", "teams/demo/head")(source).is_no_space()
    });
    assert_eq!(errors, [true, true, true, false, false]);
    // A file above its size limit does not mean that the disk is full.
    let long = std::io::ErrorKind::FileTooLarge.into();
    assert!(!Error::io("read", "teams/demo/head")(long).is_no_space());
}

#[test]
fn what_could_not_be_written_whole_takes_up_no_room() {
    let memory = Memory::new();
    let faulty = Faulty::new(arc(&memory));
    faulty.arm(2, Fault::ShortWrite);
    let path = std::path::Path::new("file");
    faulty.replace(path, b"text", true).unwrap_err();
    assert_eq!(faulty.calls()[2].0, "write_at");
    assert!(
        arc(&memory)
            .list(std::path::Path::new(""))
            .unwrap()
            .is_empty()
    );
}

/// The events of a sealed segment are read through one map. The active segment is not mapped, because a writer may cut that
/// segment.
#[test]
fn single_events_of_a_sealed_segment_take_one_map() {
    for format in FORMATS {
        let faulty = Faulty::new(arc(&Memory::new()));
        let (storage, options): (Arc<dyn Storage>, _) = (Arc::new(faulty.clone()), small(1));
        let log = create(&storage, format, &options);
        (0..40).for_each(|n| append(&log, &[&format!("event {n}")]));
        let reader = log.reader().unwrap();
        let events: Vec<_> = reader.events(None).map(Result::unwrap).collect();
        let last = reader.head().segment;
        assert!(last > 2, "{last} segments");
        let reader = log.reader().unwrap();
        let before = faulty.count();
        for (place, crc, event) in &events {
            assert_eq!(reader.at(*place).unwrap(), *event);
            assert_eq!(reader.frame_at(*place).unwrap().unwrap().1, *crc);
            let within = Place {
                offset: place.offset + 1,
                ..*place
            };
            assert!(reader.frame_at(within).unwrap().is_none());
        }
        let calls = faulty.calls().split_off(before);
        let count = |name| calls.iter().filter(|(call, _)| *call == name).count() as u32;
        let active = events
            .iter()
            .filter(|(place, ..)| place.segment == last)
            .count() as u32;
        assert_eq!(count("sealed"), last - 1, "{calls:?}");
        assert_eq!((count("open"), count("list")), (1, 1), "{calls:?}");
        // Each event is read three times. The third place of the last event ends past the head, so nothing is read there.
        assert_eq!(count("read_at"), 3 * active - 1, "{calls:?}");
        let gone = Place {
            offset: u64::MAX - 1,
            ..events[0].0
        };
        assert!(reader.frame_at(gone).unwrap().is_none());
    }
}

#[test]
fn a_tail_larger_than_any_crash_leaves_is_set_aside_whole() {
    for format in FORMATS {
        let (disk, log) = on_disk(format);
        append(&log, &["one"]);
        let path = disk.path().join(segment(format));
        let sound = std::fs::read(&path).unwrap();
        let junk = vec![b'x'; 9 << 20];
        std::fs::write(&path, [&sound[..], &junk].concat()).unwrap();
        let lock = log.lock().unwrap();
        shows!(lock.recovered()[0] => starts &*format!("moved {} bytes", junk.len()));
        drop(lock);
        assert_eq!(recorded(&log).first().unwrap(), "one");
        let kept = disk.path().join(dir()).join("quarantine");
        let kept = std::fs::read_dir(kept).unwrap().next().unwrap().unwrap();
        assert!(std::fs::read(kept.path()).unwrap() == junk);
        assert!(std::fs::read(&path).unwrap().starts_with(&sound));
    }
}

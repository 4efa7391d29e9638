//! Tests of each row in the recovery table, and of other states after a crash. The states are written byte by byte.

use super::*;
use teamlog_engine::verify::Report;

/// Returns the kinds of the problems in a report.
fn problems(report: &Report) -> Vec<&'static str> {
    let problems = report.problems.iter();
    problems.map(|problem| problem.kind.name()).collect()
}

/// Returns a log with two acknowledged appends, the bytes of its segment, and the bytes that two further appends would add.
pub fn with_next_group(format: Format) -> (Memory, Vec<u8>, Vec<u8>) {
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

pub fn put(memory: &Memory, path: &Path, bytes: &[u8]) {
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
        // Opening the log moves the torn tail to quarantine, and then rotates.
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
                assert!(error.is_sync_error(), "{call}, {name} {path:?}: {error}");
                replaced += usize::from(aside);
            }
            if aside && name == "write_at" {
                let error = fail(call, Fault::ShortWrite).1.unwrap();
                assert!(error.is_no_space() && !error.is_sync_error(), "{error}");
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
        shows!(opened.unwrap()[0] => has "adopted complete events 4 to 6");
        assert_eq!(texts(&log).len(), 6);
        // A cut inside the first group leaves a torn group. The torn group is moved to quarantine, and an event names its file.
        for cut in 1..first_group {
            let (memory, log, opened) = state(&next[..cut]);
            assert!(
                opened.as_ref().unwrap()[0].contains("to quarantine"),
                "{format:?} {cut}: {opened:?}"
            );
            assert_eq!(texts(&log).len(), 3);
            let kept = arc(&memory).list(&dir().join(QUARANTINE_DIR)).unwrap();
            assert_eq!(kept.len(), 1);
            let bytes = arc(&memory)
                .read(&dir().join(QUARANTINE_DIR).join(&kept[0]), 1 << 20)
                .unwrap();
            let torn = &next[..cut];
            // In `binary`, zeros at the end are ignored.
            let written = match format {
                Format::Binary => torn.iter().rposition(|byte| *byte != 0).unwrap() + 1,
                Format::Jsonl => cut,
            };
            assert_eq!(bytes, &torn[..written]);
            every_quarantine_file_is_named(&arc(&memory), &log, "cut");
            assert!(log.verify(None).unwrap().ok);
        }
        // After a cut inside the second group, the first group is adopted, and the rest is moved to quarantine.
        for cut in first_group + 1..next.len() {
            let (_, log, opened) = state(&next[..cut]);
            assert_eq!(opened.unwrap().len(), 2, "{format:?} {cut}");
            assert_eq!(texts(&log).len(), 5);
        }
        // The first event of the group is damaged and the second is whole. Both are parts of one write, so the group is torn.
        for at in 0..10 {
            let mut tail = next[..first_group].to_vec();
            tail[at + 20] ^= 0x10;
            let (_, log, opened) = state(&tail);
            assert!(
                opened.unwrap()[0].contains("to quarantine"),
                "{format:?} {at}"
            );
            assert_eq!(texts(&log).len(), 3);
        }
        // A damaged group before a later group had been synced, so the log is corrupt and nothing is changed.
        for at in 0..first_group {
            let mut tail = next.clone();
            tail[at] ^= 0x10;
            let (memory, log, opened) = state(&tail);
            let error = opened.unwrap_err();
            assert!(
                matches!(error, Error::Corrupt { .. }),
                "{format:?} {at}: {error}"
            );
            assert_eq!(
                arc(&memory).read(&path, 1 << 20).unwrap(),
                [&now[..], &tail].concat()
            );
            assert!(log.reader().is_err() && !log.verify(None).unwrap().ok);
        }
        // In `binary`, zeros are ignored; in `jsonl`, zeros are a torn write.
        let (_, log, opened) = state(&[0; 700]);
        assert_eq!(opened.unwrap().is_empty(), format == Format::Binary);
        assert_eq!(texts(&log).len(), 3);
        for garbage in [
            b"garbage\n".to_vec(),
            b"{\"seq\":9}\n".to_vec(),
            vec![0x1e; 50],
        ] {
            let (_, log, opened) = state(&garbage);
            assert!(opened.unwrap()[0].contains("to quarantine"), "{format:?}");
            assert_eq!(texts(&log).len(), 3);
        }
        // The file ends before the end that the head names.
        for cut in 1..40 {
            let memory = memory.snapshot();
            put(&memory, &path, &now[..now.len() - cut]);
            let log = open(&arc(&memory), &options().1);
            assert!(
                matches!(log.lock().err(), Some(Error::Corrupt { .. })),
                "{format:?} {cut}"
            );
            assert!(log.reader().is_err());
            let report = log.verify(None).unwrap();
            assert!(!report.ok, "{report:?}");
        }
    }
}

pub fn group_len(format: Format, bytes: &[u8]) -> usize {
    let first = teamlog_engine::internals::codec::decode(format, bytes).unwrap();
    let second = teamlog_engine::internals::codec::decode(format, &bytes[first.len..]).unwrap();
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
        // If one slot of the head is damaged, no event is lost.
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

/// Returns a log of two segments, and the bytes that its head had after the first event.
pub fn two_segments(format: Format) -> (Memory, Vec<u8>) {
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
        assert_eq!((report.ok, problems(&report)), (false, vec!["stale_head"]));
        let error = log.lock().err().unwrap();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
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
        // Restore the head from the time when the first group of the second segment was being written.
        let rotating = given!(Head, segment: 1,
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
        forget_witness(&memory);
        let report = log.verify(None).unwrap();
        assert_eq!((report.ok, problems(&report)), (true, vec!["torn_tail"]));
        assert!(
            log.lock()
                .unwrap()
                .recovered()
                .iter()
                .any(|note| note.contains("to quarantine"))
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
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    drop(writer);
    assert_eq!(texts(&log).len(), 1);
}

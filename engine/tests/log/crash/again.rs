//! Tests of a crash, a recovery, and a second crash. Events that a recovery returned are as durable as acknowledged events. The
//! quarantine of a recovery is kept. A recovery never continues in a segment whose header does not fit the previous segment.

use super::*;
use teamlog_engine::internals::codec::{Predecessor, SegmentHeader};

/// Returns the possible states after a first crash in the history, each with and without its head.
fn after_a_crash(format: Format) -> Vec<(String, Memory)> {
    let (mut states, mut seen) = (Vec::new(), HashSet::new());
    for fault in [Fault::Stop, Fault::Os(5)] {
        let history = |storage: &Arc<dyn Storage>| run_ahead(storage, &HISTORY);
        at_every_call(&fresh(format), fault, history, |failed| {
            let left = match fault {
                Fault::Stop => failed.crashes(2),
                _ if failed.name == "sync_dir" || !failed.name.starts_with("sync_") => Vec::new(),
                _ => {
                    failed.forget_unsynced();
                    vec![(format!("sync {} failed", failed.call), failed.memory)]
                }
            };
            for (how, left) in left {
                let durable = tree(&left.lose_unsynced(), Path::new(""));
                if seen.insert((tree(&left, Path::new("")), durable)) {
                    let headless = left.snapshot();
                    put(&headless, &dir().join("head"), &[0; 1024]);
                    states.extend([(format!("{how}, no head"), headless), (how, left)]);
                }
            }
        });
    }
    states
}

#[test]
fn what_a_recovery_showed_survives_the_next_power_loss() {
    for format in FORMATS {
        let mut adopted = 0;
        for (how, state) in after_a_crash(format) {
            let log = open(&arc(&state), &small(&options().1));
            let Ok(recovered) = log.lock() else {
                assert!(how.ends_with("no head"), "{how}");
                continue;
            };
            let notes = recovered.recovered();
            adopted += usize::from(notes.iter().any(|note| note.contains("adopted")));
            let shown = texts(&log);
            drop(recovered);
            let mut checked = Checked::default();
            for (then, after) in crashes(&state, adopted as u64, 2) {
                if !checked.is_new(&after, ()) {
                    continue;
                }
                let what = format!("{format:?}, {how}, then {then}");
                let log = open(&arc(&after), &small(&options().1));
                drop(log.lock().unwrap_or_else(|error| panic!("{what}: {error}")));
                assert_eq!(texts(&log), shown, "{what}");
                every_quarantine_file_is_named(&arc(&after), &log, &what);
                assert!(log.verify(None).unwrap().ok, "{what}");
            }
        }
        assert!(adopted > 10, "{adopted}");
    }
}

#[test]
fn a_torn_tail_is_kept_whatever_its_recovery_is_stopped_at() {
    for format in FORMATS {
        let (memory, now, next) = with_next_group(format);
        let first_group = group_len(format, &next);
        // The torn group is alone, or follows a complete group.
        for (start, end) in [(0, first_group / 2), (first_group, next.len() - 3)] {
            let torn = &next[start..end];
            let count = if start == 0 { 3 } else { 5 };
            let (mut stopped, mut checked) = (0, Checked::default());
            put(&memory, &segment(format), &[&now, &next[..end]].concat());
            let recover = |storage: &Arc<dyn Storage>| {
                let log = Log::open(storage.clone(), &dir(), small(&options().1));
                log.and_then(|log| log.lock().map(drop))
            };
            let mut check = |how: &str, after: Memory| {
                if !checked.is_new(&after, ()) {
                    return;
                }
                let what = format!("{format:?}, recovery {how}");
                let log = open(&arc(&after), &small(&options().1));
                drop(log.lock().unwrap_or_else(|error| panic!("{what}: {error}")));
                assert_eq!(texts(&log).len(), count, "{what}");
                let kept = quarantined(&arc(&after));
                assert!(kept.iter().any(|kept| kept == torn), "{what}: lost");
                every_quarantine_file_is_named(&arc(&after), &log, &what);
            };
            let whole = at_every_call(&memory, Fault::Stop, recover, |failed| {
                assert!(failed.done.is_err(), "{format:?}, call {}", failed.call);
                stopped += 1;
                for (how, after) in failed.crashes(4) {
                    check(&how, after);
                }
            });
            whole.unwrap();
            let finished = memory.snapshot();
            recover(&arc(&finished)).unwrap();
            for (how, after) in crashes(&finished, 0, 4) {
                check(&how, after);
            }
            assert!(stopped > 20, "{stopped}");
        }
    }
}

/// Returns the bytes of every quarantine file.
fn quarantined(storage: &Arc<dyn Storage>) -> Vec<Vec<u8>> {
    let place = dir().join(QUARANTINE_DIR);
    let files = storage.list(&place).unwrap_or_default();
    files
        .iter()
        .filter(|file| !file.ends_with(".tmp"))
        .map(|file| storage.read(&place.join(file), 1 << 20).unwrap())
        .collect()
}

/// Damages a segment's header, or the bytes of the previous segment.
type Harm = fn(&mut SegmentHeader, &mut Vec<u8>);

fn previous(header: &mut SegmentHeader) -> &mut Predecessor {
    header.previous.as_mut().unwrap()
}

const HARMS: [(&str, Harm); 8] = cases![
    ("log" => |header, _| header.log[0] ^= 1),
    ("number" => |header, _| header.number += 1),
    ("first seq" => |header, _| header.first_seq += 1),
    ("no previous" => |header, _| header.previous = None),
    ("name" => |header, _| previous(header).name.insert(0, '1')),
    ("length" => |header, _| previous(header).len += 1),
    ("digest" => |header, _| previous(header).digest[31] ^= 1),
    ("the segment before" => |_, before| { let at = before.len() / 2; before[at] ^= 1; }),
];

#[test]
fn a_segment_that_does_not_continue_the_one_before_is_not_gone_on_in() {
    for format in FORMATS {
        let (memory, _) = two_segments(format);
        let log = open(&arc(&memory), &options().1);
        let head = log.reader().unwrap().head().clone();
        let last_id = events(&log)[1].id;
        let (first, second) = (segment(format), dir().join("events").join(&head.name));
        let read = |path: &Path| arc(&memory).read(path, 1 << 20).unwrap();
        let (before, bytes) = (read(&first), read(&second));
        let (header, header_len) = SegmentHeader::decode(format, &bytes).unwrap();
        // The head of the rotation was not written, or there is no head at all.
        let rotating = given!(Head, segment: 1,
            name: first.file_name().unwrap().to_str().unwrap().to_owned(), end: before.len() as u64,
            last_seq: 2, last_id, rotating: true, ..head);
        let rotating = [&rotating.encode(log.identity().log)[..], &[0; 512]].concat();
        for head in [rotating, vec![0; 1024]] {
            let harmed = |harm: Harm| {
                let (mut header, mut before) = (header.clone(), before.clone());
                harm(&mut header, &mut before);
                let memory = memory.snapshot();
                let second_bytes = [&header.encode(format), &bytes[header_len..]].concat();
                put(&memory, &dir().join("head"), &head);
                put(&memory, &first, &before);
                put(&memory, &second, &second_bytes);
                let log = open(&arc(&memory), &options().1);
                let opened = log.lock().map(drop);
                (memory, log, opened, second_bytes)
            };
            let (_, log, opened, _) = harmed(|_, _| {});
            opened.unwrap();
            assert_eq!(texts(&log).len(), 3);
            for (what, harm) in HARMS {
                let (memory, log, opened, second_bytes) = harmed(harm);
                assert!(
                    matches!(opened, Err(Error::Corrupt { .. })),
                    "{format:?}, {what}: {opened:?}"
                );
                assert_eq!(arc(&memory).read(&second, 1 << 20).unwrap(), second_bytes);
                assert!(!log.verify(None).unwrap().ok, "{format:?}, {what}");
            }
        }
    }
}

#[test]
fn a_quarantine_file_is_named_once() {
    for format in FORMATS {
        let (memory, now, next) = with_next_group(format);
        let torn = [&now, &next[..next.len() - 1]].concat();
        put(&memory, &segment(format), &torn);
        let log = open(&arc(&memory), &options().1);
        drop(log.lock().unwrap());
        let named = || {
            let all = events(&log);
            all.iter().filter(|event| event.kind == QUARANTINED).count()
        };
        assert_eq!(named(), 1);
        assert_eq!(log.lock().unwrap().name_quarantined().unwrap(), 0);
        assert_eq!(named(), 1);
    }
}

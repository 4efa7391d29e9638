//! Tests of logs with every bit flipped in turn, and cut at every byte: every damage is detected.

use crate::support::*;

/// Number of events in each log.
const EVENTS: usize = 10;

/// Creates twenty logs with groups of one to three events; the last group is acknowledged. To check a flipped bit, the test
/// reads all bytes before that bit again. Therefore, one long log would cost twenty times as much, and would test no more.
fn golden(format: Format) -> impl Iterator<Item = Memory> {
    (0..20).map(move |log| {
        let memory = Memory::new();
        let writer = writer(&create(&arc(&memory), format, &options().1));
        let mut events: Vec<_> = (0..EVENTS)
            .map(|n| said(&format!("event {}", log * EVENTS + n)))
            .collect();
        while !events.is_empty() {
            let group = events.split_off(events.len() - (events.len() % 3 + 1).min(events.len()));
            writer.append(group, Durability::Synced).unwrap();
        }
        memory
    })
}

fn open(memory: &Memory) -> Log {
    Log::open(arc(memory), &dir(), options().1).unwrap()
}

/// Returns true if a reader of the whole log reports damage.
fn meets(memory: &Memory) -> bool {
    let read = open(memory).reader().and_then(|reader| {
        reader.each(None, |_| {
            Ok::<_, Error>(std::ops::ControlFlow::<()>::Continue(()))
        })
    });
    read.is_err()
}

/// Returns true if `verify` reports damage.
fn names(memory: &Memory) -> bool {
    !open(memory).verify(None).is_ok_and(|report| report.ok)
}

#[test]
fn every_flipped_bit_is_reported() {
    for format in FORMATS {
        let path = segment(format);
        let mut flips = 0;
        for memory in golden(format) {
            let len = arc(&memory).read(&path, 1 << 20).unwrap().len() as u64;
            assert!(!meets(&memory) && !names(&memory));
            (0..len).for_each(|offset| flip_byte(&memory, &path, offset));
            flips += len * 8;
        }
        assert!(flips > 100_000, "{flips}");
    }
}

/// Flips each bit of a byte, checks that `verify` reports damage, and restores the bit. Then flips one bit and checks that a reader reports
/// damage.
fn flip_byte(memory: &Memory, path: &Path, offset: u64) {
    let flip = |bit: u64| memory.corrupt(path, offset, 1 << bit).unwrap();
    for bit in 0..8 {
        flip(bit);
        assert!(
            names(memory),
            "bit {bit} of byte {offset} of {}",
            path.display()
        );
        flip(bit);
    }
    flip(offset % 8);
    assert!(
        meets(memory),
        "bit {} of byte {offset} of {}",
        offset % 8,
        path.display()
    );
    flip(offset % 8);
}

#[test]
fn every_cut_is_reported() {
    for format in FORMATS {
        let path = segment(format);
        for whole in golden(format) {
            let len = arc(&whole).read(&path, 1 << 20).unwrap().len() as u64;
            for cut in 0..len {
                let memory = whole.snapshot();
                memory.truncate(&path, cut).unwrap();
                assert!(meets(&memory) && names(&memory), "{format:?} cut at {cut}");
            }
        }
    }
}

#[test]
fn every_flipped_bit_of_head_and_identity_is_harmless_or_reported() {
    for format in FORMATS {
        let memory = golden(format).next().unwrap();
        for file in ["head", "log.json"] {
            let path = dir().join(file);
            let len = arc(&memory).read(&path, 1 << 20).unwrap().len() as u64;
            for offset in 0..len {
                for bit in 0..8 {
                    let damaged = memory.snapshot();
                    damaged.corrupt(&path, offset, 1 << bit).unwrap();
                    let Ok(log) = Log::open(arc(&damaged), &dir(), options().1) else {
                        continue;
                    };
                    let events = log
                        .reader()
                        .map(|reader| reader.events(None).filter_map(Result::ok).count());
                    assert!(
                        matches!(events, Ok(EVENTS) | Err(_)),
                        "{format:?} {file} {offset}.{bit}: {events:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_damaged_slot_of_the_head_is_written_again_by_whoever_opens_the_log() {
    for format in FORMATS {
        let memory = golden(format).next().unwrap();
        let head = dir().join("head");
        for slot in [0, 1] {
            let damaged = memory.snapshot();
            damaged.corrupt(&head, slot * 512 + 40, 1).unwrap();
            let storage = arc(&damaged);
            let log = open(&damaged);
            let id = log.identity().log;
            let slots =
                || teamlog_engine::internals::head::read_slots(&*storage, &dir(), id).unwrap();
            assert_eq!(slots().damaged, 1, "{format:?}, slot {slot}");
            drop(log.lock().unwrap());
            assert_eq!(slots().damaged, 0, "{format:?}, slot {slot}");
            // Both slots are valid. If one of the slots is damaged, the log is still the same.
            for lost in [0, 1] {
                let again = damaged.snapshot();
                again.corrupt(&head, lost * 512 + 40, 1).unwrap();
                assert!(!meets(&again), "{format:?}, slots {slot} and {lost}");
            }
        }
    }
}

//! A log of 200 events with every bit flipped in turn, and cut at every byte: nothing is silent.

use crate::support::*;

/// 200 events in groups of one to three, the last acknowledged.
fn golden(format: Format) -> Memory {
    let memory = Memory::new();
    let storage: Arc<dyn Storage> = Arc::new(memory.clone());
    let log = create(&storage, format, &options().1);
    let writer = writer(&log);
    let mut said_so_far = 0;
    while said_so_far < 200 {
        let group = (said_so_far % 3 + 1).min(200 - said_so_far);
        let events = (0..group)
            .map(|n| said(&format!("event {}", said_so_far + n)))
            .collect();
        writer.append(events, Durability::Synced).unwrap();
        said_so_far += group;
    }
    drop(writer);
    memory
}

fn open(memory: &Memory) -> Log {
    let storage: Arc<dyn Storage> = Arc::new(memory.clone());
    Log::open(storage, &dir(), options().1).unwrap()
}

/// Whether whoever reads the log to its end meets the damage.
fn meets(memory: &Memory) -> bool {
    let read = open(memory).reader().and_then(|reader| {
        reader.each(None, |_| {
            Ok::<_, Error>(std::ops::ControlFlow::<()>::Continue(()))
        })
    });
    read.is_err()
}

/// Whether `verify` names the damage.
fn names(memory: &Memory) -> bool {
    !open(memory).verify(None).is_ok_and(|report| report.ok)
}

#[test]
fn every_flipped_bit_is_reported() {
    for format in FORMATS {
        let path = segment(format);
        let memory = golden(format);
        let storage: Arc<dyn Storage> = Arc::new(memory.clone());
        let len = storage.read(&path, 1 << 20).unwrap().len() as u64;
        assert!(!meets(&memory) && !names(&memory));
        // Two halves at once, each on its own copy.
        let flips: u64 = std::thread::scope(|scope| {
            let halves = [0..len / 2, len / 2..len].map(|bytes| {
                let memory = memory.snapshot();
                let path = &path;
                scope.spawn(move || {
                    bytes
                        .map(|offset| flip_byte(&memory, path, offset))
                        .sum::<u64>()
                })
            });
            halves.into_iter().map(|half| half.join().unwrap()).sum()
        });
        assert_eq!(flips, len * 8);
        assert!(flips > 100_000, "{flips}");
    }
}

/// Flips each bit of a byte and back, and one more time for a reader; returns how many flips were verified.
fn flip_byte(memory: &Memory, path: &Path, offset: u64) -> u64 {
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
    8
}

#[test]
fn every_cut_is_reported() {
    for format in FORMATS {
        let whole = golden(format);
        let path = segment(format);
        let storage: Arc<dyn Storage> = Arc::new(whole.clone());
        let len = storage.read(&path, 1 << 20).unwrap().len() as u64;
        for cut in 0..len {
            let memory = whole.snapshot();
            memory.truncate(&path, cut).unwrap();
            assert!(meets(&memory) && names(&memory), "{format:?} cut at {cut}");
        }
    }
}

#[test]
fn every_flipped_bit_of_head_and_identity_is_harmless_or_reported() {
    for format in FORMATS {
        let memory = golden(format);
        for file in ["head", "log.json"] {
            let path = dir().join(file);
            let storage: Arc<dyn Storage> = Arc::new(memory.clone());
            let len = storage.read(&path, 1 << 20).unwrap().len() as u64;
            for offset in 0..len {
                for bit in 0..8 {
                    let damaged = memory.snapshot();
                    damaged.corrupt(&path, offset, 1 << bit).unwrap();
                    let storage: Arc<dyn Storage> = Arc::new(damaged);
                    let Ok(log) = Log::open(storage, &dir(), options().1) else {
                        continue;
                    };
                    let events = log
                        .reader()
                        .map(|reader| reader.events(None).filter_map(Result::ok).count());
                    assert!(
                        matches!(events, Ok(200) | Err(_)),
                        "{format:?} {file} {offset}.{bit}: {events:?}"
                    );
                }
            }
        }
    }
}

//! Tests that every failed sync is recognised and ends the handle, because the content of the disk is then unknown.

use crate::support::*;
use teamlog_engine::backup::{self, Backup};
use teamlog_engine::{Clock, NewLog};

/// Creates a log of six groups in several segments.
fn log(format: Format) -> Memory {
    let memory = Memory::new();
    let writer = writer(&create(&arc(&memory), format, &small(1)));
    for n in 0..6 {
        let text = format!("{n} {}", "x".repeat(500));
        say(&writer, &text);
    }
    writer.close().unwrap();
    memory
}

/// Like `log`, but the fifth event is damaged.
fn damaged(format: Format) -> Memory {
    let memory = log(format);
    let reader = open(&arc(&memory), &small(1)).reader().unwrap();
    let place = reader.find_seq(5).unwrap().unwrap();
    let name = &reader.segments().unwrap()[place.segment as usize - 1];
    let path = dir().join("events").join(name);
    memory.corrupt(&path, place.offset + 60, 4).unwrap();
    memory
}

/// Fails each call of `act` in turn, and checks that every failed sync is recognised. Returns the number of failed syncs that
/// were part of a durable replacement.
fn known(
    what: &str,
    start: &Memory,
    act: impl Fn(&Arc<dyn Storage>) -> Result<(), Error>,
) -> usize {
    let mut replaced = 0;
    let whole = at_every_call(start, Fault::Os(5), act, |failed| {
        let (call, name, path) = (failed.call, failed.name, failed.path);
        if ["sync_data", "sync_all", "sync_dir"].contains(&name) {
            let Err(error) = failed.done else {
                panic!("{what}, {call}, {name} {path:?}: it was acknowledged");
            };
            assert!(
                error.is_sync_error(),
                "{what}, {call}, {name} {path:?}: {error}"
            );
            replaced += usize::from(path.extension().is_some_and(|end| end == "tmp"));
        }
    });
    whole.unwrap();
    replaced
}

#[test]
fn in_what_changes_or_makes_a_whole_log() {
    for format in FORMATS {
        let opened = |storage: &Arc<dyn Storage>| Log::open(storage.clone(), &dir(), small(2));
        let cut = known("cut", &damaged(format), |storage| {
            opened(storage)?.cut(3, "lead").map(drop)
        });
        let salvaged = known("salvage", &damaged(format), |storage| {
            salvage(storage, &dir(), &small(2), "lead", &mut |_| Ok(Vec::new())).map(drop)
        });
        let converted = known("convert", &log(format), |storage| {
            opened(storage)?.convert(other(format)).map(drop)
        });
        let created = known("create", &Memory::new(), |storage| {
            let new = given!(NewLog; name: "demo", format, origin: "init");
            Log::create(storage.clone(), &dir(), new, small(2)).map(drop)
        });
        let (at, now) = (Path::new("demo"), options().0.now());
        let reader = open(&arc(&log(format)), &small(2)).reader().unwrap();
        let kept = known("backup", &Memory::new(), |storage| {
            backup::back_up(&reader, storage, at, now, Duration::ZERO).map(drop)
        });
        let to = Memory::new();
        backup::back_up(&reader, &arc(&to), at, now, Duration::ZERO).unwrap();
        let backup = Backup::open(arc(&to), at, small(3)).unwrap();
        let restored = known("restore", &Memory::new(), |storage| {
            let restored = backup.restore(storage.clone(), &dir(), "demo", None, small(4));
            restored.map(drop)
        });
        // Each operation replaces files durably, so a durable replacement must have failed in each operation.
        let replaced = [cut, salvaged, converted, created, kept, restored];
        assert!(replaced.iter().all(|count| *count > 0), "{replaced:?}");
    }
}

#[test]
fn a_writer_remembers_that_a_sync_failed_in_it_whoever_asks_later() {
    for format in FORMATS {
        for (name, unsynced) in [("sync_data", true), ("write_at", false)] {
            let memory = log(format);
            let faulty = Faulty::new(arc(&memory));
            let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
            // The segments have enough space, so that each append makes the same calls.
            let segment_bytes_max = LogOptions::default().segment_bytes_max;
            let roomy = given!(LogOptions, segment_bytes_max, ..small(2));
            let writer = writer(&open(&storage, &roomy));
            let before = faulty.count();
            let append = |text| writer.append(vec![said(text)], Durability::Synced);
            append("one").unwrap();
            assert_eq!(writer.unsynced(), None);
            let calls = faulty.calls();
            let at = calls[before..].iter().position(|call| call.0 == name);
            faulty.arm(calls.len() + at.unwrap(), Fault::Os(5));
            let first = append("two").unwrap_err();
            assert_eq!(first.is_sync_error(), unsynced, "{first}");
            // Later callers get the error that the handle is dead.
            let later = append("three").unwrap_err();
            assert!(matches!(later, Error::Poisoned(_)), "{later}");
            assert!(!later.is_sync_error());
            assert_eq!(writer.unsynced(), unsynced.then(|| first.to_string()));
        }
    }
}

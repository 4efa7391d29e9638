//! Tests of conversion: the new log has the same groups in the other format. After a stop at any call, the old log or the new log
//! is there, whole.

use crate::support::*;
use std::collections::HashSet;
use teamlog_engine::internals::layout::{ARCHIVE_DIR, CONVERTED, EVENTS_DIR};
use teamlog_engine::internals::segment::SegmentName;

/// Creates a log of two days with groups of one to four events.
fn history(storage: &Arc<dyn Storage>, format: Format) -> Log {
    let (clock, _) = options();
    let with = given!(LogOptions, clock: clock.clone(), ..small(1));
    let log = create(storage, format, &with);
    let writer = writer(&log);
    for n in 0..12 {
        if n == 7 {
            clock.advance(86_400_000_000);
        }
        let group = (0..1 + n % 4)
            .map(|part| said(&format!("{n}.{part} {}", "x".repeat(150))))
            .collect();
        writer.append(group, Durability::Synced).unwrap();
    }
    writer.close().unwrap();
    log
}

fn public(log: &Log) -> Vec<String> {
    let mut lines = Vec::new();
    for event in events(log) {
        let mut line = Vec::new();
        teamlog_engine::internals::codec::public_json(&event, &mut line);
        lines.push(String::from_utf8(line).unwrap());
    }
    lines
}

fn strays(storage: &Arc<dyn Storage>, format: Format) -> Vec<String> {
    let mut names = storage.list(&dir().join(EVENTS_DIR)).unwrap();
    names.retain(|name| SegmentName::parse(name, format).is_none());
    let built = storage.list(&dir().join(ARCHIVE_DIR)).unwrap_or_default();
    names.extend(built.into_iter().filter(|name| name.starts_with('.')));
    names
}

fn original(storage: &Arc<dyn Storage>, archive: &Path) -> Log {
    Log::open(storage.clone(), &dir().join(archive), small(3)).unwrap()
}

#[test]
fn every_event_and_group_is_kept_and_the_original_is_archived() {
    for format in FORMATS {
        let storage: Arc<dyn Storage> = Arc::new(Memory::new());
        let log = history(&storage, format);
        let (before, content) = (
            public(&log),
            log.reader().unwrap().content(u64::MAX).unwrap(),
        );
        let receipt = log.reader().unwrap().receipt().unwrap().unwrap();
        let done = log.convert(other(format)).unwrap().unwrap();
        assert_eq!((done.events, done.groups), (before.len() as u64, 12));
        assert!(done.from.segments > 2 && done.to.segments > 2, "{done:?}");
        assert_eq!(done.receipt.as_ref(), Some(&receipt));

        let new = open(&storage, &small(2));
        assert_eq!(new.identity().format, other(format));
        assert_eq!(new.identity().origin, "convert");
        assert_ne!(new.identity().log, log.identity().log);
        assert_eq!(new.identity().log.to_string(), done.to.log);
        let reader = new.reader().unwrap();
        assert_eq!(reader.content(receipt.seq).unwrap(), content);
        assert_eq!(reader.bytes().unwrap(), done.to.bytes);
        let after = public(&new);
        assert_eq!(after[..before.len()], before);
        assert_eq!(after.len(), before.len() + 1);
        let last = events(&new).pop().unwrap();
        assert_eq!(last.kind, CONVERTED);
        let said: serde_json::Value = serde_json::from_str(&last.payload).unwrap();
        assert_eq!(said["receipt"]["digest"], receipt.digest.as_str());
        assert_eq!(said["from"]["log"], receipt.log.as_str());

        let report = new.verify(None).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        // The receipt holds for the original, because the original stays a complete log.
        let archived = original(&storage, &done.archive);
        assert_eq!(public(&archived), before);
        let report = archived.verify(Some(&receipt)).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        assert!(strays(&storage, other(format)).is_empty());
        // The old handle reads the new log.
        assert_eq!(public(&log), after);
        assert!(new.convert(other(format)).unwrap().is_none());
        let back = new.convert(format).unwrap().unwrap();
        assert_eq!(back.events, after.len() as u64);
        assert_eq!(public(&open(&storage, &small(4)))[..after.len()], after);
        writer(&open(&storage, &small(5)))
            .append(vec![said_after()], Durability::Synced)
            .unwrap();
        assert!(open(&storage, &small(6)).verify(None).unwrap().ok);
    }
}

fn said_after() -> teamlog_engine::NewEvent {
    said("after")
}

#[test]
fn an_empty_log_is_converted_too() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::new());
    let log = create(&storage, Format::Jsonl, &small(1));
    let done = log.convert(Format::Binary).unwrap().unwrap();
    assert_eq!((done.events, done.receipt), (0, None));
    let new = open(&storage, &small(2));
    assert_eq!(events(&new).len(), 1);
    assert!(new.verify(None).unwrap().ok);
}

/// Checks the state that a stopped conversion left; `before` holds the events before the conversion. Then repeats the
/// conversion, which must complete.
fn check(memory: &Memory, format: Format, before: &[String], what: &str) {
    let storage = &arc(memory);
    let log = Log::open(storage.clone(), &dir(), small(7))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let read = public(&log);
    assert_eq!(read[..before.len()], *before, "{what}");
    let converted = log.identity().format != format;
    assert_eq!(read.len(), before.len() + usize::from(converted), "{what}");
    let report = log.verify(None).unwrap();
    assert!(report.ok, "{what}: {report:?}");
    let writer = log.lock().unwrap().into_writer(());
    writer
        .append(vec![said("after")], Durability::Synced)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    drop(writer);
    // The event was acknowledged, so it must survive a power loss.
    let after = open(&arc(&memory.lose_unsynced()), &small(7));
    assert_eq!(
        texts(&after).last().map(String::as_str),
        Some("after"),
        "{what}"
    );

    let again = log
        .convert(other(format))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(again.is_none(), converted, "{what}");
    let now = open(storage, &small(8));
    let texts = texts(&now);
    assert_eq!(texts.last().map(String::as_str), Some("after"), "{what}");
    assert_eq!(public(&now)[..before.len()], *before, "{what}");
    let report = now.verify(None).unwrap();
    assert!(
        report.ok && report.problems.is_empty(),
        "{what}: {report:?}"
    );
    assert_eq!(
        strays(storage, other(format)),
        Vec::<String>::new(),
        "{what}"
    );
    let event = events(&now)
        .into_iter()
        .find(|event| event.kind == CONVERTED)
        .unwrap();
    let origin: serde_json::Value = serde_json::from_str(&event.payload).unwrap();
    let archive = PathBuf::from(ARCHIVE_DIR).join(origin["from"]["log"].as_str().unwrap());
    let archived = original(storage, &archive);
    assert_eq!(public(&archived)[..before.len()], *before, "{what}");
    let report = archived.verify(None).unwrap();
    assert!(
        report.ok && report.problems.is_empty(),
        "{what}: {report:?}"
    );
    let whole = open(&arc(&memory.lose_unsynced()), &small(7));
    assert!(whole.verify(None).unwrap().ok, "{what}");
    assert!(
        crate::support::texts(&whole)
            .iter()
            .any(|text| text == "after"),
        "{what}"
    );
}

/// Converts the log with a fault at each call, and checks every resulting state. Returns the number of states.
fn failing(
    format: Format,
    fault: Fault,
    states: fn(&Failed<()>) -> Vec<(String, Memory)>,
) -> [usize; 2] {
    let start = Memory::new();
    let before = public(&history(&arc(&start), format));
    let (mut old, mut new, mut seen) = (0, 0, HashSet::new());
    let convert = |storage: &Arc<dyn Storage>| {
        let log = Log::open(storage.clone(), &dir(), small(9));
        drop(log.and_then(|log| log.convert(other(format))));
    };
    at_every_call(&start.keep_unsynced(), fault, convert, |failed| {
        for (how, left) in states(&failed) {
            match open(&arc(&left), &small(7)).identity().format == format {
                true => old += 1,
                false => new += 1,
            }
            // The check simulates a power loss, too. Therefore, two states with equal files are different if their durable
            // files differ.
            let durable = tree(&left.lose_unsynced(), Path::new(""));
            if seen.insert((tree(&left, Path::new("")), durable)) {
                check(
                    &left,
                    format,
                    &before,
                    &format!("{format:?}, {fault:?}, {how}"),
                );
            }
        }
    });
    [old, new]
}

#[test]
fn death_and_power_loss_at_every_call_leave_the_old_log_or_the_new_one() {
    for format in FORMATS {
        let [old, new] = failing(format, Fault::Stop, |stopped| stopped.crashes(3));
        assert!(old + new > 300 && old > 100 && new > 20, "{old} {new}");
    }
}

#[test]
fn an_error_at_every_call_leaves_the_old_log_or_the_new_one() {
    for fault in [
        Fault::Error(std::io::ErrorKind::StorageFull),
        Fault::ShortWrite,
        Fault::PartialWrite,
    ] {
        failing(Format::Jsonl, fault, |failed| {
            let lost = ("power lost".to_owned(), failed.memory.lose_unsynced());
            let left = (
                format!("call {} ({})", failed.call, failed.name),
                failed.memory.clone(),
            );
            vec![lost, left]
        });
    }
}

#[test]
fn a_damaged_log_is_refused_and_stays_as_it_is() {
    let memory = Memory::new();
    let storage = arc(&memory);
    let log = history(&storage, Format::Jsonl);
    memory.corrupt(&segment(Format::Jsonl), 700, 1).unwrap();
    let error = log.convert(Format::Binary).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert_eq!(open(&storage, &small(2)).identity(), log.identity());
    assert_eq!(
        open(&storage, &small(2)).convert(Format::Jsonl).unwrap(),
        None
    );
    assert!(strays(&storage, Format::Jsonl).is_empty());
}

#[test]
fn readers_beside_a_conversion_see_one_log_or_the_other() {
    let root = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Files::open(root.path()).unwrap());
    let log = history(&storage, Format::Jsonl);
    let before = public(&log);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut format = Format::Binary;
            for _ in 0..30 {
                open(&storage, &LogOptions::default())
                    .convert(format)
                    .unwrap()
                    .unwrap();
                format = other(format);
            }
            done.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        while !done.load(std::sync::atomic::Ordering::SeqCst) {
            let log = open(&storage, &LogOptions::default());
            // A conversion may move the files away while a reader reads the files. The reader then returns an error, and never
            // mixes the files of both logs.
            let read: Result<Vec<_>, Error> = log
                .reader()
                .and_then(|reader| reader.events(None).collect());
            match read {
                Ok(read) => assert!(read.len() >= before.len()),
                Err(Error::Corrupt { .. } | Error::ForeignFile { .. }) => {}
                Err(Error::Io { .. } | Error::Locked { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
    assert_eq!(public(&open(&storage, &small(2)))[..before.len()], before);
}

#[test]
fn a_stray_file_among_the_segments_is_not_taken_for_one() {
    let memory = Memory::new();
    let storage = arc(&memory);
    let log = history(&storage, Format::Jsonl);
    let before = public(&log);
    let stray = dir().join(EVENTS_DIR).join("2020-01-01.tlog");
    storage.replace(&stray, b"junk", true).unwrap();
    let refused = log.convert(Format::Binary);
    assert!(
        matches!(refused, Err(Error::ForeignFile { .. })),
        "{refused:?}"
    );
    assert_eq!(public(&log), before);
    storage.remove_file(&stray).unwrap();
    assert!(log.convert(Format::Binary).unwrap().is_some());
}

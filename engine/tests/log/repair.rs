//! Tests of cutting and salvaging. The originals are kept, a crash at any call leaves the old log or the new log, and the result
//! verifies.

mod batches;
mod cuts;
mod salvages;

use crate::support::*;
use std::collections::BTreeMap;
use teamlog_engine::repair::SalvageReport;
use teamlog_engine::verify::Report;

/// Returns options with small segments.
fn opts() -> LogOptions {
    given!(LogOptions, segment_bytes_max: 4_000, ..options().1)
}

/// Creates a log of 24 events in groups of 1, 3, 1, 3 … events, over several segments and two days.
fn log(format: Format) -> Memory {
    let memory = Memory::new();
    let (clock, options) = options();
    let options = given!(LogOptions, segment_bytes_max: 4_000, ..options);
    let log = create(&arc(&memory), format, &options);
    let writer = log.lock().unwrap().into_writer(());
    for round in 0..12 {
        if round == 8 {
            clock.advance(86_400_000_000);
        }
        let size = if round % 2 == 0 { 1 } else { 3 };
        let events = (0..size)
            .map(|event| said(&format!("{round}.{event}.{}", "x".repeat(400))))
            .collect();
        writer.append(events, Durability::Synced).unwrap();
    }
    writer.close().unwrap();
    memory
}

fn opened(memory: &Memory) -> Log {
    open(&arc(memory), &opts())
}

fn verified(memory: &Memory, what: &str) -> Report {
    let report = opened(memory).verify(None).unwrap();
    assert!(
        report.ok && report.problems.is_empty(),
        "{what}: {report:?}"
    );
    report
}

fn kinds(memory: &Memory, kind: &str) -> usize {
    let all = events(&opened(memory));
    all.iter().filter(|event| event.kind == kind).count()
}

/// Returns the segment and the offset of an event.
fn place(memory: &Memory, seq: u64) -> (PathBuf, u64) {
    let log = opened(memory);
    let reader = log.reader().unwrap();
    let place = reader.find_seq(seq).unwrap().unwrap();
    let names = arc(memory).list(&dir().join("events")).unwrap();
    let name = &names[place.segment as usize - 1];
    (dir().join("events").join(name), place.offset)
}

/// Runs `act` once for each storage call, and stops the run at that call. Checks every state that a crash there can leave.
/// Returns the number of states.
fn stopped(
    memory: &Memory,
    act: impl Fn(&Arc<dyn Storage>) -> Result<(), Error>,
    check: impl Fn(&Memory, &str),
) -> usize {
    let mut checked = Checked::default();
    let whole = at_every_call(memory, Fault::Stop, act, |stopped| {
        for (how, after) in stopped.crashes(4) {
            if checked.is_new(&after, ()) {
                check(&after, &how);
            }
        }
    });
    whole.unwrap();
    checked.met
}

/// Returns the files without the lock file, because the witness in the lock file changes and is not synced.
fn without_lock(files: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files.clone();
    files.retain(|path, _| !path.ends_with("lock"));
    files
}

/// Salvages the log, and adds an event.
fn salvaged(storage: &Arc<dyn Storage>) -> Result<Option<SalvageReport>, Error> {
    // The random bits differ from the bits of the damaged log, so that the salvaged log gets another id.
    let options = given!(LogOptions, ids: Arc::new(SeededIds(4_242.into())), ..opts());
    salvage(storage, &dir(), &options, "lead", &mut |reader| {
        assert!(reader.head().last_seq > 0);
        let payload = Json::parse("{\"text\":\"more\"}").unwrap();
        Ok(vec![NewEvent::new("note_said", "lead", payload)])
    })
}

#[test]
fn an_error_at_every_call_loses_nothing() {
    for format in FORMATS {
        let memory = log(format);
        let (path, offset) = place(&memory, 14);
        memory.corrupt(&path, offset + 60, 4).unwrap();
        let original = tree(&memory, &dir());
        for fault in [
            Fault::Error(std::io::ErrorKind::StorageFull),
            Fault::PartialWrite,
            Fault::ShortRead,
        ] {
            for cutting in [true, false] {
                let act = |storage: &Arc<dyn Storage>| {
                    Log::open(storage.clone(), &dir(), opts()).and_then(|log| match cutting {
                        true => log.cut(13, "lead").map(drop),
                        false => salvaged(storage).map(drop),
                    })
                };
                let mut checked = Checked::default();
                let whole = at_every_call(&memory, fault, act, |failed| {
                    let now = failed.memory;
                    if !checked.is_new(&now, ()) {
                        return;
                    }
                    let what = format!(
                        "{format:?} {fault:?} cutting {cutting} call {} {}",
                        failed.call, failed.name
                    );
                    // The operation succeeds when it is repeated in any state, and every original byte is in the archive.
                    act(&arc(&now)).unwrap_or_else(|error| panic!("{what}: {error}"));
                    verified(&now, &what);
                    let after = tree(&now, &dir());
                    for (path, bytes) in &original {
                        let kept = after
                            .iter()
                            .any(|(place, there)| place.ends_with(path) && there == bytes);
                        assert!(
                            kept || path.ends_with("lock"),
                            "{what}: {} is lost",
                            path.display()
                        );
                    }
                });
                whole.unwrap();
            }
        }
    }
}

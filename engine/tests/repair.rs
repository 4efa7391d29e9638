//! Cutting and salvaging: originals are kept, a crash at any call leaves the log as it was or as it is to be, and what is
//! left verifies.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::*;
use teamlog_engine::repair::{CUT, SALVAGED, Salvaged, salvage};
use teamlog_engine::storage::{Fault, Faulty, Memory, Storage};
use teamlog_engine::verify::Report;
use teamlog_engine::{
    Cause, Durability, Error, Format, Json, Log, LogOptions, NewEvent, RefKind, SeededIds,
};

fn arc(memory: &Memory) -> Arc<dyn Storage> {
    Arc::new(memory.clone())
}

/// Small segments.
fn opts() -> LogOptions {
    LogOptions {
        segment_bytes_max: 4_000,
        ..options().1
    }
}

/// 24 events in groups of 1, 3, 1, 3 … over several segments and two days.
fn log(format: Format) -> Memory {
    let memory = Memory::new();
    let (clock, options) = options();
    let options = LogOptions {
        segment_bytes_max: 4_000,
        ..options
    };
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

/// Every file below a directory with its bytes.
fn tree(storage: &dyn Storage, dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir_now) = open.pop() {
        for name in storage.list(&dir_now).unwrap() {
            let path = dir_now.join(name);
            match storage.stat(&path).unwrap() {
                Some(stat) if stat.is_dir => open.push(path),
                Some(_) => {
                    let bytes = storage.read(&path, 1 << 24).unwrap();
                    found.insert(path.strip_prefix(dir).unwrap().to_path_buf(), bytes);
                }
                None => {}
            }
        }
    }
    found
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

/// The bytes of an event, so that damage can be put there: its segment and where it starts.
fn place(memory: &Memory, seq: u64) -> (PathBuf, u64) {
    let log = opened(memory);
    let reader = log.reader().unwrap();
    let place = reader.find_seq(seq).unwrap().unwrap();
    let names = arc(memory).list(&dir().join("events")).unwrap();
    let name = &names[place.segment as usize - 1];
    (dir().join("events").join(name), place.offset)
}

#[test]
fn a_log_is_cut_after_a_group_and_the_originals_are_kept() {
    for format in FORMATS {
        let whole = log(format);
        let before = tree(&whole, &dir());
        let all = texts(&opened(&whole));
        assert_eq!(all.len(), 24);
        assert!(
            before
                .keys()
                .filter(|path| path.starts_with("events"))
                .count()
                >= 5
        );
        for to in 1..=24u64 {
            let memory = whole.snapshot();
            let log = opened(&memory);
            // Groups end at 1, 4, 5, 8, 9 …
            if to % 4 > 1 {
                let error = log.plan_cut(to).unwrap_err();
                let (low, high) = (to / 4 * 4 + 1, to / 4 * 4 + 4);
                let text = error.to_string();
                assert!(text.contains(&format!("{low} or {high}")), "{to}: {text}");
                assert!(log.cut(to, "lead").is_err());
                assert_eq!(tree(&memory, &dir()), before, "a refusal changes nothing");
                continue;
            }
            let old = log.reader().unwrap().receipt().unwrap().unwrap();
            let plan = log.plan_cut(to).unwrap();
            assert_eq!(tree(&memory, &dir()), before, "a plan changes nothing");
            assert_eq!((plan.to, plan.events), (to, 24 - to));
            let (done, exclusive) = log.cut(to, "lead").unwrap();
            assert_eq!(done, plan);
            drop(exclusive);
            let what = format!("{format:?} {to}");
            let report = verified(&memory, &what);
            assert_eq!(texts(&log), &all[..to as usize], "{what}");
            if to == 24 {
                assert!(plan.is_empty());
                assert_eq!(tree(&memory, &dir()), before, "nothing to cut");
                continue;
            }
            assert_eq!(report.events, to + 1);
            let last = events(&log).pop().unwrap();
            assert_eq!((&*last.kind, &*last.actor), (CUT, "lead"));
            let payload: serde_json::Value = serde_json::from_str(&last.payload).unwrap();
            assert_eq!(
                (payload["to"].as_u64(), payload["events"].as_u64()),
                (Some(to), Some(24 - to))
            );
            // Whatever was changed or removed lies in the archive as it was.
            let archive = dir().join(payload["archive"].as_str().unwrap());
            let kept = tree(&memory, &archive);
            let after = tree(&memory, &dir());
            for (path, bytes) in &before {
                let same = after.get(path) == Some(bytes) || kept.get(path) == Some(bytes);
                assert!(same, "{what}: {} is lost", path.display());
            }
            // An old receipt is broken, also once the log has grown past it.
            assert!(!log.verify(Some(&old)).unwrap().ok, "{what}");
            let writer = log.lock().unwrap().into_writer(());
            for _ in 0..30 {
                writer
                    .append(vec![said(&"y".repeat(400))], Durability::Synced)
                    .unwrap();
            }
            drop(writer);
            assert!(!log.verify(Some(&old)).unwrap().ok, "{what}");
            verified(&memory, &what);
        }
    }
}

#[test]
fn a_damaged_log_is_cut_before_the_damage_only() {
    for format in FORMATS {
        let memory = log(format);
        let (path, offset) = place(&memory, 14);
        memory.corrupt(&path, offset + 60, 4).unwrap();
        let log = opened(&memory);
        assert!(!log.verify(None).unwrap().ok);
        for to in [16, 17, 24] {
            let error = log.plan_cut(to).unwrap_err().to_string();
            assert!(
                error.contains("from 1 to 13, up to which the log can be read"),
                "{error}"
            );
        }
        let damaged = tree(&memory, &dir());
        let (plan, exclusive) = log.cut(13, "lead").unwrap();
        drop(exclusive);
        assert_eq!((plan.events, plan.lost.len()), (8, 1));
        assert_eq!(
            (plan.lost[0].from_seq, plan.lost[0].to_seq),
            (Some(14), Some(16))
        );
        verified(&memory, "cut");
        assert_eq!(texts(&log).len(), 13);
        let kept = tree(&memory, &dir().join("archive/cut-after-13"));
        let relative = path.strip_prefix(dir()).unwrap();
        assert_eq!(kept[relative], damaged[relative]);
    }
}

#[test]
fn a_cut_twice_at_one_place_keeps_both_originals() {
    let memory = log(Format::Jsonl);
    let log = opened(&memory);
    for round in 1..=3 {
        drop(log.cut(9, "lead").unwrap());
        assert_eq!(texts(&log).len(), 9);
        assert_eq!(
            kinds(&memory, CUT),
            1,
            "the event of the round before went with its round"
        );
        let kept = arc(&memory).list(&dir().join("archive")).unwrap();
        assert_eq!(kept.len(), round, "{kept:?}");
        let writer = log.lock().unwrap().into_writer(());
        writer
            .append(vec![said("again")], Durability::Synced)
            .unwrap();
    }
}

/// Runs `act` stopped at every call, and checks every state that a crash then leaves.
fn at_every_call(
    memory: &Memory,
    act: impl Fn(&Arc<dyn Storage>) -> Result<(), Error>,
    check: impl Fn(&Memory, &str),
) -> usize {
    let mut states = 0;
    for call in 0.. {
        let now = memory.snapshot();
        let faulty = Faulty::new(arc(&now));
        faulty.arm(call, Fault::Stop);
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let done = act(&storage);
        if faulty.count() <= call {
            done.unwrap();
            break;
        }
        let mut crashed = vec![
            ("all lost".to_owned(), now.lose_unsynced()),
            ("all kept".to_owned(), now.keep_unsynced()),
            ("killed".to_owned(), now.snapshot()),
        ];
        for round in 0..4 {
            let bits = SeededIds(std::sync::atomic::AtomicU64::new(call as u64 * 31 + round));
            let choose =
                &mut |n: usize| (teamlog_engine::IdSource::random(&bits) % n as u64) as usize;
            crashed.push((format!("random {round}"), now.crash(choose)));
        }
        for (how, after) in crashed {
            let what = format!(
                "stopped at call {call} ({:?}), {how}",
                faulty.calls().last()
            );
            check(&after, &what);
            states += 1;
        }
    }
    states
}

#[test]
fn death_and_power_loss_at_every_call_of_a_cut() {
    for format in FORMATS {
        let memory = log(format);
        let (path, offset) = place(&memory, 14);
        memory.corrupt(&path, offset + 60, 4).unwrap();
        let original = tree(&memory, &dir());
        let cut = |storage: &Arc<dyn Storage>| {
            Log::open(storage.clone(), &dir(), opts())?
                .cut(9, "lead")
                .map(drop)
        };
        let check = |after: &Memory, what: &str| {
            let what = &format!("{format:?}, {what}");
            // As it was, or cut: nothing in between.
            let seen = opened(after).verify(None).unwrap();
            drop(
                opened(after)
                    .lock()
                    .unwrap_or_else(|error| panic!("{what}: {error}")),
            );
            let now = tree(after, &dir());
            if opened(after).verify(None).unwrap().ok {
                let all = &seen.problems;
                let expected = all.iter().all(|problem| problem.kind == "unfinished_cut");
                assert!(seen.ok && expected, "{what}: {seen:?}");
                assert_eq!(texts(&opened(after)).len(), 9, "{what}");
                assert_eq!(kinds(after, CUT), 1, "{what}");
                verified(after, what);
                let last = events(&opened(after)).pop().unwrap();
                let payload: serde_json::Value = serde_json::from_str(&last.payload).unwrap();
                assert_eq!(last.actor, "lead", "{what}");
                let kept = tree(after, &dir().join(payload["archive"].as_str().unwrap()));
                for (path, bytes) in &original {
                    let there = now.get(path) == Some(bytes) || kept.get(path) == Some(bytes);
                    assert!(there, "{what}: {} is lost", path.display());
                }
            } else {
                for (path, bytes) in &original {
                    assert_eq!(now.get(path), Some(bytes), "{what}: {}", path.display());
                }
            }
            // Done again it is done once.
            drop(opened(after).cut(9, "lead").unwrap());
            assert_eq!(texts(&opened(after)).len(), 9, "{what}");
            verified(after, what);
            let writer = writer(&opened(after));
            writer.append(vec![said("on")], Durability::Synced).unwrap();
        };
        let states = at_every_call(&memory, cut, check);
        assert!(states > 300, "{states}");
    }
}

/// Salvages; the new log says a word more.
fn salvaged(storage: &Arc<dyn Storage>) -> Result<Option<Salvaged>, Error> {
    // Other random bits than those that made the log: its successor has an id of its own.
    let options = LogOptions {
        ids: Arc::new(SeededIds(4_242.into())),
        ..opts()
    };
    salvage(storage, &dir(), &options, "lead", &mut |reader| {
        assert!(reader.head().last_seq > 0);
        let payload = Json::parse("{\"text\":\"more\"}").unwrap();
        Ok(vec![NewEvent::new("note_said", "lead", payload)])
    })
}

fn check_salvaged(
    memory: &Memory,
    original: &BTreeMap<PathBuf, Vec<u8>>,
    expected: &[String],
    what: &str,
) {
    verified(memory, what);
    let found = events(&opened(memory));
    let said: Vec<String> = texts(&opened(memory));
    assert_eq!(said.split_last().unwrap().1, expected, "{what}");
    assert_eq!(said.last().unwrap(), "more", "{what}");
    let record = &found[found.len() - 2];
    assert_eq!(
        (&*record.kind, &*record.actor),
        (SALVAGED, "lead"),
        "{what}"
    );
    let payload: serde_json::Value = serde_json::from_str(&record.payload).unwrap();
    let kept = tree(memory, &dir().join(payload["archive"].as_str().unwrap()));
    let originals = original.iter().filter(|(path, _)| {
        path.starts_with("events")
            || [Path::new("head"), Path::new("log.json")].contains(&path.as_path())
    });
    for (path, bytes) in originals {
        assert_eq!(kept.get(path), Some(bytes), "{what}: {}", path.display());
    }
    assert_ne!(payload["log"], opened(memory).identity().log.to_string());
}

#[test]
fn what_can_be_read_is_salvaged_by_whole_groups() {
    for format in FORMATS {
        let whole = log(format);
        let all = texts(&opened(&whole));
        let without = |gone: &[u64]| -> Vec<String> {
            let stays = |seq: &u64| !gone.contains(seq);
            (1..=24)
                .filter(stays)
                .map(|seq| all[seq as usize - 1].clone())
                .collect()
        };
        let spoil = |memory: &Memory, seq: u64| {
            let (path, offset) = place(&whole, seq);
            memory.corrupt(&path, offset + 60, 4).unwrap();
        };
        let names = arc(&whole).list(&dir().join("events")).unwrap();
        let segment = |index: usize| dir().join("events").join(&names[index]);
        let head = dir().join("head");
        let identity = dir().join("log.json");
        type Damage<'a> = Box<dyn Fn(&Memory) + 'a>;
        // What is done, what is lost of it, and how many events the answer counts as lost.
        let cases: Vec<(&str, Damage<'_>, Vec<u64>)> = vec![
            ("one event", Box::new(|m| spoil(m, 5)), vec![5]),
            (
                "the middle of a group",
                Box::new(|m| spoil(m, 7)),
                vec![6, 7, 8],
            ),
            (
                "two places",
                Box::new(|m| {
                    spoil(m, 1);
                    spoil(m, 21);
                }),
                vec![1, 21],
            ),
            (
                "the last group",
                Box::new(|m| spoil(m, 24)),
                vec![22, 23, 24],
            ),
            (
                "a header",
                Box::new(|m| m.corrupt(&segment(1), 30, 1).unwrap()),
                vec![],
            ),
            (
                "the head",
                Box::new(|m| {
                    m.corrupt(&head, 40, 1).unwrap();
                    m.corrupt(&head, 552, 1).unwrap();
                    spoil(m, 5);
                }),
                vec![5],
            ),
            (
                "the identity",
                Box::new(|m| m.corrupt(&identity, 10, 1).unwrap()),
                vec![],
            ),
            (
                "no identity",
                Box::new(|m| m.remove_file(&identity).unwrap()),
                vec![],
            ),
        ];
        for (name, damage, gone) in cases {
            let what = format!("{format:?}: {name}");
            let memory = whole.snapshot();
            damage(&memory);
            let original = tree(&memory, &dir());
            let report = salvaged(&arc(&memory)).unwrap().unwrap();
            assert_eq!(report.lost_events, gone.len() as u64, "{what}: {report:?}");
            assert_eq!(report.events, 24 - gone.len() as u64, "{what}");
            check_salvaged(&memory, &original, &without(&gone), &what);
            assert_eq!(
                salvaged(&arc(&memory)).unwrap(),
                None,
                "{what}: nothing is damaged any more"
            );
            assert_eq!(
                arc(&memory).stat(&dir().join("salvage")).unwrap(),
                None,
                "{what}"
            );
        }
        // A segment that is gone, first, middle and last.
        for index in 0..names.len() {
            let what = format!("{format:?}: segment {index} is missing");
            let memory = whole.snapshot();
            memory.remove_file(&segment(index)).unwrap();
            let original = tree(&memory, &dir());
            let report = salvaged(&arc(&memory)).unwrap().unwrap();
            assert!(report.lost_events > 0, "{what}");
            assert_eq!(report.events + report.lost_events, 24, "{what}: {report:?}");
            let left = texts(&opened(&memory));
            check_salvaged(&memory, &original, left.split_last().unwrap().1, &what);
        }
        assert_eq!(
            salvaged(&arc(&whole)).unwrap(),
            None,
            "a whole log is left alone"
        );
    }
}

#[test]
fn salvaged_events_keep_ids_times_and_groups() {
    for format in FORMATS {
        let memory = log(format);
        let before = events(&opened(&memory));
        let (path, offset) = place(&memory, 5);
        memory.corrupt(&path, offset + 60, 4).unwrap();
        salvaged(&arc(&memory)).unwrap().unwrap();
        let after = events(&opened(&memory));
        for (old, new) in before.iter().filter(|event| event.seq != 5).zip(&after) {
            assert_eq!(
                (old.id, old.created_at, &old.payload),
                (new.id, new.created_at, &new.payload)
            );
            assert_eq!(new.seq, if old.seq < 5 { old.seq } else { old.seq - 1 });
        }
        let log = opened(&memory);
        let mut groups = Vec::new();
        let none: Option<()> = log
            .reader()
            .unwrap()
            .each(None, |located| {
                groups.push((located.frame.group.index, located.frame.group.len));
                Ok::<_, Error>(std::ops::ControlFlow::Continue(()))
            })
            .unwrap();
        assert_eq!(none, None);
        assert_eq!(groups[..5], [(0, 1), (0, 3), (1, 3), (2, 3), (0, 3)]);
    }
}

#[test]
fn death_and_power_loss_at_every_call_of_a_salvage() {
    for format in FORMATS {
        let memory = log(format);
        let all = texts(&opened(&memory));
        let (path, offset) = place(&memory, 14);
        memory.corrupt(&path, offset + 60, 4).unwrap();
        let original = tree(&memory, &dir());
        let expected: Vec<String> = (1..=24)
            .filter(|seq| !(14..=16).contains(seq))
            .map(|seq: usize| all[seq - 1].clone())
            .collect();
        let old = opened(&memory).identity().log;
        let act = |storage: &Arc<dyn Storage>| salvaged(storage).map(drop);
        let check = |after: &Memory, what: &str| {
            let what = &format!("{format:?}, {what}");
            if opened(after).identity().log == old {
                // As it was: nothing is missing.
                let now = tree(after, &dir());
                for (path, bytes) in &original {
                    assert_eq!(now.get(path), Some(bytes), "{what}: {}", path.display());
                }
            } else {
                // Whoever comes next, reader or writer, finishes.
                let reading = after.snapshot();
                assert_eq!(texts(&opened(&reading)).len(), expected.len() + 1, "{what}");
                drop(
                    opened(after)
                        .lock()
                        .unwrap_or_else(|error| panic!("{what}: {error}")),
                );
                check_salvaged(after, &original, &expected, what);
            }
            salvaged(&arc(after)).unwrap_or_else(|error| panic!("{what}: {error}"));
            check_salvaged(after, &original, &expected, what);
            writer(&opened(after))
                .append(vec![said("on")], Durability::Synced)
                .unwrap();
        };
        let states = at_every_call(&memory, act, check);
        assert!(states > 500, "{states}");
    }
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
                for call in 0.. {
                    let now = memory.snapshot();
                    let faulty = Faulty::new(arc(&now));
                    faulty.arm(call, fault);
                    let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
                    let done =
                        Log::open(storage.clone(), &dir(), opts()).and_then(|log| match cutting {
                            true => log.cut(13, "lead").map(drop),
                            false => salvaged(&storage).map(drop),
                        });
                    if faulty.count() <= call {
                        done.unwrap();
                        break;
                    }
                    let what = format!(
                        "{format:?} {fault:?} cutting {cutting} call {call} {:?}",
                        faulty.calls().get(call)
                    );
                    // Whatever became of it, the same again succeeds and every original byte is there.
                    match cutting {
                        true => drop(
                            opened(&now)
                                .cut(13, "lead")
                                .unwrap_or_else(|error| panic!("{what}: {error}")),
                        ),
                        false => drop(
                            salvaged(&arc(&now)).unwrap_or_else(|error| panic!("{what}: {error}")),
                        ),
                    }
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
                }
            }
        }
    }
}

/// A foreign event of a batch.
fn noted(text: &str) -> NewEvent {
    let mut event = said(text);
    event.foreign = true;
    event
}

/// One event, a batch of 12, one event. In the batch: 5 leads to 6, 8 is none of a foreign kind, 10 is led to by the first
/// event of the log, 11 was written under the key of 8.
fn batch(format: Format) -> Memory {
    let memory = Memory::new();
    let log = create(&arc(&memory), format, &options().1);
    let writer = writer(&log);
    writer
        .append(vec![said("first")], Durability::Synced)
        .unwrap();
    let first = events(&log)[0].id;
    let mut batch: Vec<NewEvent> = (2..=13).map(|seq| noted(&format!("batch {seq}"))).collect();
    batch[4] = noted("batch 6").caused_by(Cause::Earlier(3));
    batch[6] = said("batch 8").with_ref(RefKind::Key, "k");
    batch[8] = noted("batch 10").caused_by(Cause::Event(first));
    batch[9] = noted("batch 11").with_ref(RefKind::Key, "k");
    writer.append(batch, Durability::Synced).unwrap();
    writer
        .append(vec![said("last")], Durability::Synced)
        .unwrap();
    writer.close().unwrap();
    memory
}

#[test]
fn foreign_events_of_a_damaged_batch_are_kept_one_by_one() {
    for format in FORMATS {
        let whole = batch(format);
        let before = events(&opened(&whole));
        // Whatever is damaged, 5 and 6 go, for one led to the other, and so do 8 and 11.
        let bound = [5u64, 6, 8, 11];
        for damaged in 2..=13u64 {
            let what = format!("{format:?}, event {damaged}");
            let memory = whole.snapshot();
            let (path, offset) = place(&whole, damaged);
            memory.corrupt(&path, offset + 60, 4).unwrap();
            let mut gone: Vec<u64> = bound.to_vec();
            // Of two that belong together the first one is not known to once the second cannot be read.
            match damaged {
                6 => gone.retain(|seq| *seq != 5),
                8 => gone.retain(|seq| *seq != 11),
                _ => {}
            }
            gone.push(damaged);
            gone.sort_unstable();
            gone.dedup();
            // A cut stays refused inside the group and behind the damage.
            for to in 2..=14 {
                opened(&memory).plan_cut(to).unwrap_err();
            }
            assert_eq!(opened(&memory).plan_cut(1).unwrap().to, 1, "{what}");

            let report = salvaged(&arc(&memory)).unwrap().unwrap();
            assert_eq!(report.lost_events, gone.len() as u64, "{what}: {report:?}");
            assert_eq!(report.events, 14 - gone.len() as u64, "{what}");
            let lost: Vec<u64> = report
                .lost
                .iter()
                .flat_map(|lost| lost.from_seq.unwrap()..=lost.to_seq.unwrap())
                .collect();
            assert_eq!(lost, gone, "{what}");
            let [split] = &*report.split else {
                panic!("{what}: {report:?}");
            };
            assert_eq!((split.from_seq, split.to_seq), (2, 13), "{what}");
            assert_eq!(split.events, 12 - gone.len() as u64, "{what}");
            assert!(split.file.starts_with("events/2026-11-21."), "{what}");
            let left_out: Vec<u64> = split
                .gone
                .iter()
                .flat_map(|[from, to]| *from..=*to)
                .collect();
            assert_eq!(left_out, gone, "{what}");

            verified(&memory, &what);
            let log = opened(&memory);
            let after = events(&log);
            let kept = before.iter().filter(|event| !gone.contains(&event.seq));
            for (old, new) in kept.zip(&after) {
                assert_eq!(
                    (old.id, &old.payload, &old.refs),
                    (new.id, &new.payload, &new.refs),
                    "{what}"
                );
            }
            let told = after.iter().find(|event| event.kind == SALVAGED).unwrap();
            let told: serde_json::Value = serde_json::from_str(&told.payload).unwrap();
            assert_eq!(
                told["split"][0]["gone"],
                serde_json::json!(split.gone),
                "{what}"
            );
            // Each is a group of its own now, so the log can be cut behind any of them.
            let taken = report.events;
            assert_eq!(report.groups, taken, "{what}");
            (1..=taken).for_each(|to| assert_eq!(log.plan_cut(to).unwrap().to, to, "{what}"));
        }
    }
}

#[test]
fn nothing_of_a_torn_batch_past_the_head_is_salvaged() {
    for format in FORMATS {
        let acknowledged = batch(format);
        let path = segment(format);
        let read = |memory: &Memory| arc(memory).read(&path, 1 << 20).unwrap();
        let ahead = acknowledged.snapshot();
        let torn = (15..=20).map(|seq| noted(&format!("torn {seq}"))).collect();
        let log = open(&arc(&ahead), &options().1);
        writer(&log).append(torn, Durability::Synced).unwrap();
        let (known, whole) = (read(&acknowledged), read(&ahead));
        // The damage lies well before the torn batch, or right before it and over its first event.
        let seam = vec![place(&ahead, 14).1, place(&ahead, 15).1];
        for (damaged, kept) in [(vec![place(&ahead, 1).1], 13), (seam, 13)] {
            for (headless, torn) in [(false, 0), (true, 6 - damaged.len() as u64)] {
                let what = format!("{format:?}, damage at {damaged:?}, headless {headless}");
                let memory = acknowledged.snapshot();
                let bytes = &whole[..whole.len() - 5];
                assert!(bytes.len() > known.len());
                arc(&memory).replace(&path, bytes, true).unwrap();
                for offset in &damaged {
                    memory.corrupt(&path, offset + 60, 4).unwrap();
                }
                if headless {
                    let head = dir().join("head");
                    arc(&memory).replace(&head, &[0; 1024], true).unwrap();
                }
                let report = salvaged(&arc(&memory)).unwrap().unwrap();
                // Without a head nothing tells a torn batch from a damaged one.
                assert_eq!(report.events, kept + torn, "{what}: {report:?}");
                let said = texts(&opened(&memory));
                let found = said.iter().filter(|text| text.starts_with("torn"));
                assert_eq!(found.count() as u64, torn, "{what}: {said:?}");
                verified(&memory, &what);
            }
        }
    }
}

#[test]
fn one_bad_byte_costs_one_event_of_a_great_batch() {
    for format in FORMATS {
        let memory = Memory::new();
        let log = create(&arc(&memory), format, &options().1);
        let writer = writer(&log);
        let batch = |round: usize| (0..1_000).map(move |n| noted(&format!("{round}.{n}")));
        for round in 0..3 {
            writer
                .append(batch(round).collect(), Durability::Synced)
                .unwrap();
        }
        writer.close().unwrap();
        let (path, offset) = place(&memory, 1_500);
        memory.corrupt(&path, offset + 60, 4).unwrap();
        let report = salvaged(&arc(&memory)).unwrap().unwrap();
        assert_eq!(
            (report.events, report.lost_events, report.groups),
            (2_999, 1, 1_001)
        );
        assert_eq!(report.split[0].gone, [[1_500, 1_500]]);
        verified(&memory, "a great batch");
    }
}

#[test]
fn damage_at_the_seam_of_two_batches_costs_what_it_hit() {
    for format in FORMATS {
        let memory = Memory::new();
        let log = create(&arc(&memory), format, &options().1);
        let writer = writer(&log);
        for round in 0..2 {
            let batch = (0..5).map(|n| noted(&format!("{round}.{n}")));
            writer.append(batch.collect(), Durability::Synced).unwrap();
        }
        writer.close().unwrap();
        for (path, offset) in [place(&memory, 5), place(&memory, 6)] {
            memory.corrupt(&path, offset + 60, 4).unwrap();
        }
        let report = salvaged(&arc(&memory)).unwrap().unwrap();
        assert_eq!((report.events, report.lost_events), (8, 2), "{report:?}");
        let split: Vec<_> = report
            .split
            .iter()
            .map(|split| (split.from_seq, split.to_seq, split.gone.clone()))
            .collect();
        assert_eq!(
            split,
            [(1, 5, vec![[5, 5]]), (6, 10, vec![[6, 6]])],
            "{report:?}"
        );
    }
}

#[test]
fn a_salvage_says_which_segment_is_not_what_was_sealed() {
    for format in FORMATS {
        let memory = log(format);
        let name = forge::names(&memory)[1].clone();
        forge::change_an_event(&memory, format, &name);
        let report = salvaged(&arc(&memory)).unwrap().unwrap();
        assert_eq!((report.events, report.lost_events), (24, 0));
        let [lost] = &*report.lost else {
            panic!("{report:?}");
        };
        assert_eq!(lost.file, format!("events/{name}"));
        assert!(lost.why.contains("was sealed"), "{}", lost.why);
        verified(&memory, "nothing of it is lost");
    }
}

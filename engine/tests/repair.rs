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
use teamlog_engine::{Durability, Error, Format, Json, Log, LogOptions, NewEvent, SeededIds};

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

//! Tests of copying the readable events into a new log, by whole groups.

use super::*;
use teamlog_engine::internals::layout::SALVAGED;

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
        // Each case: a name, the damage, and the seqs of the lost events.
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
        // Remove the first, a middle, or the last segment.
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
        let original = without_lock(&tree(&memory, &dir()));
        let expected: Vec<String> = (1..=24)
            .filter(|seq| !(14..=16).contains(seq))
            .map(|seq: usize| all[seq - 1].clone())
            .collect();
        let old = opened(&memory).identity().log;
        let act = |storage: &Arc<dyn Storage>| salvaged(storage).map(drop);
        let check = |after: &Memory, what: &str| {
            let what = &format!("{format:?}, {what}");
            if opened(after).identity().log == old {
                // The log is unchanged, because nothing is missing.
                let now = tree(after, &dir());
                for (path, bytes) in &original {
                    assert_eq!(now.get(path), Some(bytes), "{what}: {}", path.display());
                }
            } else {
                // The next process, a reader or a writer, finishes the salvage.
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
        let states = stopped(&memory, act, check);
        assert!(states > 500, "{states}");
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
        assert!(
            lost.why.contains("differs from its description"),
            "{}",
            lost.why
        );
        verified(&memory, "nothing of it is lost");
    }
}

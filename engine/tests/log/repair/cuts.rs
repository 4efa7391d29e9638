//! Tests of cutting a log after an event. Before the deciding write the log is unchanged; after that write the log is cut.

use super::*;
use teamlog_engine::internals::layout::CUT;

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
            // Groups end at the events 1, 4, 5, 8, 9 …
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
            // The archive has all changed or removed bytes.
            let archive = dir().join(payload["archive"].as_str().unwrap());
            let kept = tree(&memory, &archive);
            let after = tree(&memory, &dir());
            for (path, bytes) in &without_lock(&before) {
                let same = after.get(path) == Some(bytes) || kept.get(path) == Some(bytes);
                assert!(same, "{what}: {} is lost", path.display());
            }
            // An old receipt no longer holds, also after the log has grown past the event of the receipt.
            assert!(!log.verify(Some(&old)).unwrap().ok, "{what}");
            let writer = log.lock().unwrap().into_writer(());
            for _ in 0..30 {
                say(&writer, &"y".repeat(400));
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
            shows!(error => has "from 1 to 13, up to which the log can be read");
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
        say(&writer, "again");
    }
}

#[test]
fn death_and_power_loss_at_every_call_of_a_cut() {
    for format in FORMATS {
        let memory = log(format);
        let (path, offset) = place(&memory, 14);
        memory.corrupt(&path, offset + 60, 4).unwrap();
        let original = without_lock(&tree(&memory, &dir()));
        let cut = |storage: &Arc<dyn Storage>| {
            Log::open(storage.clone(), &dir(), opts())?
                .cut(9, "lead")
                .map(drop)
        };
        let check = |after: &Memory, what: &str| {
            let what = &format!("{format:?}, {what}");
            // The log is either unchanged or cut.
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
            // A repeated cut changes nothing.
            drop(opened(after).cut(9, "lead").unwrap());
            assert_eq!(texts(&opened(after)).len(), 9, "{what}");
            verified(after, what);
            let writer = writer(&opened(after));
            say(&writer, "on");
        };
        let states = stopped(&memory, cut, check);
        assert!(states > 300, "{states}");
    }
}

//! Tests of the salvage of a damaged group: some of its events are kept, and the others are lost.

use super::*;
use teamlog_engine::internals::layout::SALVAGED;
use teamlog_engine::{Cause, Ref};

/// Returns a foreign event for the batch.
fn noted(text: &str) -> NewEvent {
    let mut event = said(text);
    event.foreign = true;
    event
}

/// Creates a log of one event, a batch of 12 events, and one event. In the batch, event 5 causes event 6, event 8 is not
/// foreign, the first event of the log causes event 10, and events 8 and 11 have the same key.
fn batch(format: Format) -> Memory {
    let memory = Memory::new();
    let log = create(&arc(&memory), format, &options().1);
    let writer = writer(&log);
    say(&writer, "first");
    let first = events(&log)[0].id;
    let mut batch: Vec<NewEvent> = (2..=13).map(|seq| noted(&format!("batch {seq}"))).collect();
    batch[4] = noted("batch 6").caused_by(Cause::Earlier(3));
    batch[6] = said("batch 8").with_ref(Ref::KEY, "k");
    batch[8] = noted("batch 10").caused_by(Cause::Event(first));
    batch[9] = noted("batch 11").with_ref(Ref::KEY, "k");
    writer.append(batch, Durability::Synced).unwrap();
    say(&writer, "last");
    writer.close().unwrap();
    memory
}

#[test]
fn foreign_events_of_a_damaged_batch_are_kept_one_by_one() {
    for format in FORMATS {
        let whole = batch(format);
        let before = events(&opened(&whole));
        // Salvage keeps an event of a damaged group only if the event is foreign, has no link of causes within the group, and
        // does not share its key with an event that is not foreign. So events 5 and 6 are lost (5 causes 6), event 8 is lost
        // (not foreign), and event 11 is lost (same key as 8).
        let bound = [5u64, 6, 8, 11];
        for damaged in 2..=13u64 {
            let what = format!("{format:?}, event {damaged}");
            let memory = whole.snapshot();
            let (path, offset) = place(&whole, damaged);
            memory.corrupt(&path, offset + 60, 4).unwrap();
            let mut gone: Vec<u64> = bound.to_vec();
            // If event 6 cannot be read, nothing shows that event 5 causes event 6, so event 5 is kept. If event 8 cannot be
            // read, nothing shows that event 11 has the key of event 8, so event 11 is kept.
            match damaged {
                6 => gone.retain(|seq| *seq != 5),
                8 => gone.retain(|seq| *seq != 11),
                _ => {}
            }
            gone.push(damaged);
            gone.sort_unstable();
            gone.dedup();
            // A cut inside the group or after the damage is still refused.
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
            // Each event is a group of its own now, so the log can be cut after any event.
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
        // The damage is either far before the torn batch, or directly before the batch and over its first event.
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
                // If there is no head, a torn batch cannot be told from a damaged batch.
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

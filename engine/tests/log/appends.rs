//! Tests of the log through its API: append, order, rotation, reading.

#[allow(dead_code, reason = "a test calls what main calls")]
#[path = "../../examples/audit_log.rs"]
mod audit_log;
#[allow(dead_code, reason = "a test calls what main calls")]
#[path = "../../examples/embed.rs"]
mod embed;

use crate::support::*;
use teamlog_engine::Point;
use teamlog_engine::{Cause, Event};

#[test]
fn a_short_program_keeps_a_log_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let notes = dir.path().join("notes");
    let lines = embed::noted(&notes, "it is \"green\"").unwrap();
    assert_eq!(lines, [r#"1 note_taken "it is \"green\"""#]);
    let again = embed::noted(&notes, "twice").unwrap_err();
    assert!(again.to_string().contains("log"), "{again}");
    let lines = include_str!("../../examples/embed.rs").lines().count();
    assert!(lines < 40, "{lines}");
}

#[test]
fn an_audit_log_of_an_agent_harness_takes_few_lines() {
    let dir = tempfile::tempdir().unwrap();
    let calls = audit_log::audited(&dir.path().join("harness")).unwrap();
    assert_eq!(calls, [r#"{"command":"ls"}"#]);
    let lines = include_str!("../../examples/audit_log.rs").lines().count();
    assert!(lines < 60, "{lines}");
}

#[test]
fn what_is_appended_is_read_in_order() {
    for format in FORMATS {
        let (_dir, log) = on_disk(format);
        let writer = writer(&log);
        for n in 0..10 {
            let done = say(&writer, &format!("{n}"));
            assert_eq!((done.first_seq, done.last_seq), (n + 1, n + 1));
        }
        let five = (10..15).map(|n| said(&n.to_string())).collect();
        let done = writer.append(five, Durability::Synced).unwrap().unwrap();
        assert_eq!((done.first_seq, done.last_seq), (11, 15));
        assert_eq!(
            texts(&log),
            (0..15).map(|n| n.to_string()).collect::<Vec<_>>()
        );
        let seqs: Vec<u64> = events(&log).iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=15).collect::<Vec<_>>());
        drop(writer);
        let report = log.verify(None).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        assert_eq!(
            (report.events, report.last_seq, report.segments),
            (15, 15, 1)
        );
    }
}

#[test]
fn ids_and_times_increase_whatever_the_clock_does() {
    for format in FORMATS {
        let (_dir, storage) = files();
        let (clock, options) = options();
        let log = create(&storage, format, &options);
        let writer = writer(&log);
        let append = |text: &str| say(&writer, text);
        append("now");
        clock.advance(-3_600_000_000);
        append("an hour back");
        for _ in 0..50 {
            append("burst within a microsecond");
        }
        clock.advance(365 * 86_400_000_000);
        append("a year ahead");
        clock.set(start());
        append("back again");
        let events = events(&log);
        let parts = |event: &Event<'_>| (event.id, event.created_at, event.seq);
        let parts: Vec<_> = events.iter().map(parts).collect();
        assert!(parts.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1 && a.2 + 1 == b.2));
        assert!(parts.iter().all(|(id, at, _)| id.created_at() == *at));
        assert_eq!(events[0].created_at, start());
        assert_eq!(events[1].created_at, start().plus_micros(1));
    }
}

/// The digest of a segment is updated while the segment grows. A second writer first hashes the bytes that the first writer
/// wrote.
#[test]
fn a_segment_that_is_hashed_while_it_grows_is_sealed_as_it_is() {
    let text = "x".repeat(20_000);
    for format in FORMATS {
        for durability in [Durability::Synced, Durability::Buffered] {
            let storage = arc(&Memory::new());
            let options = given!(LogOptions, segment_bytes_max: 1_500_000, ..options().1);
            let log = create(&storage, format, &options);
            for events in [30, 220] {
                let writer = writer(&log);
                for _ in 0..events {
                    writer.append(vec![said(&text)], durability).unwrap();
                }
                writer.close().unwrap();
            }
            let report = log.verify(None).unwrap();
            assert!(report.ok && report.segments > 3, "{report:?}");
        }
    }
}

#[test]
fn a_day_and_a_full_segment_begin_a_new_one() {
    for format in FORMATS {
        let (_dir, storage) = files();
        let (clock, mut options) = options();
        options.segment_bytes_max = 3_000;
        let log = create(&storage, format, &options);
        let writer = writer(&log);
        for n in 0..40 {
            if n == 30 {
                clock.set(start().next_day().plus_micros(-1));
            }
            writer
                .append(vec![said(&n.to_string()), said("x")], Durability::Synced)
                .unwrap();
        }
        drop(writer);
        let names = forge::names(&*storage);
        assert!(names.len() >= 3, "{names:?}");
        for name in ["2026-11-21.x001", "2026-11-22"] {
            assert!(names.contains(&format!("{name}.{}", format.extension())));
        }
        let report = log.verify(None).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        assert_eq!((report.events, report.segments), (80, names.len() as u64));
        // If a group would cross midnight, all of its events get times after midnight.
        let events = events(&log);
        for event in &events[60..62] {
            assert_eq!(event.created_at.day(), "2026-11-22", "{event:?}");
        }
    }
}

#[test]
fn the_log_is_read_from_any_place() {
    for format in FORMATS {
        let (_dir, storage) = files();
        let (clock, mut options) = options();
        options.segment_bytes_max = 5_000;
        let log = create(&storage, format, &options);
        let writer = writer(&log);
        for n in 0..100 {
            // Some days have several segments, some have one segment, some have none.
            clock.advance(if n < 50 { 60_000_000 } else { 40_000_000_000 });
            say(&writer, &n.to_string());
        }
        let reader = log.reader().unwrap();
        let all: Vec<_> = reader.events(None).map(Result::unwrap).collect();
        assert_eq!(all.len(), 100);
        for (index, (place, crc, event)) in all.iter().enumerate() {
            assert_eq!(reader.find_seq(event.seq).unwrap(), Some(*place));
            assert_eq!(reader.find_time(event.created_at).unwrap(), Some(*place));
            let before = event.created_at.plus_micros(-1);
            assert_eq!(reader.find_time(before).unwrap(), Some(*place));
            let frame = reader.frame_at(*place).unwrap();
            assert_eq!(frame, Some((event.clone(), *crc)));
            let rest = reader
                .events(Some(*place))
                .map(|event| event.unwrap().2.seq);
            assert!(rest.eq(index as u64 + 2..=100));
        }
        for (index, (place, _, event)) in all.iter().enumerate() {
            for point in [Point::Seq(event.seq), Point::Time(event.created_at)] {
                let then = reader.upto(point).unwrap().unwrap();
                let head = then.head();
                assert_eq!((head.last_seq, head.end), (event.seq, place.end()));
                let last = then.events(None).last().unwrap().unwrap();
                assert_eq!((last.0, last.2), (*place, event.clone()));
                assert_eq!(then.events(None).count(), index + 1);
                assert_eq!(then.at(*place).unwrap(), *event);
                if let Some((next, ..)) = all.get(index + 1) {
                    assert!(then.at(*next).is_err(), "the future is not known");
                }
            }
        }
        let early = [
            Point::Seq(0),
            Point::Time(all[0].2.created_at.plus_micros(-1)),
        ];
        for point in early {
            assert!(reader.upto(point).unwrap().is_none());
        }
        for point in [Point::Seq(500), Point::Time(Timestamp::MAX)] {
            assert_eq!(
                reader.upto(point).unwrap().unwrap().head().end,
                reader.head().end
            );
        }
        assert_eq!(reader.find_seq(101).unwrap(), None);
        assert_eq!(reader.find_time(Timestamp::MAX).unwrap(), None);
        let mut backward = Vec::new();
        reader
            .each_reversed(|located| {
                backward.push(located.frame.event.seq);
                Ok::<_, Error>(std::ops::ControlFlow::<()>::Continue(()))
            })
            .unwrap();
        assert_eq!(backward, (1..=100).rev().collect::<Vec<_>>());
    }
}

#[test]
fn buffered_events_go_out_together() {
    for format in FORMATS {
        let (_dir, log) = on_disk(format);
        let writer = writer(&log);
        let buffer = |text: &str| {
            writer
                .append(vec![said(text)], Durability::Buffered)
                .unwrap()
        };
        for n in 0..5 {
            buffer(&n.to_string());
        }
        assert_eq!(
            log.reader().unwrap().head().last_seq,
            0,
            "nothing is published before it is durable"
        );
        say(&writer, "5");
        assert_eq!(texts(&log), ["0", "1", "2", "3", "4", "5"]);
        buffer("6");
        writer.sync().unwrap();
        assert_eq!(texts(&log).len(), 7);
        buffer("7");
        writer.close().unwrap();
        assert_eq!(texts(&log).len(), 8);
    }
}

#[test]
fn a_job_sees_what_was_decided_before_it_and_may_refuse() {
    let (_dir, log) = on_disk(FORMATS[0]);
    let writer = writer(&log);
    let done = writer
        .commit(Durability::Synced, |(), now| {
            let second = said("b").caused_by(Cause::Earlier(0));
            Ok::<_, ()>((now, vec![said("a"), second]))
        })
        .unwrap();
    assert_eq!(done.answer, start());
    assert_eq!(done.events.len(), 2);
    assert_eq!(done.events[1].refs.cause, Some(done.events[0].id));
    let refused = writer.commit(Durability::Synced, |(), _| Err::<((), _), _>("no"));
    assert!(matches!(
        refused,
        Err(teamlog_engine::CommitError::Refused("no"))
    ));
    let nothing = writer
        .commit(Durability::Synced, |(), _| Ok::<_, ()>((7, vec![])))
        .unwrap();
    assert_eq!((nothing.answer, nothing.events.len()), (7, 0));
    assert_eq!(texts(&log), ["a", "b"]);
}

#[test]
fn many_threads_share_their_syncs_and_lose_nothing() {
    for format in FORMATS {
        let (_dir, log) = on_disk(format);
        let writer = writer(&log);
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let writer = &writer;
                scope.spawn(move || {
                    for n in 0..25 {
                        let own = format!("{thread}-{n}");
                        let done = writer.commit(Durability::Synced, move |(), _| {
                            Ok::<_, ()>(((), vec![said(&own), said("and")]))
                        });
                        let done = done.unwrap();
                        assert_eq!(done.events.len(), 2);
                        assert_eq!(text(&done.events[0]), format!("{thread}-{n}"));
                    }
                });
            }
        });
        let mut said = texts(&log);
        said.retain(|text| text != "and");
        assert_eq!(said.len(), 400);
        for thread in 0..16 {
            let own = said
                .iter()
                .filter(|text| text.starts_with(&format!("{thread}-")));
            let expected: Vec<_> = (0..25).map(|n| format!("{thread}-{n}")).collect();
            assert!(own.eq(&expected), "{thread} of {said:?}");
        }
        drop(writer);
        assert!(log.verify(None).unwrap().ok);
    }
}

#[test]
fn a_second_writer_waits_and_then_learns_who_holds_the_lock() {
    let (_dir, log) = on_disk(FORMATS[0]);
    let held = log.lock().unwrap();
    let error = log.lock().err().unwrap();
    let Error::Locked {
        holder, waited_ms, ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(holder.contains(&std::process::id().to_string()), "{holder}");
    assert!(*waited_ms >= 200, "{waited_ms}");
    drop(held);
    log.lock().unwrap();
}

#[test]
fn a_segment_that_is_no_longer_there_takes_nothing() {
    let harms: [fn(&Path); 3] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| std::fs::write(path, b"{}\n").unwrap(),
        |path| {
            std::fs::rename(path, path.with_extension("aside")).unwrap();
            std::fs::copy(path.with_extension("aside"), path).unwrap();
        },
    ];
    for format in FORMATS {
        for (number, harm) in harms.iter().enumerate() {
            let (dir, log) = on_disk(format);
            let writer = writer(&log);
            let append = |text: &str| writer.append(vec![said(text)], Durability::Synced);
            append("one").unwrap();
            let path = dir.path().join(segment(format));
            harm(&path);
            let before = std::fs::read(&path).ok();
            let refused = append("two").unwrap_err();
            assert!(matches!(refused, Error::Corrupt { .. }), "{refused}");
            // The writer does not try again, even if the file is back.
            assert!(matches!(append("three").unwrap_err(), Error::Poisoned(_)));
            assert_eq!(std::fs::read(&path).ok(), before);
            drop(writer);
            let again = log.lock();
            assert_eq!(again.is_ok(), number == 2, "{format:?} {number}");
        }
    }
}

#[test]
fn payloads_are_kept_to_the_letter() {
    for format in FORMATS {
        let (_dir, log) = on_disk(format);
        let payload = r#"{"n":100000000000000000000000,"f":1.0,"e":1e5,"s":"ü\n\"\\ \u0001","list":[null,true,{"a":[]}]}"#;
        let event = NewEvent::new("note_said", "lead", Json::parse(payload).unwrap());
        writer(&log)
            .append(vec![event], Durability::Synced)
            .unwrap();
        assert_eq!(events(&log)[0].payload, payload);
    }
}

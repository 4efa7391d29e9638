//! The log as its users see it: append, order, rotation, reading, receipts.

#[allow(dead_code, reason = "its main is for whoever runs it")]
#[path = "../../examples/embed.rs"]
mod embed;

use crate::support::*;
use teamlog_engine::reader::Point;
use teamlog_engine::{Cause, EventId, Writer};

fn files() -> (tempfile::TempDir, Arc<dyn Storage>) {
    let dir = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Files::open(dir.path()).unwrap());
    (dir, storage)
}

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
fn what_is_appended_is_read_in_order() {
    for format in FORMATS {
        let (_dir, storage) = files();
        let log = create(&storage, format, &options().1);
        let writer = writer(&log);
        for n in 0..10 {
            let done = say(&writer, &format!("{n}"));
            assert_eq!((done.first_seq, done.last_seq), (n + 1, n + 1));
        }
        let done = writer
            .append(
                (10..15).map(|n| said(&n.to_string())).collect(),
                Durability::Synced,
            )
            .unwrap()
            .unwrap();
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
        assert!(
            events.is_sorted_by(|a, b| a.id < b.id
                && a.created_at < b.created_at
                && a.seq + 1 == b.seq)
        );
        assert!(
            events
                .iter()
                .all(|event| event.id.created_at() == event.created_at)
        );
        assert_eq!(events[0].created_at, start());
        assert_eq!(events[1].created_at, start().plus_micros(1));
    }
}

#[test]
fn a_day_and_a_full_segment_begin_a_new_one() {
    for format in FORMATS {
        let (dir, storage) = files();
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
        let mut names: Vec<_> = std::fs::read_dir(dir.path().join("teams/demo/events"))
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        names.sort();
        assert!(names.len() >= 3, "{names:?}");
        assert!(
            names
                .iter()
                .any(|name| name.to_string_lossy().starts_with("2026-11-21.x001."))
        );
        assert!(
            names
                .iter()
                .any(|name| name.to_string_lossy() == format!("2026-11-22.{}", format.extension()))
        );
        let report = log.verify(None).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        assert_eq!((report.events, report.segments), (80, names.len() as u64));
        // The group that would have crossed midnight is stamped behind it, whole.
        let events = events(&log);
        let crossing = &events[60..62];
        assert!(
            crossing
                .iter()
                .all(|event| event.created_at.day() == "2026-11-22"),
            "{crossing:?}"
        );
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
            // Days of several segments, of one, and of none.
            clock.advance(if n < 50 { 60_000_000 } else { 40_000_000_000 });
            say(&writer, &n.to_string());
        }
        let reader = log.reader().unwrap();
        let all: Vec<_> = reader.events(None).map(Result::unwrap).collect();
        assert_eq!(all.len(), 100);
        for (index, (place, crc, event)) in all.iter().enumerate() {
            assert_eq!(reader.find_seq(event.seq).unwrap(), Some(*place));
            assert_eq!(reader.find_time(event.created_at).unwrap(), Some(*place));
            assert_eq!(
                reader.find_time(event.created_at.plus_micros(-1)).unwrap(),
                Some(*place)
            );
            assert_eq!(
                reader.frame_at(*place).unwrap(),
                Some((event.clone(), *crc))
            );
            let rest: Vec<u64> = reader
                .events(Some(*place))
                .map(|event| event.unwrap().2.seq)
                .collect();
            assert_eq!(rest, (index as u64 + 2..=100).collect::<Vec<_>>());
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
        let (_dir, storage) = files();
        let log = create(&storage, format, &options().1);
        let writer = writer(&log);
        for n in 0..5 {
            writer
                .append(vec![said(&n.to_string())], Durability::Buffered)
                .unwrap();
        }
        assert_eq!(
            log.reader().unwrap().head().last_seq,
            0,
            "nothing is published before it is durable"
        );
        say(&writer, "5");
        assert_eq!(texts(&log), ["0", "1", "2", "3", "4", "5"]);
        writer
            .append(vec![said("6")], Durability::Buffered)
            .unwrap();
        writer.sync().unwrap();
        assert_eq!(texts(&log).len(), 7);
        writer
            .append(vec![said("7")], Durability::Buffered)
            .unwrap();
        writer.close().unwrap();
        assert_eq!(texts(&log).len(), 8);
    }
}

#[test]
fn a_job_sees_what_was_decided_before_it_and_may_refuse() {
    let (_dir, storage) = files();
    let log = create(&storage, FORMATS[0], &options().1);
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
        let (_dir, storage) = files();
        let log = create(&storage, format, &options().1);
        let writer = writer(&log);
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let writer = &writer;
                scope.spawn(move || {
                    for n in 0..25 {
                        let text = format!("{thread}-{n}");
                        let done = writer.commit(Durability::Synced, move |(), _| {
                            Ok::<_, ()>(((), vec![said(&text), said("and")]))
                        });
                        let done = done.unwrap();
                        assert_eq!(done.events.len(), 2);
                        assert_eq!(text_of(&done.events[0]), format!("{thread}-{n}"));
                    }
                });
            }
        });
        let mut said: Vec<String> = texts(&log)
            .into_iter()
            .filter(|text| text != "and")
            .collect();
        assert_eq!(said.len(), 400);
        for thread in 0..16 {
            let own: Vec<_> = said
                .iter()
                .filter(|text| text.starts_with(&format!("{thread}-")))
                .collect();
            assert!(
                own.iter()
                    .enumerate()
                    .all(|(n, text)| **text == format!("{thread}-{n}")),
                "{own:?}"
            );
        }
        said.sort();
        said.dedup();
        assert_eq!(said.len(), 400);
        drop(writer);
        assert!(log.verify(None).unwrap().ok);
    }
}

fn text_of(event: &teamlog_engine::Event<'_>) -> String {
    text(event)
}

#[test]
fn a_second_writer_waits_and_then_learns_who_holds_the_lock() {
    let (_dir, storage) = files();
    let log = create(&storage, FORMATS[0], &options().1);
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
            let (dir, storage) = files();
            let log = create(&storage, format, &options().1);
            let writer = writer(&log);
            let append = |text: &str| writer.append(vec![said(text)], Durability::Synced);
            append("one").unwrap();
            let path = dir.path().join(segment(format));
            harm(&path);
            let before = std::fs::read(&path).ok();
            let refused = append("two").unwrap_err();
            assert!(matches!(refused, Error::Corrupt { .. }), "{refused}");
            // Nor does this writer try again, whatever is there by then.
            assert!(matches!(append("three").unwrap_err(), Error::Poisoned(_)));
            assert_eq!(std::fs::read(&path).ok(), before);
            drop(writer);
            let again = log.lock();
            assert_eq!(again.is_ok(), number == 2, "{format:?} {number}");
        }
    }
}

#[test]
fn limits_are_exact_and_named() {
    let (_dir, storage) = files();
    let log = create(&storage, FORMATS[0], &options().1);
    let writer = writer(&log);
    let sized = |len: usize| {
        let event = said("");
        let base = teamlog_engine::codec::canonical_len(&stamped(event));
        said(&"x".repeat(len - base))
    };
    let max = teamlog_engine::limits::EVENT_BYTES_MAX;
    for (len, fits) in [(max - 1, true), (max, true), (max + 1, false)] {
        let result = writer.append(vec![sized(len)], Durability::Synced);
        assert_eq!(result.is_ok(), fits, "{len}: {result:?}");
        if let Err(error) = result {
            shows!(error.to_string() => is format!("an event has {len} bytes; the limit is {max}"));
        }
    }
    let group = |events: usize| writer.append(vec![sized(max - 10); events], Durability::Synced);
    assert!(matches!(
        group(5),
        Err(Error::TooLarge {
            what: "a group",
            ..
        })
    ));
    assert!(group(4).is_ok());
    for bad in ["", "Upper", "9a", "a-b", "ä"] {
        let mut event = said("x");
        event.kind = bad.to_string().into();
        refused(&writer, vec![event], "kind");
    }
    for bad in ["", "a\nb", "\u{1e}", "\u{85}", &"x".repeat(129)] {
        let mut event = said("x");
        event.actor = bad.to_string();
        refused(&writer, vec![event], "actor");
        let event = said("x").with_ref(teamlog_engine::RefKind::Task, bad.to_string());
        refused(&writer, vec![event], "task_id");
    }
    // A refused append writes nothing and leaves the writer usable.
    say(&writer, "still here");
}

/// The events are refused because of that field.
fn refused(writer: &Writer<()>, events: Vec<NewEvent>, because_of: &str) {
    let what = format!("{events:?}");
    match writer.append(events, Durability::Synced).unwrap_err() {
        Error::Invalid { field, .. } => assert_eq!(field, because_of, "{what}"),
        other => panic!("{other}: {what}"),
    }
}

/// The event as the log would record it next, for its length.
fn stamped(new: NewEvent) -> teamlog_engine::Event<'static> {
    given!(teamlog_engine::Event; seq: 1, id: EventId::new(start(), 0), created_at: start(),
        kind: new.kind, actor: new.actor, refs: new.refs, schema_version: 1, foreign: false,
        payload: new.payload.into_string())
}

#[test]
fn imported_times_may_repeat_but_not_run_backward() {
    let (_dir, storage) = files();
    let log = create(&storage, FORMATS[0], &options().1);
    let writer = writer(&log);
    let at = |text: &str, time: &str| {
        given!(NewEvent, created_at: Timestamp::parse(time).unwrap(),
        ..said(text))
    };
    let repeated = vec![
        at("a", "2024-01-01T00:00:00Z"),
        at("b", "2024-01-01T00:00:00Z"),
        at("c", "2024-01-01T00:00:00.000001Z"),
    ];
    writer.append(repeated, Durability::Synced).unwrap();
    let back = vec![at("d", "2023-12-31T23:59:59Z")];
    refused(&writer, back, "created_at");
    let across = vec![
        at("e", "2024-01-01T10:00:00Z"),
        at("f", "2024-01-02T10:00:00Z"),
    ];
    refused(&writer, across, "created_at");
    say(&writer, "live");
    let events = events(&log);
    assert!(events.is_sorted_by(|a, b| a.id < b.id));
    assert_eq!(
        events.iter().map(text).collect::<Vec<_>>(),
        ["a", "b", "c", "live"]
    );
    drop(writer);
    assert!(log.verify(None).unwrap().ok);
}

#[test]
fn nothing_is_appended_behind_the_last_id_there_is() {
    for format in FORMATS {
        let (_dir, storage) = files();
        let log = create(&storage, format, &options().1);
        let writer = writer(&log);
        let mut last = said("the end of time");
        last.created_at = Some(Timestamp::MAX);
        last.id = Some(EventId::new(Timestamp::MAX, u64::MAX));
        writer.append(vec![last], Durability::Synced).unwrap();
        refused(&writer, vec![said("later")], "created_at");
        drop(writer);
        assert_eq!(texts(&log), ["the end of time"]);
        assert!(log.verify(None).unwrap().ok);
    }
}

#[test]
fn a_receipt_shows_what_was_changed_or_cut() {
    for format in FORMATS {
        let (dir, storage) = files();
        let (clock, options) = options();
        let log = create(&storage, format, &options);
        let first = {
            let writer = writer(&log);
            for n in 0..5 {
                say(&writer, &n.to_string());
            }
            log.reader().unwrap().receipt().unwrap().unwrap()
        };
        assert_eq!(first.seq, 5);
        let bytes =
            std::fs::read(dir.path().join("teams/demo/events").join(&first.segment)).unwrap();
        assert_eq!(
            blake3::hash(&bytes[..first.length as usize])
                .to_hex()
                .to_string(),
            first.digest
        );
        let backup = tempfile::tempdir().unwrap();
        copy_dir(dir.path(), backup.path());
        {
            let writer = writer(&log);
            clock.advance(86_400_000_000);
            for n in 5..9 {
                say(&writer, &n.to_string());
            }
        }
        let second = log.reader().unwrap().receipt().unwrap().unwrap();
        for receipt in [&first, &second] {
            let report = log.verify(Some(receipt)).unwrap();
            assert!(report.ok, "{report:?}");
        }
        // A restored backup is a valid log, but not the one that the receipt was given for.
        let restored: Arc<dyn Storage> = Arc::new(Files::open(backup.path()).unwrap());
        let restored = open(&restored, &options);
        assert!(restored.verify(None).unwrap().ok);
        let report = restored.verify(Some(&second)).unwrap();
        assert_eq!(report.problems[0].kind, "cut_below_receipt", "{report:?}");
        // Other history of the same length.
        {
            let writer = restored.lock().unwrap().into_writer(());
            for _ in 5..9 {
                say(&writer, "other");
            }
        }
        let mut moved = second.clone();
        moved.segment = first.segment.clone();
        let report = restored.verify(Some(&moved)).unwrap();
        assert!(!report.ok, "{report:?}");
    }
}

#[test]
fn files_of_another_log_are_refused() {
    for format in FORMATS {
        let (dir, storage) = files();
        let (_, options) = options();
        let log = create(&storage, format, &options);
        say(&writer(&log), "a");
        let (other_dir, other_storage) = files();
        let other = create(&other_storage, format, &options);
        say(&writer(&other), "b");
        let head = Path::new("teams/demo/head");
        std::fs::copy(other_dir.path().join(head), dir.path().join(head)).unwrap();
        assert!(matches!(
            log.reader().unwrap_err(),
            Error::ForeignFile { .. }
        ));
        std::fs::remove_file(dir.path().join(head)).unwrap();
        std::fs::copy(
            other_dir.path().join(segment(format)),
            dir.path().join(segment(format)),
        )
        .unwrap();
        let error = log.reader().unwrap_err();
        assert!(
            matches!(error, Error::ForeignFile { .. } | Error::Corrupt { .. }),
            "{error}"
        );
        let report = log.verify(None).unwrap();
        assert!(!report.ok, "{report:?}");
        assert!(
            report
                .problems
                .iter()
                .any(|problem| problem.kind == "foreign_segment"),
            "{report:?}"
        );
    }
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let (dir, storage) = files();
    create(&storage, FORMATS[0], &options().1);
    std::fs::write(
        dir.path().join("teams/demo/log.json"),
        "{\"version\":2,\"log\":[]}\n",
    )
    .unwrap();
    let error =
        teamlog_engine::Log::open(storage, Path::new("teams/demo"), options().1).unwrap_err();
    shows!(error.to_string() =>
        is "teams/demo/log.json has format version 2; this teamlog reads up to 1");
}

#[test]
fn payloads_are_kept_to_the_letter() {
    for format in FORMATS {
        let (_dir, storage) = files();
        let log = create(&storage, format, &options().1);
        let payload = r#"{"n":100000000000000000000000,"f":1.0,"e":1e5,"s":"ü\n\"\\ \u0001","list":[null,true,{"a":[]}]}"#;
        let event = NewEvent::new("note_said", "lead", Json::parse(payload).unwrap());
        writer(&log)
            .append(vec![event], Durability::Synced)
            .unwrap();
        assert_eq!(events(&log)[0].payload, payload);
    }
}

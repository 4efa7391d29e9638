//! Tests of events that an append refuses: too large, malformed, or earlier than the log's end.

use crate::support::*;
use std::sync::atomic::Ordering;
use teamlog_engine::internals::codec::canonical_len;
use teamlog_engine::limits::EVENT_BYTES_MAX;
use teamlog_engine::{Event, EventId, Writer};

#[test]
fn limits_are_exact_and_named() {
    let (_dir, log) = on_disk(FORMATS[0]);
    let writer = writer(&log);
    let sized = |len: usize| {
        let event = said("");
        let base = canonical_len(&stamped(event));
        said(&"x".repeat(len - base))
    };
    let max = EVENT_BYTES_MAX;
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
        let event = said("x").with_ref(crate::support::undeclared::TASK, bad.to_string());
        refused(&writer, vec![event], "task_id");
    }
    // A refused append writes nothing and leaves the writer usable.
    say(&writer, "still here");
}

/// Checks that the append is refused because of the field `because_of`.
fn refused(writer: &Writer<()>, events: Vec<NewEvent>, because_of: &str) {
    let what = format!("{events:?}");
    match writer.append(events, Durability::Synced).unwrap_err() {
        Error::Invalid { field, .. } => assert_eq!(field, because_of, "{what}"),
        other => panic!("{other}: {what}"),
    }
}

/// Returns the event as the log would record it next. Used to measure the event's length.
fn stamped(new: NewEvent) -> Event<'static> {
    given!(Event; seq: 1, id: EventId::new(start(), 0), created_at: start(),
        kind: new.kind, actor: new.actor, refs: new.refs, schema_version: 1, foreign: false,
        payload: new.payload.into_string())
}

#[test]
fn imported_times_may_repeat_but_not_run_backward() {
    let (_dir, log) = on_disk(FORMATS[0]);
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
        let (_dir, log) = on_disk(format);
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

/// A source of random bits that fails after some calls.
#[derive(Debug)]
struct GivingOut {
    left: AtomicU64,
    ids: SeededIds,
}

impl IdSource for GivingOut {
    fn random(&self) -> teamlog_engine::Result<u64> {
        let one_less = |left: u64| left.checked_sub(1);
        let left = (self.left).fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        match left {
            Ok(_) => Ok(self.ids.random()),
            Err(_) => Err(Error::Random("there are none".into())),
        }
    }
}

#[test]
fn without_random_bits_nothing_is_recorded_and_the_writer_stays_usable() {
    for format in FORMATS {
        let storage = arc(&Memory::new());
        create(&storage, format, &options().1);
        let source = Arc::new(GivingOut {
            left: 2.into(),
            ids: SeededIds(1.into()),
        });
        let mut options = options().1;
        options.ids = source.clone();
        let log = open(&storage, &options);
        let writer = writer(&log);
        let three = || vec![said("a"), said("b"), said("c")];
        for durability in [Durability::Synced, Durability::Buffered] {
            let failed = writer.append(three(), durability).unwrap_err();
            assert!(matches!(failed, Error::Random(_)), "{failed}");
        }
        source.left.store(3, Ordering::Relaxed);
        let done = writer.append(three(), Durability::Synced).unwrap().unwrap();
        assert_eq!((done.first_seq, done.last_seq), (1, 3));
        writer.close().unwrap();
        assert_eq!(texts(&log), ["a", "b", "c"]);
        let new = given!(teamlog_engine::NewLog; name: "other", format, origin: "init");
        let made = Log::create(storage, Path::new("teams/other"), new, options);
        assert!(matches!(made, Err(Error::Random(_))));
    }
}

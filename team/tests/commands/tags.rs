//! Tests of tags: how they are recorded, shown, filtered and indexed.

use crate::prelude::*;
use teamlog_team::log::append_batch::AppendBatch;
use teamlog_team::log::events::{Events, Order};
use teamlog_team::log::filter::EventFilter;
use teamlog_team::log::public_line;

fn tagged(kind: &str, tags: &[&str]) -> Append {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    given!(Append, kind, actor: "ci", tags, payload: r#"{"ok":true}"#)
}

/// Returns the events of a replay, as readers see them.
fn replayed(team: &mut Team, replay: Replay) -> Vec<Value> {
    let mut lines = Vec::new();
    team.replay(replay, &mut |_, line| {
        lines.push(serde_json::from_slice(line).unwrap());
        ControlFlow::Continue(())
    })
    .unwrap();
    lines
}

fn seqs(events: &[Value]) -> Vec<u64> {
    events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect()
}

#[test]
fn tags_are_stored_in_the_payload_and_shown_beside_it() {
    for format in [Format::Jsonl, Format::Binary] {
        let (world, mut team) = team_of(None, format);
        team.append(tagged("built", &["pr=77", "env=prod", "pr=77"]))
            .unwrap();
        team.append(given!(Append, kind: "built", payload: r#"{"ok":true}"#))
            .unwrap();
        let shown = replayed(&mut team, Replay::default());
        assert_eq!(
            (&shown[1]["schema_version"], &shown[2]["schema_version"]),
            (&json!(2), &json!(1))
        );
        assert_eq!(shown[1]["payload"], json!({"ok": true}));
        assert_eq!(shown[1]["tags"], json!(["env=prod", "pr=77"]));
        assert!(shown[2].get("tags").is_none());
        let page = team.events(&Events::default()).unwrap();
        assert_eq!(json(&page.events)[1], shown[1]);
        assert_eq!(
            page.events[1].event.payload,
            r#"{"tags":["env=prod","pr=77"],"payload":{"ok":true}}"#
        );
        assert_eq!(page.events[2].event.payload, r#"{"ok":true}"#);
        // A client reads the answer back to the recorded event.
        let read: teamlog_team::Recorded =
            serde_json::from_value(json(&page.events)[1].clone()).unwrap();
        assert_eq!(read.event, page.events[1].event);
        // An import of the export stores the same events.
        let mut lines = Vec::new();
        team.export(&mut |line| {
            lines.extend_from_slice(line);
            lines.push(b'\n');
            ControlFlow::Continue(())
        })
        .unwrap();
        let import = given!(teamlog_team::import::events::ImportEvents, team: "copy");
        world.root.import_events(import, &mut &*lines).unwrap();
        let mut copy = world.root.team("copy").unwrap();
        let copied = copy.events(&Events::default()).unwrap();
        assert_eq!(copied.events, page.events);
        settled_digest(&mut team);
    }
}

#[test]
fn a_line_is_read_back_whatever_its_payload_has() {
    let (_, mut team) = demo();
    for payload in [
        "[]",
        r#"{"tags":["a=b"]}"#,
        r#"{"x":1,"tags":["a=b"]}"#,
        r#"{"x":",\"tags\":[\"a=b\"]"}"#,
        r#"[{"y":2,"tags":["a=b"]}]"#,
    ] {
        for tags in [&[][..], &["pr=77"], &["note=say \"hi\", {}]"]] {
            let append = given!(Append, payload, ..tagged("built", tags));
            team.append(append).unwrap();
        }
    }
    let page = team.events(&Events::default()).unwrap();
    assert_eq!(page.count, 16);
    for recorded in &page.events {
        let mut line = Vec::new();
        public_line::write(&recorded.event, &mut line);
        let line = String::from_utf8(line).unwrap();
        assert_eq!(
            public_line::parse(&line).as_ref(),
            Ok(&recorded.event),
            "{line}"
        );
        let read: teamlog_team::Recorded = serde_json::from_str(&recorded.json()).unwrap();
        assert_eq!(read.event, recorded.event);
    }
}

/// Returns true for the seq of an event that a filter must find.
type Expected = fn(u64) -> bool;

#[test]
fn every_filter_finds_events_by_tag() {
    let (_, mut team) = demo();
    // Event 1 creates the team.
    for n in 2..60 {
        let pr = format!("pr={}", n % 3);
        let env = if n % 5 == 0 { "env=prod" } else { "env=test" };
        let kind = if n % 2 == 0 { "built" } else { "deployed" };
        let task_id = format!("T{}", n % 4);
        team.append(given!(Append, task_id, ..tagged(kind, &[&pr, env])))
            .unwrap();
    }
    let all = |found: Expected| (2..60).filter(|n| found(*n)).collect::<Vec<u64>>();
    let filters: [(&str, Expected); 6] = [
        ("tag=pr=1", |n| n % 3 == 1),
        ("tag=pr=1 tag=env=prod", |n| n % 3 == 1 && n % 5 == 0),
        ("kind=built tag=pr=1", |n| n % 2 == 0 && n % 3 == 1),
        ("kind=built,deployed tag=pr=1 task=T3", |n| {
            n % 3 == 1 && n % 4 == 3
        }),
        ("kind=deployed tag=env=prod", |n| n % 2 == 1 && n % 5 == 0),
        ("tag=pr=9", |_| false),
    ];
    for is_rebuilt in [false, true] {
        if is_rebuilt {
            rehydrate(&mut team);
        }
        for (text, expected) in filters {
            let filter = EventFilter::from_text("filter", text).unwrap();
            let mut expected = all(expected);
            let mut check = |reverse: bool, expected: &[u64]| {
                let replay = Replay {
                    reverse,
                    ..Replay::from(&filter)
                };
                assert_eq!(seqs(&replayed(&mut team, replay)), expected, "{text}");
            };
            check(false, &expected);
            expected.reverse();
            check(true, &expected);
            let asked = Events {
                kind: (!filter.kinds.is_empty()).then(|| filter.kinds.join(",")),
                tag: filter.tags.clone(),
                task_id: filter.task_id.clone(),
                order: Some(Order::Newest),
                limit: Some(4),
                ..Events::default()
            };
            // Pages backward, then forward.
            let (mut found, mut before) = (Vec::new(), None);
            loop {
                let page = team
                    .events(&Events {
                        before,
                        ..asked.clone()
                    })
                    .unwrap();
                found.extend(page.events.iter().map(|recorded| recorded.event.seq));
                before = page.next_before.flatten();
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{text}");
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = Events {
                    after,
                    order: None,
                    ..asked.clone()
                };
                let page = team.events(&page).unwrap();
                found.extend(page.events.iter().map(|recorded| recorded.event.seq));
                after = Some(page.next_after);
                if !page.more {
                    break;
                }
            }
            expected.reverse();
            assert_eq!(found, expected, "{text}");
            let matching = team.events(&given!(Events, limit: 100)).unwrap();
            let matching = matching
                .events
                .iter()
                .filter(|recorded| filter.matches(&recorded.event));
            assert_eq!(
                matching
                    .map(|recorded| recorded.event.seq)
                    .collect::<Vec<_>>(),
                expected
            );
        }
    }
}

#[test]
fn a_tag_that_breaks_a_rule_is_refused() {
    let (_, mut team) = demo();
    for (tags, rule) in [
        (vec!["pr".to_owned()], "NAME=VALUE"),
        (vec!["Pr=1".to_owned()], "NAME=VALUE"),
        (vec![format!("a={}", "x".repeat(129))], "128 bytes"),
        (
            (0..17).map(|n| format!("t{n}=1")).collect(),
            "at most 16 items",
        ),
    ] {
        let refusal = refused(
            team.append(given!(Append, kind: "built", tags)),
            Code::InvalidInput,
        );
        assert_eq!(refusal.field.as_deref(), Some("tags"));
        assert!(refusal.message.contains(rule), "{refusal}");
    }
    let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
    let append = given!(Append, payload: deep, ..tagged("built", &["a=1"]));
    refused(team.append(append), Code::InvalidInput);
    let wrong = Replay {
        tags: vec!["pr".into()],
        ..Replay::default()
    };
    let given = team.replay(wrong, &mut |_, _| ControlFlow::Continue(()));
    refused(given, Code::InvalidInput);
    assert_eq!(kinds(&mut team), ["team_created"]);
}

#[test]
fn tags_are_content_under_a_key() {
    let (_, mut team) = demo();
    let keyed = |tags: &[&str]| given!(Append, key: "k", ..tagged("built", tags));
    let first = team.append(keyed(&["a=1", "b=2"])).unwrap();
    assert_eq!(team.append(keyed(&["b=2", "a=1"])).unwrap(), first);
    for tags in [&[][..], &["a=1"], &["a=1", "b=3"]] {
        refused(team.append(keyed(tags)), Code::IdempotencyKeyReused);
    }
    // The stored form as a payload of one's own is other content.
    let stored = r#"{"tags":["a=1","b=2"],"payload":{"ok":true}}"#;
    let plain = given!(Append, key: "k", payload: stored, ..tagged("built", &[]));
    refused(team.append(plain), Code::IdempotencyKeyReused);
    let plain = given!(Append, payload: stored, ..tagged("built", &[]));
    team.append(plain).unwrap();
    let replay = Replay {
        tags: vec!["a=1".into()],
        ..Replay::default()
    };
    assert_eq!(seqs(&replayed(&mut team, replay)), [first.seq]);
}

#[test]
fn each_line_of_a_batch_has_its_own_tags() {
    let (_, mut team) = demo();
    let lines = "{\"kind\":\"a\",\"tags\":[\"n=1\"]}\n{\"kind\":\"b\"}\n{\"kind\":\"c\",\"tags\":[\"n=1\",\"m=2\"]}\n";
    team.append_batch(AppendBatch::default(), &mut lines.as_bytes())
        .unwrap();
    let replay = Replay {
        tags: vec!["n=1".into()],
        ..Replay::default()
    };
    assert_eq!(seqs(&replayed(&mut team, replay)), [2, 4]);
    let wrong = "{\"kind\":\"a\",\"tags\":[\"n\"]}\n";
    let stopped = team.append_batch(AppendBatch::default(), &mut wrong.as_bytes());
    let refusal = refused(
        stopped.map_err(|stopped| stopped.failure),
        Code::InvalidInput,
    );
    assert_eq!(refusal.details["line"], 1);
}

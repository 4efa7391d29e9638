//! Tests of `replay`: events in order, with any filter.

use crate::prelude::*;

/// Creates an open team with 39 assignments, two per minute. Every fourth assignment has one of the
/// traces `tr_0` to `tr_3`.
fn story(world: &World, format: Format) -> Team {
    let mut team = world.team(None, format);
    for n in 0..39_u32 {
        world.later(MINUTE / 2);
        let mut assignment = assign(
            &format!("t{}", n % 5),
            if n % 2 == 0 { "dev" } else { "qa" },
        );
        assignment.trace_id = Some(format!("tr_{}", n % 4));
        assignment.message_id = Some(format!("m{n}"));
        team.task_assign(assignment).unwrap();
    }
    team
}

fn seqs(team: &mut Team, replay: Replay) -> Vec<u64> {
    let mut seqs = Vec::new();
    let given = team
        .replay(replay, &mut |event, line| {
            let shown: serde_json::Value = serde_json::from_slice(line).unwrap();
            assert_eq!(shown["seq"], event.seq);
            seqs.push(event.seq);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(given, seqs.len() as u64);
    seqs
}

#[test]
fn every_filter_agrees_with_a_filter_over_everything() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        let mut team = story(&world, format);
        let all = events(&mut team);
        let text = |value: &str| Some(value.to_string());
        let filters = [
            Replay::default(),
            given!(Replay, from_seq: 17),
            given!(Replay, to_seq: 9),
            given!(Replay, from_seq: 9, to_seq: 9),
            given!(Replay, from_seq: 30, to_seq: 9),
            given!(Replay, from_seq: 99),
            given!(Replay, since: time("2026-11-21T12:05:00Z")),
            given!(Replay, until: time("2026-11-21T12:05:00Z")),
            given!(Replay, until: time("2026-11-21T11:00:00Z")),
            given!(Replay, since: time("2027-01-01T00:00:00Z")),
            given!(Replay, kind: text("message_sent")),
            given!(Replay, actor: text("teamlog")),
            given!(Replay, trace_id: text("tr_2")),
            given!(Replay, task_id: text("t3"), from_seq: 12),
            given!(Replay, agent: text("qa"), task_id: text("t3")),
            given!(Replay, agent: text("nobody")),
            given!(Replay, trace_id: text("tr_1"), since: time("2026-11-21T12:04:00Z"),
                until: time("2026-11-21T12:15:00Z")),
        ];
        for filter in filters {
            let field = |event: &serde_json::Value, name: &str, asked: &Option<String>| {
                asked.as_ref().is_none_or(|asked| event[name] == **asked)
            };
            let expected: Vec<u64> = all
                .iter()
                .filter(|event| {
                    let seq = event["seq"].as_u64().unwrap();
                    let at = time(event["created_at"].as_str().unwrap());
                    filter.from_seq.is_none_or(|from| seq >= from)
                        && filter.to_seq.is_none_or(|to| seq <= to)
                        && filter.since.is_none_or(|since| at >= since)
                        && filter.until.is_none_or(|until| at <= until)
                        && field(event, "kind", &filter.kind)
                        && field(event, "actor", &filter.actor)
                        && field(event, "trace_id", &filter.trace_id)
                        && field(event, "task_id", &filter.task_id)
                        && field(event, "agent", &filter.agent)
                })
                .map(|event| event["seq"].as_u64().unwrap())
                .collect();
            for limit in [None, Some(3)] {
                for reverse in [false, true] {
                    let mut expected = expected.clone();
                    if reverse {
                        expected.reverse();
                    }
                    expected.truncate(limit.unwrap_or(u64::MAX).min(1000) as usize);
                    let replay = given!(Replay, limit, reverse, ..filter.clone());
                    assert_eq!(seqs(&mut team, replay.clone()), expected, "{replay:?}");
                }
            }
        }
    }
}

#[test]
fn the_same_history_replays_to_the_same_bytes_in_both_formats() {
    let lines = |format| {
        let world = World::new();
        let mut team = story(&world, format);
        let mut lines = Vec::new();
        team.export(&mut |line| {
            lines.push(String::from_utf8(line.to_vec()).unwrap());
            ControlFlow::Continue(())
        })
        .unwrap();
        lines
    };
    assert_eq!(lines(Format::Jsonl), lines(Format::Binary));
}

#[test]
fn a_replay_stops_where_it_is_told_to() {
    let world = World::new();
    let mut team = story(&world, Format::Jsonl);
    let mut seen = 0;
    let given = team
        .replay(Replay::default(), &mut |_, _| {
            seen += 1;
            if seen == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert_eq!((given, seen), (3, 3));
}

fn trace(id: &str, limit: Option<usize>, cursor: Option<&str>) -> Trace {
    given!(Trace, trace_id: id, limit, cursor)
}

#[test]
fn a_trace_pages_towards_older_events() {
    let world = World::new();
    let mut team = story(&world, Format::Jsonl);
    let whole = team.trace(trace("tr_3", None, None)).unwrap();
    assert_eq!((whole.count, whole.next_cursor), (9, None));
    let mut pages = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = team
            .trace(trace("tr_3", Some(4), cursor.as_deref()))
            .unwrap();
        let mut events = page.events;
        events.append(&mut pages);
        pages = events;
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(pages, whole.events);
    assert!(
        whole
            .events
            .is_sorted_by_key(|event| (event.event.created_at, event.event.id))
    );
    let other = team.trace(trace("tr_2", None, None)).unwrap();
    let foreign = other.events[0].event.id.to_string();
    for cursor in [
        &*foreign,
        "nonsense",
        "00000000-0000-7000-8000-000000000000",
    ] {
        refused(
            team.trace(trace("tr_3", None, Some(cursor))),
            Code::CursorUnknown,
        );
    }
    assert_eq!(team.trace(trace("tr_x", None, None)).unwrap().count, 0);
}

#[test]
fn a_trace_marks_what_came_too_late_was_repeated_refused_or_acknowledged() {
    let (world, mut team) = demo();
    let mut assignment = assign("t1", "dev");
    assignment.trace_id = Some("tr".into());
    assignment.message_id = Some("m1".into());
    team.task_assign(assignment.clone()).unwrap();
    world.later(10 * SECOND);
    let late = given!(TaskUpdate, created_at: time(NOON).plus_micros(-1).to_string(),
        ..update("t1", "failed"));
    team.task_update(late).unwrap();
    team.task_assign(assignment.clone()).unwrap();
    assignment.message_id = None;
    assignment.cooldown_seconds = Some(3600);
    team.task_assign(assignment).unwrap();
    for agent in ["qa", "dev", "dev"] {
        let ack = given!(Ack, agent, message_id: "m1");
        team.ack(ack).unwrap();
    }
    let answer = json(&team.trace(trace("tr", None, None)).unwrap());
    let marked: Vec<(String, Vec<&str>)> = answer["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let marks = ["superseded", "duplicate", "refused", "acked"];
            let set = marks
                .into_iter()
                .filter(|mark| event[mark] == true)
                .collect();
            (event["kind"].as_str().unwrap().to_string(), set)
        })
        .collect();
    let expected = [
        ("message_sent", vec!["acked"]),
        ("message_sent", vec!["superseded"]),
        ("message_duplicate", vec!["duplicate"]),
        ("message_suppressed", vec!["refused"]),
        ("ack_rejected", vec!["refused"]),
        ("message_acked", vec![]),
        ("message_ack_duplicate", vec!["duplicate"]),
    ];
    let expected: Vec<(String, Vec<&str>)> = expected
        .into_iter()
        .map(|(kind, marks)| (kind.to_string(), marks))
        .collect();
    assert_eq!(marked, expected);
}

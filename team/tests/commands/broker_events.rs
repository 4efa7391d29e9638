//! Tests of workers' reports, and of the way in which brokers read them.

use crate::prelude::*;
use teamlog_team::log::append_event::AppendEvent;
use teamlog_team::log::read_events::{ReadEvents, ReadEventsAnswer};
use teamlog_team::log::team_event::TeamEvent;

pub fn input(input: Value) -> AppendEvent {
    serde_json::from_value(input).unwrap()
}

pub fn report(team: &mut Team, report: Value) -> TeamEvent {
    team.append_event(input(report)).unwrap().event
}

pub fn read(team: &mut Team, read: &ReadEvents) -> ReadEventsAnswer {
    let answer = team.read_events(read).unwrap();
    assert_eq!(answer.count, answer.events.len());
    answer
}

pub fn all(team: &mut Team) -> Vec<TeamEvent> {
    read(team, &ReadEvents::default()).events
}

pub fn types(answer: &ReadEventsAnswer) -> Vec<&str> {
    answer
        .events
        .iter()
        .map(|event| event.kind.as_str())
        .collect()
}

pub fn send(team: &mut Team, to: &str, body: &str) {
    team.send_message(given!(SendMessage, from_worker: "lead", to_worker: to, body))
        .unwrap();
}

#[test]
fn a_report_is_kept_whole_and_moves_no_state() {
    let (_, mut team) = demo();
    let report = json!({
        "type": "worker_idle",
        "worker": "dev",
        "task_id": "7",
        "reason": "nothing left",
        "state": "asleep",
        "worker_count": 3,
        "metadata": {"head": "abc", "files": [1, {"x": null}]},
        "weight": 1.5,
        "tags": ["a"],
    });
    let appended = team.append_event(input(report.clone())).unwrap();
    let log = events(&mut team);
    let [_, recorded] = log.as_slice() else {
        panic!("{log:?}");
    };
    has!(recorded, {"kind": "worker_event_reported", "payload": report, "agent": "dev",
        "task_id": "7"});
    let mut shown: Map<String, Value> = report.as_object().unwrap().clone();
    shown.insert("message_id".into(), Value::Null);
    shown.insert("team".into(), json!("demo"));
    shown.insert("event_id".into(), recorded["id"].clone());
    shown.insert("created_at".into(), recorded["created_at"].clone());
    assert_eq!(
        json(&appended),
        json!({"event": shown}),
        "as it was reported"
    );
    let [read] = all(&mut team).try_into().unwrap();
    assert_eq!(read.kind, "worker_state_changed");
    assert_eq!(read.extra["weight"], 1.5);
    assert_eq!(read.metadata.unwrap()["files"], json!([1, {"x": null}]));
    settled_digest(&mut team);
}

#[test]
fn reports_about_anybody_are_taken_and_bad_names_are_not() {
    let (_, mut team) = demo();
    let event = json!({"type": "worker_stale_stdout", "worker": "long-gone"});
    report(&mut team, event);
    for (bad, field) in cases![
        ({"type": "worker_idle", "worker": "../x"}, "worker"),
        ({"type": "worker_idle", "worker": "dev", "task_id": "a/b"}, "task_id"),
        ({"type": "worker_idle", "worker": "dev", "to_worker": ".x"}, "to_worker"),
        ({"type": "worker_idle", "worker": "dev", "message_id": "a\nb"}, "message_id"),
        ({"type": "worker_idle", "worker": "dev", "event_id": "7"}, "event_id"),
        ({"type": "worker_idle", "worker": "dev", "created_at": "now"}, "created_at"),
        ({"type": "worker_idle", "worker": "dev", "team": "other"}, "team"),
    ] {
        let refusal = refused(team.append_event(input(bad)), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some(field));
    }
    let unknown = serde_json::from_value::<AppendEvent>(
        json!({"type": "worker_auto_commit", "worker": "dev"}),
    );
    assert!(unknown.unwrap_err().to_string().contains("unknown variant"));
    assert_eq!(kinds(&mut team), ["team_created", "worker_event_reported"]);
}

#[test]
fn a_report_under_a_key_is_recorded_once_and_belongs_to_the_story_of_its_message() {
    let (_, mut team) = demo();
    let handoff = given!(teamlog_team::message::send::Send, message_id: "m1", trace_id: "tr",
        ..message("lead", "dev"));
    team.send(handoff).unwrap();
    team.under(given!(Control, key: "k", operation: "append-event"));
    let told = json!({"type": "leader_notification_deferred", "worker": "dev", "message_id": "m1", "x": [1]});
    let first = report(&mut team, told.clone());
    assert_eq!(report(&mut team, told), first);
    names!(kinds(&mut team)[2..] => worker_event_reported response_stored);
    assert_eq!(events(&mut team)[2]["trace_id"], "tr");
}

#[test]
fn a_repeated_report_of_the_same_idleness_reads_once() {
    let (_, mut team) = demo();
    let idle =
        json!({"type": "worker_idle", "worker": "dev", "task_id": "7", "prev_state": "working"});
    let changed = json!({"type": "worker_state_changed", "worker": "dev", "task_id": "7", "state": "idle", "prev_state": "working"});
    let first = report(&mut team, changed.clone());
    report(&mut team, idle.clone());
    report(&mut team, idle.clone());
    // A reported change of state is never a repetition. A report about another worker, another task or another previous state is no
    // repetition either.
    report(&mut team, changed);
    report(
        &mut team,
        json!({"type": "worker_idle", "worker": "qa", "task_id": "7", "prev_state": "working"}),
    );
    report(&mut team, idle.clone());
    let seen = |team: &mut Team| -> Vec<(String, bool)> {
        let seen = |event: TeamEvent| (event.worker, event.source_type.is_some());
        all(team).into_iter().map(seen).collect()
    };
    let expected = |all: &[(&str, bool)]| -> Vec<(String, bool)> {
        all.iter()
            .map(|(worker, raw)| (worker.to_string(), *raw))
            .collect()
    };
    let before = expected(&[("dev", false), ("dev", false), ("qa", true), ("dev", true)]);
    assert_eq!(seen(&mut team), before);
    // Between two equal reports, a foreign event does not matter. A team event between them makes the second report count as new.
    team.append(given!(Append, kind: "seen")).unwrap();
    report(&mut team, idle.clone());
    assert_eq!(seen(&mut team), before);
    send(&mut team, "qa", "a");
    report(&mut team, idle);
    assert_eq!(seen(&mut team).len(), before.len() + 2);
    // Filters come after the detection of repetitions, so the message still separates the two reports.
    let only = given!(ReadEvents, kind: EventType::WorkerIdle);
    let reported = |event: &TeamEvent| event.source_type.is_some();
    let reported: Vec<_> = all(&mut team).into_iter().filter(reported).collect();
    assert_eq!(reported.len(), 3);
    assert_eq!(read(&mut team, &only).events, reported);
    // After a cursor, the first event has no predecessor to repeat.
    let after = given!(ReadEvents, after_event_id: first.event_id);
    assert_eq!(
        read(&mut team, &after).events[0].source_type.as_deref(),
        Some("worker_idle")
    );
}

#[test]
fn events_are_read_from_a_cursor_on_and_filtered() {
    let (_, mut team) = demo();
    let asked = |filter: ReadEvents, team: &mut Team| {
        let answer = read(team, &filter);
        types(&answer).join(" ")
    };
    assert_eq!(
        json(&read(&mut team, &ReadEvents::default())),
        json!({"count": 0, "cursor": "", "events": []})
    );
    let event = json!({"type": "worker_diff_report", "worker": "dev", "task_id": "7"});
    report(&mut team, event);
    let second = report(&mut team, json!({"type": "worker_idle", "worker": "dev"}));
    send(&mut team, "qa", "a");
    let last = report(
        &mut team,
        json!({"type": "worker_state_changed", "worker": "qa", "task_id": "7", "state": "idle"}),
    );
    let everything = read(&mut team, &ReadEvents::default());
    names!(types(&everything) => worker_diff_report worker_state_changed message_received
        worker_state_changed);
    assert_eq!(everything.cursor, last.event_id);
    for (filter, found) in [
        (
            given!(ReadEvents, wakeable_only: true),
            "worker_state_changed message_received worker_state_changed",
        ),
        (
            given!(ReadEvents, kind: EventType::WorkerIdle),
            "worker_state_changed",
        ),
        (
            given!(ReadEvents, kind: EventType::WorkerStateChanged),
            "worker_state_changed worker_state_changed",
        ),
        (
            given!(ReadEvents, worker: "qa"),
            "message_received worker_state_changed",
        ),
        (
            given!(ReadEvents, task_id: "7", worker: "dev"),
            "worker_diff_report",
        ),
        (
            given!(ReadEvents, limit: 2),
            "worker_diff_report worker_state_changed",
        ),
        (
            given!(ReadEvents, after_event_id: format!(" {} ", second.event_id)),
            "message_received worker_state_changed",
        ),
    ] {
        assert_eq!(asked(filter.clone(), &mut team), found, "{filter:?}");
    }
    // Reads page by page.
    let mut cursor = String::new();
    let mut seen = Vec::new();
    loop {
        let page = given!(ReadEvents, after_event_id: cursor.clone(), limit: 1);
        let page = read(&mut team, &page);
        if page.count == 0 {
            assert_eq!(page.cursor, cursor, "where nothing came the cursor stays");
            break;
        }
        seen.extend(page.events);
        cursor = page.cursor;
    }
    assert_eq!(seen, everything.events);
    for unknown in ["01980000-0000-7000-8000-000000000000", "nonsense"] {
        let after = given!(ReadEvents, after_event_id: unknown);
        assert_eq!(
            json(&read(&mut team, &after)),
            json!({"count": 0, "cursor": unknown, "events": []})
        );
    }
}

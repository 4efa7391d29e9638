//! Team events: what workers report and what happens to a team anyway, as brokers read it and wait for it.

use crate::world::{MINUTE, World, events, json, kinds, message, refused, settled_digest};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;
use teamlog_engine::event_id::EventId;
use teamlog_engine::{Event, Format, RefKind, Timestamp};
use teamlog_team::act::Control;
use teamlog_team::api;
use teamlog_team::command::append::Append;
use teamlog_team::command::append_event::AppendEvent;
use teamlog_team::command::await_event::{AwaitEvent, AwaitEventAnswer, AwaitStatus};
use teamlog_team::command::read_events::{ReadEvents, ReadEventsAnswer};
use teamlog_team::command::send_message::SendMessage;
use teamlog_team::event_type::{EVENT_TYPES, EventType, Notice};
use teamlog_team::team_event::TeamEvent;
use teamlog_team::{Code, Team};

/// No test waits that long, unless it fails.
const LONG_MS: u64 = 30_000;

fn input(input: Value) -> AppendEvent {
    serde_json::from_value(input).unwrap()
}

fn report(team: &mut Team, report: Value) -> TeamEvent {
    team.append_event(input(report)).unwrap().event
}

fn read(team: &mut Team, read: &ReadEvents) -> ReadEventsAnswer {
    let answer = team.read_events(read).unwrap();
    assert_eq!(answer.count, answer.events.len());
    answer
}

fn all(team: &mut Team) -> Vec<TeamEvent> {
    read(team, &ReadEvents::default()).events
}

fn types(answer: &ReadEventsAnswer) -> Vec<&str> {
    answer
        .events
        .iter()
        .map(|event| event.kind.as_str())
        .collect()
}

fn send(team: &mut Team, to: &str, body: &str) {
    team.send_message(SendMessage {
        from_worker: "lead".into(),
        to_worker: to.into(),
        body: body.into(),
    })
    .unwrap();
}

/// An event of the log that was never recorded.
fn event(kind: &'static str, payload: Value, refs: &[(RefKind, &'static str)]) -> Event<'static> {
    let created_at = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
    let mut event = Event {
        seq: 1,
        id: EventId::new(created_at, 7),
        created_at,
        kind: kind.into(),
        actor: "somebody".into(),
        refs: Default::default(),
        schema_version: 1,
        foreign: false,
        payload: payload.to_string().into(),
    };
    for (kind, value) in refs {
        event.refs.set(*kind, *value);
    }
    event
}

/// What an event says, but for what every one has.
fn says(event: &Event<'_>) -> Value {
    let says = TeamEvent::of(event, "demo").unwrap().canonical();
    assert_eq!(
        (says.team.as_str(), &*says.event_id),
        ("demo", &*event.id.to_string())
    );
    assert_eq!(says.created_at, event.created_at.to_string());
    let mut says = json(&says);
    let fields = says.as_object_mut().unwrap();
    for name in ["team", "event_id", "created_at"] {
        fields.remove(name).unwrap();
    }
    says
}

#[test]
fn what_happens_to_a_team_reads_as_team_events() {
    let task = [(RefKind::Task, "7"), (RefKind::Agent, "dev")];
    let mail = [(RefKind::Message, "m1"), (RefKind::Agent, "dev")];
    for (event, said) in [
        (
            event("message_sent", json!({"message": {}}), &mail),
            json!({"type": "message_received", "worker": "dev", "message_id": "m1"}),
        ),
        (
            event(
                "task_completed",
                json!({"task_id": "7", "result": "ok"}),
                &task,
            ),
            json!({"type": "task_completed", "worker": "dev", "task_id": "7", "message_id": null}),
        ),
        (
            event("task_failed", json!({"task_id": "7", "error": "no"}), &task),
            json!({"type": "task_failed", "worker": "dev", "task_id": "7", "message_id": null, "reason": "no"}),
        ),
        (
            event(
                "task_failed",
                json!({"task_id": "7"}),
                &[(RefKind::Task, "7")],
            ),
            json!({"type": "task_failed", "worker": "somebody", "task_id": "7", "message_id": null, "reason": "task_failed"}),
        ),
        (
            event(
                "approval_recorded",
                json!({"task_id": "7", "required": true, "status": "rejected", "reviewer": "qa", "decision_reason": "too big"}),
                &task,
            ),
            json!({"type": "approval_decision", "worker": "qa", "task_id": "7", "message_id": null, "reason": "rejected:too big"}),
        ),
        (
            event(
                "worker_status_changed",
                json!({"worker": "dev", "state": "working", "prev_state": "idle", "current_task_id": "7", "reason": "go"}),
                &[],
            ),
            json!({"type": "worker_state_changed", "worker": "dev", "task_id": "7", "message_id": null, "state": "working", "prev_state": "idle", "reason": "go"}),
        ),
        (
            event(
                "shutdown_acked",
                json!({"worker": "dev", "status": "reject", "reason": "busy"}),
                &[],
            ),
            json!({"type": "shutdown_ack", "worker": "dev", "message_id": null, "reason": "reject:busy"}),
        ),
        (
            event(
                "shutdown_acked",
                json!({"worker": "dev", "status": "accept"}),
                &[],
            ),
            json!({"type": "shutdown_ack", "worker": "dev", "message_id": null, "reason": "accept"}),
        ),
        (
            event(
                "shutdown_gated",
                json!({"forced": false, "allowed": true}),
                &[],
            ),
            json!({"type": "shutdown_gate", "worker": "leader-fixed", "message_id": null, "metadata": {"forced": false, "allowed": true}}),
        ),
        (
            event(
                "shutdown_gated",
                json!({"forced": true, "allowed": true}),
                &[],
            ),
            json!({"type": "shutdown_gate_forced", "worker": "leader-fixed", "message_id": null, "metadata": {"forced": true, "allowed": true}}),
        ),
    ] {
        assert_eq!(says(&event), said, "{}", event.kind);
    }
    for kind in [
        "team_created",
        "task_claimed",
        "message_acked",
        "dispatch_requested",
    ] {
        assert_eq!(
            TeamEvent::of(&event(kind, json!({}), &task), "demo"),
            None,
            "{kind}"
        );
    }
    let mut foreign = event("task_completed", json!({}), &task);
    foreign.foreign = true;
    assert_eq!(
        TeamEvent::of(&foreign, "demo"),
        None,
        "a fact of somebody else's"
    );
}

#[test]
fn in_canonical_form_idle_is_a_state_and_what_is_of_another_sort_is_left_out() {
    let reported = |payload: Value| says(&event("worker_event_reported", payload, &[]));
    assert_eq!(
        reported(
            json!({"type": "worker_idle", "worker": "dev", "state": "working", "prev_state": "done", "task_id": "7", "weight": 1.5})
        ),
        json!({"type": "worker_state_changed", "worker": "dev", "source_type": "worker_idle", "state": "idle", "prev_state": "done", "task_id": "7", "message_id": null, "weight": 1.5})
    );
    assert_eq!(
        reported(json!({"type": "worker_idle", "worker": "dev", "prev_state": "asleep"})),
        json!({"type": "worker_state_changed", "worker": "dev", "source_type": "worker_idle", "state": "idle", "message_id": null})
    );
    assert_eq!(
        reported(json!({
            "type": "worker_auto_commit", "worker": "dev", "task_id": 7, "message_id": [], "reason": {}, "to_worker": 1,
            "source_type": false, "state": "asleep", "prev_state": "idle", "worker_count": "3", "metadata": [], "weight": null,
        })),
        json!({"type": "worker_auto_commit", "worker": "dev", "message_id": null, "prev_state": "idle", "weight": null}),
        "types from elsewhere are passed on"
    );
}

#[test]
fn a_report_is_kept_whole_and_moves_no_state() {
    let world = World::new();
    let mut team = world.demo();
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
    assert_eq!(recorded["kind"], "worker_event_reported");
    assert_eq!(recorded["payload"], report);
    assert_eq!(
        (&recorded["agent"], &recorded["task_id"]),
        (&json!("dev"), &json!("7"))
    );
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
    let world = World::new();
    let mut team = world.demo();
    report(
        &mut team,
        json!({"type": "worker_stale_stdout", "worker": "long-gone"}),
    );
    for (bad, field) in [
        (json!({"type": "worker_idle", "worker": "../x"}), "worker"),
        (
            json!({"type": "worker_idle", "worker": "dev", "task_id": "a/b"}),
            "task_id",
        ),
        (
            json!({"type": "worker_idle", "worker": "dev", "to_worker": ".x"}),
            "to_worker",
        ),
        (
            json!({"type": "worker_idle", "worker": "dev", "message_id": "a\nb"}),
            "message_id",
        ),
        (
            json!({"type": "worker_idle", "worker": "dev", "event_id": "7"}),
            "event_id",
        ),
        (
            json!({"type": "worker_idle", "worker": "dev", "created_at": "now"}),
            "created_at",
        ),
        (
            json!({"type": "worker_idle", "worker": "dev", "team": "other"}),
            "team",
        ),
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
    let world = World::new();
    let mut team = world.demo();
    let handoff = teamlog_team::command::send::Send {
        message_id: Some("m1".into()),
        trace_id: Some("tr".into()),
        ..message("lead", "dev")
    };
    team.send(handoff).unwrap();
    team.under(Control {
        key: Some("k".into()),
        operation: "append-event".into(),
        ..Control::default()
    });
    let told = json!({"type": "leader_notification_deferred", "worker": "dev", "message_id": "m1", "x": [1]});
    let first = report(&mut team, told.clone());
    assert_eq!(report(&mut team, told), first);
    assert_eq!(
        kinds(&mut team)[2..],
        ["worker_event_reported", "response_stored"]
    );
    assert_eq!(events(&mut team)[2]["trace_id"], "tr");
}

#[test]
fn a_repeated_report_of_the_same_idleness_reads_once() {
    let world = World::new();
    let mut team = world.demo();
    let idle =
        json!({"type": "worker_idle", "worker": "dev", "task_id": "7", "prev_state": "working"});
    let changed = json!({"type": "worker_state_changed", "worker": "dev", "task_id": "7", "state": "idle", "prev_state": "working"});
    let first = report(&mut team, changed.clone());
    report(&mut team, idle.clone());
    report(&mut team, idle.clone());
    // A change that is reported as such always counts, and so does another worker, task or state before.
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
    // What lies between in the log and is no team event parts nothing; a team event does.
    team.append(Append {
        kind: "seen".into(),
        ..Append::default()
    })
    .unwrap();
    report(&mut team, idle.clone());
    assert_eq!(seen(&mut team), before);
    send(&mut team, "qa", "a");
    report(&mut team, idle);
    assert_eq!(seen(&mut team).len(), before.len() + 2);
    // Filters come behind: the message still parts the two.
    let only = ReadEvents {
        kind: Some(EventType::WorkerIdle),
        ..ReadEvents::default()
    };
    assert_eq!(read(&mut team, &only).count, 3);
    // Behind a cursor there is nothing that it could repeat.
    let after = ReadEvents {
        after_event_id: Some(first.event_id),
        ..ReadEvents::default()
    };
    assert_eq!(
        read(&mut team, &after).events[0].source_type.as_deref(),
        Some("worker_idle")
    );
}

#[test]
fn events_are_read_from_a_cursor_on_and_filtered() {
    let world = World::new();
    let mut team = world.demo();
    let asked = |filter: ReadEvents, team: &mut Team| {
        let answer = read(team, &filter);
        types(&answer).join(" ")
    };
    assert_eq!(
        json(&read(&mut team, &ReadEvents::default())),
        json!({"count": 0, "cursor": "", "events": []})
    );
    report(
        &mut team,
        json!({"type": "worker_diff_report", "worker": "dev", "task_id": "7"}),
    );
    let second = report(&mut team, json!({"type": "worker_idle", "worker": "dev"}));
    send(&mut team, "qa", "a");
    let last = report(
        &mut team,
        json!({"type": "worker_state_changed", "worker": "qa", "task_id": "7", "state": "idle"}),
    );
    let everything = read(&mut team, &ReadEvents::default());
    assert_eq!(
        types(&everything),
        [
            "worker_diff_report",
            "worker_state_changed",
            "message_received",
            "worker_state_changed"
        ]
    );
    assert_eq!(everything.cursor, last.event_id);
    for (filter, found) in [
        (
            ReadEvents {
                wakeable_only: Some(true),
                ..ReadEvents::default()
            },
            "worker_state_changed message_received worker_state_changed",
        ),
        (
            ReadEvents {
                kind: Some(EventType::WorkerIdle),
                ..ReadEvents::default()
            },
            "worker_state_changed",
        ),
        (
            ReadEvents {
                kind: Some(EventType::WorkerStateChanged),
                ..ReadEvents::default()
            },
            "worker_state_changed worker_state_changed",
        ),
        (
            ReadEvents {
                worker: Some("qa".into()),
                ..ReadEvents::default()
            },
            "message_received worker_state_changed",
        ),
        (
            ReadEvents {
                task_id: Some("7".into()),
                worker: Some("dev".into()),
                ..ReadEvents::default()
            },
            "worker_diff_report",
        ),
        (
            ReadEvents {
                limit: Some(2),
                ..ReadEvents::default()
            },
            "worker_diff_report worker_state_changed",
        ),
        (
            ReadEvents {
                after_event_id: Some(format!(" {} ", second.event_id)),
                ..ReadEvents::default()
            },
            "message_received worker_state_changed",
        ),
    ] {
        assert_eq!(asked(filter.clone(), &mut team), found, "{filter:?}");
    }
    // A page at a time.
    let mut cursor = String::new();
    let mut seen = Vec::new();
    loop {
        let page = ReadEvents {
            after_event_id: Some(cursor.clone()),
            limit: Some(1),
            ..ReadEvents::default()
        };
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
        let after = ReadEvents {
            after_event_id: Some(unknown.into()),
            ..ReadEvents::default()
        };
        assert_eq!(
            json(&read(&mut team, &after)),
            json!({"count": 0, "cursor": unknown, "events": []})
        );
    }
}

fn waiting(world: &World, wait: AwaitEvent) -> thread::JoinHandle<AwaitEventAnswer> {
    let mut team = world.root.team("demo").unwrap();
    thread::spawn(move || team.await_event(&wait).unwrap())
}

/// Waits for what comes behind an event, so that it does not matter who is first.
fn behind(cursor: &str) -> AwaitEvent {
    AwaitEvent {
        after_event_id: Some(cursor.into()),
        timeout_ms: Some(LONG_MS),
        ..AwaitEvent::default()
    }
}

#[test]
fn whoever_waits_is_woken_by_another_handle() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        let mut team = world.team(Some(&["lead", "dev", "qa"]), format);
        let known = report(&mut team, json!({"type": "worker_stopped", "worker": "qa"}));
        let any = waiting(&world, behind(&known.event_id));
        let wakeable = AwaitEvent {
            wakeable_only: Some(true),
            ..behind(&known.event_id)
        };
        let wakeable = waiting(&world, wakeable);
        let done = AwaitEvent {
            kind: Some(EventType::WorkerIdle),
            worker: Some("dev".into()),
            ..behind(&known.event_id)
        };
        let idle = waiting(&world, done);
        let audit = report(
            &mut team,
            json!({"type": "worker_diff_report", "worker": "dev"}),
        );
        let any = any.join().unwrap();
        assert_eq!(any.status, AwaitStatus::Event);
        assert_eq!(any.event.as_ref(), Some(&audit));
        assert_eq!(any.cursor, audit.event_id);
        send(&mut team, "dev", "a");
        let woken = wakeable.join().unwrap().event.unwrap();
        assert_eq!(
            (woken.kind.as_str(), woken.worker.as_str()),
            ("message_received", "dev")
        );
        report(&mut team, json!({"type": "worker_idle", "worker": "qa"}));
        report(&mut team, json!({"type": "worker_idle", "worker": "dev"}));
        let idle = idle.join().unwrap().event.unwrap();
        assert_eq!(
            (idle.kind.as_str(), idle.worker.as_str()),
            ("worker_state_changed", "dev")
        );
    }
}

#[test]
fn without_a_cursor_only_what_is_to_come_counts() {
    let world = World::new();
    let mut team = world.demo();
    let known = report(
        &mut team,
        json!({"type": "worker_stopped", "worker": "dev"}),
    );
    let at_once = AwaitEvent {
        timeout_ms: Some(0),
        poll_ms: Some(5),
        ..AwaitEvent::default()
    };
    assert_eq!(
        json(&team.await_event(&at_once).unwrap()),
        json!({"status": "timeout", "cursor": known.event_id, "event": null})
    );
    // Even then it looks once.
    let earlier = AwaitEvent {
        after_event_id: Some(events(&mut team)[0]["id"].as_str().unwrap().into()),
        ..at_once.clone()
    };
    let found = team.await_event(&earlier).unwrap();
    assert_eq!(
        (found.status, found.event),
        (AwaitStatus::Event, Some(known))
    );
    // With a cursor of another log it begins at the newest event, and says so.
    let astray = AwaitEvent {
        after_event_id: Some("nonsense".into()),
        ..at_once
    };
    let newest = events(&mut team).pop().unwrap()["id"].clone();
    assert_eq!(json(&team.await_event(&astray).unwrap())["cursor"], newest);
    let mut waits = world.root.team("demo").unwrap();
    let (ready, go) = std::sync::mpsc::channel();
    let waiting = thread::spawn(move || {
        ready.send(()).unwrap();
        let wait = AwaitEvent {
            timeout_ms: Some(LONG_MS),
            ..AwaitEvent::default()
        };
        waits.await_event(&wait).unwrap()
    });
    go.recv().unwrap();
    // It may begin late: somebody reports until it ends.
    while !waiting.is_finished() {
        report(&mut team, json!({"type": "worker_stopped", "worker": "qa"}));
        team.finish().unwrap();
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(waiting.join().unwrap().event.unwrap().worker, "qa");
}

#[test]
fn what_is_no_team_event_wakes_nobody() {
    let world = World::new();
    let mut team = world.demo();
    let wait = AwaitEvent {
        timeout_ms: Some(120),
        ..AwaitEvent::default()
    };
    let waiting = waiting(&world, wait);
    for _ in 0..3 {
        world.later(MINUTE);
        team.append(Append {
            kind: "seen".into(),
            ..Append::default()
        })
        .unwrap();
    }
    let answer = waiting.join().unwrap();
    assert_eq!((answer.status, answer.event), (AwaitStatus::Timeout, None));
    assert!(!answer.cursor.is_empty());
}

/// The code outside, the message, and the precise code of a call that is wrong.
fn fault(world: &World, operation: &str, input: Value) -> (String, String) {
    let Value::Object(input) = input else {
        panic!("{input}");
    };
    let operation = api::find(operation).unwrap();
    let fault = api::call(&world.root, operation, input, Control::default()).unwrap_err();
    (fault.code, fault.message)
}

#[test]
fn wrong_inputs_have_the_codes_of_the_contract() {
    let world = World::new();
    world.demo();
    for (operation, mut input, code, said) in [
        (
            "append-event",
            json!({"type": "nonsense", "worker": "dev"}),
            "invalid_input",
            "type must be one of",
        ),
        (
            "append-event",
            json!({"worker": "dev"}),
            "invalid_input",
            "type is required",
        ),
        (
            "append-event",
            json!({"type": "worker_idle", "worker": "dev", "metadata": []}),
            "operation_failed",
            "metadata must be an object when provided",
        ),
        (
            "append-event",
            json!({"type": "worker_idle", "worker": "dev", "metadata": null}),
            "operation_failed",
            "metadata must be an object when provided",
        ),
        (
            "append-event",
            json!({"type": "worker_idle", "worker": "a/b"}),
            "operation_failed",
            "Invalid worker",
        ),
        (
            "read-events",
            json!({"wakeable_only": "yes"}),
            "operation_failed",
            "wakeable_only must be a boolean when provided",
        ),
        (
            "read-events",
            json!({"type": 7}),
            "operation_failed",
            "type must be a string when provided",
        ),
        (
            "read-events",
            json!({"type": ""}),
            "operation_failed",
            "type cannot be empty",
        ),
        (
            "read-events",
            json!({"type": "worker_auto_commit"}),
            "operation_failed",
            "type must be one of",
        ),
        (
            "read-events",
            json!({"task_id": "a/b"}),
            "operation_failed",
            "Invalid task_id",
        ),
        (
            "await-event",
            json!({"timeout_ms": -1}),
            "operation_failed",
            "timeout_ms must be a non-negative integer when provided",
        ),
        (
            "await-event",
            json!({"poll_ms": 0.5}),
            "operation_failed",
            "poll_ms must be a non-negative integer when provided",
        ),
        (
            "send-message",
            json!({"to_worker": "dev", "body": "a"}),
            "invalid_input",
            "from_worker is required",
        ),
        (
            "send-message",
            json!({"from_worker": "lead", "to_worker": "dev", "body": " "}),
            "invalid_input",
            "body is required",
        ),
        (
            "send-message",
            json!({"from_worker": "lead", "to_worker": "x", "body": "a"}),
            "worker_not_found",
            "to_worker",
        ),
        (
            "mailbox-mark-notified",
            json!({"worker": "dev"}),
            "invalid_input",
            "message_id is required",
        ),
    ] {
        input["team_name"] = "demo".into();
        let (found, message) = fault(&world, operation, input.clone());
        assert_eq!(found, code, "{operation} {input}: {message}");
        assert!(message.contains(said), "{operation} {input}: {message}");
    }
}

#[test]
fn without_a_team_reads_are_empty_and_what_would_record_is_refused() {
    let world = World::new();
    let ask = |operation: &str, mut input: Value| {
        input["team_name"] = "nobody".into();
        let Value::Object(input) = input else {
            panic!("{input}");
        };
        let operation = api::find(operation).unwrap();
        api::call(&world.root, operation, input, Control::default())
            .map(|answered| serde_json::from_str::<Value>(answered.data.get()).unwrap())
            .map_err(|fault| fault.code)
    };
    for (operation, input, data) in [
        (
            "mailbox-list",
            json!({"worker": "dev"}),
            json!({"worker": "dev", "count": 0, "messages": []}),
        ),
        (
            "read-events",
            json!({"after_event_id": "x"}),
            json!({"count": 0, "cursor": "x", "events": []}),
        ),
        (
            "team_mailbox_mark_delivered",
            json!({"worker": "dev", "message_id": "m"}),
            json!({"worker": "dev", "message_id": "m", "updated": false, "dispatch_request_id": null, "dispatch_updated": false}),
        ),
    ] {
        assert_eq!(ask(operation, input), Ok(data), "{operation}");
    }
    for (operation, input) in [
        (
            "send-message",
            json!({"from_worker": "lead", "to_worker": "dev", "body": "a"}),
        ),
        ("broadcast", json!({"from_worker": "lead", "body": "a"})),
        (
            "mailbox-mark-notified",
            json!({"worker": "dev", "message_id": "m"}),
        ),
        (
            "append-event",
            json!({"type": "worker_idle", "worker": "dev"}),
        ),
        ("await-event", json!({"timeout_ms": 0})),
    ] {
        assert_eq!(
            ask(operation, input),
            Err("team_not_found".into()),
            "{operation}"
        );
    }
}

#[test]
fn lookalikes_of_fields_are_recorded_as_they_are() {
    let world = World::new();
    let mut team = world.demo();
    let input = json!({
        "team_name": "demo", "type": "worker_idle", "worker": "dev", "worker_counts": 3, "reasons": ["a"],
        "workingDirectory": "/elsewhere",
    });
    let Value::Object(input) = input else {
        panic!("{input}");
    };
    let operation = api::find("append_event").unwrap();
    api::call(&world.root, operation, input, Control::default()).unwrap();
    let recorded = events(&mut team).pop().unwrap();
    assert_eq!(
        recorded["payload"],
        json!({"type": "worker_idle", "worker": "dev", "worker_counts": 3, "reasons": ["a"]})
    );
}

/// What an operation answers.
fn call(world: &World, operation: &str, mut input: Value) -> Value {
    input["team_name"] = "demo".into();
    let Value::Object(input) = input else {
        panic!("{input}");
    };
    let operation = api::find(operation).unwrap();
    let answered = api::call(&world.root, operation, input, Control::default()).unwrap();
    serde_json::from_str(answered.data.get()).unwrap()
}

#[test]
fn what_commands_do_reads_as_brokers_know_it() {
    let world = World::new();
    world.demo();
    for (to, more) in [("completed", "result"), ("failed", "error")] {
        let created = call(
            &world,
            "create-task",
            json!({"subject": to, "description": "it"}),
        );
        let id = &created["task"]["id"];
        let claimed = call(
            &world,
            "claim-task",
            json!({"task_id": id, "worker": "dev"}),
        );
        let input = json!({
            "task_id": id, "from": "in_progress", "to": to, "claim_token": claimed["claimToken"], more: "because",
        });
        call(&world, "transition-task-status", input);
    }
    for (operation, input) in [
        (
            "write-worker-status",
            json!({"worker": "dev", "state": "working"}),
        ),
        (
            "write-worker-status",
            json!({"worker": "dev", "state": "idle"}),
        ),
        (
            "append-event",
            json!({"type": "worker_idle", "worker": "dev", "prev_state": "working"}),
        ),
        (
            "write-task-approval",
            json!({"task_id": "1", "status": "approved", "reviewer": "qa", "decision_reason": "good"}),
        ),
        (
            "send-message",
            json!({"from_worker": "qa", "to_worker": "lead", "body": "done"}),
        ),
        (
            "write-shutdown-request",
            json!({"worker": "dev", "requested_by": "lead"}),
        ),
        (
            "write-shutdown-ack",
            json!({"worker": "dev", "status": "accept"}),
        ),
        ("cleanup", json!({"confirm_issues": true})),
    ] {
        call(&world, operation, input);
    }
    let read = call(&world, "read-events", json!({}));
    let shown: Vec<String> = read["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let field = |name: &str| event[name].as_str().unwrap_or("-").to_owned();
            ["type", "worker", "task_id", "state", "prev_state", "reason"]
                .map(field)
                .join(" ")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "task_completed dev 1 - - -",
            "task_failed dev 2 - - because",
            "worker_state_changed dev - working - -",
            // The report only repeats it.
            "worker_state_changed dev - idle working -",
            "approval_decision qa 1 - - approved:good",
            "message_received lead - - - -",
            "shutdown_ack dev - - - accept",
            "shutdown_gate leader-fixed - - - -",
        ]
    );
    // A closed team can still be read, and takes no mail.
    assert_eq!(
        call(&world, "mailbox-list", json!({"worker": "lead"}))["count"],
        1
    );
    for (operation, input) in [
        (
            "send-message",
            json!({"from_worker": "lead", "to_worker": "dev", "body": "a"}),
        ),
        ("broadcast", json!({"from_worker": "lead", "body": "a"})),
        (
            "mailbox-mark-delivered",
            json!({"worker": "lead", "message_id": "m"}),
        ),
        (
            "append-event",
            json!({"type": "worker_idle", "worker": "dev"}),
        ),
    ] {
        let mut input = input;
        input["team_name"] = "demo".into();
        assert_eq!(
            fault(&world, operation, input).0,
            "team_closed",
            "{operation}"
        );
    }
}

#[test]
fn the_protocol_names_the_types_that_wake_and_those_for_auditors() {
    let protocol = include_str!("../../../docs/protocol.md");
    let words: Vec<&str> = protocol.split_whitespace().collect();
    let named = |notice: Notice| {
        let of = EVENT_TYPES.iter().filter(|(_, _, of)| *of == notice);
        of.map(|(_, name, _)| format!("`{name}`"))
            .collect::<BTreeSet<String>>()
    };
    let listed = |from: &[&str]| {
        let start = words.windows(from.len()).position(|at| at == from).unwrap();
        let all = words[start + from.len()..].iter();
        all.map(|word| word.trim_end_matches('.'))
            .take_while(|word| word.starts_with('`'))
            .map(str::to_owned)
            .collect::<BTreeSet<String>>()
    };
    assert_eq!(listed(&["Wakeable", "are"]), named(Notice::Wakes));
    assert_eq!(listed(&["auditors", "only:"]), named(Notice::Audit));
}

//! Tests of waiting for events.

use crate::broker_events::{report, send};
use crate::prelude::*;
use teamlog_team::log::await_event::{AwaitEvent, AwaitEventAnswer, AwaitStatus};

/// Upper limit of a wait. A test reaches this limit only if the test fails.
const LONG_MS: u64 = 30_000;

fn waiting(world: &World, wait: AwaitEvent) -> thread::JoinHandle<AwaitEventAnswer> {
    let mut team = world.root.team("demo").unwrap();
    thread::spawn(move || team.await_event(&wait).unwrap())
}

/// Returns a wait for events after a cursor, so that the order of reader and writer does not matter.
fn behind(cursor: &str) -> AwaitEvent {
    given!(AwaitEvent, after_event_id: cursor, timeout_ms: LONG_MS)
}

#[test]
fn whoever_waits_is_woken_by_another_handle() {
    for format in [Format::Jsonl, Format::Binary] {
        let (world, mut team) = team_of(Some(&["lead", "dev", "qa"]), format);
        let known = report(&mut team, json!({"type": "worker_stopped", "worker": "qa"}));
        let any = waiting(&world, behind(&known.event_id));
        let wakeable = given!(AwaitEvent, wakeable_only: true, ..behind(&known.event_id));
        let wakeable = waiting(&world, wakeable);
        let done = given!(AwaitEvent, kind: EventType::WorkerIdle, worker: "dev",
            ..behind(&known.event_id));
        let idle = waiting(&world, done);
        let input = json!({"type": "worker_diff_report", "worker": "dev"});
        let audit = report(&mut team, input);
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
    let (world, mut team) = demo();
    let input = json!({"type": "worker_stopped", "worker": "dev"});
    let known = report(&mut team, input);
    let at_once = given!(AwaitEvent, timeout_ms: 0, poll_ms: 5);
    assert_eq!(
        json(&team.await_event(&at_once).unwrap()),
        json!({"status": "timeout", "cursor": known.event_id, "event": null})
    );
    // With a timeout of 0 the log is read once.
    let earlier = given!(AwaitEvent, after_event_id: events(&mut team)[0]["id"].as_str().unwrap(),
        ..at_once.clone());
    let found = team.await_event(&earlier).unwrap();
    assert_eq!(
        (found.status, found.event),
        (AwaitStatus::Event, Some(known))
    );
    // With a cursor of another log, the wait begins at the newest event, and the answer contains that event's cursor.
    let astray = given!(AwaitEvent, after_event_id: "nonsense", ..at_once);
    let newest = events(&mut team).pop().unwrap()["id"].clone();
    assert_eq!(json(&team.await_event(&astray).unwrap())["cursor"], newest);
    let mut waits = world.root.team("demo").unwrap();
    let (ready, go) = std::sync::mpsc::channel();
    let waiting = thread::spawn(move || {
        ready.send(()).unwrap();
        let wait = given!(AwaitEvent, timeout_ms: LONG_MS);
        waits.await_event(&wait).unwrap()
    });
    go.recv().unwrap();
    // Repeats the reports until the wait ends, because the wait can begin late.
    until("it is woken", || {
        report(&mut team, json!({"type": "worker_stopped", "worker": "qa"}));
        team.finish().unwrap();
        waiting.is_finished()
    });
    assert_eq!(waiting.join().unwrap().event.unwrap().worker, "qa");
}

#[test]
fn what_is_no_team_event_wakes_nobody() {
    let (world, mut team) = demo();
    let waiting = waiting(&world, given!(AwaitEvent, timeout_ms: 120));
    for _ in 0..3 {
        world.later(MINUTE);
        team.append(given!(Append, kind: "seen")).unwrap();
    }
    let answer = waiting.join().unwrap();
    assert_eq!((answer.status, answer.event), (AwaitStatus::Timeout, None));
    assert!(!answer.cursor.is_empty());
}

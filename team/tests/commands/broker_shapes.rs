//! Tests of the form of log events as team events, and of the kinds that wake a waiting caller.

use crate::prelude::*;
use std::borrow::Cow;
use teamlog_engine::EventId;
use teamlog_engine::{Event, Refs};
use teamlog_team::log::event_type::Notice;
use teamlog_team::log::team_event::TeamEvent;

/// Creates an event as the log would contain it, without recording the event.
fn event(kind: &'static str, payload: Value, refs: &[(RefKind, &'static str)]) -> Event<'static> {
    let created_at = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
    let mut event = given!(Event; seq: 1, id: EventId::new(created_at, 7), created_at, kind,
        actor: "somebody", refs: Refs::default(), schema_version: 1, foreign: false,
        payload: Cow::Owned(payload.to_string()));
    for (kind, value) in refs {
        event.refs.set(*kind, *value);
    }
    event
}

/// Returns the fields of an event, except the fields that all events have.
fn says(event: &Event<'_>) -> Value {
    let says = TeamEvent::from_event(event, "demo").unwrap().canonical();
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
            TeamEvent::from_event(&event(kind, json!({}), &task), "demo"),
            None,
            "{kind}"
        );
    }
    let mut foreign = event("task_completed", json!({}), &task);
    foreign.foreign = true;
    assert_eq!(
        TeamEvent::from_event(&foreign, "demo"),
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
fn the_protocol_names_the_types_that_wake_and_those_for_auditors() {
    let protocol = include_str!("../../../docs/protocol/team.md");
    let words: Vec<&str> = protocol.split_whitespace().collect();
    let named = |notice: Notice| {
        let of = EventType::ALL
            .into_iter()
            .filter(|kind| kind.notice() == notice);
        of.map(|kind| format!("`{}`", kind.name()))
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

//! Tests of the ends of a task (completion, failure, release, cancellation) and of reopening a task.

use crate::claims::{after, change, claim, claimed, complete, count, done, fail, new, status};
use crate::leases::release;
use crate::prelude::*;
use teamlog_team::task::reopen::TaskReopen;

pub fn cancel(task: &str) -> TaskCancel {
    given!(TaskCancel, task_id: task)
}

pub fn reopen(task: &str) -> TaskReopen {
    given!(TaskReopen, task_id: task)
}

#[test]
fn the_holder_completes_its_task_with_a_result() {
    let (world, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    world.later(SECOND);
    let finish = given!(TaskFinish, result: "merged", error: "none of it", ..complete(&held));
    let finished = team.task_finish(finish).unwrap();
    assert!(finished.ok);
    let task = finished.task;
    assert_eq!(
        (task.status.name(), task.version, task.owner.as_deref()),
        ("completed", 3, Some("dev"))
    );
    assert_eq!(
        (
            task.governed.result.as_deref(),
            task.governed.error.as_deref()
        ),
        (Some("merged"), None)
    );
    assert_eq!(task.claim(), None);
    assert_eq!(
        task.governed.completed_at,
        Some(time("2026-11-21T12:00:01.000000Z"))
    );
    let event = after(&mut team, 3).pop().unwrap();
    has!(event, {"kind": "task_completed", "agent": "dev",
        "payload": {"task_id": "1", "worker": "dev", "epoch": 1, "result": "merged"}});
}

#[test]
fn the_holder_fails_its_task_with_an_error() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    let finish =
        given!(TaskFinish, result: "half", claim_token: None::<String>, epoch: 1, ..fail(&held));
    let task = team.task_finish(finish).unwrap().task;
    assert_eq!(
        (task.status.name(), task.governed.error.as_deref()),
        ("failed", Some("it broke"))
    );
    assert_eq!(task.governed.result, None);
    assert!(task.governed.completed_at.is_some());
    let event = after(&mut team, 3).pop().unwrap();
    has!(event, {"kind": "task_failed", "/payload/error": "it broke"});
}

#[test]
fn a_way_that_does_not_exist_is_refused_before_anything_else() {
    let (_, mut team) = demo();
    let finish = |from: &str, to: &str, task: &str| {
        given!(TaskFinish, task_id: task,
            from, to, claim_token: "x")
    };
    let names = [
        "pending",
        "blocked",
        "assigned",
        "in_progress",
        "completed",
        "failed",
        "canceled",
    ];
    for from in names {
        for to in names {
            let exists = from == "in_progress" && matches!(to, "completed" | "failed");
            let code = if exists {
                Code::TaskNotFound
            } else {
                Code::InvalidTransition
            };
            refused(team.task_finish(finish(from, to, "404")), code);
        }
    }
    refused(
        team.task_finish(finish("in_progress", "done", "404")),
        Code::TaskNotFound,
    );
    for (from, to) in [
        ("started", "completed"),
        ("in_progress", "finished"),
        ("", ""),
    ] {
        let refusal = refused(
            team.task_finish(finish(from, to, "404")),
            Code::InvalidInput,
        );
        assert!(refusal.message.contains("valid task statuses"), "{refusal}");
    }
    let empty_handed = given!(TaskFinish, claim_token: None::<String>,
        ..finish("in_progress", "completed", "404"));
    let refusal = refused(team.task_finish(empty_handed), Code::InvalidInput);
    assert_eq!(refusal.field.as_deref(), Some("claim_token"));
}

#[test]
fn only_from_the_status_that_the_task_has() {
    let (_, mut team) = demo();
    team.task_create(new("first")).unwrap();
    let early = given!(TaskFinish, task_id: "1", from: "in_progress", to: "completed",
        claim_token: "x");
    let refusal = refused(team.task_finish(early.clone()), Code::InvalidTransition);
    assert_eq!(refusal.details["status"], "pending");
    let held = team.task_claim(claim("1", "dev")).unwrap();
    team.task_release(release(&held)).unwrap();
    refused(team.task_finish(complete(&held)), Code::InvalidTransition);
    // A message-governed task has no claim.
    team.task_update(update("2", "in_progress")).unwrap();
    let unclaimed = given!(TaskFinish, task_id: "2", ..early);
    refused(team.task_finish(unclaimed), Code::ClaimConflict);
}

#[test]
fn only_with_the_right_token_or_epoch() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    let present = |token: Option<&str>, epoch| {
        given!(TaskFinish, claim_token: token,
            epoch, ..complete(&held))
    };
    let right = Some(&*held.claim_token);
    for (token, epoch) in [
        (Some("x"), None),
        (Some("x"), Some(1)),
        (right, Some(2)),
        (None, Some(0)),
        (None, Some(2)),
    ] {
        refused(team.task_finish(present(token, epoch)), Code::ClaimConflict);
    }
    assert_eq!(count(&mut team), 3);
    team.task_finish(present(right, Some(1))).unwrap();
}

#[test]
fn terminal_stays_terminal() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("done"));
    team.task_finish(complete(&held)).unwrap();
    let broken = claimed(&mut team, new("broken"));
    team.task_finish(fail(&broken)).unwrap();
    team.task_create(new("dropped")).unwrap();
    team.task_cancel(cancel("3")).unwrap();
    let before = count(&mut team);
    for held in [&held, &broken] {
        refused(team.task_finish(complete(held)), Code::AlreadyTerminal);
        refused(team.task_finish(fail(held)), Code::AlreadyTerminal);
        refused(team.task_release(release(held)), Code::AlreadyTerminal);
        refused(
            team.task_renew(crate::leases::renew(held)),
            Code::AlreadyTerminal,
        );
    }
    for id in ["1", "2", "3"] {
        refused(team.task_cancel(cancel(id)), Code::AlreadyTerminal);
        refused(team.task_claim(claim(id, "qa")), Code::AlreadyTerminal);
    }
    assert_eq!(count(&mut team), before);
    // `task_change` still works.
    team.task_change(change("1")).unwrap();
    assert_eq!(status(&mut team, "1"), "completed");
}

#[test]
fn a_transition_may_expect_a_version() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    let expecting = |expected| given!(TaskFinish, expected_version: expected, ..complete(&held));
    refused(team.task_finish(expecting(1)), Code::VersionConflict);
    team.task_finish(expecting(2)).unwrap();
}

#[test]
fn delegated_work_needs_evidence_in_its_result() {
    let (_, mut team) = demo();
    let delegated = |delegation: Value| {
        given!(TaskCreate, extra: json!({"delegation": delegation}).as_object().unwrap().clone(),
            ..new("delegated"))
    };
    let mut finish = |delegation: Value, result: Option<&str>| {
        let held = claimed(&mut team, delegated(delegation));
        let finish = given!(TaskFinish, result, ..complete(&held));
        team.task_finish(finish).map(drop)
    };
    let spawned = "All done.\n subagent SPAWN evidence: two of them";
    let skipped = "Subagent skip reason: too small";
    for mode in ["auto", "required"] {
        for bad in [
            None,
            Some("done"),
            Some("Subagent spawn evidence: none"),
            Some("Subagent spawn evidence:"),
            Some("subagent spawn evidence: 0"),
            Some(skipped),
        ] {
            refused(finish(json!({"mode": mode}), bad), Code::MissingEvidence);
        }
        finish(json!({"mode": mode}), Some(spawned)).unwrap();
        let may_skip = json!({"mode": mode, "skip_allowed_reason_required": true});
        finish(may_skip, Some(skipped)).unwrap();
    }
    let probe = json!({"mode": "optional", "required_parallel_probe": true});
    refused(finish(probe, None), Code::MissingEvidence);
    finish(json!({"mode": "optional"}), None).unwrap();
    let held = claimed(&mut team, delegated(json!({"mode": "required"})));
    team.task_finish(fail(&held)).unwrap();
}

#[test]
fn a_task_that_nobody_works_on_is_canceled_without_more_ado() {
    let (_, mut team) = demo();
    team.task_create(new("first")).unwrap();
    let because = given!(TaskCancel, reason: "not needed", ..cancel("1"));
    let task = team.task_cancel(because).unwrap().task;
    assert_eq!((task.status.name(), task.version), ("canceled", 2));
    assert!(task.governed.completed_at.is_some());
    let event = after(&mut team, 2).pop().unwrap();
    has!(event, {"payload": {"task_id": "1", "reason": "not needed"}, "actor": "leader-fixed"});
    refused(team.task_cancel(cancel("9")), Code::TaskNotFound);
}

#[test]
fn one_in_somebodys_hands_is_canceled_by_its_holder_or_by_force_of_the_leader() {
    let (_, mut team) = demo();
    let one = claimed(&mut team, new("1"));
    let two = claimed(&mut team, new("2"));
    refused(team.task_cancel(cancel("1")), Code::ClaimConflict);
    let wrong = given!(TaskCancel, claim_token: "x", force: true, ..cancel("1"));
    refused(team.task_cancel(wrong), Code::ClaimConflict);
    let pushy = given!(TaskCancel, worker: "qa", force: true, ..cancel("1"));
    refused(team.task_cancel(pushy), Code::ClaimConflict);
    let own =
        given!(TaskCancel, claim_token: one.claim_token.clone(), worker: "dev", ..cancel("1"));
    team.task_cancel(own).unwrap();
    let forced = given!(TaskCancel, force: true, ..cancel("2"));
    let task = team.task_cancel(forced).unwrap().task;
    assert_eq!((task.status.name(), task.claim()), ("canceled", None));
    has!(after(&mut team, 6)[0], {"payload": {"task_id": "2", "forced": true}});
    refused(team.task_finish(complete(&two)), Code::AlreadyTerminal);
}

#[test]
fn no_message_brings_a_canceled_task_back() {
    let (world, mut team) = demo();
    team.task_assign(assign("1", "dev")).unwrap();
    team.task_cancel(cancel("1")).unwrap();
    world.later(SECOND);
    team.task_update(update("1", "in_progress")).unwrap();
    let task = team.task_record("1").unwrap();
    assert_eq!(
        (
            task.status.name(),
            task.reported_status.map(|status| status.name())
        ),
        ("canceled", Some("in_progress"))
    );
}

#[test]
fn a_failed_task_is_reopened_for_whoever_wants_it() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    team.task_finish(fail(&held)).unwrap();
    let expecting =
        |expected| given!(TaskReopen, expected_version: expected, worker: "lead", ..reopen("1"));
    refused(team.task_reopen(expecting(2)), Code::VersionConflict);
    let task = team.task_reopen(expecting(3)).unwrap().task;
    assert_eq!(
        (task.status.name(), task.version, task.governed.epoch),
        ("pending", 4, 1)
    );
    assert_eq!(
        (
            task.owner.as_deref(),
            task.governed.error.as_deref(),
            task.governed.completed_at
        ),
        (None, None, None)
    );
    refused(team.task_finish(complete(&held)), Code::InvalidTransition);
    let again = team.task_claim(claim("1", "qa")).unwrap();
    assert_eq!(again.epoch, 2);
    refused(team.task_finish(complete(&held)), Code::ClaimConflict);
}

#[test]
fn only_what_failed_is_reopened() {
    let (_, mut team) = demo();
    done(&mut team, new("1"));
    team.task_create(new("2")).unwrap();
    claimed(&mut team, new("3"));
    team.task_create(new("4")).unwrap();
    team.task_cancel(cancel("4")).unwrap();
    for id in ["1", "2", "3", "4"] {
        refused(team.task_reopen(reopen(id)), Code::InvalidTransition);
    }
    refused(team.task_reopen(reopen("5")), Code::TaskNotFound);
}

#[test]
fn what_is_reopened_waits_again_for_what_it_waits_for() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    team.task_finish(fail(&held)).unwrap();
    let blocked = given!(teamlog_team::task::change::TaskChange, blocked_by: ["9"], ..change("1"));
    assert_eq!(
        team.task_change(blocked).unwrap().task.status.name(),
        "failed"
    );
    shows!(team.task_reopen(reopen("1")).unwrap().task.status.name() => is "blocked");
    assert_eq!(kinds(&mut team)[6..], ["task_reopened", "task_blocked"]);
}

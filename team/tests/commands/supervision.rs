//! Tests of supervision: summaries, idleness, stalls, the monitor's snapshot.

use crate::prelude::*;
use crate::workers::{heartbeat, says};
use teamlog_engine::{Json, NewEvent};
use teamlog_team::worker::idle::ReadIdle;
use teamlog_team::worker::snapshot::{ReadSnapshot, WriteSnapshot};

fn summary(team: &mut Team) -> Value {
    json(&team.summary(GetSummary {}).unwrap())["summary"].clone()
}

/// Reports a status, one second after the previous report.
fn reported(world: &World, team: &mut Team, task: &str, status: &str) {
    world.later(SECOND);
    let update = given!(TaskUpdate, from: "leader-fixed", to: "leader-fixed",
        ..update(task, status));
    team.task_update(update).unwrap();
}

fn idle(team: &mut Team) -> Value {
    json(&team.idle_state(ReadIdle {}).unwrap())
}

fn stall(team: &mut Team) -> Value {
    json(&team.stall_state(ReadStall {}).unwrap())
}

fn saw(team: &mut Team, snapshot: Value) {
    let Value::Object(snapshot) = snapshot else {
        panic!("a snapshot is an object")
    };
    team.write_monitor_snapshot(WriteSnapshot { snapshot })
        .unwrap();
}

/// Records a worker's report through its operation.
fn reports(world: &World, payload: Value) {
    let team = world.root.team("demo").unwrap();
    let payload = Json::parse(&payload.to_string()).unwrap();
    let event = NewEvent::new("worker_event_reported", "dev", payload);
    let writer = team.log().lock().unwrap().into_writer(());
    let job =
        move |(): &(), _: Timestamp| Ok::<_, std::convert::Infallible>(((), vec![event.clone()]));
    writer.commit(Durability::Synced, job).unwrap();
    writer.close().unwrap();
}

#[test]
fn a_summary_counts_every_status_and_looks_at_every_worker() {
    let (world, mut team) = demo();
    team.task_assign(assign("1", "dev")).unwrap();
    team.task_assign(assign("2", "dev")).unwrap();
    reported(&world, &mut team, "2", "canceled");
    team.update_heartbeat(heartbeat("dev", 1, true)).unwrap();
    team.update_heartbeat(heartbeat("qa", 1, false)).unwrap();
    let found = summary(&mut team);
    assert_eq!(
        found["tasks"],
        json!({"total": 2, "pending": 0, "blocked": 0, "assigned": 1, "in_progress": 0, "completed": 0, "failed": 0, "canceled": 1})
    );
    let short: Vec<Value> = found["workers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| {
            json!([
                w["name"],
                w["alive"],
                w["turnsWithoutProgress"],
                w["lastTurnAt"].is_null()
            ])
        })
        .collect();
    assert_eq!(
        json!(short),
        json!([
            ["dev", true, 0, false],
            ["lead", false, 0, true],
            ["qa", false, 0, false]
        ])
    );
    has!(found, {"teamName": "demo", "workerCount": 3, "nonReportingWorkers": [],
        "/performance/task_count": 2, "/performance/worker_count": 3});
}

#[test]
fn turns_on_one_unfinished_task_since_the_summary_before_are_turns_without_progress() {
    let (world, mut team) = demo();
    team.task_assign(assign("1", "dev")).unwrap();
    team.task_assign(assign("2", "dev")).unwrap();
    let turns = |summary: &Value| summary["workers"][0]["turnsWithoutProgress"].clone();
    team.write_worker_status(says("dev", "working", Some("1")))
        .unwrap();
    team.update_heartbeat(heartbeat("dev", 10, true)).unwrap();
    assert_eq!(turns(&summary(&mut team)), 0, "nothing to measure from");
    team.update_heartbeat(heartbeat("dev", 15, true)).unwrap();
    let found = summary(&mut team);
    assert_eq!(
        (turns(&found), &found["nonReportingWorkers"]),
        (5.into(), &json!([]))
    );
    team.update_heartbeat(heartbeat("dev", 21, true)).unwrap();
    // Reading the stall state does not change the baseline of the summary.
    assert_eq!(stall(&mut team)["stalled_workers"], json!(["dev"]));
    assert_eq!(stall(&mut team)["reasons"][0], "workers_non_reporting:dev");
    let found = summary(&mut team);
    assert_eq!(
        (turns(&found), &found["nonReportingWorkers"]),
        (6.into(), &json!(["dev"]))
    );
    assert_eq!(turns(&summary(&mut team)), 0, "since a moment ago");
    // A change of task is progress, and the end of a task is progress.
    team.update_heartbeat(heartbeat("dev", 30, true)).unwrap();
    team.write_worker_status(says("dev", "working", Some("2")))
        .unwrap();
    assert_eq!(turns(&summary(&mut team)), 0);
    team.update_heartbeat(heartbeat("dev", 40, true)).unwrap();
    reported(&world, &mut team, "2", "completed");
    assert_eq!(turns(&summary(&mut team)), 0);
    reported(&world, &mut team, "2", "in_progress");
    team.update_heartbeat(heartbeat("dev", 50, true)).unwrap();
    team.write_worker_status(says("dev", "blocked", Some("2")))
        .unwrap();
    assert_eq!(turns(&summary(&mut team)), 0, "it does not work");
    // A lower turn count means a new process.
    team.write_worker_status(says("dev", "working", Some("2")))
        .unwrap();
    summary(&mut team);
    team.update_heartbeat(heartbeat("dev", 3, true)).unwrap();
    assert_eq!(turns(&summary(&mut team)), 0);
}

#[test]
fn a_summary_records_only_baselines_that_moved_and_none_in_a_closed_team() {
    let (_, mut team) = demo();
    summary(&mut team);
    assert_eq!(kinds(&mut team), ["team_created"]);
    team.update_heartbeat(heartbeat("dev", 1, true)).unwrap();
    team.update_heartbeat(heartbeat("qa", 1, true)).unwrap();
    summary(&mut team);
    summary(&mut team);
    team.update_heartbeat(heartbeat("qa", 2, true)).unwrap();
    summary(&mut team);
    let moved: Vec<Value> = events(&mut team)
        .iter()
        .filter(|event| event["kind"] == "summary_snapshot_written")
        .map(|event| event["payload"]["workers"].clone())
        .collect();
    assert_eq!(
        moved,
        [
            json!({"dev": {"turn_count": 1}, "qa": {"turn_count": 1}}),
            json!({"qa": {"turn_count": 2}})
        ]
    );
    team.update_heartbeat(heartbeat("qa", 3, true)).unwrap();
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    let recorded = kinds(&mut team).len();
    assert_eq!(summary(&mut team)["workerCount"], 3);
    assert_eq!(kinds(&mut team).len(), recorded);
    settled_digest(&mut team);
}

#[test]
fn a_monitors_snapshot_is_stored_as_it_came_and_read_in_its_proper_form() {
    let (_, mut team) = demo();
    let read = |team: &mut Team| json(&team.read_monitor_snapshot(ReadSnapshot {}).unwrap());
    assert_eq!(read(&mut team), json!({"snapshot": null}));
    let stored = json!({
        "taskStatusById": {"1": "pending"},
        "workerStateByName": [],
        "integrationByWorker": {"dev": {"status": "integrated", "last_seen_head": "a"}, "qa": {"status": "lost", "x": 1}, "lead": 7},
        "monitorTimings": {"list_tasks_ms": 1, "worker_scan_ms": 2, "mailbox_delivery_ms": 3, "total_ms": 6},
        "other": true
    });
    saw(&mut team, stored.clone());
    assert_eq!(events(&mut team)[1]["payload"]["snapshot"], stored);
    let empty = json!({});
    assert_eq!(
        read(&mut team)["snapshot"],
        json!({
            "taskStatusById": {"1": "pending"}, "workerAliveByName": empty, "workerStateByName": empty,
            "workerTurnCountByName": empty, "workerTaskIdByName": empty, "mailboxNotifiedByMessageId": empty,
            "completedEventTaskIds": empty,
            "integrationByWorker": {"dev": {"status": "integrated", "last_seen_head": "a"}, "qa": {"x": 1}}
        })
    );
    let mut whole = stored["monitorTimings"].clone();
    whole["updated_at"] = NOON.into();
    saw(&mut team, json!({"monitorTimings": whole}));
    assert_eq!(read(&mut team)["snapshot"]["monitorTimings"], whole);
    let mut deep = json!(1);
    for _ in 0..80 {
        deep = json!([deep]);
    }
    let mut snapshot = Map::new();
    snapshot.insert("x".into(), deep);
    let refusal = crate::world::refused(
        team.write_monitor_snapshot(WriteSnapshot { snapshot }),
        teamlog_team::Code::InvalidInput,
    );
    assert_eq!(refusal.field.as_deref(), Some("snapshot"));
}

#[test]
fn a_worker_is_idle_by_whoever_spoke_last() {
    let (_, mut team) = demo();
    assert_eq!(idle(&mut team)["all_workers_idle"], false);
    has!(idle(&mut team), {"non_idle_workers": ["dev", "lead", "qa"]});
    for worker in ["dev", "qa"] {
        team.write_worker_status(says(worker, "idle", None))
            .unwrap();
    }
    let input = json!({"workerStateByName": {"qa": "working", "lead": "idle", "ghost": "idle"}});
    saw(&mut team, input);
    let found = idle(&mut team);
    has!(found, {"idle_workers": ["dev", "ghost", "lead"], "non_idle_workers": ["qa"],
        "worker_count": 3, "idle_worker_count": 3});
    team.write_worker_status(says("qa", "done", None)).unwrap();
    team.write_worker_status(says("qa", "idle", None)).unwrap();
    let found = idle(&mut team);
    has!(found, {"all_workers_idle": true, "/source/snapshot_available": true});
}

#[test]
fn the_last_idle_transition_is_told_however_long_ago() {
    let (world, mut team) = demo();
    team.write_worker_status(says("dev", "working", None))
        .unwrap();
    team.write_worker_status(says("dev", "idle", None)).unwrap();
    let transition = events(&mut team).pop().unwrap();
    for _ in 0..60 {
        team.send(message("lead", "qa")).unwrap();
    }
    reports(
        &world,
        json!({"type": "worker_idle", "worker": "qa", "prev_state": "working", "task_id": "7"}),
    );
    let input = json!({"type": "all_workers_idle", "worker": "lead", "worker_count": 2});
    reports(&world, input);
    reports(
        &world,
        json!({"type": "team_leader_nudge", "worker": "leader-fixed", "reason": "all idle"}),
    );
    let found = idle(&mut team);
    let last = &found["last_idle_transition_by_worker"];
    assert_eq!(
        last["dev"],
        json!({
            "event_id": transition["id"], "type": "worker_state_changed", "worker": "dev", "task_id": null,
            "created_at": transition["created_at"], "reason": null, "intent": null, "state": "idle",
            "prev_state": "working", "source_type": null, "worker_count": null
        })
    );
    let qa = &last["qa"];
    has!(qa, {"type": "worker_state_changed", "source_type": "worker_idle", "state": "idle",
        "prev_state": "working", "task_id": "7"});
    assert_eq!(last["lead"], Value::Null);
    has!(found, {"/last_all_workers_idle_event/worker_count": 2, "/source/recent_event_count": 50});
    let found = stall(&mut team);
    has!(found, {"/last_team_leader_nudge_event/reason": "all idle",
        "last_leader_notification_deferred_event": null});
    settled_digest(&mut team);
}

#[test]
fn a_team_stalls_by_dead_workers_with_work_and_by_mail_that_waits_for_the_leader() {
    let (_, mut team) = team_of(Some(&["dev"]), teamlog_engine::Format::Jsonl);
    let found = stall(&mut team);
    has!(found, {"team_stalled": false, "dead_workers": ["dev"],
        "reasons": []}, "nothing is to be done");
    let assignment = given!(TaskAssign, from: "leader-fixed", ..assign("1", "dev"));
    team.task_assign(assignment).unwrap();
    let found = stall(&mut team);
    has!(found, {"team_stalled": true, "reasons": ["dead_workers_with_pending_work:dev"],
        "pending_task_count": 1});
    team.update_heartbeat(heartbeat("dev", 1, true)).unwrap();
    assert_eq!(stall(&mut team)["team_stalled"], false);
    team.send(message("dev", "leader-fixed")).unwrap();
    let found = stall(&mut team);
    has!(found, {"team_stalled": true, "leader_attention_pending": true,
        "unread_leader_message_count": 1,
        "reasons": ["leader_attention_pending:unread_leader_mailbox"]});
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    let found = stall(&mut team);
    has!(found, {"leader_attention_pending": false,
        "/source/phase_available": true}, "nobody decides in a closed team");
}

#[test]
fn the_leader_decides_when_all_is_done_or_all_that_is_left_is_blocked() {
    let (world, mut team) = team_of(Some(&["dev"]), teamlog_engine::Format::Jsonl);
    let decision = |team: &mut Team| stall(team)["leader_decision_state"].clone();
    team.write_worker_status(says("dev", "idle", None)).unwrap();
    assert_eq!(decision(&mut team), "still_actionable", "nobody lives");
    team.update_heartbeat(heartbeat("dev", 1, true)).unwrap();
    assert_eq!(decision(&mut team), "done_waiting_on_leader");
    has!(stall(&mut team), {"reasons": ["leader_decision_pending:done_waiting_on_leader"]});
    assert_eq!(stall(&mut team)["team_stalled"], false);
    reported(&world, &mut team, "1", "blocked");
    assert_eq!(decision(&mut team), "stuck_waiting_on_leader");
    reported(&world, &mut team, "1", "in_progress");
    assert_eq!(decision(&mut team), "still_actionable");
    reported(&world, &mut team, "1", "blocked");
    team.write_worker_status(says("dev", "working", None))
        .unwrap();
    assert_eq!(decision(&mut team), "still_actionable", "somebody works");
    team.write_worker_status(says("dev", "idle", None)).unwrap();
    assert_eq!(decision(&mut team), "stuck_waiting_on_leader");
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    assert_eq!(decision(&mut team), "still_actionable");
    assert!(
        world
            .memory
            .stat(std::path::Path::new("teams/demo/workers"))
            .unwrap()
            .is_none()
    );
}

//! Tests of workers' reports and of messages to workers: identity, heartbeat, status, instructions, shutdown.

use crate::prelude::*;
use teamlog_team::lifecycle::manifest::{ReadConfig, ReadManifest};
use teamlog_team::task::approval::{ReadApproval, WriteApproval};
use teamlog_team::worker::record::{ReadHeartbeat, UpdateHeartbeat, WriteIdentity, WriteInbox};
use teamlog_team::worker::shutdown::{ReadAck, RequestShutdown, WriteAck};
use teamlog_team::worker::status::{ReadStatus, WriteStatus};

pub fn identity(worker: &str, index: u32) -> WriteIdentity {
    given!(WriteIdentity, worker, index, role: "executor")
}

pub fn heartbeat(worker: &str, turn_count: u32, alive: bool) -> UpdateHeartbeat {
    given!(UpdateHeartbeat; worker, pid: 4711, turn_count, alive)
}

pub fn says(worker: &str, state: &str, task: Option<&str>) -> WriteStatus {
    given!(WriteStatus, worker, state, current_task_id: task)
}

pub fn ask(worker: &str) -> RequestShutdown {
    given!(RequestShutdown; worker, requested_by: "leader-fixed")
}

pub fn answers(worker: &str, status: &str, reason: Option<&str>) -> WriteAck {
    given!(WriteAck; worker, status, reason: reason.map(str::to_owned))
}

fn status_of(team: &mut Team, worker: &str) -> Value {
    let read = given!(ReadStatus; worker);
    json(&team.read_worker_status(read).unwrap())
}

fn payload(event: &Value) -> Value {
    event["payload"].clone()
}

#[test]
fn a_worker_registers_in_an_open_team_and_joins_it() {
    let (_, mut team) = team_of(None, Format::Jsonl);
    let write = given!(WriteIdentity, assigned_tasks: ["7"], worktree_detached: false,
        ..identity("w1", 1));
    assert_eq!(
        json(&team.write_identity(write).unwrap()),
        json!({"worker": "w1"})
    );
    names!(kinds(&mut team) => team_created members_added worker_identity_written);
    let last = events(&mut team).pop().unwrap();
    has!(last, {"actor": "w1", "agent": "w1"});
    assert_eq!(
        payload(&last),
        json!({"worker": "w1", "index": 1, "role": "executor", "assigned_tasks": ["7"], "worktree_detached": false})
    );
    // A second registration replaces the first, and records no second join.
    team.write_identity(identity("w1", 2)).unwrap();
    assert_eq!(kinds(&mut team).len(), 4);
}

#[test]
fn strangers_and_the_leader_cannot_register_in_a_closed_team() {
    let (_, mut team) = demo();
    let stranger = refused(team.write_identity(identity("w1", 1)), Code::WorkerNotFound);
    assert_eq!(stranger.details["known"], json!(["dev", "lead", "qa"]));
    refused(
        team.write_identity(identity("leader-fixed", 1)),
        Code::WorkerNotFound,
    );
    refused(
        team.update_heartbeat(heartbeat("w1", 1, true)),
        Code::WorkerNotFound,
    );
    refused(
        team.write_worker_status(says("w1", "idle", None)),
        Code::WorkerNotFound,
    );
    refused(team.request_shutdown(ask("w1")), Code::WorkerNotFound);
    refused(
        team.write_shutdown_ack(answers("w1", "accept", None)),
        Code::WorkerNotFound,
    );
    let inbox = given!(WriteInbox; worker: "w1", content: "x");
    refused(team.write_inbox(inbox), Code::WorkerNotFound);
    team.write_identity(identity("dev", 1)).unwrap();
    names!(kinds(&mut team) => team_created worker_identity_written);
}

#[test]
fn bad_input_names_its_field_and_records_nothing() {
    let (_, mut team) = team_of(None, Format::Jsonl);
    let field = |refusal: teamlog_team::Refusal| refusal.field.unwrap_or_default();
    let roleless = given!(WriteIdentity, role: "  ", ..identity("w1", 1));
    shows!(field(refused(team.write_identity(roleless), Code::InvalidInput)) => is "role");
    let tasks = given!(WriteIdentity, assigned_tasks: ["a/b"], ..identity("w1", 1));
    let found = field(refused(team.write_identity(tasks), Code::InvalidInput));
    assert_eq!(found, "assigned_tasks");
    for worker in ["../x", "", "a b"] {
        refused(team.write_identity(identity(worker, 1)), Code::InvalidInput);
        refused(
            team.update_heartbeat(heartbeat(worker, 1, true)),
            Code::InvalidInput,
        );
        let read = given!(ReadHeartbeat; worker);
        refused(team.read_heartbeat(read), Code::InvalidInput);
    }
    let state = refused(
        team.write_worker_status(says("w1", "asleep", None)),
        Code::InvalidInput,
    );
    shows!(state.message =>
        is "state must be one of idle, working, blocked, done, failed, draining, unknown, but is \"asleep\"");
    let ack = refused(
        team.write_shutdown_ack(answers("w1", "yes", None)),
        Code::InvalidInput,
    );
    shows!(ack.message => is "status must be one of accept, reject, but is \"yes\"");
    let blank = given!(WriteInbox; worker: "w1", content: " \n");
    shows!(field(refused(team.write_inbox(blank), Code::InvalidInput)) => is "content");
    assert_eq!(kinds(&mut team), ["team_created"]);
}

#[test]
fn instructions_are_trimmed_and_what_is_too_long_for_an_event_is_refused() {
    let (world, mut team) = demo();
    let write = |content: String| given!(WriteInbox; worker: "dev", content);
    team.write_inbox(write("\n# Do it\n\n".into())).unwrap();
    let path = std::path::Path::new("teams/demo/workers/dev/inbox.md");
    assert_eq!(world.memory.read(path, 100).unwrap(), b"# Do it");
    refused(team.write_inbox(write("x".repeat(1 << 20))), Code::TooLarge);
    assert_eq!(kinds(&mut team), ["team_created", "worker_inbox_written"]);
}

#[test]
fn a_heartbeat_is_read_back_with_its_time() {
    let (world, mut team) = demo();
    let read = || given!(ReadHeartbeat; worker: "dev");
    let none = team.read_heartbeat(read()).unwrap();
    assert_eq!(json(&none), json!({"worker": "dev", "heartbeat": null}));
    world.later(SECOND);
    team.update_heartbeat(heartbeat("dev", 3, true)).unwrap();
    assert_eq!(
        json(&team.read_heartbeat(read()).unwrap())["heartbeat"],
        json!({"pid": 4711, "last_turn_at": "2026-11-21T12:00:01.000000Z", "turn_count": 3, "alive": true})
    );
}

#[test]
fn a_status_knows_the_one_before_and_the_same_again_changes_nothing() {
    let (world, mut team) = demo();
    assert_eq!(
        status_of(&mut team, "nobody"),
        json!({"worker": "nobody", "status": {"state": "unknown", "updated_at": "1970-01-01T00:00:00.000000Z"}})
    );
    team.task_assign(assign("1", "dev")).unwrap();
    let first = team
        .write_worker_status(says("dev", "working", Some("1")))
        .unwrap();
    world.later(MINUTE);
    let again = team
        .write_worker_status(says("dev", "working", Some("1")))
        .unwrap();
    assert_eq!(first, again, "nothing happened since");
    assert_eq!(
        json(&again)["status"]["updated_at"],
        time(NOON).plus_micros(2).to_string()
    );
    team.write_worker_status(says("dev", "idle", None)).unwrap();
    let recorded: Vec<Value> = events(&mut team)
        .iter()
        .filter(|event| event["kind"] == "worker_status_changed")
        .map(payload)
        .collect();
    assert_eq!(
        recorded,
        [
            json!({"worker": "dev", "state": "working", "current_task_id": "1"}),
            json!({"worker": "dev", "state": "idle", "prev_state": "working"})
        ]
    );
    assert_eq!(status_of(&mut team, "dev")["status"]["state"], "idle");
}

#[test]
fn a_status_and_an_approval_belong_to_the_story_of_their_task() {
    let (_, mut team) = demo();
    let assignment = given!(TaskAssign, trace_id: "tr_1", ..assign("1", "dev"));
    team.task_assign(assignment).unwrap();
    team.write_worker_status(says("dev", "working", Some("1")))
        .unwrap();
    team.write_approval(approves("1", "approved")).unwrap();
    for event in &events(&mut team)[2..] {
        has!(event, {"trace_id": "tr_1", "task_id": "1"}, "{event}");
    }
}

fn approves(task: &str, status: &str) -> WriteApproval {
    given!(WriteApproval; task_id: task, status, reviewer: "lead", decision_reason: "clean",
        required: true)
}

#[test]
fn an_approval_needs_no_task_and_the_last_one_counts() {
    let (_, mut team) = demo();
    let read = || given!(ReadApproval; task_id: "9");
    assert_eq!(
        json(&team.read_approval(read()).unwrap()),
        json!({"approval": null})
    );
    let unknown = refused(
        team.write_approval(approves("9", "maybe")),
        Code::InvalidInput,
    );
    shows!(unknown.message =>
        is "status must be one of pending, approved, rejected, but is \"maybe\"");
    team.write_approval(approves("9", "rejected")).unwrap();
    let written = team.write_approval(approves("9", "approved")).unwrap();
    assert_eq!(
        json(&written),
        json!({"task_id": "9", "status": "approved"})
    );
    let mut approval = json(&team.read_approval(read()).unwrap())["approval"].clone();
    let decided_at = approval.as_object_mut().unwrap().remove("decided_at");
    assert_eq!(decided_at, Some(events(&mut team)[2]["created_at"].clone()));
    assert_eq!(
        approval,
        json!({"task_id": "9", "required": true, "status": "approved", "reviewer": "lead", "decision_reason": "clean"})
    );
}

#[test]
fn an_answer_to_a_shutdown_counts_from_the_bound_on() {
    let (world, mut team) = demo();
    let read = |team: &mut Team, bound: Option<&str>| {
        let read = given!(ReadAck; worker: "dev", min_updated_at: bound.map(str::to_owned));
        json(&team.read_shutdown_ack(read).unwrap())["ack"].clone()
    };
    team.request_shutdown(ask("dev")).unwrap();
    assert_eq!(read(&mut team, None), Value::Null);
    world.later(SECOND);
    let written = team
        .write_shutdown_ack(answers("dev", "reject", Some("busy")))
        .unwrap();
    let ack =
        json!({"status": "reject", "reason": "busy", "updated_at": "2026-11-21T12:00:01.000000Z"});
    assert_eq!(json(&written), json!({"worker": "dev", "ack": ack}));
    assert_eq!(read(&mut team, None), ack);
    assert_eq!(read(&mut team, Some("2026-11-21T12:00:01Z")), ack);
    assert_eq!(read(&mut team, Some("2026-11-21T14:00:01+02:00")), ack);
    assert_eq!(
        read(&mut team, Some("2026-11-21T12:00:01.000001Z")),
        Value::Null
    );
    assert_eq!(read(&mut team, Some("yesterday")), Value::Null);
}

#[test]
fn config_and_manifest_list_the_workers_and_never_the_leader() {
    let (_, mut team) = team_of(Some(&["b", "a", "leader-fixed", "c"]), Format::Jsonl);
    let reviewer = given!(WriteIdentity, role: "reviewer", ..identity("c", 1));
    team.write_identity(reviewer).unwrap();
    let assignment = given!(TaskAssign, from: "leader-fixed", ..assign("41", "a"));
    team.task_assign(assignment).unwrap();
    let config = json(&team.read_config(ReadConfig {}).unwrap())["config"].clone();
    let workers: Vec<Value> = config["workers"].as_array().unwrap().clone();
    let short: Vec<_> = workers
        .iter()
        .map(|worker| (&worker["name"], &worker["index"], &worker["role"]))
        .collect();
    assert_eq!(
        json!(short),
        json!([
            ["c", 1, "reviewer"],
            ["a", 2, "executor"],
            ["b", 3, "executor"]
        ])
    );
    for (field, value) in [
        ("name", json!("demo")),
        ("agent_type", json!("reviewer")),
        ("worker_count", json!(3)),
        ("max_workers", json!(20)),
        ("tmux_session", json!("rcs-team-demo")),
        ("leader_pane_id", Value::Null),
        ("next_worker_index", json!(4)),
        ("next_task_id", json!(42)),
        ("created_at", events(&mut team)[0]["created_at"].clone()),
    ] {
        assert_eq!(config[field], value, "{field}");
    }
    let manifest = json(&team.read_manifest(ReadManifest {}).unwrap())["manifest"].clone();
    has!(manifest, {"schema_version": 2, "workers": config["workers"]});
    has!(manifest, {"/leader/worker_id": "leader-fixed",
        "/governance/cleanup_requires_all_workers_inactive": true});
    assert!(manifest.get("agent_type").is_none());
}

#[test]
fn a_command_of_a_worker_is_answered_again_under_its_key() {
    let (world, mut team) = demo();
    let control = |key: &str, request: &str| {
        given!(Control, operation: "write-worker-status",
            request: request.as_bytes().to_vec(), key)
    };
    team.under(control("k1", "one"));
    let first = team
        .write_worker_status(says("dev", "working", None))
        .unwrap();
    team.under(control("k2", "two"));
    team.write_worker_status(says("dev", "idle", None)).unwrap();
    let mut later = world.root.team("demo").unwrap();
    later.under(control("k1", "one"));
    let again = later
        .write_worker_status(says("dev", "working", None))
        .unwrap();
    assert_eq!(first, again);
    assert_eq!(status_of(&mut team, "dev")["status"]["state"], "idle");
    later.under(control("k1", "three"));
    refused(
        later.write_worker_status(says("dev", "blocked", None)),
        Code::IdempotencyKeyReused,
    );
}

#[test]
fn a_worker_whose_status_is_idle_is_nudged_about_its_mail_at_once() {
    let (_, mut team) = demo();
    team.send(message("lead", "dev")).unwrap();
    let nudged = |team: &mut Team| {
        let dry = given!(Nudge, dry_run: true);
        team.nudge(dry).unwrap().count
    };
    team.write_worker_status(says("dev", "working", None))
        .unwrap();
    assert_eq!(nudged(&mut team), 0, "it just did something");
    team.write_worker_status(says("dev", "idle", None)).unwrap();
    team.update_heartbeat(heartbeat("dev", 1, true)).unwrap();
    assert_eq!(nudged(&mut team), 1);
    team.write_worker_status(says("dev", "working", None))
        .unwrap();
    assert_eq!(nudged(&mut team), 0);
}

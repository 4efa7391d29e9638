//! Makes the golden set: teams with every kind of event, recorded by commands.

use crate::prelude::*;
use std::cell::RefCell;
use teamlog_team::BackupDir;
use teamlog_team::backup::restore::Restore;

const BOTH: [&str; 2] = ["obstruction", "synthesizer"];

/// Creates the golden set of the present version in memory.
pub fn made(format: Format) -> World {
    let world = World::new();
    lived(&world, format);
    told(&world, format);
    moved(&world, format);
    let faults = FAULTS.take();
    assert!(faults.is_empty(), "{faults:#?}");
    world
}

thread_local! {
    /// Faults of the golden set. They are collected so that one test failure lists all faults.
    static FAULTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Calls an operation on the team `golden`.
fn call(world: &World, operation: &str, input: Value) -> Value {
    match attempt(world, operation, input) {
        Ok(answer) => answer,
        Err(fault) => {
            FAULTS.with_borrow_mut(|faults| faults.push(format!("{operation}: {fault:?}")));
            Value::Null
        }
    }
}

fn attempt(world: &World, operation: &str, mut input: Value) -> Result<Value, api::Fault> {
    world.later(SECOND);
    input["team_name"] = "golden".into();
    let Value::Object(input) = input else {
        panic!("{input} is no object");
    };
    let control = given!(Control, trace_id: "tr-golden",
        key: (operation == "broadcast").then_some("key-1"));
    let found = api::find(operation).unwrap();
    let answered = api::call(&world.root, found, input, control)?;
    Ok(serde_json::from_str(answered.data.get()).unwrap())
}

/// Creates a team with nearly every kind of event, and closes the team at the end.
fn lived(world: &World, format: Format) {
    let members = ["lead", "dev", "qa"].map(str::to_owned).to_vec();
    let init = given!(Init, members, format, ..Init::for_team("golden"));
    world.root.init(init).unwrap();
    world
        .root
        .init(given!(Init, members: ["ops"], ..Init::for_team("golden")))
        .unwrap();
    let mut team = world.root.team("golden").unwrap();
    team.append(given!(Append, kind: "weather_seen")).unwrap();
    sessions(world);
    messages(world, &mut team);
    tasks(world);
    staff(world);
    modes(world);
    bootstrap(world, &mut team);
    supervised(world, &mut team);
    call(world, "cleanup", json!({"force": true}));
}

/// Creates an ended session, and an abandoned session that still blocks other modes a day later.
fn sessions(world: &World) {
    for session in ["s-ended", "s-left"] {
        let input = json!({"mode": "autopilot", "session_id": session});
        call(world, "mode-start", input);
        world.later(90 * MINUTE);
        let input = json!({"text": "go on with the tests", "session_id": session});
        call(world, "mode-prompt", input);
    }
    let input = json!({"session_id": "s-ended", "reason": "done"});
    call(world, "mode-end-session", input);
    world.later(25 * 60 * MINUTE);
    call(world, "mode-start", json!({"mode": "team"}));
    call(world, "mode-cancel", json!({"mode": "team"}));
}

fn messages(world: &World, team: &mut Team) {
    let durable = |id: &str, seconds| {
        given!(Send, message_id: id,
            delivery: Require { ack_timeout_seconds: Some(seconds), max_retries: Some(1), },
            cooldown_seconds: 60, ..message("lead", "dev"))
    };
    team.send(durable("m1", 3_600)).unwrap();
    team.send(durable("m1", 3_600)).unwrap();
    team.send(durable("m2", 5)).unwrap();
    for (agent, id) in [("dev", "m1"), ("dev", "m1"), ("qa", "m1")] {
        let ack = given!(Ack, agent, message_id: id);
        let _ = team.ack(ack);
    }
    world.later(60 * SECOND);
    team.send(durable("m3", 5)).unwrap();
    let given = given!(Send, created_at: "2026-11-20T08:00:00Z", ..message("qa", "lead"));
    team.under(given!(Control, actor: "scribe"));
    team.send(given).unwrap();
    team.under(Control::default());
    let to = |to: &str, body: &str| {
        let sent = json!({"from_worker": "lead", "to_worker": to, "body": body});
        call(world, "send-message", sent)["message"]["message_id"].clone()
    };
    let told = json!({"worker": "dev", "message_id": to("dev", "first")});
    call(world, "mailbox-mark-notified", told.clone());
    call(world, "mailbox-mark-delivered", told);
    let second = to("qa", "second");
    call(
        world,
        "mailbox-mark-delivered",
        json!({"worker": "qa", "message_id": second}),
    );
    to("ops", "open until the end");
    call(
        world,
        "write-worker-identity",
        json!({"worker": "dev", "index": 1, "role": "coder"}),
    );
    call(
        world,
        "broadcast",
        json!({"from_worker": "lead", "body": "all"}),
    );
    team.tick(Tick::default()).unwrap();
    world.later(60 * SECOND);
    team.tick(Tick::default()).unwrap();
    team.task_assign(assign("born-of-a-message", "dev"))
        .unwrap();
    let update = given!(TaskUpdate, note: "half", ..update("born-of-a-message", "in_progress"));
    team.task_update(update).unwrap();
    team.config_change(given!(ConfigChange, key: "delivery.default.max_retries", value: "2"))
        .unwrap();
}

fn tasks(world: &World) {
    let create = |id: &str, more: Value| {
        let mut input = json!({"task_id": id, "subject": id, "description": id});
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        call(world, "create-task", input);
    };
    let claim = |id: &str, lease_ms: u64| {
        let input = json!({"task_id": id, "worker": "dev", "lease_ms": lease_ms});
        call(world, "claim-task", input)["claimToken"].clone()
    };
    let finish = |id: &str, token: Value, to: &str| {
        let input = json!({"task_id": id, "from": "in_progress", "to": to, "claim_token": token});
        call(world, "transition-task-status", input);
    };
    create("first", json!({"resources": ["src"], "priority": "high"}));
    create("waits", json!({"blocked_by": ["first"]}));
    create("later", json!({}));
    call(
        world,
        "update-task",
        json!({"task_id": "later", "subject": "much later", "blocked_by": ["first"]}),
    );
    call(
        world,
        "set-task-resources",
        json!({"task_id": "later", "resources": ["docs"]}),
    );
    let token = claim("first", 60_000);
    call(
        world,
        "renew-task-claim",
        json!({"task_id": "first", "claim_token": token}),
    );
    finish("first", token, "completed");
    let token = claim("waits", 60_000);
    finish("waits", token, "failed");
    call(world, "reopen-task", json!({"task_id": "waits"}));
    let token = claim("waits", 60_000);
    call(
        world,
        "release-task-claim",
        json!({"task_id": "waits", "worker": "dev", "claim_token": token}),
    );
    let token = claim("waits", 60_000);
    finish("waits", token, "failed");
    claim("later", 1_000);
    world.later(2 * SECOND);
    let mut team = world.root.team("golden").unwrap();
    team.tick(Tick::default()).unwrap();
    create("never", json!({}));
    call(
        world,
        "cancel-task",
        json!({"task_id": "never", "reason": "no need"}),
    );
    create("forced", json!({}));
    claim("forced", 60_000);
    let input = json!({"task_id": "forced", "from": "in_progress", "to": "completed", "epoch": 1,
        "worker": "lead", "force": true, "result": "done"});
    call(world, "transition-task-status", input);
    create("held", json!({}));
    claim("held", 86_400_000);
    let report = given!(TaskUpdate, progress: "40%", eta: "tomorrow", blocked: true,
        note: "waits for the schema", ..update("held", "blocked"));
    team.task_update(report).unwrap();
}

fn staff(world: &World) {
    for (operation, input) in cases![
        ("update-worker-heartbeat", {"worker": "dev", "pid": 7, "turn_count": 1, "alive": true}),
        ("write-worker-status", {"worker": "dev", "state": "working", "current_task_id": "held"}),
        ("write-worker-inbox", {"worker": "dev", "content": "# Do it"}),
        ("append-event", {"type": "worker_idle", "worker": "dev"}),
        ("get-summary", {}),
        ("write-leader-attention", {"source": "notify_hook", "leader_session_active": true,
            "leader_attention_pending": true, "attention_reasons": ["mail"],
            "unread_leader_message_count": 1}),
        ("write-monitor-snapshot", {"snapshot": {"taskStatusById": {"held": "in_progress"}}}),
        ("write-task-approval", {"task_id": "first", "status": "approved", "reviewer": "qa",
            "decision_reason": "good"}),
        ("thread-start", {"title": "how", "participants": ["dev", "qa"], "worker": "lead"}),
        ("thread-post", {"thread_id": "thread-0001", "body": "like this", "worker": "dev"}),
        ("thread-link", {"thread_id": "thread-0001", "task_id": "held"}),
        ("set-budget", {"max_tokens": 1_000_000, "soft_limit_tokens": 10}),
        ("report-usage", {"worker": "dev", "tokens": 20}),
        ("artifact-put", {"name": "notes.md", "content": "what was found"}),
    ] {
        call(world, operation, input);
    }
}

fn modes(world: &World) {
    let start = |mode: &str, session: Option<&str>| {
        let mut input = json!({"mode": mode});
        if let Some(session) = session {
            input["session_id"] = session.into();
        }
        call(world, "mode-start", input);
    };
    start("deep-interview", Some("s-1"));
    start("blueprint", Some("s-1"));
    call(
        world,
        "mode-update",
        json!({"mode": "blueprint", "session_id": "s-1", "set": {"planning_complete": true}}),
    );
    call(
        world,
        "mode-prompt",
        json!({"text": "$forge it", "session_id": "s-1"}),
    );
    call(
        world,
        "mode-complete",
        json!({"mode": "forge", "session_id": "s-1"}),
    );
    call(
        world,
        "mode-prompt",
        json!({"text": "forge please", "session_id": "s-1"}),
    );
    call(
        world,
        "mode-fail",
        json!({"mode": "forge", "session_id": "s-1", "error": "no"}),
    );
    start("autopilot", None);
    call(world, "mode-cancel", json!({"mode": "autopilot"}));
    call(world, "mode-clear", json!({"mode": "autopilot"}));
    start("ultraqa", None);
}

fn bootstrap(world: &World, team: &mut Team) {
    let say = |event: &str, data: Value| {
        call(
            world,
            "bootstrap-record",
            json!({"event": event, "data": data}),
        );
    };
    // The event is recorded but not accepted.
    let refuses = |event: &str, data: Value| {
        let input = json!({"event": event, "data": data});
        assert!(
            attempt(world, "bootstrap-record", input).is_err(),
            "{event}"
        );
    };
    let begin = |outcome: &str| {
        call(world, "bootstrap-start", json!({"domains": ["a", "b"]}));
        say(
            "team_create_returned",
            json!({"outcome": outcome, "team_name": "alpha"}),
        );
    };
    begin("unavailable");
    say("branch_taken", json!({"case": "C"}));
    begin("unavailable");
    say("fallback_entered", json!({"reason": "none"}));
    begin("ok");
    refuses("running_entered", json!({}));
    begin("ok");
    say("branch_taken", json!({"case": "A"}));
    say("roster_built", json!({"domains": ["a", "b"]}));
    refuses("launch_unavailable", json!({"raw": "no such tool"}));
    let members = ["obstruction-theorist", "synthesizer", "a", "b"];
    say(
        "team_launched",
        json!({"method": "team_api", "members": members}),
    );
    for to in BOTH {
        say("core_pinged", json!({"to": to}));
    }
    world.later(61 * SECOND);
    team.tick(Tick::default()).unwrap();
    say("core_relaunched", json!({}));
    for from in BOTH {
        say("core_ready_ack", json!({"from": from}));
    }
    let evidence = call(world, "bootstrap-evidence", json!({}));
    say("running_entered", evidence);
    say("swarm_declared", json!({}));
    say("skeleton_sent", json!({}));
    say("domain_started", json!({"d": "a"}));
    say("task_launched", json!({"member": "a"}));
    for domain in ["a", "b"] {
        say(
            "mapping_result",
            json!({"d": domain, "message_id": format!("{domain}-1"), "to": BOTH}),
        );
    }
    world.later(91 * SECOND);
    team.tick(Tick::default()).unwrap();
    for domain in ["a", "b"] {
        say(
            "mapping_result",
            json!({"d": domain, "message_id": format!("{domain}-1"), "to": BOTH}),
        );
        for by in BOTH {
            say(
                "delivery_ack",
                json!({"by": by, "d": domain, "message_id": format!("{domain}-1")}),
            );
        }
    }
    say(
        "obstruction_feedback",
        json!({"d": "a", "verdict": "REVISE", "reason": "SCHEMA_BLOCKER", "fix_requests": ["x"]}),
    );
    say("obstruction_feedback", json!({"d": "b", "verdict": "PASS"}));
    say("round1_complete", json!({}));
    say("revision_submitted", json!({"d": "a", "round": 2}));
    say(
        "mapping_result",
        json!({"d": "a", "message_id": "a-2", "to": BOTH, "round": 2}),
    );
    for by in BOTH {
        say(
            "delivery_ack",
            json!({"by": by, "d": "a", "message_id": "a-2"}),
        );
    }
    say("obstruction_feedback", json!({"d": "a", "verdict": "PASS"}));
    say("member_added", json!({"d": "c"}));
    say("domain_excluded", json!({"d": "c", "reason": "late"}));
    say("round1_complete", json!({}));
    say(
        "gate_cleared",
        json!({"clear_summary": {
            "pass_domains": ["a", "b"], "revised_domains": ["a"], "excluded_domains": ["c"], "residual_risks": [],
        }}),
    );
    say("final_synthesis_requested", json!({}));
    say("final_synthesis_ack", json!({"by": "synthesizer"}));
    say("synthesis_result", json!({"by": "synthesizer"}));
}

fn supervised(world: &World, team: &mut Team) {
    call(
        world,
        "write-shutdown-request",
        json!({"worker": "dev", "requested_by": "lead"}),
    );
    call(
        world,
        "write-shutdown-ack",
        json!({"worker": "dev", "status": "accept"}),
    );
    let last = given!(Send, message_id: "m9", delivery: Require::default(),
        ..message("lead", "dev"));
    team.send(last).unwrap();
}

/// Imports a team of the message protocol.
fn told(world: &World, format: Format) {
    let memory = Memory::new();
    let snapshot = r#"{"task_id":"T-9","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-03T00:00:00Z","owner":"qa","subject":"left","status":"assigned","snapshot_version":4,"last_message_id":"gone","last_message_created_at":"2026-01-03T00:00:00Z"}"#;
    let inbox = r#"{"id":"m1","type":"handoff","from":"lead","to":"dev","created_at":"2026-01-02T09:00:00Z","payload":{}}"#;
    for (path, text) in cases![
        ("team.json" => r#"{"team":"told","members":["lead","dev","qa"],"schema_version":1}"#),
        ("inboxes/dev.jsonl" => inbox),
        ("tasks/T-9.json" => snapshot),
    ] {
        let path = Path::new(path);
        memory.create_dir_all(path.parent().unwrap()).unwrap();
        memory.replace(path, text.as_bytes(), true).unwrap();
    }
    let import = given!(ImportTeamChat, team: "told", format);
    world.root.import_team_chat(&import, &memory).unwrap();
}

/// Creates teams whose logs are cut, salvaged, converted and restored, and a team with an incomplete last write.
fn moved(world: &World, format: Format) {
    let other = match format {
        Format::Jsonl => Format::Binary,
        Format::Binary => Format::Jsonl,
    };
    let begun = |name: &str, format: Format| {
        let init = given!(Init, format, ..Init::for_team(name));
        world.root.init(init).unwrap();
        let mut team = world.root.team(name).unwrap();
        for _ in 0..3 {
            world.later(SECOND);
            team.send(message("lead", "dev")).unwrap();
        }
        team
    };
    let cut = given!(Repair, to: 3, yes: true);
    begun("cut", format).repair(cut).unwrap();
    begun("converted", other).convert(format).unwrap();
    let segment = |team: &str| {
        let events = Path::new("teams").join(team).join("events");
        let names = world.memory.list(&events).unwrap();
        events.join(names.first().unwrap())
    };
    drop(begun("salvaged", format));
    let bytes = world.memory.read(&segment("salvaged"), 1 << 20).unwrap();
    let middle = bytes.len() as u64 / 2;
    world
        .memory
        .corrupt(&segment("salvaged"), middle, 1)
        .unwrap();
    world
        .root
        .salvage("salvaged", None, Rehydrate::default(), &mut |_, _| {})
        .unwrap();
    drop(begun("torn", format));
    let bytes = world.memory.read(&segment("torn"), 1 << 20).unwrap();
    let torn = [&*bytes, &bytes[bytes.len() - 60..bytes.len() - 20]].concat();
    world.memory.replace(&segment("torn"), &torn, true).unwrap();
    let mut team = world.root.team("torn").unwrap();
    team.send(message("lead", "dev")).unwrap();
    let backup_dir = BackupDir::on(Arc::new(Memory::new()), RootOptions::default());
    begun("kept", format).backup(&backup_dir).unwrap();
    let restore = given!(Restore, team: "restored", from: "kept");
    world.root.restore(restore, &backup_dir).unwrap();
}

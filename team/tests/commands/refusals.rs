//! Tests that each code in an operation's record occurs. The cases are here, in `hostile` for codes about missing objects, or
//! in the tests that [`ELSEWHERE`] names.

mod elsewhere;
mod every;
mod ownership;

use crate::deliveries::with_dead_letter;
use crate::hostile::{ABSENT, call};
use crate::prelude::*;
use crate::scenario::{Given, scenario};
use elsewhere::ELSEWHERE;
use teamlog_team::Code;
use teamlog_team::api::{self, OPERATIONS};

/// Operations with inputs before the refused request. `later` advances the clock by milliseconds.
type History = Vec<(&'static str, Value)>;

/// Histories with which several rows begin.
fn begun(name: &str) -> History {
    let task = |id: u8| {
        (
            "create-task",
            json!({"task_id": id.to_string(), "subject": "s", "description": "d"}),
        )
    };
    let claim = |key: &str| {
        (
            "claim-task",
            json!({"task_id": "1", "worker": "dev", "lease_ms": 1000, "key": key}),
        )
    };
    let next = (
        "claim-next-task",
        json!({"worker": "dev", "lease_ms": 1000, "key": "k"}),
    );
    let end = |to: &str| {
        (
            "transition-task-status",
            json!({"task_id": "1", "from": "in_progress", "to": to, "epoch": 1}),
        )
    };
    let spent = [
        ("set-budget", json!({"max_tokens": 10, "hard_limit": true})),
        (
            "report-usage",
            json!({"worker": "dev", "input_tokens": 20, "output_tokens": 0}),
        ),
    ];
    let post = ("thread-start", json!({"title": "t", "worker": "lead"}));
    let late = ("later", json!(2_000));
    let again = ("claim-task", json!({"task_id": "1", "worker": "qa"}));
    let mode = |mode: &str| ("mode-start", json!({"mode": mode}));
    match name {
        "nothing" => vec![],
        "task" => vec![task(1)],
        "two tasks" => vec![task(1), ("create-task", json!({"task_id": "2", "subject": "s", "description": "d", "blocked_by": ["1"]}))],
        "claimed" => vec![task(1), claim("k")],
        "claimed next" => vec![task(1), next],
        "expired" => vec![task(1), claim("k"), late],
        "expired next" => vec![task(1), next, late],
        "claimed anew" => vec![task(1), claim("k"), late, again],
        "claimed next anew" => vec![task(1), next, late, again],
        "completed" => vec![task(1), claim("k"), end("completed")],
        "failed" => vec![task(1), claim("k"), end("failed")],
        "spent" => [vec![task(1), post], spent.to_vec()].concat(),
        "paths held" => ["1", "2"].map(|id| {
            ("create-task", json!({"task_id": id, "subject": "s", "description": "d", "resources": ["src"]}))
        }).into_iter().chain([claim("k")]).collect(),
        "delegating" => vec![
            ("create-task", json!({"task_id": "1", "subject": "s", "description": "d", "delegation": {"mode": "required"}})),
            claim("k"),
        ],
        "gated" => vec![
            ("create-task", json!({"task_id": "1", "subject": "s", "description": "d", "requires_approval": true})),
            claim("k"),
        ],
        "autopilot" => vec![mode("autopilot")],
        "autopilot canceled" => vec![mode("autopilot"), ("mode-cancel", json!({"mode": "autopilot"}))],
        "artifact" => vec![("artifact-put", json!({"name": "a", "content": "1"}))],
        "sent" => vec![("send", json!({"from": "dev", "to": "lead", "type": "handoff", "message_id": "m"}))],
        "token" => vec![("token-add", json!({"agent": "dev", "digest": "0a".repeat(32)}))],
        "run" => vec![("bootstrap-start", json!({"run": "r", "domains": ["a"]}))],
        "rejected" => vec![
            ("write-shutdown-request", json!({"worker": "dev", "requested_by": "lead"})),
            ("write-shutdown-ack", json!({"worker": "dev", "status": "reject", "reason": "busy"})),
        ],
        other => panic!("{other}"),
    }
}

/// Returns the rows: operation, history, input and code of the refusal.
fn rows() -> Vec<(&'static str, &'static str, Value, Code)> {
    use Code::*;
    let finish = |more: Value| {
        let mut input = json!({"task_id": "1", "from": "in_progress", "to": "completed"});
        input
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        input
    };
    let one = |epoch: u64| json!({"task_id": "1", "worker": "dev", "epoch": epoch});
    let versioned = |epoch: u64| json!({"task_id": "1", "worker": "dev", "epoch": epoch, "expected_version": 99});
    let claim = json!({"task_id": "1", "worker": "dev", "lease_ms": 1000, "key": "k"});
    let next = json!({"worker": "dev", "lease_ms": 1000, "key": "k"});
    let new = |more: Value| {
        let mut input = json!({"subject": "s", "description": "d"});
        input
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        input
    };
    let mut rows = vec![
        (
            "claimed",
            "create-task",
            new(json!({"task_id": "1"})),
            TaskExists,
        ),
        (
            "nothing",
            "create-task",
            new(json!({"task_id": "1", "blocked_by": ["1"]})),
            DependencyCycle,
        ),
        (
            "two tasks",
            "update-task",
            json!({"task_id": "1", "blocked_by": ["2"]}),
            DependencyCycle,
        ),
        (
            "claimed",
            "set-task-resources",
            json!({"task_id": "1", "resources": ["src"]}),
            ClaimConflict,
        ),
        (
            "nothing",
            "set-task-resources",
            json!({"task_id": "1", "shared": true}),
            TaskNotFound,
        ),
        (
            "task",
            "set-task-resources",
            json!({"task_id": "1", "shared": true, "expected_version": 99}),
            VersionConflict,
        ),
        (
            "task",
            "update-task",
            json!({"task_id": "1", "subject": "x", "expected_version": 99}),
            VersionConflict,
        ),
        (
            "claimed",
            "claim-task",
            json!({"task_id": "1", "worker": "qa"}),
            ClaimConflict,
        ),
        (
            "completed",
            "claim-task",
            json!({"task_id": "1", "worker": "qa"}),
            AlreadyTerminal,
        ),
        ("expired", "claim-task", claim, LeaseExpired),
        (
            "two tasks",
            "claim-task",
            json!({"task_id": "2", "worker": "qa"}),
            BlockedDependency,
        ),
        (
            "paths held",
            "claim-task",
            json!({"task_id": "2", "worker": "qa"}),
            ResourceConflict,
        ),
        (
            "claimed next anew",
            "claim-next-task",
            next.clone(),
            ClaimConflict,
        ),
        ("expired next", "claim-next-task", next, LeaseExpired),
        (
            "task",
            "transition-task-status",
            finish(json!({"from": "pending", "epoch": 1})),
            InvalidTransition,
        ),
        (
            "completed",
            "transition-task-status",
            finish(json!({"epoch": 1})),
            AlreadyTerminal,
        ),
        (
            "claimed anew",
            "transition-task-status",
            finish(json!({"epoch": 1})),
            ClaimConflict,
        ),
        (
            "claimed",
            "transition-task-status",
            finish(json!({"epoch": 1, "worker": "qa"})),
            NotHolder,
        ),
        (
            "expired",
            "transition-task-status",
            finish(json!({"epoch": 1})),
            LeaseExpired,
        ),
        (
            "claimed",
            "transition-task-status",
            finish(json!({"epoch": 1, "expected_version": 99})),
            VersionConflict,
        ),
        (
            "delegating",
            "transition-task-status",
            finish(json!({"epoch": 1, "result": "done"})),
            MissingEvidence,
        ),
        (
            "gated",
            "transition-task-status",
            finish(json!({"epoch": 1})),
            ApprovalRequired,
        ),
        (
            "completed",
            "reopen-task",
            json!({"task_id": "1"}),
            InvalidTransition,
        ),
        (
            "failed",
            "reopen-task",
            json!({"task_id": "1", "expected_version": 99}),
            VersionConflict,
        ),
        ("spent", "create-task", new(json!({})), BudgetExceeded),
        (
            "spent",
            "claim-task",
            json!({"task_id": "1", "worker": "dev"}),
            BudgetExceeded,
        ),
        (
            "spent",
            "claim-next-task",
            json!({"worker": "dev"}),
            BudgetExceeded,
        ),
        (
            "spent",
            "thread-start",
            json!({"title": "t"}),
            BudgetExceeded,
        ),
        (
            "spent",
            "thread-post",
            json!({"thread_id": "thread-0001", "body": "b", "worker": "dev"}),
            BudgetExceeded,
        ),
        (
            "spent",
            "comment-task",
            json!({"task_id": "1", "body": "b", "worker": "dev"}),
            BudgetExceeded,
        ),
        (
            "spent",
            "send-message",
            json!({"from_worker": "lead", "to_worker": "dev", "body": "b"}),
            BudgetExceeded,
        ),
        (
            "spent",
            "broadcast",
            json!({"from_worker": "lead", "body": "b"}),
            BudgetExceeded,
        ),
        (
            "artifact",
            "artifact-put",
            json!({"name": "a", "content": "2"}),
            ArtifactExists,
        ),
        (
            "token",
            "token-add",
            json!({"agent": "qa", "digest": "0a".repeat(32)}),
            TokenExists,
        ),
        (
            "nothing",
            "inbox-feed",
            json!({"worker": "qa", "since": 999}),
            CursorAhead,
        ),
        ("nothing", "list-events", json!({"after": 999}), CursorAhead),
        ("nothing", "diff", json!({"from": "999"}), PointUnknown),
        (
            "autopilot",
            "mode-start",
            json!({"mode": "ultraqa"}),
            ModeDenied,
        ),
        (
            "autopilot",
            "mode-write",
            json!({"mode": "ultraqa", "state": {"active": true}}),
            ModeDenied,
        ),
        (
            "autopilot",
            "state-write",
            json!({"mode": "ultraqa", "state": {"active": true}}),
            ModeDenied,
        ),
        (
            "nothing",
            "state-write",
            json!({"mode": "skill-active", "state": {"active_skills": [{"skill": "forge"}]}}),
            ModeNotActive,
        ),
        (
            "nothing",
            "append",
            json!({"kind": "message_sent"}),
            ReservedKind,
        ),
        (
            "nothing",
            "append",
            json!({"kind": "built", "if_seq": 0}),
            AppendConflict,
        ),
        (
            "nothing",
            "append",
            json!({"kind": "built", "if_seq": 999}),
            CursorAhead,
        ),
        (
            "nothing",
            "append-batch",
            json!({"facts": [{"kind": "built"}, {"kind": "message_sent"}]}),
            ReservedKind,
        ),
        (
            "nothing",
            "append-batch",
            json!({"facts": [{"kind": "built"}], "if_seq": 0}),
            AppendConflict,
        ),
        (
            "nothing",
            "append-batch",
            json!({"facts": [{"kind": "built"}], "if_seq": 999}),
            CursorAhead,
        ),
        (
            "nothing",
            "config-set",
            json!({"setting": "nothing", "value": "1"}),
            SettingUnknown,
        ),
        (
            "nothing",
            "config-unset",
            json!({"setting": "nothing"}),
            SettingUnknown,
        ),
        (
            "spent",
            "send",
            json!({"from": "dev", "to": "lead", "type": "handoff"}),
            BudgetExceeded,
        ),
        (
            "nothing",
            "send",
            json!({"from": "dev", "to": "lead", "type": "handoff", "created_at": "2999-01-01T00:00:00Z"}),
            CreatedAtAhead,
        ),
        (
            "sent",
            "send",
            json!({"from": "dev", "to": "lead", "type": "handoff", "message_id": "m", "payload": {"n": 1}}),
            MessageIdReused,
        ),
        (
            "autopilot",
            "mode-prompt",
            json!({"text": "$ultraqa test it"}),
            ModeDenied,
        ),
        (
            "nothing",
            "mode-outcome",
            json!({"mode": "forge"}),
            ModeNotFound,
        ),
        (
            "nothing",
            "mode-show",
            json!({"mode": "forge"}),
            ModeNotFound,
        ),
        (
            "run",
            "bootstrap-start",
            json!({"run": "r", "domains": ["a"]}),
            RunExists,
        ),
        (
            "run",
            "bootstrap-evidence",
            json!({"run": "r"}),
            NotLaunched,
        ),
        ("claimed", "cleanup", json!({}), ShutdownGateBlocked),
        ("failed", "cleanup", json!({}), ShutdownConfirm),
        ("rejected", "cleanup", json!({}), ShutdownRejected),
    ];
    for operation in ["renew-task-claim", "release-task-claim", "cancel-task"] {
        let by_other = json!({"task_id": "1", "worker": "qa", "epoch": 1});
        rows.extend([
            ("completed", operation, one(1), AlreadyTerminal),
            ("claimed anew", operation, one(1), ClaimConflict),
            ("claimed", operation, by_other, NotHolder),
            ("expired", operation, one(1), LeaseExpired),
            ("claimed", operation, versioned(1), VersionConflict),
        ]);
    }
    rows.extend(ownership::rows());
    for operation in ["mode-update", "mode-complete", "mode-fail", "mode-cancel"] {
        rows.push((
            "nothing",
            operation,
            json!({"mode": "forge"}),
            ModeNotActive,
        ));
    }
    rows
}

/// Runs an operation in the team `demo`.
fn carry_out(world: &World, name: &str, input: &Value) -> Result<Value, api::Fault> {
    if name == "later" {
        world.later(input.as_i64().unwrap() * 1_000);
        return Ok(Value::Null);
    }
    let mut input = input.as_object().unwrap().clone();
    input.insert("team_name".to_owned(), json!("demo"));
    call(world, api::find(name).unwrap(), input)
}

/// Returns the precise code in the details of a fault; if there is none, the outer code.
fn code(fault: &api::Fault) -> &str {
    let precise = fault.details.get("code").and_then(Value::as_str);
    precise.unwrap_or(&fault.code)
}

#[test]
fn every_code_that_an_operation_declares_is_reached() {
    let mut reached: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut faults = Vec::new();
    for (history, operation, input, expected) in rows() {
        let world = World::new();
        world.demo();
        for (name, input) in begun(history) {
            let done = carry_out(&world, name, &input);
            done.unwrap_or_else(|fault| panic!("{history}: {name}: {fault:?}"));
        }
        match carry_out(&world, operation, &input) {
            Err(fault) if code(&fault) == expected.as_str() => {
                reached.insert((operation, expected.as_str()));
            }
            other => faults.push(format!("{history}: {operation} {expected}: {other:?}")),
        }
    }
    for (operation, codes, tests) in ELSEWHERE {
        for declared in api::find(operation).unwrap().refusals {
            let name = format!("{declared:?}");
            if codes.contains(&&*name) && tests.contains(&format!("Code::{name}")) {
                reached.insert((operation, declared.as_str()));
            }
        }
    }
    for operation in OPERATIONS {
        let unreached = operation.refusals.iter().filter(|declared| {
            let absent = ABSENT.iter().any(|(.., absent)| absent == *declared);
            !absent && !reached.contains(&(operation.name, declared.as_str()))
        });
        faults.extend(
            unreached.map(|declared| format!("{} never refuses with {declared}", operation.name)),
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

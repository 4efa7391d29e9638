//! Properties of operations on workers, over random histories up to the end of the team: the live state equals the rebuilt
//! state, and views agree with the state. Every step calls an operation of the table.

use crate::prelude::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Call {
        operation: &'static str,
        input: Value,
        key: Option<u8>,
    },
    Later(i64),
    Rehydrate,
}

const STATES: [&str; 8] = [
    "idle", "working", "blocked", "done", "failed", "draining", "unknown", "asleep",
];

const ACKS: [&str; 2] = ["accept", "reject"];
const REPORTS: [&str; 3] = ["worker_idle", "all_workers_idle", "worker_stopped"];

fn input(operation: &'static str, worker: u8, value: u8) -> Value {
    let worker = ["w1", "w2", "stranger", "leader-fixed"][usize::from(worker)];
    let task = (value % 4).to_string();
    let optional = |value: Value, given: bool| if given { value } else { Value::Null };
    match operation {
        "write-worker-identity" => {
            json!({"worker": worker, "index": value, "role": "executor", "assigned_tasks": [task]})
        }
        "update-worker-heartbeat" => {
            json!({"worker": worker, "pid": 1, "turn_count": value, "alive": !value.is_multiple_of(3)})
        }
        "write-worker-status" => json!({
            "worker": worker,
            "state": STATES[usize::from(value % 8)],
            "current_task_id": optional(task.into(), value > 6),
        }),
        "write-worker-inbox" => json!({"worker": worker, "content": "x".repeat(value.into())}),
        "write-shutdown-request" => json!({"worker": worker, "requested_by": "leader-fixed"}),
        "write-shutdown-ack" => {
            json!({"worker": worker, "status": ACKS[usize::from(value % 2)]})
        }
        "write-task-approval" => json!({
            "task_id": task, "status": "approved", "reviewer": worker, "decision_reason": "ok", "required": value > 3
        }),
        "write-monitor-snapshot" => {
            json!({"snapshot": {"workerStateByName": {worker: STATES[usize::from(value % 7)]}}})
        }
        "create-task" => {
            json!({"subject": "s", "description": "d", "owner": optional(worker.into(), value > 6)})
        }
        "append-event" => json!({
            "type": REPORTS[usize::from(value % 3)], "worker": worker
        }),
        "cleanup" => json!({"force": value == 0, "confirm_issues": value > 4}),
        "read-worker-status" | "read-worker-heartbeat" | "read-shutdown-ack" => {
            json!({"worker": worker})
        }
        "read-task-approval" => json!({"task_id": task}),
        _ => json!({}),
    }
}

/// Operations to choose from. The operations at the beginning of the list record events.
const OPERATIONS: [&str; 20] = [
    "write-worker-identity",
    "update-worker-heartbeat",
    "write-worker-status",
    "write-worker-inbox",
    "write-shutdown-request",
    "write-shutdown-ack",
    "write-task-approval",
    "write-monitor-snapshot",
    "create-task",
    "append-event",
    "get-summary",
    "cleanup",
    "read-idle-state",
    "read-stall-state",
    "read-config",
    "read-manifest",
    "read-worker-status",
    "read-task-approval",
    "read-monitor-snapshot",
    "read-shutdown-ack",
];

fn step() -> impl Strategy<Value = Step> {
    let operations = (0..OPERATIONS.len(), 0u8..4, 0u8..9, 0u8..8);
    prop_oneof![
        20 => operations.prop_map(|(at, worker, value, key)| Step::Call {
            operation: OPERATIONS[at],
            input: input(OPERATIONS[at], worker, value),
            key: (key < 3).then_some(key),
        }),
        3 => (0i64..90_000_000).prop_map(Step::Later),
        1 => Just(Step::Rehydrate),
    ]
}

fn run(world: &World, step: Step) {
    match step {
        Step::Later(micros) => world.later(micros),
        Step::Rehydrate => drop(settled_digest(&mut world.root.team("demo").unwrap())),
        Step::Call {
            operation,
            mut input,
            key,
        } => {
            input["team_name"] = "demo".into();
            let operation = api::find(operation).unwrap();
            if let Some(key) = key.filter(|_| operation.mutates()) {
                input["key"] = format!("k{key}").into();
            }
            let Value::Object(input) = input else {
                return;
            };
            let answered = api::call(&world.root, operation, input, Control::default());
            if let Ok(Some(mut team)) = answered.map(|answered| answered.team) {
                team.finish().unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn live_equals_rebuilt(
        steps in proptest::collection::vec(step(), 1..60),
        binary in any::<bool>(),
        closed in any::<bool>(),
    ) {
        let world = World::new();
        let format = if binary { Format::Binary } else { Format::Jsonl };
        let members: Option<&[&str]> = closed.then_some(&["w1", "w2"]);
        world.team(members, format);
        for step in steps {
            run(&world, step);
        }
        let report = doctor(&world.root, "demo");
        let unwell: Vec<_> = report.checks.iter().filter(|check| check.status != Health::Healthy).collect();
        prop_assert!(unwell.is_empty(), "{:?}", unwell);
        let mut team = world.root.team("demo").unwrap();
        settled_digest(&mut team);
        prop_assert!(team.verify(None).unwrap().ok);
    }
}

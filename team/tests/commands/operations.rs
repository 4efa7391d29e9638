//! Every operation of the contract in random order: live equals rebuilt, refusals record nothing but their facts, and
//! a key answers again what it answered first.

use crate::prelude::*;
use proptest::prelude::*;
use teamlog_team::api::{self, Fault, OPERATIONS, Operation};

/// What a fault may leave behind.
const FACTS: [&str; 2] = ["task_lease_expired", "task_blocked"];

/// What a report on a bootstrap run may leave behind that is not accepted; under a key also its answer.
const BREACHES: [&str; 4] = [
    "bootstrap_breached",
    "bootstrap_blocked",
    "bootstrap_handshake_timed_out",
    "response_stored",
];

#[derive(Debug, Clone)]
enum Step {
    /// An operation, and what its input is drawn with.
    Call {
        operation: usize,
        draw: u64,
    },
    Assign {
        task: u8,
        to: u8,
    },
    Update {
        task: u8,
        done: bool,
    },
    Tick,
    Later {
        micros: i64,
    },
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // One in a long while closes the team.
    let closing = |operation: &Operation| operation.name.ends_with("cleanup");
    let open: Vec<usize> = (0..OPERATIONS.len())
        .filter(|at| !closing(&OPERATIONS[*at]))
        .collect();
    let step = prop_oneof![
        40 => (proptest::sample::select(open), any::<u64>())
            .prop_map(|(operation, draw)| Step::Call { operation, draw }),
        1 => (0..OPERATIONS.len(), any::<u64>())
            .prop_map(|(operation, draw)| Step::Call { operation, draw }),
        4 => (1..6_u8, 0..4_u8).prop_map(|(task, to)| Step::Assign { task, to }),
        4 => (1..6_u8, any::<bool>()).prop_map(|(task, done)| Step::Update { task, done }),
        2 => Just(Step::Tick),
        6 => prop_oneof![0..2_000_000_i64, Just(2_000_000_000)]
            .prop_map(|micros| Step::Later { micros }),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..80)
}

/// A small source of choices.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }
    fn of(&mut self, values: &[Value]) -> Value {
        values[self.next(values.len())].clone()
    }
}

/// What earlier answers gave, to be used again.
#[derive(Default)]
struct Known {
    tokens: Vec<Value>,
    messages: Vec<Value>,
    events: Vec<Value>,
}

impl Known {
    fn learn(&mut self, data: &Value) {
        let found = |field: &str| {
            data.pointer(field)
                .filter(|value| value.is_string())
                .cloned()
        };
        self.tokens.extend(found("/claimToken"));
        self.messages.extend(found("/message/message_id"));
        self.events.extend(found("/event/event_id"));
    }

    /// A value for a field, mostly one that can be taken.
    fn value(&self, draw: &mut Draw, field: &str, schema: &Value) -> Value {
        if draw.next(40) == 0 && field != "timeout_ms" {
            return draw.of(&[
                json!(null),
                json!(-1),
                json!(""),
                json!([]),
                json!({"a": 1}),
                json!("\u{0}"),
            ]);
        }
        let last = |values: &[Value]| values.last().cloned().unwrap_or(json!("none"));
        match field {
            "worker" | "agent" | "from_worker" | "to_worker" | "owner" | "reviewer"
            | "requested_by" => {
                let name = ["lead", "dev", "qa", "leader-fixed"][draw.next(4)];
                json!(name)
            }
            "task_id" => json!(format!("{}", 1 + draw.next(6))),
            "blocked_by" | "assigned_tasks" => {
                json!(
                    (0..draw.next(3))
                        .map(|_| format!("{}", 1 + draw.next(6)))
                        .collect::<Vec<_>>()
                )
            }
            "resources" => draw.of(&[json!(["src"]), json!(["src/io", "docs"]), json!(["."])]),
            "path" => draw.of(&[json!("src/io/a"), json!("../a"), json!("docs")]),
            "claim_token" => match draw.next(4) {
                0 if !self.tokens.is_empty() => draw.of(&self.tokens),
                _ => last(&self.tokens),
            },
            "message_id" => match draw.next(3) {
                0 if !self.messages.is_empty() => draw.of(&self.messages),
                _ => last(&self.messages),
            },
            "after_event_id" | "cursor" => last(&self.events),
            "from" => json!("in_progress"),
            "to" => draw.of(&[json!("completed"), json!("failed")]),
            "lease_ms" => draw.of(&[json!(1_000), json!(900_000)]),
            "expected_version" | "epoch" => json!(1 + draw.next(4)),
            "timeout_ms" | "poll_ms" => json!(0),
            "min_updated_at" => json!(NOON),
            "type" => draw.of(&[
                json!("worker_idle"),
                json!("worker_state_changed"),
                json!("worker_diff_report"),
            ]),
            "event" => json!(EVENTS[draw.next(EVENTS.len())].name),
            "thread_id" => json!(format!("thread-{:04}", 1 + draw.next(3))),
            "participants" => json!(["dev", "qa"]),
            "since" => json!(draw.next(30)),
            "max_tokens" | "per_agent_tokens" => json!(60 + draw.next(60)),
            "hard_limit" => json!(draw.next(6) == 0),
            "name" => json!(["a.patch", "b"][draw.next(2)]),
            "run" => json!(["1", "2"][draw.next(2)]),
            "data" => draw.of(&[
                json!({}),
                json!({"outcome": "ok", "name": "alpha"}),
                json!({"member": "a"}),
                json!({"method": "team_api", "members": ["a", "obstruction", "synthesizer"]}),
                json!({"from": "obstruction"}),
                json!({"d": "a"}),
            ]),
            "snapshot" | "metadata" => json!({"taskStatusById": {"1": "pending"}}),
            _ => of_schema(draw, schema),
        }
    }
}

fn of_schema(draw: &mut Draw, schema: &Value) -> Value {
    if let Some(Value::Array(names)) = schema.get("enum") {
        return draw.of(names);
    }
    for nested in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(of)) = schema.get(nested) {
            let of = draw.of(of);
            return of_schema(draw, &of);
        }
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds[0].as_str().unwrap_or_default().to_owned(),
        Some(kind) => kind.as_str().unwrap_or_default().to_owned(),
        None => String::new(),
    };
    match &*kind {
        "boolean" => json!(draw.next(2) == 0),
        "integer" | "number" => json!(draw.next(5)),
        "array" => json!([]),
        "object" => json!({}),
        _ => draw.of(&[json!("one"), json!("two")]),
    }
}

fn input(operation: &Operation, draw: &mut Draw, known: &Known) -> Map<String, Value> {
    let schema = operation.input_schema().to_value();
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut input = Map::new();
    for (field, about) in schema["properties"].as_object().into_iter().flatten() {
        if ["key", "actor", "trace_id", "workingDirectory"].contains(&&**field) {
            continue;
        }
        // Nobody else is there to wake it up.
        let waits = field == "timeout_ms";
        if required.contains(&&**field) || waits || draw.next(2) == 0 {
            input.insert(field.clone(), known.value(draw, field, about));
        }
    }
    input.insert("team_name".into(), json!("demo"));
    input
}

fn call(world: &World, operation: &Operation, input: Map<String, Value>) -> Result<Value, Fault> {
    let answered = api::call(&world.root, operation, input, Control::default())?;
    if let Some(mut team) = answered.team {
        team.finish().unwrap();
    }
    Ok(serde_json::from_str(answered.data.get()).unwrap())
}

fn take(world: &World, step: Step, known: &mut Known) {
    let mut team = world.root.team("demo").unwrap();
    match step {
        Step::Call { operation, draw } => {
            let operation = &OPERATIONS[operation];
            let mut draw = Draw(draw);
            let mut input = input(operation, &mut draw, known);
            let before = events(&mut team).len();
            let keyed = draw.next(3) == 0;
            if keyed {
                input.insert("key".into(), json!(format!("k-{}", draw.next(1_000_000))));
            }
            let outcome = call(world, operation, input.clone());
            let new: Vec<Value> = events(&mut team).split_off(before);
            match &outcome {
                Ok(data) => known.learn(data),
                Err(fault) => {
                    assert!(!fault.message.is_empty() && !fault.code.is_empty());
                    for event in &new {
                        let kind = event["kind"].as_str().unwrap();
                        assert!(
                            FACTS.contains(&kind)
                                || operation.name == "bootstrap-record" && BREACHES.contains(&kind),
                            "{}: {fault:?} left {event}",
                            operation.name
                        );
                    }
                }
            }
            if !operation.mutates() {
                assert!(new.is_empty(), "{} only reads: {new:?}", operation.name);
            }
            if let (true, true, Ok(first)) = (keyed, operation.mutates(), &outcome) {
                let again = call(world, operation, input).unwrap();
                assert_eq!(&again, first, "{}", operation.name);
                assert_eq!(
                    events(&mut team).len(),
                    before + new.len(),
                    "{}",
                    operation.name
                );
            }
        }
        Step::Assign { task, to } => {
            let to = ["lead", "dev", "qa", "leader-fixed"][usize::from(to)];
            let _ = team.task_assign(assign(&task.to_string(), to));
        }
        Step::Update { task, done } => {
            let status = if done { "completed" } else { "in_progress" };
            let _ = team.task_update(update(&task.to_string(), status));
        }
        Step::Tick => {
            let _ = team.tick(Tick::default());
        }
        Step::Later { micros } => world.later(micros),
        Step::Reopen => {
            settled_digest(&mut team);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn live_equals_rebuilt_after_any_operations(steps in steps(), binary in any::<bool>()) {
        let world = World::new();
        let format = if binary { Format::Binary } else { Format::Jsonl };
        world.team(Some(&["lead", "dev", "qa"]), format);
        let mut known = Known::default();
        for step in steps {
            take(&world, step, &mut known);
        }
        settled_digest(&mut world.root.team("demo").unwrap());
    }
}

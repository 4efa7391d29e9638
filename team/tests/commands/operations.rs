//! Properties of all operations in random order: the live state equals the rebuilt state, a refusal records nothing but due
//! events, and a repeated key gets the first answer.

use crate::drawing::{Draw, Known};
use crate::prelude::*;
use proptest::prelude::*;
use teamlog_team::api::{self, Fault, OPERATIONS, Operation};

/// Kinds of events that a refused call may record.
const FACTS: [&str; 2] = ["task_lease_expired", "task_blocked"];

/// Kinds of events that a refused report on a bootstrap run may record.
const BREACHES: [&str; 4] = [
    "bootstrap_breached",
    "bootstrap_blocked",
    "bootstrap_handshake_timed_out",
    "response_stored",
];

#[derive(Debug, Clone)]
enum Step {
    /// An operation, and the seed for its input.
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
    // Operations that close the team are drawn rarely.
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
            let mut input = known.input(operation, &mut draw).input;
            input.insert("team_name".into(), json!("demo"));
            let before = events(&mut team).len();
            let keyed = draw.one_in(3);
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

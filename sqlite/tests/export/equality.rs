//! The tables equal the answers of the team, after the scenario and after random histories.

use crate::comparison::{dump, equals, rows};
use crate::scenario::{Given, scenario};
use crate::world::World;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn the_tables_equal_the_answers_after_every_operation() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    let (mut given, mut done) = (Given::default(), 0);
    for (at, (name, input)) in scenario().into_iter().enumerate() {
        // Operations on mail that only a longer story has are refused.
        if let Ok(data) = world.call_with(name, given.fill(input)) {
            given.learn(&data);
            done += 1;
        }
        world.export(&file).unwrap();
        if at % 8 == 0 {
            equals(&mut world.team(), &file);
        }
    }
    assert!(done > 120, "{done}");
    equals(&mut world.team(), &file);
    let whole = dir.path().join("b.db");
    world.export(&whole).unwrap();
    assert_eq!(dump(&file), dump(&whole));
}

#[test]
fn no_claim_token_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    world
        .call("create-task", json!({"subject": "a", "description": "b"}))
        .unwrap();
    let claim = json!({"task_id": "1", "worker": "dev", "key": "k1"});
    let answer = world.call("claim-task", claim).unwrap();
    let token = answer["claimToken"].as_str().unwrap().to_owned();
    world.export(&file).unwrap();
    equals(&mut world.team(), &file);
    assert!(!dump(&file).contains(&token));
    assert!(dump(&file).contains("task_claimed"));
}

#[test]
fn a_claim_tells_how_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    for subject in [
        "done", "failed", "released", "expired", "canceled", "taken", "open",
    ] {
        let input = json!({"subject": subject, "description": "d"});
        world.call("create-task", input).unwrap();
    }
    let mut tokens = Vec::new();
    for task in 1..=7 {
        let claim = json!({"task_id": task.to_string(), "worker": "dev", "lease_ms": 60_000});
        let answer = world.call("claim-task", claim).unwrap();
        tokens.push(answer["claimToken"].clone());
    }
    let finish = |task: usize, to: &str| {
        let input = json!({"task_id": task.to_string(), "from": "in_progress", "to": to,
            "claim_token": tokens[task - 1]});
        world.call("transition-task-status", input).unwrap();
    };
    finish(1, "completed");
    finish(2, "failed");
    let held = |task: usize| json!({"task_id": task.to_string(), "worker": "dev", "claim_token": tokens[task - 1]});
    world.call("release-task-claim", held(3)).unwrap();
    world
        .call(
            "cancel-task",
            json!({"task_id": "5", "actor": "lead", "force": true}),
        )
        .unwrap();
    world
        .call(
            "assign-task",
            json!({"task_id": "6", "owner": "qa", "worker": "lead", "force": true}),
        )
        .unwrap();
    let mut renew = held(7);
    renew["lease_ms"] = json!(600_000);
    world.call("renew-task-claim", renew).unwrap();
    world.later(120);
    world.call("tick", json!({})).unwrap();
    world.export(&file).unwrap();
    equals(&mut world.team(), &file);
    let database = Connection::open(&file).unwrap();
    let found = rows(
        &database,
        "SELECT task_id, ended_by, renewals FROM claims ORDER BY task_id",
    );
    let expected = [
        json!(["1", "completed", 0]),
        json!(["2", "failed", 0]),
        json!(["3", "released", 0]),
        json!(["4", "expired", 0]),
        json!(["5", "canceled", 0]),
        json!(["6", "reassigned", 0]),
        json!(["7", null, 1]),
    ];
    assert_eq!(found, expected);
}

/// A step of a random history: an operation with its input, or a pause in seconds.
#[derive(Debug, Clone)]
enum Step {
    Call(&'static str, Value),
    /// An act of the holder of a task, with the last known token.
    Hold(&'static str, String, Value),
    Later(i64),
    Export,
}

const AGENTS: [&str; 3] = ["dev", "qa", "lead"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let agent = || (0..AGENTS.len()).prop_map(|at| AGENTS[at]);
    let task = || (1..6_u8).prop_map(|task| task.to_string());
    let tasks = || proptest::collection::vec(task(), 0..3);
    let step = prop_oneof![
        4 => (tasks(), proptest::option::of(agent()), any::<bool>()).prop_map(|(deps, owner, labelled)| {
            let mut input = json!({"subject": "s", "description": "d", "blocked_by": deps});
            if let Some(owner) = owner { input["owner"] = owner.into(); }
            if labelled { input["labels"] = json!(["ui", "api"]); }
            Step::Call("create-task", input)
        }),
        4 => (task(), task()).prop_map(|(task, parent)| {
            Step::Call("edit-task", json!({"task_id": task, "worker": "lead", "parent": parent, "force": true}))
        }),
        2 => (task(), any::<bool>()).prop_map(|(task, high)| {
            let priority = if high { "high" } else { "low" };
            Step::Call("edit-task", json!({"task_id": task, "worker": "lead", "priority": priority,
                "labels": ["+x"], "due_at": "friday", "force": true}))
        }),
        6 => (task(), agent(), 1..90_u64).prop_map(|(task, worker, seconds)| {
            Step::Call("claim-task", json!({"task_id": task, "worker": worker, "lease_ms": seconds * 1_000}))
        }),
        2 => agent().prop_map(|worker| Step::Call("claim-next-task", json!({"worker": worker}))),
        3 => (task(), 1..90_u64).prop_map(|(task, seconds)| {
            Step::Hold("renew-task-claim", task, json!({"lease_ms": seconds * 1_000}))
        }),
        2 => task().prop_map(|task| Step::Hold("release-task-claim", task, json!({"worker": "dev"}))),
        4 => (task(), any::<bool>()).prop_map(|(task, good)| {
            let to = if good { "completed" } else { "failed" };
            Step::Hold("transition-task-status", task, json!({"from": "in_progress", "to": to}))
        }),
        2 => (task(), any::<bool>()).prop_map(|(task, force)| {
            Step::Call("cancel-task", json!({"task_id": task, "actor": "lead", "force": force}))
        }),
        2 => task().prop_map(|task| Step::Call("reopen-task", json!({"task_id": task}))),
        3 => (task(), agent(), any::<bool>()).prop_map(|(task, owner, force)| {
            Step::Call("assign-task", json!({"task_id": task, "owner": owner, "worker": "lead", "force": force}))
        }),
        4 => (agent(), agent(), task(), 0..9_u8).prop_map(|(from, to, task, id)| {
            Step::Call("send", json!({"message_id": format!("m{id}"), "from": from, "to": to, "type": "task_update",
                "task_id": task, "payload": {"status": "blocked", "note": "n"}}))
        }),
        2 => (task(), agent()).prop_map(|(task, to)| {
            Step::Call("send", json!({"from": "lead", "to": to, "type": "task_assign", "task_id": task,
                "payload": {"subject": "s"}}))
        }),
        4 => (agent(), 0..9_u8).prop_map(|(agent, id)| {
            Step::Call("ack", json!({"agent": agent, "message_id": format!("m{id}")}))
        }),
        1 => agent().prop_map(|from| Step::Call("broadcast", json!({"from_worker": from, "body": "b"}))),
        2 => (agent(), task(), 0..100_u64).prop_map(|(worker, task, tokens)| {
            Step::Call("report-usage", json!({"worker": worker, "task_id": task, "input_tokens": tokens,
                "output_tokens": 1}))
        }),
        2 => (0..3_u8).prop_map(|tag| {
            Step::Call("append", json!({"kind": "build_finished", "actor": "dev", "payload": {"n": tag},
                "tags": [format!("build={tag}")]}))
        }),
        1 => Just(Step::Call("tick", json!({}))),
        1 => Just(Step::Call("undo", json!({"worker": "lead"}))),
        2 => (1..120_i64).prop_map(Step::Later),
        2 => Just(Step::Export),
    ];
    proptest::collection::vec(step, 1..60)
}

/// Claims of all histories.
static CLAIMS: AtomicUsize = AtomicUsize::new(0);

#[test]
fn the_tables_equal_the_answers_over_random_histories() {
    histories();
    let claims = CLAIMS.load(Ordering::Relaxed);
    assert!(claims > 50, "{claims} claims in all histories");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    fn histories(steps in steps()) {
        let dir = tempfile::tempdir().unwrap();
        let (world, file) = (World::new(), dir.path().join("a.db"));
        for _ in 0..3 {
            world.call("create-task", json!({"subject": "s", "description": "d"})).unwrap();
        }
        let mut tokens: BTreeMap<String, Value> = BTreeMap::new();
        for step in steps {
            let answer = match step {
                Step::Call(name, input) => world.call(name, input),
                Step::Hold(name, task, mut input) => {
                    input["claim_token"] = tokens.get(&task).cloned().unwrap_or(json!("none"));
                    input["task_id"] = task.into();
                    world.call(name, input)
                }
                Step::Later(seconds) => {
                    world.later(seconds);
                    continue;
                }
                Step::Export => {
                    world.export(&file).unwrap();
                    equals(&mut world.team(), &file);
                    continue;
                }
            };
            if let Ok(answer) = answer
                && let (Some(task), token) = (answer["task"]["id"].as_str(), &answer["claimToken"])
                && token.is_string()
            {
                CLAIMS.fetch_add(1, Ordering::Relaxed);
                tokens.insert(task.to_owned(), token.clone());
            }
        }
        world.export(&file).unwrap();
        equals(&mut world.team(), &file);
        let whole = dir.path().join("b.db");
        world.export(&whole).unwrap();
        prop_assert_eq!(dump(&file), dump(&whole));
    }
}

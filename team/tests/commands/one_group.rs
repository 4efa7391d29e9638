//! Tests that a command under a key and its stored answer are in one group, for any clock and any size.

use crate::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering};
use teamlog_engine::{Clock, SeededIds};
use teamlog_team::handle::batch::Batch;

/// A clock that advances by a fixed step at each reading.
#[derive(Debug)]
struct Moving {
    micros: AtomicI64,
    step: i64,
}

impl Clock for Moving {
    fn now(&self) -> Timestamp {
        let micros = self.micros.fetch_add(self.step, Ordering::Relaxed);
        Timestamp::from_micros(micros).unwrap()
    }
}

/// The way in which a test's commands reach the log.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    OneShot,
    Resident,
    Batch,
}

const WAYS: [Way; 3] = [Way::OneShot, Way::Resident, Way::Batch];

/// Returns a root with the team `demo`, and the batch of its commands.
fn opened(format: Format, way: Way, from: Timestamp, step: i64) -> (Root, Option<Batch>) {
    let options = RootOptions {
        clock: Arc::new(Moving {
            micros: from.micros().into(),
            step,
        }),
        ids: Arc::new(SeededIds(7.into())),
        ..RootOptions::default()
    };
    let root = Root::on(Arc::new(Memory::new()), options);
    let root = match way {
        Way::OneShot => root,
        Way::Resident | Way::Batch => root.resident(),
    };
    root.init(given!(Init, format: format, ..Init::for_team("demo")))
        .unwrap();
    root.team("demo").unwrap().writable().unwrap();
    let batch = match way {
        Way::Batch => root.batch("demo"),
        Way::OneShot | Way::Resident => None,
    };
    (root.clone().in_batch(batch.clone()), batch)
}

fn call(root: &Root, operation: &str, input: Value) -> Value {
    let operation = api::find(operation).unwrap();
    let Value::Object(input) = input else {
        unreachable!()
    };
    let answered = api::call(root, operation, input, Control::default()).unwrap();
    serde_json::from_str(answered.data.get()).unwrap()
}

fn create(key: &str, description: &str) -> Value {
    json!({"team_name": "demo", "subject": "one", "description": description, "key": key})
}

/// Returns the groups of the log as lists of kinds.
fn groups(root: &Root) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    let team = root.team("demo").unwrap();
    let reader = team.log().reader().unwrap();
    let read = reader.each(None, |located| {
        let kind = located.frame.event.kind.to_string();
        match (located.frame.group.index, groups.last_mut()) {
            (1.., Some(group)) => group.push(kind),
            _ => groups.push(vec![kind]),
        }
        Ok::<_, teamlog_engine::Error>(ControlFlow::<()>::Continue(()))
    });
    assert_eq!(read.unwrap(), None);
    groups
}

/// Checks that every stored answer is in the same group as its command's events, and follows these events.
fn assert_together(root: &Root, answers: usize) {
    let (groups, mut found) = (groups(root), 0);
    for group in &groups {
        for (at, _) in group
            .iter()
            .enumerate()
            .filter(|(_, kind)| *kind == "response_stored")
        {
            found += 1;
            assert!(at > 0 && group[at - 1] != "response_stored", "{groups:?}");
        }
    }
    assert_eq!(found, answers, "{groups:?}");
}

#[test]
fn a_command_under_a_key_is_carried_out_once_at_any_midnight() {
    let hour = 60 * MINUTE;
    let midnight = time("2026-11-22T00:00:00Z");
    let cases: Vec<(Timestamp, i64)> = [(time(NOON), 5 * hour), (time(NOON), 13 * hour)]
        .into_iter()
        .chain((0..12).map(|n| (midnight.plus_micros(-n * hour), hour)))
        .collect();
    for format in [Format::Jsonl, Format::Binary] {
        for way in WAYS {
            for &(from, step) in &cases {
                let (root, batch) = opened(format, way, from, step);
                let keys = ["a", "b", "c", "d"];
                let all = || keys.map(|key| call(&root, "create-task", create(key, "all of it")));
                let first = all();
                assert_eq!(all(), first, "{way:?}");
                assert!(batch.is_none_or(|batch| batch.settle()));
                assert_eq!(all(), first, "{way:?}");
                assert_together(&root, 4);
                root.close().unwrap();
            }
        }
    }
}

#[test]
fn a_completion_with_many_dependents_keeps_its_answer_behind_large_commands() {
    for format in [Format::Jsonl, Format::Binary] {
        for way in WAYS {
            let (root, batch) = opened(format, way, time(NOON), 1);
            let mut team = root.team("demo").unwrap();
            drop(
                team.task_create(given!(TaskCreate, subject: "1", description: "d"))
                    .unwrap(),
            );
            for n in 0..2_000 {
                let waits = given!(TaskCreate, subject: format!("waits {n}"), description: "d",
                    blocked_by: ["1"]);
                drop(team.task_create(waits).unwrap());
            }
            let claim = given!(TaskClaim, task_id: "1", worker: "dev");
            let claimed = team.task_claim(claim).unwrap();
            if let Some(batch) = &batch {
                assert!(batch.settle());
            }
            let description = "x".repeat(490_000);
            for key in ["a", "b", "c", "d"] {
                call(&root, "create-task", create(key, &description));
            }
            let complete = json!({"team_name": "demo", "task_id": "1", "from": "in_progress",
                "to": "completed", "claim_token": claimed.claim_token, "key": "done"});
            let first = call(&root, "transition-task-status", complete.clone());
            assert_eq!(call(&root, "transition-task-status", complete), first);
            assert!(batch.is_none_or(|batch| batch.settle()));
            assert_together(&root, 5);
            root.close().unwrap();
        }
    }
}

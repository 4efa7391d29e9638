//! A row that answers what its operation answers, does: now, and as of any point.

use super::same::{Step, step};
use super::world::World;
use proptest::prelude::*;
use serde_json::{Value, json};
use teamlog_team::api;
use teamlog_team::engine::reader::Point;

/// The rows: what is asked over HTTP, the operation that is the same, its input, and whether it can be asked of the past.
const ROWS: &[(&str, &str, &str, bool)] = &[
    ("/v1/who", "who", "{}", true),
    (
        "/v1/status?digest=true",
        "read-team-status",
        r#"{"digest": true}"#,
        true,
    ),
    ("/v1/threads", "list-threads", "{}", true),
    ("/v1/deliveries", "list-deliveries", "{}", true),
    ("/v1/dead-letters", "list-dead-letters", "{}", true),
    ("/v1/head", "read-head", "{}", true),
    ("/v1/verify", "verify-last", "{}", false),
    ("/v1/doctor", "doctor-last", "{}", false),
    ("/v1/ready", "list-ready-tasks", "{}", true),
    ("/v1/attention", "list-attention", "{}", true),
    ("/v1/traces", "list-traces", "{}", true),
    (
        "/v1/tasks/1/history",
        "read-task-history",
        r#"{"task_id": "1"}"#,
        true,
    ),
    ("/v1/diff?from=1", "diff", r#"{"from": "1"}"#, true),
    (
        "/v1/mailbox?agentId=ada",
        "read-inbox",
        r#"{"agent": "ada"}"#,
        true,
    ),
    ("/v1/machines", "list-machines", "{}", true),
    ("/v1/bootstrap", "bootstrap-list", "{}", true),
    (
        "/v1/bootstrap/r-1",
        "bootstrap-show",
        r#"{"run": "r-1"}"#,
        true,
    ),
    (
        "/v1/modes/explain?mode=blueprint&sessionId=s-1",
        "mode-explain",
        r#"{"mode": "blueprint", "session_id": "s-1"}"#,
        true,
    ),
    (
        "/v1/usage/series?buckets=4",
        "read-usage-series",
        r#"{"buckets": 4}"#,
        true,
    ),
    ("/v1/storage", "read-storage", "{}", false),
];

/// What the operation answers: its data, or the code with which it refuses.
fn straight(world: &World, operation: &str, input: &str, at: Option<u64>) -> Value {
    let mut team = world.served.team("demo").unwrap();
    if let Some(seq) = at {
        team = team.at(Point::Seq(seq)).unwrap();
    }
    let operation = api::find(operation).unwrap();
    match operation.execute(&mut team, input) {
        Ok(data) => serde_json::from_str(data.get()).unwrap(),
        Err(failure) => json!({"code": failure.refusal().unwrap().code.as_str()}),
    }
}

fn over_http(world: &World, target: &str, at: Option<u64>) -> Value {
    let joint = if target.contains('?') { '&' } else { '?' };
    let said = match at {
        Some(seq) => world.get(&format!("{target}{joint}at={seq}")),
        None => world.get(target),
    };
    match said.status {
        200 => said.json,
        _ => json!({"code": said.code()}),
    }
}

/// What the steps do not do: a run, a mode, a report of tokens.
const BESIDE: &[(&str, &str)] = &[
    ("bootstrap-start", r#"{"run": "r-1"}"#),
    ("mode-start", r#"{"mode": "forge", "session_id": "s-1"}"#),
    ("report-usage", r#"{"worker": "ada", "tokens": 7}"#),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_row_answers_what_its_operation_answers(
        steps in prop::collection::vec(step(), 1..40),
        back in 0_u64..12,
    ) {
        let world = World::new();
        for step in &steps {
            Step::over_http(step, &world);
        }
        for (operation, input) in BESIDE {
            let done = straight(&world, operation, input, None);
            prop_assert_eq!(done.get("code"), None, "{}", operation);
        }
        let team = world.served.team("demo").unwrap();
        team.verify_noting(&mut |_, _| {}).unwrap();
        let last = straight(&world, "read-team-status", "{}", None)["last_seq"].as_u64().unwrap();
        let then = last.saturating_sub(back).max(1);
        for (target, operation, input, of_any_time) in ROWS {
            for at in [None, Some(then).filter(|_| *of_any_time)] {
                let http = over_http(&world, target, at);
                prop_assert_eq!(http, straight(&world, operation, input, at), "{} {:?}", target, at);
            }
        }
    }
}

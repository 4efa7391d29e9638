//! Routes that give the answer of an operation. The answers of route and operation are equal, for the present and for
//! past points.

use super::same::{Step, step};
use super::world::{World, without_sentences};
use proptest::prelude::*;
use serde_json::{Value, json};
use teamlog_team::api;
use teamlog_team::engine::Point;

/// Each row has: `past` if the route can answer about the past, the request, the operation with an equal answer, and the
/// operation's input.
const ROWS: &str = r#"
past /v1/who who {}
past /v1/status?digest=true read-team-status {"digest": true}
past /v1/threads list-threads {}
past /v1/search?q=by:ada search {"query":"by:ada"}
past /v1/deliveries list-deliveries {}
past /v1/dead-letters list-dead-letters {}
past /v1/head read-head {}
now /v1/verify verify-last {}
now /v1/doctor doctor-last {}
past /v1/ready list-ready-tasks {}
past /v1/attention list-attention {}
past /v1/traces list-traces {}
past /v1/tasks/1/history read-task-history {"task_id": "1"}
past /v1/diff?from=1 diff {"from": "1"}
past /v1/mailbox?agentId=ada read-inbox {"agent": "ada"}
past /v1/machines list-machines {}
past /v1/bootstrap bootstrap-list {}
past /v1/bootstrap/r-1 bootstrap-show {"run": "r-1"}
past /v1/modes/explain?mode=blueprint&sessionId=s-1 mode-explain {"mode": "blueprint", "session_id": "s-1"}
past /v1/usage/series?buckets=4 read-usage-series {"buckets": 4}
now /v1/storage read-storage {}
"#;

/// Runs an operation without HTTP. Returns its data, or the code of the refusal.
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
        200 => without_sentences(said.json),
        _ => json!({"code": said.code()}),
    }
}

/// Calls that the random steps do not contain: a bootstrap run, a mode, and a report about used tokens.
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
        for row in ROWS.lines().skip(1) {
            let words: Vec<&str> = row.splitn(4, ' ').collect();
            let [asked, target, operation, input] = words[..] else {
                panic!("{row}");
            };
            for at in [None, Some(then).filter(|_| asked == "past")] {
                let http = over_http(&world, target, at);
                prop_assert_eq!(http, straight(&world, operation, input, at), "{} {:?}", target, at);
            }
        }
    }
}

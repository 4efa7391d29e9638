//! Tests of refusals that every recording operation has: a closed team, and a key of another request.

use super::*;

#[test]
fn a_closed_team_refuses_whatever_records_and_answers_what_reads() {
    let mut faults = Vec::new();
    let (world, mut given) = (World::new(), Given::default());
    with_dead_letter(&world);
    let mut inputs = Vec::new();
    for (name, input) in scenario() {
        let operation = api::find(name).unwrap();
        let input = given.fill(input);
        given.learn(&call(&world, operation, input.clone()).unwrap());
        inputs.push((operation, input));
    }
    for (operation, input) in inputs {
        let answered = call(&world, operation, input);
        let refused = matches!(&answered, Err(fault) if code(fault) == "team_closed");
        // A closed team also answers a summary, but does not record its baselines. Revoking a token still works.
        let answers = [
            "get-summary",
            "cleanup",
            "orphan-cleanup",
            "token-revoke",
            // In a closed team no deadline is due, and no worker is idle.
            "tick",
            "nudge",
        ];
        let answers = answers.contains(&operation.name);
        if refused != (operation.mutates() && !answers) {
            faults.push(format!("{}: {answered:?}", operation.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_key_of_another_request_is_refused_by_whatever_records() {
    let mut faults = Vec::new();
    let (world, mut given) = (World::new(), Given::default());
    with_dead_letter(&world);
    carry_out(
        &world,
        "set-budget",
        &json!({"max_tokens": 9_000_000, "key": "taken"}),
    )
    .unwrap();
    for (name, input) in scenario() {
        let operation = api::find(name).unwrap();
        let input = given.fill(input);
        if operation.mutates() {
            let mut keyed = input.clone();
            keyed.insert("key".to_owned(), json!("taken"));
            match call(&world, operation, keyed) {
                Err(fault) if code(&fault) == "idempotency_key_reused" => {}
                other => faults.push(format!("{name}: {other:?}")),
            }
        }
        given.learn(&call(&world, operation, input).unwrap());
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

//! Routes whose answers people read.

use super::world::{SECOND, World, without_sentences};
use serde_json::json;

#[test]
fn what_needs_attention_is_answered_as_the_operation_has_it() {
    let world = World::new();
    world.story(
        r#"
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks {"title": "two", "deps": ["1"]} -> 201
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 1000} -> 200
        "#,
    );
    assert_eq!(world.get("/v1/attention").done(200)["items"], json!([]));
    world.later(2 * SECOND);
    let answer = world.get("/v1/attention?limit=5").done(200);
    assert_eq!(answer["team"], "demo");
    assert_eq!((&answer["count"], &answer["total"]), (&json!(1), &json!(1)));
    assert_eq!(answer["by_kind"], json!({"lease_expired": 1}));
    assert_eq!(
        answer["items"],
        json!([{"kind": "lease_expired", "severity": "warning", "text": "lease expired: 1, last claimed by ada",
            "command": "teamlog task show demo 1 --history", "task_id": "1", "title": "one",
            "agent": "ada", "seq": answer["items"][0]["seq"], "since": "2026-11-21T12:00:01.000000Z"}])
    );
    let envelope = world.story("POST /v1/api/list-attention {} -> 200");
    assert_eq!(envelope["data"]["items"], answer["items"]);
    world.story("GET /v1/attention?limit=0 -> 400 invalid_input limit");
}

/// Runs an operation. Returns its data.
fn data(world: &World, operation: &str, input: &str) -> serde_json::Value {
    world.story(&format!("POST /v1/api/{operation} {input} -> 200"))["data"].clone()
}

#[test]
fn rows_answer_what_their_operations_do() {
    let world = World::new();
    world.story(
        r#"
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks {"title": "two"} -> 201
        POST /v1/tasks/2/claim {"agentId": "ada"} -> 200
        POST /v1/usage {"agentId": "ada", "taskId": "2", "tokens": 7} -> 200
        "#,
    );
    world.later(SECOND);
    for row in r#"
        /v1/ready?agentId=ada&limit=1 list-ready-tasks {"agent": "ada", "limit": 1}
        /v1/tasks/2/history?limit=1 read-task-history {"task_id": "2", "limit": 1}
        /v1/traces?limit=3 list-traces {"limit": 3}
        /v1/usage/series?by=task&buckets=3 read-usage-series {"by": "task", "buckets": 3}
        /v1/diff?from=1&to=3 diff {"from": "1", "to": "3"}
        /v1/attention?staleMinutes=0 list-attention {"stale_minutes": 0}
        "#
    .lines()
    .filter(|row| !row.trim().is_empty())
    {
        let words: Vec<&str> = row.trim().splitn(3, ' ').collect();
        let [target, operation, input] = words[..] else {
            panic!("{row}");
        };
        let data = data(&world, operation, input);
        let answer = without_sentences(world.get(target).done(200));
        assert_eq!(answer, data, "{target}");
    }
    assert_eq!(world.get("/v1/ready").done(200)["tasks"][0]["task_id"], "1");
    let history = world.get("/v1/tasks/2/history").done(200);
    assert_eq!(history["events"][0]["kind"], "task_created");
    assert!(history["events"][0]["sentence"].is_string(), "{history}");
    let usage = world.get("/v1/usage/series?by=task&buckets=1").done(200);
    assert_eq!(usage["series"], json!([{"name": "2", "tokens": [7]}]));
    world.story(
        r#"
        GET /v1/tasks/9/history -> 404 task_not_found
        GET /v1/tasks/2/history?cursor=x -> 400 cursor_unknown
        GET /v1/traces?limit=999 -> 400 invalid_input limit
        GET /v1/diff -> 400 invalid_input from
        GET /v1/diff?from=soon -> 400 invalid_input from
        GET /v1/diff?from=99 -> 400 point_unknown from
        GET /v1/usage/series?by=team -> 400 invalid_input
        GET /v1/tasks?sort=size -> 400 invalid_input
        "#,
    );
}

#[test]
fn tasks_are_sorted_and_say_when_they_changed() {
    let world = World::new();
    world.story(
        r#"
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks {"title": "two", "priority": "high"} -> 201
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 1000} -> 200
        "#,
    );
    let first = world.get("/v1/tasks?sort=updated&limit=1").done(200);
    assert_eq!(first["tasks"][0]["id"], "1");
    assert_eq!(first["tasks"][0]["updatedAt"], "2026-11-21T12:00:00.000Z");
    assert_eq!(first["tasks"][0]["leaseExpired"], false);
    let seq = first["tasks"][0]["updatedSeq"].as_u64().unwrap();
    let cursor = first["nextCursor"].as_str().unwrap();
    let next = world
        .get(&format!("/v1/tasks?sort=updated&limit=1&cursor={cursor}"))
        .done(200);
    assert_eq!(next["tasks"][0]["id"], "2");
    assert_eq!(next["nextCursor"], json!(null));
    assert_eq!(next["tasks"][0]["priority"], "high");
    let since = world.get(&format!("/v1/tasks?since={}", seq - 1)).done(200);
    assert_eq!(since["tasks"].as_array().unwrap().len(), 1);

    // An expired lease is shown as expired until the task is claimed again, even after an event has recorded the
    // expiry.
    world.later(2 * SECOND);
    assert_eq!(
        world.get("/v1/tasks/1").done(200)["task"]["leaseExpired"],
        true
    );
    let mut team = world.served.team("demo").unwrap();
    team.tick(teamlog_team::lifecycle::tick::Tick::default())
        .unwrap();
    let task = world.get("/v1/tasks/1").done(200)["task"].clone();
    assert_eq!(task["status"], "pending");
    assert_eq!(task["leaseExpired"], true);
    let claimed = world.story(r#"POST /v1/tasks/1/claim {"agentId": "dan"} -> 200"#);
    assert_eq!(claimed["task"]["leaseExpired"], false);
    assert_eq!(claimed["task"]["epoch"], 2);
}

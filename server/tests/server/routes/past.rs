//! Tests of every route that can answer for a past point.

use super::world::{SECOND, World, call};
use serde_json::{Value, json};
use std::sync::Arc;
use teamlog_server::Method;
use teamlog_server::route::ROUTES;
use teamlog_server::stream::Hub;
use teamlog_team::engine::Clock;
use teamlog_team::handle::pasts::PASTS_MAX;

/// A target for each route that accepts `at`.
const TARGETS: [&str; 34] = [
    "/v1/teams",
    "/v1/teams/demo",
    "/v1/status?digest=true",
    "/v1/who",
    "/v1/tasks",
    "/v1/tasks/1",
    "/v1/tasks/1/comments",
    "/v1/threads/search?q=said",
    "/v1/search?q=said",
    "/v1/threads/thread-0001/messages",
    "/v1/threads/thread-0001/tail",
    "/v1/inbox?agentId=ada",
    "/v1/usage",
    "/v1/events",
    "/v1/events?after=1&limit=2",
    "/v1/trace/tr",
    "/v1/modes",
    "/v1/head",
    "/v1/attention",
    "/v1/tasks/1/history",
    "/v1/ready",
    "/v1/threads",
    "/v1/mailbox?agentId=ada",
    "/v1/deliveries",
    "/v1/dead-letters",
    "/v1/usage/series",
    "/v1/traces",
    "/v1/diff?from=1",
    "/v1/machines",
    "/v1/modes/explain?mode=forge",
    "/v1/bootstrap",
    "/v1/bootstrap/none",
    "/v1/projections",
    "/v1/projections/none",
];

fn target(question: &str, at: impl std::fmt::Display) -> String {
    let joint = if question.contains('?') { '&' } else { '?' };
    format!("{question}{joint}at={at}")
}

fn head(world: &World) -> u64 {
    let status = world.get("/v1/status").done(200);
    status["last_seq"].as_u64().unwrap()
}

/// Returns status and body of the present answers of all targets.
fn answers(world: &World) -> Vec<(u16, Value)> {
    let asked = TARGETS.iter().map(|target| world.get(target));
    asked.map(|said| (said.status, said.json)).collect()
}

/// A past point: its seq, its time, and the answers of all targets at this point.
type Then = (u64, String, Vec<(u16, Value)>);

fn history(world: &World) -> Vec<Then> {
    let mut then = Vec::new();
    let steps = [
        ("/v1/tasks", json!({"title": "one"})),
        (
            "/v1/threads",
            json!({"title": "t", "participants": ["ada", "bob"]}),
        ),
        (
            "/v1/tasks/1/claim",
            json!({"agentId": "ada", "ttlMs": 60_000}),
        ),
        (
            "/v1/threads/thread-0001/messages",
            json!({"agentId": "bob", "body": "said"}),
        ),
        ("/v1/usage", json!({"agentId": "ada", "tokens": 7})),
        (
            "/v1/tasks/1/complete",
            json!({"agentId": "ada", "epoch": 1}),
        ),
        ("/v1/teams", json!({"agents": [{"id": "eve"}]})),
    ];
    for (path, body) in steps {
        world.later(SECOND);
        let mut asked = call(Method::Post, path, &body.to_string());
        asked.trace_id = Some("tr".to_owned());
        assert!(world.ask(asked).status < 300, "{path}");
        // Move the clock beyond the event, whose time may be slightly later than the clock.
        world.later(1_000);
        then.push((head(world), world.clock.now().to_string(), answers(world)));
    }
    then
}

#[test]
fn every_row_answers_as_it_did_then() {
    let world = World::new();
    let then = history(&world);
    world.later(3600 * SECOND);
    for (seq, time, wanted) in &then {
        for (question, (status, json)) in TARGETS.iter().zip(wanted) {
            let said = world.get(&target(question, time));
            assert_eq!(
                (said.status, &said.json),
                (*status, json),
                "{question} at {time}"
            );
            let by_seq = world.get(&target(question, seq));
            assert_eq!(by_seq.status, *status, "{question} at {seq}");
            if said.status == 200 {
                for said in [&said, &by_seq] {
                    assert_eq!(
                        said.header("X-Teamlog-At"),
                        Some(&*seq.to_string()),
                        "{question}"
                    );
                }
            }
        }
    }
    // An answer about the present has no header for the point.
    assert_eq!(world.get("/v1/tasks").header("X-Teamlog-At"), None);
    assert_eq!(world.get("/v1/tasks?at=").header("X-Teamlog-At"), None);
}

#[test]
fn every_row_that_takes_a_point_is_asked_here() {
    for route in ROUTES.iter().filter(|route| route.of_any_time) {
        let own: Vec<&str> = route.pattern.split('/').collect();
        let asked = TARGETS.iter().any(|target| {
            let path = target.split('?').next().unwrap();
            let parts: Vec<&str> = path.split('/').collect();
            let same = |(own, part): (&&str, &&str)| own == part || own.starts_with('{');
            own.len() == parts.len() && own.iter().zip(&parts).all(same)
        });
        assert!(asked, "{}", route.pattern);
    }
}

#[test]
fn a_time_counts_with_all_events_up_to_it() {
    let world = World::new();
    world.post("/v1/tasks", json!({"title": "one"})).done(201);
    let first = head(&world);
    world.later(60 * SECOND);
    world.post("/v1/tasks", json!({"title": "two"})).done(201);
    let said = world.get("/v1/tasks?at=2026-11-21T12:00:30.000000Z");
    assert_eq!(said.header("X-Teamlog-At"), Some(&*first.to_string()));
    assert_eq!(said.json["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_no_point_is_said() {
    let world = World::new();
    world.post("/v1/tasks", json!({"title": "one"})).done(201);
    let head = head(&world);
    world.story(&format!(
        "
        GET /v1/tasks?at={} -> 400 point_unknown at
        GET /v1/tasks?at=0 -> 400 point_unknown at
        GET /v1/tasks?at=2020-01-01T00:00:00Z -> 400 point_unknown at
        GET /v1/tasks?at=2030-01-01T00:00:00Z -> 400 point_unknown at
        GET /v1/tasks?at=yesterday -> 400 invalid_input at
        GET /v1/tasks?at=18446744073709551616 -> 400 invalid_input at
        GET /v1/tasks?at=-1 -> 400 invalid_input at
        GET /v1/tasks/9?at=1 -> 404 task_not_found taskId
        GET /v1/can-write?agentId=ada&path=src&at=1 -> 400 invalid_input at
        GET /v1/openapi.json?at=1 -> 400 invalid_input at
        POST /v1/tasks {{\"title\":\"x\",\"at\":\"1\"}} -> 400 invalid_input at
        ",
        head + 1
    ));
    let twice = world.get("/v1/tasks?at=1&at=2");
    twice.refused(400, "invalid_input");
}

#[test]
fn a_stream_has_no_past() {
    let world = World::new();
    let mut asked = call(Method::Get, "/v1/events?at=1", "");
    asked.wants_stream = true;
    match Hub::default().answer(&world.served, &asked) {
        teamlog_server::Answer::Streamed(_) => panic!("it streams"),
        teamlog_server::Answer::Whole(reply) => assert_eq!(reply.status, 400),
    }
}

#[test]
fn few_pasts_are_kept_and_a_kept_one_reads_the_log_no_more() {
    let world = World::new();
    for number in 0..12 {
        let title = json!({"title": format!("task {number}")});
        world.post("/v1/tasks", title).done(201);
    }
    let head = head(&world);
    let ask = |seq: u64| {
        let count = || world.memory.calls().values().sum::<u64>();
        let before = count();
        let page = world.get(&target("/v1/tasks", seq)).done(200);
        (page, count() - before)
    };
    let (first, folding) = ask(head - 1);
    // The counted calls also include writes of view files after the answers, so take the minimum of several reads.
    let repeated: Vec<(Value, u64)> = (0..5).map(|_| ask(head - 1)).collect();
    assert!(repeated.iter().all(|(again, _)| *again == first));
    let kept = repeated.iter().map(|(_, calls)| *calls).min().unwrap();
    assert!(kept < folding, "{kept} calls after {folding}");
    for seq in 2..=head {
        ask(seq);
    }
    assert_eq!(world.served.pasts().len(), PASTS_MAX);
    // Another history with equal seqs has another past.
    let served = Arc::clone(&world.served);
    served.pasts().forget_idle();
    assert_eq!(served.pasts().len(), PASTS_MAX, "none of them is idle yet");
}

#[test]
fn a_question_that_finds_no_fold_free_is_told_to_come_again() {
    let world = World::new();
    let folds = world.served.root().options().past_folds.clone().unwrap();
    let taken = [folds.take().unwrap(), folds.take().unwrap()];
    for target in ["/v1/status?at=1", "/v1/diff?from=1"] {
        let said = world.get(target);
        said.refused(503, "past_busy");
        assert_eq!(said.header("Retry-After"), Some("1"));
    }
    // A read of the present does not compute a past state.
    world.get("/v1/status").done(200);
    drop(taken);
    world.get("/v1/status?at=1").done(200);
}

//! Authorization: calls that an agent's token must not make, and claims of other agents that the token must not see.

use super::world::{TestReply, World, call};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use teamlog_server::route::ROUTES;
use teamlog_server::{Agent, Call, Caller, Method};
use teamlog_team::api::{Effect, OPERATIONS};
use teamlog_team::projections::agent_token::event::AgentScope;

/// Returns the call with the token of an agent.
fn as_agent(agent: &str, call: Call) -> Call {
    let agent = Agent {
        name: agent.to_owned(),
        scope: AgentScope::Operate,
    };
    let caller = Caller::with_agent_token("demo", agent);
    Call { caller, ..call }
}

fn post(world: &World, agent: &str, target: &str, body: &Value) -> TestReply {
    world.ask(as_agent(
        agent,
        call(Method::Post, target, &body.to_string()),
    ))
}

/// Returns a team in which ada holds task 1, and the token of the claim.
fn held() -> (World, String) {
    let world = World::new();
    world.story(
        r#"
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/api/claim-task {"task_id": "1", "worker": "ada", "key": "k"} -> 200
        POST /v1/threads {"title": "t", "agentId": "ada"} -> 201
        "#,
    );
    let token = token_of(&world);
    (world, token)
}

fn token_of(world: &World) -> String {
    let task = world
        .post("/v1/api/read-task", json!({"task_id": "1"}))
        .done(200);
    task["data"]["task"]["claim"]["token"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn recorded(world: &World) -> usize {
    let mut count = 0;
    let mut team = world.served.root().team("demo").unwrap();
    team.export(&mut |_| {
        count += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    count
}

/// The expected outcome of a call by another agent.
enum Expected {
    /// The call is refused with this code, and nothing is recorded.
    Refused(&'static str),
    /// The call is allowed. The text is the reason.
    Allowed(&'static str),
}

use Expected::{Allowed, Refused};

/// Returns every recording route: its id, calls that name ada or present ada's claim, and the expected outcome for bob.
fn table() -> Vec<(&'static str, &'static str, Vec<Value>, Expected)> {
    let claims = || {
        vec![
            json!({"epoch": 1}),
            json!({"epoch": 1, "agentId": "bob"}),
            json!({"epoch": 1, "force": true}),
        ]
    };
    vec![
        (
            "setUpTeam",
            "/v1/teams",
            vec![json!({"agents": []})],
            Allowed("needs the scope operate"),
        ),
        (
            "createTask",
            "/v1/tasks",
            vec![json!({"title": "two"})],
            Allowed("any agent makes tasks"),
        ),
        (
            "claimTask",
            "/v1/tasks/1/claim",
            vec![json!({"agentId": "ada"})],
            Refused("actor_mismatch"),
        ),
        (
            "renewTask",
            "/v1/tasks/1/renew",
            claims(),
            Refused("not_holder"),
        ),
        (
            "completeTask",
            "/v1/tasks/1/complete",
            claims(),
            Refused("not_holder"),
        ),
        (
            "failTask",
            "/v1/tasks/1/fail",
            claims(),
            Refused("not_holder"),
        ),
        (
            "startThread",
            "/v1/threads",
            vec![json!({"agentId": "ada"})],
            Refused("actor_mismatch"),
        ),
        (
            "postMessage",
            "/v1/threads/thread-0001/messages",
            vec![json!({"body": "b", "agentId": "ada"})],
            Refused("actor_mismatch"),
        ),
        (
            "linkThread",
            "/v1/threads/thread-0001/link",
            vec![json!({"taskId": "1", "agentId": "ada"})],
            Refused("actor_mismatch"),
        ),
        (
            "commentTask",
            "/v1/tasks/1/comments",
            vec![json!({"body": "b", "agentId": "ada"})],
            Refused("actor_mismatch"),
        ),
        (
            "requeueDeadLetter",
            "/v1/dead-letters/m-1/requeue",
            vec![json!({"agentId": "ada"})],
            Refused("actor_mismatch"),
        ),
        (
            "reportUsage",
            "/v1/usage",
            vec![json!({"agentId": "ada", "inputTokens": 1})],
            Refused("actor_mismatch"),
        ),
        (
            "appendEvents",
            "/v1/events",
            vec![
                json!({"kind": "k_1", "actor": "ada"}),
                json!({"events": [{"kind": "k_1", "actor": "ada"}]}),
                json!({"events": [{"kind": "k_1"}], "actor": "ada"}),
            ],
            Refused("actor_mismatch"),
        ),
        (
            "callOperation",
            "/v1/api/transition-task-status",
            vec![json!({"task_id": "1", "from": "in_progress", "to": "completed", "epoch": 1})],
            Refused("not_holder"),
        ),
    ]
}

#[test]
fn every_route_that_records_refuses_another_agent_or_allows_it_for_a_stated_reason() {
    let listed: BTreeSet<&str> = table().iter().map(|(id, ..)| *id).collect();
    let records = ROUTES
        .iter()
        .filter(|route| route.effect == Effect::Records);
    assert_eq!(
        records.map(|route| route.id).collect::<BTreeSet<_>>(),
        listed
    );
    let mut wrong = Vec::new();
    for (id, target, bodies, expected) in table() {
        for body in bodies {
            let (world, token) = held();
            let before = recorded(&world);
            let said = post(&world, "bob", target, &body);
            assert!(!said.json.to_string().contains(&token), "{id}");
            let right = match expected {
                Allowed(reason) => said.status < 300 && !reason.is_empty(),
                Refused(code) => said.code() == code && recorded(&world) == before,
            };
            if !right {
                wrong.push(format!("{id} {body}: {} {}", said.status, said.json));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_holder_ends_its_claim_by_its_epoch_over_its_own_token() {
    for way in ["renew", "complete", "fail"] {
        let (world, _) = held();
        post(
            &world,
            "ada",
            &format!("/v1/tasks/1/{way}"),
            &json!({"epoch": 1}),
        )
        .done(200);
    }
}

#[test]
fn a_token_of_one_agent_with_the_name_of_another_is_a_mismatch() {
    for way in ["renew", "complete", "fail"] {
        let (world, _) = held();
        let target = format!("/v1/tasks/1/{way}");
        // Ada holds the task. The calls use bob's token, and then ada's token with another agent's name.
        for (agent, body, code) in [
            (
                "bob",
                json!({"epoch": 1, "agentId": "ada"}),
                "actor_mismatch",
            ),
            (
                "ada",
                json!({"epoch": 1, "agentId": "bob"}),
                "actor_mismatch",
            ),
            ("bob", json!({"epoch": 1}), "not_holder"),
            ("bob", json!({"epoch": 1, "force": true}), "not_holder"),
        ] {
            let said = post(&world, agent, &target, &body);
            assert_eq!(
                (said.status, said.code()),
                (403, code),
                "{way} {body}: {}",
                said.json
            );
            // Force is only for the leader, so only the leader gets a hint about it.
            let text = said.json.to_string();
            assert!(!text.contains("override the claim with force"), "{text}");
        }
        let leader = json!({"epoch": 1, "agentId": "leader-fixed"});
        let said = world.post(&target, leader);
        assert!(
            said.json
                .to_string()
                .contains("override the claim with force"),
            "{}",
            said.json
        );
    }
}

#[test]
fn nothing_tells_another_agent_the_token_of_a_claim() {
    let (world, token) = held();
    let gets = [
        "/v1/tasks",
        "/v1/tasks/1",
        "/v1/tasks/1/history",
        "/v1/ready",
        "/v1/events",
        "/v1/events?order=newest",
        "/v1/diff?from=1",
        "/v1/who",
        "/v1/status",
        "/v1/attention",
        "/v1/traces",
    ];
    for target in gets {
        let said = world.ask(as_agent("bob", call(Method::Get, target, "")));
        assert_eq!(said.status, 200, "{target}: {}", said.json);
        assert!(
            !said.json.to_string().contains(&token),
            "{target}: {}",
            said.json
        );
    }
    let reads = OPERATIONS
        .iter()
        .filter(|known| known.effect == Effect::Reads);
    let mut told = 0;
    for operation in reads {
        let mut input = json!({});
        for (name, value) in [
            ("task_id", "1"),
            ("worker", "ada"),
            ("agent", "ada"),
            ("from", "1"),
        ] {
            if operation.shape().field(name).is_some() {
                input[name] = value.into();
            }
        }
        let target = format!("/v1/api/{}", operation.name);
        let whole = world.post(&target, input.clone()).json.to_string();
        told += usize::from(whole.contains(&token));
        let masked = post(&world, "bob", &target, &input).json.to_string();
        assert!(!masked.contains(&token), "{target}: {masked}");
    }
    assert!(
        told >= 4,
        "only {told} operations show the token to the local caller"
    );
    // The answer to bob's own update of the task must not contain the token.
    let update = json!({"task_id": "1", "subject": "renamed"});
    let said = post(&world, "bob", "/v1/api/update-task", &update).done(200);
    assert_eq!(said["data"]["task"]["claim"]["owner"], "ada");
    assert!(!said.to_string().contains(&token), "{said}");
}

#[test]
fn the_holder_and_the_local_caller_see_the_token_and_a_masked_event_says_so() {
    let (world, token) = held();
    let events = |said: TestReply| said.json["events"].as_array().unwrap().clone();
    let get = || call(Method::Get, "/v1/events", "");
    let whole = events(world.ask(get()));
    assert_eq!(whole, events(world.ask(as_agent("ada", get()))));
    assert!(Value::from(whole.clone()).to_string().contains(&token));
    let masked = events(world.ask(as_agent("bob", get())));
    for (whole, masked) in whole.iter().zip(&masked) {
        let kind = whole["kind"].as_str().unwrap();
        let hides = whole.to_string().contains(&token);
        assert_eq!(masked["redacted"] == true, hides, "{kind}");
        assert_eq!(
            (&whole["seq"], &whole["id"]),
            (&masked["seq"], &masked["id"])
        );
        assert_eq!(whole == masked, !hides, "{kind}");
    }
    let kinds = masked.iter().filter(|event| event["redacted"] == true);
    let kinds: Vec<&Value> = kinds.map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["task_claimed", "response_stored"]);
}

#[test]
fn a_post_without_an_agent_is_that_of_the_token_and_a_key_is_its_own() {
    let (world, _) = held();
    let target = "/v1/threads/thread-0001/messages";
    let keyed = |agent: &str| {
        let asked = as_agent(agent, call(Method::Post, target, r#"{"body": "b"}"#));
        let key = Some("same".to_owned());
        world.ask(Call { key, ..asked })
    };
    for agent in ["ada", "bob"] {
        let first = keyed(agent);
        assert_eq!(first.header("Idempotent-Replayed"), None, "{agent}");
        assert_eq!(first.json["message"]["from"], agent);
        let again = keyed(agent);
        assert_eq!(again.header("Idempotent-Replayed"), Some("true"), "{agent}");
        assert_eq!(again.json, first.json);
    }
}

//! Setup of a team.

use super::world::World;
use serde_json::json;

#[test]
fn agents_join_get_roles_and_a_budget_at_once() {
    let world = World::with(&["ada"]);
    let body = json!({"teamId": "demo", "agents": [{"id": "ada", "role": "parser", "model": "anthropic/m-1"},
        {"id": "bob", "model": null}, {"id": "bob"}],
        "budget": {"maxTokens": 1000, "softLimitTokens": 500, "hardLimit": true}});
    let made = world.keyed("k", "/v1/teams", body.clone());
    let again = world.keyed("k", "/v1/teams", body.clone());
    assert_eq!(made.reply.body, again.reply.body);
    let made = made.done(201);
    assert_eq!(made["team"]["teamId"], "demo");
    assert_eq!(
        made["team"]["agents"],
        json!([{"id": "ada", "role": "parser", "model": "anthropic/m-1"}, {"id": "bob", "role": "worker"}])
    );
    assert_eq!(
        made["team"]["budget"],
        json!({"maxTokens": 1000, "hardLimit": true, "softLimitTokens": 500, "softLimitReached": false})
    );
    assert_eq!(world.get("/v1/teams/demo").done(200), made);
    // Repeating the setup changes nothing.
    let events = |world: &World| world.get("/v1/status").done(200)["events"].clone();
    let before = events(&world);
    assert_eq!(world.post("/v1/teams", body).done(201), made);
    assert_eq!(events(&world), before);
    let other =
        world.story(r#"POST /v1/teams {"agents": [{"id": "ada", "role": "lexer"}]} -> 201"#);
    assert_eq!(
        other["team"]["agents"][0],
        json!({"id": "ada", "role": "lexer", "model": "anthropic/m-1"})
    );
    assert_eq!(other["team"]["budget"], made["team"]["budget"]);
}

#[test]
fn a_setup_that_breaks_a_rule_changes_nothing() {
    let world = World::with(&["ada"]);
    world.story(
        r#"
        POST /v1/teams {"agents": [{"id": "bob"}, {"id": "a/b"}]} -> 400 invalid_input
        POST /v1/teams {"agents": [{"id": "bob", "model": 7}]} -> 400 invalid_input
        POST /v1/teams {"agents": [{"id": "leader-fixed", "role": "lead"}]} -> 400 invalid_input
        POST /v1/teams {"agents": [{"role": "x"}]} -> 400 invalid_input
        POST /v1/teams {"agents": ["bob"]} -> 400 invalid_input
        POST /v1/teams {"agents": [{"id": "bob", "more": 1}]} -> 400 invalid_input
        POST /v1/teams {"agents": [{"id": "bob"}], "budget": {"hardLimit": true}} -> 400 invalid_input
        POST /v1/teams {"budget": {"maxTokens": -1}} -> 400 invalid_input
        POST /v1/teams {"budget": {"max": 1}} -> 400 invalid_input
        POST /v1/teams {"teamId": "other"} -> 404 team_not_found
        "#,
    );
    let team = world.get("/v1/teams/demo").done(200);
    assert_eq!(
        team["team"]["agents"],
        json!([{"id": "ada", "role": "worker"}])
    );
}

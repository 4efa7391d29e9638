//! The overview of all teams: their condition, their tasks, and the number of attention items.

use super::stand::Stand;
use crate::client::until;
use crate::segment::{self, flip};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn all_teams_are_told_the_damaged_ones_first() {
    // Run only one round of maintenance, because a second round would record the end of the lease.
    let stand = Stand::timed(&["alpha", "beta", "gamma"], |limits| {
        limits.tick_time = Duration::from_secs(3600);
    });
    let token = stand.token(None);
    for team in ["alpha", "beta", "beta", "gamma"] {
        let line = format!("POST /v1/tasks?teamId={team}");
        stand.call(&token, &line, r#"{"title":"one"}"#).is(201);
    }
    let told = || stand.call(&token, "GET /v1/root/teams", "").is(200).json();
    let names = |told: &Value| -> Vec<String> {
        let teams = told["teams"].as_array().unwrap().iter();
        teams
            .map(|team| team["team"].as_str().unwrap().to_owned())
            .collect()
    };
    until("all are sound", || {
        told()["teams"]
            .as_array()
            .unwrap()
            .iter()
            .all(|team| team["condition"] == "sound")
    });
    let claim = r#"{"agentId":"ada","ttlMs":1000}"#;
    stand
        .call(&token, "POST /v1/tasks/1/claim?teamId=beta", claim)
        .is(200);
    stand.clock.advance(2_000_000);
    let sound = told();
    assert_eq!(names(&sound), ["alpha", "beta", "gamma"]);
    assert_eq!(sound["count"], 3);
    let beta = &sound["teams"][1];
    // No event records the end of the lease yet.
    assert_eq!(beta["tasks_by_status"]["pending"], 1);
    assert_eq!(beta["tasks_by_status"]["in_progress"], 1);
    assert_eq!(beta["tasks_by_status"]["completed"], 0);
    assert_eq!(beta["members"], 1);
    assert_eq!(beta["attention"], 1);
    assert_eq!(sound["teams"][0]["attention"], 0);
    let status = stand.call(&token, "GET /v1/status?teamId=beta", "").json();
    for count in ["events", "last_seq", "tasks_by_status"] {
        assert_eq!(beta[count], status[count], "{count}");
    }
    assert_eq!(beta["last_event_at"], "2026-11-25T12:00:00.000Z");
    flip(&segment::of(stand.dir.path(), "gamma"));
    let met = stand.call(&token, "GET /v1/events?teamId=gamma&after=0&limit=1000", "");
    met.refused(503, "damaged");
    until("the damage is told", || {
        told()["teams"][0]["code"] == "damaged"
    });
    let damaged = told();
    assert_eq!(names(&damaged), ["gamma", "alpha", "beta"]);
    assert_eq!(damaged["teams"][0]["condition"], "unready");
    assert!(!damaged["teams"][0]["why"].as_str().unwrap().is_empty());
    // In the team's list of attention items, the damage is the first item and names a command. The other items
    // follow.
    let attention = |query: &str| {
        stand
            .call(&token, &format!("GET /v1/attention?{query}"), "")
            .is(200)
            .json()
    };
    let items = attention("teamId=gamma")["items"].clone();
    let damage = &items[0];
    assert_eq!(damage["kind"], "damaged");
    assert_eq!(damage["severity"], "error");
    assert_eq!(damage["command"], "teamlog doctor check gamma");
    assert_eq!(damage["text"], damaged["teams"][0]["why"]);
    let beta = attention("teamId=beta");
    assert_eq!(beta["items"][0]["kind"], "lease_expired");
    // The metrics show the same number of attention items.
    let numbers = stand.call(&token, "GET /metrics", "").is(200).body.clone();
    let number = "teamlog_attention{team=\"beta\",kind=\"lease_expired\"} 1";
    assert!(numbers.contains(number), "{numbers}");
    let listed = damaged["teams"][2]["attention"].clone();
    assert_eq!((&beta["total"], &listed), (&json!(1), &json!(1)));
    assert_eq!(attention("teamId=alpha")["items"], json!([]));
}

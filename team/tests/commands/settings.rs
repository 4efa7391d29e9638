//! Tests of settings: the effective value, the agent that set it, and invalid values.

use crate::prelude::*;
use teamlog_team::lifecycle::config::{ConfigChangeAnswer, ConfigList, ConfigStatus};

fn change(team: &mut Team, key: &str, value: Option<&str>) -> Result<ConfigChangeAnswer, Failure> {
    team.config_change(given!(ConfigChange, key, value))
}

#[test]
fn a_setting_is_changed_by_an_event_and_given_back_by_another() {
    let (world, mut team) = demo();
    let key = "delivery.handoff.ack_timeout_seconds";
    let before = json(&team.config_get(key).unwrap());
    has!(before, {"value": 60, "default": 60, "set": false});
    let answer = change(&mut team, key, Some("5")).unwrap();
    assert_eq!(answer.status, ConfigStatus::Changed);
    assert_eq!((answer.value.number(), answer.previous.number()), (5, 60));
    let event = json(&answer.event.unwrap());
    has!(event, {"kind": "config_changed", "payload": {"changes": {key: 5}}});
    assert_eq!(json(&team.config_get(key).unwrap())["set"], true);
    let team_json = |world: &World| -> Value {
        use teamlog_engine::storage::Storage;
        let text = world
            .memory
            .read("teams/demo/team.json".as_ref(), 1 << 20)
            .unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    assert_eq!(team_json(&world)["settings"], json!({key: 5}));

    let same = change(&mut team, key, Some("5")).unwrap();
    assert_eq!((same.status, same.event), (ConfigStatus::Unchanged, None));
    let unset = change(&mut team, key, None).unwrap();
    assert_eq!((unset.value.number(), unset.set), (60, false));
    assert_eq!(
        json(&unset.event.unwrap())["payload"],
        json!({"changes": {key: null}})
    );
    assert_eq!(
        change(&mut team, key, None).unwrap().status,
        ConfigStatus::Unchanged
    );
    assert_eq!(team_json(&world)["settings"], json!({}));
    assert_eq!(kinds(&mut team).len(), 3);
    settled_digest(&mut team);
}

#[test]
fn the_default_of_a_type_follows_the_general_setting_unless_it_has_its_own() {
    let (_, mut team) = demo();
    change(&mut team, "delivery.default.max_retries", Some("9")).unwrap();
    let mut value = |key: &str| json(&team.config_get(key).unwrap())["value"].clone();
    assert_eq!(value("delivery.handoff.max_retries"), 9);
    assert_eq!(value("delivery.decision_required.max_retries"), 3);
    assert_eq!(value("nudge.cooldown_seconds"), 900);
    assert_eq!(value("views"), true);
    assert_eq!(value("members.open"), false);
}

#[test]
fn an_unknown_key_is_told_the_nearest_one_and_a_wrong_value_the_rule() {
    let (_, mut team) = demo();
    let refusal = refused(
        change(&mut team, "nudge.idle_second", Some("5")),
        Code::SettingUnknown,
    );
    assert_eq!(refusal.message, r#"no setting "nudge.idle_second""#);
    assert_eq!(refusal.details["nearest"], "nudge.idle_seconds");
    refused(team.config_get("x"), Code::SettingUnknown);
    let refusal = refused(change(&mut team, "views", Some("yes")), Code::InvalidInput);
    assert_eq!(
        refusal.message,
        r#"views must be true or false, but is "yes""#
    );
    assert_eq!(kinds(&mut team).len(), 1);
}

#[test]
fn a_team_is_opened_closed_and_as_it_was_created() {
    let (world, mut team) = demo();
    refused(team.send(message("new", "dev")), Code::WorkerNotFound);
    change(&mut team, "members.open", Some("true")).unwrap();
    team.send(message("new", "dev")).unwrap();
    change(&mut team, "members.open", None).unwrap();
    refused(team.send(message("newer", "dev")), Code::WorkerNotFound);
    team.send(message("new", "dev")).unwrap();
    let mut open = world
        .root
        .init(teamlog_team::lifecycle::init::Init::for_team("open"))
        .map(|_| world.root.team("open").unwrap())
        .unwrap();
    change(&mut open, "members.open", Some("false")).unwrap();
    refused(open.send(message("a", "b")), Code::WorkerNotFound);
    change(&mut open, "members.open", None).unwrap();
    open.send(message("a", "b")).unwrap();
    settled_digest(&mut team);
}

#[test]
fn the_list_is_paged_in_the_order_of_the_table() {
    let (_, mut team) = team_of(None, Format::Binary);
    let mut keys = Vec::new();
    let mut cursor = None;
    loop {
        let page = team
            .config_list(given!(ConfigList; limit: 7, cursor: cursor.clone()))
            .unwrap();
        assert!(page.count <= 7 && page.count == page.settings.len());
        keys.extend(page.settings.into_iter().map(|setting| setting.key));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    let all = team.config_list(ConfigList::default()).unwrap();
    assert_eq!(
        keys,
        all.settings
            .into_iter()
            .map(|setting| setting.key)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        (keys.len(), &*keys[0]),
        (46, "delivery.default.ack_timeout_seconds")
    );
    let unknown = given!(ConfigList, cursor: "x");
    refused(team.config_list(unknown), Code::CursorUnknown);
}

//! Tests of states in sessions and at the root: reading, listing and clearing them, and the state operations for hooks.

use crate::mode_calls::{
    active, clear, complete, fields, recorded, session, show, start, update, write,
};
use crate::prelude::*;
use teamlog_team::mode::state::{StateGetStatus, StateListActive, StateRead};

fn list(team: &mut Team, list: ModeList) -> (Vec<String>, Option<String>) {
    let answer = team.mode_list(list).unwrap();
    let name = |state: &Value| {
        let at = state["session_id"].as_str().unwrap_or("root");
        format!("{at}/{}", state["mode"].as_str().unwrap())
    };
    let names = answer
        .modes
        .iter()
        .map(|state| name(&json(state)))
        .collect();
    (names, answer.next_cursor)
}

#[test]
fn a_session_sees_its_own_states_and_else_those_of_the_root() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Team, "").unwrap();
    start(&mut team, Mode::Forge, "s1").unwrap();
    let set = json!({"current_phase": "failed"});
    write(&mut team, Mode::Team, "s1", set).unwrap();
    assert_eq!(show(&mut team, Mode::Team, "")["active"], true);
    has!(show(&mut team, Mode::Team, "s1"), {"active": false}, "the session wins");
    has!(show(&mut team, Mode::Team, "s2"), {"active": true}, "that of the root");
    let shown = team
        .mode_show(given!(ModeShow, mode: "team", session_id: session("s1")))
        .unwrap();
    assert_eq!(json(&shown)["hidden"]["scope"], "root");
    let of = |at: &str, active: bool| given!(ModeList, session_id: session(at), active);
    assert_eq!(list(&mut team, of("s1", false)).0, ["s1/team", "s1/forge"]);
    assert_eq!(list(&mut team, of("s1", true)).0, ["s1/forge"]);
    assert_eq!(list(&mut team, of("s2", false)).0, ["root/team"]);
    assert_eq!(active(&mut team, "s1"), [Mode::Forge]);
    assert_eq!(active(&mut team, "s2"), [Mode::Team]);
}

/// Returns all lists of active modes for a session, each in canonical order.
fn views(team: &mut Team, at: &str) -> Vec<Vec<Mode>> {
    let sorted = |mut modes: Vec<Mode>| {
        modes.sort_unstable();
        modes
    };
    let named = |names: Vec<String>| {
        let mode = |name: String| Mode::from_name(name.rsplit('/').next().unwrap()).unwrap();
        sorted(names.into_iter().map(mode).collect())
    };
    let shown = |team: &mut Team| {
        let is_active = |mode: &Mode| {
            let shown =
                team.mode_show(given!(ModeShow, mode: mode.name(), session_id: session(at)));
            shown.is_ok_and(|shown| shown.mode.active)
        };
        Mode::ALL.into_iter().filter(is_active).collect()
    };
    let statuses = team
        .state_get_status(given!(StateGetStatus, session_id: session(at)))
        .unwrap()
        .statuses;
    let on = statuses.into_iter().filter(|(_, status)| status.active);
    let listed = team
        .state_list_active(given!(StateListActive, session_id: session(at)))
        .unwrap()
        .active_modes;
    let rows = given!(ModeList, session_id: session(at), active: true);
    vec![
        sorted(active(team, at)),
        named(list(team, rows).0),
        named(on.map(|(name, _)| name).collect()),
        sorted(listed),
        shown(team),
    ]
}

fn seen(team: &mut Team, at: &str, modes: &[Mode]) {
    for (view, found) in views(team, at).into_iter().enumerate() {
        assert_eq!(found, modes, "view {view} in {at:?}");
    }
}

#[test]
fn a_mode_that_is_active_at_the_root_is_allowed_and_unchanged_from_any_session() {
    for mode in Mode::ALL {
        for cleared in [false, true] {
            let (_, mut team) = demo();
            start(&mut team, mode, "s1").unwrap();
            start(&mut team, mode, "").unwrap();
            match cleared {
                // Clearing the state leaves a tombstone.
                true => drop(clear(&mut team, mode, "s1")),
                false => drop(complete(&mut team, mode, "s1").unwrap()),
            }
            seen(&mut team, "s1", &[]);
            refused(complete(&mut team, mode, "s1"), Code::ModeNotActive);
            let before = events(&mut team).len();
            for session in ["s1", "s2", ""] {
                let answer = json(&start(&mut team, mode, session).unwrap());
                has!(answer, {"kind": "allow", "changed": false, "scope": "root", "active": true});
            }
            // Leaves out `team`, because a prompt starts that mode at the root, and the start replaces the session's ended state.
            if mode != Mode::Team {
                let prompt = given!(ModePrompt, text: format!("${mode} again"),
                    session_id: session("s1"));
                assert_eq!(team.mode_prompt(prompt).unwrap().started, []);
                assert_eq!(events(&mut team).len(), before, "{mode}");
            }
            seen(&mut team, "", &[mode]);
        }
    }
}

#[test]
fn what_ended_in_a_session_gets_a_state_of_its_own_by_a_write() {
    for mode in Mode::ALL {
        let (_, mut team) = demo();
        start(&mut team, mode, "s1").unwrap();
        start(&mut team, mode, "").unwrap();
        complete(&mut team, mode, "s1").unwrap();
        write(&mut team, mode, "s1", json!({"active": true})).unwrap();
        seen(&mut team, "s1", &[mode]);
        seen(&mut team, "", &[mode]);
        assert_eq!(show(&mut team, mode, "s1")["scope"], "session", "{mode}");
        complete(&mut team, mode, "s1").unwrap();
        seen(&mut team, "s1", &[]);
        seen(&mut team, "", &[mode]);
        settled_digest(&mut team);
    }
}

#[test]
fn what_a_session_hides_is_not_in_its_list_of_skills_and_is_in_the_way_all_the_same() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Forge, "").unwrap();
    clear(&mut team, Mode::Forge, "s1");
    start(&mut team, Mode::Ultrawork, "s1").unwrap();
    seen(&mut team, "s1", &[Mode::Ultrawork]);
    let skills = team
        .state_read(given!(StateRead, mode: "skill-active", session_id: session("s1")))
        .unwrap();
    let listed = skills.fields["active_skills"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["skill"], "ultrawork");
    assert_eq!(skills.fields["skill"], "ultrawork");
    // A mode that is active at the root blocks a start in a session, even if the session hides that mode.
    let refusal = refused(start(&mut team, Mode::Blueprint, "s1"), Code::ModeDenied);
    let clears = "`rcs state clear --mode forge --team demo --root`";
    assert!(refusal.message.contains(clears), "{refusal}");
}

#[test]
fn what_a_prompt_starts_for_everybody_counts_where_it_was_typed() {
    let (_, mut team) = demo();
    write(&mut team, Mode::Team, "s1", json!({"active": true})).unwrap();
    complete(&mut team, Mode::Team, "s1").unwrap();
    let prompt = given!(ModePrompt, text: "$team go", session_id: session("s1"));
    let told = team.mode_prompt(prompt).unwrap();
    assert_eq!(told.active_skills, [Mode::Team]);
    seen(&mut team, "s1", &[Mode::Team]);
    assert_eq!(show(&mut team, Mode::Team, "s1")["scope"], "root");
    settled_digest(&mut team);
}

#[test]
fn all_sessions_come_by_pages() {
    let (_, mut team) = demo();
    for at in ["s1", "s2", "s3", "s4", "s5", ""] {
        start(&mut team, Mode::Ultrawork, at).unwrap();
    }
    for at in ["s2", "s4"] {
        complete(&mut team, Mode::Ultrawork, at).unwrap();
    }
    let page = |cursor: Option<&str>, active: bool| {
        given!(ModeList, all_sessions: true,
            active, limit: if active { 2 } else { 1 }, cursor)
    };
    // A session with an active mode is on the first page, regardless of the session's start.
    let (first, next) = list(&mut team, page(None, false));
    let active = "root/ultrawork s1/ultrawork s2/ultrawork s3/ultrawork s5/ultrawork";
    assert_eq!(first.join(" "), active);
    assert_eq!(next.as_deref(), Some("s2"));
    let (second, end) = list(&mut team, page(next.as_deref(), false));
    assert_eq!((second, end), (vec!["s4/ultrawork".to_owned()], None));
    let (live, next) = list(&mut team, page(None, true));
    assert_eq!(live, ["root/ultrawork", "s1/ultrawork", "s3/ultrawork"]);
    assert_eq!(next.as_deref(), Some("s3"));
    assert_eq!(list(&mut team, page(Some("s3"), true)).0, ["s5/ultrawork"]);
}

#[test]
fn clearing_leaves_a_tombstone_only_over_a_state_of_the_root() {
    let (_, mut team) = demo();
    let nothing = recorded(&mut team, |team| {
        let cleared = clear(team, Mode::Forge, "s1");
        has!(cleared, {"cleared": true, "removed": 0});
    });
    assert!(nothing.is_empty());
    start(&mut team, Mode::Forge, "s1").unwrap();
    let cleared = clear(&mut team, Mode::Forge, "s1");
    has!(cleared, {"removed": 1, "tombstone": false,
        "paths": ["teams/demo/modes/sessions/s1/forge-state.json"]});
    refused(
        team.mode_show(given!(ModeShow, mode: "forge", session_id: session("s1"))),
        Code::ModeNotFound,
    );
    start(&mut team, Mode::Forge, "").unwrap();
    // Clearing a mode in a session leaves a tombstone even if the session has no state of the mode.
    assert_eq!(clear(&mut team, Mode::Forge, "s1")["tombstone"], true);
    let tombstone = show(&mut team, Mode::Forge, "s1");
    has!(tombstone, {"current_phase": "cleared", "active": false, "/state/session_id": "s1"});
    has!(show(&mut team, Mode::Forge, ""), {"active": true}, "the root is left alone");
    let again = recorded(&mut team, |team| drop(clear(team, Mode::Forge, "s1")));
    assert!(again.is_empty(), "it was cleared");
    // A write over a tombstone keeps none of its fields.
    let anew = write(&mut team, Mode::Forge, "s1", json!({"note": 1})).unwrap();
    assert_eq!(anew.shown.current_phase.as_deref(), Some("starting"));
}

#[test]
fn clearing_all_sessions_takes_the_root_and_every_session() {
    let (_, mut team) = demo();
    for at in ["s1", "s2", ""] {
        start(&mut team, Mode::Ultrawork, at).unwrap();
    }
    start(&mut team, Mode::Forge, "s2").unwrap();
    let all = given!(ModeClear, mode: "ultrawork", all_sessions: true);
    let cleared = json(&team.mode_clear(all.clone()).unwrap());
    has!(cleared, {"removed": 3, "active_modes": []});
    assert_eq!(
        active(&mut team, "s2"),
        [Mode::Forge],
        "the others of an overlap stay"
    );
    assert_eq!(active(&mut team, "s1"), []);
    refused(
        team.mode_clear(given!(ModeClear, session_id: session("s1"), ..all)),
        Code::InvalidInput,
    );
    settled_digest(&mut team);
}

#[test]
fn clearing_an_interview_releases_its_lock_in_the_story() {
    let (_, mut team) = demo();
    start(&mut team, Mode::DeepInterview, "s1").unwrap();
    clear(&mut team, Mode::DeepInterview, "s1");
    let all = kinds(&mut team);
    names!(all[all.len() - 2..] => mode_input_unlocked mode_cleared);
    let events = events(&mut team);
    let lock = &events[events.len() - 2]["payload"]["input_lock"];
    assert_eq!(lock["exit_reason"], "abort");
}

pub fn read(team: &mut Team, mode: &str, at: &str) -> Value {
    let read = given!(StateRead, mode, session_id: session(at));
    json(&team.state_read(read).unwrap())
}

fn state_write(mode: &str, at: &str, of: Value) -> ModeWrite {
    given!(ModeWrite, mode, session_id: session(at), fields: fields(of))
}

#[test]
fn the_state_operations_answer_what_the_files_hold() {
    let (world, mut team) = demo();
    assert_eq!(
        read(&mut team, "forge", ""),
        json!({"exists": false, "mode": "forge"})
    );
    assert_eq!(
        read(&mut team, "skill-active", ""),
        json!({"exists": false, "mode": "skill-active"})
    );
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    let written = team
        .state_write(state_write("forge", "s1", json!({"note": 1})))
        .unwrap();
    assert_eq!(
        json(&written),
        json!({"success": true, "mode": "forge", "path": "teams/demo/modes/sessions/s1/forge-state.json",
            "transition": "mode transiting: blueprint -> forge"})
    );
    for (mode, file) in [("forge", "forge"), ("skill-active", "skill-active")] {
        let file = world.text(&format!("modes/sessions/s1/{file}-state.json"));
        let file: Value = serde_json::from_str(&file).unwrap();
        assert_eq!(read(&mut team, mode, "s1"), file);
    }
    let active = given!(StateListActive, session_id: session("s1"));
    let active = json(&team.state_list_active(active).unwrap());
    assert_eq!(active, json!({"active_modes": ["forge"]}));
    let get = |mode: Option<&str>| given!(StateGetStatus, mode, session_id: session("s1"));
    let statuses = json(&team.state_get_status(get(None)).unwrap())["statuses"].clone();
    let names: Vec<&String> = statuses.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["blueprint", "forge"],
        "the list only where it is asked for"
    );
    has!(statuses, {"/forge/active": true, "/forge/phase": "starting",
        "/blueprint/phase": "completed"});
    assert_eq!(statuses["forge"]["data"], read(&mut team, "forge", "s1"));
    let list = json(&team.state_get_status(get(Some("skill-active"))).unwrap());
    assert_eq!(list["statuses"]["skill-active"]["phase"], "starting");
    let clear = |mode: &str, all_sessions: bool| {
        given!(ModeClear, mode,
            session_id: (!all_sessions).then_some("s1"), all_sessions)
    };
    assert_eq!(
        json(&team.state_clear(clear("blueprint", false)).unwrap()),
        json!({"cleared": true, "mode": "blueprint", "path": "teams/demo/modes/sessions/s1/blueprint-state.json"})
    );
    assert_eq!(
        json(&team.state_clear(clear("forge", true)).unwrap()),
        json!({"cleared": true, "mode": "forge", "all_sessions": true, "removed": 1,
            "paths": ["teams/demo/modes/sessions/s1/forge-state.json"],
            "warning": "forge was cleared at the root and in every session of the team"})
    );
}

#[test]
fn a_name_that_is_no_mode_is_refused_before_any_path_is_built() {
    let (_, mut team) = demo();
    for (name, code, said) in cases![
        (".." => Code::InvalidInput, "must not contain \"..\""),
        ("a/b" => Code::InvalidInput, "must not contain path separators"),
        (r"a\b" => Code::InvalidInput, "must not contain path separators"),
        ("crew" => Code::UnsupportedMode, "Unsupported workflow mode: crew"),
        ("" => Code::UnsupportedMode, "Unsupported workflow mode: "),
    ] {
        let read = given!(StateRead, mode: name);
        let refusal = refused(team.state_read(read), code);
        assert!(refusal.message.contains(said), "{refusal}");
        refused(team.state_write(state_write(name, "", json!({}))), code);
    }
    assert_eq!(read(&mut team, " forge ", "")["exists"], false);
}

#[test]
fn beside_the_list_of_skills_anything_may_be_said_and_nothing_in_it() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Forge, "s1").unwrap();
    start(&mut team, Mode::Ultrawork, "s1").unwrap();
    let written = team
        .state_write(state_write(
            "skill-active",
            "s1",
            json!({"keyword": "ulw", "skill": "ultrawork", "phase": "nonsense", "active_skills": [
                {"skill": "forge"}, {"skill": "team", "active": false}, {"skill": "my-own"}]}),
        ))
        .unwrap();
    shows!(written.path => is "teams/demo/modes/sessions/s1/skill-active-state.json");
    let list = read(&mut team, "skill-active", "s1");
    has!(list, {"keyword": "ulw", "skill": "ultrawork", "phase": "starting"});
    assert_eq!(
        list["active_skills"].as_array().unwrap().len(),
        2,
        "the list follows from the states"
    );
    complete(&mut team, Mode::Forge, "s1").unwrap();
    let new = recorded(&mut team, |team| {
        for evil in [
            json!({"active_skills": [{"skill": "forge"}]}),
            json!({"active": true, "skill": "forge"}),
            json!({"state": {"active_skills": [{"skill": "team", "active": true}]}}),
        ] {
            let refusal = refused(
                team.state_write(state_write("skill-active", "s1", evil)),
                Code::ModeNotActive,
            );
            assert_eq!(refusal.details["session_id"], "s1");
        }
        refused(
            team.state_write(state_write(
                "skill-active",
                "s1",
                json!({"active_skills": 7}),
            )),
            Code::InvalidInput,
        );
    });
    assert!(new.is_empty());
    // The answer of a read can be written back unchanged.
    let whole = read(&mut team, "skill-active", "s1");
    team.state_write(state_write("skill-active", "s1", whole.clone()))
        .unwrap();
    let mut after = read(&mut team, "skill-active", "s1");
    after["seq"] = whole["seq"].clone();
    after["updated_at"] = whole["updated_at"].clone();
    assert_eq!(after, whole);
    let clear = given!(ModeClear, mode: "skill-active", session_id: session("s1"),
        all_sessions: false);
    team.state_clear(clear).unwrap();
    let list = read(&mut team, "skill-active", "s1");
    assert_eq!((list.get("keyword"), &list["active"]), (None, &json!(true)));
}

#[test]
fn a_state_that_was_read_can_be_written_back() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Autopilot, "s1").unwrap();
    let set = json!({"note": {"a": [1, 2.5, null]}});
    update(&mut team, Mode::Autopilot, "s1", set).unwrap();
    let mut whole = read(&mut team, "autopilot", "s1");
    // The test removes `state`, because a call takes the fields in `state` as fields of the call.
    let nested = whole.as_object_mut().unwrap().remove("state").unwrap();
    assert_eq!(nested["phase_cycle"][0], "blueprint");
    let new = recorded(&mut team, |team| {
        team.state_write(state_write("autopilot", "s1", whole.clone()))
            .unwrap();
    });
    assert!(new.is_empty(), "nothing is different: {new:?}");
}

#[test]
fn what_a_session_cleared_for_itself_is_not_listed_as_active_there() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Team, "").unwrap();
    start(&mut team, Mode::Forge, "").unwrap();
    clear(&mut team, Mode::Team, "a");
    let listed = |team: &mut Team, at: &str| {
        let list = given!(StateListActive, session_id: session(at));
        team.state_list_active(list).unwrap().active_modes
    };
    assert_eq!(listed(&mut team, "a"), [Mode::Forge]);
    assert_eq!(listed(&mut team, ""), [Mode::Team, Mode::Forge]);
    start(&mut team, Mode::Ultrawork, "a").unwrap();
    assert_eq!(listed(&mut team, "a"), [Mode::Forge, Mode::Ultrawork]);
}

#[test]
fn the_first_of_those_that_are_listed_stands_for_a_session() {
    let (_, mut team) = demo();
    let prompt = given!(ModePrompt, text: "$team $forge x", session_id: session("a"));
    team.mode_prompt(prompt).unwrap();
    let list = read(&mut team, "skill-active", "a");
    assert_eq!(
        [&list["skill"], &list["initialized_mode"]],
        [&json!("team"), &json!("team")]
    );
    // A skill that was listed first stays first.
    start(&mut team, Mode::Ultrawork, "b").unwrap();
    complete(&mut team, Mode::Team, "").unwrap();
    assert_eq!(read(&mut team, "skill-active", "a")["skill"], "forge");
    start(&mut team, Mode::Team, "").unwrap();
    for (at, skill) in [("a", "forge"), ("b", "ultrawork")] {
        assert_eq!(read(&mut team, "skill-active", at)["skill"], skill);
    }
}

#[test]
fn where_a_caller_stands_becomes_no_field_of_a_state() {
    let (_, mut team) = demo();
    let written = team.mode_write(given!(ModeWrite, mode: "ultrawork",
        fields: fields(json!({"workingDirectory": "/somewhere", "k": 1}))));
    let state = written.unwrap().shown.state;
    assert_eq!(
        (state.get("workingDirectory"), &state["k"]),
        (None, &json!(1))
    );
}

#[test]
fn the_file_of_active_skills_shows_what_the_list_of_modes_shows() {
    let (world, mut team) = demo();
    let file = |world: &World, at: &str| -> Vec<String> {
        let path = format!("teams/demo/modes/sessions/{at}/skill-active-state.json");
        let text = world.memory.read(Path::new(&path), 1 << 20).unwrap();
        let list: Value = serde_json::from_slice(&text).unwrap();
        let skills = list["active_skills"].as_array().unwrap().iter();
        let mut skills: Vec<String> = skills
            .map(|one| one["skill"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(list["active"], !skills.is_empty());
        if let Some(skill) = list["skill"].as_str().filter(|_| !skills.is_empty()) {
            assert!(skills.iter().any(|one| one == skill), "{list}");
        }
        skills.sort();
        skills
    };
    let agree = |world: &World, team: &mut Team| {
        for at in ["s1", "s2"] {
            let list = given!(ModeList, session_id: session(at));
            let list = team.mode_list(list).unwrap().active_modes;
            let mut list: Vec<String> = list.iter().map(|mode| mode.name().to_owned()).collect();
            list.sort();
            assert_eq!(file(world, at), list, "{at}");
        }
        let checks = doctor(&world.root, "demo").checks;
        let sound = |name| checks.iter().find(|one| one.name == name).unwrap().status;
        assert_eq!(
            (sound("modes"), sound("views")),
            (Health::Healthy, Health::Healthy)
        );
    };
    for at in ["s1", "s2"] {
        start(&mut team, Mode::Blueprint, at).unwrap();
    }
    complete(&mut team, Mode::Blueprint, "s2").unwrap();
    agree(&world, &mut team);
    let prompt = given!(ModePrompt, text: "$team go", session_id: session("s1"));
    team.mode_prompt(prompt).unwrap();
    assert_eq!(file(&world, "s1"), ["team"]);
    assert_eq!(file(&world, "s2"), ["team"]);
    agree(&world, &mut team);
    complete(&mut team, Mode::Team, "").unwrap();
    assert_eq!(file(&world, "s1"), [""; 0]);
    agree(&world, &mut team);
    // A session that was silent for a long time blocks no mode until its next activity.
    world.later(8 * 24 * 60 * MINUTE);
    start(&mut team, Mode::Forge, "s1").unwrap();
    start(&mut team, Mode::Team, "").unwrap();
    assert_eq!(file(&world, "s1"), ["forge", "team"]);
    assert_eq!(file(&world, "s2"), [""; 0]);
    start(&mut team, Mode::Ultrawork, "s2").unwrap();
    agree(&world, &mut team);
    complete(&mut team, Mode::Ultrawork, "s2").unwrap();
    agree(&world, &mut team);
}

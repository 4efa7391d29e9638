//! Tests of the states of modes: the effect of each event, the list of active skills, and the view files.

use crate::support::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use teamlog_projections::RefKind;
use teamlog_projections::mode::event::{Change, ModeTransitioned};
use teamlog_projections::mode::{Mode, ModeState, Scope, run_state, skills_state};

const ON: &str = r#"{"active":true,"current_phase":"starting","run_outcome":"continue"}"#;
const OFF: &str = r#"{"active":false,"current_phase":"complete","run_outcome":"finish"}"#;

fn started(mode: Mode, session: Option<&str>) -> NewEvent {
    mode_started(mode, session, ON)
}

fn ended(mode: Mode, session: Option<&str>) -> NewEvent {
    mode_changed(Change::Completed, mode, session, OFF, &[])
}

fn state(team: &Team, mode: Mode, session: Option<&str>) -> Option<ModeState> {
    team.live().mode_state(&scope(session), mode).unwrap()
}

fn skills(team: &Team, session: Option<&str>) -> Value {
    let skills = skills_state(&team.live(), &scope(session)).unwrap();
    skills.map_or(Value::Null, Value::Object)
}

fn listed(team: &Team, session: Option<&str>) -> Vec<String> {
    let skills = skills(team, session);
    let entries = skills["active_skills"].as_array().unwrap().iter();
    let names = entries.map(|entry| entry["skill"].as_str().unwrap().to_owned());
    names.collect()
}

fn modes_files(team: &Team) -> Vec<String> {
    let files = team.views().into_iter().map(|(name, _)| name);
    files.filter(|name| name.starts_with("modes/")).collect()
}

#[test]
fn a_start_replaces_and_a_change_merges_and_a_clearing_leaves_nothing_or_a_tombstone() {
    let team = Team::new();
    let full = r#"{"active":true,"current_phase":"starting","iteration":3,"note":"old"}"#;
    team.append(vec![mode_started(Mode::Forge, Some("s1"), full)]);
    let set = r#"{"current_phase":"executing","deep":{"a":1}}"#;
    team.append(vec![mode_changed(
        Change::Updated,
        Mode::Forge,
        Some("s1"),
        set,
        &["note", "nothing"],
    )]);
    let forge = state(&team, Mode::Forge, Some("s1")).unwrap();
    assert_eq!((forge.seq, forge.activated), (3, 2));
    assert!(forge.is_active());
    let at = forge.fields["updated_at"].clone();
    assert_eq!(
        Value::Object(forge.fields),
        json!({"active": true, "current_phase": "executing", "iteration": 3, "deep": {"a": 1}, "mode": "forge",
            "updated_at": at})
    );
    assert_eq!(
        state(&team, Mode::Forge, None),
        None,
        "the root is another scope"
    );
    assert_eq!(state(&team, Mode::Forge, Some("s2")), None);

    team.append(vec![ended(Mode::Forge, Some("s1"))]);
    let over = state(&team, Mode::Forge, Some("s1")).unwrap();
    assert_eq!((over.is_active(), over.activated), (false, 2));
    assert_eq!(over.fields["iteration"], 3);
    team.append(vec![started(Mode::Forge, Some("s1"))]);
    let anew = state(&team, Mode::Forge, Some("s1")).unwrap();
    assert_eq!((anew.activated, anew.fields.get("iteration")), (5, None));

    team.append(vec![mode_cleared(Mode::Forge, Some("s1"), true)]);
    let tombstone = state(&team, Mode::Forge, Some("s1")).unwrap();
    let at = tombstone.fields["updated_at"].clone();
    assert_eq!(
        Value::Object(tombstone.fields),
        json!({"active": false, "current_phase": "cleared", "completed_at": at, "mode": "forge", "session_id": "s1",
            "updated_at": at})
    );
    assert_eq!(team.live().mode_sessions(None, 9).unwrap(), ["s1"]);
    team.append(vec![mode_cleared(Mode::Forge, Some("s1"), false)]);
    assert_eq!(state(&team, Mode::Forge, Some("s1")), None);
    assert!(team.live().mode_sessions(None, 9).unwrap().is_empty());
}

#[test]
fn what_becomes_active_again_is_as_young_as_that() {
    let team = Team::new();
    team.append(vec![started(Mode::Team, None), started(Mode::Forge, None)]);
    let off = r#"{"active":false}"#;
    let on = r#"{"active":true}"#;
    team.append(vec![
        mode_changed(Change::Updated, Mode::Team, None, off, &[]),
        mode_changed(Change::Updated, Mode::Team, None, on, &[]),
        mode_changed(Change::Updated, Mode::Forge, None, on, &[]),
    ]);
    let activated = |mode| state(&team, mode, None).unwrap().activated;
    assert_eq!((activated(Mode::Forge), activated(Mode::Team)), (3, 5));
    assert_eq!(listed(&team, None), ["forge", "team"]);
}

#[test]
fn the_story_of_a_state_is_that_of_its_last_event_that_has_one() {
    let team = Team::new();
    let mut first = started(Mode::Forge, None);
    first.refs.set(RefKind::Trace, "tr_1");
    team.append(vec![
        first,
        mode_changed(Change::Updated, Mode::Forge, None, "{}", &[]),
    ]);
    let trace = |team: &Team| state(team, Mode::Forge, None).unwrap().trace_id;
    assert_eq!(trace(&team).as_deref(), Some("tr_1"));
    team.append(vec![mode_cleared(Mode::Forge, None, true)]);
    assert_eq!(trace(&team).as_deref(), Some("tr_1"));
    team.append(vec![started(Mode::Forge, None)]);
    assert_eq!(trace(&team), None, "a new state, another story");
}

#[test]
fn a_lock_is_a_field_of_the_state_that_holds_it() {
    let team = Team::new();
    let lock = |locked: bool| {
        let text = format!(r#"{{"active":{locked},"scope":"x"}}"#);
        mode_locked(locked, Mode::DeepInterview, Some("s1"), &text)
    };
    team.append(vec![lock(true)]);
    assert_eq!(
        state(&team, Mode::DeepInterview, Some("s1")),
        None,
        "nobody holds it"
    );
    team.append(vec![started(Mode::DeepInterview, Some("s1")), lock(true)]);
    let held = |team: &Team| skills(team, Some("s1"))["input_lock"]["active"].clone();
    assert_eq!(held(&team), true);
    team.append(vec![ended(Mode::DeepInterview, Some("s1")), lock(false)]);
    assert_eq!(held(&team), false);
    let over = state(&team, Mode::DeepInterview, Some("s1")).unwrap();
    assert_eq!(over.fields["current_phase"], "complete");
}

#[test]
fn a_session_with_modes_of_its_own_inherits_those_of_the_root_before_them() {
    let team = Team::new();
    team.append(vec![
        started(Mode::Forge, Some("s1")),
        started(Mode::Team, None),
        started(Mode::Ultrawork, None),
        started(Mode::Ultrawork, Some("s1")),
    ]);
    assert_eq!(listed(&team, None), ["team", "ultrawork"]);
    assert_eq!(listed(&team, Some("s1")), ["team", "forge", "ultrawork"]);
    let of_session = skills(&team, Some("s1"));
    assert_eq!(of_session["active_skills"][0].get("session_id"), None);
    has!(of_session, {"/active_skills/1/session_id": "s1", "session_id": "s1", "skill": "forge",
        "active": true});
    assert_eq!(skills(&team, Some("s2")), Value::Null);

    team.append(vec![
        ended(Mode::Forge, Some("s1")),
        ended(Mode::Ultrawork, Some("s1")),
    ]);
    let idle = skills(&team, Some("s1"));
    has!(idle, {"active": true, "skill": "team", "phase": "starting"});
    assert_eq!(
        listed(&team, Some("s1")),
        ["team"],
        "its own state hides the root's ultrawork"
    );
    team.append(vec![ended(Mode::Team, None)]);
    let idle = skills(&team, Some("s1"));
    has!(idle, {"active": false, "active_skills": [], "skill": "ultrawork", "phase": "complete"});
    team.append(vec![started(Mode::Team, None)]);
    assert_eq!(
        listed(&team, None),
        ["ultrawork", "team"],
        "nothing of a session is mirrored"
    );
}

#[test]
fn the_primary_skill_stays_while_it_is_listed_and_else_is_the_first() {
    let team = Team::new();
    let primary = |team: &Team| skills(team, None)["skill"].clone();
    team.append(vec![started(Mode::Team, None), started(Mode::Forge, None)]);
    assert_eq!(primary(&team), "team");
    team.append(vec![skills_synced(None, &[], r#"{"skill":"forge"}"#)]);
    assert_eq!(primary(&team), "forge");
    team.append(vec![started(Mode::Ultrawork, None)]);
    assert_eq!(primary(&team), "forge");
    team.append(vec![ended(Mode::Forge, None)]);
    assert_eq!(primary(&team), "team");
    team.append(vec![started(Mode::Forge, None)]);
    assert_eq!(primary(&team), "team", "it does not come back to it");
    team.append(vec![skills_synced(None, &[], r#"{"skill":"blueprint"}"#)]);
    assert_eq!(
        primary(&team),
        "team",
        "what is not active stands for nothing"
    );
}

#[test]
fn no_list_brings_back_a_mode_that_ended() {
    let team = Team::new();
    team.append(vec![
        started(Mode::Blueprint, None),
        mode_changed(Change::AutoCompleted, Mode::Blueprint, None, OFF, &[]),
        skills_synced(
            None,
            &[Mode::Blueprint],
            r#"{"active":true,"skill":"blueprint","active_skills":[{"skill":"blueprint"}],"phase":"planning","keyword":"k"}"#,
        ),
        started(Mode::Forge, None),
    ]);
    let skills = skills(&team, None);
    assert_eq!(listed(&team, None), ["forge"]);
    has!(skills, {"skill": "forge", "phase": "starting", "keyword": "k"});
    let conflict = team.live().mode_scope(&Scope::Root).unwrap().unwrap();
    let active: Vec<Mode> = conflict.active().iter().map(|one| one.mode).collect();
    assert_eq!(active, [Mode::Forge]);
}

#[test]
fn what_is_said_beside_the_list_is_kept_until_it_is_taken_away() {
    let team = Team::new();
    let first = r#"{"keyword":"forge","thread_id":"t","odd":{"x":[1]}}"#;
    team.append(vec![skills_synced(Some("s1"), &[], first)]);
    team.append(vec![skills_synced(
        Some("s1"),
        &[],
        r#"{"keyword":null,"turn_id":"u"}"#,
    )]);
    let found = skills(&team, Some("s1"));
    assert_eq!(found.get("keyword"), None);
    has!(found, {"thread_id": "t", "turn_id": "u", "odd": {"x": [1]}});
    assert_eq!(found.get("skill"), None);
    team.append(vec![skills_synced(
        Some("s1"),
        &[],
        r#"{"thread_id":null,"turn_id":null,"odd":null}"#,
    )]);
    assert_eq!(
        skills(&team, Some("s1")),
        Value::Null,
        "nothing is left to say"
    );
}

#[test]
fn a_run_is_the_state_that_changed_last() {
    let team = Team::new();
    let run = |team: &Team| {
        let run = run_state(&team.live(), &Scope::Root).unwrap();
        run.map_or(Value::Null, Value::Object)
    };
    assert_eq!(run(&team), Value::Null);
    let state = r#"{"active":true,"current_phase":"executing","iteration":2,"max_iterations":9,"task_description":"t","note":"no"}"#;
    team.append(vec![
        started(Mode::Team, None),
        mode_started(Mode::Forge, None, state),
    ]);
    let forge = run(&team);
    let at = forge["updated_at"].clone();
    assert_eq!(
        forge,
        json!({"version": 1, "mode": "forge", "active": true, "outcome": "continue", "updated_at": at, "seq": 3,
            "current_phase": "executing", "iteration": 2, "max_iterations": 9, "task_description": "t",
            "schema_version": 1, "schemaVersion": "1.0.0"})
    );
    team.append(vec![ended(Mode::Team, None)]);
    let over = run(&team);
    has!(over, {"mode": "team", "outcome": "finish"});
    team.append(vec![mode_cleared(Mode::Team, None, false)]);
    assert_eq!(run(&team)["mode"], "forge");
}

#[test]
fn a_session_whose_name_leads_elsewhere_is_not_decoded() {
    for evil in ["../x", "", "a.b", "a/b", &"x".repeat(65)] {
        for mut event in [
            started(Mode::Forge, Some(evil)),
            ended(Mode::Forge, Some(evil)),
            mode_cleared(Mode::Forge, Some(evil), true),
            mode_locked(true, Mode::Forge, Some(evil), "{}"),
            skills_synced(Some(evil), &[], "{}"),
        ] {
            let team = Team::new();
            event.refs = Default::default();
            team.force(vec![event]);
            team.load_error();
        }
    }
}

#[test]
fn a_decision_moves_nothing() {
    let team = Team::new();
    team.append(vec![started(Mode::Blueprint, None)]);
    let before = team.live().mode_scope(&Scope::Root).unwrap();
    let told = given!(ModeTransitioned; mode: Mode::Team, requested: Mode::Team, scope: Scope::Root,
        kind: "auto-complete", current: vec![Mode::Blueprint], resulting: vec![Mode::Team],
        auto_completed: vec![Mode::Blueprint], message: "mode transiting: blueprint -> team",
        source: "startMode");
    team.append(vec![told.event("dev", None).unwrap()]);
    assert_eq!(team.live().mode_scope(&Scope::Root).unwrap(), before);
}

/// Returns a team with files of every sort.
fn busy() -> Team {
    let team = Team::new();
    team.append(vec![
        started(Mode::Team, None),
        started(Mode::Forge, Some("s1")),
        started(Mode::Blueprint, Some("s2")),
        ended(Mode::Blueprint, Some("s2")),
    ]);
    team
}

const FILES: [&str; 9] = [
    "modes/run-state.json",
    "modes/sessions/s1/forge-state.json",
    "modes/sessions/s1/run-state.json",
    "modes/sessions/s1/skill-active-state.json",
    "modes/sessions/s2/blueprint-state.json",
    "modes/sessions/s2/run-state.json",
    "modes/sessions/s2/skill-active-state.json",
    "modes/skill-active-state.json",
    "modes/team-state.json",
];

#[test]
fn each_state_has_a_file_and_each_scope_its_lists() {
    let team = busy();
    assert_eq!(modes_files(&team), FILES);
    let forge = team.json("modes/sessions/s1/forge-state.json");
    has!(forge, {"mode": "forge", "seq": 3, "schema_version": 1, "session_id": "s1"});
    let list = "modes/sessions/s1/skill-active-state.json";
    assert_eq!(team.json(list)["active_skills"][0]["skill"], "team");
    let idle = "modes/sessions/s2/skill-active-state.json";
    assert_eq!(team.json(idle)["active_skills"][0]["skill"], "team");
    team.append(vec![started(Mode::Ultrawork, None)]);
    assert_eq!(team.json(list)["active_skills"][1]["skill"], "ultrawork");
    assert_eq!(team.json(list)["seq"], 6, "what it inherits changed it");
    assert_eq!(team.json(idle)["active_skills"][1]["skill"], "ultrawork");
    assert_eq!(team.faults(), []);
    team.append(vec![ended(Mode::Team, None), ended(Mode::Ultrawork, None)]);
    has!(team.json(idle), {"active": false, "active_skills": []});
    assert_eq!(team.faults(), []);

    team.append(vec![mode_cleared(Mode::Forge, Some("s1"), false)]);
    assert!(
        team.storage
            .stat(&team.path("modes/sessions/s1"))
            .unwrap()
            .is_none()
    );
    team.append(vec![
        mode_cleared(Mode::Team, None, false),
        mode_cleared(Mode::Ultrawork, None, false),
        mode_cleared(Mode::Blueprint, Some("s2"), false),
    ]);
    assert_eq!(modes_files(&team), [""; 0]);
    assert_eq!(team.faults(), []);
    let (mended, digest) = team.rebuilt();
    assert_eq!((mended.written, mended.removed), (0, 0));
    assert_eq!(team.live().digest().unwrap(), digest);
}

#[test]
fn lost_and_damaged_files_are_told_and_mended() {
    let whole = busy();
    for damage in 0..7 {
        let team = busy();
        let file = "modes/sessions/s1/forge-state.json";
        let put = |name: &str| {
            team.storage
                .replace(&team.path(name), b"{}", false)
                .unwrap()
        };
        let told = match damage {
            0 => {
                team.storage.remove_file(&team.path(file)).unwrap();
                vec![(file, "missing")]
            }
            1 => {
                put(file);
                vec![(file, "differs")]
            }
            2 => {
                put("modes/forge-state.json");
                vec![("modes/forge-state.json", "unknown")]
            }
            3 => {
                put("modes/sessions/s1/odd");
                vec![("modes/sessions/s1/odd", "unknown")]
            }
            4 => {
                team.storage
                    .remove_dir_all(&team.path("modes/sessions/s1"))
                    .unwrap();
                FILES[1..4].iter().map(|name| (*name, "missing")).collect()
            }
            5 => {
                team.storage
                    .create_dir(&team.path("modes/sessions/gone"))
                    .unwrap();
                vec![("modes/sessions/gone", "unknown")]
            }
            _ => {
                team.storage.remove_dir_all(&team.path("modes")).unwrap();
                FILES.iter().map(|name| (*name, "missing")).collect()
            }
        };
        let mut found = team.faults();
        found.sort();
        let told: Vec<_> = told
            .into_iter()
            .map(|(file, what)| (file.to_owned(), what))
            .collect();
        assert_eq!(found, told, "{damage}");
        let mended = team.rebuilt().0;
        assert_eq!(
            mended.written + mended.removed,
            told.len() as u64,
            "{damage}"
        );
        assert_eq!(team.views(), whole.views(), "{damage}");
        assert_eq!(team.faults(), []);
    }
}

#[test]
fn a_crash_behind_the_head_leaves_what_the_next_writer_mends() {
    let team = busy();
    let exclusive = team.log.lock().unwrap();
    let live = Live::load(&team.log, &exclusive.reader()).unwrap();
    let writer = exclusive.into_writer(live);
    commit(
        &writer,
        vec![
            ended(Mode::Team, None),
            mode_cleared(Mode::Blueprint, Some("s2"), false),
            started(Mode::Ultraqa, Some("s3")),
        ],
    );
    writer.close().unwrap();
    assert_eq!(modes_files(&team), FILES, "nobody wrote files");
    team.append(vec![foreign("seen")]);
    assert_eq!(team.faults(), []);
    assert_eq!(team.json("modes/team-state.json")["active"], false);
    assert_eq!(
        team.json("modes/sessions/s1/skill-active-state.json")["active_skills"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn closing_a_team_removes_the_files_and_one_without_views_has_none() {
    let team = busy();
    team.append(vec![closed()]);
    assert!(team.storage.stat(&team.path("modes")).unwrap().is_none());
    assert!(
        state(&team, Mode::Team, None).is_some(),
        "what is known stays"
    );
    let bare = Team::empty(Format::Binary);
    bare.append(vec![created(&["lead"], false)]);
    bare.append(vec![started(Mode::Team, None)]);
    bare.rebuilt();
    assert!(bare.views().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_said_of_modes_scopes_lists_and_files_agree(
        groups in prop::collection::vec(
            prop::collection::vec((0u8..13, 0u8..3, 0u8..3, 0u8..6), 1..4),
            1..20,
        ),
        binary in any::<bool>(),
    ) {
        let team = Team::empty(if binary { Format::Binary } else { Format::Jsonl });
        team.append(vec![created(&["lead"], true)]);
        for group in groups {
            let events = group.into_iter();
            team.append(events.map(|(what, mode, session, value)| moded(what, mode, session, value)).collect());
            let live = team.live();
            check_modes(&live);
            prop_assert_eq!(team.faults(), []);
        }
        let digest = team.live().digest().unwrap();
        let (mended, anew) = team.rebuilt();
        prop_assert_eq!((mended.written, mended.removed, anew), (0, 0, digest));
    }
}

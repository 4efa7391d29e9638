//! Properties of modes over random histories, and after crashes during a hand-off. Active sets stay reachable, lists agree
//! with states, the live state equals the rebuilt state, and each group is recorded completely or not at all.

use crate::mode_calls::{active, cancel_or_complete, clear, session, start, update, write};
use crate::prelude::*;
use proptest::prelude::*;
use teamlog_engine::internals::storage::Fault;
use teamlog_team::mode::rules::transition::reachable;
use teamlog_team::mode::state::StateRead;

const SESSIONS: [&str; 4] = ["", "s1", "s2", "s3"];

#[derive(Debug, Clone)]
enum Step {
    Start(Mode, usize),
    Prompt(usize, usize),
    Write(Mode, usize, usize),
    Update(Mode, usize, usize),
    End(Mode, usize, bool),
    Clear(Mode, usize),
    ClearAll(Mode),
    Later(i64),
    Rehydrate,
}

fn writes() -> [Value; 7] {
    [
        json!({}),
        json!({"active": true, "note": {"n": 1}}),
        json!({"active": false}),
        json!({"current_phase": "failed"}),
        json!({"lifecycle_outcome": "finished", "active": false}),
        json!({"run_outcome": "progress", "thread_id": "t1"}),
        json!({"active": true, "run_outcome": "finish"}),
    ]
}

/// Prompts that start, defer, hand over or cancel modes, prompts that wait for a plan, and prompts
/// that are denied.
const PROMPTS: [&str; 12] = [
    "$blueprint $team $forge x",
    "$team $forge x",
    "$brief $blueprint x",
    "$ulw $autopilot x",
    "$cancel $ultraqa x",
    "$cancel",
    "$autopilot $team x",
    "$autoresearch x",
    "use forge mode on it",
    "force: use autopilot",
    "yes",
    "team please",
];

fn step() -> impl Strategy<Value = Step> {
    let mode = || proptest::sample::select(&Mode::ALL[..]);
    let at = || 0..SESSIONS.len();
    prop_oneof![
        10 => (mode(), at()).prop_map(|(mode, at)| Step::Start(mode, at)),
        8 => (0..PROMPTS.len(), at()).prop_map(|(text, at)| Step::Prompt(text, at)),
        6 => (mode(), at(), 0..7_usize).prop_map(|(mode, at, what)| Step::Write(mode, at, what)),
        6 => (mode(), at(), 0..7_usize).prop_map(|(mode, at, what)| Step::Update(mode, at, what)),
        4 => (mode(), at(), any::<bool>()).prop_map(|(mode, at, done)| Step::End(mode, at, done)),
        2 => (mode(), at()).prop_map(|(mode, at)| Step::Clear(mode, at)),
        1 => mode().prop_map(Step::ClearAll),
        1 => (0i64..90_000_000).prop_map(Step::Later),
        1 => Just(Step::Rehydrate),
    ]
}

fn take(world: &World, team: &mut Team, step: Step) {
    let before = events(team).len();
    let denied = match step {
        Step::Start(mode, at) => start(team, mode, SESSIONS[at]).is_err(),
        Step::Prompt(text, at) => {
            let prompt = given!(ModePrompt, text: PROMPTS[text], session_id: session(SESSIONS[at]));
            team.mode_prompt(prompt).is_err()
        }
        Step::Write(mode, at, what) => {
            write(team, mode, SESSIONS[at], writes()[what].clone()).is_err()
        }
        Step::Update(mode, at, what) => {
            update(team, mode, SESSIONS[at], writes()[what].clone()).is_err()
        }
        Step::End(mode, at, done) => cancel_or_complete(team, mode, SESSIONS[at], done).is_err(),
        Step::Clear(mode, at) => {
            clear(team, mode, SESSIONS[at]);
            false
        }
        Step::ClearAll(mode) => {
            let all = given!(ModeClear, mode: mode.name(), all_sessions: true);
            team.mode_clear(all).unwrap();
            false
        }
        Step::Later(micros) => {
            world.later(micros);
            false
        }
        Step::Rehydrate => {
            settled_digest(team);
            false
        }
    };
    if denied {
        assert_eq!(events(team).len(), before, "a refusal records nothing");
    }
    team.finish().unwrap();
}

/// Checks for every session that its active modes form a reachable set, and that every list agrees with the states.
fn check(team: &mut Team, sets: &BTreeSet<Vec<Mode>>) {
    for at in SESSIONS {
        let found = active(team, at);
        let mut set = found.clone();
        set.sort();
        assert!(sets.contains(&set), "{at:?} reached {found:?}");
        let own = given!(ModeList, all_sessions: true, active: true, limit: 0);
        let own = team.mode_list(own).unwrap().modes.into_iter();
        let own: Vec<Mode> = own
            .filter(|state| state.session_id == session(at))
            .map(|state| state.mode)
            .collect();
        let read = given!(StateRead, mode: "skill-active", session_id: session(at));
        let list = json(&team.state_read(read).unwrap());
        let of_session =
            list["session_id"] == at || (at.is_empty() && list["session_id"].is_null());
        if !of_session || list.get("exists").is_some() {
            assert!(own.is_empty(), "{at:?} has no list");
            continue;
        }
        let listed: BTreeSet<&str> = list["active_skills"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["skill"].as_str().unwrap())
            .collect();
        let wanted: BTreeSet<&str> = found.iter().map(|mode| mode.name()).collect();
        // A session that ended, or that was silent for a long time, does not list the modes of the
        // root.
        if !(own.is_empty() && listed.is_empty()) {
            assert_eq!(listed, wanted, "{at:?}");
        }
        assert_eq!(list["active"], !listed.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn live_equals_rebuilt_and_no_set_is_active_that_cannot_be_reached(
        steps in proptest::collection::vec(step(), 1..60),
        binary in any::<bool>(),
    ) {
        let world = World::new();
        let format = if binary { Format::Binary } else { Format::Jsonl };
        let mut team = world.team(None, format);
        let set = given!(ConfigChange, key: "modes.trigger", value: "phrases");
        team.config_change(set).unwrap();
        let sets: BTreeSet<Vec<Mode>> = reachable().into_iter().collect();
        for step in steps {
            take(&world, &mut team, step);
            check(&mut team, &sets);
        }
        let report = doctor(&world.root, "demo");
        // An abandoned mode is a warning, not a fault.
        let left = |name: &str, status: Health| name == "modes" && status == Health::Warn;
        let well = |name: &str, status: Health| status == Health::Healthy || left(name, status);
        let unwell: Vec<_> = report.checks.iter().filter(|check| !well(check.name, check.status)).collect();
        prop_assert!(unwell.is_empty(), "{:?}", unwell);
        settled_digest(&mut team);
    }
}

/// Creates a team with an interview in a session and an interview at the root. The start of another
/// mode would end both by a hand-off.
fn poised(world: &World) -> Team {
    let mut team = world.demo();
    start(&mut team, Mode::DeepInterview, "s1").unwrap();
    start(&mut team, Mode::DeepInterview, "").unwrap();
    team
}

#[test]
fn a_hand_off_that_is_stopped_anywhere_happened_wholly_or_not_at_all() {
    let (mut whole, mut none) = (0, 0);
    for call in 0.. {
        let world = World::new();
        let before = kinds(&mut poised(&world));
        let faulty = Faulty::new(world.memory.clone());
        faulty.arm(call, Fault::Stop);
        let root = Root::on(Arc::new(faulty.clone()), world.root.options().clone());
        let done = root
            .team("demo")
            .and_then(|mut team| start(&mut team, Mode::Blueprint, "s1"));
        if faulty.count() <= call {
            done.unwrap();
            break;
        }
        for after in [world.memory.lose_unsynced(), world.memory.keep_unsynced()] {
            let root = Root::on(Arc::new(after), world.root.options().clone());
            let mut team = root.team("demo").unwrap();
            let found = kinds(&mut team);
            let interview = vec![Mode::DeepInterview];
            if found == before {
                none += 1;
                assert!(done.is_err(), "call {call}: acknowledged, and gone");
                assert_eq!(
                    (active(&mut team, "s1"), active(&mut team, "")),
                    (interview.clone(), interview)
                );
            } else {
                whole += 1;
                assert_eq!(
                    found[before.len()..],
                    [
                        "mode_transitioned",
                        "mode_auto_completed",
                        "mode_input_unlocked",
                        "mode_auto_completed",
                        "mode_input_unlocked",
                        "mode_skills_synced",
                        "mode_skills_synced",
                        "mode_started"
                    ],
                    "call {call}"
                );
                assert_eq!(
                    (active(&mut team, "s1"), active(&mut team, "")),
                    (vec![Mode::Blueprint], vec![])
                );
            }
            // The next command succeeds, and the files agree with the states.
            start(&mut team, Mode::Ultrawork, "s1").unwrap();
            let report = doctor(&root, "demo");
            assert!(
                report
                    .checks
                    .iter()
                    .all(|check| check.status != Health::Unhealthy),
                "{report:?}"
            );
            settled_digest(&mut team);
        }
    }
    assert!(whole > 5 && none > 5, "{whole} {none}");
}

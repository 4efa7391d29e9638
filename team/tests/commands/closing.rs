//! Tests of the effects of closing a team, and of calls that name no team.

use crate::claims::{claim, new};
use crate::mailbox;
use crate::mode_calls::{show, write};
use crate::prelude::*;
use teamlog_engine::{Log, LogOptions};
use teamlog_team::lifecycle::cleanup::Cleanup;
use teamlog_team::projections::team::event::{TeamClosed, TeamFact};

fn forced() -> Cleanup {
    given!(Cleanup, force: true)
}

/// Creates a team with modes at the root and in a session, two claims (one expired), deliveries and a dispatch request.
fn busy(world: &World, format: Format) -> Team {
    let mut team = world.team(Some(&["lead", "dev", "qa"]), format);
    for (mode, session) in [("autopilot", None), ("ultrawork", Some("s-1"))] {
        let start = given!(ModeStart, mode, session_id: session);
        team.mode_start(start).unwrap();
    }
    for (subject, lease_ms) in [("first", 1_000), ("second", 86_400_000)] {
        let created = given!(TaskCreate, subject, description: subject);
        let task_id = team.task_create(created).unwrap().task.task.task_id;
        let claim = given!(TaskClaim, task_id, worker: "dev", lease_ms);
        team.task_claim(claim).unwrap();
    }
    for id in ["m1", "m2"] {
        let send = given!(Send, message_id: id, delivery: Require::default(),
            ..message("lead", "dev"));
        team.send(send).unwrap();
    }
    mailbox::send(&mut team, "dev", "look");
    world.later(SECOND);
    team
}

/// Returns the numbers of active modes, claims, deliveries and dispatch requests.
fn active(team: &mut Team) -> [usize; 4] {
    let modes = status(team).active_modes.len();
    let found = team.query(|live, _| {
        Ok([
            live.expired_tasks(teamlog_engine::Timestamp::MAX, 99)?
                .len(),
            live.open_deliveries(99)?.len(),
            live.open_dispatches(99)?.len(),
        ])
    });
    let [claims, deliveries, dispatches] = found.unwrap();
    [modes, claims, deliveries, dispatches]
}

const ENDED: [&str; 7] = [
    "mode_canceled",
    "mode_canceled",
    "task_lease_expired",
    "task_released",
    "delivery_dead_letter",
    "delivery_dead_letter",
    "dispatch_failed",
];

/// Returns the events of the group that closes the team. Checks that nothing is active after that group.
fn group(team: &mut Team, close: impl FnOnce(&mut Team)) -> Vec<Value> {
    assert_eq!(active(team), [2, 2, 2, 1]);
    let before = events(team).len();
    close(team);
    assert_eq!(active(team), [0; 4]);
    settled_digest(team);
    events(team).split_off(before)
}

fn kinds_of(events: &[Value]) -> Vec<&str> {
    let kinds = events.iter().map(|event| event["kind"].as_str().unwrap());
    kinds.collect()
}

#[test]
fn closing_a_team_ends_what_is_active_in_the_same_group() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        let mut team = busy(&world, format);
        let group = group(&mut team, |team| drop(team.cleanup(forced()).unwrap()));
        let mut ended = kinds_of(&group);
        assert_eq!(ended.remove(0), "shutdown_gated");
        assert_eq!(ended.remove(0), "phase_changed");
        assert_eq!(ended.pop(), Some("team_closed"));
        let ends = ended.iter().filter(|kind| ENDED.contains(kind));
        assert_eq!(ends.collect::<Vec<_>>(), ENDED.iter().collect::<Vec<_>>());
        let phase = &group[1]["id"];
        for event in group
            .iter()
            .filter(|event| ENDED.contains(&event["kind"].as_str().unwrap()))
        {
            assert_eq!(&event["cause"], phase, "{event}");
            assert_eq!(event["actor"], "teamlog");
        }
        for event in &group {
            let reason = &event["payload"]["reason"];
            match event["kind"].as_str().unwrap() {
                "delivery_dead_letter" | "dispatch_failed" => assert_eq!(reason, "team_closed"),
                "mode_canceled" => {
                    let why = match event["payload"]["session_id"].is_null() {
                        true => "the team was closed",
                        false => "its session ended",
                    };
                    assert_eq!(event["payload"]["set"]["stop_reason"], why);
                }
                _ => {}
            }
        }
        let before = events(&mut team).len();
        team.cleanup(forced()).unwrap();
        team.orphan_cleanup(OrphanCleanup {}).unwrap();
        assert_eq!(events(&mut team).len(), before, "once is enough");
    }
}

#[test]
fn who_closes_a_team_and_why_is_said_of_the_closing_and_not_of_what_ends_thereby() {
    let by = |actor: &str, trace: &str| given!(Control, actor, trace_id: trace);
    let (_, mut team) = demo();
    team.under(by("dev", "tr-work"));
    let start = given!(ModeStart, mode: "autopilot");
    team.mode_start(start).unwrap();
    let id = team.task_create(new("held")).unwrap().task.task.task_id;
    team.task_claim(claim(&id, "dev")).unwrap();
    let required = given!(Send, delivery: Require::default(), trace_id: "tr-work",
        ..message("lead", "dev"));
    team.send(required).unwrap();
    team.under(Control::default());
    mailbox::send(&mut team, "dev", "look");
    let before = events(&mut team).len();
    team.under(by("lead", "tr-close"));
    team.cleanup(forced()).unwrap();
    let group = events(&mut team).split_off(before);
    let said = |event: &Value| (event["actor"].clone(), event["trace_id"].clone());
    let (mut closing, mut work, mut others) = (0, 0, 0);
    for event in &group {
        match event["kind"].as_str().unwrap() {
            "shutdown_gated" | "phase_changed" | "team_closed" => {
                assert_eq!(said(event), ("lead".into(), "tr-close".into()), "{event}");
                closing += 1;
            }
            "mode_canceled" | "task_released" | "delivery_dead_letter" => {
                assert_eq!(said(event), ("teamlog".into(), "tr-work".into()), "{event}");
                work += 1;
            }
            _ => {
                assert_eq!(said(event), ("teamlog".into(), Value::Null), "{event}");
                others += 1;
            }
        }
    }
    assert_eq!((closing, work), (3, 3), "{group:#?}");
    assert!(others > 0, "{group:#?}");
}

#[test]
fn an_interview_that_waits_at_the_root_ends_with_its_team() {
    let (_, mut team) = demo();
    let started = given!(ModeStart, mode: "deep-interview");
    team.mode_start(started).unwrap();
    let question =
        serde_json::json!({"question_enforcement": {"obligation_id": "q", "status": "pending"}});
    write(&mut team, Mode::DeepInterview, "", question).unwrap();
    assert_eq!(show(&mut team, Mode::DeepInterview, "")["active"], false);
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    let state = show(&mut team, Mode::DeepInterview, "")["state"].clone();
    assert_eq!(state["current_phase"], "cancelled", "{state}");
    assert_eq!(state["question_enforcement"]["status"], "cleared");
    assert_ne!(state["input_lock"]["active"], true);
    let before = events(&mut team).len();
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    assert_eq!(events(&mut team).len(), before, "once is enough");
    settled_digest(&mut team);
}

#[test]
fn an_orphans_cleanup_ends_the_same() {
    let world = World::new();
    let mut team = busy(&world, Format::Jsonl);
    let group = group(&mut team, |team| {
        team.orphan_cleanup(OrphanCleanup {}).unwrap();
    });
    let kinds = kinds_of(&group);
    assert_eq!(
        (kinds[0], *kinds.last().unwrap()),
        ("phase_changed", "team_closed")
    );
    let ends = kinds.iter().filter(|kind| ENDED.contains(kind));
    assert_eq!(ends.count(), ENDED.len());
}

/// Closes a team as older versions did: active work does not end.
fn closed_long_ago(world: &World, team: &str) {
    let dir = format!("teams/{team}");
    let options = given!(LogOptions, clock: world.root.options().clock.clone());
    let log = Log::open(world.memory.clone(), Path::new(&dir), options).unwrap();
    let closed = TeamFact::Closed(given!(TeamClosed; reason: "shutdown"));
    let writer = log.lock().unwrap().into_writer(());
    writer
        .append(vec![closed.event("teamlog")], Durability::Synced)
        .unwrap();
    writer.close().unwrap();
}

#[test]
fn a_team_that_an_earlier_version_closed_reads_as_it_was_left_until_it_is_cleaned_up_again() {
    let world = World::new();
    drop(busy(&world, Format::Jsonl));
    closed_long_ago(&world, "demo");
    let mut team = world.root.team("demo").unwrap();
    let ended = group(&mut team, |team| drop(team.cleanup(forced()).unwrap()));
    let kinds = kinds_of(&ended);
    let ends = kinds.iter().filter(|kind| ENDED.contains(kind));
    assert_eq!(ends.count(), ENDED.len());
    assert!(!kinds.contains(&"team_closed"), "{kinds:?}");
    refused(team.send(message("lead", "dev")), Code::TeamClosed);
}

#[test]
fn more_than_fits_into_the_closing_group_ends_behind_it() {
    let (_, mut team) = demo();
    let required = 1_100;
    for _ in 0..required {
        let send = given!(Send, delivery: Require::default(), ..message("lead", "dev"));
        team.send(send).unwrap();
    }
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    assert_eq!(active(&mut team), [0; 4]);
    let dead = kinds(&mut team);
    let dead = dead.iter().filter(|kind| *kind == "delivery_dead_letter");
    assert_eq!(dead.count(), required);
}

#[test]
fn the_team_that_is_meant_where_none_is_named_is_never_a_closed_one() {
    let (world, mut old) = demo();
    assert_eq!(world.root.only_team().unwrap(), "demo");
    old.orphan_cleanup(OrphanCleanup {}).unwrap();
    let refusal = refused(world.root.only_team(), Code::InvalidInput);
    assert!(
        refusal.hint.unwrap().contains("all teams are closed"),
        "{}",
        refusal.message
    );
    world.root.init(Init::for_team("next")).unwrap();
    assert_eq!(world.root.only_team().unwrap(), "next");
    world.root.init(Init::for_team("third")).unwrap();
    let refusal = refused(world.root.only_team(), Code::InvalidInput);
    assert_eq!(refusal.hint.as_deref(), Some("known teams: next, third"));
}

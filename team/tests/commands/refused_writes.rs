//! Tests of refused writes: a refused write is recorded at most once a minute per agent and path,
//! and has no other effect.

use crate::prelude::*;
use teamlog_team::resource::can_write::WriteReason;
use teamlog_team::resource::refused::{RefusedWrite, RefusedWrites};

fn refused(agent: &str, paths: &[&str]) -> RefusedWrites {
    let write = |path: &&str| RefusedWrite {
        path: (*path).to_owned(),
        tool: "Write".into(),
        reason: WriteReason::ResourceHeldByOther,
        holder: Some("qa".into()),
    };
    RefusedWrites {
        agent: agent.into(),
        subagent: None,
        writes: paths.iter().map(write).collect(),
    }
}

/// Records refused writes, and returns the number of new events. Checks that `wants_refused_writes` predicts correctly.
#[track_caller]
fn record(team: &mut Team, refused: RefusedWrites) -> usize {
    let wanted = team.wants_refused_writes(&refused).unwrap();
    let count = team.record_refused_writes(refused).unwrap().recorded;
    assert_eq!(wanted, count > 0);
    count
}

#[test]
fn an_agent_and_a_path_are_recorded_once_a_minute() {
    let (world, mut team) = demo();
    assert_eq!(
        record(&mut team, refused("dev", &["src/a", "src/b", "src/a"])),
        2
    );
    world.later(59 * SECOND);
    assert_eq!(record(&mut team, refused("dev", &["src/a"])), 0);
    assert_eq!(
        record(&mut team, refused("lead", &["src/a"])),
        1,
        "another agent"
    );
    world.later(SECOND);
    assert_eq!(record(&mut team, refused("dev", &["src/a"])), 1);
    let newest = team.refused_writes(2).unwrap();
    let told: Vec<_> = newest
        .iter()
        .map(|one| (&*one.agent, &*one.refused.path))
        .collect();
    assert_eq!(told, [("dev", "src/a"), ("lead", "src/a")]);
    let last = events(&mut team).pop().unwrap();
    has!(last, {"kind": "write_refused", "actor": "teamlog", "agent": "dev"});
    has!(last["payload"], {"path": "src/a", "tool": "Write", "reason": "resource_held_by_other",
        "holder": "qa", "refused_at": "2026-11-21T12:01:00.000000Z"});
    // A rebuild gives an equal state.
    let kept = settled_digest(&mut team);
    rehydrate(&mut team);
    let mut again = world.root.team("demo").unwrap();
    assert_eq!(settled_digest(&mut again), kept);
    assert_eq!(again.refused_writes(9).unwrap().len(), 4);
}

#[test]
fn an_agent_that_runs_wild_fills_no_log() {
    let (world, mut team) = demo();
    let names: Vec<String> = (0..50).map(|n| format!("src/{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(record(&mut team, refused("dev", &names)), 16);
    assert_eq!(record(&mut team, refused("dev", &["src/other"])), 0);
    world.later(MINUTE);
    assert_eq!(record(&mut team, refused("dev", &["src/other"])), 1);
}

#[test]
fn a_team_may_want_none_of_it_and_a_stranger_is_not_recorded() {
    let (_, mut team) = demo();
    let before = events(&mut team).len();
    let change = |value: &str| ConfigChange {
        key: "guard.record".into(),
        value: Some(value.into()),
    };
    team.config_change(change("false")).unwrap();
    assert_eq!(record(&mut team, refused("dev", &["src/a"])), 0);
    team.config_change(change("true")).unwrap();
    assert!(
        team.record_refused_writes(refused("nobody", &["src/a"]))
            .is_err()
    );
    assert_eq!(events(&mut team).len(), before + 2);
    // A refused write does not count as activity of the agent.
    let active = |team: &mut Team| json(&team.who(&Default::default()).unwrap());
    let idle = active(&mut team);
    assert_eq!(record(&mut team, refused("dev", &["src/a"])), 1);
    assert_eq!(active(&mut team)["agents"], idle["agents"]);
}

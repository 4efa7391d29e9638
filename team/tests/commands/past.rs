//! Tests of a team at a point in its past: every query gives the answer of that time.

use crate::prelude::*;
use teamlog_engine::Clock;
use teamlog_engine::Point;
use teamlog_team::handle::past;
use teamlog_team::handle::past_folds::PastFolds;
use teamlog_team::lifecycle::status::Status;
use teamlog_team::log::diff::Diff;

/// Returns the answers of all queries as JSON.
fn answers(team: &mut Team) -> Vec<Value> {
    let trace = given!(Trace, trace_id: "tr");
    let read = given!(Read, agent: "dev");
    let show = given!(TaskShow, task_id: "t1", history: true);
    let shown = match team.task_show(show) {
        Ok(answer) => json(&answer),
        Err(failure) => failure.to_string().into(),
    };
    let mut replayed = Vec::new();
    team.export(&mut |line| {
        replayed.push(serde_json::from_slice::<Value>(line).unwrap());
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    vec![
        json(&status(team)),
        json(&team.tasks(Tasks::default()).unwrap()),
        json(&team.read(read).unwrap()),
        json(&team.trace(trace).unwrap()),
        json(&team.ready(&Ready::default()).unwrap()),
        shown,
        replayed.into(),
    ]
}

#[test]
fn every_query_answers_as_it_did_then() {
    for format in [Format::Jsonl, Format::Binary] {
        let (world, mut team) = team_of(None, format);
        let mut then = Vec::new();
        for n in 0..120_u64 {
            world.later(7 * MINUTE);
            let mut assignment = assign(&format!("t{}", n % 9), "dev");
            assignment.trace_id = (n % 3 == 0).then(|| "tr".into());
            match n % 4 {
                0 => drop(team.task_assign(assignment).unwrap()),
                1 => drop(
                    team.task_update(update(&format!("t{}", n % 9), "completed"))
                        .unwrap(),
                ),
                2 => drop(team.send(message("lead", "dev")).unwrap()),
                _ => drop(team.task_assign(assignment).unwrap()),
            }
            if n % 10 == 3 {
                let last = status(&mut team).last_seq;
                then.push((last, world.clock.now(), answers(&mut team)));
            }
            team.finish().unwrap();
        }
        let runs = world.memory.calls();
        for (seq, time, wanted) in then {
            let later = Point::Time(time.plus_micros(60));
            let past = world.root.team("demo").unwrap().at(later).unwrap();
            assert_eq!(past.moment().unwrap().seq, seq);
            for point in [Point::Seq(seq), Point::Time(time)] {
                let mut past = world.root.team("demo").unwrap().at(point).unwrap();
                assert_eq!(past.moment().unwrap().seq, seq);
                assert!(answers(&mut past) == wanted, "at {point:?}");
                // Repeats the queries. They now use the state that the handle keeps.
                assert!(answers(&mut past) == wanted, "again at {point:?}");
                past.finish().unwrap();
            }
        }
        let after = world.memory.calls();
        for call in ["write_at", "rename", "remove_file", "lock"] {
            assert_eq!(
                after.get(call),
                runs.get(call),
                "the past is not written to: {call}"
            );
        }
        settled_digest(&mut team);
    }
}

#[test]
fn a_seq_within_a_group_counts_without_the_rest_of_it() {
    let (world, mut team) = team_of(None, Format::Jsonl);
    // The first sender also joins, so the group has two events.
    team.send(message("lead", "dev")).unwrap();
    let mut past = world.root.team("demo").unwrap().at(Point::Seq(2)).unwrap();
    let answer = status(&mut past);
    assert_eq!((answer.events, answer.message_count), (2, 0));
    assert_eq!(answer.members, ["lead"]);
}

#[test]
fn now_is_the_time_of_the_point() {
    let (world, mut team) = demo();
    team.task_assign(assign("t1", "dev")).unwrap();
    let sent = world.clock.now();
    world.later(600 * MINUTE);
    team.send(message("lead", "qa")).unwrap();
    let stale = |point| {
        let mut past = world.root.team("demo").unwrap().at(point).unwrap();
        past.status(Status::default()).unwrap().stale_tasks.len()
    };
    assert_eq!(stale(Point::Seq(2)), 0);
    assert_eq!(stale(Point::Time(sent.plus_micros(89 * MINUTE))), 0);
    assert_eq!(stale(Point::Time(sent.plus_micros(91 * MINUTE))), 1);
    assert_eq!(stale(Point::Seq(3)), 1);
}

#[test]
fn a_point_that_is_none_is_refused() {
    let (world, mut team) = demo();
    team.send(message("lead", "dev")).unwrap();
    let now = world.clock.now();
    for (point, said) in [
        (Point::Seq(0), "1 to 2, but is 0"),
        (Point::Seq(3), "1 to 2, but is 3"),
        (
            Point::Time(now.plus_micros(-1)),
            "between the first event of demo (2026-11-21T12:00:00.000000Z) and now",
        ),
        (
            Point::Time(now.plus_micros(MINUTE)),
            "and now, but is 2026-11-21T12:01:00.000000Z",
        ),
    ] {
        let refusal = refused(
            world.root.team("demo").unwrap().at(point),
            Code::PointUnknown,
        );
        assert!(refusal.message.contains(said), "{refusal}");
        assert_eq!(refusal.field.as_deref(), Some("at"));
    }
    // The time of the last event and any later time mean the present.
    world.later(MINUTE);
    let late = Point::Time(world.clock.now());
    assert_eq!(
        world
            .root
            .team("demo")
            .unwrap()
            .at(late)
            .unwrap()
            .moment()
            .unwrap()
            .seq,
        2
    );
    assert_eq!(past::point("17"), Ok(Point::Seq(17)));
    assert_eq!(past::point("2026-11-21T12:00:00Z"), Ok(Point::Time(now)));
    for bad in ["", "-1", "soon", "99999999999999999999"] {
        assert!(past::point(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn the_past_cannot_be_changed() {
    let (world, mut team) = demo();
    team.send(message("lead", "dev")).unwrap();
    team.send(message("lead", "dev")).unwrap();
    let mut past = world.root.team("demo").unwrap().at(Point::Seq(2)).unwrap();
    refused(past.send(message("lead", "dev")), Code::PastReadOnly);
    refused(past.task_assign(assign("t1", "dev")), Code::PastReadOnly);
    refused(
        past.rehydrate(Rehydrate::default(), &mut |_, _| {}),
        Code::PastReadOnly,
    );
    assert_eq!(status(&mut past).events, 2);
    assert_eq!(status(&mut team).events, 3);
}

#[test]
fn a_damaged_run_leaves_the_past_right() {
    let (world, mut team) = demo();
    for n in 0..200 {
        team.task_assign(assign(&format!("t{}", n % 9), "dev"))
            .unwrap();
        team.finish().unwrap();
    }
    let wanted = status(
        &mut world
            .root
            .team("demo")
            .unwrap()
            .at(Point::Seq(150))
            .unwrap(),
    );
    let dir = teamlog_team::projections::live::derived_dir(team.log().dir());
    for name in world.memory.list(&dir).unwrap() {
        let path = dir.join(name);
        let len = world.memory.stat(&path).unwrap().unwrap().len;
        for at in (0..len).step_by(97) {
            world.memory.corrupt(&path, at, 0x55).unwrap();
        }
    }
    let found = status(
        &mut world
            .root
            .team("demo")
            .unwrap()
            .at(Point::Seq(150))
            .unwrap(),
    );
    assert_eq!(json(&found), json(&wanted));
}

#[test]
fn a_process_that_stays_folds_no_more_pasts_at_a_time_than_it_may() {
    let (world, mut team) = demo();
    team.send(message("lead", "dev")).unwrap();
    let folds = Arc::new(PastFolds::new(1, Duration::ZERO));
    let options = RootOptions {
        past_folds: Some(folds.clone()),
        ..world.root.options().clone()
    };
    let root = Root::on(world.memory.clone(), options);
    let diff = given!(Diff; from: Point::Seq(1), to: None, limit: None, cursor: None::<String>);
    let then = || root.team("demo").unwrap().at(Point::Seq(1)).unwrap();
    let fold = folds.take().unwrap();
    let diffed = root.team("demo").unwrap().diff(&diff).map(drop);
    refused(diffed, Code::PastBusy);
    refused(then().tasks(Tasks::default()).map(drop), Code::PastBusy);
    // A query of the present state needs no fold of past events.
    root.team("demo").unwrap().tasks(Tasks::default()).unwrap();
    drop(fold);
    root.team("demo").unwrap().diff(&diff).unwrap();
    then().tasks(Tasks::default()).unwrap();
    assert!(folds.take().is_ok(), "every fold came back");
}

//! Tests of differences, histories and traces of tasks that commands move.

use crate::claims::{claim, claimed, complete, new, waiting};
use crate::leases::release;
use crate::prelude::*;
use teamlog_team::engine::Point;
use teamlog_team::log::diff::Diff;

#[test]
fn a_difference_names_what_a_claim_changed() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    team.task_finish(complete(&held)).unwrap();
    let diff = team
        .diff(&given!(Diff; from: Point::Seq(2), to: None, limit: None, cursor: None::<String>))
        .unwrap();
    let fields: Vec<&str> = diff.tasks[0].fields.keys().map(String::as_str).collect();
    names!(fields => completed_at epoch owner started_at status);
}

#[test]
fn the_history_of_a_task_holds_all_that_commands_did_to_it() {
    let (_, mut team) = demo();
    let one = claimed(&mut team, new("1"));
    team.task_create(waiting("2", &["1"])).unwrap();
    team.task_finish(complete(&one)).unwrap();
    let show = |id: &str| given!(TaskShow, task_id: id, history: true);
    let mut kinds = |id: &str| {
        let history = team.task_show(show(id)).unwrap().history.unwrap();
        let kinds: Vec<String> = history
            .iter()
            .map(|event| event.event.kind.to_string())
            .collect();
        kinds
    };
    names!(kinds("1") => task_created task_claimed task_completed);
    assert_eq!(kinds("2"), ["task_created", "task_unblocked"]);
}

#[test]
fn a_trace_shows_each_turn_of_a_task_as_a_span() {
    let (world, mut team) = demo();
    team.under(given!(Control, trace_id: "tr-1"));
    team.task_create(new("first")).unwrap();
    let one = team.task_claim(claim("1", "dev")).unwrap();
    team.task_release(release(&one)).unwrap();
    team.task_claim(claim("1", "qa")).unwrap();
    world.later(MINUTE * 20);
    team.tick(Tick::default()).unwrap();
    let two = team.task_claim(claim("1", "dev")).unwrap();
    team.task_finish(complete(&two)).unwrap();
    let trace = team
        .trace(given!(teamlog_team::story::trace::Trace, trace_id: "tr-1"))
        .unwrap();
    let trace = json(&trace);
    let spans: Vec<(&str, &str)> = trace["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| {
            (
                span["agent"].as_str().unwrap(),
                span["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        spans,
        [
            ("dev", "released"),
            ("qa", "lease_expired"),
            ("dev", "completed")
        ]
    );
}

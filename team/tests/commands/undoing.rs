//! Tests of `undo`: the events that it appends for each kind of command, and its refusals.

use crate::claims::{claim, new};
use crate::prelude::*;
use teamlog_team::undo::{Undo, UndoAnswer};

fn undo(team: &mut Team) -> Result<UndoAnswer, Failure> {
    team.undo(given!(Undo, worker: "lead"))
}

/// Carries out an operation as `lead`.
fn lead(world: &World, operation: &str, input: Value) {
    let Value::Object(mut input) = input else {
        unreachable!()
    };
    input.insert("team_name".into(), "demo".into());
    let control = given!(Control, actor: "lead", ..Control::default());
    api::call(&world.root, api::find(operation).unwrap(), input, control).unwrap();
}

fn record(team: &mut Team) -> Value {
    let read = api::find("read-task").unwrap();
    let answer = read
        .execute(team, &json!({"task_id": "1"}).to_string())
        .unwrap();
    serde_json::from_str::<Value>(answer.get()).unwrap()["task"].clone()
}

#[test]
fn a_creation_is_undone_as_a_cancellation_and_that_is_undone_too() {
    let (world, mut team) = demo();
    lead(
        &world,
        "create-task",
        json!({"subject": "one", "description": "d", "owner": "dev"}),
    );
    let undone = undo(&mut team).unwrap();
    assert_eq!(
        (&*undone.undone, &*undone.text),
        ("task_created", "task 1 is canceled")
    );
    assert_eq!(record(&mut team)["status"], "canceled");
    let cause = events(&mut team).pop().unwrap();
    assert_eq!(
        cause["cause"],
        events(&mut team)[usize::try_from(undone.seq).unwrap() - 1]["id"]
    );
    let again = undo(&mut team).unwrap();
    assert_eq!(
        (&*again.undone, &*again.text),
        ("task_canceled", "task 1 is open again")
    );
    let task = record(&mut team);
    assert_eq!(
        (&task["status"], &task["owner"]),
        (&json!("pending"), &json!("dev"))
    );
}

#[test]
fn an_edit_is_undone_field_by_field_and_redone() {
    let (world, mut team) = demo();
    lead(
        &world,
        "create-task",
        json!({"subject": "one", "description": "d", "labels": ["api"], "due_at": "3d"}),
    );
    lead(
        &world,
        "create-task",
        json!({"subject": "two", "description": "d"}),
    );
    let before = record(&mut team);
    let edit = json!({"task_id": "1", "subject": "uno", "labels": ["+ui"], "due_at": "none", "priority": "high",
        "blocked_by": ["2"], "requires_approval": true});
    lead(&world, "edit-task", edit);
    let after = record(&mut team);
    undo(&mut team).unwrap();
    let restored = record(&mut team);
    for field in [
        "subject",
        "labels",
        "due_at",
        "priority",
        "depends_on",
        "status",
    ] {
        assert_eq!(restored.get(field), before.get(field), "{field}");
        assert_ne!(restored.get(field), after.get(field), "{field}");
    }
    undo(&mut team).unwrap();
    let redone = record(&mut team);
    for field in [
        "subject",
        "labels",
        "due_at",
        "priority",
        "depends_on",
        "status",
    ] {
        assert_eq!(redone.get(field), after.get(field), "{field}");
    }
}

#[test]
fn an_assignment_a_setting_and_a_mode_are_undone() {
    let (world, mut team) = demo();
    lead(
        &world,
        "create-task",
        json!({"subject": "one", "description": "d", "owner": "dev"}),
    );
    lead(
        &world,
        "assign-task",
        json!({"task_id": "1", "owner": "qa"}),
    );
    undo(&mut team).unwrap();
    assert_eq!(record(&mut team)["owner"], "dev");
    let idle =
        |team: &mut Team| json(&team.config_get("nudge.idle_seconds").unwrap())["value"].clone();
    let default = idle(&mut team);
    lead(
        &world,
        "config-set",
        json!({"setting": "nudge.idle_seconds", "value": "77"}),
    );
    assert_eq!(idle(&mut team), 77);
    undo(&mut team).unwrap();
    assert_eq!(idle(&mut team), default);
    undo(&mut team).unwrap();
    assert_eq!(idle(&mut team), 77);
    lead(&world, "mode-start", json!({"mode": "forge"}));
    assert_eq!(undo(&mut team).unwrap().text, "mode forge is canceled");
    let state = team.mode_list(given!(ModeList)).unwrap();
    assert!(
        !json(&state).to_string().contains("\"active\":true"),
        "{state:?}"
    );
}

#[test]
fn a_takeover_is_undone_to_the_former_holder_without_its_claim() {
    let (world, mut team) = demo();
    team.task_create(new("1")).unwrap();
    team.task_claim(claim("1", "dev")).unwrap();
    lead(
        &world,
        "assign-task",
        json!({"task_id": "1", "owner": "qa", "force": true}),
    );
    let undone = undo(&mut team).unwrap();
    assert_eq!(undone.text, "task 1 is for dev, who must claim it again");
    assert_eq!(record(&mut team)["owner"], "dev");
}

#[test]
fn what_cannot_be_undone_is_refused_with_the_reason() {
    let (world, mut team) = demo();
    let why = |team: &mut Team, undo: Undo| {
        let before = events(team).len();
        let refusal = refused(team.undo(undo), Code::InvalidTransition);
        assert_eq!(events(team).len(), before);
        refusal.message.clone()
    };
    let own = given!(Undo, worker: "lead");
    shows!(&*why(&mut team, given!(Undo, worker: "nobody")) => has "has recorded nothing");
    lead(
        &world,
        "send",
        json!({"from": "lead", "to": "dev", "type": "handoff"}),
    );
    shows!(&*why(&mut team, own.clone()) => has "is a message");
    lead(
        &world,
        "create-task",
        json!({"subject": "one", "description": "d"}),
    );
    let created = events(&mut team).len() as u64;
    let held = team.task_claim(claim("1", "dev")).unwrap();
    shows!(&*why(&mut team, own) => has "task 1 changed since", has "task_claimed by dev");
    let finish = given!(TaskFinish, task_id: "1", from: "in_progress", to: "completed",
        epoch: held.epoch, worker: "dev");
    team.task_finish(finish).unwrap();
    shows!(&*why(&mut team, given!(Undo, worker: "dev")) => has "task 1 is completed, and that is final");
    shows!(&*why(&mut team, given!(Undo, worker: "dev", seq: created)) => has "was recorded by lead, not by dev");
    refused(team.undo(given!(Undo, seq: 999)), Code::PointUnknown);
    refused(team.undo(given!(Undo, seq: 0)), Code::PointUnknown);
}

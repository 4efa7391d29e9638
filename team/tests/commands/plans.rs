//! Tests of plans of tasks: labels, times and parents. Also tests of assignments and edits of tasks that an agent holds.

use crate::attention::items;
use crate::claims::{claim, new};
use crate::prelude::*;
use teamlog_team::attention::AttentionKind;

fn edit(task_id: &str) -> TaskEdit {
    given!(TaskEdit, task_id)
}

fn part(task_id: &str, parent: &str) -> TaskCreate {
    given!(TaskCreate, task_id, parent, ..new(task_id))
}

fn next(team: &mut Team, worker: &str) -> Option<String> {
    let next = given!(ClaimNext, worker);
    let taken = team.claim_next(next).unwrap().task;
    taken.map(|task| task.task.task_id)
}

fn ready(team: &mut Team, ready: Ready) -> Vec<String> {
    let answer = team.ready(&ready).unwrap();
    assert_eq!(answer.total, answer.tasks.len() as u64);
    answer
        .tasks
        .iter()
        .map(|task| task.task_id.clone())
        .collect()
}

fn listed(team: &mut Team, tasks: Tasks) -> Vec<String> {
    let page = team.tasks(tasks).unwrap();
    page.tasks.iter().map(|task| task.task_id.clone()).collect()
}

fn shown(team: &mut Team, task_id: &str) -> Value {
    let read = api::find("read-task").unwrap();
    let input = json!({"task_id": task_id}).to_string();
    let answer = read.execute(team, &input).unwrap();
    serde_json::from_str::<Value>(answer.get()).unwrap()["task"].clone()
}

#[test]
fn labels_are_set_added_and_removed_and_filter_the_lists() {
    let (_, mut team) = demo();
    let labels = ["api".to_owned(), "db".to_owned()];
    team.task_create(given!(TaskCreate, labels: labels.to_vec(), ..new("1")))
        .unwrap();
    team.task_create(new("2")).unwrap();
    let mut relabel = |wanted: &[&str]| {
        let labels: Vec<String> = wanted.iter().map(|label| (*label).to_owned()).collect();
        let edited = team.task_edit(given!(TaskEdit, labels: labels, ..edit("1")))?;
        Ok::<_, Failure>(edited.task.task.governed.plan.labels)
    };
    assert_eq!(relabel(&["+ui", "-db"]).unwrap(), ["api", "ui"]);
    assert_eq!(relabel(&["new"]).unwrap(), ["new"]);
    assert_eq!(relabel(&["+ui", "+ui"]).unwrap(), ["new", "ui"]);
    for bad in ["", "+", "a b", "a,b", "--a"] {
        refused(relabel(&[bad]), Code::InvalidInput);
    }
    let labeled = given!(Tasks, label: "ui");
    assert_eq!(listed(&mut team, labeled.clone()), ["1"]);
    let done = given!(Tasks, status: "completed", ..labeled.clone());
    assert!(listed(&mut team, done).is_empty());
    assert_eq!(ready(&mut team, given!(Ready, label: "ui")), ["1"]);
    let next = given!(ClaimNext, worker: "dev", label: "db");
    assert!(team.claim_next(next).unwrap().task.is_none());
    let next = given!(ClaimNext, worker: "dev", label: "ui");
    assert_eq!(
        team.claim_next(next).unwrap().task.unwrap().task.task_id,
        "1"
    );
    let mut edited = given!(TaskEdit, worker: "dev", ..edit("1"));
    edited.labels = Some(Vec::new());
    team.task_edit(edited).unwrap();
    assert!(listed(&mut team, labeled).is_empty());
    assert!(shown(&mut team, "1").get("labels").is_none());
}

#[test]
fn a_deferred_task_is_offered_from_its_time_on() {
    let (world, mut team) = demo();
    team.task_create(given!(TaskCreate, defer_until: "90m", priority: "high", ..new("1")))
        .unwrap();
    team.task_create(new("2")).unwrap();
    assert_eq!(ready(&mut team, Ready::default()), ["2"]);
    world.later(90 * MINUTE);
    assert_eq!(ready(&mut team, Ready::default()), ["1", "2"]);
    assert_eq!(ready(&mut team, given!(Ready, agent: "dev")), ["1", "2"]);
    assert_eq!(
        next(&mut team, "dev").as_deref(),
        Some("1"),
        "the most urgent one"
    );
    team.task_edit(given!(TaskEdit, defer_until: "tomorrow", ..edit("2")))
        .unwrap();
    assert_eq!(next(&mut team, "qa"), None);
    team.task_edit(given!(TaskEdit, defer_until: "none", ..edit("2")))
        .unwrap();
    assert_eq!(next(&mut team, "qa").as_deref(), Some("2"));
}

#[test]
fn a_task_is_overdue_until_it_ends_and_its_time_is_absolute() {
    let (world, mut team) = demo();
    team.task_create(given!(TaskCreate, due_at: "2h", ..new("1")))
        .unwrap();
    assert_eq!(
        shown(&mut team, "1")["due_at"],
        "2026-11-21T14:00:00.000000Z"
    );
    world.later(119 * MINUTE);
    assert!(items(&mut team).is_empty());
    world.later(MINUTE);
    let found = items(&mut team);
    assert_eq!((found.len(), found[0].kind), (1, AttentionKind::Overdue));
    assert_eq!(
        found[0].text,
        "overdue: 1 was due by 2026-11-21T14:00:00.000000Z"
    );
    refused(
        team.task_edit(given!(TaskEdit, due_at: "soon", ..edit("1"))),
        Code::InvalidInput,
    );
    team.task_cancel(given!(TaskCancel, task_id: "1")).unwrap();
    assert!(items(&mut team).is_empty());
}

#[test]
fn a_parent_shows_its_progress_and_is_offered_after_its_parts() {
    let (_, mut team) = demo();
    team.task_create(given!(TaskCreate, task_id: "ship", ..new("ship")))
        .unwrap();
    for id in ["a", "b"] {
        team.task_create(part(id, "ship")).unwrap();
    }
    assert_eq!(
        shown(&mut team, "ship")["children"],
        json!({"total": 2, "open": 2, "completed": 0})
    );
    assert_eq!(ready(&mut team, Ready::default()), ["a", "b"]);
    assert_eq!(ready(&mut team, given!(Ready, parent: "ship")), ["a", "b"]);
    assert_eq!(listed(&mut team, given!(Tasks, parent: "ship")), ["a", "b"]);
    assert_eq!(next(&mut team, "dev").as_deref(), Some("a"));
    let finish = given!(TaskFinish, task_id: "a", from: "in_progress", to: "completed", epoch: 1);
    team.task_finish(finish).unwrap();
    assert_eq!(
        shown(&mut team, "ship")["children"],
        json!({"total": 2, "open": 1, "completed": 1})
    );
    let moved = given!(TaskEdit, parent: "none", ..edit("b"));
    team.task_edit(moved).unwrap();
    assert_eq!(ready(&mut team, Ready::default()), ["ship", "b"]);
    assert_eq!(
        shown(&mut team, "ship")["children"],
        json!({"total": 1, "open": 0, "completed": 1})
    );
}

#[test]
fn a_parent_that_cannot_come_last_is_refused() {
    let (_, mut team) = demo();
    for task in [new("1"), part("2", "1"), part("3", "2")] {
        team.task_create(task).unwrap();
    }
    refused(team.task_create(part("4", "99")), Code::TaskNotFound);
    for (task, parent) in [("1", "1"), ("1", "3")] {
        let moved = given!(TaskEdit, parent, ..edit(task));
        refused(team.task_edit(moved), Code::DependencyCycle);
    }
    // A part must not wait for its parent, because neither task could ever be completed.
    let waits = given!(TaskEdit, blocked_by: vec!["1".to_owned()], ..edit("3"));
    refused(team.task_edit(waits), Code::DependencyCycle);
    let waits = given!(TaskCreate, blocked_by: vec!["2".to_owned()], ..part("4", "2"));
    refused(team.task_create(waits), Code::DependencyCycle);
}

#[test]
fn a_free_task_is_assigned_and_a_held_one_is_taken_by_the_leader() {
    let (_, mut team) = demo();
    team.task_create(new("1")).unwrap();
    let assign = |owner: &str| given!(TaskAssignment, task_id: "1", owner);
    let answer = team.task_assignment(assign("qa")).unwrap();
    assert_eq!(
        (answer.task.task.owner.as_deref(), answer.taken_from),
        (Some("qa"), None)
    );
    let before = events(&mut team).len();
    let again = team.task_assignment(assign("qa")).unwrap();
    assert!(again.unchanged && !answer.unchanged);
    assert_eq!(events(&mut team).len(), before);
    refused(team.task_claim(claim("1", "dev")), Code::ClaimConflict);
    assert!(!team.task_assignment(assign("dev")).unwrap().unchanged);
    let held = team.task_claim(claim("1", "dev")).unwrap();
    refused(team.task_assignment(assign("qa")), Code::NotHolder);
    let by_qa = given!(TaskAssignment, worker: "qa", ..assign("qa"));
    let refusal = refused(team.task_assignment(by_qa.clone()), Code::NotHolder);
    shows!(refusal.hint.as_deref().unwrap() => has "override the claim with force");
    let forced = given!(TaskAssignment, force: true, ..by_qa);
    let answer = team.task_assignment(forced).unwrap();
    assert_eq!(answer.taken_from.as_deref(), Some("dev"));
    let task = &answer.task.task;
    assert_eq!(
        (task.governed.epoch, task.status.name(), task.claim()),
        (2, "pending", None)
    );
    let recorded = events(&mut team);
    let group = &recorded[recorded.len() - 2..];
    assert_eq!(
        (&group[0]["kind"], &group[1]["kind"]),
        (&json!("task_assigned"), &json!("message_sent"))
    );
    assert_eq!(
        group[0]["payload"]["taken_from"],
        json!({"worker": "dev", "epoch": 1, "forced": true})
    );
    let told = &group[1]["payload"]["message"];
    assert_eq!(
        (&told["to"], &told["task_id"]),
        (&json!("dev"), &json!("1"))
    );
    assert!(
        told["payload"]["body"]
            .as_str()
            .unwrap()
            .contains("took task 1 from you"),
        "{told}"
    );
    let late =
        given!(TaskFinish, task_id: "1", from: "in_progress", to: "completed", epoch: held.epoch);
    refused(team.task_finish(late), Code::ClaimConflict);
    assert_eq!(next(&mut team, "dev"), None);
    assert_eq!(next(&mut team, "qa").as_deref(), Some("1"));
    assert_eq!(shown(&mut team, "1")["epoch"], 3);
    // The leader needs no force.
    let led = given!(TaskAssignment, worker: "leader-fixed", task_id: "1");
    assert_eq!(
        team.task_assignment(led).unwrap().taken_from.as_deref(),
        Some("qa")
    );
    assert_eq!(next(&mut team, "dev").as_deref(), Some("1"));
}

#[test]
fn a_held_task_is_edited_by_its_holder_or_by_force() {
    let (_, mut team) = demo();
    team.task_create(new("1")).unwrap();
    team.task_claim(claim("1", "dev")).unwrap();
    let urgent = given!(TaskEdit, priority: "high", ..edit("1"));
    refused(team.task_edit(urgent.clone()), Code::NotHolder);
    team.task_edit(given!(TaskEdit, worker: "dev", ..urgent.clone()))
        .unwrap();
    let before = events(&mut team).len();
    let forced = given!(TaskEdit, worker: "qa", force: true, ..urgent);
    let task = team.task_edit(forced).unwrap().task.task;
    assert_eq!(
        (task.priority.name(), task.claim().is_some()),
        ("high", true)
    );
    let group = events(&mut team).split_off(before);
    assert_eq!(group[0]["payload"]["forced"], true);
    assert_eq!(
        (&group[1]["kind"], &group[1]["agent"]),
        (&json!("message_sent"), &json!("dev"))
    );
    refused(team.task_edit(edit("1")), Code::InvalidInput);
}

//! Tests of message-governed tasks.

use crate::prelude::*;

fn show(id: &str) -> TaskShow {
    given!(TaskShow, task_id: id, history: true)
}

#[test]
fn an_assignment_and_its_reports_make_the_snapshot() {
    let (world, mut team) = demo();
    let assignment = given!(TaskAssign, details: "all of it", trace_id: "tr_1", deps: ["t0"],
        ..assign("t1", "dev"));
    let sent = team.task_assign(assignment).unwrap();
    assert_eq!(
        json(&sent)["message"]["payload"],
        serde_json::json!({"subject": "do t1", "details": "all of it", "deps": ["t0"]})
    );
    world.later(SECOND);
    let report = given!(TaskUpdate, progress: "half", note: "going well", blocked: false,
        ..update("t1", "in_progress"));
    let reported = team.task_update(report).unwrap();
    assert_eq!(
        reported.message.trace_id.as_deref(),
        Some("tr_1"),
        "the trace is inherited from the task"
    );
    let task = team.task_show(show("t1")).unwrap().task;
    assert_eq!(task.status.name(), "in_progress");
    assert_eq!(task.owner.as_deref(), Some("dev"));
    assert_eq!(task.assigned_by.as_deref(), Some("lead"));
    assert_eq!(task.subject.as_deref(), Some("do t1"));
    assert_eq!(task.note.as_deref(), Some("going well"));
    assert_eq!(task.snapshot_version, 2);
    assert_eq!(task.last_message_id, reported.message.id);
}

#[test]
fn a_late_report_changes_nothing_and_is_marked_superseded() {
    let (world, mut team) = demo();
    team.task_assign(assign("t1", "dev")).unwrap();
    world.later(10 * SECOND);
    team.task_update(update("t1", "done")).unwrap();
    let late =
        given!(TaskUpdate, created_at: "2026-11-21T12:00:05Z", ..update("t1", "in_progress"));
    team.task_update(late).unwrap();
    let answer = team.task_show(show("t1")).unwrap();
    assert_eq!(answer.task.status.name(), "completed");
    assert_eq!(answer.task.snapshot_version, 2);
    let marks: Vec<bool> = answer
        .history
        .unwrap()
        .iter()
        .map(|event| event.marks.superseded)
        .collect();
    assert_eq!(marks, [false, false, true]);
}

#[test]
fn tasks_list_in_natural_order_by_page_status_and_owner() {
    let (world, mut team) = demo();
    for (id, owner) in [("t10", "dev"), ("t2", "qa"), ("t1", "dev"), ("t9", "dev")] {
        team.task_assign(assign(id, owner)).unwrap();
        world.later(SECOND);
    }
    team.task_update(update("t9", "skipped")).unwrap();
    let mut ids = |tasks: Tasks| {
        let page = team.tasks(tasks).unwrap();
        assert_eq!(page.count, page.tasks.len());
        let ids: Vec<&str> = page.tasks.iter().map(|task| &*task.task_id).collect();
        (ids.join(" "), page.next_cursor)
    };
    assert_eq!(ids(Tasks::default()), ("t1 t2 t9 t10".into(), None));
    let page = |cursor: Option<&str>| given!(Tasks, limit: 2, cursor);
    assert_eq!(ids(page(None)), ("t1 t2".into(), Some("t2".into())));
    assert_eq!(ids(page(Some("t2"))), ("t9 t10".into(), None));
    let of = |status: Option<&str>, owner: Option<&str>| given!(Tasks, status, owner);
    assert_eq!(ids(of(Some("assigned"), Some("dev"))).0, "t1 t10");
    assert_eq!(ids(of(Some("cancelled"), None)).0, "t9");
    assert_eq!(ids(of(None, Some("qa"))).0, "t2");
    assert_eq!(ids(of(Some("failed"), None)).0, "");
    let refusal = refused(team.tasks(of(Some("finished"), None)), Code::InvalidInput);
    assert!(refusal.message.contains("in_progress"), "{refusal}");
    refused(team.tasks(page(Some("t3"))), Code::CursorUnknown);
}

#[test]
fn an_unknown_task_is_not_found_and_a_report_creates_it() {
    let (_, mut team) = demo();
    let refusal = refused(team.task_show(show("t1")), Code::TaskNotFound);
    assert_eq!(refusal.details["task_id"], "t1");
    let note = given!(TaskUpdate, status: None::<String>, note: "seen", ..update("t1", ""));
    team.task_update(note).unwrap();
    shows!(team.task_show(show("t1")).unwrap().task.status.name() => is "pending");
}

#[test]
fn the_history_holds_every_event_that_names_the_task() {
    let (_, mut team) = demo();
    team.task_assign(assign("t1", "dev")).unwrap();
    team.send(given!(Send, task_id: "t1", ..crate::world::message("qa", "dev")))
        .unwrap();
    team.task_assign(assign("t2", "dev")).unwrap();
    let history = team.task_show(show("t1")).unwrap().history.unwrap();
    let seqs: Vec<u64> = history.iter().map(|event| event.event.seq).collect();
    assert_eq!(seqs, [2, 3]);
    let without = given!(TaskShow, history: false, ..show("t1"));
    assert!(
        json(&team.task_show(without).unwrap())
            .get("history")
            .is_none()
    );
}

#[test]
fn a_history_is_shown_by_pages_towards_older_events() {
    let (world, mut team) = demo();
    team.task_assign(assign("t1", "dev")).unwrap();
    for _ in 0..6 {
        world.later(SECOND);
        team.task_update(update("t1", "in_progress")).unwrap();
        team.task_assign(assign("t2", "dev")).unwrap();
    }
    let page = |team: &mut teamlog_team::Team, limit, cursor| {
        let asked = given!(TaskShow, limit, cursor, ..show("t1"));
        let answer = team.task_show(asked).unwrap();
        let seqs: Vec<u64> = answer
            .history
            .unwrap()
            .iter()
            .map(|event| event.event.seq)
            .collect();
        (seqs, answer.next_cursor)
    };
    let (all, end) = page(&mut team, Some(0), None);
    assert_eq!((all.len(), end), (7, None));
    let (mut paged, mut cursor) = page(&mut team, Some(3), None);
    assert_eq!(paged, all[4..]);
    while let Some(next) = cursor {
        let (older, more) = page(&mut team, Some(3), Some(next));
        paged.splice(0..0, older);
        cursor = more;
    }
    assert_eq!(paged, all);
    let elsewhere = team.task_show(given!(TaskShow, limit: 1, ..show("t2")));
    let foreign = elsewhere.unwrap().next_cursor;
    for cursor in [foreign, Some("nonsense".into())] {
        let asked = given!(TaskShow, cursor, ..show("t1"));
        refused(team.task_show(asked), Code::CursorUnknown);
    }
}

//! Tests of approvals: tasks show their approval, and a task that requires an approval cannot be completed without it.

use crate::attention::items;
use crate::claims::{change, claim, claimed, complete, new, status, task, waiting};
use crate::prelude::*;
use teamlog_team::attention::AttentionKind;
use teamlog_team::lifecycle::status::Status;
use teamlog_team::message::effect::Applied;
use teamlog_team::ownership::review::ReviewRequest;
use teamlog_team::projections::task::Attributes;
use teamlog_team::projections::task::event::TaskCreated;
use teamlog_team::task::approval::WriteApproval;
use teamlog_team::undo::Undo;

fn approval(required: bool) -> Attributes {
    Attributes {
        requires_approval: Some(required),
        ..Attributes::default()
    }
}

fn decide(team: &mut Team, task: &str, status: &str, why: &str) {
    let input =
        json!({"task_id": task, "status": status, "reviewer": "lead", "decision_reason": why});
    let operation = api::find("write-task-approval").unwrap();
    operation.execute(team, &input.to_string()).unwrap();
}

fn gated(subject: &str) -> TaskCreate {
    given!(TaskCreate, attributes: approval(true), ..new(subject))
}

#[test]
fn an_approval_counts_only_for_the_claim_in_which_it_was_given() {
    let (world, mut team) = demo();
    team.task_create(gated("first")).unwrap();
    // An approval before the first claim is recorded, but it does not count, and the answer says so.
    let early = given!(WriteApproval, task_id: "1", status: "approved", reviewer: "lead", decision_reason: "fine", required: true);
    let note = team.write_approval(early).unwrap().note.unwrap();
    shows!(&*note => has "no agent holds task 1");
    world.later(SECOND);
    let held = team.task_claim(claim("1", "dev")).unwrap();
    refused(team.task_finish(complete(&held)), Code::ApprovalRequired);
    world.later(SECOND);
    decide(&mut team, "1", "approved", "fine");
    let release = given!(teamlog_team::task::release::TaskRelease, task_id: "1", worker: "dev", claim_token: held.claim_token.clone());
    team.task_release(release).unwrap();
    world.later(SECOND);
    // The approval was for the work of dev.
    let held = team.task_claim(claim("1", "qa")).unwrap();
    let refusal = refused(team.task_finish(complete(&held)), Code::ApprovalRequired);
    shows!(&*refusal.message => has "before the present claim");
    world.later(SECOND);
    decide(&mut team, "1", "approved", "fine");
    team.task_finish(complete(&held)).unwrap();
}

/// Creates a task by message, then edits it to require an approval.
fn gated_by_message(team: &mut Team, id: &str) {
    team.task_assign(assign(id, "dev")).unwrap();
    let edit = given!(TaskChange, attributes: approval(true), ..change(id));
    let edited = team.task_change(edit).unwrap().task;
    assert_eq!(edited.governed.attributes.requires_approval, Some(true));
}

fn digest(team: &mut Team) -> Option<String> {
    let asked = given!(Status, digest: true);
    team.status(asked).unwrap().state_digest
}

fn primed(team: &mut Team) -> Value {
    json(&team.prime(&given!(Prime, agent: "dev")).unwrap())
}

#[test]
fn a_task_that_requires_an_approval_is_completed_only_with_one() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, gated("first"));
    assert_eq!(held.task.governed.attributes.requires_approval, Some(true));
    let refusal = refused(team.task_finish(complete(&held)), Code::ApprovalRequired);
    shows!(&*refusal.message => has "task 1 requires an approval", has "there is no decision yet");
    for decision in ["pending", "rejected"] {
        decide(&mut team, "1", decision, "no tests");
        let refusal = refused(team.task_finish(complete(&held)), Code::ApprovalRequired);
        assert_eq!(refusal.details["approval"]["status"], *decision);
    }
    assert_eq!(status(&mut team, "1"), "in_progress");
    decide(&mut team, "1", "approved", "fine");
    team.task_finish(complete(&held)).unwrap();
    assert_eq!(status(&mut team, "1"), "completed");
    // A task can fail without an approval.
    let held = claimed(&mut team, gated("second"));
    let failed = given!(TaskFinish, to: "failed", error: "it broke", ..complete(&held));
    team.task_finish(failed).unwrap();
}

#[test]
fn an_edit_begins_and_ends_it() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    let edit = |requires: bool| given!(TaskChange, attributes: approval(requires), ..change("1"));
    team.task_change(edit(true)).unwrap();
    refused(team.task_finish(complete(&held)), Code::ApprovalRequired);
    let subject = given!(TaskChange, subject: "other", ..change("1"));
    team.task_change(subject).unwrap();
    refused(team.task_finish(complete(&held)), Code::ApprovalRequired);
    team.task_change(edit(false)).unwrap();
    team.task_finish(complete(&held)).unwrap();
}

#[test]
fn nothing_else_stands_in_the_way_of_a_completion() {
    let (_, mut team) = demo();
    let plain = claimed(&mut team, new("first"));
    decide(&mut team, "1", "rejected", "no tests");
    team.task_finish(complete(&plain)).unwrap();
    let needs_code = Attributes {
        requires_code_change: Some(true),
        ..Attributes::default()
    };
    let code = given!(TaskCreate, attributes: needs_code, ..new("second"));
    let code = claimed(&mut team, code);
    decide(&mut team, "2", "rejected", "no tests");
    team.task_finish(complete(&code)).unwrap();
    team.task_assign(assign("T-1", "dev")).unwrap();
    decide(&mut team, "T-1", "rejected", "no tests");
    let sent = team.task_update(update("T-1", "done")).unwrap();
    assert_eq!(sent.applied, Some(Applied::Applied));
    assert_eq!(status(&mut team, "T-1"), "completed");
}

#[test]
fn a_field_of_that_name_in_an_old_log_gates_nothing() {
    let old = json!({"task_id": "1", "subject": "s", "description": "d", "status": "pending", "depends_on": [],
        "extra": {"requires_approval": true}});
    let created: TaskCreated = serde_json::from_value(old).unwrap();
    assert_eq!(created.attributes.requires_approval, None);
    let (_, mut team) = demo();
    let own = Map::from_iter([("approval".to_owned(), json!("mine"))]);
    let own = given!(TaskCreate, extra: own, ..new("first"));
    refused(team.task_create(own), Code::InvalidInput);
}

#[test]
fn a_message_does_not_complete_a_task_without_the_approval_nor_free_others() {
    let (world, mut team) = demo();
    gated_by_message(&mut team, "T-1");
    team.task_create(waiting("behind it", &["T-1"])).unwrap();
    let note = given!(TaskUpdate, note: "all of it", ..update("T-1", "done"));
    let sent = team.task_update(note.clone()).unwrap();
    assert_eq!(
        (sent.status, sent.applied),
        (SendStatus::Sent, Some(Applied::NotApplied))
    );
    assert_eq!(sent.reason.as_deref(), Some("approval_required"));
    assert_eq!(
        json(&sent.not_applied),
        json!({"status": "approval_required"})
    );
    let kept = task(&mut team, "T-1");
    assert_eq!(
        (kept.status.name(), kept.note.as_deref()),
        ("assigned", Some("all of it"))
    );
    assert_eq!(status(&mut team, "1"), "blocked");
    world.later(SECOND);
    // Other statuses are applied, also after a rebuild.
    let sent = team.task_update(update("T-1", "in_progress")).unwrap();
    assert_eq!(sent.applied, Some(Applied::Applied));
    let before = digest(&mut team);
    team.rehydrate(Rehydrate::default(), &mut |_, _| {})
        .unwrap();
    assert_eq!(digest(&mut team), before);
    assert_eq!(status(&mut team, "T-1"), "in_progress");

    decide(&mut team, "T-1", "approved", "fine");
    world.later(SECOND);
    let sent = team.task_update(update("T-1", "done")).unwrap();
    assert_eq!((sent.applied, sent.reason), (Some(Applied::Applied), None));
    assert_eq!(status(&mut team, "T-1"), "completed");
    assert_eq!(status(&mut team, "1"), "pending");
}

#[test]
fn a_message_does_not_complete_a_task_with_open_parts() {
    let (world, mut team) = demo();
    team.task_assign(assign("T-1", "dev")).unwrap();
    team.task_create(given!(TaskCreate, parent: "T-1", ..new("part")))
        .unwrap();
    let sent = team.task_update(update("T-1", "done")).unwrap();
    assert_eq!(
        (sent.applied, sent.reason.as_deref()),
        (Some(Applied::NotApplied), Some("open_parts"))
    );
    assert_eq!(status(&mut team, "T-1"), "assigned");
    let before = digest(&mut team);
    rehydrate(&mut team);
    assert_eq!(digest(&mut team), before);
    team.task_cancel(given!(TaskCancel, task_id: "1")).unwrap();
    world.later(SECOND);
    let sent = team.task_update(update("T-1", "done")).unwrap();
    assert_eq!(sent.applied, Some(Applied::Applied));
    assert_eq!(status(&mut team, "T-1"), "completed");
}

#[test]
fn an_import_does_not_complete_it_either() {
    let (world, mut team) = demo();
    gated_by_message(&mut team, "T-1");
    world.later(2 * MINUTE);
    let line = r#"{"id":"m-1","type":"task_update","from":"dev","to":"lead","task_id":"T-1","created_at":"2026-11-21T12:01:00Z","payload":{"status":"completed","note":"n"}}"#;
    let import = given!(ImportMessages, team: "demo");
    let answer = world
        .root
        .import_messages(import, &mut Cursor::new(line))
        .unwrap();
    let answer = json(&answer);
    assert_eq!(
        (&answer["imported"], &answer["not_applied"]),
        (&json!(1), &json!({"approval_required": 1}))
    );
    let kept = task(&mut team, "T-1");
    assert_eq!(
        (kept.status.name(), kept.note.as_deref()),
        ("assigned", Some("n"))
    );
}

#[test]
fn a_rejection_is_shown_with_the_task_and_to_its_owner_and_the_lead() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    decide(&mut team, "1", "rejected", "no tests");
    let shown = json!({"task_id": "1", "required": true, "status": "rejected", "reviewer": "lead",
        "decision_reason": "no tests", "decided_at": NOON});
    let mut approval =
        json(&team.task_show(given!(TaskShow, task_id: "1")).unwrap())["approval"].clone();
    approval["decided_at"] = NOON.into();
    assert_eq!(approval, shown);
    let record = team.task_record("1").unwrap();
    assert_eq!(record.context.approval.unwrap().decision_reason, "no tests");
    let listed = json(&team.task_records(Tasks::default()).unwrap());
    assert_eq!(listed["tasks"][0]["approval"]["status"], "rejected");
    let page = json(&team.tasks(Tasks::default()).unwrap());
    assert_eq!(page["approvals"]["1"]["reviewer"], "lead");

    assert_eq!(
        primed(&mut team)["in_progress"]["items"][0]["approval"],
        "rejected by lead: no tests"
    );
    let item = items(&mut team).remove(0);
    assert_eq!(
        (item.kind, &*item.text),
        (
            AttentionKind::ApprovalRejected,
            "1 was rejected by lead: no tests"
        )
    );
    assert_eq!(
        (item.agent.as_deref(), &*item.command),
        (Some("dev"), "teamlog task show demo 1")
    );

    // The owner completes the task. The rejection stays visible.
    team.task_finish(complete(&held)).unwrap();
    let rejected = primed(&mut team)["rejected"].clone();
    assert_eq!(
        (&rejected["total"], &rejected["items"][0]["task_id"]),
        (&json!(1), &json!("1"))
    );
    assert_eq!(items(&mut team).len(), 1);
    decide(&mut team, "1", "approved", "fine now");
    assert_eq!(items(&mut team), []);
    assert_eq!(primed(&mut team).get("rejected"), None);
}

#[test]
fn what_waits_for_an_approval_is_shown_and_not_told_to_complete() {
    let (_, mut team) = demo();
    let made = team.task_create(gated("first")).unwrap().task;
    assert_eq!(items(&mut team), [], "it has no holder yet");
    let held = team.task_claim(claim(&made.task_id, "dev")).unwrap();
    let item = items(&mut team).remove(0);
    assert_eq!(
        (item.kind, item.task_id.as_deref()),
        (AttentionKind::ApprovalMissing, Some("1"))
    );
    let answer = primed(&mut team);
    assert_eq!(
        answer["in_progress"]["items"][0]["approval"],
        "required, no decision yet"
    );
    let commands = answer["commands"].to_string();
    shows!(&*commands => has "task renew demo 1", lacks "task complete");
    decide(&mut team, "1", "approved", "fine");
    assert_eq!(items(&mut team), []);
    let commands = primed(&mut team)["commands"].to_string();
    shows!(&*commands => has "task complete demo 1");
    team.task_finish(complete(&held)).unwrap();
}

#[test]
fn a_review_needs_a_new_approval_and_tells_the_reviewer() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    decide(&mut team, "1", "approved", "the plan is fine");
    let ask = given!(ReviewRequest, task_id: "1", worker: "dev", text: "on branch first");
    let asked = team.request_review(ask.clone()).unwrap();
    assert_eq!(asked.reviewer, "lead");
    assert_eq!(asked.task.governed.attributes.requires_approval, Some(true));
    let shown = asked.task.context.approval.unwrap();
    assert_eq!(
        shown.decision_reason,
        "dev asks for a review: on branch first"
    );
    let kinds = events(&mut team);
    let last: Vec<&Value> = kinds
        .iter()
        .rev()
        .take(3)
        .map(|event| &event["kind"])
        .collect();
    assert_eq!(last, ["message_sent", "approval_recorded", "task_updated"]);
    assert_eq!(kinds[kinds.len() - 2]["actor"], "dev");
    let read = team
        .read(given!(Read, agent: "lead", unread: true))
        .unwrap();
    shows!(read.messages.last().unwrap().payload.as_str() => has "please review task 1: on branch first");

    // The approval from before the review does not count.
    let refusal = refused(team.task_finish(complete(&held)), Code::ApprovalRequired);
    assert_eq!(refusal.details["approval"]["status"], "pending");
    let undo = team.undo(given!(Undo, worker: "dev"));
    shows!(&*refused(undo, Code::InvalidTransition).message => has "asked for the review of task 1");
    decide(&mut team, "1", "approved", "fine");
    team.task_finish(complete(&held)).unwrap();
    refused(team.request_review(ask), Code::AlreadyTerminal);
}

#[test]
fn only_the_holder_asks_for_a_review_and_never_itself() {
    let (_, mut team) = demo();
    claimed(&mut team, new("first"));
    let ask = |worker: &str, to: &str| given!(ReviewRequest, task_id: "1", worker, to);
    refused(team.request_review(ask("qa", "lead")), Code::NotHolder);
    let own = refused(team.request_review(ask("dev", "dev")), Code::InvalidInput);
    assert_eq!(own.field.as_deref(), Some("to"));
    refused(team.request_review(ask("dev", "ops")), Code::WorkerNotFound);
}

/// Approves or rejects task 1 in the name of `reviewer`.
fn reviewed(team: &mut Team, reviewer: &str, status: &str) -> Result<(), Failure> {
    let write = given!(WriteApproval, task_id: "1", status, reviewer, decision_reason: "fine", required: true);
    team.write_approval(write).map(drop)
}

#[test]
fn the_holder_does_not_approve_its_own_work_and_nobody_decides_after_the_end() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, gated("first"));
    let refusal = refused(reviewed(&mut team, "dev", "approved"), Code::SelfApproval);
    shows!(&*refusal.message => has "dev works on task 1");
    // The rule also applies to the actor, even if the call names another reviewer.
    team.under(given!(Control, actor: "dev"));
    refused(reviewed(&mut team, "lead", "approved"), Code::SelfApproval);
    team.under(Control::default());
    reviewed(&mut team, "dev", "rejected").unwrap();
    reviewed(&mut team, "qa", "approved").unwrap();
    team.task_finish(complete(&held)).unwrap();
    refused(reviewed(&mut team, "qa", "rejected"), Code::AlreadyTerminal);
}

#[test]
fn only_the_leader_ends_the_requirement() {
    let (_, mut team) = demo();
    claimed(&mut team, gated("first"));
    let edit = given!(TaskEdit, task_id: "1", worker: "dev", attributes: approval(false));
    let refusal = refused(team.task_edit(edit.clone()), Code::ApprovalRequired);
    shows!(&*refusal.message => has "dev cannot end the approval");
    team.under(given!(Control, actor: "dev"));
    let by_change = given!(TaskChange, attributes: approval(false), ..change("1"));
    refused(team.task_change(by_change), Code::ApprovalRequired);
    team.under(Control::default());
    let forced = given!(TaskEdit, force: true, ..edit.clone());
    let refusal = refused(team.task_edit(forced.clone()), Code::ApprovalRequired);
    shows!(&*refusal.message => has "only the leader can");
    team.task_edit(given!(TaskEdit, worker: "lead", ..forced))
        .unwrap();
    let recorded = events(&mut team);
    let edited = recorded
        .iter()
        .rfind(|event| event["kind"] == "task_updated");
    has!(edited.unwrap(), {"/payload/requires_approval": false, "/payload/forced": true});
    let begin = given!(TaskEdit, attributes: approval(true), ..edit.clone());
    team.task_edit(begin).unwrap();
    team.task_edit(given!(TaskEdit, worker: "leader-fixed", ..edit))
        .unwrap();
    assert!(!task(&mut team, "1").requires_approval());
}

#[test]
fn a_parent_is_completed_after_its_parts() {
    let (_, mut team) = demo();
    let parent = claimed(&mut team, new("whole"));
    let part = claimed(&mut team, given!(TaskCreate, parent: "1", ..new("part")));
    let refusal = refused(team.task_finish(complete(&parent)), Code::BlockedDependency);
    shows!(&*refusal.message => has "parts that are not completed: 1 of 1");
    team.task_finish(complete(&part)).unwrap();
    team.task_finish(complete(&parent)).unwrap();
}

#[test]
fn an_approval_by_the_later_holder_or_by_an_outsider_does_not_count() {
    let (_, mut team) = demo();
    team.task_create(gated("first")).unwrap();
    refused(
        reviewed(&mut team, "stranger", "approved"),
        Code::WorkerNotFound,
    );
    reviewed(&mut team, "dev", "approved").unwrap();
    let held = team.task_claim(claim("1", "dev")).unwrap();
    refused(team.task_finish(complete(&held)), Code::ApprovalRequired);
    reviewed(&mut team, "qa", "approved").unwrap();
    team.task_finish(complete(&held)).unwrap();
}

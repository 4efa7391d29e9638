//! Tests of the effects of commands on tasks, event by event. The crate `team` tests the rules.

use crate::checks::check_claims;
use crate::support::*;
use teamlog_engine::Json;
use teamlog_projections::fact::Fact;
use teamlog_projections::task::event::{
    DepsChanged, TaskAssigned, TaskBlocked, TaskCanceled, TaskFailed, TaskUpdated,
};
use teamlog_projections::task::{Attributes, Claim, ClaimState, PlanChange};
use teamlog_projections::{Status, Task};

fn held(epoch: u64) -> ClaimRef {
    let worker = "dev".to_owned();
    given!(ClaimRef; worker, epoch, forced: false)
}

fn lease(epoch: u64, minute: i64) -> Lease {
    given!(Lease; held: held(epoch), leased_until: at(minute))
}

fn created(deps: &[&str]) -> TaskCreated {
    given!(TaskCreated; subject: "S", description: "D", blocked: !deps.is_empty(),
        owner: None::<String>, depends_on: deps, attributes: given!(Attributes; requires_code_change: true, requires_approval: None),
        plan: PlanChange::default(),
        priority: Priority::High,
        resources: given!(Resources; resources: ["src/io"], shared: false),
        extra: Json::parse(r#"{"lane":"docs","n":1.50}"#).unwrap())
}

fn claimed(epoch: u64, minute: i64) -> TaskAct {
    TaskAct::Claimed(TaskClaimed::new(
        lease(epoch, minute),
        format!("token-{epoch}"),
    ))
}

fn event(task: &str, act: TaskAct) -> NewEvent {
    TaskFact::new(task, act).event("lead", Some("dev"), Some("tr"))
}

fn after(team: &Team, act: TaskAct) -> Task {
    team.append(vec![event("1", act)]);
    team.live().task("1").unwrap().unwrap()
}

fn claim(task: &Task) -> &Claim {
    task.governed.claim.as_ref().unwrap()
}

#[test]
fn every_fact_comes_back_as_it_was_recorded() {
    let acts = [
        TaskAct::Created(created(&["2", "3"])),
        TaskAct::Created(
            given!(TaskCreated, owner: "dev", plan: PlanChange { labels: Some(vec!["api".to_owned()]), due_at: Some(Some(at(5))), defer_until: None, parent: Some(Some("2".to_owned())) }, attributes: Attributes::default(),
                priority: Priority::Normal, resources: Resources::default(), extra: None,
                ..created(&[])),
        ),
        TaskAct::Updated(TaskUpdated::default()),
        TaskAct::Updated(given!(TaskUpdated; subject: "s", description: "d",
            attributes: given!(Attributes; requires_code_change: false, requires_approval: None),
            plan: PlanChange { labels: Some(Vec::new()), due_at: Some(None), defer_until: Some(Some(at(6))), parent: Some(None) },
            priority: Priority::Low, forced: true)),
        TaskAct::Assigned(given!(TaskAssigned; owner: "qa", taken_from: held(1), epoch: 2)),
        TaskAct::Assigned(TaskAssigned {
            owner: None,
            taken_from: None,
            epoch: None,
        }),
        TaskAct::DepsChanged(given!(DepsChanged; depends_on: ["2"])),
        TaskAct::ResourcesDeclared(Resources::default()),
        TaskAct::ResourcesDeclared(given!(Resources; resources: [".", "docs/*.md"], shared: true)),
        TaskAct::Blocked(given!(TaskBlocked; waits_for: ["2"])),
        TaskAct::Unblocked,
        claimed(1, 3),
        TaskAct::Renewed(lease(1, 4)),
        TaskAct::Completed(given!(TaskCompleted; held: held(1), result: "r")),
        TaskAct::Completed(given!(TaskCompleted; held: held(1), result: None::<String>)),
        TaskAct::Failed(given!(TaskFailed; held: held(1), error: "e")),
        TaskAct::Released(held(1)),
        TaskAct::Canceled(TaskCanceled::default()),
        TaskAct::Canceled(given!(TaskCanceled; reason: "no", forced: true)),
        TaskAct::Reopened,
        TaskAct::LeaseExpired(lease(1, 4)),
    ];
    let team = Team::new();
    for act in &acts {
        team.append(vec![event("1", act.clone())]);
    }
    let (reader, live) = (team.log.reader().unwrap(), team.live());
    for (seq, act) in (2..).zip(acts) {
        let event = live.event(&reader, seq).unwrap().unwrap();
        let fact = Fact::Task(Box::new(TaskFact::new("1", act)));
        assert_eq!(Fact::decode(&event).unwrap(), fact, "{}", event.payload);
    }
}

#[test]
fn a_payload_that_breaks_a_rule_does_not_decode() {
    let team = Team::new();
    team.append(vec![event("1", claimed(1, 3))]);
    let (reader, live) = (team.log.reader().unwrap(), team.live());
    let good = live.event(&reader, 2).unwrap().unwrap();
    Fact::decode(&good).unwrap();
    for (kind, payload) in [
        (
            "task_claimed",
            r#"{"task_id":"../x","worker":"dev","token":"t","epoch":1,"leased_until":"2026-11-21T10:00:00.000000Z"}"#,
        ),
        (
            "task_claimed",
            r#"{"task_id":"1","worker":"a/b","token":"t","epoch":1,"leased_until":"2026-11-21T10:00:00.000000Z"}"#,
        ),
        (
            "task_claimed",
            r#"{"task_id":"1","worker":"dev","epoch":1,"leased_until":"2026-11-21T10:00:00.000000Z"}"#,
        ),
        (
            "task_claimed",
            r#"{"task_id":"1","worker":"dev","token":"t","epoch":-1,"leased_until":"2026-11-21T10:00:00.000000Z"}"#,
        ),
        (
            "task_renewed",
            r#"{"task_id":"1","worker":"dev","epoch":1,"leased_until":"soon"}"#,
        ),
        (
            "task_created",
            r#"{"task_id":"1","subject":"s","description":"","status":"completed","depends_on":[]}"#,
        ),
        (
            "task_created",
            r#"{"task_id":"1","subject":"s","description":"","status":"pending","depends_on":[],"extra":[]}"#,
        ),
        (
            "task_created",
            r#"{"task_id":"1","subject":"s","description":"","status":"pending","depends_on":[""]}"#,
        ),
        (
            "task_created",
            r#"{"task_id":"1","subject":"s","description":"","status":"pending","depends_on":[],"owner":".."}"#,
        ),
        (
            "task_created",
            r#"{"task_id":"1","subject":"s","description":"","status":"pending","depends_on":[],"priority":"x"}"#,
        ),
        ("task_completed", r#"{"task_id":"1","epoch":1}"#),
        ("task_unblocked", "{}"),
    ] {
        let mut bad = good.clone();
        bad.kind = kind.into();
        bad.payload = payload.into();
        assert!(Fact::decode(&bad).is_err(), "{kind} {payload}");
    }
    let mut newer = good;
    newer.payload = newer.payload.replace('{', r#"{"later":1,"#).into();
    Fact::decode(&newer).unwrap();
}

#[test]
fn a_task_goes_from_creation_to_completion() {
    let team = Team::new();
    team.clock.set(at(1));
    let task = after(&team, TaskAct::Created(created(&["2"])));
    assert_eq!(
        (task.status, task.version, task.claim_governed),
        (Status::Blocked, 1, true)
    );
    assert_eq!((task.created_at, task.updated_at), (at(1), at(1)));
    assert_eq!(
        (task.subject.as_deref(), task.details.as_deref()),
        (Some("S"), Some("D"))
    );
    assert_eq!(
        (task.priority, task.trace_id.as_deref()),
        (Priority::High, Some("tr"))
    );
    assert_eq!(
        task.governed.extra.unwrap().as_str(),
        r#"{"lane":"docs","n":1.50}"#
    );
    assert_eq!((task.snapshot_version, &*task.last_message_id), (0, ""));
    assert_eq!(after(&team, TaskAct::Unblocked).status, Status::Pending);
    team.clock.set(at(2));
    let task = after(&team, claimed(1, 9));
    assert_eq!((task.status, task.version), (Status::InProgress, 2));
    assert_eq!(
        (task.owner.as_deref(), task.governed.epoch),
        (Some("dev"), 1)
    );
    assert_eq!(task.governed.started_at, Some(at(2)));
    assert_eq!(task.claim(), Some(claim(&task)));
    let task = after(&team, TaskAct::Renewed(lease(1, 12)));
    assert_eq!((claim(&task).leased_until, task.version), (at(12), 3));
    team.clock.set(at(3));
    let task = after(
        &team,
        TaskAct::Completed(given!(TaskCompleted; held: held(1), result: "R")),
    );
    assert_eq!((task.status, task.version), (Status::Completed, 4));
    assert_eq!(task.governed.completed_at, Some(at(3)));
    assert_eq!(task.governed.result.as_deref(), Some("R"));
    assert_eq!(
        (task.claim(), claim(&task).state),
        (None, ClaimState::Ended)
    );
    let view = team.json("tasks/1.json");
    has!(view, {"result": "R", "epoch": 1, "requires_code_change": true});
    assert_eq!(
        (&view["last_message_id"], view.get("claim")),
        (&serde_json::Value::Null, None)
    );
    assert_eq!(view["blocked_by"], view["depends_on"]);
    check_claims(&team.live());
}

#[test]
fn a_claim_that_ran_out_is_remembered_and_one_that_came_later_stays() {
    let team = Team::new();
    after(&team, TaskAct::Created(created(&[])));
    after(&team, claimed(1, 5));
    assert_eq!(team.live().next_lease().unwrap(), Some(at(5)));
    let task = after(&team, TaskAct::LeaseExpired(lease(1, 5)));
    assert_eq!(
        (task.status, task.owner.clone(), task.version),
        (Status::Pending, None, 2)
    );
    assert_eq!(
        (claim(&task).state, &*claim(&task).token),
        (ClaimState::Expired, "token-1")
    );
    assert_eq!(team.live().next_lease().unwrap(), None);
    after(&team, claimed(2, 9));
    // Each act names a claim that is no longer the last claim.
    for act in [
        TaskAct::LeaseExpired(lease(1, 5)),
        TaskAct::Renewed(lease(1, 50)),
        TaskAct::Released(held(1)),
    ] {
        let task = after(&team, act);
        assert_eq!(
            (task.status, task.claim().unwrap().leased_until),
            (Status::InProgress, at(9))
        );
    }
    let task = after(&team, TaskAct::Released(held(2)));
    assert_eq!(
        (task.status, claim(&task).state),
        (Status::Pending, ClaimState::Ended)
    );
}

#[test]
fn a_report_stays_until_it_is_said_otherwise_and_a_new_holder_is_not_stuck() {
    let team = Team::new();
    after(&team, TaskAct::Created(created(&[])));
    let listed = || team.live().blocked_tasks(None, 10).unwrap().tasks.len();
    let report = |id: &str, minute: i64, payload: &str| {
        team.send(&[update(id, "1", "dev", minute, payload)]);
        team.live().task("1").unwrap().unwrap().reported
    };
    report("m1", 1, r#"{"blocked":true}"#);
    // No agent works on the task, so no agent is stuck.
    assert_eq!(listed(), 0);
    let taken = after(&team, claimed(1, 60));
    assert!(!taken.reported.blocked);
    assert_eq!(listed(), 0);
    report("m2", 2, r#"{"blocked":true,"progress":40,"eta":"noon"}"#);
    assert_eq!(listed(), 1);
    let stuck = report("m3", 3, r#"{"note":"no schema"}"#);
    assert!(stuck.blocked);
    let text = |json: &Option<Json>| json.as_ref().map(|json| json.as_str().to_owned());
    assert_eq!(
        (text(&stuck.progress), text(&stuck.eta)),
        (Some("40".to_owned()), Some("\"noon\"".to_owned()))
    );
    // A report that is older than the last report changes nothing.
    let late = report("m0", 1, r#"{"blocked":false,"note":"old"}"#);
    assert_eq!(late, stuck);
    let free = report("m4", 4, r#"{"blocked":false}"#);
    assert_eq!(
        (free.blocked, free.note.as_deref()),
        (false, Some("no schema"))
    );
    assert_eq!(listed(), 0);
    report("m5", 5, r#"{"blocked":true}"#);
    after(
        &team,
        TaskAct::Completed(given!(TaskCompleted; held: held(1), result: None::<String>)),
    );
    assert_eq!(listed(), 0);
}

#[test]
fn a_message_only_reports_of_what_commands_govern() {
    let team = Team::new();
    after(&team, TaskAct::Created(created(&[])));
    team.send(&[
        assign("m1", "1", "qa", 5, r#"{"subject":"other","deps":["7"]}"#),
        update(
            "m2",
            "1",
            "qa",
            6,
            r#"{"status":"done","note":"n","blocked":true}"#,
        ),
    ]);
    let task = team.live().task("1").unwrap().unwrap();
    assert_eq!(
        (task.status, task.version, task.owner.clone()),
        (Status::Pending, 1, None)
    );
    assert_eq!(
        (task.subject.as_deref(), task.deps.len(), task.blocked),
        (Some("S"), 0, false)
    );
    assert_eq!(task.reported_status, Some(Status::Completed));
    assert_eq!((task.reported_owner.as_deref(), task.seq), (Some("qa"), 4));
    assert_eq!((task.snapshot_version, &*task.last_message_id), (0, "m2"));
    let reported = &task.reported;
    assert_eq!(
        (reported.blocked, reported.note.as_deref()),
        (true, Some("n"))
    );
    assert_eq!(
        (reported.by.as_deref(), reported.at),
        (Some("qa"), Some(at(6)))
    );
    let canceled = after(&team, TaskAct::Canceled(TaskCanceled::default()));
    assert_eq!(canceled.status, Status::Canceled);
}

#[test]
fn an_event_about_a_task_that_nobody_made_is_passed_by() {
    let team = Team::new();
    team.append(vec![
        event("1", claimed(1, 5)),
        event("1", TaskAct::Unblocked),
    ]);
    assert_eq!(team.live().task("1").unwrap(), None);
    after(&team, TaskAct::Created(created(&[])));
    let again = after(
        &team,
        TaskAct::Created(given!(TaskCreated, subject: "again", ..created(&["9"]))),
    );
    assert_eq!(
        (again.subject.as_deref(), again.version, again.seq),
        (Some("S"), 1, 4)
    );
    let cyclic = after(
        &team,
        TaskAct::DepsChanged(given!(DepsChanged; depends_on: ["1", "2"])),
    );
    assert_eq!(
        (cyclic.deps, cyclic.ignored_deps),
        (vec!["2".to_owned()], vec!["1".to_owned()])
    );
}

#[test]
fn the_largest_number_among_ids_counts_whoever_gave_it() {
    let team = Team::new();
    let next = || team.live().next_task_number().unwrap();
    assert_eq!(next(), 1);
    let make = |id: &str| team.append(vec![event(id, TaskAct::Created(created(&[])))]);
    make("7");
    assert_eq!(next(), 8);
    for id in [
        "3",
        "bd-90",
        "9x",
        "0012345678901234567",
        "99999999999999999999",
    ] {
        make(id);
        assert_eq!(next(), 8, "{id}");
    }
    team.send(&[assign("m1", "0041", "dev", 1, "{}")]);
    assert_eq!(next(), 42);
    make("999999999999999");
    assert_eq!(next(), 1_000_000_000_000_000);
}

#[test]
fn a_canceled_task_is_not_blocked_whatever_was_reported() {
    let team = Team::new();
    team.send(&[update("m1", "1", "dev", 1, r#"{"blocked":true}"#)]);
    assert_eq!(team.live().blocked_tasks(None, 9).unwrap().tasks.len(), 1);
    let task = after(&team, TaskAct::Canceled(TaskCanceled::default()));
    assert!(task.claim_governed && !task.blocked);
    assert!(team.live().blocked_tasks(None, 9).unwrap().tasks.is_empty());
}

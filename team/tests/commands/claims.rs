//! Tests of the rules for claiming tasks.

use crate::prelude::*;
use teamlog_team::projections::Task;

pub fn new(subject: &str) -> TaskCreate {
    given!(TaskCreate, subject, description: "all of it")
}

pub fn waiting(subject: &str, deps: &[&str]) -> TaskCreate {
    given!(TaskCreate, blocked_by: deps, ..new(subject))
}

pub fn claim(task: &str, worker: &str) -> TaskClaim {
    given!(TaskClaim, task_id: task, worker)
}

pub fn complete(claimed: &ClaimAnswer) -> TaskFinish {
    given!(TaskFinish, task_id: claimed.task.task_id.clone(), from: "in_progress", to: "completed",
        claim_token: claimed.claim_token.clone())
}

pub fn fail(claimed: &ClaimAnswer) -> TaskFinish {
    given!(TaskFinish, to: "failed", error: "it broke", ..complete(claimed))
}

pub fn change(task: &str) -> TaskChange {
    given!(TaskChange, task_id: task)
}

pub fn find(team: &mut Team, id: &str) -> Option<Task> {
    let show = given!(TaskShow, task_id: id);
    team.task_show(show).ok().map(|answer| answer.task)
}

pub fn task(team: &mut Team, id: &str) -> Task {
    find(team, id).unwrap()
}

pub fn status(team: &mut Team, id: &str) -> &'static str {
    task(team, id).status.name()
}

/// Creates a task and claims it for `dev`.
pub fn claimed(team: &mut Team, create: TaskCreate) -> ClaimAnswer {
    let id = team.task_create(create).unwrap().task.task.task_id;
    team.task_claim(claim(&id, "dev")).unwrap()
}

/// Creates a task, claims it and completes it. Returns its id.
pub fn done(team: &mut Team, create: TaskCreate) -> String {
    let claimed = claimed(team, create);
    team.task_finish(complete(&claimed))
        .unwrap()
        .task
        .task
        .task_id
}

/// Returns the events after a seq in the form of `export`.
pub fn after(team: &mut Team, seq: usize) -> Vec<Value> {
    events(team).split_off(seq)
}

/// Returns the number of events.
pub fn count(team: &mut Team) -> usize {
    events(team).len()
}

fn ids(refusal: &Refusal) -> Vec<&str> {
    let ids = refusal.details["dependencies"].as_array().unwrap();
    ids.iter().map(|id| id.as_str().unwrap()).collect()
}

#[test]
fn a_claim_gives_token_lease_and_epoch() {
    let (world, mut team) = demo();
    team.task_create(new("first")).unwrap();
    world.later(SECOND);
    let answer = team.task_claim(claim("1", "dev")).unwrap();
    assert!(answer.ok);
    assert_eq!((answer.epoch, answer.task.version), (1, 2));
    assert_eq!(answer.leased_until, time("2026-11-21T12:15:01.000000Z"));
    assert_eq!(answer.task.status.name(), "in_progress");
    assert_eq!(answer.task.owner.as_deref(), Some("dev"));
    let held = answer.task.governed.claim.clone().unwrap();
    assert_eq!(
        (&held.owner, &held.token),
        (&"dev".to_string(), &answer.claim_token)
    );
    let parts: Vec<usize> = answer.claim_token.split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12]);
    assert_eq!(answer.claim_token.as_bytes()[14], b'4');
    assert!(b"89ab".contains(&answer.claim_token.as_bytes()[19]));
    let event = after(&mut team, 2).pop().unwrap();
    assert_eq!(
        (&event["actor"], &event["agent"]),
        (&json!("dev"), &json!("dev"))
    );
    assert_eq!(
        event["payload"],
        json!({"task_id": "1", "worker": "dev", "token": answer.claim_token, "epoch": 1,
            "leased_until": answer.leased_until})
    );
    shows!(task(&mut team, "1").governed.started_at.unwrap().to_string() =>
        is "2026-11-21T12:00:01.000000Z");
}

#[test]
fn whoever_comes_second_is_refused_even_the_holder() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    for worker in ["qa", "dev"] {
        let refusal = refused(team.task_claim(claim("1", worker)), Code::ClaimConflict);
        has!(refusal.details, {"owner": "dev", "epoch": 1, "leased_until": held.leased_until});
        let yours = refusal.details.get("yours").cloned();
        assert_eq!(yours, (worker == "dev").then_some(Value::Bool(true)));
        assert!(
            !format!("{refusal:?}").contains(&held.claim_token),
            "a token is for its holder"
        );
    }
    assert_eq!(count(&mut team), 3);
}

#[test]
fn only_workers_of_the_team_claim() {
    let (_, mut team) = demo();
    team.task_create(new("first")).unwrap();
    // The caller is checked before the task.
    refused(
        team.task_claim(claim("9", "stranger")),
        Code::WorkerNotFound,
    );
    refused(
        team.task_claim(claim("1", "leader-fixed")),
        Code::WorkerNotFound,
    );
    refused(team.task_claim(claim("1", "a b")), Code::InvalidInput);
    refused(team.task_claim(claim("9", "dev")), Code::TaskNotFound);
    let next = |worker: &str| given!(ClaimNext, worker);
    refused(team.claim_next(next("leader-fixed")), Code::WorkerNotFound);
    refused(team.claim_next(next("stranger")), Code::WorkerNotFound);
}

#[test]
fn whoever_claims_in_an_open_team_joins_it() {
    let (_, mut team) = team_of(None, Format::Jsonl);
    team.task_create(new("first")).unwrap();
    let answer = team.task_claim(claim("1", "newcomer")).unwrap();
    names!(kinds(&mut team) => team_created task_created members_added task_claimed);
    refused(
        team.task_claim(claim("1", "leader-fixed")),
        Code::WorkerNotFound,
    );
    assert_eq!(answer.task.owner.as_deref(), Some("newcomer"));
}

#[test]
fn dependencies_that_are_not_completed_are_listed_in_their_order() {
    let (_, mut team) = demo();
    let finished = done(&mut team, new("finished"));
    let broken = claimed(&mut team, new("broken"));
    team.task_finish(fail(&broken)).unwrap();
    let open = team.task_create(new("open")).unwrap().task.task.task_id;
    let dropped = team.task_create(new("dropped")).unwrap().task.task.task_id;
    team.task_cancel(given!(TaskCancel, task_id: dropped.clone()))
        .unwrap();
    let deps = ["404", &*open, &*finished, &*dropped, &*broken.task.task_id];
    let id = team
        .task_create(waiting("late", &deps))
        .unwrap()
        .task
        .task
        .task_id;
    let stale = given!(TaskClaim, expected_version: 8, ..claim(&id, "dev"));
    let refusal = refused(team.task_claim(stale), Code::BlockedDependency);
    assert_eq!(
        ids(&refusal),
        ["404", &*open, &*dropped, &*broken.task.task_id]
    );
}

#[test]
fn a_claim_of_another_version_than_expected_is_a_conflict() {
    let (_, mut team) = demo();
    team.task_create(new("first")).unwrap();
    let expecting = |expected| given!(TaskClaim, expected_version: expected, ..claim("1", "dev"));
    let refusal = refused(team.task_claim(expecting(2)), Code::ClaimConflict);
    assert_eq!(refusal.field.as_deref(), Some("expected_version"));
    refused(team.task_claim(expecting(0)), Code::InvalidInput);
    team.task_claim(expecting(1)).unwrap();
}

#[test]
fn a_finished_task_cannot_be_claimed() {
    let (_, mut team) = demo();
    done(&mut team, new("done"));
    let broken = claimed(&mut team, new("broken"));
    team.task_finish(fail(&broken)).unwrap();
    refused(team.task_claim(claim("1", "qa")), Code::AlreadyTerminal);
    let refusal = refused(team.task_claim(claim("2", "qa")), Code::AlreadyTerminal);
    assert!(refusal.hint.unwrap().contains("reopen"));
    let stale = given!(TaskClaim, expected_version: 1, ..claim("1", "qa"));
    refused(team.task_claim(stale), Code::ClaimConflict);
}

#[test]
fn an_owner_alone_claims_what_a_command_gave_it() {
    let (_, mut team) = demo();
    let owned = given!(TaskCreate, owner: "qa", ..new("owned"));
    team.task_create(owned).unwrap();
    let refusal = refused(team.task_claim(claim("1", "dev")), Code::ClaimConflict);
    assert_eq!(refusal.details["owner"], "qa");
    let ready = |team: &mut Team, agent: &str| {
        let agent = Some(agent.to_string());
        team.ready(&given!(Ready, agent)).unwrap().total
    };
    assert_eq!((ready(&mut team, "dev"), ready(&mut team, "qa")), (0, 1));
    team.task_claim(claim("1", "qa")).unwrap();
}

#[test]
fn a_message_governs_its_task_until_the_first_claim() {
    let (world, mut team) = demo();
    team.task_assign(assign("1", "dev")).unwrap();
    refused(team.task_claim(claim("1", "qa")), Code::ClaimConflict);
    world.later(SECOND);
    team.task_update(update("1", "pending")).unwrap();
    // Any agent may claim a pending task that was created by message, even if the task has an owner.
    let held = team.task_claim(claim("1", "qa")).unwrap();
    assert_eq!((held.epoch, held.task.version), (1, 3));
    world.later(SECOND);
    team.task_update(update("1", "done")).unwrap();
    world.later(SECOND);
    team.task_assign(assign("1", "lead")).unwrap();
    let after = team.task_record("1").unwrap();
    assert_eq!(
        (after.status.name(), after.owner.as_deref(), after.version),
        ("in_progress", Some("qa"), 3)
    );
    assert_eq!(
        after.reported_status.map(|status| status.name()),
        Some("assigned")
    );
    assert_eq!(after.reported_owner.as_deref(), Some("lead"));
    team.task_release(crate::leases::release(&held)).unwrap();
    world.later(SECOND);
    team.task_update(update("1", "in_progress")).unwrap();
    assert_eq!(status(&mut team, "1"), "pending", "also after a release");
}

#[test]
fn what_a_message_says_is_worked_on_cannot_be_claimed() {
    let (world, mut team) = demo();
    team.task_update(update("1", "in_progress")).unwrap();
    for worker in ["dev", "qa"] {
        let refusal = refused(team.task_claim(claim("1", worker)), Code::ClaimConflict);
        assert_eq!(refusal.details["status"], "in_progress");
    }
    world.later(SECOND);
    team.task_update(update("1", "done")).unwrap();
    refused(team.task_claim(claim("1", "dev")), Code::AlreadyTerminal);
}

fn next(worker: &str) -> ClaimNext {
    given!(ClaimNext, worker)
}

#[test]
fn the_best_ready_task_is_taken_first() {
    let (world, mut team) = demo();
    let urgent = |subject: &str, priority: &str| given!(TaskCreate, priority, ..new(subject));
    for create in [
        new("1"),
        urgent("2", "high"),
        waiting("3", &["1"]),
        given!(TaskCreate, owner: "qa", ..urgent("4", "critical")),
        urgent("5", "high"),
        urgent("6", "low"),
    ] {
        team.task_create(create).unwrap();
        world.later(SECOND);
    }
    let mut taken = Vec::new();
    while let Some(task) = team.claim_next(next("dev")).unwrap().task {
        assert_eq!(
            (task.status.name(), task.owner.as_deref()),
            ("in_progress", Some("dev"))
        );
        taken.push(task.task_id.clone());
    }
    assert_eq!(taken, ["2", "5", "1", "6"]);
    let nothing = team.claim_next(next("dev")).unwrap();
    assert_eq!(json(&nothing), json!({"ok": true, "task": null}));
    let own = team.claim_next(next("qa")).unwrap();
    assert_eq!(own.task.unwrap().task_id, "4");
    assert_eq!(own.epoch, Some(1));
    assert!(own.claim_token.is_some() && own.leased_until.is_some());
}

#[test]
fn a_lease_that_ran_out_competes_with_what_is_ready() {
    let (world, mut team) = demo();
    let urgent = given!(TaskCreate, priority: "high", ..new("urgent"));
    let first = claimed(&mut team, urgent);
    let second = claimed(&mut team, new("second"));
    team.task_create(new("third")).unwrap();
    world.later(16 * MINUTE);
    let seq = count(&mut team);
    let taken = team.claim_next(next("qa")).unwrap();
    let task = taken.task.unwrap();
    assert_eq!(
        (&*task.task_id, task.governed.epoch),
        (&*first.task.task_id, 2)
    );
    let recorded = after(&mut team, seq);
    let kinds: Vec<&str> = recorded
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    names!(kinds => task_lease_expired task_lease_expired task_claimed);
    assert_eq!(recorded[2]["cause"], recorded[0]["id"]);
    assert_eq!(recorded[0]["agent"], "dev", "the old holder is named");
    let again = team.claim_next(next("qa")).unwrap().task.unwrap();
    assert_eq!(again.task_id, second.task.task_id, "older than the third");
}

#[test]
fn what_happens_to_a_task_belongs_to_its_story() {
    let (_, mut team) = demo();
    team.under(given!(Control, trace_id: "tr-1", actor: "lead"));
    team.task_create(new("first")).unwrap();
    team.under(Control::default());
    let held = team.task_claim(claim("1", "dev")).unwrap();
    team.task_finish(complete(&held)).unwrap();
    let recorded = after(&mut team, 1);
    assert!(recorded.iter().all(|event| event["trace_id"] == "tr-1"));
    let actors: Vec<&Value> = recorded.iter().map(|event| &event["actor"]).collect();
    assert_eq!(actors, ["lead", "dev", "dev"]);
    assert_eq!(
        team.task_record("1").unwrap().trace_id.as_deref(),
        Some("tr-1")
    );
}

#[test]
fn a_claim_under_a_key_is_answered_again_with_the_same_token() {
    let (world, mut team) = demo();
    team.task_create(new("first")).unwrap();
    let control = given!(Control, operation: "claim-task", request: b"1 dev".to_vec(), key: "k1");
    team.under(control.clone());
    let first = team.task_claim(claim("1", "dev")).unwrap();
    world.later(MINUTE);
    let mut other = world.root.team("demo").unwrap();
    other.under(control.clone());
    let again = other.task_claim(claim("1", "dev")).unwrap();
    assert_eq!(json(&again), json(&first));
    other.under(given!(Control, request: b"1 qa".to_vec(), ..control));
    refused(
        other.task_claim(claim("1", "qa")),
        Code::IdempotencyKeyReused,
    );
    other.under(Control::default());
    assert_eq!(kinds(&mut other)[2..], ["task_claimed", "response_stored"]);
}

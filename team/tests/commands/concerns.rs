//! Tests of `attention` for reports without effect, requests without an answer, and work of stopped agents. Each item appears, and
//! disappears after its problem is solved.

use crate::claims::{claim, claimed, fail, new, waiting};
use crate::prelude::*;
use teamlog_team::attention::{Attention, AttentionItem, AttentionKind};
use teamlog_team::ownership::retire::RetireAgent;
use teamlog_team::shell::words;
use teamlog_team::task::reopen::TaskReopen;
use teamlog_team::usage::report::{ReportUsage, SetBudget};
use teamlog_team::worker::record::UpdateHeartbeat;
use teamlog_team::worker::shutdown::WriteAck;

fn all(team: &mut Team) -> Vec<AttentionItem> {
    team.attention(&Attention::default()).unwrap().items
}

fn of(team: &mut Team, kind: AttentionKind) -> Vec<AttentionItem> {
    let items = all(team).into_iter();
    items.filter(|item| item.kind == kind).collect()
}

/// Returns the only attention item. Checks that its kind is `kind`.
#[track_caller]
fn only(team: &mut Team, kind: AttentionKind) -> AttentionItem {
    let mut items = all(team);
    assert_eq!(items.len(), 1, "{items:?}");
    assert_eq!(items[0].kind, kind);
    items.remove(0)
}

#[track_caller]
fn is_quiet(team: &mut Team) {
    assert_eq!(all(team), []);
}

/// Runs the `edit` command of an item, which sets the dependencies of a task.
#[track_caller]
fn update_task(team: &mut Team, item: &AttentionItem) {
    let words = words(&item.command).unwrap();
    let blocked_by: Vec<&str> = match words.get(4).map(String::as_str) {
        Some("--after") => words[5].split(',').collect(),
        Some("--unblocked") => Vec::new(),
        _ => panic!("{}", item.command),
    };
    assert_eq!(words[1], "edit", "{}", item.command);
    let input = json!({"task_id": words[3], "blocked_by": blocked_by});
    let operation = api::find("edit-task").unwrap();
    operation.execute(team, &input.to_string()).unwrap();
}

#[test]
fn a_failed_task_is_shown_until_it_is_reopened() {
    let (world, mut team) = demo();
    let held = claimed(&mut team, new("Build it"));
    team.task_finish(fail(&held)).unwrap();
    let item = only(&mut team, AttentionKind::TaskFailed);
    assert_eq!(
        (&*item.text, item.title.as_deref(), item.agent.as_deref()),
        ("failed: 1 (it broke)", Some("Build it"), Some("dev"))
    );
    assert_eq!(item.command, "teamlog task reopen demo 1");
    assert!(item.since.is_some());
    team.task_reopen(given!(TaskReopen, task_id: "1")).unwrap();
    is_quiet(&mut team);

    team.task_assign(assign("A", "qa")).unwrap();
    world.later(SECOND);
    let failed = given!(TaskUpdate, from: "qa", ..update("A", "failed"));
    team.task_update(failed).unwrap();
    assert_eq!(only(&mut team, AttentionKind::TaskFailed).text, "failed: A");
    world.later(SECOND);
    let again = given!(TaskUpdate, from: "qa", ..update("A", "completed"));
    team.task_update(again).unwrap();
    is_quiet(&mut team);
}

#[test]
fn a_task_that_is_reported_blocked_is_shown_until_it_is_not() {
    let (world, mut team) = demo();
    claimed(&mut team, new("one"));
    team.task_assign(assign("A", "dev")).unwrap();
    for task in ["1", "A"] {
        world.later(SECOND);
        let blocked = given!(TaskUpdate, from: "dev", to: "lead", task_id: task, blocked: true, note: "no key");
        team.task_update(blocked).unwrap();
        let item = only(&mut team, AttentionKind::ReportedBlocked);
        let text = format!("reported blocked: {task} by dev (no key)");
        assert_eq!((&*item.text, item.agent.as_deref()), (&*text, Some("dev")));
        world.later(SECOND);
        let free = given!(TaskUpdate, from: "dev", to: "lead", task_id: task, blocked: false);
        team.task_update(free).unwrap();
        is_quiet(&mut team);
    }
    // A claim-governed task is blocked by its dependencies without any report.
    team.task_create(waiting("waits", &["1"])).unwrap();
    is_quiet(&mut team);
}

#[test]
fn only_the_report_of_the_holder_says_that_a_held_task_is_blocked() {
    let (world, mut team) = demo();
    claimed(&mut team, new("one"));
    let blocked =
        given!(TaskUpdate, from: "dev", to: "lead", task_id: "1", blocked: true, note: "no key");
    team.task_update(blocked).unwrap();
    for from in ["qa", "lead"] {
        world.later(SECOND);
        let note =
            given!(TaskUpdate, from, to: "dev", task_id: "1", blocked: false, note: "try again");
        team.task_update(note).unwrap();
        let item = only(&mut team, AttentionKind::ReportedBlocked);
        assert_eq!(item.text, "reported blocked: 1 by dev (no key)");
    }
    world.later(SECOND);
    team.task_update(given!(TaskUpdate, from: "qa", ..update("1", "completed")))
        .unwrap();
    let task = json(&team.task_record("1").unwrap());
    has!(task, {"reported_status": "completed", "reported_status_by": "qa", "reported_by": "dev",
        "reported_note": "no key", "reported_blocked": true});
    settled_digest(&mut team);
}

#[test]
fn a_report_that_did_not_move_its_task_is_shown_until_the_task_moves() {
    let (world, mut team) = demo();
    let held = claimed(&mut team, new("one"));
    let same = given!(TaskUpdate, ..update("1", "in_progress"));
    team.task_update(same).unwrap();
    is_quiet(&mut team);
    world.later(SECOND);
    let done = given!(TaskUpdate, from: "qa", ..update("1", "completed"));
    let sent = team.task_update(done).unwrap();
    let item = only(&mut team, AttentionKind::NotApplied);
    assert_eq!(
        item.text,
        "not applied: qa reported 1 completed, but it is claimed by dev and stays in_progress"
    );
    assert_eq!(
        (item.agent.as_deref(), item.seq),
        (Some("qa"), Some(sent.event.event.seq))
    );
    let renew =
        given!(TaskRenew, task_id: "1", worker: "dev", claim_token: held.claim_token.clone());
    team.task_renew(renew).unwrap();
    only(&mut team, AttentionKind::NotApplied);
    team.task_finish(crate::claims::complete(&held)).unwrap();
    is_quiet(&mut team);

    team.task_create(new("two")).unwrap();
    team.task_assign(assign("2", "qa")).unwrap();
    let item = only(&mut team, AttentionKind::NotApplied);
    assert_eq!(
        item.text,
        "not applied: lead reported 2 assigned to qa, but it is changed by claims only and stays pending"
    );
    team.task_claim(claim("2", "qa")).unwrap();
    is_quiet(&mut team);
}

#[test]
fn dependencies_that_were_left_out_are_shown_until_others_are_set() {
    let (world, mut team) = demo();
    team.task_assign(assign("A", "dev")).unwrap();
    team.task_assign(given!(TaskAssign, deps: vec!["A".to_owned()], ..assign("B", "qa")))
        .unwrap();
    world.later(SECOND);
    team.task_assign(given!(TaskAssign, deps: vec!["B".to_owned()], ..assign("A", "dev")))
        .unwrap();
    let item = only(&mut team, AttentionKind::NotApplied);
    assert_eq!(
        item.text,
        "not applied: A cannot wait for B, because they would form a cycle"
    );
    update_task(&mut team, &item);
    is_quiet(&mut team);
}

#[test]
fn a_message_that_came_too_late_is_shown_for_a_day_or_until_its_task_changes() {
    let (world, mut team) = demo();
    let late = |team: &mut Team| {
        let created_at = "2026-01-01T00:00:00Z".to_owned();
        let late = given!(TaskUpdate, created_at, ..update("A", "in_progress"));
        team.task_update(late).unwrap();
    };
    team.task_assign(assign("A", "dev")).unwrap();
    late(&mut team);
    let item = only(&mut team, AttentionKind::NotApplied);
    assert_eq!(
        item.text,
        "not applied: task_update about A from dev is older than the last applied one"
    );
    world.later(SECOND);
    team.task_update(update("A", "in_progress")).unwrap();
    is_quiet(&mut team);
    late(&mut team);
    world.later(24 * 60 * MINUTE + SECOND);
    assert_eq!(of(&mut team, AttentionKind::NotApplied), []);
}

#[test]
fn a_dependency_that_does_not_exist_is_shown_until_it_does() {
    let (_, mut team) = demo();
    team.task_create(waiting("one", &["9", "8"])).unwrap();
    let mut assigned = assign("A", "dev");
    assigned.deps = vec!["9".into()];
    team.task_assign(assigned).unwrap();
    let texts = |team: &mut Team| -> Vec<String> {
        let items = of(team, AttentionKind::UnknownDependency).into_iter();
        items.map(|item| item.text).collect()
    };
    assert_eq!(
        texts(&mut team),
        [
            "unknown dependency: 1 waits for 8, 9",
            "unknown dependency: A waits for 9"
        ]
    );
    team.task_create(given!(TaskCreate, task_id: "9", ..new("nine")))
        .unwrap();
    assert_eq!(texts(&mut team), ["unknown dependency: 1 waits for 8"]);
    let item = only(&mut team, AttentionKind::UnknownDependency);
    update_task(&mut team, &item);
    is_quiet(&mut team);
    // Only an unfinished task is listed.
    team.task_create(waiting("two", &["7"])).unwrap();
    let id = only(&mut team, AttentionKind::UnknownDependency).task_id;
    let id = id.unwrap();
    team.task_cancel(given!(TaskCancel, task_id: id)).unwrap();
    is_quiet(&mut team);
}

#[test]
fn a_task_that_is_unfinished_again_waits_for_what_does_not_exist_again() {
    let (world, mut team) = demo();
    let mut assigned = assign("A", "dev");
    assigned.deps = vec!["9".into()];
    team.task_assign(assigned).unwrap();
    for status in ["completed", "in_progress"] {
        world.later(SECOND);
        team.task_update(update("A", status)).unwrap();
        let open = usize::from(status == "in_progress");
        assert_eq!(of(&mut team, AttentionKind::UnknownDependency).len(), open);
    }
}

#[test]
fn a_question_is_shown_until_it_is_answered_whether_or_not_it_was_read() {
    let (_, mut team) = demo();
    let ask = |team: &mut Team, id: &str, task_id: &str| {
        let ask = given!(Send, kind: "decision_required", message_id: id, task_id, ..message("qa", "lead"));
        team.send(ask).unwrap();
    };
    team.task_assign(assign("A", "qa")).unwrap();
    ask(&mut team, "m-1", "A");
    let ack = given!(Ack, agent: "lead", message_id: "m-1");
    team.ack(ack).unwrap();
    let item = only(&mut team, AttentionKind::QuestionOpen);
    assert_eq!(
        (
            &*item.text,
            item.agent.as_deref(),
            item.message_id.as_deref()
        ),
        (
            "question: qa waits for an answer from lead on A",
            Some("lead"),
            Some("m-1")
        )
    );
    assert_eq!(item.command, "teamlog reply demo 'TEXT' --message-id m-1");
    // Neither another agent's message nor a message about another task answers the request.
    team.send(message("dev", "qa")).unwrap();
    team.send(given!(Send, task_id: "B", ..message("lead", "qa")))
        .unwrap();
    // A notice does not answer the request, and neither does a message without a task.
    let idle = given!(Send, kind: "idle_notification", task_id: "A", ..message("lead", "qa"));
    team.send(idle).unwrap();
    team.send(message("lead", "qa")).unwrap();
    only(&mut team, AttentionKind::QuestionOpen);
    team.send(given!(Send, task_id: "A", ..message("lead", "qa")))
        .unwrap();
    is_quiet(&mut team);
    ask(&mut team, "m-2", "A");
    team.task_update(given!(TaskUpdate, from: "qa", ..update("A", "completed")))
        .unwrap();
    is_quiet(&mut team);
}

#[test]
fn a_budget_that_is_used_up_is_shown_until_it_is_raised() {
    let (_, mut team) = demo();
    let used = given!(ReportUsage, worker: "dev", tokens: 20_u64);
    team.report_usage(used).unwrap();
    is_quiet(&mut team);
    for (team_max, agent_max, text) in [
        (
            Some(20),
            None,
            "budget used up: the team has used 20 of 20 tokens",
        ),
        (
            None,
            Some(10),
            "budget used up: dev has used 20 of 10 tokens",
        ),
    ] {
        let set = |factor: u64| SetBudget {
            max_tokens: team_max.map(|max: u64| max * factor),
            per_agent_tokens: agent_max.map(|max: u64| max * factor),
            ..SetBudget::default()
        };
        team.set_budget(set(1)).unwrap();
        assert_eq!(only(&mut team, AttentionKind::BudgetUsed).text, text);
        team.set_budget(set(3)).unwrap();
        is_quiet(&mut team);
    }
}

#[test]
fn an_agent_that_stopped_is_shown_with_what_it_left() {
    let (world, mut team) = demo();
    team.task_assign(assign("A", "dev")).unwrap();
    team.task_assign(assign("B", "dev")).unwrap();
    world.later(SECOND);
    let ack = given!(WriteAck, worker: "dev", status: "accept");
    team.write_shutdown_ack(ack).unwrap();
    let item = only(&mut team, AttentionKind::AgentGone);
    assert_eq!(item.text, "stopped: dev left tasks A, B, 2 unread messages");
    assert_eq!(item.command, "teamlog tasks demo --owner dev");
    assert!(item.since.is_some());
    for task in ["A", "B"] {
        team.task_assign(assign(task, "qa")).unwrap();
    }
    assert_eq!(
        only(&mut team, AttentionKind::AgentGone).text,
        "stopped: dev left 2 unread messages"
    );
    // An agent that acts again is no longer a stopped agent.
    world.later(SECOND);
    team.task_update(update("B", "in_progress")).unwrap();
    is_quiet(&mut team);
    let beat = given!(UpdateHeartbeat, worker: "qa", pid: 1_u32, alive: false);
    team.update_heartbeat(beat).unwrap();
    assert_eq!(
        only(&mut team, AttentionKind::AgentGone).text,
        "stopped: qa left tasks A, B, 2 unread messages"
    );
}

#[test]
fn mail_of_a_retired_agent_is_shown_once_and_never_as_overdue() {
    let (world, mut team) = demo();
    let delivery = Require {
        ack_timeout_seconds: Some(1),
        max_retries: Some(0),
    };
    for id in ["m-1", "m-2"] {
        let send = given!(Send, message_id: id, delivery, ..message("lead", "dev"));
        team.send(send).unwrap();
    }
    team.retire_agent(given!(RetireAgent, agent: "dev"))
        .unwrap();
    let shown = |team: &mut Team| {
        let item = only(team, AttentionKind::AgentGone);
        assert_eq!(item.text, "retired: dev left 2 unread messages");
        assert_eq!(item.command, "teamlog inbox demo --agent dev");
    };
    world.later(MINUTE);
    shown(&mut team);
    // The messages become dead letters.
    team.tick(Tick::default()).unwrap();
    shown(&mut team);
}

#[test]
fn an_agent_that_stopped_under_a_key_stopped_too() {
    let (world, mut team) = demo();
    team.task_assign(assign("A", "dev")).unwrap();
    let input = json!({"team_name": "demo", "worker": "dev", "status": "accept", "key": "k-1"});
    let Value::Object(input) = input else {
        unreachable!()
    };
    let operation = api::find("write-shutdown-ack").unwrap();
    api::call(&world.root, operation, input, Control::default()).unwrap();
    only(&mut team, AttentionKind::AgentGone);
}

#[test]
fn an_owner_that_never_acted_is_shown_in_an_open_team() {
    let (_, mut team) = team_of(None, Format::Jsonl);
    team.send(message("dev", "lead")).unwrap();
    team.task_assign(assign("A", "Dev")).unwrap();
    let item = only(&mut team, AttentionKind::UnknownOwner);
    assert_eq!(
        (&*item.text, item.agent.as_deref(), item.task_id.as_deref()),
        (
            "unknown owner: \"Dev\" has never acted in this team (did you mean dev?); known agents: dev, lead; owns A",
            Some("Dev"),
            Some("A")
        )
    );
    team.task_assign(assign("A", "dev")).unwrap();
    is_quiet(&mut team);
}

#[test]
fn the_total_is_that_of_all_sorts_whatever_the_limit() {
    let (_, mut team) = demo();
    for number in 1..=130 {
        team.task_create(waiting(&format!("t{number}"), &["x"]))
            .unwrap();
    }
    let mut ask = |limit: Option<usize>| {
        let asked = Attention {
            limit,
            ..Attention::default()
        };
        let answer = team.attention(&asked).unwrap();
        let by_kind = answer.by_kind[&AttentionKind::UnknownDependency];
        assert_eq!((answer.total, by_kind), (130, 130));
        (answer.count, answer.items.len(), answer.more)
    };
    assert_eq!(ask(None), (100, 100, true));
    assert_eq!(ask(Some(7)), (7, 7, true));
    assert_eq!(ask(Some(0)), (130, 130, false));
    let mut few = |kind, agent: Option<&str>| {
        let agent = agent.map(str::to_owned);
        let asked = given!(Attention, kind: kind, agent: agent);
        team.attention(&asked).unwrap().total
    };
    assert_eq!(few(Some(AttentionKind::UnknownDependency), None), 130);
    assert_eq!(few(Some(AttentionKind::StaleTask), None), 0);
    assert_eq!(few(None, Some("dev")), 0);
}

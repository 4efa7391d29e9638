//! Tests of token usage and of budgets.

use crate::prelude::*;
use teamlog_team::thread::post::ThreadPost;
use teamlog_team::thread::start::ThreadStart;
use teamlog_team::usage::report::{ReportUsage, SetBudget, TOKENS_MAX, Usage, UsageAnswer};

fn report(team: &mut Team, worker: &str, tokens: u64) -> UsageAnswer {
    let report = given!(ReportUsage, worker, tokens);
    team.report_usage(report).unwrap()
}

fn hard(team: &mut Team, max: Option<u64>, per_agent: Option<u64>) {
    let set = given!(SetBudget, max_tokens: max, per_agent_tokens: per_agent, hard_limit: true);
    team.set_budget(set).unwrap();
}

fn create() -> TaskCreate {
    given!(TaskCreate, subject: "one")
}

fn claim(worker: &str) -> TaskClaim {
    given!(TaskClaim, task_id: "1", worker)
}

fn mail(from: &str) -> SendMessage {
    given!(SendMessage, from_worker: from, to_worker: "qa", body: "hello")
}

/// Returns the results of all operations that begin work for `worker`.
fn begun(team: &mut Team, worker: &str) -> Vec<Result<(), Failure>> {
    let next = given!(ClaimNext, worker);
    let post = given!(ThreadPost; thread_id: "thread-0001", body: "x", worker, to: None);
    let start = given!(ThreadStart, worker);
    let broadcast = given!(Broadcast, from_worker: worker, body: "all");
    let assignment = given!(teamlog_team::message::task_assign::TaskAssign, from: worker,
        ..assign("x-1", "qa"));
    vec![
        team.task_claim(claim(worker)).map(drop),
        team.claim_next(next).map(drop),
        team.thread_start(start).map(drop),
        team.thread_post(post).map(drop),
        team.send_message(mail(worker)).map(drop),
        team.broadcast(broadcast).map(drop),
        team.send(message(worker, "qa")).map(drop),
        team.task_assign(assignment).map(drop),
    ]
}

fn is_exceeded(outcome: Result<(), Failure>) -> Refusal {
    refused(outcome, Code::BudgetExceeded)
}

#[test]
fn reports_add_up_and_are_shown_by_agent_and_task() {
    let (_, mut team) = demo();
    team.task_create(create()).unwrap();
    let first = given!(ReportUsage; worker: "dev", task_id: "1", input_tokens: 30,
        output_tokens: 12, tokens: None);
    let answer = team.report_usage(first.clone()).unwrap();
    let used = json!({"input_tokens": 30, "output_tokens": 12, "tokens": 42, "reports": 1});
    assert_eq!(
        json(&answer),
        json!({"used": used, "task": used, "agents": [
            {"worker": "dev", "input_tokens": 30, "output_tokens": 12, "tokens": 42, "reports": 1}
        ]})
    );
    // `tokens` may exceed the sum of input and output, for example with cached input.
    let more = given!(ReportUsage, tokens: 100, ..first.clone());
    team.report_usage(more).unwrap();
    report(&mut team, "qa", 7);
    let page = given!(Usage, limit: 1);
    let page = team.usage(&page).unwrap();
    assert_eq!((page.used.tokens, page.used.reports), (149, 3));
    assert_eq!(
        (&*page.agents[0].worker, page.agents[0].used.tokens),
        ("dev", 142)
    );
    let rest = given!(Usage, cursor: page.next_cursor);
    let rest = team.usage(&rest).unwrap();
    assert_eq!((&*rest.agents[0].worker, rest.next_cursor), ("qa", None));
    let one = given!(Usage, worker: "lead", task_id: "1");
    let one = team.usage(&one).unwrap();
    assert_eq!(
        (one.agents[0].used.tokens, one.task.unwrap().tokens),
        (0, 142)
    );
    let before = events(&mut team).len();
    let wrong = [
        (
            given!(ReportUsage, tokens: 41, ..first.clone()),
            Code::InvalidInput,
        ),
        (
            given!(ReportUsage, input_tokens: None, output_tokens: None, ..first.clone()),
            Code::InvalidInput,
        ),
        (
            given!(ReportUsage, tokens: TOKENS_MAX + 1, ..first.clone()),
            Code::InvalidInput,
        ),
        (
            given!(ReportUsage, task_id: "9", ..first.clone()),
            Code::TaskNotFound,
        ),
        (
            given!(ReportUsage, worker: "stranger", ..first),
            Code::WorkerNotFound,
        ),
    ];
    for (report, code) in wrong {
        refused(team.report_usage(report), code);
    }
    assert_eq!(events(&mut team).len(), before);
    settled_digest(&mut team);
}

#[test]
fn a_hard_limit_refuses_what_begins_and_nothing_that_goes_on() {
    let (_, mut team) = demo();
    team.task_create(create()).unwrap();
    team.thread_start(ThreadStart::default()).unwrap();
    let claimed = team.task_claim(claim("dev")).unwrap();
    let sent = team.send(message("lead", "dev")).unwrap().message;
    hard(&mut team, Some(10), None);
    report(&mut team, "dev", 9);
    team.thread_start(ThreadStart::default()).unwrap();
    let spent = report(&mut team, "dev", 1);
    assert_eq!(
        spent.warning.as_deref(),
        Some("budget used up: 10 of 10 tokens used")
    );
    let before = events(&mut team).len();
    let refusal = is_exceeded(team.task_create(create()).map(drop));
    has!(refusal.details, {"used_tokens": 10, "max_tokens": 10});
    for outcome in begun(&mut team, "lead")
        .into_iter()
        .chain(begun(&mut team, "qa"))
    {
        is_exceeded(outcome);
    }
    assert_eq!(events(&mut team).len(), before, "nothing was recorded");

    report(&mut team, "qa", 5);
    // A repeated message begins no new work.
    let again = given!(teamlog_team::message::send::Send, message_id: sent.id.clone(),
        ..message("lead", "dev"));
    team.send(again).unwrap();
    let ack = given!(teamlog_team::message::ack::Ack, agent: "dev", message_id: sent.id.clone());
    team.ack(ack).unwrap();
    team.task_update(update("x-2", "in_progress")).unwrap();
    let renew = given!(TaskRenew, task_id: "1", epoch: claimed.epoch);
    team.task_renew(renew).unwrap();
    let finish = given!(TaskFinish, task_id: "1", from: "in_progress", to: "completed",
        epoch: claimed.epoch);
    team.task_finish(finish).unwrap();
    // A higher limit allows new work again.
    hard(&mut team, Some(16), None);
    team.task_create(create()).unwrap();
    settled_digest(&mut team);
}

#[test]
fn an_agent_that_used_up_its_share_is_refused_and_the_others_are_not() {
    let (_, mut team) = team_of(Some(&["lead", "dev", "qa"]), Format::Binary);
    team.thread_start(ThreadStart::default()).unwrap();
    hard(&mut team, None, Some(10));
    report(&mut team, "dev", 10);
    let creating = |team: &mut Team, actor: &str| {
        team.under(given!(Control, actor));
        let outcome = team.task_create(create()).map(drop);
        team.under(Control::default());
        outcome
    };
    creating(&mut team, "qa").unwrap();
    let mut outcomes = begun(&mut team, "dev");
    outcomes.push(creating(&mut team, "dev"));
    for outcome in outcomes {
        let refusal = is_exceeded(outcome);
        assert_eq!(refusal.details["worker"], json!("dev"));
        let hint = refusal.hint.unwrap();
        assert!(hint.ends_with("--set --per-agent N --hard-limit"), "{hint}");
    }
    for outcome in begun(&mut team, "qa") {
        match outcome {
            Ok(()) => {}
            Err(Failure::Refused(refusal)) => assert_ne!(refusal.code, Code::BudgetExceeded),
            Err(failure) => panic!("{failure}"),
        }
    }
}

#[test]
fn a_soft_limit_is_recorded_once_and_warned_of_from_then_on() {
    let (_, mut team) = demo();
    let soft = |max, soft| given!(SetBudget, max_tokens: max, soft_limit_tokens: soft);
    team.set_budget(soft(Some(100), Some(50))).unwrap();
    let reached = |team: &mut Team| {
        let kinds = kinds(team);
        let kinds = kinds
            .iter()
            .filter(|kind| *kind == "budget_soft_limit_reached");
        kinds.count()
    };
    report(&mut team, "dev", 49);
    assert_eq!(
        (reached(&mut team), team.budget_warning().unwrap()),
        (0, None)
    );
    let answer = report(&mut team, "dev", 1);
    assert!(answer.budget.unwrap().soft_limit_reached);
    report(&mut team, "dev", 1);
    assert_eq!(reached(&mut team), 1);
    let warned = team.budget_warning().unwrap();
    assert_eq!(
        warned.as_deref(),
        Some("soft limit of 50 reached: 51 of 100 tokens used")
    );
    // Setting an equal budget changes nothing. With another soft limit, a new event records that the limit is reached.
    let before = events(&mut team).len();
    team.set_budget(soft(Some(100), Some(50))).unwrap();
    assert_eq!(events(&mut team).len(), before);
    team.set_budget(soft(None, Some(20))).unwrap();
    assert_eq!(reached(&mut team), 2);
    let warned = team.budget_warning().unwrap();
    assert_eq!(
        warned.as_deref(),
        Some("soft limit of 20 reached: 51 tokens used")
    );
    // Without a hard limit, the total budget acts as a soft limit.
    team.set_budget(soft(Some(30), None)).unwrap();
    assert_eq!(reached(&mut team), 3);
    report(&mut team, "dev", 1);
    assert_eq!(reached(&mut team), 3);
    let used_up = team.budget_warning().unwrap();
    assert_eq!(
        used_up.as_deref(),
        Some("budget used up: 52 of 30 tokens used")
    );
    team.set_budget(SetBudget::default()).unwrap();
    assert_eq!(team.budget_warning().unwrap(), None);
    team.task_create(create()).unwrap();
    for wrong in [
        soft(Some(10), Some(11)),
        given!(SetBudget, hard_limit: true),
        soft(Some(TOKENS_MAX + 1), None),
    ] {
        refused(team.set_budget(wrong), Code::InvalidInput);
    }
    settled_digest(&mut team);
}

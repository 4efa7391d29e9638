//! Tests of sorted task lists, of the history of a task, and of token usage over time.

use crate::claims::{claim, new};
use crate::prelude::*;
use proptest::prelude::*;
use teamlog_team::log::points::ReadDiff;
use teamlog_team::log::traces::{TraceOutcome, Traces};
use teamlog_team::task::history::TaskHistory;
use teamlog_team::task::sorting::{SortOrder, TaskSort};
use teamlog_team::usage::report::ReportUsage;
use teamlog_team::usage::series::{By, UsageSeries};

/// Reads all tasks in pages of `limit`. Checks that no page has more than `limit` tasks.
fn paged(team: &mut Team, asked: &Tasks, limit: usize) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = team
            .tasks(Tasks {
                limit: Some(limit),
                cursor,
                ..asked.clone()
            })
            .unwrap();
        assert!(page.count <= limit.max(1));
        ids.extend(page.tasks.iter().map(|task| task.task_id.clone()));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return ids;
        }
    }
}

fn sorted(sort: TaskSort, order: Option<SortOrder>) -> Tasks {
    Tasks {
        sort: Some(sort),
        order,
        ..Tasks::default()
    }
}

fn ids(team: &mut Team, asked: &Tasks) -> String {
    paged(team, asked, 100).join(" ")
}

/// Creates ten tasks: some urgent, some in progress.
fn ten() -> (World, Team) {
    let (world, mut team) = demo();
    for n in 1..=10 {
        let priority = (n % 3 == 0).then_some("high").or((n == 5).then_some("low"));
        team.task_create(TaskCreate {
            priority: priority.map(str::to_owned),
            ..new("one of ten")
        })
        .unwrap();
        world.later(SECOND);
    }
    for task in ["2", "7"] {
        team.task_claim(claim(task, "dev")).unwrap();
    }
    team.task_cancel(given!(TaskCancel, task_id: "4")).unwrap();
    (world, team)
}

#[test]
fn tasks_come_in_the_order_asked_for() {
    let (_, mut team) = ten();
    let by = |team: &mut Team, sort, order| ids(team, &sorted(sort, order));
    let (asc, desc) = (Some(SortOrder::Asc), Some(SortOrder::Desc));
    assert_eq!(by(&mut team, TaskSort::Id, None), "1 2 3 4 5 6 7 8 9 10");
    assert_eq!(by(&mut team, TaskSort::Id, desc), "10 9 8 7 6 5 4 3 2 1");
    assert_eq!(
        by(&mut team, TaskSort::Updated, None),
        "4 7 2 10 9 8 6 5 3 1"
    );
    assert_eq!(
        by(&mut team, TaskSort::Updated, asc),
        "1 3 5 6 8 9 10 2 7 4"
    );
    assert_eq!(
        by(&mut team, TaskSort::Priority, None),
        "3 6 9 1 2 4 7 8 10 5"
    );
    assert_eq!(
        by(&mut team, TaskSort::Priority, asc),
        "5 1 2 4 7 8 10 3 6 9"
    );
    assert_eq!(
        by(&mut team, TaskSort::Status, None),
        "1 3 5 6 8 9 10 2 7 4"
    );
    assert_eq!(
        by(&mut team, TaskSort::Status, desc),
        "4 2 7 1 3 5 6 8 9 10"
    );
}

#[test]
fn filters_and_since_hold_in_every_order() {
    let (_, mut team) = ten();
    let seq = team
        .task_show(given!(TaskShow, task_id: "7"))
        .unwrap()
        .task
        .seq;
    let since = Tasks {
        since: Some(seq - 1),
        ..Tasks::default()
    };
    assert_eq!(ids(&mut team, &since), "4 7");
    let reported = given!(TaskUpdate, from: "dev", to: "lead", task_id: "2", note: "half done");
    team.task_update(reported).unwrap();
    let newest = Tasks {
        since: Some(seq),
        ..sorted(TaskSort::Updated, None)
    };
    assert_eq!(ids(&mut team, &newest), "2 4", "a report counts too");
    let mine = Tasks {
        owner: Some("dev".into()),
        status: Some("in_progress".into()),
        ..sorted(TaskSort::Status, Some(SortOrder::Desc))
    };
    assert_eq!(ids(&mut team, &mine), "2 7");
}

#[test]
fn a_cursor_is_one_of_its_order() {
    let (_, mut team) = ten();
    for (sort, cursor) in [
        (TaskSort::Id, "11"),
        (TaskSort::Updated, "2"),
        (TaskSort::Updated, "x.2"),
        (TaskSort::Priority, "1.11"),
        (TaskSort::Status, "-1.2"),
    ] {
        let asked = Tasks {
            cursor: Some(cursor.into()),
            ..sorted(sort, None)
        };
        refused(team.tasks(asked), Code::CursorUnknown);
    }
    // A cursor keeps its place even if the cursor's task has moved in the order.
    let by_update = |cursor: Option<String>| Tasks {
        limit: Some(4),
        cursor,
        ..sorted(TaskSort::Updated, None)
    };
    let first = team.tasks(by_update(None)).unwrap();
    assert_eq!(first.tasks.last().unwrap().task_id, "10");
    team.task_claim(claim("10", "qa")).unwrap();
    let second = team.tasks(by_update(first.next_cursor)).unwrap();
    assert_eq!(second.tasks[0].task_id, "9");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn pages_of_any_size_are_the_whole_list(
        sort in prop::sample::select(TaskSort::ALL.to_vec()),
        order in prop::option::of(prop::sample::select(SortOrder::ALL.to_vec())),
        since in prop::option::of(0_u64..16),
        limit in 1_usize..5,
    ) {
        let (_, mut team) = ten();
        let asked = Tasks { since, ..sorted(sort, order) };
        let whole = paged(&mut team, &asked, 100);
        prop_assert_eq!(paged(&mut team, &asked, limit), whole);
    }
}

#[test]
fn what_happened_to_a_task_is_paged_from_its_end_and_marks_what_came_too_late() {
    let (_, mut team) = demo();
    team.task_assign(assign("A", "dev")).unwrap();
    team.task_update(update("A", "in_progress")).unwrap();
    let late = TaskUpdate {
        created_at: Some("2020-01-01T00:00:00Z".into()),
        ..update("A", "failed")
    };
    team.task_update(late).unwrap();
    let all = team
        .task_history(&given!(TaskHistory, task_id: "A"))
        .unwrap();
    assert_eq!((all.count, &all.next_cursor), (3, &None));
    let marked: Vec<bool> = all
        .events
        .iter()
        .map(|event| json(event)["superseded"] == json!(true))
        .collect();
    assert_eq!(marked, [false, false, true]);
    let told = json(&all.events[1]).to_string();
    assert!(told.contains(r#""from":"dev""#), "{told}");
    let newest = team
        .task_history(&given!(TaskHistory, task_id: "A", limit: 2_usize))
        .unwrap();
    assert_eq!(
        json(&newest.events),
        json(&all.events.iter().skip(1).collect::<Vec<_>>())
    );
    let older = given!(TaskHistory, task_id: "A", limit: 2_usize, cursor: newest.next_cursor);
    let older = team.task_history(&older).unwrap();
    assert_eq!(
        (json(&older.events), older.next_cursor),
        (json(&all.events.iter().take(1).collect::<Vec<_>>()), None)
    );
    refused(
        team.task_history(&given!(TaskHistory, task_id: "B")),
        Code::TaskNotFound,
    );
}

#[test]
fn a_story_says_what_became_of_its_tasks() {
    let (world, mut team) = demo();
    let outcome = |team: &mut Team| team.traces(&Traces::default()).unwrap().traces[0].outcome;
    let with = |mut task: TaskAssign| {
        task.trace_id = Some("tr".into());
        task
    };
    team.send(given!(Send, trace_id: "tr", ..message("lead", "dev")))
        .unwrap();
    assert_eq!(outcome(&mut team), TraceOutcome::None);
    for (task, status, came) in [
        ("A", "completed", TraceOutcome::Completed),
        ("B", "canceled", TraceOutcome::Canceled),
        ("C", "failed", TraceOutcome::Failed),
    ] {
        team.task_assign(with(assign(task, "dev"))).unwrap();
        assert_eq!(outcome(&mut team), TraceOutcome::Open);
        world.later(SECOND);
        team.task_update(update(task, "in_progress")).unwrap();
        assert_eq!(outcome(&mut team), TraceOutcome::Running);
        world.later(86_401 * SECOND);
        assert_eq!(outcome(&mut team), TraceOutcome::Open);
        team.task_update(update(task, status)).unwrap();
        assert_eq!(outcome(&mut team), came);
    }
    let trace = team.trace(given!(Trace, trace_id: "tr")).unwrap();
    assert_eq!(trace.spans.len(), 1 + 3 * 4);
    for span in &trace.spans {
        let began = trace
            .events
            .iter()
            .find(|event| event.event.seq == span.first_seq);
        assert_eq!(span.started_at, began.unwrap().event.created_at);
    }
}

#[test]
fn a_diff_takes_seqs_and_times() {
    let (world, mut team) = demo();
    team.task_create(new("one")).unwrap();
    world.later(MINUTE);
    let between = Timestamp::from_micros(world.clock_at())
        .unwrap()
        .to_string();
    world.later(MINUTE);
    team.task_create(new("two")).unwrap();
    let created = |team: &mut Team, from: &str| {
        let diff = given!(ReadDiff, from: from).answer(team).unwrap();
        (diff.tasks_created, json(&diff.tasks[0])["task_id"].clone())
    };
    assert_eq!(created(&mut team, "1"), (2, json!("1")));
    assert_eq!(created(&mut team, &between), (1, json!("2")));
    let refusal = refused(
        given!(ReadDiff, from: "yesterday").answer(&mut team),
        Code::InvalidInput,
    );
    assert_eq!(refusal.field.as_deref(), Some("from"));
}

#[test]
fn tokens_are_summed_by_spans_of_time() {
    let (world, mut team) = demo();
    team.task_create(new("one")).unwrap();
    let from = Timestamp::from_micros(world.clock_at())
        .unwrap()
        .to_string();
    let mut used = |worker: &str, task: Option<&str>, tokens: u64| {
        world.later(MINUTE);
        let report = given!(ReportUsage, worker: worker, tokens: tokens);
        let task_id = task.map(str::to_owned);
        team.report_usage(ReportUsage { task_id, ..report })
            .unwrap();
    };
    used("dev", Some("1"), 10);
    used("qa", None, 5);
    used("dev", None, 7);
    used("dev", Some("1"), 1);
    let asked = |by| UsageSeries {
        from: Some(from.clone()),
        buckets: Some(2),
        by,
        ..UsageSeries::default()
    };
    let answer = team.usage_series(&asked(None)).unwrap();
    assert_eq!((answer.bucket_ms, answer.from), (120_000, time(&from)));
    assert_eq!(
        json(&answer.series),
        json!([{"name": "dev", "tokens": [10, 8]}, {"name": "qa", "tokens": [0, 5]}])
    );
    let by_task = team.usage_series(&asked(Some(By::Task))).unwrap();
    assert_eq!(
        json(&by_task.series),
        json!([{"name": "1", "tokens": [10, 1]}])
    );
    let before = UsageSeries {
        to: Some(from.clone()),
        ..UsageSeries::default()
    };
    let before = team.usage_series(&before).unwrap();
    assert_eq!((before.series.len(), before.bucket_ms), (0, 24 * 60_000));
    for wrong in [
        UsageSeries {
            buckets: Some(0),
            ..UsageSeries::default()
        },
        UsageSeries {
            from: Some("soon".into()),
            ..UsageSeries::default()
        },
        UsageSeries {
            from: Some(from.clone()),
            to: Some(from.clone()),
            ..UsageSeries::default()
        },
    ] {
        refused(team.usage_series(&wrong), Code::InvalidInput);
    }
}

//! Tests of an agent's view of its work: ready tasks, `prime`, and changes since a point.

use crate::prelude::*;
use teamlog_engine::Point;
use teamlog_team::log::diff::{Change, Diff, DiffAnswer, InboxChange};
use teamlog_team::message::prime::{PrimeAnswer, TOKENS_MAX};
use teamlog_team::usage::tokens;

fn ids(tasks: &[teamlog_team::task::listed::Listed]) -> Vec<&str> {
    tasks.iter().map(|task| task.task_id.as_str()).collect()
}

#[test]
fn what_is_ready_comes_by_pages_and_a_cursor_outlives_its_task() {
    let (world, mut team) = demo();
    for n in 1..=5 {
        world.later(MINUTE);
        let mut assignment = assign(&format!("t{n}"), "dev");
        assignment.priority = (n == 4).then(|| "critical".into());
        team.task_assign(assignment).unwrap();
    }
    let mut page = |cursor: Option<&str>| {
        let ready = given!(Ready, agent: "dev", limit: 2, cursor);
        team.ready(&ready)
    };
    let first = page(None).unwrap();
    assert_eq!((ids(&first.tasks), first.total), (vec!["t4", "t1"], 5));
    let cursor = first.next_cursor.unwrap();
    // Claims a task between two pages.
    world
        .root
        .team("demo")
        .unwrap()
        .task_update(update(&cursor, "in_progress"))
        .unwrap();
    let second = page(Some(&cursor)).unwrap();
    assert_eq!((ids(&second.tasks), second.total), (vec!["t2", "t3"], 4));
    let third = page(second.next_cursor.as_deref()).unwrap();
    assert_eq!((ids(&third.tasks), third.next_cursor), (vec!["t5"], None));
    refused(page(Some("nothing")), Code::CursorUnknown);
    refused(
        team.ready(&given!(Ready, agent: "stranger")),
        Code::WorkerNotFound,
    );
}

fn prime(team: &mut Team, agent: &str) -> PrimeAnswer {
    let answer = team.prime(&given!(Prime, agent)).unwrap();
    let text = json(&answer).to_string();
    assert!(
        tokens::estimate(&text) < TOKENS_MAX,
        "{} tokens",
        tokens::estimate(&text)
    );
    answer
}

#[test]
fn an_agent_wakes_and_knows_its_work_its_mail_and_what_holds_it_up() {
    let (world, mut team) = demo();
    for (task, deps) in [("a", &[][..]), ("b", &["a", "x"]), ("c", &[]), ("d", &[])] {
        let assignment = given!(TaskAssign, deps, ..assign(task, "dev"));
        team.task_assign(assignment).unwrap();
        world.later(MINUTE);
    }
    team.task_update(update("a", "in_progress")).unwrap();
    let stuck = given!(TaskUpdate, note: "no key", ..update("d", "blocked"));
    team.task_update(stuck).unwrap();
    team.send(given!(Send, message_id: "news", ..message("qa", "dev")))
        .unwrap();
    let answer = prime(&mut team, "dev");
    assert_eq!(
        json(&answer.tasks_by_status),
        json!({"assigned": 2, "blocked": 1, "in_progress": 1})
    );
    let named = |few: &teamlog_team::message::prime::Few<teamlog_team::message::prime::Brief>| {
        let ids: Vec<String> = few.items.iter().map(|task| task.task_id.clone()).collect();
        (few.total, ids.join(" "))
    };
    assert_eq!(named(&answer.in_progress), (1, "a".into()));
    assert_eq!(named(&answer.blocked), (2, "b d".into()));
    assert_eq!(named(&answer.ready), (1, "c".into()));
    let waits: Vec<_> = answer.blocked.items[0]
        .waits_for
        .iter()
        .map(|dep| (&*dep.task_id, &*dep.status))
        .collect();
    assert_eq!(waits, [("a", "in_progress"), ("x", "unknown")]);
    assert_eq!(answer.blocked.items[1].note, "no key");
    assert_eq!(
        (answer.unread.total, &*answer.unread.items[0].message_id),
        (5, "news")
    );
    assert_eq!(answer.unread.items[4].text, "do a");
    assert_eq!(answer.unread.items[4].age_minutes, 4);
    assert_eq!(answer.last_seq, 8);
    assert!(
        answer
            .commands
            .iter()
            .any(|command| command.contains("--since 8")),
        "{:?}",
        answer.commands
    );
    let idle = prime(&mut team, "qa");
    assert_eq!(
        (idle.ready.total, idle.unread.total, idle.commands.len()),
        (0, 0, 1)
    );
    assert_eq!(
        json(&prime(&mut team, "dev")),
        json(&answer),
        "the same state, the same words"
    );
}

#[test]
fn whatever_lies_there_fits_and_says_how_much_was_left_out() {
    let world = World::new();
    let name = "n".repeat(128);
    let mut team = world.team(None, Format::Jsonl);
    for n in 0..60 {
        // The test data have long ids, long texts, characters of three bytes, and many
        // dependencies.
        let id = format!("{}{n}", "9-".repeat(60));
        let deps = (0..9)
            .map(|dep| format!("{}{dep}", "x.".repeat(55)))
            .collect();
        let assignment = given!(TaskAssign, subject: "語".repeat(500),
            deps: if n % 2 == 0 { deps } else { Vec::new() }, ..assign(&id, &name));
        team.task_assign(assignment).unwrap();
        world.later(1);
        if n % 5 == 1 {
            let report = given!(TaskUpdate, from: name.clone(), ..update(&id, "in_progress"));
            team.task_update(report).unwrap();
        }
    }
    let answer = prime(&mut team, &name);
    assert_eq!(answer.unread.total, 60);
    assert_eq!((answer.blocked.total, answer.in_progress.total), (30, 12));
    let shown = answer.unread.items.len() + answer.blocked.items.len() + answer.ready.items.len();
    assert!(shown > 0 && shown < 30, "{shown}");
    let text = json(&answer).to_string();
    assert!(
        tokens::estimate(&text) > TOKENS_MAX / 2,
        "much was left out that would fit"
    );
}

fn diff(team: &mut Team, from: u64, to: Option<u64>) -> DiffAnswer {
    team.diff(
        &given!(Diff; from: Point::Seq(from), to: to.map(Point::Seq), limit: None,
            cursor: None::<String>),
    )
    .unwrap()
}

#[test]
fn a_difference_names_tasks_field_by_field_inboxes_and_members() {
    let (world, mut team) = team_of(None, Format::Binary);
    team.task_assign(assign("t10", "dev")).unwrap();
    let from = status(&mut team).last_seq;
    world.later(MINUTE);
    team.task_assign(assign("t2", "qa")).unwrap();
    let late = given!(TaskUpdate, created_at: "2026-11-21T08:00:00Z", ..update("t10", "failed"));
    team.task_update(late).unwrap();
    let unchanged = status(&mut team).last_seq;
    team.task_update(given!(TaskUpdate, note: "done at last", ..update("t10", "completed")))
        .unwrap();
    let first = team
        .read(given!(teamlog_team::message::read::Read, agent: "dev"))
        .unwrap();
    team.ack(given!(teamlog_team::message::ack::Ack; agent: "dev",
        message_id: first.messages[0].id.clone()))
        .unwrap();
    let answer = diff(&mut team, from, None);
    assert_eq!(
        (answer.tasks_created, answer.tasks_changed, answer.count),
        (1, 1, 2)
    );
    let (t2, t10) = (&answer.tasks[0], &answer.tasks[1]);
    assert_eq!(
        (&*t2.task_id, t2.change, &*t10.task_id, t10.change),
        ("t2", Change::Created, "t10", Change::Changed)
    );
    assert_eq!(
        json(&t10.fields),
        json!({
            "last_update_from": {"from": null, "to": "dev"},
            "note": {"from": null, "to": "done at last"},
            "status": {"from": "assigned", "to": "completed"},
        })
    );
    assert_eq!(t2.fields["owner"].to, Value::from("qa"));
    let inbox = |agent: &str| {
        answer
            .inboxes
            .iter()
            .find(|inbox| inbox.agent == agent)
            .unwrap()
            .clone()
    };
    assert_eq!(
        inbox("dev"),
        given!(InboxChange; agent: "dev", received: 0, acked: 1, unread: 0)
    );
    assert_eq!(
        inbox("lead"),
        given!(InboxChange; agent: "lead", received: 2, acked: 0, unread: 2)
    );
    assert_eq!(answer.members_added, ["dev"]);
    assert_eq!(answer.events, answer.to.seq - from);
    assert_eq!(answer.kinds.values().sum::<u64>(), answer.events);
    // A late message changes nothing, so the task does not differ.
    let late = diff(&mut team, from + 1, Some(unchanged));
    assert_eq!(
        (late.tasks_created, late.tasks_changed),
        (0, 0),
        "{:?}",
        late.tasks
    );
    let nothing = diff(&mut team, from, Some(from));
    assert_eq!(
        (nothing.events, nothing.count, nothing.inboxes.len()),
        (0, 0, 0)
    );
}

#[test]
fn a_difference_comes_by_pages_and_adds_up() {
    let (world, mut team) = demo();
    for n in 0..40 {
        world.later(MINUTE);
        match n % 3 {
            2 => drop(
                team.task_update(update(&format!("t{}", n % 7), "in_progress"))
                    .unwrap(),
            ),
            _ => drop(team.task_assign(assign(&format!("t{n}"), "dev")).unwrap()),
        }
        team.finish().unwrap();
    }
    let whole = diff(&mut team, 5, Some(38));
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let page = team
            .diff(&given!(Diff; from: Point::Seq(5), to: Point::Seq(38), limit: 4, cursor))
            .unwrap();
        assert_eq!(
            (page.tasks_created, page.tasks_changed),
            (whole.tasks_created, whole.tasks_changed)
        );
        found.extend(page.tasks.iter().map(json));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, whole.tasks.iter().map(json).collect::<Vec<_>>());
    assert_eq!(
        found.len() as u64,
        whole.tasks_created + whole.tasks_changed
    );
    let wrong = given!(Diff; from: Point::Seq(9), to: Point::Seq(8), limit: None,
        cursor: None::<String>);
    assert_eq!(
        refused(team.diff(&wrong), Code::InvalidInput)
            .field
            .as_deref(),
        Some("from")
    );
    // The start of the difference is a day before the team was created, so the difference begins
    // with the first event.
    let before = Point::Time(time("2026-11-20T12:00:00Z"));
    let early = given!(Diff; from: before, to: None::<Point>, limit: None, cursor: None::<String>);
    let early = team.diff(&early).unwrap();
    assert_eq!(early.from.seq, 1);
    assert_eq!(json(&early), json(&diff(&mut team, 1, None)));
    let unknown = given!(Diff; from: Point::Seq(1), to: Point::Seq(99), limit: None,
        cursor: None::<String>);
    assert_eq!(
        refused(team.diff(&unknown), Code::PointUnknown)
            .field
            .as_deref(),
        Some("to")
    );
}

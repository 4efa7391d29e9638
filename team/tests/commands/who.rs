//! Tests of `who`: each agent with its tasks, leases and reports.

use crate::claims::{claim, new, waiting};
use crate::prelude::*;
use teamlog_team::worker::who::{Who, WhoAgent, WhoAnswer};

fn who(team: &mut Team) -> WhoAnswer {
    team.who(&Who::default()).unwrap()
}

fn of<'a>(answer: &'a WhoAnswer, agent: &str) -> &'a WhoAgent {
    let found = answer.agents.iter().find(|found| found.agent == agent);
    found.unwrap()
}

#[test]
fn each_agent_is_shown_with_its_tasks_leases_reports_and_what_blocks() {
    let (world, mut team) = demo();
    team.task_create(new("Build")).unwrap();
    team.task_create(waiting("Test", &["1"])).unwrap();
    let mut blocked = waiting("Ship", &["1", "2"]);
    blocked.owner = Some("qa".into());
    team.task_create(blocked).unwrap();
    team.task_claim(claim("1", "dev")).unwrap();
    team.task_update(update("1", "in_progress")).unwrap();
    world.later(5 * MINUTE);

    let answer = who(&mut team);
    assert_eq!((answer.count, answer.live_claims), (answer.agents.len(), 1));
    let dev = of(&answer, "dev");
    assert_eq!((dev.working_on.len(), dev.working_on_total), (1, 1));
    let task = &dev.working_on[0];
    assert_eq!(
        (&*task.task_id, task.status.name(), task.epoch),
        ("1", "in_progress", Some(1))
    );
    let left = task.lease_left_ms.unwrap();
    assert!((590_000..=600_000).contains(&left), "{left}");
    assert_eq!(task.reported.as_deref(), Some("in_progress"));
    let last = dev.last_event.as_ref().unwrap();
    assert_eq!(last.kind, "message_sent");
    let qa = of(&answer, "qa");
    assert_eq!((qa.working_on.len(), qa.waiting_total), (0, 1));
    let waits: Vec<(&str, &str, Option<&str>)> = qa.waiting[0]
        .waits_for
        .iter()
        .map(|dep| (&*dep.task_id, &*dep.status, dep.owner.as_deref()))
        .collect();
    assert_eq!(
        waits,
        [("1", "in_progress", Some("dev")), ("2", "blocked", None)]
    );
    assert_eq!(qa.last_event, None);

    // The lease has expired, but no event records the expiry yet.
    world.later(11 * MINUTE);
    let answer = who(&mut team);
    assert_eq!(answer.live_claims, 0);
    assert_eq!(of(&answer, "dev").working_on[0].lease_left_ms, Some(0));
}

#[test]
fn a_report_of_another_agent_is_not_shown_as_the_holders() {
    let (_, mut team) = demo();
    team.task_create(new("Build")).unwrap();
    team.task_claim(claim("1", "qa")).unwrap();
    team.task_update(update("1", "completed")).unwrap();
    let by = |answer: &WhoAnswer| of(answer, "qa").working_on[0].reported_by.clone();
    assert_eq!(by(&who(&mut team)).as_deref(), Some("dev"));
    let primed = team.prime(&given!(Prime, agent: "qa")).unwrap();
    assert_eq!(
        primed.in_progress.items[0].reported_by.as_deref(),
        Some("dev")
    );
    let own = given!(TaskUpdate, from: "qa", ..update("1", "in_progress"));
    team.task_update(own).unwrap();
    assert_eq!(by(&who(&mut team)), None);
}

#[test]
fn agents_come_page_by_page() {
    let (_, mut team) = demo();
    let all: Vec<String> = who(&mut team).agents.into_iter().map(|a| a.agent).collect();
    let mut paged = Vec::new();
    let mut cursor = None;
    loop {
        let page = team.who(&given!(Who; limit: 2, cursor)).unwrap();
        paged.extend(page.agents.into_iter().map(|agent| agent.agent));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
    let none = given!(Who; limit: 0, cursor: None::<String>);
    refused(team.who(&none), Code::InvalidInput);
}

#[test]
fn what_was_done_long_ago_is_not_read() {
    let (_, mut team) = demo();
    team.task_assign(assign("T-1", "dev")).unwrap();
    team.task_update(update("T-1", "in_progress")).unwrap();
    for n in 0..60 {
        let task = format!("old-{n}");
        team.task_assign(assign(&task, "dev")).unwrap();
        team.task_update(update(&task, "completed")).unwrap();
    }
    let answer = who(&mut team);
    let dev = of(&answer, "dev");
    assert_eq!((dev.working_on_total, dev.waiting_total), (1, 0));
    assert_eq!(dev.working_on.len(), 1);
}

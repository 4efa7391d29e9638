//! Tests of `list-events` from the end backward: pages and filters, compared with a filter over all events.

use crate::prelude::*;
use teamlog_team::log::events::{Events, EventsAnswer, Order};

/// Creates an open team that has a stored answer and foreign events. The foreign events have three
/// kinds and concern four tasks. Some have a text.
fn history(world: &World, format: Format, count: usize) -> Team {
    let mut team = world.team(None, format);
    for n in 0..count {
        let payload = match n % 10 {
            3 => r#"{"note":"Öl says \"stop\""}"#.to_owned(),
            _ => format!(r#"{{"n":{n}}}"#),
        };
        let append = Append {
            kind: ["deploy_begun", "deploy_done", "deploy_failed"][n % 3].to_owned(),
            task_id: Some(format!("t{}", n % 4)),
            payload: Some(payload),
            ..Append::default()
        };
        team.append(append).unwrap();
    }
    team.under(Control {
        operation: "create-task".into(),
        key: Some("one".into()),
        ..Control::default()
    });
    team.task_create(crate::claims::new("kept")).unwrap();
    team.under(Control::default());
    team.finish().unwrap();
    team
}

fn newest(asked: Events) -> Events {
    Events {
        order: Some(Order::Newest),
        ..asked
    }
}

fn seqs(answer: &EventsAnswer) -> Vec<u64> {
    answer.events.iter().map(|one| one.event.seq).collect()
}

/// Reads all pages, each from the cursor of the previous one.
fn all_pages(team: &mut Team, asked: &Events) -> Vec<u64> {
    let mut found = Vec::new();
    let mut asked = newest(asked.clone());
    loop {
        let page = team.events(&asked).unwrap();
        assert_eq!(page.count, page.events.len());
        found.extend(seqs(&page));
        let next = page
            .next_before
            .expect("newest first says where it goes on");
        assert_eq!(page.more, next.is_some());
        match next {
            Some(next) => assert!(
                asked.before.is_none_or(|before| next < before),
                "it gets on"
            ),
            None => return found,
        }
        asked.before = next;
    }
}

#[test]
fn the_newest_first_are_the_same_events_turned_round_by_every_filter_and_size_of_page() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        let mut team = history(&world, format, 400);
        let text = |value: &str| Some(value.to_owned());
        let filters = [
            Events::default(),
            given!(Events, kind: text("deploy_done")),
            given!(Events, kind: text("deploy_done,task_created")),
            given!(Events, task_id: text("t3")),
            given!(Events, task_id: text("t3"), kind: text("deploy_begun,deploy_failed")),
            given!(Events, q: text("ÖL SAYS \"")),
            given!(Events, q: text("T2")),
            given!(Events, bookkeeping: Some(false)),
            given!(Events, actor: text("nobody")),
            given!(Events, not: text("kind:deploy_done,task:t3")),
            given!(Events, after: Some(390)),
            given!(Events, task_id: text("t1"), after: Some(300)),
        ];
        for filter in filters {
            let forward = given!(Events, limit: Some(1_000), ..filter.clone());
            let forward = team.events(&forward).unwrap();
            assert_eq!((forward.more, forward.next_before), (false, None));
            let mut turned = seqs(&forward);
            turned.reverse();
            for limit in [1, 7, 1_000] {
                let filter = given!(Events, limit: Some(limit), ..filter.clone());
                if limit > 1 || turned.len() < 20 {
                    assert_eq!(all_pages(&mut team, &filter), turned, "{filter:?}");
                }
            }
        }
    }
}

#[test]
fn texts_kinds_and_bookkeeping_choose_what_they_say() {
    let world = World::new();
    let mut team = history(&world, Format::Jsonl, 30);
    let mut count = |asked: Events| team.events(&asked).unwrap().count;
    let text = |value: &str| Some(value.to_owned());
    assert_eq!(count(given!(Events, q: text("öl says \"stop\""))), 3);
    assert_eq!(count(given!(Events, q: text("DEPLOY_DONE"))), 10);
    assert_eq!(
        count(given!(Events, kind: text("deploy_done,deploy_begun"))),
        20
    );
    assert_eq!(
        count(given!(Events, not: text("kind:deploy_done"), q: text("deploy_"))),
        20
    );
    assert_eq!(
        count(given!(Events, not: text("type:handoff"), message_type: text("handoff"))),
        0
    );
    let all = count(Events::default());
    assert_eq!(count(given!(Events, bookkeeping: Some(true))), all);
    assert_eq!(count(given!(Events, bookkeeping: Some(false))), all - 1);
    // The operation hides the same kinds as `tail`.
    let shown = team
        .events(&given!(Events, bookkeeping: Some(false)))
        .unwrap();
    let filter = given!(Replay, without_bookkeeping: true);
    let mut tailed = Vec::new();
    team.replay(filter, &mut |event, _| {
        tailed.push(event.seq);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(seqs(&shown), tailed);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let world = World::new();
    let mut team = history(&world, Format::Jsonl, 1);
    let many = vec!["a"; 65].join(",");
    for (asked, field) in [
        (
            given!(Events, before: Some(2), order: Some(Order::Oldest)),
            "order",
        ),
        (given!(Events, kind: "a,,b"), "kind"),
        (given!(Events, message_type: "hand_off"), "type"),
        (given!(Events, not: "hue:red"), "not"),
        (given!(Events, kind: many), "kind"),
        (given!(Events, q: "x".repeat(129)), "q"),
    ] {
        let failure = team.events(&asked).unwrap_err();
        let refusal = failure.refusal().unwrap();
        assert_eq!(refusal.code, Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some(field));
    }
    let ahead = team
        .events(&newest(given!(Events, after: Some(99))))
        .unwrap_err();
    assert_eq!(ahead.refusal().unwrap().code, Code::CursorAhead);
    // A seq after the end means the end. A page before the first event is empty.
    let last = team
        .events(&given!(Events, before: Some(999), limit: Some(1)))
        .unwrap();
    assert_eq!(seqs(&last), [last.last_seq]);
    let none = team.events(&given!(Events, before: Some(1))).unwrap();
    assert_eq!((none.count, none.next_before), (0, Some(None)));
}

#[test]
fn a_page_of_large_events_ends_early_and_none_is_lost() {
    let world = World::new();
    let mut team = world.team(None, Format::Jsonl);
    for n in 0..12 {
        let payload = json!({"text": "x".repeat(900_000), "n": n}).to_string();
        let append = Append {
            kind: "big_thing".into(),
            payload: Some(payload),
            ..Append::default()
        };
        team.append(append).unwrap();
    }
    let asked = given!(Events, kind: "big_thing");
    let first = team.events(&newest(asked.clone())).unwrap();
    assert!((4..=6).contains(&first.count), "{}", first.count);
    let head = first.last_seq;
    let expected: Vec<u64> = (head - 11..=head).rev().collect();
    assert_eq!(all_pages(&mut team, &asked), expected);
}

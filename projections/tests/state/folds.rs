//! Tests of the rules of the folds.

use crate::support::*;
use teamlog_engine::Format;
use teamlog_engine::Point;
use teamlog_projections::RefKind;
use teamlog_projections::message::InboxQuery;
use teamlog_projections::team::event::{MembersAdded, TeamFact};
use teamlog_projections::{Live, MessageType, Priority, Status, Task, TaskFilter};

#[test]
fn a_team_is_what_created_it() {
    let team = Team::empty(Format::Binary);
    assert_eq!(team.live().team().unwrap(), None);
    team.append(vec![created(&["lead", "dev"], false)]);
    team.append(vec![
        TeamFact::MembersAdded(given!(MembersAdded; members: ["qa", "dev"])).event("lead"),
    ]);
    team.append(vec![created(&["intruder"], true)]);
    let live = team.live();
    let info = live.team().unwrap().unwrap();
    assert_eq!(
        (info.open, info.views, info.members, info.seq),
        (false, false, 3, 2)
    );
    assert_eq!(live.members().unwrap(), ["dev", "lead", "qa"]);
    assert!(live.is_member("qa").unwrap() && !live.is_member("q").unwrap());
    assert_eq!(live.count_of("team_created").unwrap(), 2);
}

#[test]
fn a_message_lies_in_the_inbox_until_its_recipient_acknowledges_it() {
    let team = Team::new();
    team.send(&[message("m1", MessageType::Handoff, "dev", 1, "{}")]);
    let info = team.live().message("m1").unwrap().unwrap();
    assert_eq!(
        (info.seq, info.to.as_str(), info.kind, info.acked),
        (2, "dev", MessageType::Handoff, None)
    );
    team.append(vec![ack("m1", "qa"), ack("unknown", "dev")]);
    assert_eq!(
        team.live().agent("dev").unwrap().unread,
        1,
        "others acknowledge nothing"
    );
    team.append(vec![ack("m1", "dev"), ack("m1", "dev")]);
    let live = team.live();
    assert_eq!(live.message("m1").unwrap().unwrap().acked, Some(5));
    let dev = live.agent("dev").unwrap();
    assert_eq!((dev.received, dev.unread, dev.last_seq), (1, 0, 2));
    assert_eq!(live.agent("nobody").unwrap().received, 0);
    assert!(live.stale_messages(at(1000), 10).unwrap().is_empty());
}

#[test]
fn inboxes_page_towards_older_messages() {
    let team = Team::new();
    for n in 1..=5 {
        team.send(&[plain(&format!("m{n}"), "dev", n)]);
    }
    team.append(vec![ack("m3", "dev")]);
    let live = team.live();
    let page = |unread, before, limit| {
        live.inbox("dev", given!(InboxQuery; unread, before, limit))
            .unwrap()
    };
    let newest = page(false, None, 2);
    assert_eq!(
        (newest.seqs.as_slice(), newest.older),
        ([5, 6].as_slice(), true)
    );
    let rest = page(false, Some(5), 10);
    assert_eq!(
        (rest.seqs.as_slice(), rest.older),
        ([2, 3, 4].as_slice(), false)
    );
    assert_eq!(page(true, None, 10).seqs, [2, 3, 5, 6]);
    assert!(page(false, Some(2), 10).seqs.is_empty());
    assert!(!page(false, None, 5).older);
    let reader = team.log.reader().unwrap();
    assert_eq!(live.sent(&reader, 4).unwrap().unwrap().id, "m3");
}

#[test]
fn an_inbox_is_not_that_of_a_name_which_it_begins() {
    let team = Team::empty(Format::Jsonl);
    team.append(vec![created(&["a", "ab", "a-b"], true)]);
    for (id, to) in [("m1", "a"), ("m2", "ab"), ("m3", "a-b")] {
        team.send(&[plain(id, to, 1)]);
    }
    let query = given!(InboxQuery; unread: false, before: None, limit: 10);
    assert_eq!(team.live().inbox("a", query).unwrap().seqs, [2]);
    assert_eq!(team.live().agents().unwrap().len(), 3);
}

#[test]
fn the_oldest_unacknowledged_messages_come_first() {
    let team = Team::new();
    for n in 1..=3 {
        team.clock.set(at(n * 10));
        team.send(&[plain(&format!("m{n}"), "dev", n)]);
    }
    team.append(vec![ack("m1", "dev")]);
    let ids = |minute, limit| {
        let stale = team.live().stale_messages(at(minute), limit).unwrap();
        let ids = stale.into_iter().map(|unacked| unacked.id);
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(25, 10), ["m2"]);
    assert_eq!(ids(90, 10), ["m2", "m3"]);
    assert_eq!(ids(90, 1), ["m2"]);
}

#[test]
fn what_was_last_sent_is_known_by_recipient_task_and_type() {
    let team = Team::new();
    team.clock.set(at(3));
    team.send(&[assign("m1", "7", "dev", 1, "{}")]);
    let live = team.live();
    let last = |to, task, kind| live.last_sent(to, task, kind).unwrap();
    let sent = last("dev", Some("7"), MessageType::TaskAssign).unwrap();
    // The message was created before the time of its event.
    assert_eq!((sent.seq, sent.at), (2, at(1)));
    assert_eq!(last("dev", None, MessageType::TaskAssign), None);
    assert_eq!(last("qa", Some("7"), MessageType::TaskAssign), None);
    assert_eq!(last("dev", Some("7"), MessageType::TaskUpdate), None);
}

#[test]
fn an_assignment_and_an_update_make_a_snapshot() {
    let team = Team::new();
    let mut first = assign("m1", "bd-1", "dev", 1, r#"{"subject":"S","details":"D"}"#);
    first.priority = Priority::High;
    first.trace_id = Some("tr_1".into());
    let mut second = update(
        "m2",
        "bd-1",
        "dev",
        2,
        r#"{"status":"in_progress","progress":0.5,"eta":"noon","blocked":true,"note":"n"}"#,
    );
    second.trace_id = Some("tr_2".into());
    team.send(&[first, second]);
    // The task keeps the trace of the first sender.
    has!(team.json("tasks/bd-1.json"), {"status": "in_progress", "owner": "dev", "assigned_by": "lead",
        "subject": "S", "details": "D", "progress": 0.5, "eta": "noon", "blocked": true, "note": "n",
        "trace_id": "tr_1", "last_update_from": "dev", "created_at": at(1).to_string(),
        "updated_at": at(2).to_string(), "snapshot_version": 2, "version": 2, "seq": 3,
        "last_message_id": "m2", "last_message_created_at": at(2).to_string(), "priority": "high"});
}

#[test]
fn statuses_are_stored_canonically() {
    let team = Team::new();
    for (n, (given, stored)) in [
        ("done", Status::Completed),
        ("skipped", Status::Canceled),
        ("cancelled", Status::Canceled),
        ("canceled", Status::Canceled),
        ("blocked", Status::Blocked),
    ]
    .into_iter()
    .enumerate()
    {
        let payload = format!(r#"{{"status":"{given}"}}"#);
        team.send(&[update(&format!("m{n}"), &n.to_string(), "dev", 1, &payload)]);
        assert_eq!(team.task(&n.to_string()).status, stored);
    }
    let counts = team.live().task_counts().unwrap();
    assert_eq!(counts.total(), 5);
    assert_eq!(counts.by_status[Status::Canceled as usize], 3);
}

#[test]
fn an_update_of_an_unknown_task_creates_it_pending() {
    let team = Team::new();
    team.send(&[update("m1", "9", "dev", 1, r#"{"note":"hm"}"#)]);
    let task = team.task("9");
    assert_eq!(
        (task.status, task.owner.as_deref()),
        (Status::Pending, Some("lead"))
    );
}

#[test]
fn only_a_strictly_newer_message_applies() {
    let team = Team::new();
    let note = |id: &str, minute, note: &str| {
        update(id, "t", "dev", minute, &format!(r#"{{"note":"{note}"}}"#))
    };
    team.send(&[note("m5", 10, "first")]);
    team.send(&[note("m9", 9, "older")]);
    team.send(&[note("m4", 10, "a tie, smaller id")]);
    team.send(&[note("m6", 10, "a tie, larger id")]);
    team.send(&[note("m1", 11, "newer")]);
    let live = team.live();
    let task = live.task("t").unwrap().unwrap();
    assert_eq!(
        (task.note.as_deref(), task.snapshot_version),
        (Some("newer"), 3)
    );
    let superseded: Vec<_> = (2..=6).map(|seq| live.superseded(seq).unwrap()).collect();
    assert_eq!(superseded, [false, true, true, false, false]);
    assert_eq!(
        live.agent("lead").unwrap().received,
        5,
        "the log and the inbox keep them all"
    );
    let reader = team.log.reader().unwrap();
    let then = Live::at(&team.log, &reader, 4).unwrap();
    assert_eq!(
        then.task("t").unwrap().unwrap().note.as_deref(),
        Some("first")
    );
    assert_eq!((then.seq(), then.counts().unwrap().events), (4, 4));
}

#[test]
fn a_long_fold_of_the_past_goes_into_runs_that_nobody_else_sees() {
    let team = Team::new();
    let writer = team.writer();
    let mut then = Vec::new();
    for round in 0..10_i64 {
        let of = |n: i64| format!("m{round}-{n}");
        let sent = (0..1_000).map(|n| {
            let (id, task) = (of(n), format!("t{}", n % 300));
            assign(&id, &task, "dev", round, "{}").sent().unwrap()
        });
        commit(&writer, sent.collect());
        then.push(writer.with_state(|live| (live.seq(), live.digest().unwrap())));
    }
    writer.close().unwrap().flush().unwrap();
    let names = || team.storage.list(&team.path("derived")).unwrap();
    let before = names();
    let reader = team.log.reader().unwrap();
    for (seq, digest) in then {
        let past = Live::at(&team.log, &reader, seq).unwrap();
        assert_eq!(past.digest().unwrap(), digest, "at {seq}");
        let covered = seq == reader.head().last_seq;
        assert_eq!(past.spilled_events() > 0, seq > 4_096 && !covered);
        assert_eq!(past.folded_events() > 0, seq <= 4_096);
        let last = reader.upto(Point::Seq(seq)).unwrap().unwrap();
        let behind = Live::behind(&team.log, &reader, &past).unwrap();
        assert_eq!(behind.seq(), reader.head().last_seq);
        assert_eq!(last.head().last_seq, seq);
        assert_eq!(names(), before);
    }
}

#[test]
fn dependencies_make_a_task_ready_once_all_are_completed() {
    let team = Team::new();
    team.send(&[assign("m1", "c", "dev", 1, r#"{"deps":["a","b","a"]}"#)]);
    let ready = || {
        let live = team.live();
        let task = live.task("c").unwrap().unwrap();
        assert_eq!(task.deps, ["a", "b"]);
        live.ready(&task).unwrap()
    };
    assert!(!ready(), "an unknown dependency blocks");
    team.send(&[update("m2", "a", "dev", 2, r#"{"status":"done"}"#)]);
    team.send(&[update("m3", "b", "dev", 2, r#"{"status":"skipped"}"#)]);
    assert!(!ready(), "a canceled dependency is not completed");
    team.send(&[update("m4", "b", "dev", 3, r#"{"status":"done"}"#)]);
    assert!(ready());
}

#[test]
fn a_dependency_that_closes_a_cycle_is_left_out_and_shown() {
    let team = Team::new();
    team.send(&[
        assign("m1", "a", "dev", 1, r#"{"deps":["b"]}"#),
        assign("m2", "b", "dev", 2, r#"{"deps":["c"]}"#),
        assign("m3", "c", "dev", 3, r#"{"deps":["x","a"]}"#),
        assign("m4", "d", "dev", 4, r#"{"deps":["d"]}"#),
    ]);
    let deps = |id: &str| {
        let task = team.task(id);
        (task.deps.join(" "), task.ignored_deps.join(" "))
    };
    assert_eq!(deps("c"), ("x".into(), "a".into()));
    assert_eq!(deps("d"), ("".into(), "d".into()));
    team.send(&[
        assign("m5", "a", "dev", 5, r#"{"deps":[]}"#),
        assign("m6", "c", "dev", 6, r#"{"deps":["a"]}"#),
    ]);
    assert_eq!(deps("c"), ("a".into(), "".into()));
}

#[test]
fn tasks_are_listed_in_natural_order_by_page_and_filter() {
    let team = Team::new();
    let names = ["10", "2", "bd-10", "bd-2", "x", "1"];
    for (n, name) in names.iter().enumerate() {
        let to = if n % 2 == 0 { "dev" } else { "qa" };
        team.send(&[assign(&format!("m{n}"), name, to, 1, "{}")]);
    }
    team.send(&[
        update("u1", "2", "qa", 2, r#"{"status":"blocked"}"#),
        update("u2", "x", "dev", 2, r#"{"blocked":true}"#),
        update("u3", "10", "dev", 3, r#"{"status":"done"}"#),
    ]);
    let live = team.live();
    let list = |filter: &TaskFilter, after, limit| {
        let page = live.tasks(filter, after, limit).unwrap();
        let ids = page.tasks.into_iter().map(|task| task.task_id);
        (ids.collect::<Vec<_>>().join(" "), page.more)
    };
    let listed = |filter: &TaskFilter| list(filter, None, 9).0;
    let all = TaskFilter::default();
    assert_eq!(listed(&all), "1 2 10 bd-2 bd-10 x");
    assert_eq!(list(&all, None, 4), ("1 2 10 bd-2".into(), true));
    assert_eq!(list(&all, Some("bd-2"), 2), ("bd-10 x".into(), false));
    // The cursor need not be the id of a known task.
    assert_eq!(list(&all, Some("3"), 1), ("10".into(), true));
    let by = |status, owner: Option<&str>| given!(TaskFilter, status, owner: owner, ..TaskFilter::default());
    let (assigned, completed) = (Some(Status::Assigned), Some(Status::Completed));
    assert_eq!(listed(&by(assigned, None)), "1 bd-2 bd-10 x");
    let of_dev = by(None, Some("dev"));
    assert_eq!(listed(&of_dev), "10 bd-10 x");
    assert_eq!(list(&of_dev, None, 1), ("10".into(), true));
    assert_eq!(list(&of_dev, Some("10"), 1), ("bd-10".into(), true));
    assert_eq!(listed(&by(completed, Some("dev"))), "10");
    assert_eq!(listed(&by(None, Some("de"))), "");
    let ids =
        |tasks: Vec<Task>| -> Vec<String> { tasks.into_iter().map(|task| task.task_id).collect() };
    assert_eq!(ids(live.blocked_tasks(None, 9).unwrap().tasks), ["2", "x"]);
    let stale = |minute| ids(live.stale_tasks(at(minute), 9).unwrap()).join(" ");
    // The completed task is not stale.
    assert_eq!(stale(2), "1 bd-2 bd-10");
    assert_eq!(stale(100), "1 bd-2 bd-10 2 x");
    assert_eq!(live.stale_tasks(at(100), 1).unwrap().len(), 1);
}

#[test]
fn foreign_events_are_indexed_and_move_nothing() {
    let team = Team::new();
    let before = team.live().digest().unwrap();
    team.append(vec![
        foreign("message_received_elsewhere"),
        foreign("deploy_finished"),
    ]);
    let live = team.live();
    assert_eq!(live.digest().unwrap(), before);
    assert_eq!(live.counts().unwrap().events, 3);
    assert_eq!(live.count_of("deploy_finished").unwrap(), 0);
    let page = live.with_ref(RefKind::Trace, "tr_1", None, 1).unwrap();
    assert_eq!((page.seqs.as_slice(), page.older), ([3].as_slice(), true));
    let page = live.with_ref(RefKind::Trace, "tr_1", Some(3), 9).unwrap();
    assert_eq!((page.seqs.as_slice(), page.older), ([2].as_slice(), false));
}

#[test]
fn a_fold_stops_at_an_event_that_it_cannot_read() {
    let team = Team::new();
    let payload = teamlog_engine::Json::parse("{}").unwrap();
    team.force(vec![NewEvent::new("message_sent", "x", payload)]);
    shows!(team.load_error().to_string() => starts "event 2 (message_sent) cannot be read: ");
}

#[test]
fn a_name_that_leads_out_of_the_directory_is_not_decoded() {
    let team = Team::new();
    let evil = message("m", MessageType::Message, "../../x", 1, "{}");
    team.force(vec![evil.sent().unwrap()]);
    team.load_error();
}

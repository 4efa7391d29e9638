//! Tests of posts and news of tasks. Every surface shows an agent's unseen items from the same feed.

use crate::claims::complete;
use crate::prelude::*;
use teamlog_team::log::await_event::{AwaitEvent, AwaitStatus};
use teamlog_team::message::ack::AckStatus;
use teamlog_team::message::inbox_feed::InboxFeed;
use teamlog_team::message::notices::Notice;
use teamlog_team::message::prime::{Few, PrimeAnswer, TOKENS_MAX};
use teamlog_team::message::read::ReadAnswer;
use teamlog_team::message::wait::{Wait, WaitStatus};
use teamlog_team::task::approval::WriteApproval;
use teamlog_team::thread::post::ThreadPost;
use teamlog_team::thread::start::ThreadStart;
use teamlog_team::usage::tokens;

/// Creates a thread of `lead`, `dev` and `qa`.
fn thread(team: &mut Team) -> String {
    let participants = ["lead", "dev", "qa"].map(str::to_owned).to_vec();
    let start = given!(ThreadStart, title: "where to cut", participants);
    team.thread_start(start).unwrap().thread.id
}

/// Posts a message of `from` to `to` alone. Returns its id.
fn post(team: &mut Team, thread: &str, from: &str, to: &str, body: &str) -> String {
    let post = given!(ThreadPost, thread_id: thread, body, worker: from, to: vec![to.to_owned()]);
    team.thread_post(post).unwrap().message.id
}

fn ack(team: &mut Team, agent: &str, id: &str) -> (AckStatus, Option<u64>) {
    let answer = team.ack(given!(Ack, agent, message_id: id)).unwrap();
    (answer.status, answer.posts_read)
}

/// Returns the kinds of the events that end an agent's wait at once.
fn arrives(team: &mut Team, agent: &str, since: u64) -> Vec<String> {
    let wait = given!(Wait; agent, timeout_ms: 0, since);
    let answer = team.wait(&wait).unwrap();
    let events = answer.events.iter();
    let kinds: Vec<String> = events.map(|one| one.event.kind.to_string()).collect();
    assert_eq!(answer.status == WaitStatus::Arrived, !kinds.is_empty());
    kinds
}

fn unread(team: &mut Team, agent: &str) -> ReadAnswer {
    team.read(given!(Read, agent, unread: true)).unwrap()
}

fn prime(team: &mut Team, agent: &str) -> PrimeAnswer {
    let answer = team.prime(&given!(Prime, agent)).unwrap();
    assert!(tokens::estimate(&json(&answer).to_string()) < TOKENS_MAX);
    answer
}

fn texts(notices: &Few<Notice>) -> Vec<&str> {
    notices.items.iter().map(|notice| &*notice.text).collect()
}

fn kinds_of(notices: &Few<Notice>) -> Vec<&str> {
    notices.items.iter().map(|notice| &*notice.kind).collect()
}

fn nudged(team: &mut Team) -> Vec<String> {
    let answer = team.nudge(Nudge::default()).unwrap();
    answer.nudged.into_iter().map(|one| one.agent).collect()
}

#[test]
fn every_surface_tells_of_a_post_until_it_is_acknowledged() {
    let (world, mut team) = demo();
    let thread = thread(&mut team);
    let since = team.read(given!(Read, agent: "lead")).map(|_| 2).unwrap();
    let first = post(&mut team, &thread, "dev", "lead", "may I cut here?");
    let second = post(&mut team, &thread, "qa", "lead", "or there?");
    world.later(60 * MINUTE);

    assert_eq!(
        arrives(&mut team, "lead", since),
        ["thread_message_posted"; 2]
    );
    assert!(
        arrives(&mut team, "dev", since).is_empty(),
        "not addressed to dev"
    );
    assert!(arrives(&mut team, "lead", since + 2).is_empty(), "passed");
    let known = events(&mut team)[1]["id"].as_str().unwrap().to_owned();
    let wait = given!(AwaitEvent, after_event_id: known, worker: "lead", wakeable_only: true, timeout_ms: 0);
    let event = team.await_event(&wait).unwrap();
    assert_eq!(event.status, AwaitStatus::Event);
    has!(json(&event.event), {"type": "message_received", "message_id": first, "worker": "lead"});

    let read = unread(&mut team, "lead");
    assert_eq!((read.count, read.posts.total), (0, 2));
    assert_eq!(texts(&read.posts), ["may I cut here?", "or there?"]);
    assert_eq!(
        (&*read.posts.items[0].id, &*read.posts.items[1].from),
        (&*first, "qa")
    );
    let primed = prime(&mut team, "lead");
    assert_eq!(primed.posts, read.posts);
    let covers = format!("teamlog ack demo --agent lead --message-id {second}");
    assert!(primed.commands.contains(&covers), "{:?}", primed.commands);
    assert_eq!(json(&status(&mut team))["unread_posts"], json!({"lead": 2}));
    assert_eq!(nudged(&mut team), ["lead"]);
    let payload = &events(&mut team).pop().unwrap()["payload"]["message"]["payload"];
    assert_eq!(
        *payload,
        json!({"reason": "unread", "unread": 0, "posts": 2})
    );

    assert_eq!(ack(&mut team, "dev", &first), (AckStatus::NotFound, None));
    assert_eq!(ack(&mut team, "lead", &first), (AckStatus::Acked, Some(1)));
    assert_eq!(texts(&unread(&mut team, "lead").posts), ["or there?"]);
    assert_eq!(
        arrives(&mut team, "lead", since).len(),
        2,
        "the second post and the wake-up"
    );
    assert_eq!(ack(&mut team, "lead", &second), (AckStatus::Acked, Some(1)));
    assert_eq!(
        ack(&mut team, "lead", &first),
        (AckStatus::AlreadyAcked, Some(0))
    );
    assert!(prime(&mut team, "lead").posts.is_empty());
    assert_eq!(json(&status(&mut team)).get("unread_posts"), None);
    assert_eq!(json(&unread(&mut team, "lead")).get("posts"), None);
    assert_eq!(arrives(&mut team, "lead", since), ["message_sent"]);
    settled_digest(&mut team);
    assert_eq!(doctor(&world.root, "demo").overall_status, Health::Healthy);
}

#[test]
fn an_ack_of_a_post_covers_those_before_it_and_carries_their_thread() {
    let (_, mut team) = demo();
    let thread = thread(&mut team);
    let ids: Vec<String> = (0..5)
        .map(|number| post(&mut team, &thread, "dev", "qa", &format!("post {number}")))
        .collect();
    assert_eq!(ack(&mut team, "qa", &ids[3]), (AckStatus::Acked, Some(4)));
    has!(events(&mut team).pop().unwrap(), {"kind": "message_acked", "thread_id": thread, "actor": "qa"});
    assert_eq!(texts(&unread(&mut team, "qa").posts), ["post 4"]);
    settled_digest(&mut team);
}

#[test]
fn a_post_that_was_not_acknowledged_wakes_an_agent_once() {
    let (world, mut team) = demo();
    let thread = thread(&mut team);
    post(&mut team, &thread, "dev", "qa", "look");
    assert_eq!(nudged(&mut team), ["qa"]);
    let wake = unread(&mut team, "qa").messages.remove(0).id;
    ack(&mut team, "qa", &wake);
    world.later(60 * MINUTE);
    assert!(nudged(&mut team).is_empty(), "the same post");
    post(&mut team, &thread, "dev", "qa", "look again");
    world.later(60 * MINUTE);
    assert_eq!(nudged(&mut team), ["qa"]);
}

#[test]
fn owners_are_told_what_others_decide_about_their_tasks() {
    let (world, mut team) = demo();
    let create = |blocked_by: &[&str]| {
        let blocked_by: Vec<String> = blocked_by.iter().map(|id| (*id).to_owned()).collect();
        given!(TaskCreate, subject: "mend it", owner: "dev", blocked_by)
    };
    team.task_create(given!(TaskCreate, subject: "first", owner: "qa"))
        .unwrap();
    let created = team.task_create(create(&["1"])).unwrap().task.task.task_id;
    assert_eq!(created, "2");
    team.task_assign(assign("T-9", "dev")).unwrap();
    team.send(message("dev", "lead")).unwrap();
    world.later(SECOND);
    let since = status(&mut team).last_seq;

    let claim = team
        .task_claim(given!(TaskClaim, task_id: "1", worker: "qa"))
        .unwrap();
    team.task_finish(complete(&claim)).unwrap();
    let decides = |status: &str| {
        given!(WriteApproval; task_id: "2", status, reviewer: "lead",
        decision_reason: "too wide", required: true)
    };
    team.write_approval(decides("rejected")).unwrap();
    team.write_approval(decides("pending")).unwrap();
    team.write_approval(decides("approved")).unwrap();
    team.task_assign(assign("T-9", "qa")).unwrap();
    let cancel = given!(TaskCancel, task_id: "2", reason: "not needed");
    team.task_cancel(cancel).unwrap();

    let news = [
        "task_unblocked",
        "task_rejected",
        "task_approved",
        "task_reassigned",
        "task_canceled",
    ];
    let read = unread(&mut team, "dev");
    assert_eq!(kinds_of(&read.news), news);
    assert_eq!(
        texts(&read.news)[1..4],
        [
            "Task 2 rejected by lead: too wide",
            "Task 2 approved by lead: too wide",
            "Task T-9 was assigned to qa by lead"
        ]
    );
    assert_eq!(kinds_of(&prime(&mut team, "dev").news), news);
    let arrived = arrives(&mut team, "dev", since);
    assert!(
        arrived.contains(&"message_sent".to_owned()),
        "reassigned: {arrived:?}"
    );
    assert_eq!(
        arrived
            .iter()
            .filter(|kind| *kind == "approval_recorded")
            .count(),
        3
    );
    let feed = team
        .inbox_feed(&given!(InboxFeed, worker: "dev", since))
        .unwrap();
    let fed: Vec<&str> = feed.events.iter().map(|entry| &*entry.kind).collect();
    let announced = ["task_claimed", "task_completed"];
    assert_eq!(fed, [&announced[..], &news].concat(), "one feed");
    world.later(60 * MINUTE);
    let answer = team.nudge(Nudge::default()).unwrap();
    let dev = answer.nudged.iter().find(|one| one.agent == "dev").unwrap();
    assert_eq!((dev.unread, dev.posts, dev.news), (1, 0, 5));

    team.send(message("dev", "lead")).unwrap();
    assert!(unread(&mut team, "dev").news.is_empty(), "dev went on");
    settled_digest(&mut team);
}

#[test]
fn announcements_to_all_wake_nobody() {
    let (_, mut team) = demo();
    team.task_create(given!(TaskCreate, subject: "first"))
        .unwrap();
    let since = status(&mut team).last_seq;
    team.task_claim(given!(TaskClaim, task_id: "1", worker: "qa"))
        .unwrap();
    assert!(arrives(&mut team, "dev", since).is_empty());
    let feed = team
        .inbox_feed(&given!(InboxFeed, worker: "dev", since))
        .unwrap();
    assert_eq!(feed.events[0].kind, "task_claimed");
}

#[test]
fn prime_names_no_post_for_an_ack_that_it_does_not_show() {
    let (_, mut team) = demo();
    let thread = thread(&mut team);
    for number in 0..40 {
        post(
            &mut team,
            &thread,
            "dev",
            "qa",
            &format!("{number} {}", "long ".repeat(200)),
        );
        team.task_assign(assign(&format!("T-{number}"), "qa"))
            .unwrap();
    }
    let primed = prime(&mut team, "qa");
    assert_eq!(primed.posts.total, 40);
    let shown = primed.posts.items.len();
    assert!((1..10).contains(&shown), "{shown}");
    let last = format!("--message-id {}", primed.posts.items[shown - 1].id);
    let acks: Vec<&String> = primed
        .commands
        .iter()
        .filter(|line| line.contains("--message-id msg-"))
        .collect();
    assert_eq!(acks.len(), 1, "{acks:?}");
    assert!(acks[0].ends_with(&last), "{acks:?}");
}

#[test]
fn a_leader_is_told_the_state_of_the_team() {
    let (world, mut team) = demo();
    assert!(prime(&mut team, "dev").lead.is_none());
    for task in ["T-1", "T-2", "T-3", "T-4"] {
        team.task_assign(assign(task, "dev")).unwrap();
        world.later(MINUTE);
    }
    let waits = given!(TaskAssign, deps: vec!["T-1".to_owned()], ..assign("T-5", "qa"));
    team.task_assign(waits).unwrap();
    let held = team
        .task_create(given!(TaskCreate, subject: "write it up"))
        .unwrap();
    world.later(MINUTE);
    team.task_claim(given!(TaskClaim, task_id: held.task.task_id.clone(), worker: "qa"))
        .unwrap();
    let last = team.send(message("lead", "qa")).unwrap().event.event.seq;
    world.later(10 * MINUTE);
    team.task_update(update("T-1", "in_progress")).unwrap();
    let stuck = given!(TaskUpdate, note: "no key", ..update("T-2", "blocked"));
    team.task_update(stuck).unwrap();
    let done = given!(TaskUpdate, note: "on branch x", ..update("T-3", "completed"));
    team.task_update(done).unwrap();
    world.later(MINUTE);
    team.task_update(update("T-4", "failed")).unwrap();

    let answer = prime(&mut team, "lead");
    let lead = answer.lead.as_ref().unwrap();
    let held = lead.held.items.iter();
    let held: Vec<_> = held
        .map(|task| {
            (
                &*task.task_id,
                &*task.owner,
                task.status.name(),
                task.held_minutes,
                task.heard_minutes,
            )
        })
        .collect();
    assert_eq!(
        held,
        [
            ("1", "qa", "in_progress", 11, 11),
            ("T-1", "dev", "in_progress", 16, 1)
        ],
        "who holds what and since when"
    );
    let blocked = lead.blocked.items.iter();
    let blocked: Vec<_> = blocked
        .map(|task| {
            (
                &*task.task_id,
                task.owner.as_deref(),
                task.waits_for.len(),
                &*task.note,
            )
        })
        .collect();
    assert_eq!(
        blocked,
        [
            ("T-2", Some("dev"), 0, "no key"),
            ("T-5", Some("qa"), 1, "")
        ],
        "what is blocked and why"
    );
    let finished = lead.finished.items.iter();
    let finished: Vec<_> = finished
        .map(|task| {
            (
                &*task.task_id,
                task.status.name(),
                task.age_minutes,
                &*task.note,
            )
        })
        .collect();
    assert_eq!(
        finished,
        [
            ("T-4", "failed", 0, ""),
            ("T-3", "completed", 1, "on branch x")
        ],
        "what ended since the last command, newest first"
    );
    assert_eq!(lead.last_command_seq, last);
    assert_eq!(
        (lead.held.total, lead.blocked.total, lead.finished.total),
        (2, 2, 2)
    );
    for command in ["teamlog who demo", "teamlog task show demo T-2 --history"] {
        assert!(
            answer.commands.iter().any(|line| line == command),
            "{:?}",
            answer.commands
        );
    }
    team.send(message("lead", "qa")).unwrap();
    assert!(prime(&mut team, "lead").lead.unwrap().finished.is_empty());
    settled_digest(&mut team);
}

#[test]
fn the_state_of_a_large_team_fits_and_says_how_much_was_left_out() {
    let (world, mut team) = demo();
    for number in 0..60 {
        let subject = "語".repeat(200);
        let id = format!("T-{number}");
        team.task_assign(given!(TaskAssign, subject, ..assign(&id, "dev")))
            .unwrap();
        world.later(SECOND);
        let status = ["in_progress", "blocked", "completed"][number % 3];
        let report = given!(TaskUpdate, note: "x".repeat(500), ..update(&id, status));
        team.task_update(report).unwrap();
    }
    let answer = prime(&mut team, "lead");
    let lead = answer.lead.unwrap();
    assert_eq!((lead.held.total, lead.blocked.total), (20, 20));
    // The first assignment after a report counts as a command of the leader.
    assert_eq!(lead.finished.total, 1);
    assert!(lead.held.items.len() > 1 && lead.blocked.items.len() > 1);
}

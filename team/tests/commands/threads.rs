//! Tests of threads and of agents' feeds.

use crate::prelude::*;
use teamlog_team::message::inbox_feed::{FEED_MAX, InboxFeed, InboxFeedAnswer};
use teamlog_team::projections::thread::PostShown;
use teamlog_team::thread::link::ThreadLink;
use teamlog_team::thread::post::{BODY_BYTES_MAX, ThreadPost};
use teamlog_team::thread::search::{ThreadSearch, ThreadSearchAnswer};
use teamlog_team::thread::start::ThreadStart;
use teamlog_team::thread::tail::ThreadTail;

fn names(of: &[&str]) -> Option<Vec<String>> {
    Some(of.iter().map(|name| (*name).to_owned()).collect())
}

fn start(team: &mut Team, title: &str, participants: &[&str]) -> String {
    let start = given!(ThreadStart, title, participants: names(participants));
    team.thread_start(start).unwrap().thread.id
}

fn saying(thread: &str, body: &str) -> ThreadPost {
    given!(ThreadPost, thread_id: thread, body)
}

fn post(team: &mut Team, thread: &str, body: &str) -> PostShown {
    team.thread_post(saying(thread, body)).unwrap().message
}

fn feed(team: &mut Team, worker: &str, since: u64) -> InboxFeedAnswer {
    let feed = given!(InboxFeed, worker, since);
    team.inbox_feed(&feed).unwrap()
}

fn told(team: &mut Team, worker: &str, since: u64) -> Vec<String> {
    let entries = feed(team, worker, since).events;
    entries.into_iter().map(|entry| entry.kind).collect()
}

fn create(team: &mut Team, blocked_by: &[&str], owner: Option<&str>) -> String {
    let create = given!(TaskCreate, subject: "mend it", description: "all of it",
        blocked_by: names(blocked_by), owner);
    team.task_create(create).unwrap().task.task.task_id
}

fn claim(team: &mut Team, task: &str, worker: &str) -> u64 {
    let claim = given!(TaskClaim, task_id: task, worker);
    team.task_claim(claim).unwrap().task.governed.epoch
}

fn search(team: &mut Team, query: &str, cursor: Option<String>) -> ThreadSearchAnswer {
    let search = given!(ThreadSearch, query, cursor);
    team.thread_search(&search).unwrap()
}

fn found(team: &mut Team, query: &str) -> Vec<String> {
    let answer = search(team, query, None);
    assert_eq!(answer.next_cursor, None);
    answer.threads.into_iter().map(|one| one.id).collect()
}

#[test]
fn a_thread_begins_with_those_that_were_named_and_who_begins_it() {
    let (_, mut team) = demo();
    let plain = team.thread_start(ThreadStart::default()).unwrap();
    assert_eq!(
        json(&plain),
        json!({"thread": {
            "schemaVersion": "1.0.0", "id": "thread-0001", "title": "Thread", "participants": [], "taskId": null,
            "messages": 0, "createdAt": plain.thread.created_at, "updatedAt": plain.thread.created_at,
        }})
    );
    let full = given!(ThreadStart, title: "  the login ",
        participants: names(&["dev", "qa", "dev"]), task_id: create(&mut team, &[], None),
        worker: "lead");
    let full = team.thread_start(full).unwrap().thread;
    assert_eq!(
        (&*full.id, &*full.title, full.task_id.as_deref()),
        ("thread-0002", "the login", Some("1"))
    );
    assert_eq!(full.participants, ["dev", "qa", "lead"]);
    settled_digest(&mut team);
}

#[test]
fn what_a_thread_may_not_begin_with() {
    let (_, mut team) = demo();
    let before = events(&mut team).len();
    let with = |start: ThreadStart| start;
    let faults = [
        (
            with(given!(ThreadStart, participants: names(&["dev", "stranger"]))),
            Code::WorkerNotFound,
            "participants",
        ),
        (
            with(given!(ThreadStart, participants: names(&["../dev"]))),
            Code::InvalidInput,
            "participants",
        ),
        (
            with(given!(ThreadStart, worker: "stranger")),
            Code::WorkerNotFound,
            "worker",
        ),
        (
            with(given!(ThreadStart, task_id: "7")),
            Code::TaskNotFound,
            "task_id",
        ),
        (
            with(given!(ThreadStart, task_id: "../team")),
            Code::InvalidInput,
            "task_id",
        ),
        (
            with(given!(ThreadStart, title: "x".repeat(1025))),
            Code::TooLarge,
            "title",
        ),
        (
            with(given!(ThreadStart, title: "a\u{202e}b")),
            Code::InvalidInput,
            "title",
        ),
    ];
    for (start, code, field) in faults {
        let refusal = refused(team.thread_start(start), code);
        assert_eq!(refusal.field.as_deref(), Some(field));
    }
    assert_eq!(events(&mut team).len(), before);
}

#[test]
fn whoever_takes_part_is_told_but_never_the_author() {
    let (_, mut team) = demo();
    let thread = start(&mut team, "t", &["dev", "qa"]);
    let by = |worker: &str, to: Option<Vec<String>>| {
        given!(ThreadPost, worker, to, ..saying("thread-0001", " well \n"))
    };
    let first = team.thread_post(by("dev", None)).unwrap().message;
    assert_eq!((&*first.body, &*first.from), ("well", "dev"));
    assert_eq!(first.to, ["qa"]);
    // An agent that is not a participant may post, and does not become a participant.
    let second = team.thread_post(by("lead", None)).unwrap().message;
    assert_eq!(second.to, ["dev", "qa"]);
    let third = team
        .thread_post(by("qa", names(&["lead", "qa", "lead"])))
        .unwrap();
    assert_eq!(third.message.to, ["lead"]);
    let system = post(&mut team, &thread, "from nobody");
    assert_eq!((&*system.from, system.to.len()), ("system", 2));
    let tail = team
        .thread_tail(&given!(ThreadTail, thread_id: thread))
        .unwrap();
    assert_eq!(tail.thread.participants, ["dev", "qa"]);
    assert_eq!(tail.messages.len(), 4);
    assert_eq!(tail.messages[0], first);
    assert_eq!(told(&mut team, "dev", 0).len(), 2);
    assert_eq!(told(&mut team, "qa", 0).len(), 3);
    assert_eq!(told(&mut team, "lead", 0).len(), 1);
    let entry = feed(&mut team, "lead", 0).events.remove(0);
    assert_eq!(
        json(&entry),
        json!({
            "schemaVersion": "1.0.0", "id": format!("inbox-{:08}", third.message.seq), "cursor": third.message.seq,
            "type": "thread_message", "teamId": "demo", "agentId": "lead", "threadId": "thread-0001",
            "messageId": third.message.id, "actor": "qa", "summary": "well", "content": "well", "ts": third.message.ts,
        })
    );
    settled_digest(&mut team);
}

#[test]
fn what_may_not_be_said() {
    let (_, mut team) = demo();
    let thread = start(&mut team, "t", &["dev"]);
    let before = events(&mut team).len();
    refused(
        team.thread_post(saying(&thread, " \n\t")),
        Code::InvalidInput,
    );
    let long = "x".repeat(BODY_BYTES_MAX + 1);
    refused(team.thread_post(saying(&thread, &long)), Code::TooLarge);
    refused(
        team.thread_post(saying("thread-0002", "x")),
        Code::ThreadNotFound,
    );
    refused(
        team.thread_post(saying("../thread-0001", "x")),
        Code::InvalidInput,
    );
    let to = given!(ThreadPost, to: names(&["stranger"]), ..saying(&thread, "x"));
    refused(team.thread_post(to), Code::WorkerNotFound);
    // Each character takes six bytes in JSON, so the body does not fit into an event.
    let control = "\u{1}".repeat(BODY_BYTES_MAX - 2);
    refused(
        team.thread_post(saying(&thread, &format!("a{control}a"))),
        Code::TooLarge,
    );
    assert_eq!(events(&mut team).len(), before);
    post(&mut team, &thread, &"x".repeat(BODY_BYTES_MAX));
}

#[test]
fn a_tail_shows_the_newest_and_its_cursor_leads_back_to_the_first() {
    let (_, mut team) = demo();
    let thread = start(&mut team, "t", &[]);
    let all: Vec<PostShown> = (0..45)
        .map(|n| post(&mut team, &thread, &format!("no {n}")))
        .collect();
    let mut tail = given!(ThreadTail, thread_id: thread);
    let newest = team.thread_tail(&tail).unwrap();
    assert_eq!(newest.messages, all[25..]);
    let mut seen = newest.messages;
    tail.cursor = newest.next_cursor;
    while tail.cursor.is_some() {
        let page = team.thread_tail(&tail).unwrap();
        seen.splice(..0, page.messages);
        tail.cursor = page.next_cursor;
    }
    assert_eq!(seen, all);
    tail.limit = Some(1_000);
    assert_eq!(team.thread_tail(&tail).unwrap().messages.len(), 45);
    tail.cursor = Some("x".to_owned());
    refused(team.thread_tail(&tail), Code::CursorUnknown);
}

#[test]
fn a_search_looks_into_titles_messages_participants_and_tasks() {
    let (_, mut team) = demo();
    let one = start(&mut team, "The LOGIN", &["dev"]);
    let two = start(&mut team, "other", &["qa"]);
    let task = create(&mut team, &[], None);
    post(&mut team, &two, "about the Übung and\nmore");
    post(&mut team, &two, "nothing");
    assert_eq!(found(&mut team, "login"), [&*one]);
    assert_eq!(found(&mut team, "übUNG"), [&*two]);
    assert_eq!(found(&mut team, "QA"), [&*two]);
    assert_eq!(found(&mut team, "absent"), [""; 0]);
    assert_eq!(found(&mut team, " "), [&*two, &*one]);
    assert_eq!(found(&mut team, "task-x"), [""; 0]);
    let link = given!(ThreadLink, thread_id: one.clone(), task_id: task);
    team.thread_link(link).unwrap();
    let page = team.thread_search(&given!(ThreadSearch, limit: 1)).unwrap();
    assert_eq!(page.threads[0].id, two);
    let rest = search(&mut team, "", page.next_cursor);
    assert_eq!((&*rest.threads[0].id, rest.threads.len()), (&*one, 1));
    let unknown = given!(ThreadSearch, cursor: "thread-9999");
    refused(team.thread_search(&unknown), Code::CursorUnknown);
}

#[test]
fn a_search_examines_a_bounded_part_and_goes_on_where_it_stopped() {
    let (_, mut team) = demo();
    let thread = start(&mut team, "long", &[]);
    post(&mut team, &thread, "the needle");
    let hay = "x".repeat(BODY_BYTES_MAX);
    for _ in 0..70 {
        post(&mut team, &thread, &hay);
    }
    let (mut cursor, mut calls) = (None, 0);
    let found = loop {
        let answer = search(&mut team, "needle", cursor);
        calls += 1;
        if answer.next_cursor.is_none() {
            break answer.threads;
        }
        assert!(answer.threads.is_empty());
        cursor = answer.next_cursor;
    };
    assert_eq!((found.len(), &*found[0].id, calls), (1, &*thread, 3));
}

#[test]
fn a_thread_belongs_to_the_task_that_it_was_last_linked_to() {
    let (_, mut team) = demo();
    team.under(given!(Control, trace_id: "tr_task"));
    let thread = start(&mut team, "t", &[]);
    team.under(Control::default());
    let (one, two) = (create(&mut team, &[], None), create(&mut team, &[], None));
    let link = |task: &str| given!(ThreadLink, thread_id: thread.clone(), task_id: task);
    for task in [&one, &two] {
        let linked = team.thread_link(link(task)).unwrap().thread;
        assert_eq!(linked.task_id.as_ref(), Some(task));
    }
    let before = events(&mut team).len();
    team.thread_link(link(&two)).unwrap();
    assert_eq!(events(&mut team).len(), before, "it did so already");
    refused(team.thread_link(link("9")), Code::TaskNotFound);
    let other = given!(ThreadLink, thread_id: "thread-0009", ..link(&one));
    refused(team.thread_link(other), Code::ThreadNotFound);
    // The post belongs to the thread's trace.
    post(&mut team, &thread, "x");
    let last = events(&mut team).pop().unwrap();
    has!(last, {"trace_id": "tr_task", "thread_id": thread, "task_id": two});
}

#[test]
fn a_feed_tells_of_mail_and_of_everything_that_happens_to_tasks() {
    let (world, mut team) = demo();
    let first = create(&mut team, &[], None);
    let second = create(&mut team, &[&first], Some("qa"));
    let third = create(&mut team, &[&first], None);
    assert_eq!(told(&mut team, "qa", 0), ["task_assigned"]);
    let mut since = feed(&mut team, "qa", 0).next_since;
    let epoch = claim(&mut team, &first, "dev");
    team.task_finish(
        given!(TaskFinish, task_id: first.clone(), from: "in_progress", to: "completed", epoch,
            result: "done well"),
    )
    .unwrap();
    let entries = feed(&mut team, "qa", since);
    let shown: Vec<Value> = entries
        .events
        .iter()
        .map(|one| json!([one.kind, one.task_id, one.actor, one.summary, one.content]))
        .collect();
    assert_eq!(
        shown,
        [
            json!(["task_claimed", first, "dev", "Task 1 claimed by dev", null]),
            json!([
                "task_completed",
                first,
                "dev",
                "Task 1 completed by dev",
                "done well"
            ]),
            json!([
                "task_unblocked",
                second,
                "teamlog",
                "Task 2 is unblocked",
                null
            ]),
            json!([
                "task_unblocked",
                third,
                "teamlog",
                "Task 3 is unblocked",
                null
            ]),
        ]
    );
    // The feed of an agent also shows events about tasks that the agent itself caused, but no
    // events for other agents.
    names!(told(&mut team, "dev", since) => task_claimed task_completed task_unblocked);
    since = entries.next_since;
    claim(&mut team, &second, "qa");
    world.later(3_600_000_000);
    team.tick(Tick::default()).unwrap();
    team.send_message(given!(SendMessage, from_worker: "lead", to_worker: "qa",
        body: "where are you?"))
        .unwrap();
    team.task_assign(crate::world::assign("x-1", "qa")).unwrap();
    team.task_update(update("x-1", "completed")).unwrap();
    names!(told(&mut team, "qa", since) => task_claimed task_lease_expired message task_assigned);
    assert_eq!(told(&mut team, "lead", since), ["task_claimed", "message"]);
}

#[test]
fn a_feed_is_read_whole_in_pages_that_neither_miss_nor_repeat() {
    let (world, mut team) = demo();
    let thread = start(&mut team, "t", &["dev", "qa"]);
    let (mut since, mut seen, mut said) = (0, Vec::new(), Vec::new());
    for round in 0..30 {
        for _ in 0..round % 7 {
            said.push(post(&mut team, &thread, &format!("no {}", said.len())).body);
        }
        let page = team
            .inbox_feed(&given!(InboxFeed, worker: "dev", since, limit: 2))
            .unwrap();
        assert!(page.next_since >= since && page.count <= 2);
        since = page.next_since;
        seen.extend(page.events.into_iter().filter_map(|one| one.content));
        // Restarts and rebuilds do not change the feed.
        team = world.root.team("demo").unwrap();
        settled_digest(&mut team);
    }
    loop {
        let page = feed(&mut team, "dev", since);
        seen.extend(page.events.into_iter().filter_map(|one| one.content));
        since = page.next_since;
        if !page.more {
            break;
        }
    }
    assert_eq!(seen, said);
    let head = events(&mut team).len() as u64;
    assert_eq!(since, head);
    let ahead = given!(InboxFeed, worker: "dev", since: head + 1);
    let refusal = refused(team.inbox_feed(&ahead), Code::CursorAhead);
    assert_eq!(refusal.details["last_seq"], json!(head));
}

#[test]
fn a_page_of_a_feed_ends_where_it_holds_enough() {
    let (_, mut team) = demo();
    let thread = start(&mut team, "t", &["dev"]);
    let large = "x".repeat(BODY_BYTES_MAX);
    for _ in 0..20 {
        post(&mut team, &thread, &large);
    }
    let first = feed(&mut team, "dev", 0);
    assert!(first.more && first.count < 20, "{}", first.count);
    let rest = feed(&mut team, "dev", first.next_since);
    assert_eq!((first.count + rest.count, rest.more), (20, false));
}

#[test]
fn a_feed_is_given_whole_unless_pages_are_asked_for() {
    let (_, mut team) = demo();
    let thread = start(&mut team, "t", &["dev"]);
    let posts = FEED_MAX + 1;
    let many = (0..posts).map(|number| saying(&thread, &number.to_string()));
    many.for_each(|post| {
        team.thread_post(post).unwrap();
    });
    let all = feed(&mut team, "dev", 0);
    assert_eq!((all.count, all.more), (posts, false));
    assert_eq!(all.next_since, events(&mut team).len() as u64);
    let page = given!(InboxFeed, worker: "dev", limit: posts);
    let page = team.inbox_feed(&page).unwrap();
    assert_eq!((page.count, page.more), (FEED_MAX, true));
    let rest = feed(&mut team, "dev", page.next_since);
    assert_eq!((rest.count, rest.more), (1, false));
}

#[test]
fn a_post_under_a_key_is_made_once_and_answered_again() {
    let (world, mut team) = team_of(None, Format::Binary);
    let thread = start(&mut team, "t", &["dev"]);
    let call = |body: &str| {
        let input = json!({"team_name": "demo", "threadId": thread, "message": body, "agentId": "dev", "key": "k"});
        let Value::Object(input) = input else {
            unreachable!()
        };
        let operation = api::find("thread-post").unwrap();
        let answered = api::call(&world.root, operation, input, Control::default());
        answered.map(|answered| answered.data.get().to_owned())
    };
    let first = call("hello").unwrap();
    assert_eq!(call("hello").unwrap(), first);
    assert_eq!(call("other").unwrap_err().code, "idempotency_key_reused");
    let posts = kinds(&mut team);
    let posts = posts.iter().filter(|kind| *kind == "thread_message_posted");
    assert_eq!(posts.count(), 1);
    assert!(
        kinds(&mut team).contains(&"members_added".to_owned()),
        "who acts joins"
    );
}

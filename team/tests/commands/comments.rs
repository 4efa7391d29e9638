//! Tests of comments on tasks, which are posts of the task's thread.

use crate::prelude::*;
use teamlog_team::message::inbox_feed::InboxFeed;
use teamlog_team::task::list::Tasks;
use teamlog_team::task::show::{TaskShow, TaskShowAnswer};
use teamlog_team::thread::comment::{CommentAnswer, TaskComment};
use teamlog_team::thread::link::ThreadLink;
use teamlog_team::thread::post::BODY_BYTES_MAX;
use teamlog_team::thread::start::ThreadStart;

fn comment(team: &mut Team, worker: &str, body: &str) -> CommentAnswer {
    let comment = given!(TaskComment, task_id: "1", worker, body);
    team.comment_task(comment).unwrap()
}

fn show(team: &mut Team) -> TaskShowAnswer {
    team.task_show(given!(TaskShow, task_id: "1")).unwrap()
}

/// Creates a team with task 1, which is for `dev`.
fn with_task() -> (World, Team) {
    let (world, mut team) = demo();
    let create = given!(TaskCreate, subject: "one", description: "all of it", owner: "dev");
    team.task_create(create).unwrap();
    (world, team)
}

#[test]
fn the_first_comment_starts_the_thread_of_the_task_in_the_same_group() {
    let (_world, mut team) = with_task();
    let before = events(&mut team).len();
    let first = comment(&mut team, "qa", "  the schema has changed\n");
    assert_eq!(
        (first.comments, &*first.message.body),
        (1, "the schema has changed")
    );
    assert_eq!(first.message.to, ["dev", "lead"]);
    let all = events(&mut team);
    let kinds = all.iter().skip(before).map(|event| event["kind"].clone());
    let new: Vec<Value> = kinds.filter(|kind| kind != "members_added").collect();
    assert_eq!(new, ["thread_started", "thread_message_posted"]);
    assert_eq!(all[all.len() - 1]["task_id"], "1");

    let second = comment(&mut team, "dev", "seen");
    assert_eq!(
        (second.comments, &second.message.thread_id),
        (2, &first.message.thread_id)
    );
    // The author of the first comment hears of the second one.
    assert!(second.message.to.contains(&"qa".to_owned()), "{second:?}");
    assert_eq!(events(&mut team).len(), all.len() + 1);
}

#[test]
fn a_new_owner_hears_of_comments() {
    let (_world, mut team) = with_task();
    comment(&mut team, "dev", "begin");
    let assign = given!(TaskAssignment, task_id: "1", owner: "qa", worker: "lead");
    team.task_assignment(assign).unwrap();
    let mut told = comment(&mut team, "dev", "done so far").message.to;
    told.sort();
    assert_eq!(told, ["lead", "qa"]);
    let feed = given!(InboxFeed, worker: "qa");
    let last = team.inbox_feed(&feed).unwrap().events.pop().unwrap();
    assert_eq!(last.kind, "thread_message");
}

#[test]
fn answers_about_the_task_have_its_newest_comments_and_their_number() {
    let (_world, mut team) = with_task();
    assert_eq!(show(&mut team).comments, None);
    for n in 1..=7 {
        comment(&mut team, "qa", &format!("comment {n}"));
    }
    let version = show(&mut team).task.version;
    let comments = show(&mut team).comments.unwrap();
    let bodies: Vec<&str> = comments.newest.iter().map(|post| &*post.body).collect();
    assert_eq!(comments.count, 7);
    assert_eq!(
        bodies,
        [
            "comment 3",
            "comment 4",
            "comment 5",
            "comment 6",
            "comment 7"
        ]
    );
    assert_eq!(version, 1, "a comment does not change the task");
    let listed = team.tasks(Tasks::default()).unwrap();
    assert_eq!(listed.comments, BTreeMap::from([("1".to_owned(), 7)]));
    let record = team.task_record("1").unwrap();
    assert_eq!(record.context.comments, 7);
    let json = serde_json::to_value(&record).unwrap();
    assert_eq!(json["comments"], 7);
}

#[test]
fn the_first_thread_that_is_linked_to_a_task_has_its_comments() {
    let (_world, mut team) = with_task();
    for title in ["first", "second"] {
        let start = given!(ThreadStart, title, worker: "lead", task_id: "1");
        team.thread_start(start).unwrap();
    }
    assert_eq!(
        comment(&mut team, "qa", "here").message.thread_id,
        "thread-0001"
    );
    let create = given!(TaskCreate, subject: "two", description: "all of it");
    team.task_create(create).unwrap();
    let link = given!(ThreadLink, thread_id: "thread-0001", task_id: "2");
    team.thread_link(link).unwrap();
    assert_eq!(show(&mut team).comments, None);
    assert_eq!(
        comment(&mut team, "qa", "again").message.thread_id,
        "thread-0003"
    );
    let two = team.task_show(given!(TaskShow, task_id: "2")).unwrap();
    assert_eq!(two.comments.unwrap().count, 1);
}

#[test]
fn comments_without_a_task_or_a_text_are_refused_and_record_nothing() {
    let (_world, mut team) = with_task();
    let before = events(&mut team).len();
    let given = |task: &str, body: &str| given!(TaskComment, task_id: task, worker: "qa", body);
    refused(team.comment_task(given("9", "seen")), Code::TaskNotFound);
    refused(team.comment_task(given("1", " \n ")), Code::InvalidInput);
    let long = "x".repeat(BODY_BYTES_MAX + 1);
    refused(team.comment_task(given("1", &long)), Code::TooLarge);
    assert_eq!(events(&mut team).len(), before);
}

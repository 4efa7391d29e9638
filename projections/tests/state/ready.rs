//! Tests of ready tasks in their order, and of the dependencies of waiting tasks.

use crate::checks::check_at_hand;
use crate::support::*;
use teamlog_projections::{Live, Message, Priority, Task};

fn urgent(priority: Priority, message: Message) -> Message {
    given!(Message, priority, ..message)
}

fn pending(id: &str, task: &str, minute: i64) -> Message {
    update(id, task, "dev", minute, r#"{"status":"pending"}"#)
}

fn names(tasks: Vec<Task>) -> Vec<String> {
    tasks.into_iter().map(|task| task.task_id).collect()
}

fn ready(live: &Live, agent: Option<&str>) -> Vec<String> {
    names(live.ready_tasks(agent, None, 100).unwrap().tasks)
}

#[test]
fn the_most_urgent_comes_first_then_the_oldest_then_by_id() {
    let team = Team::new();
    team.send(&[
        assign("m1", "10", "dev", 5, "{}"),
        assign("m2", "2", "dev", 5, "{}"),
        assign("m3", "old", "dev", 1, "{}"),
        urgent(Priority::Critical, assign("m4", "now", "dev", 9, "{}")),
        urgent(Priority::Low, assign("m5", "later", "dev", 0, "{}")),
    ]);
    assert_eq!(
        ready(&team.live(), None),
        ["now", "old", "2", "10", "later"]
    );
    team.send(&[urgent(Priority::High, assign("m6", "10", "dev", 10, "{}"))]);
    assert_eq!(
        ready(&team.live(), None),
        ["now", "10", "old", "2", "later"]
    );
    check_at_hand(&team.live(), &["lead", "dev", "qa"]);
}

#[test]
fn what_is_assigned_is_for_its_owner_what_is_pending_for_anybody() {
    let team = Team::new();
    team.send(&[
        assign("m1", "a", "dev", 1, "{}"),
        assign("m2", "b", "qa", 2, "{}"),
        pending("m3", "c", 3),
        update("m4", "d", "dev", 4, r#"{"status":"in_progress"}"#),
    ]);
    let live = team.live();
    assert_eq!(ready(&live, None), ["a", "b", "c"]);
    assert_eq!(ready(&live, Some("dev")), ["a", "c"]);
    assert_eq!(ready(&live, Some("qa")), ["b", "c"]);
    assert_eq!(ready(&live, Some("lead")), ["c"]);
    assert_eq!(live.ready_count(Some("lead")).unwrap(), 1);
}

#[test]
fn a_completed_dependency_frees_those_that_wait_and_a_reopened_one_holds_them_up_again() {
    let team = Team::new();
    team.send(&[
        assign("m1", "c", "dev", 1, r#"{"deps":["a","b"]}"#),
        assign("m2", "d", "qa", 1, r#"{"deps":["a"]}"#),
    ]);
    let (ready_now, waiting) = (
        || ready(&team.live(), None),
        |agent| names(team.live().waiting_tasks(agent, None, 9).unwrap().tasks),
    );
    assert!(ready_now().is_empty(), "unknown dependencies");
    assert_eq!(
        (waiting("dev"), waiting("qa")),
        (vec!["c".into()], vec!["d".into()])
    );
    team.send(&[update("m3", "a", "lead", 2, r#"{"status":"done"}"#)]);
    assert_eq!(ready_now(), ["d"]);
    team.send(&[update("m4", "b", "lead", 3, r#"{"status":"done"}"#)]);
    assert_eq!(ready_now(), ["c", "d"]);
    assert!(waiting("dev").is_empty());
    team.send(&[update("m5", "a", "lead", 4, r#"{"status":"in_progress"}"#)]);
    assert!(ready_now().is_empty());
    assert_eq!(team.live().waiting_count("qa").unwrap(), 1);
    // A new assignment without the dependency removes the dependency.
    team.send(&[assign("m6", "d", "qa", 5, r#"{"deps":[]}"#)]);
    team.send(&[update("m7", "a", "lead", 6, r#"{"status":"done"}"#)]);
    assert_eq!(ready_now(), ["c", "d"]);
    check_at_hand(&team.live(), &["lead", "dev", "qa"]);
}

#[test]
fn what_is_reported_blocked_is_not_ready() {
    let team = Team::new();
    team.send(&[
        assign("m1", "a", "dev", 1, "{}"),
        assign("m2", "b", "dev", 1, "{}"),
        update("m3", "a", "dev", 2, r#"{"blocked":true}"#),
        update("m4", "b", "dev", 2, r#"{"status":"blocked"}"#),
    ]);
    assert!(ready(&team.live(), Some("dev")).is_empty());
    team.send(&[update("m5", "a", "dev", 3, r#"{"blocked":false}"#)]);
    assert_eq!(ready(&team.live(), Some("dev")), ["a"]);
    let waiting = team.live().waiting_tasks("dev", None, 9).unwrap();
    assert_eq!(names(waiting.tasks), ["b"]);
}

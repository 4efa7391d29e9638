//! `task-assign`, `task-update`, `tasks`, `task show`, and the tasks in `status`.

use crate::answers::{Sent, Status, TaskShow, Tasks};
use crate::prelude::*;

fn show(cli: &Cli, id: &str) -> Value {
    cli.json::<TaskShow>(&format!("task show demo {id}")).task
}

#[test]
fn a_task_follows_its_messages() {
    let cli = Cli::with_team();
    let sent: Sent = cli.json(
        "task-assign demo --from lead --to dev --task-id T-1 --subject 'Fix the login' --details 'on mobile' --trace-id tr-1 --priority high",
    );
    assert_eq!(
        (&*sent.status, &*sent.message.kind, &*sent.message.to),
        ("sent", "task_assign", "dev")
    );
    let task = show(&cli, "T-1");
    for (field, value) in cases![
        ("task_id" => "T-1"),
        ("status" => "assigned"),
        ("owner" => "dev"),
        ("assigned_by" => "lead"),
        ("subject" => "Fix the login"),
        ("details" => "on mobile"),
        ("trace_id" => "tr-1"),
        ("snapshot_conflict_policy" => "created_at_then_message_id_monotonic"),
        ("last_message_id" => &sent.message.id),
        ("last_message_created_at" => &sent.message.created_at),
    ] {
        assert_eq!(task[field], value, "{field}");
    }
    assert_eq!(task["snapshot_version"], 1);

    let update: Sent = cli.json(
        "task-update demo --from dev --to lead --task-id T-1 --status in_progress --progress 40% --eta today --note 'reproduced it' --blocked",
    );
    assert_eq!(
        update.message.trace_id.as_deref(),
        Some("tr-1"),
        "inherited from the task"
    );
    let task = show(&cli, "T-1");
    for (field, value) in [
        ("status", "in_progress"),
        ("progress", "40%"),
        ("eta", "today"),
        ("note", "reproduced it"),
        ("last_update_from", "dev"),
        ("owner", "dev"),
    ] {
        assert_eq!(task[field], value, "{field}");
    }
    has!(task, {"blocked": true, "snapshot_version": 2});
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --unblocked --status done");
    let task = show(&cli, "T-1");
    has!(task, {"blocked": false, "status": "completed"});
}

#[test]
fn a_status_that_no_task_can_have_is_a_usage_error() {
    let cli = Cli::with_team();
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject S");
    for (typed, meant) in [
        ("dnoe", "did you mean done?"),
        ("inprogress", "did you mean in_progress?"),
        ("xyzzy", "one of pending"),
    ] {
        let line = format!("task-update demo --from dev --to lead --task-id T-1 --status {typed}");
        let error = cli.refused_json(2, &line);
        shows!(error.message => has meant);
    }
    assert_eq!(cli.json::<Status>("status demo").message_count, 1);
}

#[test]
fn tasks_are_listed_in_natural_order_by_page_and_filter() {
    let cli = Cli::with_team();
    for (id, to) in [
        ("T-10", "dev"),
        ("T-2", "qa"),
        ("T-1", "dev"),
        ("T-9", "dev"),
    ] {
        cli.ok(&format!(
            "task-assign demo --from lead --to {to} --task-id {id} --subject 'about {id}'"
        ));
    }
    cli.ok("task-update demo --from dev --to lead --task-id T-9 --status done");
    let ids = |line: &str| {
        let page: Tasks = cli.json(line);
        let ids: Vec<String> = page
            .tasks
            .iter()
            .map(|task| task["task_id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(page.count, ids.len());
        (ids.join(" "), page.next_cursor)
    };
    assert_eq!(ids("tasks demo").0, "T-1 T-2 T-9 T-10");
    assert_eq!(ids("tasks demo --owner dev").0, "T-1 T-9 T-10");
    assert_eq!(ids("tasks demo --status done").0, "T-9");
    assert_eq!(ids("tasks demo --status assigned --owner qa").0, "T-2");
    assert_eq!(
        ids("tasks demo --limit 3"),
        ("T-1 T-2 T-9".to_owned(), Some("T-9".to_owned()))
    );
    assert_eq!(
        ids("tasks demo --limit 3 --cursor T-9"),
        ("T-10".to_owned(), None)
    );
    let error = cli.refused(2, "tasks demo --status finished");
    shows!(error => has "status", has "finished", has "completed");
    shows!(cli.ok("tasks demo --limit 2") =>
        is "T-1  assigned  dev  just now  about T-1\nT-2  assigned  qa   just now  about T-2\n\n2 shown; more: --cursor T-2\n");
    shows!(cli.refused_json(1, "task show demo T-7").code => is "task_not_found");
}

#[test]
fn status_tells_what_is_unread_blocked_and_stale() {
    let cli = Cli::new();
    let old = r#"{"id":"m","type":"task_assign","from":"lead","to":"dev","task_id":"T-1","created_at":"2024-05-01T10:00:00Z","payload":{"subject":"S"}}"#;
    cli.file("old.jsonl", old);
    cli.ok("import demo --messages old.jsonl");
    cli.ok("task-assign demo --from lead --to qa --task-id T-2 --subject S");
    cli.ok("task-update demo --from qa --to lead --task-id T-2 --status blocked");
    let status: Status = cli.json("status demo");
    let unread: Vec<(&str, u64)> = status
        .unread_counts
        .iter()
        .map(|(a, n)| (&**a, *n))
        .collect();
    assert_eq!(unread, [("dev", 1), ("lead", 1), ("qa", 1)]);
    let ids = |tasks: &[Value]| {
        tasks
            .iter()
            .map(|task| task["task_id"].to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(ids(&status.blocked_tasks), "\"T-2\"");
    assert_eq!(ids(&status.stale_tasks), "\"T-1\"");
    assert_eq!(
        (status.task_count, status.message_count, status.events),
        (2, 3, 5)
    );
    assert_eq!(status.stale_messages.len(), 1);
    assert_eq!(
        (
            &*status.stale_messages[0].agent,
            &*status.stale_messages[0].kind
        ),
        ("dev", "task_assign")
    );
    has!(status.tasks_by_status, {"assigned": 1, "blocked": 1});
    assert_eq!(
        (status.malformed_jsonl.total, status.state_digest),
        (0, None)
    );
    assert!(
        cli.json::<Status>("status demo --stale-minutes 100000000")
            .stale_tasks
            .is_empty()
    );

    let shown = cli.ok("status demo");
    // Trouble comes first.
    assert!(
        shown.starts_with(
            "demo: 2 tasks, 3 messages, 5 events (jsonl)\n\nstale tasks\n  T-1  assigned  dev  "
        ),
        "{shown}"
    );
    for part in [
        "\nblocked\n  T-2  blocked   qa  just now  S\n",
        "\nstale messages\n",
        "\nunread\n  dev   1\n  lead  1\n  qa    1\n",
    ] {
        assert!(
            shown.contains(&part.replace("blocked   qa", "blocked  qa")),
            "{part} in {shown}"
        );
    }
}

#[test]
fn an_assignment_may_name_what_must_be_done_first() {
    let cli = Cli::with_team();
    let assign = "task-assign demo --from lead --to dev --subject S";
    cli.ok(&format!("{assign} --task-id T-1"));
    let sent: Sent = cli.json(&format!("{assign} --task-id T-3 --deps T-1,T-2"));
    has!(sent.message.payload, {"deps": ["T-1", "T-2"]});
    let shown: TaskShow = cli.json("task show demo T-3");
    assert_eq!(shown.task["deps"], serde_json::json!(["T-1", "T-2"]));
    assert_eq!(shown.task["depends_on"], shown.task["deps"]);
    assert_eq!(shown.unknown_dependencies, Some(vec!["T-2".to_owned()]));
    let error = cli.refused_json(1, &format!("{assign} --task-id T-4 --deps T-1,"));
    assert_eq!(error.field.as_deref(), Some("message.payload.deps"));
}

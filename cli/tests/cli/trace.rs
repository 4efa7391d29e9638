//! `trace`: one story, paged, as JSON and as a timeline.

use crate::answers::Trace;
use crate::harness::Cli;

fn story(cli: &Cli) {
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject 'Fix the login' --trace-id tr");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --message-id done --trace-id tr");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --message-id done --trace-id tr");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status blocked --created-at 2020-01-01T00:00:00Z --trace-id tr");
    cli.ok("append demo --kind ci_run_finished --actor ci --trace-id tr --data '{\"result\":\"green\"}'");
    cli.ok("send demo --from lead --to qa --type handoff --trace-id other");
    cli.ok("ack demo --agent lead --message-id done");
}

#[test]
fn a_story_holds_its_events_in_order_with_their_marks() {
    let cli = Cli::with_team();
    story(&cli);
    let trace: Trace = cli.json("trace demo --trace-id tr");
    assert_eq!(
        (
            &*trace.team,
            &*trace.trace_id,
            trace.count,
            trace.next_cursor
        ),
        ("demo", "tr", 6, None)
    );
    let kinds: Vec<&str> = trace.events.iter().map(|event| &*event.kind).collect();
    assert_eq!(
        kinds,
        [
            "message_sent",
            "message_sent",
            "message_duplicate",
            "message_sent",
            "ci_run_finished",
            "message_acked"
        ]
    );
    let marks = |pick: fn(&crate::answers::Event) -> bool| {
        trace.events.iter().map(pick).collect::<Vec<_>>()
    };
    assert_eq!(
        marks(|e| e.superseded),
        [false, false, false, true, false, false]
    );
    assert_eq!(
        marks(|e| e.duplicate),
        [false, false, true, false, false, false]
    );
    assert_eq!(
        marks(|e| e.foreign),
        [false, false, false, false, true, false]
    );
    assert!(trace.events[1].acked && !trace.events[0].acked);
    assert!(
        trace
            .events
            .is_sorted_by_key(|event| (event.created_at.clone(), event.id.clone()))
    );
}

#[test]
fn pages_go_towards_older_events() {
    let cli = Cli::with_team();
    story(&cli);
    let whole: Trace = cli.json("trace demo --trace-id tr");
    let mut collected = Vec::new();
    let mut cursor = String::new();
    loop {
        let page: Trace = cli.json(&format!("trace demo --trace-id tr --limit 4 {cursor}"));
        collected.splice(0..0, page.events);
        match page.next_cursor {
            Some(next) => {
                assert_eq!(next, collected[0].id);
                cursor = format!("--cursor {next}");
            }
            None => break,
        }
    }
    assert_eq!(collected, whole.events);
    assert_eq!(
        cli.refused_json(1, "trace demo --trace-id tr --cursor x")
            .code,
        "cursor_unknown"
    );
    assert_eq!(cli.json::<Trace>("trace demo --trace-id nothing").count, 0);
}

#[test]
fn people_see_a_timeline() {
    let cli = Cli::with_team();
    story(&cli);
    let shown = cli.ok("trace demo --trace-id tr");
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].starts_with("tr in demo: 6 events over "),
        "{shown}"
    );
    assert!(lines[2].ends_with(" UTC"), "{shown}");
    assert!(lines[3].trim_start().starts_with("+0s "), "{shown}");
    assert!(
        lines[3].ends_with("task_assign to dev  T-1  Fix the login"),
        "{shown}"
    );
    assert!(
        lines[4].ends_with("status=done  [acked]") || lines[4].contains("[acked]"),
        "{shown}"
    );
    assert!(lines[5].contains("[duplicate: changed nothing]"), "{shown}");
    assert!(
        lines[6].contains("[superseded: changed nothing]"),
        "{shown}"
    );
    assert!(
        lines[7].contains("{\"result\":\"green\"}  [foreign]"),
        "{shown}"
    );
    assert_eq!(lines.len(), 9, "{shown}");
    assert!(
        lines.iter().all(|line| line.trim_end() == *line),
        "trailing blanks in {shown}"
    );
}

//! `import --messages`: sorting, counting, `--strict` and `--restamp`.

use crate::answers::{Event, Import, Read, Sent, Status};
use crate::harness::{Cli, Ran, parse, parse_lines};

const GOOD: &str = r#"{"id":"m3","type":"task_update","from":"dev","to":"lead","task_id":"T-1","created_at":"2024-03-01T12:00:00Z","payload":{"status":"done"}}
{"id":"m1","type":"task_assign","from":"lead","to":"dev","task_id":"T-1","trace_id":"tr","created_at":"2024-02-29T10:00:00+01:00","payload":{"subject":"S"}}
{"id":"m2","type":"task_update","from":"dev","to":"lead","task_id":"T-1","created_at":"2024-02-29T11:00:00","payload":{"status":"in_progress"}}
"#;

const MIXED: &str = r#"{"id":"m1","type":"handoff","from":"a","to":"b","created_at":"2024-01-01T00:00:00Z"}
not json
{"id":"m1","type":"handoff","from":"a","to":"b","created_at":"2024-01-02T00:00:00Z"}
{"id":"m2","type":"gossip","from":"a","to":"b","created_at":"2024-01-02T00:00:00Z"}
"#;

#[test]
fn known_messages_are_skipped_and_older_ones_refused_unless_restamped() {
    let cli = Cli::new();
    cli.file("m.jsonl", GOOD);
    cli.ok("import old --messages m.jsonl");
    let again: Import = cli.json("import old --messages m.jsonl");
    assert_eq!(
        (again.created, again.imported, again.duplicates),
        (false, 0, 3)
    );
    let late = r#"{"id":"m0","type":"handoff","from":"dev","to":"lead","created_at":"2024-01-01T00:00:00Z"}"#;
    cli.file("late.jsonl", &format!("{late}\n"));
    let error = cli.refused_json(1, "import old --messages late.jsonl");
    assert_eq!(error.code, "not_newer");
    assert!(error.hint.unwrap().contains("--restamp"));
    let import: Import = cli.json("import old --messages late.jsonl --restamp");
    assert_eq!(import.imported, 1);
    let events: Vec<Event> = parse_lines(&cli.ok("replay old --json --reverse --limit 1"));
    assert!(
        events[0].created_at.as_str() > "2026",
        "stamped now: {}",
        events[0].created_at
    );
    let read: Read = cli.json("read old --agent lead --limit 1");
    assert_eq!(
        read.messages[0].created_at, "2024-01-01T00:00:00.000000Z",
        "its own time stays"
    );
}

#[test]
fn bad_lines_are_counted_and_listed_and_strict_keeps_everything_out() {
    let cli = Cli::new();
    cli.file("mixed.jsonl", MIXED);
    let ran = cli.run("import a --messages mixed.jsonl --strict --json");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report: Import = parse(&ran.stdout);
    assert_eq!(
        (
            &*report.status,
            report.imported,
            report.duplicates,
            report.malformed
        ),
        ("rejected", 0, 1, 2)
    );
    assert!(!cli.dir().join("teams/a").exists());

    let report: Import = cli.json("import a --messages mixed.jsonl");
    assert_eq!(
        (report.imported, report.duplicates, report.malformed),
        (1, 1, 2)
    );
    let problems: Vec<(u64, &str)> = report.problems.iter().map(|p| (p.line, &*p.kind)).collect();
    assert_eq!(
        problems,
        [(2, "malformed"), (3, "duplicate"), (4, "malformed")]
    );
    assert!(report.problems[2].message.contains("gossip"), "{report:?}");
    let shown = cli.ok("import b --messages mixed.jsonl");
    shows!(shown => has "\n  imported    1\n  duplicates  1\n  malformed   2\n");
    assert!(shown.contains("\n  line 2  malformed  "), "{shown}");
}

#[test]
fn a_pipe_will_do() {
    let cli = Cli::new();
    let ran = cli.run_with_input("import old --messages - --format binary --json", GOOD);
    assert_eq!(parse::<Import>(&ran.stdout).imported, 3);
    assert_eq!(cli.json::<Status>("status old").format, "binary");
    let error = cli.refused(1, "import old --messages none.jsonl");
    shows!(error => starts "error: messages file not found: none.jsonl");
    cli.refused(2, "import old");
    cli.refused(2, "import old --messages a --events b");
    let ran = Ran::of(&mut cli.command("import fresh --events -"));
    assert_eq!(ran.code, Some(1), "nothing is no log: {ran:?}");
    assert!(!cli.dir().join("teams/fresh").exists());
}

const UNAPPLIED: &str = r#"{"id":"m1","type":"task_assign","from":"lead","to":"dev","created_at":"2024-01-01T00:00:00Z","payload":{"subject":"which?"}}
{"id":"m2","type":"task_update","from":"dev","to":"lead","task_id":"T-1","trace_id":"","created_at":"2024-01-02T00:00:00Z","payload":{"status":"parked"}}
"#;

#[test]
fn what_no_task_can_take_gets_in_and_a_note_says_so() {
    let cli = Cli::new();
    cli.file("m.jsonl", UNAPPLIED);
    let strict = cli.run("import old --messages m.jsonl --strict --json");
    assert_eq!(strict.code, Some(1), "{strict:?}");
    assert!(!cli.dir().join("teams/old").exists());
    let ran = cli.run("import old --messages m.jsonl --json");
    let report: Import = parse(&ran.stdout);
    assert_eq!(
        (ran.code, report.imported, report.malformed),
        (Some(0), 2, 0)
    );
    let counts: Vec<(&str, u64)> = report
        .not_applied
        .iter()
        .map(|(reason, count)| (&**reason, *count))
        .collect();
    assert_eq!(counts, [("no_task_id", 1), ("unknown_status", 1)]);
    let note = "{\"note\":\"some messages contain changes of tasks that were not applied: no_task_id 1, unknown_status 1\"}\n";
    assert_eq!(ran.stderr, note);
    let shown = cli.run("import people --messages m.jsonl");
    shows!(shown.stdout => has "\n  not applied: no_task_id      1\n");
    shows!(shown.stdout => has "line 2  not_applied  message.payload.status must be one of");
    assert_eq!(cli.json::<Read>("read old --agent dev").count, 1);

    let sent = "send old --from dev --to lead --type task_update --task-id T-1 --payload-json '{\"status\":\"parked\"}' --trace-id ''";
    let answer: Sent = cli.json(sent);
    assert_eq!((&*answer.status, answer.message.trace_id), ("sent", None));
    assert_eq!(answer.not_applied.unwrap()["status"], "unknown_status");
    let shown = cli.ok(sent);
    shows!(shown => starts "NOT APPLIED: message.payload.status must be one of");
}

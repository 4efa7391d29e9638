//! `replay` and `export`.

use crate::answers::{Event, Import, Status};
use crate::prelude::*;
use std::io::Read;

fn history(cli: &Cli) {
    cli.ok(
        "task-assign demo --from lead --to dev --task-id T-1 --subject 'Fix \"it\"' --trace-id tr",
    );
    cli.ok("append demo --kind ci_run_finished --actor ci --task-id T-1 --data '{\"n\":1.50,\"text\":\"grüße\"}'");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --message-id m");
    cli.ok("send demo --from lead --to qa --type handoff");
    cli.ok("ack demo --agent lead --message-id m");
}

fn seqs(cli: &Cli, filter: &str) -> Vec<u64> {
    let events: Vec<Event> = parse_lines(&cli.ok(&format!("replay demo --json {filter}")));
    events.iter().map(|event| event.seq).collect()
}

#[test]
fn events_come_in_order_and_by_every_filter() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        history(&cli);
        assert_eq!(seqs(&cli, ""), [1, 2, 3, 4, 5, 6]);
        assert_eq!(seqs(&cli, "--reverse"), [6, 5, 4, 3, 2, 1]);
        assert_eq!(seqs(&cli, "--from-seq 2 --to-seq 4"), [2, 3, 4]);
        assert_eq!(seqs(&cli, "--from-seq 2 --limit 2"), [2, 3]);
        assert_eq!(seqs(&cli, "--reverse --limit 2"), [6, 5]);
        assert_eq!(seqs(&cli, "--kind message_sent"), [2, 4, 5]);
        assert_eq!(seqs(&cli, "--actor ci"), [3]);
        assert_eq!(seqs(&cli, "--trace-id tr --kind message_sent"), [2, 4]);
        assert_eq!(seqs(&cli, "--agent qa"), [5]);
        assert_eq!(seqs(&cli, "--task-id T-1 --kind ci_run_finished"), [3]);
        assert_eq!(seqs(&cli, "--from-seq 7"), [0; 0]);
        let events: Vec<Event> = parse_lines(&cli.ok("replay demo --json"));
        let at = &events[3].created_at;
        assert_eq!(seqs(&cli, &format!("--since {at}")), [4, 5, 6]);
        assert_eq!(seqs(&cli, &format!("--until {at}")), [1, 2, 3, 4]);
        assert_eq!(
            seqs(&cli, "--kind message_sent,ci_run_finished"),
            [2, 3, 4, 5]
        );
        assert_eq!(seqs(&cli, "--type handoff,task_assign"), [2, 5]);
        assert_eq!(seqs(&cli, "--type task_update --task T-1"), [4]);
        assert_eq!(seqs(&cli, "--not kind:message_sent --not actor:ci"), [1, 6]);
        assert_eq!(seqs(&cli, "--task T-1 --not type:task_assign"), [3, 4, 6]);
        assert_eq!(seqs(&cli, "--text GRÜ"), [3]);
        assert_eq!(seqs(&cli, "--at 3"), [1, 2, 3]);
        assert_eq!(seqs(&cli, &format!("--at {at} --reverse")), [4, 3, 2, 1]);
        for command in ["tail demo -n 2", "log demo -n 2"] {
            let line = format!("{command} --at 4 --not actor:ci --task T-1 --json");
            let events: Vec<Event> = parse_lines(&cli.ok(&line));
            let shown: Vec<u64> = events.iter().map(|event| event.seq).collect();
            assert_eq!(shown, [2, 4], "{command}");
            cli.refused(2, &format!("{command} --at 4 -f"));
        }
        shows!(cli.refused(2, "replay demo --type hand_off") => has "did you mean handoff?");
        shows!(cli.refused(1, "replay demo --not nobody:ci") => has "must be FIELD:VALUE", has "actor");
        assert!(cli.refused(2, "replay demo --since soon").contains("soon"));
        let ran = Ran::of(cli.command("replay demo --json").env("TEAMLOG_AGENT", "ci"));
        assert_eq!(
            ran.stdout.lines().count(),
            6,
            "the variable must not filter"
        );
    }
}

#[test]
fn people_see_one_line_an_event() {
    let cli = Cli::with_team();
    history(&cli);
    let shown = cli.ok("replay demo");
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 6);
    shows!(lines[0] => starts "     1  ", ends "created the team with dev, lead, qa");
    shows!(lines[1] => ends "message_sent               lead assigned task T-1 to dev: Fix \"it\"");
    shows!(lines[2] => has "ci_run_finished            ", has "recorded ci_run_finished", has "grüße");
}

#[test]
fn export_and_import_give_the_same_bytes_in_either_format() {
    let cli = Cli::with_team();
    history(&cli);
    let exported = cli.ok("export demo");
    assert_eq!(exported, cli.ok("replay demo --json"));
    cli.file("exported.jsonl", &exported);
    for (team, format) in [("again", "jsonl"), ("packed", "binary")] {
        let import: Import = cli.json(&format!(
            "import {team} --events exported.jsonl --format {format}"
        ));
        assert_eq!(
            (&*import.status, import.created, import.imported),
            ("ok", true, 6)
        );
        assert_eq!(
            cli.ok(&format!("replay {team} --json")),
            exported,
            "{format}"
        );
        assert_eq!(
            cli.ok(&format!("export {team} --json")),
            exported,
            "{format}"
        );
        let digest = |team: &str| {
            cli.json::<Status>(&format!("status {team} --digest"))
                .state_digest
                .unwrap()
        };
        assert_eq!(digest(team), digest("demo"), "{format}");
    }
    let ran = cli.run_with_input("import piped --events - --json", &exported);
    assert_eq!(parse::<Import>(&ran.stdout).imported, 6);
    shows!(cli.refused_json(1, "import again --events exported.jsonl").code => is "team_exists");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let cli = Cli::with_team();
    let lines = "{\"kind\":\"step_done\",\"payload\":{\"text\":\"a line long enough to fill a pipe soon\"}}\n".repeat(4_000);
    cli.run_with_input("append demo --batch -", &lines);
    for line in ["replay demo --json", "replay demo", "export demo"] {
        let mut child = cli
            .command(line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let ran = Ran::from_output(child.wait_with_output().unwrap());
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}");
    }
}

#[test]
fn an_audit_log_tells_of_each_status_from_which_to_which() {
    let cli = Cli::with_team();
    history(&cli);
    cli.ok("task create demo --subject build");
    cli.ok("task claim demo 1 --worker dev --key k");
    let printed = cli.ok("export demo --format audit --json");
    assert_eq!(printed, cli.ok("export demo --format audit"));
    let lines: Vec<Value> = parse_lines(&printed);
    let changes: Vec<(&str, &Value)> = lines
        .iter()
        .filter(|line| line["type"] == "task_status_changed")
        .map(|line| (line["refs"]["taskId"].as_str().unwrap(), &line["data"]))
        .collect();
    let change =
        |old: Option<&str>, new: &str, event: &str| json!({"old": old, "new": new, "event": event});
    assert_eq!(
        changes,
        cases![
            ("T-1" => &change(None, "assigned", "message_sent")),
            ("T-1" => &change(Some("assigned"), "completed", "message_sent")),
            ("1" => &change(None, "pending", "task_created")),
            ("1" => &change(Some("pending"), "in_progress", "task_claimed")),
        ]
    );
    let first = &lines[0];
    has!(first, {"schemaVersion": "1.0.0", "type": "team_created"});
    let foreign = lines.iter().find(|line| line["type"] == "ci_run_finished");
    assert_eq!(foreign.unwrap()["data"]["text"], "grüße");
    let events: Vec<Event> = parse_lines(&cli.ok("export demo"));
    // An audit log contains neither stored answers nor claim tokens.
    assert_eq!(lines.len(), events.len() - 1);
    assert!(!printed.contains("\"token\""), "{printed}");
    assert!(
        lines
            .iter()
            .all(|line| line["ts"].as_str().unwrap().len() == 24)
    );
}

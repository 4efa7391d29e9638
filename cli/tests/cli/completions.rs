//! Completion in a shell: teamlog reads the typed words, prints candidates, and never prints an error.

use crate::prelude::*;

/// Returns the candidates for the last word of the line.
fn offered(cli: &Cli, line: &str) -> Vec<String> {
    offered_with(cli, line, &[])
}

fn offered_with(cli: &Cli, line: &str, set: &[(&str, &str)]) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = cli.command("");
    command
        .arg("--")
        .args(&words)
        .env("TEAMLOG_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_CLAP_IFS", "\n")
        .envs(set.iter().copied());
    let ran = Ran::of(&mut command);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {ran:?}");
    let all = ran.stdout.lines().map(String::from);
    // Skip options, which follow the possible values, because these tests check only values.
    all.filter(|one| line.ends_with("--un") || !one.starts_with('-'))
        .collect()
}

fn at_work() -> Cli {
    let cli = Cli::with_team();
    cli.ok("init other");
    for task in ["T-1", "T-2", "T-10", "X-1"] {
        cli.ok(&format!(
            "task-assign demo --from lead --to dev --task-id {task} --subject 'S {task}' --trace-id tr-{task} --message-id m-{task}"
        ));
    }
    cli.ok("ack demo --agent dev --message-id m-T-2");
    cli.ok("mode start demo forge --session s-1");
    cli.ok("mode start demo team --session t-2");
    cli.ok("bootstrap start demo --run r-1");
    cli.ok("bootstrap start demo --run r-2");
    cli.ok("send demo --from lead --to qa --type handoff --message-id m-dead --require-ack --ack-timeout-seconds 1 --max-retries 0");
    cli.until_dead_letters(1);
    cli
}

#[test]
fn what_exists_is_offered_from_the_state() {
    let cli = at_work();
    let cases: &[(&str, &[&str])] = &cases![
        ("teamlog status " => &["demo", "other"]),
        ("teamlog status d" => &["demo"]),
        ("teamlog task show demo " => &["T-1", "T-2", "T-10", "X-1"]),
        ("teamlog task show demo T-1" => &["T-1", "T-10"]),
        ("teamlog task claim demo X" => &["X-1"]),
        ("teamlog task create demo --blocked-by T-2,X" => &["T-2,X-1"]),
        ("teamlog await demo --type task_" => &["task_completed", "task_failed"]),
        ("teamlog purge o" => &["other"]),
        ("teamlog mode start demo ultra" => &["ultrawork", "ultraqa"]),
        ("teamlog state read --mode b" => &["blueprint"]),
        ("teamlog bootstrap show demo --run r" => &["r-2", "r-1"]),
        ("teamlog bootstrap record demo --event core_r" => &["core_ready_ack", "core_relaunched"]),
        ("teamlog mode show demo forge --session " => &["s-1", "t-2"]),
        ("teamlog tasks demo --cursor X" => &["X-1"]),
        ("teamlog read demo --agent " => &["dev", "lead", "qa"]),
        ("teamlog send demo --from lead --to q" => &["qa"]),
        ("teamlog send demo --priority " => &["low", "normal", "high", "critical"]),
        ("teamlog send demo --type task_" => &["task_assign", "task_update"]),
        ("teamlog tasks demo --status c" => &["completed", "canceled"]),
        // The candidates are the unread messages, newest first.
        ("teamlog ack demo --agent dev --message-id " => &["m-X-1", "m-T-10", "m-T-1"]),
        ("teamlog trace demo --trace-id tr-T-1" => &["tr-T-10", "tr-T-1"]),
        ("teamlog task-assign demo --deps T-1,T-" => &["T-1,T-1", "T-1,T-2", "T-1,T-10"]),
        ("teamlog replay demo --kind message_a" => &["message_ack_duplicate", "message_acked"]),
        ("teamlog init x --format " => &["jsonl", "binary"]),
        ("teamlog completions z" => &["zsh"]),
        ("teamlog config get demo nudge.i" => &["nudge.idle_seconds"]),
        ("teamlog dead-letter requeue demo --message-id " => &["m-dead"]),
    ];
    for (line, expected) in cases {
        assert_eq!(&offered(&cli, line), expected, "{line}");
    }
    let subcommands = offered(&cli, "teamlog ta");
    assert!(
        subcommands.contains(&"task-assign".to_owned()),
        "{subcommands:?}"
    );
    assert!(offered(&cli, "teamlog read demo --un").contains(&"--unread".to_owned()));
    // `send --message-id` takes a new id, so existing ids are not candidates.
    assert!(!offered(&cli, "teamlog send demo --message-id ").contains(&"m-T-1".to_owned()));
    let keys = offered(&cli, "teamlog task claim demo T-1 --key ");
    assert!(!keys.contains(&"nudge.idle_seconds".to_owned()), "{keys:?}");
}

#[test]
fn data_root_and_agent_are_taken_from_line_and_environment() {
    let cli = at_work();
    let elsewhere = Cli::new();
    let root = cli.dir().display();
    assert!(!offered(&elsewhere, "teamlog status ").contains(&"demo".to_owned()));
    let line = format!("teamlog --data-root {root} task show demo X");
    assert_eq!(offered(&elsewhere, &line), ["X-1"]);
    let root = root.to_string();
    let set = [("TEAMLOG_DATA_ROOT", &*root), ("TEAMLOG_AGENT", "lead")];
    assert_eq!(offered_with(&elsewhere, "teamlog status d", &set), ["demo"]);
    let line = "teamlog ack demo --message-id ";
    assert!(!offered_with(&elsewhere, line, &set).contains(&"m-T-1".to_owned()));
    assert_eq!(
        offered(&cli, line),
        ["m-dead", "m-T-2", "m-X-1", "m-T-10", "m-T-1"],
        "without an agent: what was named last"
    );
}

#[test]
fn where_nothing_can_be_said_there_are_no_candidates_and_no_error() {
    let cli = at_work();
    for line in [
        "teamlog task show nonesuch ",
        "teamlog task show ../../etc ",
        "teamlog trace nonesuch --trace-id ",
        "teamlog --data-root /nonexistent/x task show demo ",
        "teamlog nonsense ",
    ] {
        let offered = offered(&cli, line);
        assert!(
            !offered.iter().any(|one| one.starts_with("T-")),
            "{line}: {offered:?}"
        );
    }
    let segment = cli.segment("demo");
    let mut bytes = std::fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let _ = std::fs::remove_dir_all(cli.dir().join("teams/demo/derived"));
    let _ = offered(&cli, "teamlog task show demo ");
    let mut command = cli.command("");
    command
        .env("TEAMLOG_COMPLETE", "nosuchshell")
        .args(["--", "teamlog", ""]);
    let ran = Ran::of(&mut command);
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (Some(0), "", ""));
}

#[test]
fn a_writer_does_not_keep_a_shell_waiting_and_what_was_sent_cannot_run() {
    let cli = at_work();
    cli.file("x.json", "{}");
    let nasty =
        cli.run("send demo --from lead --to dev --type handoff --message-id 'x$(touch owned)'");
    assert_eq!(nasty.code, Some(0), "{nasty:?}");
    let offered = offered(&cli, "teamlog ack demo --agent dev --message-id ");
    assert!(!offered.iter().any(|one| one.contains('$')), "{offered:?}");
    assert_eq!(offered.len(), 3, "{offered:?}");
}

#[test]
fn candidates_are_bounded() {
    let cli = Cli::with_team();
    let facts: String = (0..1_500)
        .map(|n| format!("{{\"kind\":\"thing_seen\",\"trace_id\":\"tr-{n}\"}}\n"))
        .collect();
    cli.file("facts.jsonl", &facts);
    cli.ok("append demo --batch facts.jsonl");
    let offered = offered(&cli, "teamlog trace demo --trace-id ");
    assert_eq!(offered.len(), 200);
    assert_eq!(offered[0], "tr-1499");
}

#[test]
fn every_shell_gets_its_lines() {
    let cli = Cli::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = cli.ok(&format!("completions {shell}"));
        assert!(
            script.contains("TEAMLOG_COMPLETE") && script.contains("teamlog"),
            "{shell}: {script}"
        );
    }
    assert!(cli.refused(2, "completions csh").contains("csh"));
}

#[test]
fn bash_completes_with_them() {
    let cli = at_work();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_teamlog"))
        .parent()
        .unwrap();
    let script = "source <(teamlog completions bash)\n\
        COMP_WORDS=(teamlog task show demo T-); COMP_CWORD=4; COMP_TYPE=9\n\
        _clap_complete_teamlog teamlog T- demo\n\
        printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    let output = Command::new("bash")
        .args(["--norc", "-c", script])
        .current_dir(cli.dir())
        .env_clear()
        .env(
            "PATH",
            format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()),
        )
        .output();
    // The test passes if bash is missing.
    let Ok(output) = output else { return };
    let ran = Ran::from_output(output);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(0), "T-1\nT-2\nT-10\n"),
        "{ran:?}"
    );
}

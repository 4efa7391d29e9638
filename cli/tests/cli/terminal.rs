//! Output on terminals: colours unless they are disabled, and text that cannot control the terminal. `script` provides the
//! terminal; without it these tests pass.

use crate::prelude::*;

/// Runs a command on a new terminal. Returns `None` if the machine has no `script`.
pub fn on_terminal(cli: &Cli, line: &str, set: &[(&str, &str)]) -> Option<String> {
    in_terminal(
        cli,
        &format!("{} {line}", env!("CARGO_BIN_EXE_teamlog")),
        set,
    )
}

/// Runs a shell command on a new terminal. Returns `None` if the machine has no `script`.
fn in_terminal(cli: &Cli, shell: &str, set: &[(&str, &str)]) -> Option<String> {
    let mut command = Command::new("script");
    command
        .args(["-q", "-e", "-c", shell, "/dev/null"])
        .current_dir(cli.dir())
        .env_clear()
        .env("HOME", cli.dir())
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm")
        .envs(set.iter().copied())
        .stdin(std::process::Stdio::null());
    match command.output() {
        Ok(output) => {
            let ran = Ran::from_output(output);
            assert_eq!(ran.code, Some(0), "{shell}: {ran:?}");
            Some(ran.stdout)
        }
        Err(_) => None,
    }
}

/// A message of another program whose id, trace and title contain characters that new messages must not have.
const NASTY: &str = r#"{"id":"m\u200b\ue000-1","type":"task_assign","from":"lead","to":"dev","task_id":"T-1","trace_id":"t\u202er","created_at":"2024-01-01T00:00:00Z","payload":{"subject":"\u0000\u001b[2Jgone\u001b]52;c;eA==\u0007\u009b31m\u202etxt.exe\r\nerror: forged","details":"a\udb40\udc41b"}}"#;

/// A file with control sequences for the clipboard and colours, with hidden characters, and with invalid UTF-8 at its end.
const NASTY_BYTES: &[u8] =
    b"a\x1b]52;c;eA==\x07\xc2\x9b31m\xe2\x80\xaeb\xe2\x80\x8bc\xf3\xa0\x81\x81\tu\n\x9b\xff\n";

fn nasty_team() -> Cli {
    let cli = Cli::with_team();
    cli.file("nasty.jsonl", NASTY);
    cli.ok("import demo --messages nasty.jsonl --restamp");
    std::fs::write(cli.dir().join("nasty"), NASTY_BYTES).unwrap();
    cli.ok("artifact put demo nasty");
    cli.ok("append demo --kind note_taken --trace-id tr --data '{\"text\":\"\u{9b}31m\u{202e}\"}'");
    cli
}

#[test]
fn what_agents_wrote_cannot_drive_a_terminal() {
    let cli = nasty_team();
    for line in [
        "read demo --agent dev",
        "read demo --agent dev --json",
        "replay demo",
        "replay demo --json",
        "export demo",
        "trace demo --trace-id tr",
        "task show demo T-1 --history",
        "tasks demo",
        "status demo",
        "artifact get demo nasty",
    ] {
        let Some(shown) = on_terminal(&cli, line, &[("NO_COLOR", "1")]) else {
            return;
        };
        let dangerous: Vec<char> = shown
            .chars()
            .filter(|c| {
                c.is_control() && !matches!(c, '\r' | '\n' | '\t')
                    || matches!(c, '\u{202e}' | '\u{200b}' | '\u{e0041}')
            })
            .collect();
        assert!(dangerous.is_empty(), "{line}: {dangerous:?} in {shown:?}");
        assert!(!shown.contains("\nerror: forged"), "{line}: {shown:?}");
        if !line.starts_with("status") {
            assert!(
                shown.contains("u{202e}") || shown.contains("u202e"),
                "{line}: {shown:?}"
            );
        }
    }
}

#[test]
fn off_a_terminal_json_is_untouched() {
    let cli = nasty_team();
    let json = cli.ok("replay demo --json");
    shows!(json => has '\u{202e}', has '\u{9b}');
    assert!(!cli.ok("replay demo").contains('\u{202e}'));
    let got = cli.command("artifact get demo nasty").output().unwrap();
    assert_eq!(got.stdout, NASTY_BYTES);
}

#[test]
fn new_ids_and_titles_show_every_character_and_older_ones_are_found() {
    let cli = nasty_team();
    for (line, field) in [
        (
            "send demo --from lead --to dev --type handoff --message-id a\u{200b}b",
            "message",
        ),
        (
            "send demo --from lead --to dev --type handoff --trace-id a\u{202e}b",
            "trace_id",
        ),
        ("task create demo --subject a\u{e0041}b", "subject"),
        ("task create demo --subject a\u{1}b", "subject"),
        (
            "task-assign demo --from lead --to dev --task-id T-2 --subject a\u{2060}b",
            "subject",
        ),
    ] {
        let ran = cli.run(line);
        assert_eq!(ran.code, Some(1), "{line:?}: {ran:?}");
        shows!(ran.stderr => has field, has "invisible characters, like U+");
    }
    assert!(cli.ok("read demo --agent dev --json").contains('\u{200b}'));
    cli.ok("ack demo --agent dev --message-id m\u{200b}\u{e000}-1");
    assert!(cli.ok("trace demo --trace-id t\u{202e}r").contains("T-1"));
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let cli = Cli::with_team();
    let Some(coloured) = on_terminal(&cli, "verify demo", &[]) else {
        return;
    };
    assert!(coloured.contains("\u{1b}[32mok\u{1b}[0m"), "{coloured:?}");
    for set in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let plain = on_terminal(&cli, "verify demo", &[set]).unwrap();
        assert!(!plain.contains('\u{1b}'), "{set:?}: {plain:?}");
    }
    let coloured = on_terminal(&cli, "verify demo", &[("NO_COLOR", "")]).unwrap();
    assert!(
        coloured.contains('\u{1b}'),
        "an empty NO_COLOR asks for nothing"
    );
}

#[test]
fn a_row_fits_its_terminal_and_elsewhere_nothing_is_cut() {
    let cli = Cli::with_team();
    let subject = "A subject that goes on and on until nothing of it fits on eighty columns";
    cli.ok(&format!(
        "task-assign demo --from lead --to dev --task-id T-1 --subject '{subject}' --trace-id tr"
    ));
    cli.ok(&format!(
        "task create demo --task-id T-10 --owner dev --subject '{subject}'"
    ));
    cli.ok("task claim demo T-10 --worker dev");
    let on_80 = |line: &str, set: &[(&str, &str)]| {
        let program = env!("CARGO_BIN_EXE_teamlog");
        in_terminal(&cli, &format!("stty cols 80; {program} {line}"), set)
    };
    let plain = ("NO_COLOR", "1");
    for line in [
        "tasks demo",
        "status demo --stale-minutes 0",
        "who demo",
        "ready demo",
        "read demo --agent dev",
        "trace demo --trace-id tr",
    ] {
        let Some(shown) = on_80(line, &[plain]) else {
            return;
        };
        let widest = shown.lines().map(|row| row.chars().count()).max();
        let has_id = shown.contains("T-1");
        assert!(
            widest <= Some(80) && has_id && shown.contains('…'),
            "{line}: {shown}"
        );
        let wide = on_80(line, &[plain, ("COLUMNS", "250")]).unwrap();
        assert!(wide.contains(subject), "{line}: {wide}");
        assert!(cli.ok(line).contains(subject), "{line} in a pipe");
    }
    let json = on_80("tasks demo --json", &[plain]).unwrap();
    assert!(json.contains(subject), "{json}");
}

/// Returns the lines that a terminal with `columns` columns shows.
fn lines_in(cli: &Cli, line: &str, columns: usize) -> Option<Vec<String>> {
    let set = [("COLUMNS", &*columns.to_string()), ("NO_COLOR", "1")];
    let shown = on_terminal(cli, line, &set)?;
    let lines: Vec<String> = shown.lines().map(str::to_owned).collect();
    for shown in &lines {
        let width = shown.trim_end().chars().count();
        assert!(width <= columns, "{line}: {width} columns: {shown}");
    }
    Some(lines)
}

#[test]
fn eighty_columns_keep_what_tells_rows_apart() {
    let cli = Cli::with_team();
    let subject = "a subject that is far too long for a row in a narrow terminal";
    cli.ok(&format!(
        "task create demo --task-id T-1 --subject '{subject}'"
    ));
    cli.ok("task claim demo T-1 --worker dev --lease-ms 1000");
    until("the lease has ended", || {
        cli.json::<Value>("task show demo T-1")["lease_expired"] == true
    });
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --note 'waits for a schema that does not exist'");
    let mut cause = String::new();
    for at in 0..6 {
        let caused = match &*cause {
            "" => String::new(),
            cause => format!(" --cause {cause}"),
        };
        let told: Value = cli.json(&format!(
            "append demo --kind a_rather_long_kind --trace-id tr --actor orchestrator --data '{{\"text\":\"step number {at} of a story\"}}'{caused}"
        ));
        cause = told["event"]["id"].as_str().unwrap_or_default().to_owned();
    }
    let Some(tasks) = lines_in(&cli, "tasks demo", 80) else {
        return;
    };
    assert!(tasks[0].contains("(lease expired)"), "{tasks:?}");
    let text = |shown: &[String], part: &str, count: usize| {
        let with = shown.iter().filter(|line| line.contains(part));
        assert_eq!(with.count(), count, "{shown:#?}");
    };
    text(
        &lines_in(&cli, "trace demo --trace-id tr", 80).unwrap(),
        "recorded a_rather_long_kind",
        6,
    );
    text(
        &lines_in(&cli, "tail demo -n 6", 80).unwrap(),
        "recorded a_rather_long_kind",
        6,
    );
    lines_in(&cli, "replay demo", 80).unwrap();
}

#[test]
fn a_status_is_at_most_a_screen_unless_all_is_asked_for() {
    let cli = Cli::new();
    let members: Vec<String> = (0..30).map(|at| format!("agent-{at}")).collect();
    cli.ok(&format!("init demo --members lead,{}", members.join(",")));
    for at in 0..30 {
        cli.ok(&format!(
            "task-update demo --from agent-1 --to lead --task-id T-{at} --status blocked"
        ));
    }
    let shown = cli.ok("status demo");
    assert!(shown.lines().count() <= 23, "{shown}");
    shows!(&*shown => has "unread\n  lead       30\n  30 others   0\n", has "blocked (", has " of 30)", has "more of blocked: --all");
    let all = cli.ok("status demo --all");
    shows!(&*all => has "T-0 ", has "T-29 ", lacks "--all");
}

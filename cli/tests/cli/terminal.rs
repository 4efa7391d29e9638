//! On a terminal: colours unless refused, and text that cannot drive it. `script` gives the terminal; without it these pass by.

use crate::prelude::*;

/// Runs on a terminal of its own; `None` where the machine has no `script`.
pub fn on_terminal(cli: &Cli, line: &str, set: &[(&str, &str)]) -> Option<String> {
    in_terminal(
        cli,
        &format!("{} {line}", env!("CARGO_BIN_EXE_teamlog")),
        set,
    )
}

/// The same for a line of the shell.
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

const NASTY: &str = r#"{"subject":"\u001b[2Jgone\u009b31m\u202etxt.exe\r\nerror: forged"}"#;

fn nasty_team() -> Cli {
    let cli = Cli::with_team();
    cli.file("nasty.json", NASTY);
    cli.ok("send demo --from lead --to dev --type task_assign --task-id T-1 --trace-id tr --payload-file nasty.json");
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
    ] {
        let Some(shown) = on_terminal(&cli, line, &[("NO_COLOR", "1")]) else {
            return;
        };
        let dangerous: Vec<char> = shown
            .chars()
            .filter(|c| c.is_control() && !matches!(c, '\r' | '\n') || matches!(c, '\u{202e}'))
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

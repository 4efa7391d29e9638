//! Properties of every command: help, usage errors, global options and exit codes.

use crate::answers::{Sent, Status};
use crate::harness::{Cli, Ran, parse};
use std::fs::OpenOptions;

const COMMANDS: [&str; 31] = [
    "init",
    "send",
    "task-assign",
    "task-update",
    "read",
    "ack",
    "tasks",
    "task",
    "status",
    "trace",
    "replay",
    "append",
    "rehydrate",
    "verify",
    "head",
    "import",
    "export",
    "demo",
    "keygen",
    "ready",
    "wait",
    "tail",
    "schema",
    "completions",
    "man",
    "mode",
    "state",
    "bootstrap",
    "thread",
    "artifact",
    "usage",
];

#[test]
fn teamlog_alone_helps_and_names_the_whole_help() {
    let cli = Cli::new();
    let help = cli.ok("");
    assert!(help.starts_with("One durable log per team"), "{help}");
    for words in ["--help", "-h", "help"] {
        assert_eq!(help, cli.ok(words), "{words}");
    }
    let all = cli.ok("help --all");
    for command in COMMANDS {
        assert!(all.contains(&format!("\n  {command} ")), "{command}");
        let own = cli.ok(&format!("{command} --help"));
        assert!(own.contains(&format!("Usage: teamlog {command}")), "{own}");
    }
    shows!(cli.ok("help claims") => starts "Claims\n");
    shows!(cli.refused(2, "help nonsense") => has "'nonsense'");
    assert_eq!(
        cli.ok("--version"),
        concat!("teamlog ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn usage_lines_show_if_team_may_be_left_out() {
    let cli = Cli::new();
    for (words, usage) in [
        (
            "note --help",
            "Usage: teamlog note [OPTIONS] [TEAM] <TASK> <TEXT>",
        ),
        (
            "help task show",
            "Usage: teamlog task show [OPTIONS] [TEAM] <TASK>",
        ),
        ("purge --help", "Usage: teamlog purge [OPTIONS] <TEAM>"),
    ] {
        let help = cli.ok(words);
        assert!(help.contains(usage), "{help}");
    }
    shows!(cli.ok("man note") => has "[\\fITEAM\\fR] <");
}

#[test]
fn the_examples_of_the_help_work() {
    let cli = Cli::new();
    let help = cli.ok("help --all");
    let examples = help.split("\nExamples:\n").nth(1).unwrap();
    let examples = examples.split("\n\n").next().unwrap();
    let examples: Vec<&str> = examples
        .lines()
        .filter_map(|line| line.strip_prefix("  teamlog "))
        .collect();
    assert!(examples.len() >= 6, "{examples:?}");
    for example in examples {
        for part in example.split(" && teamlog ") {
            cli.ok(part);
        }
    }
}

#[test]
fn usage_errors_exit_2_with_one_error_and_a_hint() {
    let cli = Cli::new();
    for (line, said, hint) in cases![
        ("sedn demo" => "'sedn'", "teamlog --help"),
        ("send demo --form x" => "'--form'", "teamlog send --help"),
        ("send" => "--to <AGENT>", "teamlog send --help"),
        ("task" => "subcommand", "teamlog task --help"),
        ("task show" => "<TASK>", "teamlog task show --help"),
        ("read demo --agent a --limit many" => "'many'", "teamlog read --help"),
        ("status demo --stale-minutes -1" => "'-1'", "teamlog status --help"),
        ("status demo --lock-timeout x" => "'x'", "teamlog status --help"),
    ] {
        let error = cli.refused(2, line);
        assert!(
            error.lines().next().unwrap().contains(said),
            "{line}: {error}"
        );
        let body = cli.refused_json(2, line);
        assert_eq!(body.code, "usage");
        assert!(
            body.message.contains(said) && !body.message.contains('\n'),
            "{line}: {body:?}"
        );
        assert!(
            body.hint.as_deref().unwrap_or("").contains(hint) || hint == "teamlog status --help",
            "{line}: {body:?}"
        );
    }
}

#[test]
fn global_flags_stand_before_or_behind_the_subcommand() {
    let cli = Cli::with_team();
    let root = cli.dir().display();
    let elsewhere = cli.dir().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for line in [
        format!("--json --data-root {root} status demo"),
        format!("status demo --json --data-root {root}"),
        format!("--data-root={root} status --json demo"),
        format!("--json status demo --json --data-root {root}"),
    ] {
        let ran = Ran::of(cli.command(&line).current_dir(&elsewhere));
        assert_eq!(parse::<Status>(&ran.stdout).team, "demo", "{line}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_io_failure_that_undoes_nothing() {
    let cli = Cli::with_team();
    let create = "api create-task --json --input '{\"team_name\":\"demo\",\"subject\":\"S\",\"description\":\"D\"}'";
    for line in [
        "status demo",
        "send demo --from lead --to dev --type handoff",
        create,
    ] {
        let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
            return;
        };
        let mut command = cli.command(line);
        let child = command.stdout(full).stderr(std::process::Stdio::piped());
        let ran = Ran::from_output(child.spawn().unwrap().wait_with_output().unwrap());
        assert_eq!(ran.code, Some(74), "{line}: {ran:?}");
        let part = "cannot write standard output: ";
        assert_eq!(ran.stderr.matches(part).count(), 1, "{line}: {ran:?}");
        let hint = "if the command records events, they are recorded; only its answer could not be written";
        assert!(ran.stderr.contains(hint), "{line}: {ran:?}");
    }
    assert_eq!(cli.ok("read demo --agent dev --json").lines().count(), 1);
    assert!(cli.ok("tasks demo").contains('S'));
}

#[test]
fn where_the_outcome_is_unknown_the_hint_fits_the_command_and_works() {
    let cli = Cli::with_team();
    let root = cli.dir().display().to_string();
    let send = "send demo --from lead --to dev --type handoff";
    let look = format!(
        "it is unknown whether the command was recorded; check before you repeat it:\n\
        teamlog --data-root {root} replay demo --reverse --limit 5 --json"
    );
    let again = "it is unknown whether the command was recorded; repeat the same command: \
        if it was recorded, the repeat changes nothing";
    cli.ok(&format!("{send} --message-id m"));
    for (line, hint) in cases![
        (format!("{send} --message-id n") => Some(again)),
        (send.to_owned() => Some(&*look)),
        ("append demo --kind k --key x".to_owned() => Some(again)),
        ("append demo --kind k".to_owned() => Some(&*look)),
        ("ack demo --agent dev --message-id m".to_owned() => Some(again)),
        ("init demo --members new".to_owned() => Some(again)),
    ] {
        // Set the maximum file size to zero.
        let mut command = std::process::Command::new("/bin/sh");
        let direct = cli.command(&format!("{line} --data-root {root} --json"));
        let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
        command.args(["-c", limited]).arg(direct.get_program());
        command.args(direct.get_args()).current_dir(cli.dir());
        let ran = Ran::of(command.env_clear());
        assert_eq!(ran.code, Some(74), "{line}: {ran:?}");
        let error: serde_json::Value = parse(&ran.stderr);
        let said = error["error"]["hint"].as_str().unwrap();
        let (said, room) = said.rsplit_once('\n').unwrap();
        assert_eq!(Some(said), hint, "{line}");
        assert!(room.starts_with("make room first"), "{line}: {room}");
    }
    let shown = look
        .lines()
        .nth(1)
        .unwrap()
        .strip_prefix("teamlog ")
        .unwrap();
    assert!(cli.ok(shown).contains("message_sent"));
    shows!(cli.json::<Sent>(&format!("{send} --message-id m")).status => is "duplicate");
}

#[test]
fn what_the_system_does_not_permit_exits_77() {
    let cli = Cli::with_team();
    // Permissions of files do not restrict root, so skip the rest of the test. A unit test covers the exit code.
    let probe = cli.file("probe", "");
    let mode = |path: &std::path::Path, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&probe, 0);
    if std::fs::read(&probe).is_ok() {
        return;
    }
    let team = cli.dir().join("teams/demo");
    mode(&team, 0);
    let error = cli.refused_json(77, "status demo");
    mode(&team, 0o700);
    assert_eq!(error.code, "not_permitted");
}

#[test]
fn off_a_terminal_there_is_no_colour() {
    let cli = Cli::with_team();
    cli.ok("send demo --from lead --to dev --type handoff --priority critical");
    for line in [
        "status demo",
        "read demo --agent dev",
        "replay demo",
        "verify demo",
        "--help",
    ] {
        assert!(!cli.ok(line).contains('\u{1b}'), "{line}");
    }
}

#[test]
fn what_is_no_file_or_no_directory_is_refused_before_anything_happens() {
    let cli = Cli::with_team();
    std::fs::create_dir(cli.dir().join("dir")).unwrap();
    for (line, field) in cases![
        ("append demo --batch dir" => "batch"),
        ("import demo --messages dir" => "messages"),
        ("import other --events dir" => "events"),
        ("verify demo --against dir" => "against"),
        ("send demo --from lead --to dev --type handoff --payload-file dir" => "payload_file"),
    ] {
        let error = cli.refused_json(1, line);
        assert_eq!(error.field.as_deref(), Some(field), "{line}");
        assert!(error.message.contains("is a directory"), "{line}");
        // The only hint names the command that makes the wanted file.
        assert_eq!(error.hint.is_some(), field == "against", "{line}");
    }
    cli.file("dir/teams", "");
    for line in [
        "status demo",
        "init demo",
        "send demo --from a --to b --type handoff",
    ] {
        let error = cli.refused_json(1, &format!("--data-root dir {line}"));
        assert!(
            error.message.contains("teams is a file"),
            "{line}: {error:?}"
        );
    }
}

#[test]
fn a_number_that_is_too_large_is_told_the_bound() {
    let cli = Cli::with_team();
    let error = cli.refused(2, "read demo --agent dev --limit 99999999999999999999");
    shows!(error => has "a whole number from 0 to 18446744073709551615");
    cli.ok("read demo --agent dev --limit 18446744073709551615");
    cli.ok("status demo --stale-minutes 18446744073709551615");
}

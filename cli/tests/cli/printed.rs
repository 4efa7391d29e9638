//! Commands that are printed for callers of `rcs` also run on a machine without a program `rcs`.

use crate::mcp::Client;
use crate::prelude::*;

/// Runs a line in a shell in the directory `at`. The shell finds `teamlog` but not `rcs`.
fn shell(cli: &Cli, at: &Path, line: &str) -> Ran {
    let bin = cli.outside().join("bin");
    let _ = std::fs::create_dir(&bin);
    let program = bin.join("teamlog");
    let _ = std::fs::remove_file(&program);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_teamlog"), &program).unwrap();
    let mut command = std::process::Command::new("sh");
    command
        .args(["-e", "-c", line])
        .current_dir(at)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("HOME", cli.outside())
        .stdin(std::process::Stdio::null());
    Ran::of(&mut command)
}

#[track_caller]
fn done(cli: &Cli, at: &Path, line: &str) -> Value {
    let ran = shell(cli, at, line);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Returns the commands in backticks after the text `typed here: `.
fn typed(text: &str) -> Vec<String> {
    let (_, behind) = text
        .split_once("typed here: ")
        .unwrap_or_else(|| panic!("{text}"));
    let quoted = behind.split('`').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

#[test]
fn commands_of_the_link_work_under_the_programs_own_name() {
    let cli = Cli::with_team();
    let input = r#"'{"team_name":"demo"}'"#;
    let root = cli.dir().display();
    for line in [
        format!("teamlog team api list-tasks --input {input} --json"),
        format!("teamlog --data-root {root} team api list-tasks --input {input} --json"),
        format!("teamlog team api team_list_tasks --json --input {input}"),
    ] {
        let answer = done(&cli, cli.dir(), &line);
        assert_eq!(answer["command"], "teamlog api list-tasks", "{line}");
        assert_eq!(answer["data"], json!({"count": 0, "tasks": []}), "{line}");
    }
    let waited = done(
        &cli,
        cli.dir(),
        "teamlog team await demo --timeout-ms 0 --json",
    );
    assert_eq!(waited["status"], "timeout");
    let state = done(&cli, cli.dir(), "teamlog state list-active --json");
    assert_eq!(state, json!({"active_modes": []}));
    // `team` has no other subcommands.
    assert_eq!(
        shell(&cli, cli.dir(), "teamlog team status demo").code,
        Some(2)
    );
    // A call of a tool of earlier versions prints the command to type.
    let (mut client, _) = Client::initialized(&cli, "mcp");
    let fault = client.fault("team_list_tasks", json!({"team_name": "demo"}));
    let command = fault["command"].as_str().unwrap();
    let answer = done(&cli, cli.dir(), command);
    assert_eq!(answer["data"]["count"], 0, "{command}");
}

#[test]
fn a_denial_says_what_clears_it_here() {
    let cli = Cli::with_team();
    let root = cli.dir().display();
    let elsewhere = cli.outside().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let start = |mode: &str| format!("teamlog --data-root {root} mode start demo {mode}");
    // All places that show a denial: the error of a command, and the text and hook of a prompt.
    for (asked, code) in [
        (start("blueprint"), 1),
        (
            format!("teamlog --data-root {root} mode prompt demo --text '$blueprint plan it'"),
            1,
        ),
        (
            format!(
                "echo '$blueprint plan it' | teamlog --data-root {root} mode prompt demo --hook"
            ),
            0,
        ),
    ] {
        assert_eq!(shell(&cli, &elsewhere, &start("team")).code, Some(0));
        let denied = shell(&cli, &elsewhere, &asked);
        assert_eq!(denied.code, Some(code), "{asked}: {denied:?}");
        let said = format!("{}{}", denied.stdout, denied.stderr);
        shows!(said => has "`rcs state clear --mode team --team demo --root`");
        let commands = typed(&said);
        assert_eq!(
            commands,
            [format!(
                "teamlog --data-root {root} state clear --mode team --team demo --root"
            )]
        );
        let cleared = done(&cli, &elsewhere, &format!("{} --json", commands[0]));
        assert_eq!(cleared["cleared"], true);
        assert_eq!(shell(&cli, &elsewhere, &start("blueprint")).code, Some(0));
        let clear =
            format!("teamlog --data-root {root} state clear --mode blueprint --team demo --root");
        assert_eq!(shell(&cli, &elsewhere, &clear).code, Some(0));
    }
}

#[test]
fn a_closed_team_names_what_deletes_it_and_a_mistyped_operation_the_one_that_is_meant() {
    let cli = Cli::with_team();
    let ran = cli.run("api claim_tsk --json");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("did you mean claim-task?"), "{message}");
    cli.ok_of_any_shape(r#"api orphan-cleanup --input '{"team_name":"demo"}' --json"#);
    let refused = shell(&cli, cli.dir(), "teamlog mode start demo team");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let purge = refused
        .stderr
        .lines()
        .find_map(|line| line.split_once("to delete it: "));
    let (_, purge) = purge.unwrap_or_else(|| panic!("{refused:?}"));
    assert_eq!(purge, "teamlog purge demo --yes");
    assert_eq!(shell(&cli, cli.dir(), purge).code, Some(0));
}

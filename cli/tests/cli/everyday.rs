//! Commands of everyday use: TEAM is left out, or an option or variable names the team.

use crate::answers::Init;
use crate::prelude::*;
use std::fs;

/// Runs a command with an additional environment variable.
fn with_variable(cli: &Cli, line: &str, name: &str, value: &str) -> Ran {
    Ran::of(cli.command(line).env(name, value))
}

#[test]
fn team_may_be_left_out_if_one_team_is_open() {
    let cli = Cli::with_team();
    cli.ok("init old --members lead");
    cli.ok_of_any_shape("api cleanup --input '{\"team_name\":\"old\",\"force\":true}'");
    cli.ok("task create --subject Login --actor lead");
    shows!(cli.ok("task show 1") => starts "1  Login");
    cli.ok("task claim 1 --worker dev");
    cli.ok("config set views true");
    shows!(cli.ok("config get views") => has "true");
    shows!(cli.ok("status") => starts "demo: 1 task");
    shows!(cli.refused(1, "task edit 1 --subject ' '") => has "must not be empty");
    shows!(cli.ok("-t demo tasks") => has "Login");
    shows!(cli.ok("tasks --team=demo") => has "Login");
    shows!(cli.ok("task show --history demo 1") => has "claimed");
}

#[test]
fn the_question_for_a_team_lists_the_open_ones() {
    let cli = Cli::with_team();
    cli.ok("init two --members lead");
    let said = cli.refused(1, "task show 1");
    shows!(said.clone() => has "demo, two");
    shows!(with_variable(&cli, "status", "TEAMLOG_TEAM", "two").stdout => starts "two: ");
    shows!(with_variable(&cli, "status -t demo", "TEAMLOG_TEAM", "two").stdout => starts "demo: ");
    shows!(cli.refused(2, "status demo -t two") => has "given twice");
    cli.ok("status demo -t demo");
}

#[test]
fn no_form_of_the_option_reaches_a_team_that_it_does_not_name() {
    let cli = Cli::with_team();
    cli.ok("init two --members lead");
    for line in [
        "status -ttwo",
        "status -t=two",
        "-t two status",
        "status --team=two",
    ] {
        let ran = with_variable(&cli, line, "TEAMLOG_TEAM", "demo");
        shows!(ran.stdout => starts "two: ");
    }
    for line in [
        "tick -t two --all",
        "nudge -t two --all-teams",
        "verify -t two --all",
        "status -t demo -t two",
        "status demo -ttwo",
    ] {
        cli.refused(2, line);
    }
    for line in ["status -t nope", "tick -tnope"] {
        cli.refused(1, line);
    }
}

#[test]
fn the_option_may_be_before_a_command_that_has_its_own() {
    let cli = Cli::with_team();
    cli.ok("backup ../one");
    cli.ok("init two --members lead");
    shows!(cli.refused(1, "backup ../both") => has "demo, two");
    cli.ok("-t two backup ../both");
    cli.ok("backup -t demo ../both");
    assert!(cli.outside().join("one/demo").is_dir());
    assert!(cli.outside().join("both/two").is_dir() && cli.outside().join("both/demo").is_dir());
    // `backup demo` names only the team, so the directory is missing.
    shows!(cli.refused(2, "backup demo") => has "DIR is required");
    cli.refused(2, "backup demo ../both -t two");
    cli.refused(2, "-t two backup --all ../both");
    let set_up = cli.ok("-t two setup claude --dry-run --json");
    has!(parse::<Value>(&set_up), {"team": "two", "status": "would_write"});
    shows!(cli.ok("-t two hooks install claude") => has "-- two ||");
    cli.refused(2, "hooks install claude demo -t two");
    cli.refused(1, "-t nope mcp");
}

#[test]
fn commands_with_an_optional_argument_find_the_only_team() {
    let cli = Cli::with_team();
    cli.ok("tick");
    cli.ok("verify");
    cli.ok("mode explain ultrawork");
    shows!(cli.refused(1, "token accept 5f0c2b7a91d3e846") => lacks "<TOKEN>");
    let subject = "task create --subject X --requires-approval=true --actor lead";
    cli.ok(subject);
    shows!(cli.ok("task show --help") => has "-t, --team <TEAM>");
}

#[test]
fn a_missing_word_after_team_is_named_alone() {
    let cli = Cli::with_team();
    let said = cli.refused(2, "task show");
    shows!(said.clone() => has "<TASK>");
    assert!(!said.contains("<TEAM>"), "{said}");
}

#[test]
fn the_first_of_two_possible_words_is_team_if_a_team_has_that_name() {
    let cli = Cli::with_team();
    cli.ok("task create --subject Login --actor lead --resource src");
    cli.ok("task claim 1 --worker dev");
    for line in [
        "can-write src/a --agent dev",
        "can-write demo src/a --agent dev",
        "can-write -t demo src/a --agent dev",
    ] {
        shows!(cli.ok(line) => starts "yes");
    }
    // Without a path, the question is about the whole repository, which has no holder.
    let whole = cli.run("can-write demo --agent dev");
    assert_eq!(whole.code, Some(1), "{whole:?}");
    shows!(whole.stdout => starts "no");
}

#[test]
fn a_team_is_named_after_the_directory_of_its_root() {
    let cli = Cli::new();
    let dir = cli.dir().join("My Project");
    fs::create_dir(&dir).unwrap();
    let created: Init = cli.json("init --data-root 'My Project' --members lead");
    assert_eq!(created.team, "My-Project");
    assert!(dir.join("teams/My-Project/log.json").is_file());
    shows!(cli.ok("status --data-root 'My Project'") => starts "My-Project: ");
    let variable = with_variable(&cli, "init", "TEAMLOG_TEAM", "named");
    shows!(variable.stdout => starts "named created");
    shows!(cli.refused(1, "init 'a b'") => has "init a-b");
}

#[test]
fn init_without_a_name_makes_no_second_team() {
    let cli = Cli::with_team();
    shows!(cli.refused(2, "init --members ops") => has "demo");
}

#[test]
fn commands_that_create_or_delete_a_team_need_its_name() {
    let cli = Cli::with_team();
    shows!(cli.refused(2, "purge --yes") => has "<TEAM>");
    shows!(cli.refused(2, "join --journal main") => has "<TEAM>");
}

#[test]
fn an_id_is_no_team_and_an_answer_that_is_printed_is_read() {
    let cli = Cli::with_team();
    cli.ok("send demo --from lead --to dev --type message --payload-json {} --message-id m-1");
    cli.ok("ack m-1 --as dev");
    assert!(cli.ok("ack m-1 --as dev").contains("m-1"));
    let ran = cli.run("undo m-1 --as dev");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(!ran.stderr.contains("no team"), "{ran:?}");
    let line = "append demo --kind built --actor ci --data -";
    let ran = cli.run_with_input(line, "{\"job\":7}\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        cli.ok("replay demo --kind built --json")
            .contains("\"job\":7")
    );

    let asking = cli
        .command("ask demo lead which --wait --as dev --json")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let attention = until_some("the question is open", || {
        let text = cli.ok("attention demo --kind question_open");
        if text.contains("teamlog reply") {
            Ok(text)
        } else {
            Err(text)
        }
    });
    assert!(attention.contains("--message-id"), "{attention}");
    cli.ok("reply demo postgres --as lead");
    let answer = asking.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer["answer"]["body"], "postgres");
    assert_eq!(answer["answer"]["acked"], true);
    let unread: Value = cli.json("inbox demo --as dev");
    assert_eq!(unread["messages"], json!([]), "{unread}");
}

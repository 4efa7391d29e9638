//! Everyday commands: TEAM is left out, or named by an option or a variable.

use crate::answers::Init;
use crate::prelude::*;
use std::fs;

/// Runs a command with one variable set.
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
fn commands_that_create_or_delete_a_team_need_its_name() {
    let cli = Cli::with_team();
    shows!(cli.refused(2, "purge --yes") => has "<TEAM>");
    shows!(cli.refused(2, "join --journal main") => has "<TEAM>");
}

//! Lines that are typed wrongly: each is refused with the line that was probably meant, or has a note if nothing was found.

use crate::prelude::*;
use crate::terminal::on_terminal;

/// Runs a command as `dev`.
fn as_dev(cli: &Cli, line: &str) -> Ran {
    Ran::of(cli.command(line).env("TEAMLOG_AGENT", "dev"))
}

/// Lines, each with its exit code and a part of standard error.
const LINES: &[(&str, i32, &str)] = &[
    // Texts without quotes, and texts that begin with a minus.
    ("add fix login", 1, "hint: teamlog add 'fix login'"),
    ("add fix the login", 2, "hint: teamlog add 'fix the login'"),
    (
        "add demo fix login",
        2,
        "hint: teamlog add demo 'fix login'",
    ),
    (
        "add fix login -t demo",
        2,
        "hint: teamlog add 'fix login' --team demo",
    ),
    ("note 1 half done", 1, "hint: teamlog note 1 'half done'"),
    ("done 1 on branch", 1, "hint: teamlog done 1 'on branch'"),
    (
        "say qa '-1 on this'",
        2,
        "hint: teamlog say qa -- '-1 on this'",
    ),
    (
        "say qa '-1 on this' --priority high",
        2,
        "hint: teamlog say qa --priority high -- '-1 on this'",
    ),
    // Names in the place of TEAM.
    ("log dev", 1, "hint: teamlog log --by dev"),
    ("inbox qa", 1, "hint: teamlog inbox --agent qa"),
    ("list failed", 1, "hint: teamlog list --status failed"),
    ("log nobody", 1, "no team nobody"),
    // Values of switches.
    (
        "edit 1 --requires-approval false",
        1,
        "hint: teamlog edit 1 --requires-approval=false",
    ),
    (
        "add A --requires-approval false",
        1,
        "hint: teamlog add A --requires-approval=false",
    ),
    // Commands and values of other tools.
    ("unclaim 1", 2, "hint: teamlog release TASK"),
    ("rm 1", 2, "hint: teamlog drop TASK"),
    ("version", 2, "hint: teamlog --version"),
    ("setup gemini", 2, "hint: teamlog setup claude"),
    (
        "api claim-task --input '{bad'",
        1,
        "hint: teamlog api claim-task --help",
    ),
    ("list --status reviewed", 2, "did you mean review?"),
    // Commands that would have another effect than the wanted one.
    (
        "task-update demo --to lead --task-id TYPO --status done",
        1,
        "no task \"TYPO\"",
    ),
    ("close demo", 1, "or pass --force"),
    ("close 1", 1, "no team 1"),
    (
        "add - --description -",
        2,
        "standard input is read only once",
    ),
];

#[test]
fn a_mistyped_line_is_refused_with_the_line_that_was_meant() {
    let cli = Cli::with_team();
    cli.ok("add One --as lead");
    let before = cli.ok("export demo");
    let mut wrong = Vec::new();
    for (line, code, part) in LINES {
        let ran = as_dev(&cli, line);
        if ran.code != Some(*code) || !ran.stderr.contains(part) {
            wrong.push(format!("{line}: {ran:?} lacks {part:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cli.ok("export demo"), before, "nothing was recorded");
}

#[test]
fn a_hint_of_a_mistyped_line_can_be_run() {
    let cli = Cli::with_team();
    for (line, meant) in [
        ("add fix login", "add 'fix login'"),
        ("say qa '-1 on this'", "say qa -- '-1 on this'"),
        (
            "edit 1 --requires-approval false",
            "edit 1 --requires-approval=false",
        ),
        ("log dev", "log --by dev"),
    ] {
        let ran = as_dev(&cli, line);
        assert!(
            ran.stderr.contains(&format!("hint: teamlog {meant}")),
            "{ran:?}"
        );
        let ran = as_dev(&cli, meant);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{meant}: {ran:?}");
    }
}

#[test]
fn an_empty_list_of_events_says_what_no_event_matches() {
    let cli = Cli::with_team();
    cli.ok("add One --as lead");
    for (line, parts) in [
        (
            "log --kind task_creatd",
            &["no event matches --kind task_creatd", "task_created"][..],
        ),
        (
            "log --task 77",
            &["--task 77", "no task \"77\" in team demo"],
        ),
        (
            "log --agent zz",
            &[
                "--agent zz",
                "no agent zz in team demo (agents: dev, lead, qa)",
            ],
        ),
        ("log --by zz", &["by zz", "no agent zz"]),
        ("replay --task-id 77 --json", &["{\"note\":", "--task 77"]),
        ("tail --text nowhere", &["--text nowhere"]),
        (
            "trace --trace-id nope",
            &["no event matches --trace-id nope"],
        ),
    ] {
        let ran = cli.run(line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        for part in parts {
            assert!(ran.stderr.contains(part), "{line}: {ran:?} lacks {part:?}");
        }
    }
    // A program reads ranges without events again and again.
    assert_eq!(cli.ok("replay demo --from-seq 99 --json"), "");
    assert_eq!(cli.ok("replay demo --kind nope --json"), "");
    shows!(cli.run("replay demo --from-seq 99").stderr => has "no event matches from event 99");
    cli.ok("log --kind task_created");
}

#[test]
fn tasks_in_review_and_tasks_without_an_owner_are_listed() {
    let cli = Cli::with_team();
    for subject in ["A", "B", "C", "D"] {
        cli.ok(&format!("add {subject} --as lead"));
    }
    cli.ok("claim 1 --as dev");
    cli.ok("claim 2 --as dev");
    cli.ok("review 1 --to qa --as dev");
    let ids = |line: &str| -> Vec<String> {
        let answer: Value = cli.json(line);
        let tasks = answer["tasks"].as_array().unwrap().iter();
        assert_eq!(answer["count"], tasks.len());
        tasks
            .map(|task| task["task_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids("list --status review"), ["1"]);
    assert_eq!(ids("list --status in_progress"), ["1", "2"]);
    assert_eq!(ids("list --unowned"), ["3", "4"]);
    assert_eq!(ids("list --unowned --limit 1"), ["3"]);
    assert_eq!(ids("list --unowned --limit 1 --cursor 3"), ["4"]);
    shows!(cli.ok("list --unowned --limit 1") => has "more: --cursor 3");
    shows!(cli.refused(2, "list --unowned --limit 1 --sort priority") => has "cannot be used with --sort");
    cli.ok("approve 1 --as qa");
    assert!(ids("list --status review").is_empty());
}

#[test]
fn a_dash_reads_standard_input() {
    let cli = Cli::with_team();
    let ran = cli.run_with_input("add - --as lead", "From a pipe\n");
    shows!(ran.stdout => has "From a pipe");
    let ran = cli.run_with_input("edit 1 --description - --as lead", "Two\nlines\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown: Value = cli.json("show 1");
    assert_eq!(shown["task"]["details"], "Two\nlines");
    let ran = cli.run_with_input("add -", "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_hint_names_the_last_name_of_a_renamed_agent() {
    let cli = Cli::with_team();
    cli.ok("rename-agent dev ada --as lead");
    cli.ok("rename-agent ada eve --as lead");
    let said = cli.refused(1, "next --as dev");
    shows!(said => has "\"dev\" was renamed to \"eve\"", has "use the new name eve", lacks "ada");
}

#[test]
fn teamlog_alone_asks_for_the_team_if_several_are_open() {
    let cli = Cli::with_team();
    cli.ok("init two --members lead,dev");
    let ran = as_dev(&cli, "");
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{ran:?}");
    shows!(ran.stderr => has "which team?", has "demo, two", has "-t NAME");
    shows!(cli.ok("") => has "Usage: teamlog");
    shows!(as_dev(&cli, "-t two prime").stdout => has "dev in two");
}

#[test]
fn a_closed_team_says_so_in_words() {
    let cli = Cli::with_team();
    cli.ok("add One --as lead");
    shows!(cli.refused(1, "close demo") => has "teamlog list demo");
    shows!(cli.ok("close demo --force") => is "closed demo: its log stays, and can only be read\n");
    shows!(cli.refused(2, "close") => has "<TEAM>");
}

#[test]
fn long_texts_are_cut_unless_they_are_asked_for() {
    let cli = Cli::with_team();
    let text = format!("begin {} end", "x".repeat(2_500));
    cli.ok(&format!("say dev '{text}' --as lead"));
    cli.ok(&format!("add One --description '{text}' --as lead"));
    for line in ["inbox --as dev", "show 1", "read demo --agent dev"] {
        let cut = cli.ok(line);
        assert!(!cut.contains(" end"), "{line}: {cut}");
        shows!(cut => has "more characters, see --full)");
        assert!(cli.ok(&format!("{line} --full")).contains(" end"), "{line}");
        assert!(cli.ok(&format!("{line} --json")).contains(" end"), "{line}");
    }
}

#[test]
fn everyday_answers_fit_narrow_and_wide_terminals() {
    let cli = Cli::with_team();
    let long = "a rather long text about the login that does not fit on a narrow terminal at all";
    cli.ok(&format!(
        "add '{long}' --description '{long}' --label api,ui --as lead"
    ));
    cli.ok(&format!("add '{long}' --after 99 --as lead"));
    cli.ok("claim 1 --as dev");
    cli.ok(&format!("note 1 '{long}' --blocked --as dev"));
    cli.ok(&format!("comment 1 '{long}' --as qa"));
    cli.ok(&format!("say dev '{long}' --as lead"));
    cli.ok(&format!("ask lead '{long}' --as dev"));
    for columns in [40, 80, 200] {
        for line in [
            "list",
            "list --status in_progress",
            "who",
            "inbox --as dev",
            "inbox --as dev --full",
            "prime --as dev",
            "prime --as lead",
            "show 1",
            "show 1 --history",
            "attention",
            "status",
            "ready",
            "find login",
            "log",
            "teams",
        ] {
            let set = [("COLUMNS", &*columns.to_string()), ("NO_COLOR", "1")];
            let Some(shown) = on_terminal(&cli, line, &set) else {
                return;
            };
            // An id that is wider than the terminal is not broken, so that it can be copied.
            let rows = shown.lines().filter(|row| row.trim().contains(' '));
            for row in rows {
                let width = row.trim_end().chars().count();
                assert!(
                    width <= columns,
                    "{line}: {width} of {columns} columns:\n{shown}"
                );
            }
        }
    }
    let pipe = cli.ok("attention");
    shows!(pipe => has "\n      teamlog edit demo 2 --unblocked\n");
}

//! `init`: members, open and closed teams, and the location of data.

use crate::answers::{Init, Sent, Status};
use crate::harness::{Cli, Ran, parse};

#[test]
fn a_team_is_created_and_gains_members_and_repeating_is_harmless() {
    let cli = Cli::new();
    let created: Init = cli.json("init demo --members qa,dev");
    assert_eq!((&*created.status, &*created.team), ("ok", "demo"));
    assert_eq!(created.members, ["dev", "qa"]);
    assert!(cli.dir().join("teams/demo/log.json").is_file());
    let again: Init = cli.json("init demo --members qa,dev");
    assert_eq!(again.members, created.members);
    let events = cli.json::<Status>("status demo").events;
    let more: Init = cli.json("init demo --members lead");
    assert_eq!(more.members, ["dev", "lead", "qa"]);
    assert_eq!(cli.json::<Status>("status demo").events, events + 1);
    shows!(cli.ok("init demo") =>
        is "demo is there already, unchanged\n  members: dev, lead, qa\n");
}

#[test]
fn people_are_told_where_the_team_lies() {
    let cli = Cli::new();
    let shown = cli.ok("init demo --members lead,dev");
    let root = cli.dir().display();
    shows!(shown => is format!("demo created in {root}\n  members: dev, lead\n"));
    shows!(cli.ok("init free") =>
        is format!("free created in {root}\n  members: no members yet; agents join by acting\n"));
}

#[test]
fn another_format_for_a_team_that_exists_is_refused() {
    let cli = Cli::with_team();
    let error = cli.refused_json(1, "init demo --format binary");
    assert_eq!(error.code, "format_mismatch");
    cli.ok("init demo --format jsonl");
    shows!(cli.refused(2, "init other --format xml") => has "'xml' for '--format");
}

#[test]
fn names_keep_the_rules() {
    let cli = Cli::new();
    for (name, rule) in [
        ("a/b", "path separator"),
        ("a..b", "traversal token"),
        (".a", "begin with ."),
        ("'a b'", "^[A-Za-z0-9._-]+$"),
        ("''", "empty"),
    ] {
        let error = cli.refused_json(1, &format!("init {name}"));
        assert_eq!(
            (&*error.code, error.field.as_deref()),
            ("invalid_input", Some("team"))
        );
        assert!(error.message.contains(rule), "{name}: {}", error.message);
    }
    assert!(!cli.dir().join("teams").exists());
}

#[test]
fn a_closed_team_refuses_strangers_and_names_its_members() {
    let cli = Cli::with_team();
    for line in [
        "send demo --from lead --to nobody --type handoff",
        "send demo --from nobody --to lead --type handoff",
        "read demo --agent nobody",
        "ack demo --agent nobody --message-id m",
        "task-assign demo --from lead --to nobody --task-id T --subject S",
    ] {
        let error = cli.refused_json(1, line);
        assert_eq!(error.code, "worker_not_found", "{line}");
        for known in ["dev", "lead", "qa", "nobody"] {
            let said = format!("{} {:?}", error.message, error.details);
            assert!(said.contains(known), "{line}: {said}");
        }
    }
    assert_eq!(cli.json::<Status>("status demo").events, 1);
}

#[test]
fn in_an_open_team_agents_join_by_acting() {
    let cli = Cli::new();
    cli.ok("init free");
    cli.ok("init mixed --members lead --open");
    for (team, first, second) in [
        ("free", vec!["a"], vec!["a", "b"]),
        ("mixed", vec!["a", "lead"], vec!["a", "b", "lead"]),
    ] {
        let members = || cli.json::<Status>(&format!("status {team}")).members;
        let sent: Sent = cli.json(&format!(
            "send {team} --from a --to b --type handoff --message-id m"
        ));
        assert_eq!(sent.status, "sent");
        assert_eq!(members(), first, "who only receives has not acted");
        cli.ok(&format!("ack {team} --agent b --message-id m"));
        assert_eq!(members(), second);
    }
}

#[test]
fn an_unknown_team_is_refused_with_the_command_that_makes_it() {
    let cli = Cli::new();
    let error = cli.refused_json(1, "status nowhere");
    assert_eq!(error.code, "team_not_found");
    assert!(error.message.contains("nowhere"), "{}", error.message);
    assert!(error.hint.unwrap().contains("teamlog init nowhere"));
}

#[test]
fn the_data_root_is_flag_then_variable_then_ancestor_then_here() {
    let cli = Cli::new();
    for root in ["flag", "variable", "tree", "tree/a", "tree/a/b"] {
        std::fs::create_dir(cli.dir().join(root)).unwrap();
    }
    let init = |line: &str, variable: Option<&str>, here: &str| {
        let mut command = cli.command(line);
        command.current_dir(cli.dir().join(here));
        if let Some(root) = variable {
            command.env("TEAMLOG_DATA_ROOT", cli.dir().join(root));
        }
        let ran = Ran::of(&mut command);
        parse::<Init>(&ran.stdout)
    };
    let flag = cli.dir().join("flag").display().to_string();
    init("init zero --json", Some("tree"), "tree/a/b");
    init(
        &format!("init one --json --data-root {flag}"),
        Some("variable"),
        "tree/a/b",
    );
    init("init two --json", Some("variable"), "tree/a/b");
    init("init three --json", None, "tree/a/b");
    init("init four --json", None, "flag");
    for team in [
        "flag/teams/one",
        "variable/teams/two",
        "tree/teams/three",
        "flag/teams/four",
    ] {
        assert!(cli.dir().join(team).join("log.json").is_file(), "{team}");
    }
}

#[test]
fn a_team_without_views_has_none() {
    let cli = Cli::new();
    cli.ok("init bare --members a,b --no-views");
    cli.ok("send bare --from a --to b --type handoff");
    let bare = cli.dir().join("teams/bare");
    assert!(!bare.join("inboxes").exists() && !bare.join("tasks").exists());
    cli.ok("init full --members a,b");
    cli.ok("send full --from a --to b --type handoff");
    assert!(cli.dir().join("teams/full/inboxes/b.jsonl").is_file());
}

#[test]
fn what_creates_a_team_creates_its_data_root_too() {
    let cli = Cli::new();
    let envelope =
        r#"{"id":"m","type":"handoff","from":"a","to":"b","created_at":"2026-01-01T00:00:00Z"}"#;
    cli.file("messages.jsonl", envelope);
    cli.ok("--data-root new/a init demo");
    cli.ok("--data-root new/b import demo --messages messages.jsonl");
    let exported = cli.ok("--data-root new/b export demo");
    cli.file("events.jsonl", &exported);
    cli.ok("--data-root new/c import demo --events events.jsonl");
    cli.ok("--data-root new/d demo");
    cli.ok("demo --dir new/e/f");
    for root in ["a", "b", "c", "d"] {
        cli.ok(&format!("--data-root new/{root} status demo"));
    }
    cli.refused(1, "--data-root new/g init 'a b'");
    cli.refused(1, "--data-root new/g import demo --messages none.jsonl");
    cli.refused(1, "--data-root new/g import demo --events none.jsonl");
    assert!(!cli.dir().join("new/g").exists());
}

#[test]
fn a_data_root_that_is_not_there_is_refused_with_the_command_that_makes_it() {
    let cli = Cli::new();
    for line in [
        "status demo",
        "send demo --from a --to b --type handoff",
        "append demo --kind k",
        "verify demo",
        "replay demo",
    ] {
        let error = cli.refused_json(1, &format!("--data-root 'no where' {line}"));
        assert_eq!(error.code, "data_root_not_found", "{line}");
        assert!(error.message.contains("no where"), "{}", error.message);
        let next = "to create it: teamlog --data-root 'no where' init demo";
        assert_eq!(error.hint.as_deref(), Some(next));
    }
    assert!(!cli.dir().join("no where").exists());
    cli.ok("--data-root 'no where' init demo");
    cli.ok("--data-root 'no where' status demo");
    let error = cli.refused_json(1, "--data-root 'no where' status other");
    // The root has another team, so the name is wrong or the team is in another root.
    let list = "list the teams with: teamlog --data-root 'no where' teams";
    assert_eq!(error.hint.as_deref(), Some(list));
    assert!(
        error.message.starts_with("no team other in "),
        "{}",
        error.message
    );
    assert!(
        error.message.ends_with("no where (teams: demo)"),
        "{}",
        error.message
    );
    cli.file("plain", "");
    for line in ["status demo", "init demo", "import demo --events plain"] {
        for root in ["plain", "plain/below"] {
            let error = cli.refused_json(1, &format!("--data-root {root} {line}"));
            assert_eq!(error.field.as_deref(), Some("data_root"), "{line}");
        }
    }
}

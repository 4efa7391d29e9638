//! Actors: commands on behalf of another member, claim holders, and the recorded actor if a command names none.

use crate::prelude::*;
use std::os::unix::fs::MetadataExt;

/// Returns a team in which `ada` holds the task `T-1`, and the token of that claim.
fn claimed() -> (Cli, String) {
    let cli = Cli::new();
    cli.ok("init demo --members lead,ada,cyd");
    cli.ok("task create demo --task-id T-1 --subject 'Fix it'");
    let claim: Value = cli.json("task claim demo T-1 --worker ada");
    (cli, claim["claimToken"].as_str().unwrap().to_owned())
}

/// Returns the last event of the team's log.
fn last(cli: &Cli) -> Value {
    let shown = cli.ok("replay demo --reverse --limit 1 --json");
    serde_json::from_str(&shown).unwrap()
}

fn user() -> String {
    let uid = std::fs::metadata("/proc/self").unwrap().uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields = users
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let own = fields
        .into_iter()
        .find(|fields| fields.get(2) == Some(&&*uid));
    format!("user:{}", own.map_or(uid, |fields| fields[0].to_owned()))
}

#[test]
fn a_guessed_epoch_ends_nobody_elses_claim() {
    let (cli, _) = claimed();
    let seq = last(&cli)["seq"].clone();
    for way in ["complete", "release --worker cyd"] {
        let (verb, rest) = way.split_once(' ').unwrap_or((way, ""));
        let by_flag = format!("task {verb} demo T-1 --epoch 1 {rest} --actor cyd");
        assert_eq!(
            cli.refused_json(1, &by_flag).code,
            "not_holder",
            "{by_flag}"
        );
    }
    let by_variable = "task complete demo T-1 --epoch 1 --json";
    let ran = Ran::of(cli.command(by_variable).env("TEAMLOG_AGENT", "cyd"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("\"not_holder\""), "{ran:?}");
    assert_eq!(last(&cli)["seq"], seq, "a refusal recorded something");
    shows!(cli.refused(1, "task complete demo T-1 --epoch 1 --actor cyd") => has "ada");
}

#[test]
fn a_token_suffices_and_an_override_is_recorded_with_who_used_it() {
    let (cli, token) = claimed();
    cli.ok(&format!(
        "task renew demo T-1 --claim-token {token} --actor cyd"
    ));
    let event = last(&cli);
    assert_eq!(
        (&event["actor"], event["payload"].get("forced")),
        (&json!("cyd"), None)
    );
    let wrong = "task complete demo T-1 --epoch 2 --actor cyd --force";
    assert_eq!(cli.refused_json(1, wrong).code, "claim_conflict");
    cli.ok("task complete demo T-1 --epoch 1 --actor cyd --force");
    let event = last(&cli);
    has!(event, {"kind": "task_completed", "actor": "cyd", "/payload/forced": true,
        "/payload/worker": "ada"});
}

#[test]
fn a_message_in_another_name_shows_both() {
    let cli = Cli::new();
    cli.ok("init demo --members lead,ada,cyd");
    let sent: Value = cli.json(
        "send demo --from lead --to ada --type handoff --message-id m-1 --trace-id tr-1 --actor cyd",
    );
    has!(sent, {"/message/from": "lead", "/message/actor": "cyd"});
    cli.ok("send demo --from lead --to ada --type handoff --message-id m-2");
    let read: Value = cli.json("read demo --agent ada");
    assert_eq!(read["messages"][0]["actor"], "cyd");
    assert_eq!(read["messages"][1].get("actor"), None);
    let mail: Value =
        cli.json("api mailbox-list --input '{\"team_name\":\"demo\",\"worker\":\"ada\"}'");
    let mail = &mail["data"]["messages"][0];
    has!(mail, {"from_worker": "lead", "actor": "cyd"});
    shows!(cli.ok("read demo --agent ada") => has "from lead (by cyd)  handoff");
    for line in ["tail demo", "trace demo --trace-id tr-1", "replay demo"] {
        shows!(cli.ok(line) => has "lead (by cyd) handed work over to ada");
    }
    let inbox = std::fs::read_to_string(cli.dir().join("teams/demo/inboxes/ada.jsonl")).unwrap();
    let lines: Vec<Value> = inbox
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    has!(lines[0], {"from": "lead", "actor": "cyd"});
    assert_eq!(lines[1].get("actor"), None);
    // `rehydrate` rebuilds the inbox with the actors of its messages.
    std::fs::remove_dir_all(cli.dir().join("teams/demo/inboxes")).unwrap();
    cli.ok("rehydrate demo");
    let rebuilt = std::fs::read_to_string(cli.dir().join("teams/demo/inboxes/ada.jsonl")).unwrap();
    assert_eq!(rebuilt, inbox);
    assert!(cli.ok("doctor check demo").contains("healthy"));
}

#[test]
fn what_is_said_in_a_thread_in_another_name_shows_both() {
    let cli = Cli::new();
    cli.ok("init demo --members lead,ada,cyd");
    cli.ok("thread start demo --title Plan --participants ada --agent lead");
    let said: Value = cli.json("thread post demo thread-0001 'begin' --agent lead --actor cyd");
    has!(said, {"/message/from": "lead", "/message/actor": "cyd"});
    let tail: Value = cli.json("thread tail demo thread-0001");
    assert_eq!(tail["messages"][0]["actor"], "cyd");
    shows!(cli.ok("thread tail demo thread-0001") => has "lead (by cyd)");
    let file = cli.dir().join("teams/demo/threads/thread-0001.jsonl");
    let line: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    has!(line, {"from": "lead", "actor": "cyd"});
    assert!(cli.ok("doctor check demo").contains("healthy"));
}

#[test]
fn where_nobody_says_who_acts_the_user_is_recorded() {
    let (cli, token) = claimed();
    let user = user();
    assert!(user.len() > "user:".len(), "{user}");
    let actor = |cli: &Cli, line: &str| {
        cli.ok(line);
        last(cli)["actor"].as_str().unwrap().to_owned()
    };
    for line in [
        "config set demo views true",
        "append demo --kind note_taken",
        "init demo --members bob",
        "task create demo --subject S",
        "task cancel demo 1",
        "mode start demo ultrawork",
        "api create-task --input '{\"team_name\":\"demo\",\"subject\":\"S\",\"description\":\"d\"}' --json",
    ] {
        assert_eq!(actor(&cli, line), user, "{line}");
    }
    // The recorded actor is the agent that an option names, or the worker who holds the claim.
    for (line, who) in cases![
        ("config unset demo views --actor lead".to_owned() => "lead"),
        ("send demo --from lead --to ada --type handoff".to_owned() => "lead"),
        (format!("task renew demo T-1 --claim-token {token}") => "ada"),
        ("task renew demo T-1 --epoch 1 --worker ada".to_owned() => "ada"),
        ("tick demo".to_owned() => "ada"),
    ] {
        assert_eq!(actor(&cli, &line), who, "{line}");
    }
    cli.ok("task complete demo T-1 --epoch 1");
    let event = last(&cli);
    has!(event, {"actor": user, "/payload/worker": "ada"});
}

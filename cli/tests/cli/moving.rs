//! Moving a team: conversion, backup, restore and import.

use crate::prelude::*;

fn lived(format: &str) -> Cli {
    let cli = Cli::with_team_of(format);
    for n in 0..4 {
        cli.ok(&format!(
            "task-assign demo --from lead --to dev --task-id T-{n} --subject s --message-id m-{n}"
        ));
    }
    cli.ok("ack demo --agent dev --message-id m-0");
    cli
}

fn digest(cli: &Cli, team: &str) -> Value {
    cli.json::<Value>(&format!("status {team} --digest"))["state_digest"].clone()
}

#[test]
fn convert_there_and_back() {
    let cli = lived("jsonl");
    let before: Vec<String> = cli.ok("export demo").lines().map(str::to_owned).collect();
    let done: Value = cli.json("convert demo --to binary");
    has!(done, {"status": "converted", "events": 6});
    assert!(done["to"]["bytes"].as_u64().unwrap() < done["from"]["bytes"].as_u64().unwrap());
    assert_eq!(done["state_digest"], digest(&cli, "demo"));
    assert!(cli.ok("export demo").starts_with(&before.join("\n")));
    let shown = cli.ok("convert demo --to binary");
    assert!(shown.contains("is binary already"), "{shown}");
    let shown = cli.ok("convert demo --to jsonl");
    assert!(shown.contains("7 events in 7 groups copied"), "{shown}");
    assert!(shown.contains("  the original is in archive/"), "{shown}");
    assert!(cli.ok("verify demo").starts_with("ok: 8 events"));
    // The original log is kept in `archive`.
    let archive = cli.dir().join("teams/demo/archive");
    assert_eq!(std::fs::read_dir(archive).unwrap().count(), 2);
    cli.refused(2, "convert demo --to xml");
    cli.refused(1, "convert nobody --to binary");
}

#[test]
fn backup_verify_lose_restore() {
    for format in ["jsonl", "binary"] {
        let cli = lived(format);
        let first: Value = cli.json("backup demo ../safe");
        has!(first, {"seq": 6, "previous_seq": null});
        assert_eq!(first["bytes"], first["bytes_copied"]);
        cli.file("receipt.json", &first["receipt"].to_string());
        cli.ok("verify demo --against receipt.json");
        let again: Value = cli.json("backup demo ../safe");
        has!(again, {"bytes_copied": 0, "previous_seq": 6});
        cli.ok("ack demo --agent dev --message-id m-1");
        let next: Value = cli.json("backup demo ../safe");
        let new = next["bytes"].as_u64().unwrap() - first["bytes"].as_u64().unwrap();
        assert_eq!(next["bytes_copied"], new);
        shows!(cli.ok("verify demo --backup ../safe") => starts "ok: 7 events");
        let digest = digest(&cli, "demo");

        let error = cli.refused(1, "restore ../safe demo");
        assert!(error.contains("exists already"), "{error}");
        std::fs::remove_dir_all(cli.dir().join("teams/demo")).unwrap();
        let back: Value = cli.json("restore ../safe demo");
        has!(back, {"events": 7, "same_log": true});
        assert_eq!(back["state_digest"], self::digest(&cli, "demo"));
        assert_eq!(cli.ok("read demo --agent dev").matches("m-").count(), 4);
        cli.ok("verify demo --against receipt.json");
        // The restored team accepts events, and a later backup extends the backup.
        cli.ok("ack demo --agent dev --message-id m-2");
        let on: Value = cli.json("backup demo ../safe");
        assert_eq!((&on["seq"], &on["previous_seq"]), (&9.into(), &7.into()));
        assert_ne!(digest, Value::Null);

        // Damage in the backup is found and not restored.
        let log = on["log"].as_str().unwrap();
        let events = cli.outside().join("safe/demo").join(log).join("events");
        let segment = std::fs::read_dir(events).unwrap().next().unwrap().unwrap();
        let mut bytes = std::fs::read(segment.path()).unwrap();
        bytes[700] ^= 1;
        std::fs::write(segment.path(), bytes).unwrap();
        let ran = cli.run("verify demo --backup ../safe");
        assert_eq!(ran.code, Some(65), "{ran:?}");
        cli.refused(65, "restore ../safe again --from demo");
        assert!(!cli.dir().join("teams/again").exists());
    }
}

#[test]
fn backup_of_all_and_where_it_may_not_lie() {
    let cli = lived("jsonl");
    cli.ok("init other --members a,b");
    let all: Value = cli.json("backup --all ../safe");
    assert_eq!(
        (&all["status"], all["backups"].as_array().unwrap().len()),
        (&"ok".into(), 2)
    );
    let shown = cli.ok("backup --all ../safe");
    assert!(shown.contains("2 teams, 0 B copied"), "{shown}");
    for inside in ["safe", "teams/safe", "../home/safe"] {
        let error = cli.refused(1, &format!("backup demo {inside}"));
        assert!(error.contains("must be outside the data root"), "{error}");
    }
    let error = cli.refused(1, "restore ../safe third");
    shows!(error => has "teams with a backup: demo, other");
    cli.refused(1, "restore ../nowhere demo");
    cli.refused(2, "backup demo");
    cli.refused(2, "backup --all demo ../safe");
    // A backup must not overwrite the backup of a log that diverged.
    std::fs::remove_dir_all(cli.dir().join("teams/other")).unwrap();
    cli.ok("restore ../safe other");
    cli.ok("backup other ../safe");
    std::fs::remove_dir_all(cli.dir().join("teams/other")).unwrap();
    cli.ok("init other --members a,b");
    let fresh: Value = cli.json("backup other ../safe");
    has!(fresh, {"previous_seq": null}, "another log has a place of its own");
}

#[test]
fn a_directory_of_the_protocol_is_taken_over() {
    let cli = Cli::new();
    let put = |path: &str, text: &str| {
        let path = cli.dir().join("old").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(
        "inboxes/dev.jsonl",
        "{\"id\":\"m1\",\"type\":\"handoff\",\"from\":\"lead\",\"to\":\"dev\",\"created_at\":\"2026-01-01T09:00:00\"}\nbroken\n",
    );
    put(
        "events/2026-01-01.jsonl",
        "{\"kind\":\"message_acked\",\"created_at\":\"2026-01-01T10:00:00Z\",\"payload\":{\"message_id\":\"m1\",\"agent\":\"dev\"}}\n",
    );
    std::os::unix::fs::symlink("/etc/hostname", cli.dir().join("old/inboxes/evil.jsonl")).unwrap();
    let ran = cli.run("import t --team-chat old --strict --json");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let shown = cli.ok("import t --team-chat old");
    shows!(shown => has "inboxes/dev.jsonl line 2  malformed");
    assert!(shown.contains("inboxes/evil.jsonl"), "{shown}");
    let read: Value = cli.json("read t --agent dev --unread");
    assert_eq!(read["count"], 0, "it was acknowledged");
    cli.refused(1, "import t --team-chat old");
    cli.refused(74, "import u --team-chat nowhere");
}

fn check<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let checks = answer["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap()
}

/// Returns the answer of `doctor check`, even if the check finds problems.
fn doctor(cli: &Cli, more: &str) -> Value {
    let ran = cli.run(&format!("doctor check demo {more} --json"));
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Flips a bit of the event that contains `text`.
fn damage(cli: &Cli, text: &str) {
    let segment = cli.segment("demo");
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = bytes
        .windows(text.len())
        .position(|window| window == text.as_bytes());
    bytes[at.unwrap()] ^= 1;
    std::fs::write(segment, bytes).unwrap();
}

#[test]
fn the_doctor_names_the_backup_that_holds_what_is_lost() {
    for format in ["jsonl", "binary"] {
        let cli = lived(format);
        assert!(check(&doctor(&cli, ""), "backups")["summary"] == "none is known");
        cli.ok("backup demo ../early");
        let held: Value = cli.json("status demo");
        cli.ok("ack demo --agent dev --message-id m-1");
        let safe: Value = cli.json("backup demo '../safe place'");
        let old = safe["log"].as_str().unwrap().to_owned();
        cli.ok("ack demo --agent dev --message-id m-2");
        assert_eq!(held["last_seq"], 6);
        damage(&cli, "m-3");

        let answer = doctor(&cli, "");
        let found = check(&answer, "backups");
        assert_eq!(found["status"], "warn", "{found}");
        let place = cli.outside().join("safe place").canonicalize().unwrap();
        assert_eq!(
            (&found["details"]["seq"], &found["details"]["directory"]),
            (&7.into(), &place.to_str().unwrap().into())
        );
        let restore = found["recommendations"][0].as_str().unwrap().to_owned();
        assert!(
            answer["recommendations"]
                .as_array()
                .unwrap()
                .contains(&restore.clone().into()),
            "{answer}"
        );
        let typed = restore.strip_prefix("teamlog ").unwrap();
        let back: Value = cli.json(typed);
        has!(back, {"events": 7, "team": "demo-restored"});

        // A damaged backup is not proposed. The other backup also has the event.
        let events = place.join("demo").join(&old).join("events");
        let segment = std::fs::read_dir(events)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let sound = std::fs::read(&segment).unwrap();
        std::fs::write(&segment, &sound[..sound.len() - 9]).unwrap();
        let answer = doctor(&cli, "");
        assert_eq!(check(&answer, "backups")["details"]["seq"], 6, "{answer}");
        std::fs::write(&segment, &sound).unwrap();

        // A backup of the salvaged team does not replace the earlier backup.
        cli.ok_of_any_shape("rehydrate demo --salvage");
        let new: Value = cli.json("backup demo '../safe place'");
        assert_eq!(new["previous_seq"], Value::Null);
        let answer = doctor(&cli, "");
        let found = check(&answer, "backups");
        assert_eq!(found["status"], "healthy", "{found}");
        let summary = found["summary"].as_str().unwrap();
        shows!(summary => has "had lost event 5", has "up to event 7");
        let (_, typed) = summary.split_once("beside the team: teamlog ").unwrap();
        let back: Value = cli.json(typed);
        assert_eq!((&back["events"], back["log"] == *old), (&7.into(), false));
        cli.ok(&format!("verify demo --backup '../safe place' --log {old}"));
        cli.ok("verify demo --backup '../safe place'");
        let error = cli.refused(
            1,
            "restore '../safe place' third --from demo --log nonsense",
        );
        assert!(
            error.contains(&old) && error.contains("no backup of log"),
            "{error}"
        );
        let error = cli.refused(1, &format!("restore '../safe place' demo --log {old}"));
        shows!(error => has &format!("--from demo --log {old}"));
        // Restores to the original location after the team was removed.
        std::fs::remove_dir_all(cli.dir().join("teams/demo")).unwrap();
        let back: Value = cli.json(&format!("restore '../safe place' demo --log {old}"));
        has!(back, {"same_log": true, "log": old});
    }
}

#[test]
fn the_doctor_looks_where_it_is_told_to() {
    let cli = lived("jsonl");
    cli.ok("backup demo ../safe");
    std::fs::rename(cli.outside().join("safe"), cli.outside().join("moved")).unwrap();
    damage(&cli, "m-3");
    let found = doctor(&cli, "");
    let found = check(&found, "backups");
    assert_eq!(found["status"], "healthy", "{found}");
    assert_eq!(
        found["details"]["unusable"].as_array().unwrap().len(),
        1,
        "{found}"
    );
    let found = doctor(&cli, "--backup ../moved");
    let found = check(&found, "backups");
    has!(found, {"status": "warn", "/details/seq": 6});
}

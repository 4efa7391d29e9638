//! Moving a team: converted, backed up, restored, taken over from files.

use crate::harness::Cli;
use serde_json::Value;

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
    assert_eq!(
        (&done["status"], &done["events"]),
        (&"converted".into(), &6.into())
    );
    assert!(done["to"]["bytes"].as_u64().unwrap() < done["from"]["bytes"].as_u64().unwrap());
    assert_eq!(done["state_digest"], digest(&cli, "demo"));
    assert!(cli.ok("export demo").starts_with(&before.join("\n")));
    let shown = cli.ok("convert demo --to binary");
    assert!(shown.contains("is binary already"), "{shown}");
    let shown = cli.ok("convert demo --to jsonl");
    assert!(shown.contains("7 events in 7 groups copied"), "{shown}");
    assert!(shown.contains("  the original is in archive/"), "{shown}");
    assert!(cli.ok("verify demo").starts_with("ok: 8 events"));
    // The archived originals can be read by whoever knows the format.
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
        assert_eq!(
            (&first["seq"], &first["previous_seq"]),
            (&6.into(), &Value::Null)
        );
        assert_eq!(first["bytes"], first["bytes_copied"]);
        cli.file("receipt.json", &first["receipt"].to_string());
        cli.ok("verify demo --against receipt.json");
        let again: Value = cli.json("backup demo ../safe");
        assert_eq!(
            (&again["bytes_copied"], &again["previous_seq"]),
            (&0.into(), &6.into())
        );
        cli.ok("ack demo --agent dev --message-id m-1");
        let next: Value = cli.json("backup demo ../safe");
        let new = next["bytes"].as_u64().unwrap() - first["bytes"].as_u64().unwrap();
        assert_eq!(next["bytes_copied"], new);
        assert!(
            cli.ok("verify demo --backup ../safe")
                .starts_with("ok: 7 events")
        );
        let digest = digest(&cli, "demo");

        let error = cli.refused(1, "restore ../safe demo");
        assert!(error.contains("team must be new"), "{error}");
        std::fs::remove_dir_all(cli.dir().join("teams/demo")).unwrap();
        let back: Value = cli.json("restore ../safe demo");
        assert_eq!(
            (&back["events"], &back["same_log"]),
            (&7.into(), &true.into())
        );
        assert_eq!(back["state_digest"], self::digest(&cli, "demo"));
        assert_eq!(cli.ok("read demo --agent dev").matches("m-").count(), 4);
        cli.ok("verify demo --against receipt.json");
        // It goes on, and so does its backup.
        cli.ok("ack demo --agent dev --message-id m-2");
        let on: Value = cli.json("backup demo ../safe");
        assert_eq!((&on["seq"], &on["previous_seq"]), (&9.into(), &7.into()));
        assert_ne!(digest, Value::Null);

        // Damage in the backup is found, and not restored.
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
        assert!(error.contains("must lie outside the data root"), "{error}");
    }
    let error = cli.refused(1, "restore ../safe third");
    assert!(
        error.contains("it holds backups of: demo, other"),
        "{error}"
    );
    cli.refused(1, "restore ../nowhere demo");
    cli.refused(2, "backup demo");
    cli.refused(2, "backup --all demo ../safe");
    // A log that went another way is not backed up over the one that was.
    std::fs::remove_dir_all(cli.dir().join("teams/other")).unwrap();
    cli.ok("restore ../safe other");
    cli.ok("backup other ../safe");
    std::fs::remove_dir_all(cli.dir().join("teams/other")).unwrap();
    cli.ok("init other --members a,b");
    let fresh: Value = cli.json("backup other ../safe");
    assert_eq!(
        fresh["previous_seq"],
        Value::Null,
        "another log has a place of its own"
    );
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
    assert!(
        shown.contains("inboxes/dev.jsonl line 2  malformed"),
        "{shown}"
    );
    assert!(shown.contains("inboxes/evil.jsonl"), "{shown}");
    let read: Value = cli.json("read t --agent dev --unread");
    assert_eq!(read["count"], 0, "it was acknowledged");
    cli.refused(1, "import t --team-chat old");
    cli.refused(74, "import u --team-chat nowhere");
}

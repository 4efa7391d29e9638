//! `verify`, `head` and `rehydrate`, with damage and torn tails.

use crate::answers::{Head, Rehydrate, Sent, Status, Verify};
use crate::harness::{Cli, parse};
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};

fn history(cli: &Cli) {
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject S --trace-id tr");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --message-id m");
    cli.ok("ack demo --agent lead --message-id m");
}

#[test]
fn a_whole_log_verifies_and_live_equals_rebuilt() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        history(&cli);
        let verify: Verify = cli.json("verify demo");
        assert_eq!(
            (verify.ok, verify.events, verify.segments, verify.last_seq),
            (true, 4, 1, 4)
        );
        assert!(verify.problems.is_empty());
        assert_eq!(verify.bytes, cli.segment("demo").metadata().unwrap().len());
        let live: Status = cli.json("status demo --digest");
        let rebuilt: Rehydrate = cli.json("rehydrate demo");
        assert_eq!(
            (&*rebuilt.status, rebuilt.event_count, rebuilt.message_count),
            ("ok", 4, 2)
        );
        assert_eq!((rebuilt.ack_count, rebuilt.task_count), (1, 1));
        assert_eq!(live.state_digest.as_deref(), Some(&*rebuilt.state_digest));
        for workers in [1, 2, 5] {
            let again: Rehydrate = cli.json(&format!("rehydrate demo --workers {workers}"));
            assert_eq!(again.state_digest, rebuilt.state_digest);
        }
        let shown = cli.ok("rehydrate demo");
        shows!(shown => has "\n  events    4\n  messages  2\n  acks      1\n  tasks     1\n");
        shows!(cli.ok("verify demo") => starts "ok: 4 events in 1 segment, ");
    }
}

#[test]
fn derived_files_can_be_deleted_at_any_time() {
    let cli = Cli::with_team();
    history(&cli);
    cli.ok("rehydrate demo");
    let before: Status = cli.json("status demo --digest");
    for derived in ["derived", "tasks", "inboxes"] {
        std::fs::remove_dir_all(cli.dir().join("teams/demo").join(derived)).unwrap();
    }
    assert_eq!(cli.json::<Status>("status demo --digest"), before);
    cli.ok("rehydrate demo");
    assert!(cli.dir().join("teams/demo/tasks/T-1.json").is_file());
    assert!(cli.dir().join("teams/demo/inboxes/dev.jsonl").is_file());
}

#[test]
fn a_receipt_holds_until_history_is_changed() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        history(&cli);
        let receipt = cli.ok("head demo --json");
        let head: Head = parse(&receipt);
        assert_eq!((&*head.team, head.seq), ("demo", 4));
        assert_eq!(head.length, cli.segment("demo").metadata().unwrap().len());
        cli.file("receipt.json", &receipt);
        cli.ok("send demo --from lead --to dev --type handoff");
        assert!(cli.json::<Verify>("verify demo --against receipt.json").ok);

        cli.file(
            "forged.json",
            &receipt.replace(&head.digest, &"0".repeat(64)),
        );
        let ran = cli.run("verify demo --against forged.json --json");
        assert_eq!(ran.code, Some(65), "{ran:?}");
        assert!(!parse::<Verify>(&ran.stdout).ok);
    }
    let cli = Cli::with_team();
    cli.file("nonsense.json", "{}");
    shows!(cli.refused(1, "verify demo --against nonsense.json") => has "must be a receipt");
    shows!(cli.refused(1, "verify demo --against none.json") =>
        has "against file not found: none.json");
    assert!(cli.ok("head demo").contains("| b3sum\n"));
}

#[test]
fn damage_is_reported_with_file_and_offset_by_whoever_meets_it() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        history(&cli);
        let segment = cli.segment("demo");
        let mut bytes = std::fs::read(&segment).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x04;
        std::fs::write(&segment, &bytes).unwrap();
        let _ = std::fs::remove_dir_all(cli.dir().join("teams/demo/derived"));

        let ran = cli.run("verify demo --json");
        assert_eq!(ran.code, Some(65), "{ran:?}");
        let verify: Verify = parse(&ran.stdout);
        assert!(!verify.ok);
        let problem = &verify.problems[0];
        let name = segment.file_name().unwrap().to_str().unwrap();
        assert!(problem.file.ends_with(name), "{problem:?}");
        assert!(
            problem.offset <= middle as u64 && problem.severity == "error",
            "{problem:?}"
        );

        for line in [
            "send demo --from lead --to dev --type handoff",
            "rehydrate demo",
            "replay demo --reverse",
        ] {
            let ran = cli.run(&format!("{line} --json"));
            assert_eq!(ran.code, Some(65), "{line}: {ran:?}");
        }
        let error = cli.refused_json(65, "send demo --from lead --to dev --type handoff");
        assert_eq!(error.code, "damaged");
        assert!(error.details["file"].as_str().unwrap().ends_with(name));
        assert_eq!(error.details["offset"].as_u64(), Some(problem.offset));
        assert_eq!(error.hint.as_deref(), Some("teamlog verify demo"));
        assert_eq!(
            std::fs::read(&segment).unwrap(),
            bytes,
            "damage must stay as evidence"
        );
    }
}

#[test]
fn a_torn_tail_is_set_aside_and_said() {
    let cli = Cli::with_team();
    history(&cli);
    let segment = cli.segment("demo");
    let whole = segment.metadata().unwrap().len();
    let torn = b"{\"seq\":5,\"id\":\"half of an ev";
    OpenOptions::new()
        .append(true)
        .open(&segment)
        .unwrap()
        .write_all(torn)
        .unwrap();

    let ran = cli.run("verify demo --json");
    assert_eq!(
        ran.code,
        Some(0),
        "an unacknowledged tail is a warning: {ran:?}"
    );
    let verify: Verify = parse(&ran.stdout);
    assert_eq!(
        (
            verify.problems.len(),
            &*verify.problems[0].severity,
            verify.problems[0].offset
        ),
        (1, "warning", whole)
    );
    shows!(cli.run("verify demo").stdout => starts "ok, with warnings: ");

    let ran = cli.run("send demo --from lead --to dev --type handoff --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        parse::<Sent>(&ran.stdout).event.seq,
        6,
        "behind the event about the tail"
    );
    shows!(ran.stderr => starts "{\"note\":\"", has "quarantine");
    let kept = std::fs::read_dir(cli.dir().join("teams/demo/quarantine")).unwrap();
    let kept: Vec<Vec<u8>> = kept
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(kept, [torn.to_vec()]);
    assert!(cli.json::<Verify>("verify demo").problems.is_empty());
    let shown = cli.ok("replay demo --kind log_tail_quarantined");
    shows!(shown => has &format!("set aside: {} bytes of ", torn.len()));
}

#[test]
fn a_file_of_a_newer_format_is_refused() {
    let cli = Cli::with_team();
    let log = cli.dir().join("teams/demo/log.json");
    let text = std::fs::read_to_string(&log).unwrap();
    let newer = text.replacen("\"version\":1", "\"version\":9", 1);
    assert_ne!(text, newer, "{text}");
    let mut file = OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(&log)
        .unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(newer.as_bytes()).unwrap();
    let ran = cli.run("status demo --json");
    assert!(matches!(ran.code, Some(1 | 65)), "{ran:?}");
    assert!(
        ran.stderr.contains("unsupported_format") || ran.stderr.contains("crc"),
        "{ran:?}"
    );
}

#[test]
fn recovery_is_said_by_whoever_does_it_also_where_the_command_is_refused() {
    let cli = Cli::with_team();
    history(&cli);
    cli.file(
        "stale.jsonl",
        r#"{"id":"s","type":"handoff","from":"dev","to":"qa","created_at":"2020-01-01T00:00:00Z"}"#,
    );
    for (code, line) in [
        (0, "read demo --agent dev"),
        (0, "status demo"),
        (0, "trace demo --trace-id tr"),
        (0, "replay demo"),
        (0, "replay demo --reverse"),
        (0, "tasks demo"),
        (0, "task show demo T-1"),
        (0, "head demo"),
        (0, "export demo"),
        (0, "rehydrate demo"),
        (0, "init demo"),
        (1, "read demo --agent nobody"),
        (1, "task show demo T-9"),
        (1, "send demo --from nobody --to dev --type handoff"),
        (1, "import demo --messages stale.jsonl"),
    ] {
        tear(&cli);
        let ran = cli.run(line);
        assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
        let said: Vec<&str> = ran.stderr.lines().collect();
        assert!(
            said[0].starts_with("note: moved 4 bytes of an unfinished write"),
            "{line}: {ran:?}"
        );
        assert_eq!(said.len() > 1, code == 1, "{line}: {ran:?}");
        assert!(
            code == 0 || said[1].starts_with("error: "),
            "{line}: {ran:?}"
        );
        assert!(!cli.run(line).stderr.contains("note:"), "{line}: said once");
    }
}

fn tear(cli: &Cli) {
    let mut segment = OpenOptions::new()
        .append(true)
        .open(cli.segment("demo"))
        .unwrap();
    segment.write_all(b"torn").unwrap();
}

#[test]
fn damage_that_verify_itself_cannot_pass_does_not_send_people_to_verify() {
    let cli = Cli::with_team();
    std::fs::write(cli.dir().join("teams/demo/log.json"), "{}").unwrap();
    let error = cli.refused_json(65, "status demo");
    assert_eq!(error.hint.as_deref(), Some("teamlog verify demo"));
    let error = cli.refused_json(65, "verify demo");
    assert!(error.hint.unwrap().starts_with("restore "));
}

#[test]
fn a_team_without_its_identity_is_damaged_and_not_unknown() {
    let cli = Cli::with_team();
    std::fs::remove_file(cli.dir().join("teams/demo/log.json")).unwrap();
    for line in [
        "status demo",
        "send demo --from lead --to dev --type handoff",
    ] {
        let ran = cli.run(line);
        assert_eq!(ran.code, Some(65), "{ran:?}");
        assert!(ran.stderr.contains("log.json"), "{ran:?}");
    }
    let ran = cli.run("backup --all ../backups");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    cli.ok("rehydrate demo --salvage");
    cli.ok("status demo");
}

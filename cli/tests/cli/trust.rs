//! Receipts and signed heads: their signer, their validity, and the answers to a client that
//! presents its last receipt.

use crate::answers::{Head, Sent, Verify};
use crate::harness::ErrorBody;
use crate::prelude::*;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use teamlog_team::engine::Format;
use teamlog_team::engine::internals::codec::{self, SegmentHeader};

fn history(cli: &Cli) {
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject S --trace-id tr");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --message-id m");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns every file below a directory with its content.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(tree(&path)),
            false => drop(files.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    files
}

fn put_back(team: &Path, kept: &BTreeMap<PathBuf, Vec<u8>>) {
    let _ = fs::remove_dir_all(team);
    for (path, bytes) in kept {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Runs a command that must exit with 65 and change nothing.
#[track_caller]
fn stopped(cli: &Cli, line: &str) -> ErrorBody {
    let teams = cli.dir().join("teams");
    let before = tree(&teams);
    let error = cli.refused_json(65, line);
    assert_eq!(tree(&teams), before, "{line} wrote something");
    error
}

#[test]
fn a_pair_of_keys_is_made_once_and_the_secret_one_is_shown_to_nobody() {
    let cli = Cli::new();
    let ran = cli.run("keygen --out auditor --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answer: Value = parse(&ran.stdout);
    has!(answer, {"status": "ok", "public_key_file": "auditor.pub"});
    assert_eq!(answer["public_key"].as_str().unwrap().len(), 64);
    let (secret, public) = (cli.dir().join("auditor"), cli.dir().join("auditor.pub"));
    assert_eq!((mode(&secret), mode(&public) & 0o600), (0o600, 0o600));
    let (secret_text, public_text) = (
        fs::read_to_string(&secret).unwrap(),
        fs::read_to_string(&public).unwrap(),
    );
    let body = secret_text.lines().nth(1).unwrap();
    assert!(!ran.stdout.contains(&body[20..]) && !public_text.contains(&body[20..]));

    shows!(cli.refused_json(1, "keygen --out auditor").code => is "key_exists");
    fs::remove_file(&secret).unwrap();
    // `keygen` refuses if one file of a key pair exists, and does not write the other file.
    shows!(cli.refused_json(1, "keygen --out auditor").code => is "key_exists");
    assert!(!secret.exists());
    assert_eq!(fs::read_to_string(&public).unwrap(), public_text);
    fs::write(&secret, "precious").unwrap();
    cli.refused(1, "keygen --out auditor");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "precious");
    std::os::unix::fs::symlink("elsewhere", cli.dir().join("link")).unwrap();
    cli.refused(1, "keygen --out link");
    assert!(!cli.dir().join("elsewhere").exists());
    shows!(cli.refused(1, "keygen --out none/key") => has "directory");
    cli.ok("keygen --out another");
    assert_ne!(
        fs::read_to_string(cli.dir().join("another.pub")).unwrap(),
        public_text
    );
}

#[test]
fn a_signed_head_tells_a_changed_log_a_changed_receipt_and_a_changed_signature_apart() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        history(&cli);
        cli.ok("keygen --out key");
        cli.ok("keygen --out other");
        let signed = cli.ok("head demo --sign key --json");
        cli.file("signed.json", &signed);
        cli.ok("send demo --from lead --to dev --type handoff");
        let check = |key: &str, file: &str| format!("verify demo --against {file} --key {key}");
        assert!(cli.json::<Verify>(&check("key.pub", "signed.json")).ok);
        let said = cli.ok(&check("key.pub", "signed.json"));
        let fields: Value = parse(&signed);
        let by = fields["public_key"].as_str().unwrap();
        shows!(said => ends &format!("  receipt signed by {by}\n"));
        assert!(cli.ok("head demo --sign key").contains(by));
        // Without `--key`, the key in the receipt checks the signature, and the answer says so.
        let unnamed = cli.ok("verify demo --against signed.json");
        shows!(unnamed => has &format!("  receipt signed by {by}, which you did not name"));
        let answer: Value = parse(&cli.ok("verify demo --against signed.json --json"));
        has!(answer, {"ok": true, "signed_by": by, "team_signed": true});

        let refused = |key: &str, text: &str| {
            cli.file("changed.json", text);
            cli.refused_json(1, &check(key, "changed.json")).code
        };
        shows!(refused("key.pub", &cli.ok("head demo --json")) => is "signature_missing");
        assert_eq!(refused("other.pub", &signed), "signed_by_another_key");
        let with = |name: &str, value: Value| {
            let mut changed = fields.clone();
            changed[name] = value;
            changed.to_string()
        };
        shows!(refused("key.pub", &with("seq", 2.into())) => is "signature_invalid");
        shows!(refused("key.pub", &with("digest", "0".repeat(64).into())) =>
            is "signature_invalid");
        shows!(refused("key.pub", &with("signature", "0".repeat(128).into())) =>
            is "signature_invalid");
        shows!(refused("key.pub", &with("signature", 7.into())) => is "invalid_input");
        assert_eq!(
            refused("key", &signed),
            "invalid_input",
            "the secret key is no public one"
        );
        shows!(refused("key.pub", &with("team", "another".into())) => is "signature_invalid");
        for (field, value) in cases![
            ("seq" => json!(2)),
            ("team" => json!("another")),
            ("signature" => json!("0".repeat(128))),
            ("public_key" => json!("0".repeat(64))),
        ] {
            let changed = with(field, value);
            cli.file("changed.json", &changed);
            for line in [
                "verify demo --against changed.json",
                "status demo --last-receipt @changed.json",
                "send demo --from lead --to dev --type handoff --last-receipt @changed.json",
            ] {
                shows!(stopped(&cli, line).code => is "signature_invalid");
            }
        }
        cli.ok("status demo --last-receipt @signed.json");

        let segment = cli.segment("demo");
        let mut bytes = fs::read(&segment).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x04;
        fs::write(&segment, bytes).unwrap();
        let ran = cli.run(&format!("{} --json", check("key.pub", "signed.json")));
        assert_eq!(ran.code, Some(65), "{ran:?}");
        let kinds: Vec<String> = parse::<Verify>(&ran.stdout)
            .problems
            .into_iter()
            .map(|problem| problem.kind)
            .collect();
        assert!(
            kinds.contains(&"changed_since_receipt".to_owned()),
            "{kinds:?}"
        );
    }
    let cli = Cli::with_team();
    shows!(cli.refused(2, "verify demo --key key.pub") => has "--against");
}

#[test]
fn a_key_that_others_may_read_signs_nothing() {
    let cli = Cli::with_team();
    cli.ok("keygen --out key");
    let key = cli.dir().join("key");
    for mode in [0o640, 0o604, 0o666] {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        shows!(cli.refused_json(1, "head demo --sign key").code => is "key_exposed");
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o400)).unwrap();
    cli.ok("head demo --sign key");
    shows!(cli.refused(1, "head demo --sign none") => has "key file not found");
    fs::set_permissions(
        cli.file("text", "no key"),
        fs::Permissions::from_mode(0o600),
    )
    .unwrap();
    shows!(cli.refused_json(1, "head demo --sign text").code => is "invalid_input");
}

/// Returns the signed bytes as docs/format.md defines them, without the code under test.
fn documented_bytes(head: &Value) -> String {
    let text = |name: &str| head[name].as_str().unwrap().to_owned();
    format!(
        "teamlog receipt 2\nteam {}\nlog {}\nseq {}\nsegment {}\nlength {}\ndigest {}\n",
        text("team"),
        text("log"),
        head["seq"],
        text("segment"),
        head["length"],
        text("digest")
    )
}

#[test]
fn openssl_checks_our_signatures_and_makes_keys_for_us() {
    let openssl = |cli: &Cli, line: &str| {
        let mut command = Command::new("openssl");
        command.args(line.split(' ')).current_dir(cli.dir());
        command.output().ok().map(|output| output.status.success())
    };
    let cli = Cli::with_team();
    history(&cli);
    if openssl(&cli, "genpkey -algorithm ed25519 -out theirs") != Some(true) {
        eprintln!("skipped: there is no openssl that knows ed25519");
        return;
    }
    assert_eq!(
        openssl(&cli, "pkey -in theirs -pubout -out theirs.pub"),
        Some(true)
    );
    let theirs = fs::Permissions::from_mode(0o600);
    fs::set_permissions(cli.dir().join("theirs"), theirs).unwrap();
    cli.ok("keygen --out ours");
    for key in ["ours", "theirs"] {
        let signed = cli.ok(&format!("head demo --sign {key} --json"));
        let head: Value = parse(&signed);
        let signature = head["signature"].as_str().unwrap();
        let bytes: Vec<u8> = (0..signature.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&signature[at..at + 2], 16).unwrap())
            .collect();
        fs::write(cli.dir().join("signature"), bytes).unwrap();
        cli.file("message", &documented_bytes(&head));
        let check = format!(
            "pkeyutl -verify -pubin -inkey {key}.pub -rawin -in message -sigfile signature"
        );
        assert_eq!(openssl(&cli, &check), Some(true), "{key}");
        cli.file(
            "message",
            &documented_bytes(&head).replace("seq 3", "seq 2"),
        );
        assert_eq!(openssl(&cli, &check), Some(false), "{key}");
        cli.file("signed.json", &signed);
        cli.ok(&format!(
            "verify demo --against signed.json --key {key}.pub"
        ));
    }
}

#[test]
fn what_records_something_gives_a_receipt_for_it_if_asked() {
    let cli = Cli::new();
    cli.file(
        "batch.jsonl",
        "{\"kind\":\"x_one\"}\n{\"kind\":\"x_two\"}\n",
    );
    cli.file(
        "mail.jsonl",
        r#"{"id":"old","type":"handoff","from":"dev","to":"qa","created_at":"2020-01-01T00:00:00Z"}"#,
    );
    for (seq, line) in cases![
        (1 => "init demo --members lead,dev,qa"),
        (1 => "init demo"),
        (2 => "send demo --from lead --to dev --type handoff --message-id m"),
        (3 => "send demo --from lead --to dev --type handoff --message-id m"),
        (4 => "ack demo --agent dev --message-id m"),
        (5 => "task-assign demo --from lead --to dev --task-id T-1 --subject S"),
        (6 => "task-update demo --from dev --to lead --task-id T-1 --status done"),
        (7 => "append demo --kind x_happened"),
        (9 => "append demo --batch batch.jsonl"),
    ] {
        let ran = cli.run(&format!("{line} --receipt --json"));
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {ran:?}");
        let answer: Value = parse(&ran.stdout);
        assert_eq!(answer["receipt"]["seq"], seq, "{line}");
        assert!(
            ran.stdout.contains(",\"receipt\":{\"log\":"),
            "{line}: it stands behind"
        );
        cli.file("answer.json", &ran.stdout);
        assert!(
            cli.json::<Verify>("verify demo --against answer.json").ok,
            "{line}"
        );
    }
    // A rejection is recorded, so its answer has a receipt.
    let ran = cli.run("ack demo --agent qa --message-id m --receipt --json");
    assert_eq!(ran.code, Some(1));
    assert_eq!(parse::<Value>(&ran.stdout)["receipt"]["seq"], 10);
    let imported: Value = parse(&cli.ok("import old --messages mail.jsonl --receipt --json"));
    let length = fs::metadata(cli.segment("old")).unwrap().len();
    assert_eq!(imported["receipt"]["length"], length);

    let shown = cli.ok("send demo --from lead --to dev --type handoff --receipt");
    let (_, receipt) = shown.trim_end().rsplit_once("\n  receipt: ").unwrap();
    assert_eq!(parse::<Value>(&format!("{receipt}\n"))["seq"], 11);
    for line in ["status demo", "read demo --agent dev", "tasks demo"] {
        assert_eq!(
            cli.ok(&format!("{line} --receipt --json")).find("receipt"),
            None
        );
        assert_eq!(cli.ok(&format!("{line} --json")).find("receipt"), None);
    }
}

#[test]
fn a_client_goes_on_with_its_last_receipt() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        history(&cli);
        let mut last = cli.ok("head demo --json");
        for _ in 0..3 {
            let line = "send demo --from lead --to dev --type handoff --receipt --json";
            cli.file("last.json", &last);
            last = cli.ok(&format!("{line} --last-receipt @last.json"));
            cli.ok("append demo --kind x_by_somebody_else");
        }
        let receipt = parse::<Value>(&last)["receipt"].to_string();
        cli.ok(&format!("status demo --last-receipt '{receipt}'"));
        cli.ok(&format!("--last-receipt '{receipt}' verify demo"));
    }
}

#[test]
fn a_team_that_was_put_back_is_noticed_before_anything_is_written() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        history(&cli);
        let team = cli.dir().join("teams/demo");
        let kept = tree(&team);
        let sent: Value = parse(&cli.ok(
            "send demo --from lead --to dev --type handoff --message-id lost --receipt --json",
        ));
        let receipt = sent["receipt"].to_string();
        put_back(&team, &kept);
        // A writer or reader would move a torn tail to quarantine. Here the torn tail stays in place.
        let mut segment = fs::OpenOptions::new()
            .append(true)
            .open(cli.segment("demo"))
            .unwrap();
        segment.write_all(b"torn").unwrap();
        for line in [
            "send demo --from lead --to dev --type handoff",
            "ack demo --agent lead --message-id m",
            "append demo --kind x_happened",
            "init demo --members eve",
            "status demo",
            "trace demo --trace-id tr",
            "rehydrate demo",
        ] {
            let error = stopped(&cli, &format!("{line} --last-receipt '{receipt}'"));
            assert_eq!(error.code, "rolled_back", "{line}");
            assert_eq!(error.field.as_deref(), Some("last_receipt"));
            assert_eq!(
                (&error.details["receipt_seq"], &error.details["last_seq"]),
                (&Value::from(4), &Value::from(3))
            );
            assert!(
                error.message.contains("ends with event 3"),
                "{}",
                error.message
            );
            assert!(error.hint.unwrap().contains("teamlog verify demo"));
        }

        // Other writers continue from the older state, beyond the seq of the receipt.
        for _ in 0..3 {
            let ran = cli.run("append demo --kind x_by_somebody_else --actor eve");
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
        let error = stopped(
            &cli,
            &format!("send demo --from lead --to dev --type handoff --last-receipt '{receipt}'"),
        );
        assert_eq!(error.code, "changed_since_receipt");
    }
}

#[test]
fn what_became_of_the_log_is_told_apart() {
    let cli = Cli::with_team();
    history(&cli);
    let head = cli.json::<Head>("head demo");
    let receipt = cli.ok("head demo --json");
    let receipt = receipt.trim_end();
    let send = format!("send demo --from lead --to dev --type handoff --last-receipt '{receipt}'");
    let team = cli.dir().join("teams/demo");
    let kept = tree(&team);

    let segment = cli.segment("demo");
    let file = fs::OpenOptions::new().write(true).open(&segment).unwrap();
    file.set_len(head.length - 1).unwrap();
    assert_eq!(stopped(&cli, &send).code, "cut_below_receipt");
    put_back(&team, &kept);

    cli.ok("init other --members lead,dev");
    let error = stopped(&cli, &send.replace("send demo", "send other"));
    assert_eq!(error.code, "receipt_of_another_log");

    fs::remove_dir_all(&team).unwrap();
    assert_eq!(stopped(&cli, &send).code, "rolled_back");
    let init = format!("init demo --members lead --last-receipt '{receipt}'");
    assert_eq!(stopped(&cli, &init).code, "rolled_back");
    put_back(&team, &kept);
    cli.ok(&send);

    for (text, code) in [
        ("{}", "invalid_input"),
        ("nonsense", "invalid_input"),
        ("@none.json", "invalid_input"),
    ] {
        let line = format!("status demo --last-receipt '{text}'");
        assert_eq!(cli.refused_json(1, &line).code, code, "{text}");
    }
    let elsewhere = receipt.replace(&head.segment, "../../../etc/passwd");
    let line = format!("status demo --last-receipt '{elsewhere}'");
    assert_eq!(cli.refused_json(1, &line).field.as_deref(), Some("segment"));
}

#[test]
fn a_head_that_lags_behind_the_bytes_is_no_rollback() {
    let cli = Cli::with_team();
    history(&cli);
    let head = cli.dir().join("teams/demo/head");
    let older = fs::read(&head).unwrap();
    let sent: Value =
        parse(&cli.ok("send demo --from lead --to dev --type handoff --receipt --json"));
    // This is a possible state after a power loss: the synced events exist, but the head is older.
    fs::write(&head, older).unwrap();
    let line = "send demo --from lead --to dev --type handoff --json --last-receipt";
    let ran = cli.run(&format!("{line} '{}'", sent["receipt"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(parse::<Sent>(&ran.stdout).event.seq, 5);
}

/// Changes an event of a segment. The event keeps its length, and its CRC is valid.
fn change_an_event(path: &Path, format: Format) {
    let bytes = fs::read(path).unwrap();
    let (_, mut at) = SegmentHeader::decode(format, &bytes).unwrap();
    let (mut forged, mut group) = (bytes[..at].to_vec(), Vec::new());
    while at < bytes.len() {
        let frame = codec::decode(format, &bytes[at..]).unwrap();
        at += frame.len;
        let mut event = frame.event.into_owned();
        event.payload = event.payload.replace("true story", "fake story").into();
        group.push(event);
        if frame.group.index + 1 == frame.group.len {
            codec::encode_group(format, &std::mem::take(&mut group), &mut forged);
        }
    }
    assert_eq!(forged.len(), bytes.len());
    assert_ne!(forged, bytes);
    fs::write(path, forged).unwrap();
}

#[test]
fn a_sealed_segment_that_was_changed_is_noticed_though_its_checksums_fit() {
    for format in [Format::Jsonl, Format::Binary] {
        let cli = Cli::new();
        let line = |day: u32| {
            format!(
                "{{\"id\":\"m{day}\",\"type\":\"handoff\",\"from\":\"lead\",\"to\":\"dev\",\
                 \"created_at\":\"2026-01-0{day}T09:00:00\",\"payload\":{{\"note\":\"a true story\"}}}}\n"
            )
        };
        cli.file("mail.jsonl", &(1..5).map(line).collect::<String>());
        cli.ok(&format!(
            "import old --messages mail.jsonl --format {}",
            format.name()
        ));
        let receipt = cli.ok("head old --json");
        cli.file("receipt.json", &receipt);
        let presented = "--last-receipt @receipt.json";
        // Run `status` twice with a pause. The first run stores no digest of a file that was
        // changed just now; the second run stores all digests.
        cli.ok(&format!("status old {presented}"));
        std::thread::sleep(std::time::Duration::from_millis(20));
        cli.ok(&format!("status old {presented}"));
        let digests = cli.dir().join("teams/old/digests");
        assert_eq!(
            fs::read_to_string(&digests)
                .unwrap()
                .matches("blake3")
                .count(),
            3
        );

        let segment = cli.dir().join(format!(
            "teams/old/events/2026-01-02.{}",
            format.extension()
        ));
        change_an_event(&segment, format);
        assert!(
            cli.ok("replay old --json").contains("a fake story"),
            "every event reads"
        );
        for line in ["status old", "send old --from lead --to dev --type handoff"] {
            let error = stopped(&cli, &format!("{line} {presented}"));
            assert_eq!(error.code, "changed_since_receipt", "{line}");
            assert!(error.message.contains("2026-01-02"), "{}", error.message);
        }
        for line in [
            "rehydrate old",
            "backup old ../safe",
            "verify old --against receipt.json",
        ] {
            let ran = cli.run(line);
            assert_eq!(ran.code, Some(65), "{line}: {ran:?}");
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(said.contains("2026-01-0"), "{line}: {said}");
        }
        assert!(!cli.outside().join("safe/old/backup.json").exists());
        let shown = cli.ok_of_any_shape("rehydrate old --salvage");
        shows!(shown => has "2026-01-02", has "differs from its description");
        cli.ok("rehydrate old");
        cli.ok("backup old ../safe");
    }
}

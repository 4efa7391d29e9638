//! Commands whose daemon is missing, ends during the call, or is another program.

use crate::daemon::Daemon;
use crate::harness::{Cli, ErrorBody, Ran, parse};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_daemon_that_was_killed_is_not_waited_for() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    cli.ok("tick demo");
    daemon.kill();
    assert!(cli.dir().join("teams/demo/runtime.json").exists());
    cli.ok("append demo --kind done_alone");
    let daemon = Daemon::of(&cli);
    cli.ok("append demo --kind done_together");
    let stopped: Value = parse(&cli.ok("serve --stop --json"));
    assert_eq!(stopped["status"], "stopped");
    let (code, said) = daemon.ended();
    assert_eq!((code, &*said), (Some(0), ""));
    assert!(!cli.dir().join("teams/demo/runtime.json").exists());
    cli.ok("append demo --kind done_alone_again");
    let export = cli.ok("replay demo --json");
    assert_eq!(export.lines().count(), 4, "{export}");
    cli.ok("verify demo");
}

/// A suspended daemon holds the team's lock and does not answer.
#[test]
fn a_stopped_daemon_is_waited_for_no_longer_than_a_lock() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    cli.ok("tick demo");
    daemon.suspend();
    let begun = Instant::now();
    let ran = cli.run("append demo --kind waited --lock-timeout 0.5");
    let waited = begun.elapsed();
    daemon.resume();
    assert_eq!(ran.code, Some(69), "{ran:?}");
    assert!(ran.stderr.contains("does not answer"), "{ran:?}");
    // The default limit of the wait is ten seconds.
    assert!(waited < Duration::from_secs(9), "{waited:?}");
    cli.ok("append demo --kind afterwards");
    assert_eq!(cli.ok("replay demo --json --kind waited"), "");
}

#[test]
fn a_daemon_that_goes_in_the_middle_leaves_the_outcome_unknown() {
    let cli = Cli::with_team();
    for json in [false, true] {
        let daemon = Daemon::of(&cli);
        let flag = if json { "--json" } else { "" };
        let waiting = cli
            .command(&format!(
                "send demo --from lead --to dev --type handoff --wait --message-id m-{json} {flag}"
            ))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A recorded message shows that the daemon received the call.
        let sent = || {
            cli.ok("replay demo --json --kind message_sent")
                .contains(&format!("m-{json}"))
        };
        while !sent() {
            thread::yield_now();
        }
        daemon.kill();
        let ran = Ran::from_output(waiting.wait_with_output().unwrap());
        assert_eq!((ran.code, &*ran.stdout), (Some(74), ""), "{ran:?}");
        assert!(ran.stderr.contains("unknown"), "{ran:?}");
        if json {
            #[derive(serde::Deserialize)]
            struct Line {
                error: ErrorBody,
            }
            let line: Line = parse(&ran.stderr);
            assert_eq!(line.error.code, "outcome_unknown");
        }
    }
    cli.ok("append demo --kind afterwards");
}

/// Reply that accepts the call, followed by bytes that no daemon sends.
const BABBLE: &str = "HTTP/1.1 101 Yes\r\n\r\n\u{7f}\u{7f}\u{7f}\u{7f}";

#[test]
fn the_advice_fits_what_makes_a_command_repeatable() {
    let cli = Cli::with_team();
    cli.file("facts.jsonl", "{\"kind\":\"seen\"}\n");
    cli.file("keyed.jsonl", "{\"kind\":\"seen\",\"key\":\"k\"}\n");
    let (same, key, id) = (
        "repeat the same command:",
        "the same key:",
        "the same --message-id:",
    );
    let (look, look_key, look_id) = (
        "before you repeat the command, check whether it was recorded\nteamlog replay demo",
        "Next time pass a key:",
        "Next time pass --message-id:",
    );
    for (line, advice) in [
        ("append demo --kind done --key k", key),
        ("append demo --kind done", look),
        ("append demo --batch facts.jsonl", look),
        ("append demo --batch keyed.jsonl", key),
        ("config set demo members.open true", same),
        ("config unset demo members.open", same),
        ("ack demo --agent dev --message-id m-1", same),
        ("dead-letter requeue demo --message-id m-1", same),
        ("dead-letter requeue demo --id d-1", same),
        ("task reopen demo T-1 --worker lead --key k", key),
        ("task reopen demo T-1 --worker lead", look_key),
        (
            "send demo --from lead --to dev --type handoff --message-id m-1",
            id,
        ),
        ("send demo --from lead --to dev --type handoff", look_id),
        ("init demo", same),
        ("tick demo", same),
    ] {
        let served = impostor(&cli, BABBLE);
        let error = cli.refused_json(74, line);
        served.join().unwrap();
        assert_eq!(error.code, "outcome_unknown", "{line}");
        let hint = error.hint.unwrap();
        assert!(hint.contains(advice), "{line}: {hint}");
    }
    assert_eq!(cli.ok("replay demo --json").lines().count(), 1);
}

#[test]
fn a_command_on_the_whole_log_is_carried_out_here_whatever_becomes_of_the_daemon() {
    let cli = Cli::with_team();
    let served = impostor(&cli, BABBLE);
    cli.ok("rehydrate demo");
    served.join().unwrap();
    let daemon = Daemon::of(&cli);
    cli.ok("append demo --kind by_the_daemon");
    // These commands run in the caller's process even if a daemon runs. The daemon then continues with the changed log.
    for line in [
        "convert demo --to binary",
        "doctor repair demo --to 1 --yes",
    ] {
        cli.ok_of_any_shape(line);
        cli.ok("append demo --kind afterwards");
    }
    let kinds = cli.ok("replay demo --json");
    assert!(!kinds.contains("by_the_daemon"), "{kinds}");
    assert!(kinds.contains("afterwards"), "{kinds}");
    let rebuilt: Value = parse(&cli.ok("verify demo --json"));
    assert_eq!(rebuilt["ok"], true, "{rebuilt}");
    drop(daemon);
}

/// Opens a connection that makes the daemon release the team while the connection is open. Returns the connection and the
/// daemon's reply.
fn gave_way(cli: &Cli, daemon: &Daemon) -> (UnixStream, Vec<u8>) {
    let root = cli.dir().metadata().unwrap();
    let root = json!([root.dev(), root.ino()]);
    let request = json!({"root": root, "team": "demo", "wanted": "GiveWay"}).to_string();
    let version = env!("CARGO_PKG_VERSION");
    let head = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: teamlog-forward/2\r\n\
         teamlog-version: {version}\r\n\r\n"
    );
    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.extend_from_slice(&byte);
    }
    let length = u32::try_from(request.len()).unwrap();
    stream.write_all(&length.to_le_bytes()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut reply = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut reply).unwrap();
    (stream, reply)
}

#[test]
fn a_daemon_keeps_off_a_team_for_as_long_as_whoever_asked_for_it_is_there() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    cli.ok("append demo --kind by_the_daemon");
    let (connection, reply) = gave_way(&cli, &daemon);
    assert_eq!(reply, b"\"GaveWay\"");
    // The lock is free, but the daemon does not take it.
    let refused = cli.refused_json(75, "append demo --kind meanwhile --lock-timeout 0");
    assert_eq!(refused.code, "locked");
    cli.ok("rehydrate demo");
    drop(connection);
    cli.ok("append demo --kind afterwards");
    // An open connection does not delay a stop.
    let (_connection, _) = gave_way(&cli, &daemon);
    cli.ok("serve --stop");
    assert_eq!(daemon.ended().0, Some(0));
    cli.ok("verify demo");
}

/// Listens in the place of the daemon, and answers one connection with `answer`.
fn impostor(cli: &Cli, answer: &'static str) -> thread::JoinHandle<()> {
    let socket = cli.dir().join("socket");
    let _ = std::fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    let runtime = json!({
        "url": "http://127.0.0.1:1", "token": "t", "pid": 1, "schemaVersion": "1.0.0",
        "socket": socket, "version": "9.9.9", "teamId": "demo", "startedAt": "x"
    });
    let file = cli.dir().join("teams/demo/runtime.json");
    // The rename makes the whole file appear at once, readable only by its owner.
    let aside = cli.dir().join("aside");
    std::fs::write(&aside, runtime.to_string()).unwrap();
    std::fs::set_permissions(&aside, PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::rename(&aside, &file).unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend_from_slice(&byte);
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.contains("Upgrade: teamlog-forward/2\r\n"), "{head}");
        stream.write_all(answer.as_bytes()).unwrap();
        if answer.starts_with("HTTP/1.1 101") {
            // Read the first byte of the call before closing the connection.
            stream.read_exact(&mut [0]).unwrap();
        }
    })
}

#[test]
fn a_daemon_of_another_version_is_told_from_one_that_is_none() {
    let cli = Cli::with_team();
    let mismatch = "HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n";
    for (answer, exit, code) in [
        (mismatch, 69, "daemon_version_mismatch"),
        ("HTTP/1.1 503 Busy\r\n\r\n", 75, "busy"),
        ("HTTP/1.1 404 Not Found\r\n\r\n", 69, "daemon_unreachable"),
        ("SSH-2.0-OpenSSH\r\n\r\n", 69, "daemon_unreachable"),
        // A program that accepts the call like a daemon, and then sends bytes that no daemon sends.
        (
            "HTTP/1.1 101 Yes\r\n\r\n\u{1}\0\0\0\u{63}",
            74,
            "outcome_unknown",
        ),
        (
            "HTTP/1.1 101 Yes\r\n\r\n\u{7f}\u{7f}\u{7f}\u{7f}",
            74,
            "outcome_unknown",
        ),
    ] {
        let served = impostor(&cli, answer);
        let refused = cli.refused_json(exit, "tick demo --lock-timeout 0");
        assert_eq!(refused.code, code, "{answer}: {refused:?}");
        served.join().unwrap();
    }
    // `api` exits with 1 for every refusal, and prints the error in its envelope.
    let served = impostor(&cli, mismatch);
    let ran = cli.run("api create-task --input '{\"team_name\":\"demo\",\"subject\":\"S\",\"description\":\"D\"}' --json");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let envelope: Value = parse(&ran.stdout);
    assert_eq!(envelope["operation"], "create-task", "{ran:?}");
    let error = &envelope["error"];
    assert_eq!(error["code"], "operation_failed", "{ran:?}");
    assert_eq!(error["details"]["code"], "daemon_version_mismatch");
    served.join().unwrap();
    // A daemon that closes the connection at once has not taken the call, so the command runs in its own process.
    let served = impostor(&cli, "");
    cli.ok("tick demo");
    served.join().unwrap();
    assert_eq!(cli.ok("replay demo --json").lines().count(), 1);
}

#[test]
fn a_daemon_that_came_while_the_lock_was_waited_for_is_found() {
    thread::scope(|scope| {
        for line in [
            "append demo --kind waited",
            "rehydrate demo",
            "rehydrate demo --salvage",
            "convert demo --to binary",
            "doctor repair demo --to 1 --yes",
        ] {
            scope.spawn(|| is_found_while_waiting(line));
        }
    });
}

/// Checks that a command that waits for the lock finds a daemon that starts during the wait.
#[track_caller]
fn is_found_while_waiting(line: &str) {
    let cli = Cli::with_team();
    let lock = std::fs::File::options()
        .write(true)
        .open(cli.dir().join("teams/demo/lock"))
        .unwrap();
    lock.lock().unwrap();
    let mut waiting = cli
        .command(&format!("{line} --lock-timeout 3 --json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command first looks for a daemon. Then it opens the lock file, and keeps the file open
    // while it waits for the lock.
    let open = format!("/proc/{}/fd", waiting.id());
    let waits = || {
        let files = std::fs::read_dir(&open).unwrap();
        let mut names = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        names.any(|name| name.ends_with("teams/demo/lock"))
    };
    while !waits() {
        assert!(
            waiting.try_wait().unwrap().is_none(),
            "{line}: it did not wait"
        );
        thread::yield_now();
    }
    let served = impostor(&cli, "HTTP/1.1 409 Conflict\r\n\r\n");
    let ran = Ran::from_output(waiting.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(69), "{line}: {ran:?}");
    assert!(ran.stderr.contains("daemon_version_mismatch"), "{ran:?}");
    served.join().unwrap();
}

#[test]
fn a_file_that_others_may_have_written_is_not_believed() {
    let cli = Cli::with_team();
    let file = cli.dir().join("teams/demo/runtime.json");
    for mode in [0o644, 0o620, 0o604] {
        std::fs::write(&file, "{\"socket\":\"/tmp/x\"}").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        assert_eq!(
            cli.refused_json(77, "tick demo").code,
            "not_permitted",
            "{mode:o}"
        );
    }
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(cli.dir().join("elsewhere"), &file).unwrap();
    assert_eq!(cli.refused_json(77, "tick demo").code, "not_permitted");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(cli.refused_json(77, "tick demo").code, "not_permitted");
    std::fs::remove_dir(&file).unwrap();
    for text in ["", "[", "{\"socket\":7}"] {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(
            cli.refused_json(69, "tick demo").code,
            "daemon_unreachable",
            "{text}"
        );
    }
    // Commands that only read ignore `runtime.json`.
    cli.ok("status demo");
}

#[test]
fn a_copy_of_a_data_root_is_not_served_by_the_daemon_of_the_original() {
    let original = Cli::with_team();
    let _daemon = Daemon::of(&original);
    let copy = original.copy();
    assert!(copy.dir().join("teams/demo/runtime.json").exists());
    copy.ok("append demo --kind in_the_copy");
    assert_eq!(copy.ok("replay demo --json").lines().count(), 2);
    assert_eq!(original.ok("replay demo --json").lines().count(), 1);
}

//! Commands that wait for something outside of the daemon. Such a command occupies no worker
//! thread, ends with its caller, and does not delay a stop of the daemon.

use crate::daemon::Daemon;
use crate::harness::{Cli, ErrorBody, Ran, parse, parse_lines};
use crate::waiting::until;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

/// Number of commands that wait. It is larger than the number of commands that the daemon runs at one time.
const WAITERS: usize = 70;

fn begun(cli: &Cli, line: &str) -> Child {
    let mut command = cli.command(line);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts `send --wait` for a message with this id.
fn waiter(cli: &Cli, id: &str) -> Child {
    begun(
        cli,
        &format!(
            "send demo --from lead --to dev --type handoff --wait --ack-timeout-seconds 3600 --message-id {id} --json"
        ),
    )
}

fn required(cli: &Cli) -> usize {
    let required = cli.ok("replay demo --json --kind delivery_required");
    required.lines().count()
}

/// Returns the number of threads of the daemon that run calls.
fn calls(daemon: &Daemon) -> usize {
    let threads = std::fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap();
    let names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "upgraded").count()
}

/// Stops the daemon with SIGTERM. Checks that it ends soon and without errors.
#[track_caller]
fn stops_soon(daemon: Daemon) {
    let since = Instant::now();
    let pid = Pid::from_raw(i32::try_from(daemon.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(daemon.ended(), (Some(0), String::new()));
    let took = since.elapsed();
    assert!(took < Duration::from_secs(9), "{took:?}");
}

#[track_caller]
fn error_of(ran: &Ran) -> ErrorBody {
    #[derive(serde::Deserialize)]
    struct Line {
        error: ErrorBody,
    }
    let line: Line = parse(&ran.stderr);
    line.error
}

#[test]
fn those_that_wait_keep_nobody_from_working_and_leave_with_their_callers() {
    let cli = Cli::with_team();
    cli.ok("init other --members lead");
    let daemon = Daemon::of(&cli);
    let mut waiters: Vec<Child> = (0..WAITERS)
        .map(|n| waiter(&cli, &format!("w{n}")))
        .collect();
    until("all of them wait", || required(&cli) == WAITERS);
    cli.ok("task create other --subject q");
    cli.ok("ack demo --agent dev --message-id w0");
    let first = Ran::from_output(waiters.remove(0).wait_with_output().unwrap());
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.stdout.contains("\"status\":\"acked\""), "{first:?}");
    for waiter in &mut waiters {
        waiter.kill().unwrap();
        waiter.wait().unwrap();
    }
    let since = Instant::now();
    until("their calls end with them", || calls(&daemon) == 0);
    assert!(since.elapsed() < Duration::from_secs(10));
    assert_eq!(required(&cli), WAITERS, "what was recorded stays");
    stops_soon(daemon);
}

#[test]
fn a_stop_leaves_those_that_wait_and_says_what_is_known() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    let waiting = waiter(&cli, "w-1");
    until("it waits", || required(&cli) == 1);
    stops_soon(daemon);
    let ran = Ran::from_output(waiting.wait_with_output().unwrap());
    assert_eq!((ran.code, &*ran.stdout), (Some(69), ""), "{ran:?}");
    let error = error_of(&ran);
    assert_eq!(error.code, "daemon_gone");
    let known = "ack of message w-1: the message is recorded";
    assert!(error.message.contains(known), "{error:?}");
    assert_eq!(error.details["message_id"], "w-1");
    assert!(error.hint.unwrap().contains("--message-id w-1"));
    // Repeating the command continues the wait, with and without a daemon.
    let again = waiter(&cli, "w-1");
    until("it waits again", || {
        let known = cli.ok("replay demo --json --kind message_duplicate");
        known.lines().count() == 1
    });
    cli.ok("ack demo --agent dev --message-id w-1");
    let ran = Ran::from_output(again.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(required(&cli), 1);
}

#[test]
fn a_stop_waits_for_no_input_and_ends_nobody_who_does() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    let mut batch = begun(&cli, "append demo --batch - --batch-size 1 --json");
    let mut input = batch.stdin.take().unwrap();
    input
        .write_all(b"{\"kind\":\"seen\"}\n{\"kind\":\"heard\"}\n")
        .unwrap();
    let mut import = begun(&cli, "import new --messages - --json");
    let idle = import.stdin.take().unwrap();
    until("the first line is recorded", || {
        cli.ok("replay demo --json --kind seen").lines().count() == 1
    });
    stops_soon(daemon);
    drop((input, idle));
    let batch = Ran::from_output(batch.wait_with_output().unwrap());
    assert_eq!(batch.code, Some(0), "{batch:?}");
    assert!(batch.stdout.contains("\"count\":2"), "{batch:?}");
    let import = Ran::from_output(import.wait_with_output().unwrap());
    assert_eq!(import.code, Some(0), "{import:?}");
    for kind in ["seen", "heard"] {
        let found = cli.ok(&format!("replay demo --json --kind {kind}"));
        assert_eq!(found.lines().count(), 1, "{kind}: {found}");
    }
    cli.ok("verify demo");
}

/// Starts a batch that reads `from` in groups of one line. Waits until the first of two lines is recorded. Returns the process
/// and its standard input, which accepts more lines.
fn half_a_batch(cli: &Cli, from: &str) -> (Child, ChildStdin) {
    let line = format!("append demo --batch {from} --batch-size 1 --lock-timeout 0.3 --json");
    let mut batch = begun(cli, &line);
    let mut input = batch.stdin.take().unwrap();
    input
        .write_all(b"{\"kind\":\"seen\"}\n{\"kind\":\"heard\"}\n")
        .unwrap();
    until("the first line is recorded", || {
        cli.ok("replay demo --json --kind seen").lines().count() == 1
    });
    (batch, input)
}

#[test]
fn a_batch_goes_on_by_the_daemon_that_took_the_lock_in_the_middle() {
    let cli = Cli::with_team();
    let (batch, mut input) = half_a_batch(&cli, "/dev/stdin");
    let daemon = Daemon::of(&cli);
    cli.ok("append demo --kind by_the_daemon");
    input.write_all(b"{\"kind\":\"felt\"}\n").unwrap();
    drop(input);
    let batch = Ran::from_output(batch.wait_with_output().unwrap());
    assert_eq!(batch.code, Some(0), "{batch:?}");
    let kinds = ["seen", "by_the_daemon", "heard", "felt"];
    assert_recorded_once(&cli, &kinds);
    stops_soon(daemon);
}

/// Checks that exactly one event of each kind follows the creation of the team, in the order of
/// `kinds`.
#[track_caller]
fn assert_recorded_once(cli: &Cli, kinds: &[&str]) {
    let events: Vec<serde_json::Value> = parse_lines(&cli.ok("replay demo --json"));
    let recorded: Vec<&str> = events
        .iter()
        .filter_map(|one| one["kind"].as_str())
        .collect();
    assert_eq!(recorded[1..], *kinds);
}

/// A batch that permanently loses the lock to another process than a daemon reports the events that it recorded.
#[test]
fn a_batch_that_loses_the_lock_in_the_middle_says_what_is_recorded() {
    let cli = Cli::with_team();
    let (batch, mut input) = half_a_batch(&cli, "-");
    let lock = std::fs::File::options()
        .write(true)
        .open(cli.dir().join("teams/demo/lock"))
        .unwrap();
    lock.lock().unwrap();
    input.write_all(b"{\"kind\":\"felt\"}\n").unwrap();
    drop(input);
    let batch = Ran::from_output(batch.wait_with_output().unwrap());
    assert_eq!((batch.code, &*batch.stdout), (Some(75), ""), "{batch:?}");
    let error = error_of(&batch);
    assert_eq!(error.code, "partly_appended");
    let details = &error.details;
    assert_eq!(
        (&details["appended"], &details["first_line"]),
        (&1.into(), &2.into())
    );
    assert_eq!(details["last_seq"], 2);
    drop(lock);
    assert_recorded_once(&cli, &["seen"]);
}

/// A batch that never gets the lock reports that nothing is recorded and that the next line is its first line.
#[test]
fn a_batch_that_never_gets_the_lock_says_that_nothing_is_recorded() {
    let cli = Cli::with_team();
    cli.file("facts.jsonl", "{\"kind\":\"seen\"}\n{\"kind\":\"heard\"}\n");
    let lock = std::fs::File::options()
        .write(true)
        .open(cli.dir().join("teams/demo/lock"))
        .unwrap();
    lock.lock().unwrap();
    let ran = cli.run("append demo --batch facts.jsonl --lock-timeout 0.3 --json");
    assert_eq!((ran.code, &*ran.stdout), (Some(75), ""), "{ran:?}");
    let error = error_of(&ran);
    assert_eq!(error.code, "locked");
    has!(error.details, {"appended": 0, "first_line": 1, "last_seq": null});
    drop(lock);
    assert_recorded_once(&cli, &[]);
}

#[test]
fn a_batch_from_a_pipe_is_read_once_wherever_it_is_recorded() {
    let cli = Cli::with_team();
    let pipe = cli.dir().join("facts");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let batch = begun(
        &cli,
        "append demo --batch facts --batch-size 1 --lock-timeout 0.3 --json",
    );
    // `open` blocks until the command has opened the other end of the pipe, which happens before the command looks for
    // a daemon.
    let mut input = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    let daemon = Daemon::of(&cli);
    cli.ok("append demo --kind by_the_daemon");
    input
        .write_all(b"{\"kind\":\"seen\"}\n{\"kind\":\"heard\"}\n")
        .unwrap();
    drop(input);
    let batch = Ran::from_output(batch.wait_with_output().unwrap());
    assert_eq!(batch.code, Some(0), "{batch:?}");
    assert_recorded_once(&cli, &["by_the_daemon", "seen", "heard"]);
    stops_soon(daemon);
}

#[test]
fn a_stop_leaves_a_program_to_its_caller() {
    let cli = Cli::with_team();
    cli.ok("send demo --from lead --to dev --type handoff");
    let slow = cli.file(
        "slow",
        "#!/bin/sh\n: > began\nuntil [ -e go ]; do sleep 0.1; done\n: > ended\n",
    );
    std::fs::set_permissions(slow, PermissionsExt::from_mode(0o755)).unwrap();
    let daemon = Daemon::of(&cli);
    let mut nudge = cli.command("nudge demo --idle-seconds 0 --exec ./slow --json");
    nudge.env("PATH", "/usr/bin:/bin");
    let nudge = nudge.stdout(Stdio::piped()).stderr(Stdio::piped());
    let nudge = nudge.spawn().unwrap();
    until("it runs", || cli.dir().join("began").exists());
    stops_soon(daemon);
    assert!(!cli.dir().join("ended").exists());
    cli.file("go", "");
    let ran = Ran::from_output(nudge.wait_with_output().unwrap());
    assert!(cli.dir().join("ended").exists());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answer: serde_json::Value = parse(&ran.stdout);
    assert_eq!(answer["nudged"][0]["exec"]["status"], "ok", "{answer}");
}

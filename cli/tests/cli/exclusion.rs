//! Removes the lock file while a process holds it. One of two writers wins, and acknowledged events are kept.
//!
//! The holder runs under strace, which delays one of its system calls. If strace is missing or not permitted, these tests print
//! a note and pass.

use crate::answers::{Event, Verify};
use crate::daemon::{Daemon, unknown};
use crate::prelude::*;

const MESSAGE: &str = "--from lead --to dev --type handoff";
/// Delay of the holder's system call in microseconds.
const DELAY_MICROS: u32 = 2_500_000;

fn lock_of(cli: &Cli) -> PathBuf {
    cli.dir().join("teams/demo/lock")
}

/// Returns the command under strace. strace applies the fault `how` to the system call named
/// `call`. Returns `None` if strace cannot trace.
#[allow(clippy::print_stderr, reason = "a test says why it skips")]
fn tampered(cli: &Cli, line: &str, call: &str, how: &str) -> Option<Command> {
    let traces = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .status();
    if !traces.is_ok_and(|status| status.success()) {
        eprintln!("skipped: strace is missing or may not trace here");
        return None;
    }
    let plain = cli.command(line);
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-o"])
        .arg(cli.outside().join("trace"))
        .arg(format!("--trace={call}"))
        .arg(format!("--inject={call}:{how}"))
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(cli.dir())
        .env("HOME", cli.dir())
        .env("TMPDIR", cli.dir())
        .stdin(Stdio::null());
    Some(strace)
}

/// A command under strace that delays its first system call with a given name. `enter` means a delay before the call,
/// `exit` a delay after the call.
struct Delayed(Child);

impl Delayed {
    fn start(cli: &Cli, line: &str, call: &str, when: &str) -> Option<Delayed> {
        let how = format!("delay_{when}={DELAY_MICROS}:when=1");
        let mut strace = tampered(cli, line, call, &how)?;
        strace.stdout(Stdio::piped()).stderr(Stdio::piped());
        Some(Delayed(strace.spawn().unwrap()))
    }

    fn ended(self) -> Ran {
        Ran::from_output(self.0.wait_with_output().unwrap())
    }
}

/// Returns true if a process holds the lock file. Does not take the lock.
fn is_held(lock: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = format!(":{} ", std::fs::metadata(lock).unwrap().ino());
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks
        .lines()
        .any(|line| line.contains("FLOCK") && line.contains(&inode))
}

/// Waits until the delayed command holds the lock. A command that has taken the lock checks that
/// the lock file still exists under its name, and otherwise starts again. The pause here ends after
/// this check and before the end of the delay.
fn wait_for_holder(cli: &Cli) {
    until("the lock is awaited", || is_held(&lock_of(cli)));
    std::thread::sleep(Duration::from_micros(DELAY_MICROS.into()) / 5);
}

fn messages(cli: &Cli) -> Vec<String> {
    let events: Vec<Event> = parse_lines(&cli.ok("replay demo --json"));
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());
    let sent = events
        .into_iter()
        .filter(|event| event.kind == "message_sent");
    sent.filter_map(|event| event.message_id).collect()
}

fn assert_sound(cli: &Cli) {
    let verify: Verify = cli.json("verify demo");
    assert!(verify.ok && verify.problems.is_empty(), "{verify:?}");
}

#[test]
fn of_two_senders_one_wins_when_the_lock_file_is_removed_under_the_first() {
    // Run the cases concurrently, because each waits for a delay.
    std::thread::scope(|scope| {
        for (format, when) in [
            ("jsonl", "enter"),
            ("jsonl", "exit"),
            ("binary", "enter"),
            ("binary", "exit"),
        ] {
            scope.spawn(move || one_of_two_senders_wins(format, when));
        }
    });
}

fn one_of_two_senders_wins(format: &str, when: &str) {
    let cli = Cli::with_team_of(format);
    let line = format!("send demo {MESSAGE} --message-id first --json");
    let segment = cli.segment("demo");
    let len = || std::fs::metadata(&segment).unwrap().len();
    let before = len();
    let Some(first) = Delayed::start(&cli, &line, "pwrite64", when) else {
        return;
    };
    match when {
        "enter" => wait_for_holder(&cli),
        _ => until("the group is awaited", || len() > before),
    }
    std::fs::remove_file(lock_of(&cli)).unwrap();
    let second = cli.run(&format!("send demo {MESSAGE} --message-id second"));
    let first = first.ended();
    let what = format!("{format}, {when}: {first:?} {second:?}");
    assert_eq!(second.code, Some(0), "{what}");
    assert_eq!((first.code, &*first.stdout), (Some(75), ""), "{what}");
    assert!(first.stderr.contains("deleting the"), "{what}");
    let found = messages(&cli);
    assert_eq!(found.last().map(String::as_str), Some("second"), "{what}");
    if when == "exit" {
        // The first message was written, so the log keeps it. The command of this message was not acknowledged: the
        // error says that the lock was lost.
        assert_eq!(found, ["first", "second"], "{what}");
        assert!(first.stderr.contains("\"lock_lost\""), "{what}");
    }
    assert_sound(&cli);
    // The retry does not record the message a second time.
    assert_eq!(cli.run(&line).code, Some(0));
    let again = messages(&cli);
    assert_eq!(
        again.iter().filter(|id| *id == "first").count(),
        1,
        "{what}"
    );
}

#[test]
fn a_conversion_or_a_repair_whose_lock_file_is_removed_changes_nothing() {
    std::thread::scope(|scope| {
        for (line, damage) in [
            ("convert demo --to binary", false),
            ("doctor repair demo --to 1 --yes", false),
            ("rehydrate demo --salvage", true),
        ] {
            scope.spawn(move || nothing_is_changed(line, damage));
        }
    });
}

fn nothing_is_changed(line: &str, damage: bool) {
    let cli = Cli::with_team();
    cli.ok(&format!("send demo {MESSAGE} --message-id kept"));
    if damage {
        let segment = cli.segment("demo");
        let mut bytes = std::fs::read(&segment).unwrap();
        let at = bytes.len() - 40;
        bytes[at] ^= 1;
        std::fs::write(&segment, bytes).unwrap();
    }
    let segment = cli.segment("demo");
    let before = std::fs::read(&segment).unwrap();
    let Some(first) = Delayed::start(&cli, line, "fsync", "enter") else {
        return;
    };
    wait_for_holder(&cli);
    std::fs::remove_file(lock_of(&cli)).unwrap();
    let first = first.ended();
    assert_eq!(first.code, Some(75), "{line}: {first:?}");
    assert!(std::fs::read(&segment).unwrap() == before, "{line}");
    if !damage {
        cli.ok(&format!("send demo {MESSAGE} --message-id after"));
        assert_eq!(messages(&cli), ["kept", "after"], "{line}");
        // Files of an interrupted conversion may remain. `verify` only warns about them.
        assert!(cli.json::<Verify>("verify demo").ok, "{line}");
    }
}

#[test]
fn a_daemon_whose_lock_file_is_removed_takes_the_new_one_and_lets_nobody_in() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        let daemon = Daemon::of(&cli);
        cli.ok(&format!("send demo {MESSAGE} --message-id one"));
        std::fs::remove_file(lock_of(&cli)).unwrap();
        // A command that does not know the daemon still finds the log locked.
        let alone = unknown(&cli, || {
            cli.refused_json(75, &format!("send demo {MESSAGE} --lock-timeout 0"))
        });
        assert_eq!(alone.code, "locked");
        shows!(alone.hint.unwrap() => has "deleting the file does not release it");
        std::fs::remove_file(lock_of(&cli)).unwrap();
        let refused = cli.refused_json(75, &format!("send demo {MESSAGE} --message-id two"));
        assert_eq!(refused.code, "locked");
        assert!(
            refused.message.contains("nothing was written"),
            "{}",
            refused.message
        );
        cli.ok(&format!("send demo {MESSAGE} --message-id two"));
        assert_eq!(messages(&cli), ["one", "two"]);
        assert!(is_held(&lock_of(&cli)));
        daemon.kill();
        assert_sound(&cli);
    }
}

#[test]
fn a_signal_while_the_lock_is_tried_is_no_failure() {
    let cli = Cli::with_team();
    // strace interrupts the first `flock` call and then every second `flock` call, on the lock file
    // and on its directory.
    let line = format!("send demo {MESSAGE} --message-id one");
    let Some(mut command) = tampered(&cli, &line, "flock", "error=EINTR:when=1+2") else {
        return;
    };
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(messages(&cli), ["one"]);
}

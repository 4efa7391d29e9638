//! If the system starts no more threads (`ulimit -u`), every command either does its work on one
//! thread or ends with an ordinary error. `strace` makes new threads fail; if tracing is not
//! permitted, the tests print a note and pass.

use crate::prelude::*;

/// Returns the command under strace, which makes the start of a thread fail, beginning with thread number `from`.
fn without_threads(cli: &Cli, from: usize, words: &[&str]) -> Command {
    let inject = format!("inject=clone,clone3:error=EAGAIN:when={from}+");
    let mut command = Command::new("strace");
    command
        .args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=clone,clone3",
            "-e",
            &inject,
        ])
        .arg(env!("CARGO_BIN_EXE_teamlog"))
        .args(words)
        .current_dir(cli.dir())
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap())
        .env("HOME", cli.dir())
        .stdin(Stdio::null());
    command
}

fn may_trace() -> bool {
    let tried = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .output();
    let may = tried.is_ok_and(|tried| tried.status.success());
    if !may {
        eprintln!("skipped: strace is missing or may not trace here");
    }
    may
}

/// Creates a team, and a file of messages to import. The team has more tasks and messages than any
/// command handles in one batch.
fn world() -> Cli {
    let cli = Cli::with_team();
    let mut facts = String::new();
    for n in 0..5_000 {
        facts.push_str(&format!(
            "{{\"kind\":\"build_finished\",\"payload\":{{\"n\":{n}}}}}\n"
        ));
    }
    cli.file("facts.jsonl", &facts);
    cli.ok("append demo --batch facts.jsonl");
    let mut messages = String::new();
    for n in 0..3_000 {
        messages.push_str(&format!(
            "{{\"id\":\"o-{n}\",\"type\":\"task_assign\",\"from\":\"a\",\"to\":\"b\",\"task_id\":\"t-{n}\",\"payload\":{{\"subject\":\"s\"}},\"created_at\":\"2024-01-01T00:00:00Z\"}}\n"
        ));
    }
    cli.file("messages.jsonl", &messages);
    cli
}

const COMMANDS: [&[&str]; 5] = [
    &["rehydrate", "demo", "--json"],
    &["import", "old", "--messages", "messages.jsonl", "--json"],
    &["doctor", "check", "demo", "--json"],
    &["verify", "demo", "--json"],
    &["status", "demo", "--digest", "--json"],
];

#[test]
fn what_uses_threads_does_its_work_without_them() {
    if !may_trace() {
        return;
    }
    let first = world();
    for words in COMMANDS {
        // Refuse every thread, or every thread from the fourth on. In the second case, three
        // threads have already begun their work.
        for from in [1, 4] {
            let cli = first.copy();
            let ran = Ran::of(&mut without_threads(&cli, from, words));
            assert_eq!(
                ran.code,
                Some(0),
                "{words:?} without threads from {from} on: {ran:?}"
            );
            assert!(!ran.stderr.contains("bug"), "{ran:?}");
        }
    }
    // The result does not depend on the number of threads.
    let (alone, together) = (first.copy(), first.copy());
    let rehydrated = Ran::of(&mut without_threads(&alone, 1, COMMANDS[0]));
    let digest = |text: &str| serde_json::from_str::<Value>(text).unwrap()["state_digest"].clone();
    assert_eq!(
        digest(&rehydrated.stdout),
        digest(&together.ok("rehydrate demo --json"))
    );
    let imported = Ran::of(&mut without_threads(&alone, 1, COMMANDS[1]));
    assert_eq!(imported.code, Some(0), "{imported:?}");
    together.ok("import old --messages messages.jsonl");
    let shown = |cli: &Cli| cli.ok("tasks old --limit 5000 --json");
    assert_eq!(
        shown(&alone).matches("task_id").count(),
        shown(&together).matches("task_id").count()
    );
    assert!(alone.ok("verify old --json").contains("\"ok\":true"));
}

#[test]
fn the_daemon_and_tools_say_so_where_they_cannot_do_without() {
    if !may_trace() {
        return;
    }
    let cli = Cli::with_team();
    // `mcp` starts one thread at its start, so only a limit that applies from the first thread affects it.
    for (words, last) in [(&["serve", "--json"][..], 6), (&["mcp"][..], 1)] {
        let mut refused = 0;
        for from in 1..=last {
            let mut command = without_threads(&cli, from, words);
            // With enough threads the daemon serves. This case is not tested here.
            let mut child = command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut line = String::new();
            let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
            std::io::BufRead::read_line(&mut out, &mut line).unwrap();
            if line.is_empty() {
                let ran = Ran::from_output(child.wait_with_output().unwrap());
                match ran.code {
                    // The input of `mcp` is empty, so `mcp` ends successfully.
                    Some(0) => {}
                    code => {
                        assert_eq!(
                            code,
                            Some(74),
                            "{words:?} without threads from {from} on: {ran:?}"
                        );
                        assert!(!ran.stderr.contains("bug"), "{ran:?}");
                        refused += 1;
                    }
                }
            } else {
                cli.ok("serve --stop --json");
                child.wait().unwrap();
            }
        }
        assert!(refused > 0, "{words:?} started with no thread at all");
    }
}

/// Starts the daemon under a limit, as a user to whom the limit applies. Returns `None` if the tests cannot become this user.
fn served_under(limit: &str) -> Option<Ran> {
    let user = "54321";
    let setpriv = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
        command
    };
    // This user must own the program, the world and their directory.
    let place = tempfile::Builder::new()
        .prefix("limited")
        .tempdir_in("/tmp")
        .ok()?;
    let program = place.path().join("teamlog");
    std::fs::copy(env!("CARGO_BIN_EXE_teamlog"), &program).unwrap();
    let own = Command::new("chown")
        .args(["-R", user])
        .arg(place.path())
        .status();
    let may = setpriv().arg("true").output();
    if !own.is_ok_and(|own| own.success()) || !may.is_ok_and(|may| may.status.success()) {
        eprintln!("skipped: setpriv is missing, or this user may not become another one");
        return None;
    }
    let run = |line: &str| {
        let mut command = setpriv();
        command
            .args(["sh", "-c", line])
            .current_dir(place.path())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", place.path())
            .env("TEAMLOG_DATA_ROOT", place.path())
            .stdin(Stdio::null());
        Ran::of(&mut command)
    };
    // A process that another test has just forked may still have the copy open for writing. The copy then cannot be executed
    // ("text file busy", exit code 126).
    until("the copy can be executed", || {
        let code = run("./teamlog init demo --members dev").code;
        assert!(matches!(code, Some(0 | 126)), "{code:?}");
        code == Some(0)
    });
    Some(run(&format!(
        "exec timeout 60 prlimit {limit} ./teamlog serve"
    )))
}

#[test]
fn the_daemon_names_the_limit_that_keeps_it_from_starting() {
    for (limit, named) in [
        ("--nproc=3", "(ulimit -u"),
        ("--nproc=4", "(ulimit -u"),
        ("--nproc=7", "(ulimit -u"),
        ("--nproc=12", "(ulimit -u"),
        (
            "--nofile=16",
            "needs 64 open files, but the limit is 16 (ulimit -n",
        ),
        ("--nofile=63", "the limit is 63 (ulimit -n"),
    ] {
        let Some(ran) = served_under(limit) else {
            return;
        };
        assert_eq!((ran.code, &*ran.stdout), (Some(74), ""), "{limit}: {ran:?}");
        assert!(ran.stderr.contains(named), "{limit}: {ran:?}");
    }
}

//! After a failed sync, the daemon stops writing to the team and reports the failure in every
//! answer. The commands in the hint of these answers work as printed. `strace` makes the sync fail;
//! if tracing is not permitted, the tests print a note and pass.

use crate::daemon::Daemon;
use crate::harness::ErrorBody;
use crate::prelude::*;
use std::io::{BufRead, Read};

/// A process of strace that makes every sync of another process fail.
struct Unsynced(Child);

impl Unsynced {
    /// Attaches to a process. Returns `None` if strace is missing or not permitted.
    fn of(pid: u32) -> Option<Unsynced> {
        let inject = "inject=fdatasync:error=EIO";
        let tried = Command::new("strace")
            .args([
                "-f",
                "-e",
                "trace=fdatasync",
                "-e",
                inject,
                "-p",
                &pid.to_string(),
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut strace) = tried else {
            eprintln!("skipped: there is no strace");
            return None;
        };
        // strace reports that it is attached, or the reason for its failure.
        let mut said = String::new();
        let mut lines = BufReader::new(strace.stderr.take().unwrap());
        lines.read_line(&mut said).unwrap();
        if !said.contains("attached") {
            eprintln!("skipped: strace may not attach here: {said}");
            return None;
        }
        // Read the rest of strace's output, so that its pipe does not become full.
        std::thread::spawn(move || drop(lines.read_to_string(&mut String::new())));
        Some(Unsynced(strace))
    }
}

impl Drop for Unsynced {
    fn drop(&mut self) {
        // On SIGINT, strace detaches from the daemon.
        let _ = Command::new("kill")
            .args(["-INT", &self.0.id().to_string()])
            .status();
        let _ = self.0.wait();
    }
}

/// Returns the error of a failed command.
fn error(ran: &Ran) -> ErrorBody {
    let mut line: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    serde_json::from_value(line["error"].take()).unwrap()
}

/// Runs the two command lines of a hint: waits for the end of the first, and starts the second as
/// the new daemon.
fn type_hint(cli: &Cli, hint: &str) -> Daemon {
    let commands: Vec<&str> = hint.lines().collect();
    assert_eq!(commands.len(), 2, "{hint}");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_teamlog"))
        .parent()
        .unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(cli.dir()).env_clear();
        shell
            .env("PATH", &path)
            .env("HOME", cli.dir())
            .stdin(Stdio::null());
        shell
    };
    let stopped = Ran::of(&mut shell(commands[0]));
    assert_eq!(
        (stopped.code, &*stopped.stderr),
        (Some(0), ""),
        "{stopped:?}"
    );
    // Run the command as printed, with two additions: `--json` makes the daemon print its first line, and `exec` replaces the
    // shell.
    Daemon::started(shell(&format!("exec {} --json", commands[1])))
}

#[test]
fn after_a_failed_sync_every_surface_says_what_helps_and_it_does() {
    for data_root in ["", "--data-root . "] {
        let cli = Cli::with_team();
        let daemon = Daemon::of(&cli);
        cli.ok("append demo --kind build_finished");
        let runtime = std::fs::read(cli.dir().join("teams/demo/runtime.json")).unwrap();
        let runtime: Value = serde_json::from_slice(&runtime).unwrap();
        let token = runtime["token"].as_str().unwrap();
        let Some(unsynced) = Unsynced::of(daemon.pid()) else {
            return;
        };
        let append = format!("{data_root}append demo --kind build_finished --json");
        let first = cli.run(&append);
        assert_eq!(
            (first.code, &*error(&first).code),
            (Some(74), "io"),
            "{first:?}"
        );
        drop(unsynced);

        // The disk works again, but the daemon can no longer trust its own state.
        let again = cli.run(&append);
        let told = error(&again);
        assert_eq!(
            (again.code, &*told.code),
            (Some(74), "sync_failed"),
            "{again:?}"
        );
        let hint = told.hint.unwrap();
        let api = cli.run("api create-task --input '{\"team_name\":\"demo\",\"subject\":\"one\",\"description\":\"x\"}' --json");
        let envelope: Value = serde_json::from_str(&api.stdout).unwrap();
        assert_eq!(envelope["error"]["code"], "sync_failed", "{api:?}");
        let api_hint = envelope["error"]["details"]["hint"].clone();
        let (status, _, body) = daemon.ask(token, "POST", "/v1/tasks", r#"{"title":"one"}"#);
        assert_eq!(
            (status, &body["error"]["code"]),
            (503, &json!("sync_failed")),
            "{body}"
        );
        let http_hint = body["error"]["details"]["hint"]
            .as_str()
            .unwrap()
            .to_owned();
        let (status, _, body) = daemon.ask(
            token,
            "POST",
            "/v1/api/create-task",
            r#"{"subject":"one","description":"x"}"#,
        );
        assert_eq!(
            (status, &body["error"]["code"]),
            (503, &json!("sync_failed")),
            "{body}"
        );
        assert_eq!(body["error"]["details"]["hint"], http_hint);
        assert_eq!(api_hint, http_hint);

        // Reads still return all events up to the head. The daemon does not recover the log.
        let segment = std::fs::read(cli.segment("demo")).unwrap();
        let (status, _, body) = daemon.ask(token, "GET", "/v1/events?after=0", "");
        assert_eq!(status, 200, "{body}");
        let (status, _, body) = daemon.ask(token, "GET", "/v1/tasks", "");
        assert_eq!(status, 200, "{body}");
        assert_eq!(std::fs::read(cli.segment("demo")).unwrap(), segment);

        let why = until_some("the failed sync is told", || {
            let (_, _, body) = daemon.ask(token, "GET", "/readyz", "");
            match body["teams"]["demo"]["code"] == "sync_failed" {
                true => Ok(body["teams"]["demo"]["why"].to_string()),
                false => Err(body),
            }
        });
        shows!(why => has "cannot sync");
        assert_eq!(daemon.ask(token, "GET", "/healthz", "").0, 200);

        shows!(hint => is format!("teamlog {data_root}serve --stop\nteamlog {data_root}serve"));
        let second = type_hint(&cli, &hint);
        cli.ok("append demo --kind build_finished");
        // A hint over HTTP names the data root, because the reader's working directory is unknown.
        assert!(http_hint.contains("--data-root "), "{http_hint}");
        let third = type_hint(&cli, &http_hint);
        cli.ok("append demo --kind build_finished");
        assert!(cli.run("verify demo").code == Some(0));
        drop((daemon, second, third));
    }
}

//! `guard` records its refusals after its answer. If a refusal cannot be recorded, the answer does not change.

use crate::daemon::{Daemon, unknown};
use crate::prelude::*;

/// Creates the team `demo`. The agent `qa` holds `docs`.
fn with_lease() -> Cli {
    let cli = Cli::with_team();
    let repo = cli.outside().join("repo");
    std::fs::create_dir_all(&repo).unwrap();
    cli.ok("task create demo --subject docs --resource docs");
    cli.ok("task claim demo 1 --worker qa");
    cli.ok(&format!(
        "config set demo resources.root {}",
        repo.display()
    ));
    cli
}

fn call(cli: &Cli, path: &str) -> String {
    let file = cli.outside().join("repo").join(path);
    json!({"tool_name": "Write", "tool_input": {"file_path": file}}).to_string()
}

/// Returns the text of a denial, and the time that the denial took.
#[track_caller]
fn denied(cli: &Cli, path: &str) -> (String, Duration) {
    let begun = Instant::now();
    let ran = cli.run_with_input("guard demo --agent dev", &call(cli, path));
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{ran:?}");
    (ran.stderr, begun.elapsed())
}

fn recorded(cli: &Cli) -> Vec<Value> {
    parse_lines(&cli.ok("replay demo --kind write_refused --json"))
}

#[test]
fn a_denial_is_recorded_once_a_minute_and_can_write_records_none() {
    let cli = with_lease();
    let (said, _) = denied(&cli, "docs/a");
    assert_eq!(denied(&cli, "docs/a").0, said);
    denied(&cli, "docs/b");
    cli.run("can-write demo docs/c --agent dev");
    let told = recorded(&cli);
    assert_eq!(told.len(), 2, "{told:?}");
    has!(told[0], {"agent": "dev", "actor": "teamlog"});
    has!(told[0]["payload"], {"path": "docs/a", "tool": "Write", "holder": "qa",
        "reason": "resource_held_by_other"});
    // Allowed writes are not recorded. If `guard.record` is off, refusals are not recorded either.
    let ran = cli.run_with_input("guard demo --agent qa", &call(&cli, "docs/a"));
    assert_eq!(ran.code, Some(0));
    cli.ok("config set demo guard.record false");
    denied(&cli, "docs/d");
    assert_eq!(recorded(&cli).len(), 2);
    cli.ok("verify demo");
}

#[test]
fn a_daemon_records_it_and_one_that_hangs_keeps_nobody_waiting() {
    let cli = with_lease();
    let daemon = Daemon::of(&cli);
    // A daemon that answers in time records the refusal. A repeated refusal is recorded once per minute.
    let begun = Instant::now();
    let said = loop {
        let (said, _) = denied(&cli, "docs/a");
        if !recorded(&cli).is_empty() {
            break said;
        }
        assert!(begun.elapsed() < Duration::from_secs(50));
    };
    assert_eq!(recorded(&cli).len(), 1);
    daemon.suspend();
    let (stopped, took) = denied(&cli, "docs/b");
    daemon.resume();
    assert_eq!(stopped, said.replace("docs/a", "docs/b"));
    // Other commands wait longer than eight seconds for a lock or for an answer.
    assert!(took < Duration::from_secs(8), "{took:?}");
    // `guard` does not wait for a lock that another process than a daemon holds.
    let (locked, took) = unknown(&cli, || denied(&cli, "docs/c"));
    assert_eq!(locked, said.replace("docs/a", "docs/c"));
    assert!(took < Duration::from_secs(8), "{took:?}");
    let told = recorded(&cli);
    assert!(
        told.iter()
            .all(|event| event["payload"]["path"] != "docs/c"),
        "{told:?}"
    );
}

#[test]
fn where_nothing_can_be_written_the_answer_is_the_same() {
    let cli = with_lease();
    let said = denied(&cli, "docs/a").0;
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_teamlog");
    let line = format!("ulimit -f 0; printf '%s' \"$CALL\" | {program} guard demo --agent dev");
    command
        .args(["-c", &line])
        .current_dir(cli.dir())
        .env_clear()
        .env("HOME", cli.dir())
        .env("PATH", std::env::var("PATH").unwrap())
        .env("CALL", call(&cli, "docs/b"));
    let ran = Ran::of(&mut command);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{ran:?}");
    assert_eq!(ran.stderr, said.replace("docs/a", "docs/b"));
    assert_eq!(recorded(&cli).len(), 1);
    cli.ok("verify demo");
    // Without a team there is no log for the refusal.
    let ran = cli.run_with_input("guard none --agent dev", &call(&cli, "docs/b"));
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

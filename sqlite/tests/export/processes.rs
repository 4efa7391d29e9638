//! The program: follows a log, survives kills, ends on SIGTERM, and serves readers meanwhile.

use crate::comparison::{equals, rows};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use teamlog_team::api;
use teamlog_team::command::Control;
use teamlog_team::lifecycle::init::Init;
use teamlog_team::{Root, RootOptions, Team};

const WAIT: Duration = Duration::from_secs(60);

/// A data root on disk with the team `demo`.
fn root(dir: &Path) -> Root {
    let root = Root::create(dir, RootOptions::default()).unwrap();
    let init = Init {
        members: vec!["lead".to_owned(), "dev".to_owned()],
        ..Init::for_team("demo")
    };
    root.init(init).unwrap();
    root
}

fn team(root: &Root) -> Team {
    root.team("demo").unwrap()
}

fn call(root: &Root, name: &str, input: Value) -> Value {
    let Value::Object(mut input) = input else {
        panic!("{input}");
    };
    input.insert("team_name".to_owned(), "demo".into());
    let answered = api::call(root, api::find(name).unwrap(), input, Control::default()).unwrap();
    answered.team.unwrap().finish().unwrap();
    serde_json::from_str(answered.data.get()).unwrap()
}

/// Records a task, a claim, a message and its ack.
fn work(root: &Root) {
    let created = call(
        root,
        "create-task",
        json!({"subject": "s", "description": "d"}),
    );
    let id = created["task"]["id"].clone();
    call(root, "claim-task", json!({"task_id": id, "worker": "dev"}));
    let sent = call(
        root,
        "send-message",
        json!({"from_worker": "lead", "to_worker": "dev", "body": "b"}),
    );
    let message = sent["message"]["message_id"].clone();
    call(root, "ack", json!({"agent": "dev", "message_id": message}));
}

/// Appends many events at once.
fn fill(root: &Root, batches: usize) {
    for batch in 0..batches {
        let facts: Vec<Value> = (0..500)
            .map(|at| json!({"kind": "build_finished", "actor": "dev", "payload": {"at": at, "batch": batch}, "tags": ["a=b"]}))
            .collect();
        call(root, "append-batch", json!({"facts": facts}));
    }
}

fn program(dir: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamlog-sqlite"));
    command.arg("--data-root").arg(dir).args(options);
    command.args(["--json", "demo"]).arg(dir.join("team.db"));
    command
}

fn run(dir: &Path, options: &[&str]) -> Output {
    program(dir, options).output().unwrap()
}

#[track_caller]
fn until(what: &str, mut is_met: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_met() {
        assert!(started.elapsed() < WAIT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_following_program_stores_events_and_ends_on_sigterm() {
    let dir = tempfile::tempdir().unwrap();
    let (root, file) = (root(dir.path()), dir.path().join("team.db"));
    work(&root);
    let mut child = program(dir.path(), &["--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["events"], first["seq"]);
    work(&root);
    let head = team(&root).log().reader().unwrap().head().last_seq;
    let reader = Connection::open(&file).unwrap();
    until("the last event", || {
        rows(&reader, "SELECT seq FROM teamlog_position") == [json!([head])]
    });
    equals(&mut team(&root), &file);
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    // Every line tells of a transaction.
    let mut seq = first["seq"].as_u64().unwrap();
    for line in lines {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        seq += line["events"].as_u64().unwrap();
        assert_eq!(line["seq"], seq);
    }
    assert_eq!(seq, head);
}

#[test]
fn readers_read_whole_transactions_while_the_program_follows() {
    let dir = tempfile::tempdir().unwrap();
    let (root, file) = (root(dir.path()), dir.path().join("team.db"));
    assert!(run(dir.path(), &[]).status.success());
    let mut child = program(dir.path(), &["--follow"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let reader = Connection::open(&file).unwrap();
    let mut seen = 0;
    let query = "SELECT seq, (SELECT max(seq) FROM events), (SELECT count(*) FROM events), \
        (SELECT count(*) FROM tasks), (SELECT count(*) FROM events WHERE kind = 'task_created') FROM teamlog_position";
    for _ in 0..20 {
        work(&root);
        let row = rows(&reader, query).remove(0);
        assert_eq!(
            (&row[0], &row[0], &row[3]),
            (&row[1], &row[2], &row[4]),
            "{row}"
        );
        seen = row[0].as_u64().unwrap().max(seen);
    }
    let head = team(&root).log().reader().unwrap().head().last_seq;
    until("the last event", || rows(&reader, query)[0][0] == head);
    assert!(seen > 0);
    signal(&child, "-INT");
    assert!(child.wait().unwrap().success());
}

#[test]
fn after_a_kill_at_any_time_position_and_rows_agree_and_the_next_run_continues() {
    let dir = tempfile::tempdir().unwrap();
    let (root, file) = (root(dir.path()), dir.path().join("team.db"));
    let (mut cut, mut last) = (0, 0);
    for round in 0..24_u64 {
        work(&root);
        fill(&root, 6);
        let mut child = program(dir.path(), &["--follow"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(3 + round * 7 % 90));
        signal(&child, "-KILL");
        child.wait().unwrap();
        if !file.exists() || std::fs::metadata(&file).unwrap().len() == 0 {
            continue;
        }
        let reader = Connection::open(&file).unwrap();
        let tables = rows(
            &reader,
            "SELECT count(*) FROM sqlite_schema WHERE name = 'teamlog_position'",
        );
        if tables != [json!([1])] {
            continue;
        }
        let row = rows(
            &reader,
            "SELECT coalesce((SELECT seq FROM teamlog_position), 0), coalesce(max(seq), 0), count(*) FROM events",
        );
        let row = &row[0];
        assert_eq!(
            (&row[0], &row[0]),
            (&row[1], &row[2]),
            "round {round}: {row}"
        );
        let head = team(&root).log().reader().unwrap().head().last_seq;
        cut += u64::from(row[0] != head);
        assert!(
            row[0].as_u64().unwrap() >= last,
            "round {round}: {row} after {last}"
        );
        last = row[0].as_u64().unwrap();
    }
    assert!(cut > 0, "no kill hit a transaction");
    assert!(run(dir.path(), &[]).status.success());
    equals(&mut team(&root), &file);
}

#[test]
fn errors_have_a_code_and_the_next_step() {
    let dir = tempfile::tempdir().unwrap();
    root(dir.path());
    std::fs::write(dir.path().join("team.db"), "a text").unwrap();
    let output = run(dir.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error"]["code"], "foreign_file");
    assert!(
        error["error"]["hint"]
            .as_str()
            .unwrap()
            .contains("name a file")
    );
    let missing = Command::new(env!("CARGO_BIN_EXE_teamlog-sqlite"))
        .args(["--data-root"])
        .arg(dir.path())
        .args(["none", "a.db"])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).starts_with("error: no team"));
}

#[test]
fn a_log_that_is_replaced_ends_a_following_program() {
    let dir = tempfile::tempdir().unwrap();
    let first = root(dir.path());
    work(&first);
    let mut child = program(dir.path(), &["--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let teams = dir.path().join("teams");
    std::fs::rename(teams.join("demo"), dir.path().join("old")).unwrap();
    root(dir.path());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    // Between the two logs, there is no team.
    assert!(
        said.contains("log_replaced") || said.contains("team_not_found"),
        "{said}"
    );
}

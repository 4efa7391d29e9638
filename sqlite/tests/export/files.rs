//! Files of other programs, other versions, replaced logs, and stops.

use crate::comparison::{dump, equals, rows};
use crate::world::World;
use rusqlite::Connection;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use teamlog_sqlite::{Error, Export, Mode};

fn create(world: &World, subject: &str) {
    let input = json!({"subject": subject, "description": "d"});
    world.call("create-task", input).unwrap();
}

#[track_caller]
fn refused(outcome: Result<teamlog_sqlite::Progress, Error>, code: &str, said: &str) {
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(said), "{error}");
}

#[test]
fn a_second_run_stores_only_new_events() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    create(&world, "one");
    let first = world.export(&file).unwrap();
    assert_eq!(first.events, first.seq);
    assert_eq!(world.export(&file).unwrap().events, 0);
    create(&world, "two");
    let second = world.export(&file).unwrap();
    assert_eq!(second.events, second.seq - first.seq);
    equals(&mut world.team(), &file);
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_empty_log_is_exported_later() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.db");
    fs::write(&file, "").unwrap();
    let world = World::new();
    world.export(&file).unwrap();
    equals(&mut world.team(), &file);
}

#[test]
fn files_of_other_programs_stay_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new();
    let text = dir.path().join("text");
    fs::write(
        &text,
        "a text that is longer than the header of a database: ".repeat(9),
    )
    .unwrap();
    let short = dir.path().join("short");
    fs::write(&short, "a").unwrap();
    let other = dir.path().join("other.db");
    let database = Connection::open(&other).unwrap();
    database
        .execute_batch("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)")
        .unwrap();
    drop(database);
    for mode in [Mode::Continue, Mode::Replace] {
        for (path, said) in [
            (&text, "is no SQLite database"),
            (&short, "is no SQLite database"),
            (&other, "of another program"),
        ] {
            let before = fs::read(path).unwrap();
            refused(world.export_in(path, mode), "foreign_file", said);
            assert_eq!(fs::read(path).unwrap(), before);
        }
        refused(
            world.export_in(dir.path(), mode),
            "foreign_file",
            "is no file",
        );
    }
    let missing = dir.path().join("none/a.db");
    refused(world.export(&missing), "io", "cannot create");
}

#[test]
fn another_version_of_the_tables_is_refused_and_can_be_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    world.export(&file).unwrap();
    let database = Connection::open(&file).unwrap();
    database
        .execute_batch("PRAGMA user_version = 7; ALTER TABLE usage ADD COLUMN more TEXT")
        .unwrap();
    drop(database);
    refused(world.export(&file), "unsupported_format", "version 7");
    world.export_in(&file, Mode::Replace).unwrap();
    equals(&mut world.team(), &file);
}

#[test]
fn another_log_is_refused_and_can_be_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    create(&world, "one");
    world.export(&file).unwrap();
    let before = dump(&file);
    // Another team of the same name.
    let other = World::with_seed(9);
    create(&other, "one");
    create(&other, "another");
    let outcome = other.export(&file);
    refused(outcome, "log_replaced", "but the log of the team is");
    assert_eq!(dump(&file), before);
    // Another history of the same log.
    let copy = world.copy();
    create(&world, "left");
    create(&copy, "right");
    world.export(&file).unwrap();
    let before = dump(&file);
    refused(copy.export(&file), "log_replaced", "has another id");
    assert_eq!(dump(&file), before);
    // A log that ends before the position.
    let short = world.copy();
    create(&world, "more");
    world.export(&file).unwrap();
    let outcome = short.export(&file);
    refused(outcome, "log_replaced", "the log ends after event");
    let stored = world.team().log().reader().unwrap().head().last_seq;
    let replaced = copy.export_in(&file, Mode::Replace).unwrap();
    assert_eq!(replaced.events, replaced.seq);
    assert!(replaced.seq < stored);
    equals(&mut copy.team(), &file);
}

#[test]
fn a_stop_stores_nothing_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    create(&world, "one");
    world.export(&file).unwrap();
    let before = dump(&file);
    create(&world, "two");
    for mode in [Mode::Continue, Mode::Replace] {
        let mut export = Export::open(&file, mode).unwrap();
        let stopped = export.catch_up(&mut world.team(), &AtomicBool::new(true));
        refused(stopped, "stopped", "nothing of this run");
        assert_eq!(dump(&file), before);
    }
    // An export can continue after a stop.
    let mut export = Export::open(&file, Mode::Continue).unwrap();
    let stop = AtomicBool::new(true);
    assert!(export.catch_up(&mut world.team(), &stop).is_err());
    stop.store(false, Ordering::Relaxed);
    assert!(export.catch_up(&mut world.team(), &stop).unwrap().events > 0);
    equals(&mut world.team(), &file);
}

#[test]
fn a_reader_sees_the_old_tables_until_the_new_ones_are_complete() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    create(&world, "one");
    world.export(&file).unwrap();
    let reader = Connection::open(&file).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count = |reader: &Connection| rows(reader, "SELECT count(*) FROM tasks");
    assert_eq!(count(&reader), [json!([1])]);
    create(&world, "two");
    world.export(&file).unwrap();
    world.export_in(&file, Mode::Replace).unwrap();
    assert_eq!(count(&reader), [json!([1])]);
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(count(&reader), [json!([2])]);
}

#[test]
fn a_failure_at_any_table_changes_no_table() {
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    let work = |task: &str| {
        create(&world, "a");
        let claim = json!({"task_id": task, "worker": "dev"});
        world.call("claim-task", claim).unwrap();
        let usage = json!({"worker": "dev", "input_tokens": 1, "output_tokens": 1});
        world.call("report-usage", usage).unwrap();
        let mail = json!({"from_worker": "lead", "to_worker": "dev", "body": task});
        world.call("send-message", mail).unwrap();
        let fact = json!({"kind": "built", "actor": "dev", "tags": ["a=b"]});
        world.call("append", fact).unwrap();
    };
    work("1");
    world.export(&file).unwrap();
    let before = dump(&file);
    work("2");
    let tables = [
        "events",
        "tags",
        "tasks",
        "messages",
        "claims",
        "usage",
        "teamlog_position",
    ];
    for table in tables {
        let database = Connection::open(&file).unwrap();
        let trigger = format!(
            "CREATE TRIGGER stop BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no disk'); END"
        );
        database.execute_batch(&trigger).unwrap();
        refused(world.export(&file), "io", "no disk");
        assert!(dump(&file) == before, "{table}");
        database.execute_batch("DROP TRIGGER stop").unwrap();
    }
    world.export(&file).unwrap();
    equals(&mut world.team(), &file);
}

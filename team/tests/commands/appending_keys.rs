//! Tests of `append` with idempotency keys, for one fact and for each line of a batch.

use crate::prelude::*;
use teamlog_engine::{Durability, Json, NewEvent};
use teamlog_team::api::{self, Fault};
use teamlog_team::log::append_batch::{AppendBatch, BatchAnswer};
use teamlog_team::projections::live::Live;
use teamlog_team::{Root, RootOptions};

fn fact(key: &str, payload: &str) -> Append {
    given!(Append, kind: "seen", actor: "ci", task_id: "T-1", key, payload)
}

fn batch(team: &mut Team, lines: &str) -> Result<BatchAnswer, Failure> {
    let batch = given!(AppendBatch, batch_size: 2);
    let appended = team.append_batch(batch, &mut lines.as_bytes());
    appended.map_err(|stopped| stopped.failure)
}

#[test]
fn the_same_under_a_key_is_recorded_once_and_other_content_is_refused() {
    let (world, mut team) = demo();
    let first = team.append(fact("k", r#"{"n":1}"#)).unwrap();
    assert!(!team.repeated());
    let before = events(&mut team);
    has!(before.last().unwrap(), {"kind": "response_stored", "key": "k", "seq": first.seq + 1});
    world.later(SECOND);
    let again = team.append(fact("k", r#" {"n": 1}"#)).unwrap();
    assert_eq!((again, team.repeated()), (first.clone(), true));
    let mut other = world.root.team("demo").unwrap();
    assert_eq!(other.append(fact("k", r#"{"n":1}"#)).unwrap(), first);
    for changed in [
        fact("k", r#"{"n":2}"#),
        given!(Append, kind: "heard", ..fact("k", r#"{"n":1}"#)),
        given!(Append, actor: "dev", ..fact("k", r#"{"n":1}"#)),
        given!(Append, task_id: "T-2", ..fact("k", r#"{"n":1}"#)),
        given!(Append, trace_id: "tr", ..fact("k", r#"{"n":1}"#)),
    ] {
        let refusal = refused(team.append(changed), Code::IdempotencyKeyReused);
        assert_eq!(refusal.field.as_deref(), Some("key"));
    }
    let task = given!(TaskCreate, subject: "s", description: "d");
    team.under(Control {
        operation: "create-task".into(),
        key: Some("k".into()),
        ..Control::default()
    });
    refused(team.task_create(task), Code::IdempotencyKeyReused);
    assert_eq!(events(&mut team), before);
    settled_digest(&mut team);
}

#[test]
fn each_line_of_a_batch_has_its_own_key() {
    let (_, mut team) = demo();
    let line = |key: &str, n: u64| {
        format!("{{\"kind\":\"seen\",\"key\":\"{key}\",\"payload\":{{\"n\":{n}}}}}\n")
    };
    let all = [line("a", 1), line("b", 2), line("a", 1), line("c", 3)].concat();
    let first = batch(&mut team, &all).unwrap();
    assert_eq!((first.count, first.replayed_lines), (4, 1));
    let seen = |team: &mut Team| kinds(team).iter().filter(|kind| *kind == "seen").count();
    assert_eq!(seen(&mut team), 3);
    let before = events(&mut team).len();
    let again = batch(&mut team, &all).unwrap();
    assert!(again.is_replayed());
    assert_eq!(
        (again.count, again.first_seq, again.last_seq),
        (4, first.first_seq, first.last_seq)
    );
    assert_eq!(events(&mut team).len(), before);
    // The batch has new lines and lines with known keys.
    let more = batch(&mut team, &[line("c", 3), line("d", 4)].concat()).unwrap();
    assert_eq!((more.count, more.replayed_lines), (2, 1));
    assert_eq!(seen(&mut team), 4);
    // A known key with other content refuses the whole group. The refusal names the line.
    let before = events(&mut team).len();
    let bad = [line("e", 5), line("f", 6), line("g", 7), line("b", 9)].concat();
    let refusal = refused(batch(&mut team, &bad), Code::IdempotencyKeyReused);
    assert_eq!(
        (&refusal.details["line"], &refusal.details["appended"]),
        (&json!(4), &json!(2))
    );
    shows!(refusal.message => has "line 4: ");
    let twice = [line("h", 1), line("h", 2)].concat();
    let refusal = refused(batch(&mut team, &twice), Code::IdempotencyKeyReused);
    assert_eq!(refusal.details["line"], 2);
    assert_eq!(events(&mut team).len(), before + 4);
    settled_digest(&mut team);
}

#[test]
fn an_event_that_an_older_version_appended_under_a_key_is_its_own_answer() {
    let (_, mut team) = demo();
    let mut old = NewEvent::new(
        "seen".to_owned(),
        "ci".to_owned(),
        Json::parse(r#"{"n":1}"#).unwrap(),
    );
    (old.schema_version, old.foreign) = (1, true);
    old.refs.set(RefKind::Key, "k".to_owned());
    old.refs.set(RefKind::Task, "T-1".to_owned());
    let exclusive = team.log().lock().unwrap();
    let live = Live::load(team.log(), &exclusive.reader()).unwrap();
    let writer = exclusive.into_writer(live);
    let job =
        move |_: &Live, _: Timestamp| Ok::<_, std::convert::Infallible>(((), vec![old.clone()]));
    writer.commit(Durability::Synced, job).unwrap();
    writer.close().unwrap();
    let before = events(&mut team);
    let known = team.append(fact("k", r#"{"n":1}"#)).unwrap();
    assert_eq!((known.seq, team.repeated()), (2, true));
    refused(
        team.append(fact("k", r#"{"n":2}"#)),
        Code::IdempotencyKeyReused,
    );
    let line = r#"{"kind":"seen","actor":"ci","task_id":"T-1","key":"k","payload":{"n":1}}"#;
    assert!(batch(&mut team, line).unwrap().is_replayed());
    assert_eq!(events(&mut team), before);
}

fn append_batch(root: &Root, input: &Value) -> Result<(Value, bool), Fault> {
    let operation = api::find("append-batch").unwrap();
    let mut input = input.as_object().unwrap().clone();
    input.insert("team_name".into(), json!("demo"));
    let answered = api::call(root, operation, input, Control::default())?;
    let data = serde_json::from_str(answered.data.get()).unwrap();
    Ok((data, answered.team.unwrap().repeated()))
}

#[test]
fn a_batch_that_lies_about_its_file_records_nothing() {
    let (world, mut team) = demo();
    let before = events(&mut team);
    let lies = [
        (
            "before",
            json!({"count": u64::MAX, "first_seq": 1, "last_seq": 2}),
        ),
        ("before", json!({"count": 1, "first_seq": 3, "last_seq": 2})),
        (
            "before",
            json!({"count": 1, "first_seq": null, "last_seq": null}),
        ),
        (
            "before",
            json!({"count": 1, "first_seq": 1, "last_seq": 1, "replayed_lines": 2}),
        ),
        ("lines", json!([1, 2, 3])),
        ("lines", json!([u64::MAX])),
    ];
    for (field, value) in lies {
        let mut input = json!({"facts": [{"kind": "seen"}]});
        input[field] = value;
        let fault = append_batch(&world.root, &input).unwrap_err();
        assert_eq!(fault.code, "invalid_input", "{input}");
        assert_eq!(fault.details["field"], field, "{input}");
    }
    assert_eq!(events(&mut team), before);
}

#[test]
fn a_batch_under_a_key_is_recorded_once_whatever_keys_its_facts_have() {
    let (world, mut team) = demo();
    let facts = json!([{"kind": "seen", "key": "own"}, {"kind": "heard"}]);
    let input = json!({"facts": facts, "key": "k"});
    let (first, replayed) = append_batch(&world.root, &input).unwrap();
    assert!(!replayed);
    has!(first, {"count": 2, "first_seq": 2, "last_seq": 3});
    let before = events(&mut team);
    assert_eq!(append_batch(&world.root, &input).unwrap(), (first, true));
    let other = json!({"facts": [{"kind": "heard"}], "key": "k"});
    let fault = append_batch(&world.root, &other).unwrap_err();
    assert_eq!(fault.code, "idempotency_key_reused");
    assert_eq!(events(&mut team), before);
    let own = json!({"facts": [{"kind": "seen", "key": "own"}]});
    let (again, _) = append_batch(&world.root, &own).unwrap();
    has!(again, {"count": 1, "last_seq": 2, "replayed_lines": 1});
    settled_digest(&mut team);
}

#[test]
fn a_batch_that_finds_the_log_locked_says_what_was_recorded_before() {
    let (world, _team) = demo();
    let lock = std::path::Path::new("teams/demo/lock");
    let _held = world.memory.lock(lock, Duration::ZERO).unwrap();
    let root = world.root.with_options(RootOptions {
        lock_deadline: Duration::ZERO,
        ..world.root.options().clone()
    });
    let mut input = json!({"facts": [{"kind": "seen"}], "lines": [9]});
    let fault = append_batch(&root, &input).unwrap_err();
    assert_eq!(fault.details["code"], "locked");
    input["before"] = json!({"count": 4, "first_seq": 2, "last_seq": 5});
    let fault = append_batch(&root, &input).unwrap_err();
    assert_eq!(fault.code, Code::PartlyAppended.as_str());
    has!(Value::from(fault.details), {"appended": 4, "last_seq": 5, "first_line": 9});
}

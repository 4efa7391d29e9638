//! Appends under conditions: refusals, the event that a refusal names, and the number of look-ups.

use crate::prelude::*;
use teamlog_team::api;
use teamlog_team::log::append_batch::{AppendBatch, BatchAnswer};
use teamlog_team::log::condition::Conditions;
use teamlog_team::log::filter::EventFilter;
use teamlog_team::projections::event_index::IndexMatch;

fn filter(text: &str) -> EventFilter {
    EventFilter::from_text("if_none", text).unwrap()
}

fn fact(kind: &str, tags: &[&str]) -> Append {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    given!(Append, kind, actor: "ci", tags)
}

/// Returns a fact that is recorded only if no event matches a filter.
fn unless(append: Append, text: &str) -> Append {
    given!(Append, if_none: vec![filter(text)], ..append)
}

fn count(team: &mut Team) -> usize {
    events(team).len()
}

#[test]
fn if_seq_refuses_if_anything_was_appended() {
    let (_, mut team) = demo();
    let first = team
        .append(given!(Append, if_seq: 1_u64, ..fact("a", &[])))
        .unwrap();
    assert_eq!(first.seq, 2);
    let refusal = refused(
        team.append(given!(Append, if_seq: 1_u64, ..fact("a", &[]))),
        Code::AppendConflict,
    );
    assert_eq!(refusal.field.as_deref(), Some("if_seq"));
    assert_eq!(
        Value::Object(refusal.details),
        json!({"seq": 2, "last_seq": 2, "from_seq": 2, "id": first.id.to_string(), "kind": "a"})
    );
    let refusal = refused(
        team.append(given!(Append, if_seq: 9_u64, ..fact("a", &[]))),
        Code::CursorAhead,
    );
    assert_eq!(
        (refusal.field.as_deref(), &refusal.details["last_seq"]),
        (Some("if_seq"), &json!(2))
    );
    assert_eq!(count(&mut team), 2);
}

#[test]
fn if_none_refuses_with_the_newest_event_that_matches_every_term() {
    let (_, mut team) = demo();
    team.task_create(crate::claims::new("work")).unwrap();
    let made = count(&mut team) as u64;
    let take = |task: &str| given!(Append, task_id: task, ..fact("taken", &["name=anna", "pr=7"]));
    let first = team.append(take("1")).unwrap();
    let second = team.append(take("2")).unwrap();
    for (text, seq) in [
        ("kind=taken", second.seq),
        ("kind=other,taken", second.seq),
        ("tag=name=anna", second.seq),
        ("kind=taken tag=name=anna tag=pr=7", second.seq),
        ("kind=taken task=1", first.seq),
        ("tag=pr=7 task=1", first.seq),
        ("kind=task_created", made),
        ("kind=task_created task=1", made),
    ] {
        let refusal = refused(
            team.append(unless(fact("x", &[]), text)),
            Code::AppendConflict,
        );
        has!(Value::Object(refusal.details.clone()), {"seq": seq, "last_seq": second.seq});
        assert!(refusal.details["id"].is_string() && refusal.details["kind"].is_string());
        assert!(
            refusal.message.contains(text.split(',').next().unwrap()),
            "{refusal}"
        );
    }
    for text in [
        "kind=other",
        "tag=name=ann",
        "tag=name=anna task=3",
        "kind=task_created task=2",
        "kind=taken trace=tr",
        "kind=taken agent=dev",
    ] {
        let before = count(&mut team);
        team.append(unless(fact("unmatched", &[]), text)).unwrap();
        assert_eq!(count(&mut team), before + 1, "{text}");
    }
    // Any of several filters refuses.
    let both =
        given!(Append, if_none: vec![filter("kind=other"), filter("tag=pr=7")], ..fact("x", &[]));
    refused(team.append(both), Code::AppendConflict);
    settled_digest(&mut team);
}

#[test]
fn after_leaves_out_older_events() {
    let (_, mut team) = demo();
    let first = team.append(fact("counted", &["counter=a"])).unwrap();
    let next = |after: u64| {
        given!(
            Append,
            after,
            ..unless(fact("counted", &["counter=a"]), "tag=counter=a")
        )
    };
    let second = team.append(next(first.seq)).unwrap();
    let refusal = refused(team.append(next(first.seq)), Code::AppendConflict);
    assert_eq!(refusal.details["seq"], second.seq);
    team.append(fact("counted", &["counter=b"])).unwrap();
    team.append(next(second.seq)).unwrap();
    let refusal = refused(team.append(next(999)), Code::CursorAhead);
    assert_eq!(refusal.field.as_deref(), Some("after"));
}

#[test]
fn a_condition_that_breaks_a_rule_is_refused() {
    let (_, mut team) = demo();
    let many = vec![filter("kind=a"); 17];
    for (append, rule) in [
        (
            given!(Append, after: 1_u64, ..fact("x", &[])),
            "if_none is absent",
        ),
        (unless(fact("x", &[]), ""), "must name a kind"),
        (unless(fact("x", &[]), "actor=ci"), "actor"),
        (unless(fact("x", &[]), "tag=pr"), "NAME=VALUE"),
        (
            given!(Append, if_none: many, ..fact("x", &[])),
            "at most 16",
        ),
    ] {
        let refusal = refused(team.append(append), Code::InvalidInput);
        assert!(refusal.message.contains(rule), "{refusal}");
    }
    assert_eq!(count(&mut team), 1);
}

#[test]
fn a_recorded_key_is_answered_before_its_conditions() {
    let (_, mut team) = demo();
    let take = given!(Append, key: "k", if_seq: 1_u64, ..fact("taken", &["name=anna"]));
    let take = unless(take, "kind=taken tag=name=anna");
    let first = team.append(take.clone()).unwrap();
    assert_eq!(team.append(take.clone()).unwrap(), first);
    assert!(team.repeated());
    let other = given!(Append, key: "l", ..take.clone());
    refused(team.append(other), Code::AppendConflict);
    // A refused append leaves its key free.
    let later = given!(Append, key: "l", if_seq: 3_u64, if_none: Vec::new(), ..take);
    team.append(later).unwrap();
    settled_digest(&mut team);
}

fn batch(team: &mut Team, conditions: Conditions, lines: &str) -> Result<BatchAnswer, Failure> {
    let batch = AppendBatch {
        conditions,
        ..AppendBatch::default()
    };
    let appended = team.append_batch(batch, &mut lines.as_bytes());
    appended.map_err(|stopped| stopped.failure)
}

#[test]
fn the_conditions_of_a_batch_hold_for_all_of_it() {
    let (_, mut team) = demo();
    let conditions = |text: &str| Conditions {
        if_none: vec![filter(text)],
        ..Conditions::default()
    };
    // The events of the batch itself do not count, and more than 1,000 lines are one group.
    let line = "{\"kind\":\"taken\",\"tags\":[\"name=anna\"]}\n";
    let taken = batch(&mut team, conditions("tag=name=anna"), &line.repeat(1_500)).unwrap();
    assert_eq!(taken.count, 1_500);
    let refusal = refused(
        batch(&mut team, conditions("tag=name=anna"), &line.repeat(2)),
        Code::AppendConflict,
    );
    assert_eq!(refusal.details["seq"], 1_501);
    assert_eq!(refusal.details["appended"], 0);
    let last = count(&mut team) as u64;
    let if_seq = |seq: u64| Conditions {
        if_seq: Some(seq),
        ..Conditions::default()
    };
    refused(
        batch(&mut team, if_seq(last - 1), line),
        Code::AppendConflict,
    );
    batch(&mut team, if_seq(last), line).unwrap();
    let more = teamlog_engine::limits::GROUP_EVENTS_MAX + 1;
    let before = count(&mut team);
    let refusal = refused(
        batch(
            &mut team,
            if_seq(last + 1),
            &"{\"kind\":\"a\"}\n".repeat(more),
        ),
        Code::TooLarge,
    );
    assert!(
        refusal.details["line"].as_u64().unwrap() > 5_000,
        "{refusal}"
    );
    assert_eq!(count(&mut team), before);
    // Lines that are all recorded under their keys are answered before the conditions.
    let keyed = "{\"kind\":\"a\",\"key\":\"1\"}\n{\"kind\":\"a\",\"key\":\"2\"}\n";
    let first = batch(&mut team, conditions("kind=a"), keyed).unwrap();
    let again = batch(&mut team, conditions("kind=a"), keyed).unwrap();
    assert!(again.is_replayed() && again.last_seq == first.last_seq);
    let other = [keyed, "{\"kind\":\"a\",\"key\":\"3\"}\n"].concat();
    refused(
        batch(&mut team, conditions("kind=a"), &other),
        Code::AppendConflict,
    );
}

#[test]
fn operations_take_conditions_as_json() {
    let (world, mut team) = demo();
    let call = |name: &str, input: Value| {
        let Value::Object(mut input) = input else {
            unreachable!()
        };
        input.insert("team_name".to_owned(), "demo".into());
        let operation = api::find(name).unwrap();
        api::call(&world.root, operation, input, Control::default())
    };
    let if_none = json!([{"kinds": ["taken"], "tags": ["name=anna"]}]);
    let one = json!({"kind": "taken", "tags": ["name=anna"], "if_none": if_none, "if_seq": 1});
    call("append", one.clone()).unwrap();
    let fault = call("append", one).unwrap_err();
    assert_eq!(fault.code, "append_conflict");
    let several =
        json!({"facts": [{"kind": "taken", "tags": ["name=bob"]}], "if_none": if_none, "after": 2});
    call("append-batch", several.clone()).unwrap();
    let without_after = json!({"facts": several["facts"], "if_none": if_none});
    let fault = call("append-batch", without_after).unwrap_err();
    assert_eq!(fault.code, "append_conflict");
    assert!(call("append", json!({"kind": "a", "if_none": [{"kind": "b"}]})).is_err());
    assert_eq!(kinds(&mut team), ["team_created", "taken", "taken"]);
}

#[test]
fn of_many_threads_one_takes_a_name() {
    for resident in [false, true] {
        let (world, mut team) = demo();
        let root = Root::on(world.memory.clone(), world.root.options().clone());
        let root = if resident { root.resident() } else { root };
        let take = |n: u64| {
            let mut team = root.team("demo").unwrap();
            let take = given!(Append, actor: format!("w{n}"), ..fact("taken", &["name=anna"]));
            loop {
                match team.append(unless(take.clone(), "kind=taken tag=name=anna")) {
                    Ok(_) => return true,
                    Err(Failure::Refused(refusal)) => {
                        assert_eq!(refusal.code, Code::AppendConflict, "{refusal}");
                        assert_eq!(
                            (&refusal.details["seq"], &refusal.details["kind"]),
                            (&json!(2), &json!("taken"))
                        );
                        return false;
                    }
                    // Another handle holds the lock.
                    Err(failure) => assert!(failure.code() == "locked", "{failure}"),
                }
            }
        };
        let took = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || take(n))).collect();
            let took = threads.into_iter().map(|thread| thread.join().unwrap());
            took.filter(|took| *took).count()
        });
        assert_eq!(took, 1);
        drop(root);
        assert_eq!(
            kinds(&mut team)
                .iter()
                .filter(|kind| *kind == "taken")
                .count(),
            1
        );
    }
}

#[test]
fn a_condition_costs_the_same_on_a_long_history() {
    let world = World::new();
    world
        .root
        .init(given!(Init, no_views: true, ..Init::for_team("demo")))
        .unwrap();
    let mut team = world.root.team("demo").unwrap();
    let queries = [
        "kind=taken tag=name=n7",
        "tag=name=new",
        "kind=taken tag=name=new tag=all=1",
        "kind=rare task=T1",
        "kind=none tag=all=1",
    ];
    let mut n = 0;
    let mut grow = |team: &mut Team, count: u64| {
        let lines: String = (0..count)
            .map(|_| {
                n += 1;
                let kind = if n % 500 == 1 { "rare" } else { "taken" };
                format!("{{\"kind\":\"{kind}\",\"task_id\":\"T{}\",\"tags\":[\"name=n{n}\",\"all=1\"]}}\n", n % 5)
            })
            .collect();
        team.append_batch(AppendBatch::default(), &mut lines.as_bytes())
            .unwrap();
        team.finish().unwrap();
    };
    let measure = |team: &mut Team| {
        queries.map(|text| {
            let filter = filter(text);
            team.query(|live, _| {
                let mut left = 10_000;
                let query = filter.index_query();
                let found = live.newest_indexed(&query, (1, live.seq()), &mut left)?;
                assert!(!matches!(found, IndexMatch::Stopped(_)), "{text}");
                Ok(10_000 - left)
            })
            .unwrap()
        })
    };
    grow(&mut team, 1_000);
    let short = measure(&mut team);
    grow(&mut team, 20_000);
    let long = measure(&mut team);
    for ((text, short), long) in queries.into_iter().zip(short).zip(long) {
        assert!(long <= short + 8, "{text}: {short} grew to {long}");
    }
}

#[test]
fn a_condition_that_needs_too_many_look_ups_is_refused() {
    let world = World::new();
    world
        .root
        .init(given!(Init, no_views: true, ..Init::for_team("demo")))
        .unwrap();
    let mut team = world.root.team("demo").unwrap();
    let lines: String = (0..12_000)
        .map(|n| {
            format!(
                "{{\"kind\":\"k\",\"task_id\":\"T{}\",\"tags\":[\"{}=1\"]}}\n",
                n % 2,
                if n % 2 == 0 { "a" } else { "b" }
            )
        })
        .collect();
    team.append_batch(AppendBatch::default(), &mut lines.as_bytes())
        .unwrap();
    // No event has both, and both are frequent.
    let append = unless(fact("x", &[]), "tag=a=1 task=T1");
    let refusal = refused(team.append(append.clone()), Code::TooLarge);
    assert!(refusal.hint.unwrap().contains("after"));
    let last = count(&mut team) as u64;
    team.append(given!(Append, after: last - 1_000, ..append))
        .unwrap();
}

#[test]
fn a_refusal_names_the_first_event_that_the_caller_has_not_read() {
    let (_, mut team) = demo();
    for _ in 0..4 {
        team.append(fact("a", &["n=1"])).unwrap();
    }
    let last = count(&mut team) as u64;
    let from = |outcome| refused(outcome, Code::AppendConflict).details["from_seq"].clone();
    let if_seq = given!(Append, if_seq: 2_u64, ..fact("b", &[]));
    assert_eq!(from(team.append(if_seq)), json!(3));
    let after = given!(Append, after: 1_u64, ..unless(fact("b", &[]), "tag=n=1"));
    assert_eq!(from(team.append(after)), json!(2));
    // Without `after`, the event that matched is enough to decide again.
    let whole = unless(fact("b", &[]), "tag=n=1");
    assert_eq!(from(team.append(whole)), json!(last));
}

#[test]
fn the_refusal_of_a_batch_names_the_last_event_of_the_log() {
    let (_, mut team) = demo();
    let first = team.append(fact("a", &["n=1"])).unwrap();
    let batch = AppendBatch {
        conditions: Conditions {
            if_none: vec![filter("tag=n=1")],
            ..Conditions::default()
        },
        ..AppendBatch::default()
    };
    let mut lines: &[u8] = b"{\"kind\":\"b\"}\n";
    let failure = team.append_batch(batch, &mut lines).unwrap_err().failure;
    let refusal = refused::<BatchAnswer>(Err(failure), Code::AppendConflict);
    has!(Value::Object(refusal.details), {"seq": first.seq, "last_seq": first.seq});
}

//! Tests of `append`: facts of foreign kinds.

use crate::prelude::*;
use teamlog_engine::internals::storage::Fault;
use teamlog_team::Result;
use teamlog_team::log::append_batch::{AppendBatch, BatchAnswer};

fn fact(kind: &str) -> Append {
    given!(Append, kind)
}

fn batch(team: &mut Team, size: usize, lines: &str) -> Result<BatchAnswer, Failure> {
    let batch = given!(AppendBatch, batch_size: size, actor: "ci");
    let appended = team.append_batch(batch, &mut lines.as_bytes());
    appended.map_err(|stopped| stopped.failure)
}

#[test]
fn whatever_ends_a_batch_is_told_with_what_is_recorded() {
    let lines = "{\"kind\":\"seen\"}\n\n{\"kind\":\"heard\"}\n{\"kind\":\"felt\"}\n";
    let append = |faulty: &Faulty| {
        let root = Root::on(Arc::new(faulty.clone()), RootOptions::default());
        let mut team = root.team("demo").unwrap();
        let batch = given!(AppendBatch, batch_size: 1);
        team.append_batch(batch, &mut lines.as_bytes())
    };
    let start = Memory::new();
    let root = Root::on(Arc::new(start.clone()), RootOptions::default());
    drop(root.init(Init::for_team("demo")).unwrap());
    let (mut ends, mut met) = (std::collections::BTreeSet::new(), 0);
    for call in 0.. {
        let faulty = Faulty::new(Arc::new(start.snapshot()));
        let opened = {
            let root = Root::on(Arc::new(faulty.clone()), RootOptions::default());
            drop(root.team("demo").unwrap());
            faulty.count()
        };
        faulty.arm(2 * opened + call, Fault::Os(5));
        match append(&faulty) {
            Err(stopped) => {
                let recorded = stopped.recorded;
                let next = [1, 2, 4, 5][recorded.count as usize];
                assert_eq!(stopped.next_line, next, "{stopped}");
                let told = format!(
                    "; {} recorded before, up to event {}",
                    recorded.count,
                    recorded.count + 1
                );
                assert_eq!(
                    stopped.to_string().ends_with(&told),
                    recorded.count > 0,
                    "{stopped}"
                );
                ends.insert(recorded.count);
                met += 1;
            }
            Ok(_) if faulty.count() > 2 * opened + call => {}
            Ok(_) => break,
        }
    }
    assert!(met > 10 && ends.iter().copied().eq(0..3), "{met} {ends:?}");
}

#[test]
fn a_foreign_fact_is_recorded_with_its_refs_and_moves_no_state() {
    let (_, mut team) = demo();
    let before = crate::world::status(&mut team);
    let answer = team
        .append(
            given!(Append, actor: "ci", trace_id: "tr_1", task_id: "T 1", agent: "dev",
                session_id: "s1", payload: r#" {"ok" : true} "#, ..fact("build_finished")),
        )
        .unwrap();
    let event = &events(&mut team)[1];
    assert_eq!(
        json(&answer),
        serde_json::json!({"seq": 2, "id": event["id"], "created_at": event["created_at"]})
    );
    has!(event, {"foreign": true, "payload": {"ok": true}, "actor": "ci", "task_id": "T 1"});
    let after = crate::world::status(&mut team);
    assert_eq!(before.members, after.members);
    assert_eq!(after.task_count, 0);
    assert_eq!(after.events, 2);
}

#[test]
fn a_reserved_kind_is_refused_with_the_command_that_produces_it() {
    let (_, mut team) = demo();
    let refusal = refused(team.append(fact("message_sent")), Code::ReservedKind);
    assert!(refusal.hint.unwrap().contains("send"));
    shows!(refusal.details["command"].as_str().unwrap() => has "send");
    for kind in ["", "Build", "1st", "build-done", "_x", "bücher"] {
        let refusal = refused(team.append(fact(kind)), Code::InvalidInput);
        assert!(refusal.message.contains("^[a-z][a-z0-9_]*$"), "{refusal}");
    }
    assert_eq!(kinds(&mut team), ["team_created"]);
}

#[test]
fn a_fact_without_a_trace_belongs_to_that_of_its_message_or_task() {
    let (_, mut team) = demo();
    let mut assignment = assign("t1", "dev");
    assignment.trace_id = Some("tr_1".into());
    assignment.message_id = Some("m1".into());
    team.task_assign(assignment).unwrap();
    let facts = [
        given!(Append, task_id: "t1", ..fact("seen")),
        given!(Append, message_id: "m1", ..fact("seen")),
        given!(Append, task_id: "t1", trace_id: "tr_2", ..fact("seen")),
        fact("seen"),
    ];
    for fact in facts {
        team.append(fact).unwrap();
    }
    let traces: Vec<serde_json::Value> = events(&mut team)[2..]
        .iter()
        .map(|event| event["trace_id"].clone())
        .collect();
    assert_eq!(
        json(&traces),
        serde_json::json!(["tr_1", "tr_1", "tr_2", null])
    );
}

#[test]
fn a_batch_goes_out_in_atomic_groups() {
    let (world, mut team) = demo();
    let lines: String = (0..25)
        .map(|n| format!("{{\"kind\":\"step_done\",\"payload\":{{\"n\":{n}}}}}\n\n"))
        .collect();
    let answer = batch(&mut team, 10, &lines).unwrap();
    assert_eq!(
        json(&answer),
        serde_json::json!({"count": 25, "first_seq": 2, "last_seq": 26})
    );
    let events = events(&mut team);
    assert_eq!(events.len(), 26);
    assert!(
        events[1..]
            .iter()
            .enumerate()
            .all(|(n, event)| event["payload"]["n"] == n
                && event["actor"] == "ci"
                && event["foreign"] == true)
    );
    let file = std::path::Path::new("teams/demo/events/2026-11-21.jsonl");
    let text = teamlog_engine::storage::Storage::read(&*world.memory, file, 1 << 20).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches("\"group\":[0,10]").count(), 2);
    assert_eq!(text.matches("\"group\":[4,5]").count(), 1);
    assert_eq!(
        json(&batch(&mut team, 10, "\n").unwrap()),
        serde_json::json!({"count": 0, "first_seq": null, "last_seq": null})
    );
}

#[test]
fn a_bad_line_leaves_the_batches_before_it_and_is_named() {
    let (_, mut team) = demo();
    let good = "{\"kind\":\"step_done\"}\n";
    let cases = cases![
        ("{\"kind\":\"task_created\"}" => Code::ReservedKind, "kind"),
        ("{\"kind\":\"step_done\",\"colour\":1}" => Code::InvalidInput, "colour"),
        ("{\"kind\":\"step_done\",\"trace_id\":\"a\\u0001\"}" => Code::InvalidInput, "trace_id"),
        ("{\"kind\":\"step_done\",\"cause\":\"1\"}" => Code::InvalidInput, "cause"),
        ("{\"kind\":\"step_done\",\"payload\":{\"a\":1,\"a\":2}}" => Code::InvalidInput, "payload"),
        ("{\"kind\":" => Code::InvalidInput, "line"),
    ];
    for (bad, code, said) in cases {
        let before = kinds(&mut team).len();
        let input = format!("{}{bad}\n{good}", good.repeat(5));
        let refusal = refused(batch(&mut team, 2, &input), code);
        assert!(refusal.message.starts_with("line 6: "), "{refusal}");
        assert!(refusal.message.contains(said), "{refusal}");
        assert_eq!(refusal.details["line"], 6);
        assert_eq!(refusal.details["appended"], 4, "{refusal}");
        assert_eq!(kinds(&mut team).len(), before + 4);
    }
}

#[test]
fn a_cause_and_a_key_are_kept_and_time_goes_on_between_batches() {
    let (world, mut team) = demo();
    world.later(SECOND);
    let first = team.append(fact("began")).unwrap();
    let line = format!(r#"{{"kind":"ended","key":"k1","cause":"{}"}}"#, first.id);
    batch(&mut team, 1, &line).unwrap();
    let event = &events(&mut team)[2];
    assert_eq!(event["cause"], first.id.to_string());
    assert_eq!(event["key"], "k1");
    assert!(event["created_at"].as_str().unwrap() > &*first.created_at.to_string());
    has!(events(&mut team)[3], {"kind": "response_stored", "key": "k1"});
}

//! Tests of `import` with messages in any order.

use crate::prelude::*;
use teamlog_team::Result;
use teamlog_team::import::events::ImportEvents;
use teamlog_team::import::report::ImportAnswer;

fn line(id: &str, at: &str, kind: &str, payload: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"{kind}","from":"lead","to":"dev","task_id":"t1","trace_id":"tr","created_at":"{at}","payload":{payload}}}"#
    )
}

fn assigned(id: &str, at: &str) -> String {
    line(id, at, "task_assign", r#"{"subject":"s","details":""}"#)
}

fn reported(id: &str, at: &str, status: &str) -> String {
    let payload = format!(r#"{{"status":"{status}"}}"#);
    line(id, at, "task_update", &payload)
}

fn import(world: &World, how: ImportMessages, lines: &[String]) -> Result<ImportAnswer> {
    let how = given!(ImportMessages, team: "demo", ..how);
    let mut lines = Cursor::new(lines.join("\n"));
    world.root.import_messages(how, &mut lines)
}

/// Imports with default options.
fn plain(world: &World, lines: &[String]) -> ImportAnswer {
    import(world, ImportMessages::default(), lines).unwrap()
}

fn export(team: &mut Team) -> String {
    let mut text = String::new();
    team.export(&mut |line| {
        text.push_str(std::str::from_utf8(line).unwrap());
        text.push('\n');
        ControlFlow::Continue(())
    })
    .unwrap();
    text
}

/// Returns three days of messages, out of order.
fn history() -> Vec<String> {
    vec![
        reported("m3", "2026-01-03T08:00:00Z", "completed"),
        assigned("m1", "2026-01-01T08:00:00.5Z"),
        reported("m2b", "2026-01-02T08:00:00Z", "blocked"),
        reported("m2a", "2026-01-02T08:00:00Z", "in_progress"),
    ]
}

#[test]
fn history_lands_in_its_order_at_its_times_on_its_days() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        let how = given!(ImportMessages, format);
        let answer = import(&world, how, &history()).unwrap();
        has!(json(&answer), {"status": "ok", "created": true, "imported": 4, "first_seq": 2, "last_seq": 5});
        let mut team = world.root.team("demo").unwrap();
        let all = events(&mut team);
        let shown = all
            .iter()
            .map(|event| json!([event["message_id"], event["created_at"]]));
        let expected = json!([
            [null, "2026-01-01T08:00:00.499999Z"],
            ["m1", "2026-01-01T08:00:00.500000Z"],
            ["m2a", "2026-01-02T08:00:00.000000Z"],
            ["m2b", "2026-01-02T08:00:00.000000Z"],
            ["m3", "2026-01-03T08:00:00.000000Z"],
        ]);
        assert_eq!(shown.collect::<Value>(), expected);
        let days = world.memory.list(Path::new("teams/demo/events")).unwrap();
        assert_eq!(days.len(), 3, "{days:?}");
        let task = given!(TaskShow, task_id: "t1");
        let task = team.task_show(task).unwrap().task;
        let found = (task.status.name(), task.snapshot_version);
        assert_eq!(found, ("completed", 4));
        let file = Path::new("teams/demo/tasks/t1.json");
        assert!(world.memory.stat(file).unwrap().is_some());
        settled_digest(&mut team);
        assert!(team.verify(None).unwrap().ok);
        team.send(message("lead", "eve")).unwrap();
        let dirs = world.names_in_teams();
        assert_eq!(dirs, ["demo"], "nothing stays aside");
    }
}

#[test]
fn duplicates_and_malformed_lines_are_counted_and_named() {
    let world = World::new();
    let mut lines = history();
    lines.insert(2, "{not json".into());
    lines.push(assigned("m1", "2025-01-01T00:00:00Z"));
    lines.push(assigned("m9", "2027-01-01T00:00:00Z"));
    let without_id =
        r#"{"type":"handoff","from":"a","to":"b","created_at":"2026-01-01T00:00:00Z"}"#;
    lines.push(without_id.into());
    lines.push(r#"{"id":"m8","type":"handoff","from":"a","to":"b"}"#.into());
    lines.push(assigned("m7", "2026-01-01T00:00:00Z").replace("\"dev\"", "\"../x\""));
    let strict = given!(ImportMessages, strict: true);
    let rejected = import(&world, strict, &lines).unwrap();
    assert_eq!((&*rejected.status, rejected.imported), ("rejected", 0));
    assert!(world.root.teams().unwrap().is_empty());

    let answer = plain(&world, &lines);
    has!(json(&answer), {"imported": 4, "duplicates": 1, "malformed": 5, "problems_omitted": 0});
    let expected = [
        (3, "malformed", ""),
        (6, "duplicate", "line 2 has it too"),
        (7, "malformed", "after now"),
        (8, "malformed", "message.id"),
        (9, "malformed", "message.created_at"),
        (10, "malformed", "message.to"),
    ];
    assert_eq!(answer.problems.len(), expected.len());
    for (problem, (line, kind, said)) in answer.problems.iter().zip(expected) {
        assert_eq!((problem.line, &*problem.kind), (line, kind));
        assert!(problem.message.contains(said), "{problem:?}");
    }
}

#[test]
fn what_no_task_can_take_is_a_message_all_the_same_once() {
    let lines = [
        line("m1", "2026-01-01T08:00:00Z", "task_assign", "{}").replace(r#""task_id":"t1","#, ""),
        reported("m2", "2026-01-02T08:00:00Z", "parked"),
        line(
            "m3",
            "2026-01-03T08:00:00Z",
            "task_update",
            r#"{"note":[1]}"#,
        ),
        line("m4", "2026-01-04T08:00:00Z", "handoff", "{}").replace(r#""tr""#, r#""""#),
    ];
    let world = World::new();
    let strict = given!(ImportMessages, strict: true);
    let rejected = import(&world, strict, &lines).unwrap();
    assert_eq!((&*rejected.status, rejected.imported), ("rejected", 0));
    let answer = plain(&world, &lines);
    has!(json(&answer), {"status": "ok", "imported": 4, "malformed": 0,
        "not_applied": {"no_task_id": 1, "unknown_status": 1, "wrong_type": 1}});
    let found = problems(&answer, &["line", "kind"]);
    assert_eq!(
        found,
        json!([[1, "not_applied"], [2, "not_applied"], [3, "not_applied"]])
    );
    let mut team = world.root.team("demo").unwrap();
    let all = events(&mut team);
    assert_eq!(all[4]["trace_id"], Value::Null);
    settled_digest(&mut team);
    // The second import finds only duplicates, so it reports no unapplied message.
    let again = plain(&world, &lines);
    has!(json(&again), {"imported": 0, "duplicates": 4, "not_applied": {}});
    assert_eq!(events(&mut team).len(), all.len());
    // The output of `export` can be imported.
    let text = export(&mut team);
    let how = given!(ImportEvents, team: "copy");
    let mut lines = Cursor::new(text.clone());
    world.root.import_events(how, &mut lines).unwrap();
    let mut copy = world.root.team("copy").unwrap();
    assert_eq!(export(&mut copy), text);
}

#[test]
fn junk_alone_creates_no_team() {
    let world = World::new();
    let answer = plain(&world, &["junk".into()]);
    assert_eq!((&*answer.status, answer.malformed), ("rejected", 1));
    assert!(world.root.teams().unwrap().is_empty());
}

#[test]
fn a_second_import_skips_what_is_known_and_takes_what_is_newer() {
    let world = World::new();
    plain(&world, &history());
    let again = plain(&world, &history());
    has!(json(&again), {"status": "ok", "imported": 0, "duplicates": 4, "created": false});

    let mut more = history();
    more.push(reported("m4", "2026-01-04T08:00:00Z", "failed"));
    let strict = given!(ImportMessages, strict: true);
    assert_eq!(import(&world, strict, &more).unwrap().status, "rejected");
    let answer = plain(&world, &more);
    assert_eq!((answer.imported, answer.duplicates), (1, 4));

    more.push(reported("m0", "2026-01-04T08:00:00Z", "pending"));
    let older = import(&world, ImportMessages::default(), &more);
    let refusal = refused(older, Code::NotNewer);
    assert_eq!(refusal.details["line"], 6);
    let restamp = given!(ImportMessages, restamp: true);
    assert_eq!(import(&world, restamp, &more).unwrap().imported, 1);
    let mut team = world.root.team("demo").unwrap();
    let last = events(&mut team).pop().unwrap();
    assert_eq!(last["created_at"], crate::world::NOON);
    has!(last, {"/payload/message/created_at": "2026-01-04T08:00:00.000000Z"});
    settled_digest(&mut team);
}

#[test]
fn an_import_into_a_team_obeys_its_format_and_its_membership() {
    let (world, mut team) = team_of(Some(&["lead"]), Format::Jsonl);
    let binary = given!(ImportMessages, format: Format::Binary);
    refused(import(&world, binary, &history()), Code::FormatMismatch);
    plain(&world, &[]);
    let unnamed = given!(ImportMessages, team: "-x");
    let unnamed = world.root.import_messages(unnamed, &mut Cursor::new(""));
    refused(unnamed, Code::InvalidInput);
    let restamp = given!(ImportMessages, restamp: true);
    let answer = import(&world, restamp, &history()).unwrap();
    assert_eq!((answer.imported, answer.malformed), (0, 4));
    let problem = &answer.problems[0];
    assert!(problem.message.contains("dev"), "{problem:?}");
    assert_eq!(kinds(&mut team), ["team_created"]);
}

#[test]
fn an_imported_agent_may_have_a_leading_hyphen_and_goes_on_acting() {
    let world = World::new();
    let old = assigned("m1", "2026-01-01T08:00:00Z").replace("\"lead\"", "\"-lead\"");
    plain(&world, &[old]);
    let mut team = world.root.team("demo").unwrap();
    team.send(message("-lead", "dev")).unwrap();
    refused(team.send(message("-other", "dev")), Code::InvalidInput);
    assert!(status(&mut team).members.contains(&"-lead".to_string()));
}

#[test]
fn history_may_depend_on_tasks_of_other_trackers_and_live_assignments_may_not() {
    let world = World::new();
    let payload = r#"{"subject":"s","details":"","deps":["external:x:1"]}"#;
    let old = line("m1", "2026-01-01T08:00:00Z", "task_assign", payload);
    let answer = plain(&world, &[old]);
    assert_eq!(answer.imported, 1, "{:?}", answer.problems);
    let mut team = world.root.team("demo").unwrap();
    let live = given!(TaskAssign, deps: ["external:x:1"], ..assign("t2", "dev"));
    let refusal = refused(team.task_assign(live), Code::InvalidInput);
    assert_eq!(refusal.field.as_deref(), Some("message.payload.deps"));
    settled_digest(&mut team);
}

#[test]
fn an_export_comes_back_without_loss_in_either_format() {
    let (world, mut team) = demo();
    for n in 0..40 {
        world.later(7);
        team.task_assign(assign(&format!("t{n}"), "dev")).unwrap();
    }
    let payload = r#"{"text":"ü \u0007 \"q\"","n":1.50}"#;
    let strange = given!(Send, payload, ..message("lead", "qa"));
    team.send(strange).unwrap();
    let text = export(&mut team);
    let digest = settled_digest(&mut team);
    for (name, format) in [("copy", Format::Jsonl), ("packed", Format::Binary)] {
        let how =
            given!(ImportEvents; team: name, format, allow_network_fs: false, keep_tokens: false);
        let answer = world
            .root
            .import_events(how.clone(), &mut text.as_bytes())
            .unwrap();
        assert_eq!(
            (answer.imported, answer.first_seq, answer.last_seq),
            (42, Some(1), Some(42))
        );
        let mut copy = world.root.team(name).unwrap();
        assert_eq!(export(&mut copy), text);
        assert_eq!(settled_digest(&mut copy), digest);
        assert!(copy.verify(None).unwrap().ok);
        let read = given!(Read, agent: "qa");
        assert_eq!(copy.read(read).unwrap().count, 1);
        refused(
            world.root.import_events(how, &mut text.as_bytes()),
            Code::TeamExists,
        );
    }
}

#[test]
fn a_broken_export_is_refused_with_its_line_and_leaves_nothing() {
    let (world, mut team) = demo();
    for n in 0..3 {
        team.task_assign(assign(&format!("t{n}"), "dev")).unwrap();
    }
    let text = export(&mut team);
    let lines: Vec<&str> = text.lines().collect();
    let joined = |lines: &[&str]| lines.join("\n");
    let broken = [
        joined(&[lines[0], lines[2]]),
        joined(&[lines[0], "{}"]),
        joined(&[
            lines[0],
            &lines[1].replace("\"kind\":\"message_sent\"", "\"kind\":\"Sent\""),
        ]),
        joined(&[lines[0], &lines[1][..40]]),
    ];
    for text in broken {
        let how = given!(ImportEvents, team: "copy");
        let refusal = refused(
            world.root.import_events(how, &mut text.as_bytes()),
            Code::InvalidInput,
        );
        assert!(refusal.message.starts_with("line 2: "), "{refusal}");
        assert_eq!(world.root.teams().unwrap(), ["demo"]);
    }
    assert_eq!(world.names_in_teams(), ["demo"]);
}

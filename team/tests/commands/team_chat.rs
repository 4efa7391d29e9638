//! Tests of `import --team-chat`: it imports a directory of the message protocol in order, and reports faults by file and
//! line.

use crate::prelude::*;
use teamlog_engine::internals::storage::Fault;
use teamlog_team::Result;
use teamlog_team::import::team_chat::ChatAnswer;

fn envelope(id: &str, kind: &str, to: &str, at: &str, rest: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"{kind}","from":"lead","to":"{to}","created_at":"2026-01-{at}Z"{rest}}}"#
    )
}

fn assigned(id: &str, task: &str, at: &str) -> String {
    let rest = format!(r#","task_id":"{task}","trace_id":"tr","payload":{{"subject":"s"}}"#);
    envelope(id, "task_assign", "dev", at, &rest)
}

fn acked(message: &str, agent: &str, at: &str) -> String {
    format!(
        r#"{{"id":"ev_{message}","schema_version":1,"kind":"message_acked","team":"old","created_at":"2026-01-{at}Z","payload":{{"message_id":"{message}","agent":"{agent}"}}}}"#
    )
}

fn snapshot(task: &str, status: &str) -> String {
    format!(
        r#"{{"task_id":"{task}","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-03T00:00:00Z","owner":"qa","subject":"left","status":"{status}","snapshot_version":4,"last_message_id":"gone","last_message_created_at":"2026-01-03T00:00:00Z"}}"#
    )
}

/// Creates a directory with files of every kind, including faults.
fn directory() -> Memory {
    let letter = format!(
        r#"{{"id":"dlq_1","schema_version":1,"team":"old","message_id":"m4","reason":"ack_timeout","attempts":3,"created_at":"2026-01-02T11:00:00Z","message":{}}}"#,
        envelope("m4", "decision_required", "qa", "02T10:00:00", "")
    );
    let lines = [
        (
            "team.json",
            r#"{"team":"old","members":["lead","dev","idle"],"schema_version":1}"#.to_owned(),
        ),
        (
            "inboxes/dev.jsonl",
            [
                assigned("m2", "T-1", "02T09:00:00"),
                assigned("m1", "T-1", "01T09:00:00"),
                "not json".to_owned(),
                envelope("m3", "handoff", "dev", "01T09:00:00", ""),
                assigned("m1", "T-1", "01T09:00:00"),
            ]
            .join("\n"),
        ),
        (
            "events/2026-01-02.jsonl",
            [
                r#"{"id":"e1","kind":"message_sent","team":"old","created_at":"2026-01-01T09:00:00Z","payload":{"message":{"id":"m1"}}}"#.to_owned(),
                // The sender's clock was slow. The ack is still sorted after its message.
                acked("m1", "dev", "01T08:00:00"),
                acked("m1", "dev", "01T09:30:00").replace("ev_m1", "ev_m1b"),
                acked("m3", "qa", "01T09:30:00"),
                acked("nothing", "dev", "01T09:30:00"),
                r#"{"kind":"message_acked","created_at":"2026-01-01T09:00:00Z","payload":{}}"#.to_owned(),
            ]
            .join("\n"),
        ),
        ("dead-letter/2026-01-02.jsonl", letter),
        ("tasks/T-1.json", snapshot("T-1", "done")),
        ("tasks/T-9.json", snapshot("T-9", "in_progress")),
        ("tasks/bad.json", "{".to_owned()),
        ("state/index.json", "{}".to_owned()),
    ];
    directory_of(&lines)
}

fn import(root: &Root, from: &dyn Storage, strict: bool) -> Result<ChatAnswer> {
    let import = given!(ImportTeamChat, team: "old", strict);
    root.import_team_chat(&import, from)
}

#[test]
fn everything_gets_in_in_order_and_what_is_wrong_is_named() {
    let world = World::new();
    // The test's clock shows a time in November 2026.
    let answer = import(&world.root, &directory(), false).unwrap();
    let expected = json!({
        "files": 7, "messages": 4, "acks": 1, "dead_letters": 1, "tasks": 1, "tasks_from_messages": 1,
        "events_kept": 3, "events_passed_by": 1, "settings": 0, "duplicates": 2, "orphans": 2, "malformed": 3,
        "not_applied": {},
    });
    assert_eq!(json(&answer.counts), expected);
    let expected = json!([
        ["events/2026-01-02.jsonl", 3, "duplicate"],
        ["events/2026-01-02.jsonl", 4, "orphan"],
        ["events/2026-01-02.jsonl", 5, "orphan"],
        ["events/2026-01-02.jsonl", 6, "malformed"],
        ["inboxes/dev.jsonl", 3, "malformed"],
        ["inboxes/dev.jsonl", 5, "duplicate"],
        ["tasks/bad.json", 0, "malformed"],
    ]);
    assert_eq!(problems(&answer, &["file", "line", "kind"]), expected);
    let mut team = world.root.team("old").unwrap();
    names!(kinds(&mut team) => team_created message_sent message_sent message_acked message_acked
        message_acked message_acked message_sent message_sent delivery_dead_letter task_imported
        log_imported);
    let all = events(&mut team);
    let sent = all.iter().filter(|event| event["kind"] == "message_sent");
    let ids: Vec<&Value> = sent.map(|event| &event["message_id"]).collect();
    assert_eq!(ids, ["m1", "m3", "m2", "m4"]);
    let foreign: Vec<bool> = all.iter().map(|event| event["foreign"] == true).collect();
    let moves_nothing = "acks of nothing, or once more, move nothing";
    assert_eq!(foreign[3..7], [false, true, true, true], "{moves_nothing}");
    has!(all[11], {"/payload/messages": 4, "/payload/source": "team-chat"});
    assert_eq!((answer.first_seq, answer.last_seq), (Some(1), Some(12)));

    let said = status(&mut team);
    assert_eq!(said.members, ["dev", "idle", "lead", "qa"]);
    assert_eq!(said.task_count, 2);
    let read = |agent: &str| given!(Read, agent, unread: true);
    assert_eq!(team.read(read("dev")).unwrap().count, 2);
    assert_eq!(team.read(read("qa")).unwrap().count, 1);
    settled_digest(&mut team);
    // The task has the snapshot's values until a newer message comes.
    let show = |task: &str| given!(TaskShow, task_id: task);
    let task = json(&team.task_show(show("T-9")).unwrap())["task"].clone();
    has!(task, {"status": "in_progress", "owner": "qa", "snapshot_version": 4});
    let late = crate::world::update("T-9", "completed");
    team.task_update(late).unwrap();
    let task = json(&team.task_show(show("T-9")).unwrap())["task"].clone();
    has!(task, {"status": "completed", "snapshot_version": 5});
    settled_digest(&mut team);
    assert!(team.verify(None).unwrap().ok);
    // The task also has a view file.
    let file = Path::new("teams/old/tasks/T-9.json");
    let file = world.memory.read(file, 9999);
    shows!(String::from_utf8(file.unwrap()).unwrap() => has "\"completed\"");
}

#[test]
fn strict_takes_all_or_nothing_and_an_empty_directory_gives_no_team() {
    let world = World::new();
    shows!(import(&world.root, &directory(), true).unwrap().status => is "rejected");
    shows!(import(&world.root, &Memory::new(), false).unwrap().status => is "rejected");
    assert!(world.root.teams().unwrap().is_empty());
    import(&world.root, &directory(), false).unwrap();
    refused(import(&world.root, &directory(), false), Code::TeamExists);
}

#[test]
fn both_formats_and_every_stop_give_the_same_team_or_none() {
    let world = World::new();
    import(&world.root, &directory(), false).unwrap();
    let digest = settled_digest(&mut world.root.team("old").unwrap());
    for call in (0..).step_by(3) {
        let memory = Memory::new();
        let faulty = Faulty::new(Arc::new(memory.clone()));
        faulty.arm(call, Fault::Stop);
        let root = Root::on(Arc::new(faulty.clone()), world.root.options().clone());
        let how = given!(ImportTeamChat, team: "old", format: Format::Binary);
        let done = root.import_team_chat(&how, &directory());
        if faulty.count() <= call {
            done.unwrap();
            break;
        }
        for after in [memory.lose_unsynced(), memory.keep_unsynced()] {
            let root = Root::on(Arc::new(after), world.root.options().clone());
            if root.teams().unwrap().is_empty() {
                root.import_team_chat(&how, &directory()).unwrap();
            }
            let mut team = root.team("old").unwrap();
            assert_eq!(kinds(&mut team).len(), 12, "call {call}");
            assert_eq!(settled_digest(&mut team).len(), digest.len());
        }
    }
}

fn directory_of(files: &[(&str, impl AsRef<str>)]) -> Memory {
    let memory = Memory::new();
    for (path, text) in files {
        let (path, text) = (Path::new(path), text.as_ref());
        memory.create_dir_all(path.parent().unwrap()).unwrap();
        memory.replace(path, text.as_bytes(), true).unwrap();
    }
    memory
}

#[test]
fn what_no_task_can_take_is_in_the_log_and_counted() {
    let files = [
        (
            "inboxes/dev.jsonl",
            r#"{"id":"m1","type":"task_assign","from":"lead","to":"dev","created_at":"2026-01-01T00:00:00Z","payload":{"subject":"s"}}
{"id":"m2","type":"task_update","from":"lead","to":"dev","task_id":"T-1","trace_id":"","created_at":"2026-01-02T00:00:00Z","payload":{"status":"parked","progress":0.5}}
{"id":"m3","type":"task_update","from":"lead","to":"dev","task_id":"T-1","created_at":"2026-01-03T00:00:00Z","payload":{"note":7,"status":"paused","blocked":"yes"}}
"#,
        ),
        ("tasks/T-2.json", &*snapshot("T-2", "parked")),
    ];
    let directory = directory_of(&files);
    let world = World::new();
    let strict = import(&world.root, &directory, true).unwrap();
    assert_eq!(strict.status, "rejected");
    assert!(world.root.teams().unwrap().is_empty());

    let answer = import(&world.root, &directory, false).unwrap();
    has!(json(&answer), {"status": "ok", "messages": 3, "malformed": 0,
        "not_applied": {"no_task_id": 1, "unknown_status": 3, "wrong_type": 1}});
    let inbox = |line| json!(["inboxes/dev.jsonl", line, "not_applied"]);
    let task = json!(["tasks/T-2.json", 0, "not_applied"]);
    let expected = json!([inbox(1), inbox(2), inbox(3), inbox(3), inbox(3), task]);
    assert_eq!(problems(&answer, &["file", "line", "kind"]), expected);
    let problem = &answer.problems[1];
    assert!(problem.message.contains("parked"), "{problem:?}");

    let mut team = world.root.team("old").unwrap();
    let all = events(&mut team);
    has!(all[1], {"/payload/not_applied": {"task_id": "no_task_id"}});
    has!(all[2], {"/payload/not_applied": {"status": "unknown_status"}, "trace_id": null});
    has!(all[3], {"/payload/not_applied": {"blocked": "wrong_type", "note": "wrong_type", "status": "unknown_status"}});
    has!(all[3], {"/payload/message/payload/status": "paused"}, "as it came");
    let show = |task: &str| given!(TaskShow, task_id: task);
    let task = json(&team.task_show(show("T-1")).unwrap())["task"].clone();
    has!(task, {"status": "pending", "owner": "dev", "progress": 0.5, "snapshot_version": 2});
    let task = json(&team.task_show(show("T-2")).unwrap())["task"].clone();
    has!(task, {"status": "pending", "owner": "qa"});
    assert_eq!(team.read(given!(Read, agent: "dev")).unwrap().count, 3);
    settled_digest(&mut team);
    assert!(team.verify(None).unwrap().ok);
    let check = json(&doctor(&world.root, "old"));
    assert_eq!(check["stats"]["unhealthy"], 0, "{check}");
}

#[test]
fn what_cannot_be_read_is_named_by_file_and_line_and_the_rest_gets_in() {
    let long = "x".repeat(1 << 20);
    let inbox = format!(
        r#"{{"id":"m1","type":"handoff","from":"lead","to":"dev","created_at":"2026-01-01T00:00:00Z","payload":{{"x":"{long}"}}}}
{{"id":"m2","type":"handoff","from":"lead","to":"dev","created_at":"2026-01-01T00:00:00Z"}}
{{"id":"m3","type":"handoff","from":"lead","to":"dev","created_at":"2026-01-01T00:00:00Z","payload":{{"x":{}1{}}}}}
"#,
        "[".repeat(62),
        "]".repeat(62)
    );
    let event = |id: &str, rest: &str| {
        format!(r#"{{"id":"{id}","created_at":"2026-01-01T00:00:00Z",{rest}}}"#)
    };
    let of_events = [
        event(
            "e1",
            r#""kind":"message_suppressed","trace_id":"tr","payload":{"message_id":"m9"}"#,
        ),
        event("e1", r#""kind":"message_suppressed","payload":{}"#),
        event("e2", r#""kind":"Not a kind","payload":{}"#),
        event("e3", r#""payload":{}"#),
        event(
            "e4",
            &format!(r#""kind":"noted","payload":{{"x":"{long}"}}"#),
        ),
        "[]".to_owned(),
        event(
            "e5",
            r#""kind":"inbox_read","payload":{"agent":"dev","count":3}"#,
        ),
        event(
            "e6",
            r#""kind":"message_sent","trace_id":"tr","payload":{"message":{"id":"lost","from":"lead","to":"dev"}}"#,
        ),
    ];
    let of_events = of_events.join("\n");
    let files = [
        ("inboxes/dev.jsonl", &*inbox),
        ("inboxes/idle.jsonl", ""),
        ("events/2026-01-01.jsonl", &*of_events),
        (
            "config.json",
            r#"{"ack_policy":{"default":{"max_retries":7},"handoff":{"max_retries":-1}}}"#,
        ),
    ];
    let world = World::new();
    let answer = import(&world.root, &directory_of(&files), false).unwrap();
    let places: Vec<(&str, u64, &str)> = answer
        .problems
        .iter()
        .map(|problem| (&*problem.file, problem.line, problem.kind))
        .collect();
    let day = "events/2026-01-01.jsonl";
    let inbox = "inboxes/dev.jsonl";
    assert_eq!(
        places,
        [
            ("config.json", 0, "malformed"),
            (day, 2, "duplicate"),
            (day, 3, "malformed"),
            (day, 4, "malformed"),
            (day, 5, "malformed"),
            (day, 6, "malformed"),
            (inbox, 1, "malformed"),
            (inbox, 3, "malformed"),
        ],
        "{:?}",
        answer.problems
    );
    let counts = &answer.counts;
    assert_eq!(
        (counts.messages, counts.events_kept, counts.settings),
        (1, 3, 1)
    );
    let mut team = world.root.team("old").unwrap();
    assert_eq!(status(&mut team).members, ["dev", "idle", "lead"]);
    let kept: Vec<serde_json::Value> = events(&mut team)
        .into_iter()
        .filter(|event| event["foreign"] == true)
        .collect();
    let told: Vec<[&str; 3]> = kept
        .iter()
        .map(|event| {
            ["kind", "actor", "message_id"].map(|field| event[field].as_str().unwrap_or("-"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ["message_suppressed", "teamlog", "m9"],
            ["inbox_read", "dev", "-"],
            ["message_sent", "lead", "lost"]
        ]
    );
    assert_eq!(kept[0]["payload"]["id"], "e1");
    assert_eq!(
        status(&mut team).message_count,
        1,
        "a kept event moves nothing"
    );
    let trace = given!(teamlog_team::story::trace::Trace, trace_id: "tr");
    assert_eq!(team.trace(trace).unwrap().count, 2);
    // Only the import may record a reserved kind as foreign.
    let own = given!(teamlog_team::log::append::Append, kind: "message_suppressed");
    refused(team.append(own), Code::ReservedKind);
    settled_digest(&mut team);
}

//! `import --team-chat`: what a directory of the message protocol says, in order; what is wrong in it, by file and line.

use crate::world::{World, events, json, kinds, refused, settled_digest, status};
use std::path::Path;
use std::sync::Arc;
use teamlog_engine::Format;
use teamlog_engine::storage::{Fault, Faulty, Memory, Storage};
use teamlog_team::command::import_team_chat::{ChatAnswer, ImportTeamChat};
use teamlog_team::command::read::Read;
use teamlog_team::command::task_show::TaskShow;
use teamlog_team::{Code, Result, Root};

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

/// A directory with something of everything.
fn directory() -> Memory {
    let memory = Memory::new();
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
                r#"{"id":"e1","kind":"message_sent","team":"old","created_at":"2026-01-01T09:00:00Z","payload":{}}"#.to_owned(),
                // Its clock was behind: it still comes after its message.
                acked("m1", "dev", "01T08:00:00"),
                acked("m1", "dev", "01T09:30:00"),
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
    for (path, text) in lines {
        memory
            .create_dir(Path::new(path).parent().unwrap())
            .unwrap();
        memory
            .replace(Path::new(path), text.as_bytes(), true)
            .unwrap();
    }
    memory
}

fn import(root: &Root, from: &dyn Storage, strict: bool) -> Result<ChatAnswer> {
    let import = ImportTeamChat {
        team: "old".into(),
        strict,
        ..ImportTeamChat::default()
    };
    root.import_team_chat(&import, from)
}

#[test]
fn everything_gets_in_in_order_and_what_is_wrong_is_named() {
    let world = World::new();
    // The world's clock is in 2026-11.
    let answer = import(&world.root, &directory(), false).unwrap();
    let counts = json(&answer.counts);
    assert_eq!(
        counts,
        serde_json::json!({
            "files": 7, "messages": 4, "acks": 1, "dead_letters": 1, "tasks": 1, "tasks_from_messages": 1,
            "events_passed_by": 1, "duplicates": 2, "orphans": 2, "malformed": 3,
        })
    );
    let places: Vec<(String, u64, &str)> = answer
        .problems
        .iter()
        .map(|problem| (problem.file.clone(), problem.line, problem.kind))
        .collect();
    let day = || "events/2026-01-02.jsonl".to_owned();
    assert_eq!(
        places,
        [
            (day(), 3, "duplicate"),
            (day(), 4, "orphan"),
            (day(), 5, "orphan"),
            (day(), 6, "malformed"),
            ("inboxes/dev.jsonl".into(), 3, "malformed"),
            ("inboxes/dev.jsonl".into(), 5, "duplicate"),
            ("tasks/bad.json".into(), 0, "malformed"),
        ]
    );
    let mut team = world.root.team("old").unwrap();
    assert_eq!(
        kinds(&mut team),
        [
            "team_created",
            "message_sent",
            "message_sent",
            "message_acked",
            "message_sent",
            "message_sent",
            "delivery_dead_letter",
            "task_imported",
            "log_imported",
        ]
    );
    let all = events(&mut team);
    let ids: Vec<&str> = all
        .iter()
        .filter(|event| event["kind"] == "message_sent")
        .map(|event| event["message_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["m1", "m3", "m2", "m4"]);
    assert_eq!(all[8]["payload"]["messages"], 4);
    assert_eq!(all[8]["payload"]["source"], "team-chat");
    assert_eq!((answer.first_seq, answer.last_seq), (Some(1), Some(9)));

    let said = status(&mut team);
    assert_eq!(said.members, ["dev", "idle", "lead", "qa"]);
    assert_eq!(said.task_count, 2);
    let read = |agent: &str| Read {
        agent: agent.into(),
        unread: true,
        ..Read::default()
    };
    assert_eq!(team.read(read("dev")).unwrap().count, 2);
    assert_eq!(team.read(read("qa")).unwrap().count, 1);
    settled_digest(&mut team);
    // The snapshot stands until a newer message comes.
    let show = |task: &str| TaskShow {
        task_id: task.into(),
        ..TaskShow::default()
    };
    let task = json(&team.task_show(show("T-9")).unwrap())["task"].clone();
    assert_eq!(
        (task["status"].as_str(), task["owner"].as_str()),
        (Some("in_progress"), Some("qa"))
    );
    assert_eq!(task["snapshot_version"], 4);
    let late = crate::world::update("T-9", "completed");
    team.task_update(late).unwrap();
    let task = json(&team.task_show(show("T-9")).unwrap())["task"].clone();
    assert_eq!(
        (task["status"].as_str(), &task["snapshot_version"]),
        (Some("completed"), &5.into())
    );
    settled_digest(&mut team);
    assert!(team.verify(None).unwrap().ok);
    // The view file is there too.
    let file = world
        .memory
        .read(Path::new("teams/old/tasks/T-9.json"), 9999);
    assert!(
        String::from_utf8(file.unwrap())
            .unwrap()
            .contains("\"completed\"")
    );
}

#[test]
fn strict_takes_all_or_nothing_and_an_empty_directory_gives_no_team() {
    let world = World::new();
    assert_eq!(
        import(&world.root, &directory(), true).unwrap().status,
        "rejected"
    );
    assert_eq!(
        import(&world.root, &Memory::new(), false).unwrap().status,
        "rejected"
    );
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
        let how = ImportTeamChat {
            team: "old".into(),
            format: Some(Format::Binary),
            ..ImportTeamChat::default()
        };
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
            assert_eq!(kinds(&mut team).len(), 9, "call {call}");
            assert_eq!(settled_digest(&mut team).len(), digest.len());
        }
    }
}

//! Tests of view files and their repair.

use crate::support::*;
use std::path::Path;
use teamlog_engine::Durability;
use teamlog_engine::Writer;
use teamlog_engine::storage::OpenMode;
use teamlog_projections::Live;
use teamlog_projections::views::ViewBatch;

fn filled() -> Team {
    let team = Team::new();
    team.send(&[assign("m1", "1", "dev", 1, r#"{"subject":"S"}"#)]);
    team.send(&[message(
        "m2",
        MessageType::Message,
        "qa",
        2,
        r#"{"body":"hi"}"#,
    )]);
    team.send(&[assign("m3", "2", "dev", 3, r#"{"subject":"T"}"#)]);
    team
}

fn write(team: &Team, name: &str, text: &str) {
    team.storage
        .replace(&team.path(name), text.as_bytes(), false)
        .unwrap();
}

#[test]
fn views_follow_every_command() {
    let team = filled();
    let dev = team.view("inboxes/dev.jsonl");
    let lines: Vec<&str> = dev.lines().collect();
    assert!(lines[0].starts_with(
        r#"{"seq":2,"id":"m1","type":"task_assign","from":"lead","to":"dev","task_id":"1","#
    ));
    assert!(
        lines[1].starts_with(r#"{"seq":4,"id":"m3","#) && dev.ends_with("}\n") && lines.len() == 2
    );
    for line in lines {
        let _: serde_json::Value = serde_json::from_str(line).unwrap();
    }
    let task = team.json("tasks/1.json");
    has!(task, {"task_id": "1", "subject": "S", "title": "S", "status": "assigned",
        "schema_version": 1, "schemaVersion": "1.0.0",
        "snapshot_conflict_policy": "created_at_then_message_id_monotonic", "seq": 2, "eta": null});
    let text = team.view("tasks/1.json");
    assert!(text.starts_with("{\n  \"schema_version\": 1,\n") && text.ends_with("}\n"));
    let json = team.live().task("1").unwrap().unwrap().to_json();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(json.as_str()).unwrap(),
        task
    );
    let info = team.json("team.json");
    has!(info, {"members": ["dev", "lead", "qa"], "team": "demo", "seq": 1});
    assert_eq!(
        team.live().agent("dev").unwrap().view_bytes,
        dev.len() as u64
    );
}

#[test]
fn a_team_without_views_has_no_files() {
    let team = Team::empty(Format::Jsonl);
    team.append(vec![created(&["lead", "dev"], false)]);
    team.send(&[assign("m1", "1", "dev", 1, "{}")]);
    team.rebuilt();
    assert!(team.views().is_empty());
    let names = team.storage.list(Path::new("teams/demo")).unwrap();
    assert!(
        !names
            .iter()
            .any(|name| name.starts_with("inboxes") || name == "views"),
        "{names:?}"
    );
}

#[test]
fn a_superseded_message_leaves_the_task_view_alone() {
    let team = filled();
    let before = team.view("tasks/1.json");
    team.send(&[update("m0", "1", "dev", 0, r#"{"status":"done"}"#)]);
    assert_eq!(team.view("tasks/1.json"), before);
    assert_eq!(team.view("inboxes/lead.jsonl").lines().count(), 1);
}

#[test]
fn the_next_writer_mends_what_a_crash_left_behind_the_head() {
    let team = filled();
    let whole = {
        let twin = filled();
        twin.send(&[
            assign("m4", "3", "dev", 4, "{}"),
            update("m5", "1", "dev", 5, r#"{"status":"done"}"#),
        ]);
        twin.append(vec![ack("m2", "qa")]);
        twin.views()
    };
    // A writer without views leaves the same state as a writer that died right after the write of the head.
    let exclusive = team.log.lock().unwrap();
    let live = Live::load(&team.log, &exclusive.reader()).unwrap();
    let writer = exclusive.into_writer(live);
    let sent = [
        assign("m4", "3", "dev", 4, "{}"),
        update("m5", "1", "dev", 5, r#"{"status":"done"}"#),
    ];
    commit(
        &writer,
        sent.iter().map(|message| message.sent().unwrap()).collect(),
    );
    writer.close().unwrap();
    // Only half of a line was written.
    let path = team.path("inboxes/dev.jsonl");
    let file = team.storage.open(&path, OpenMode::Write).unwrap();
    let len = file.stat().unwrap().len;
    file.write_all_at(b"{\"seq\":5,\"id\":\"m", len).unwrap();
    assert_ne!(team.views(), whole);
    team.append(vec![ack("m2", "qa")]);
    assert_eq!(team.views(), whole);
}

#[test]
fn an_inbox_that_is_not_whole_is_rebuilt_by_the_next_message_to_it() {
    for damage in [0, 1, 2, 3] {
        let team = filled();
        let path = team.path("inboxes/dev.jsonl");
        let before = team.view("inboxes/dev.jsonl");
        match damage {
            0 => team.storage.remove_file(&path).unwrap(),
            1 => write(&team, "inboxes/dev.jsonl", &before[..before.len() - 5]),
            2 => write(&team, "inboxes/dev.jsonl", &format!("{before}junk")),
            _ => team.storage.remove_dir_all(&team.path("inboxes")).unwrap(),
        }
        team.send(&[message("m9", MessageType::Message, "dev", 9, "{}")]);
        let after = team.view("inboxes/dev.jsonl");
        assert!(
            after.starts_with(&before) && after.lines().count() == 3,
            "{damage}: {after}"
        );
        assert!(
            team.storage
                .stat(&team.path("inboxes/qa.jsonl"))
                .unwrap()
                .is_some()
        );
        assert_eq!(
            team.rebuilt().0,
            given!(ViewUpdate; kept: 5, written: 0, removed: 0),
            "{damage}"
        );
    }
}

#[test]
fn a_missing_task_directory_is_built_whole() {
    let team = filled();
    let before = team.views();
    team.storage.remove_dir_all(&team.path("tasks")).unwrap();
    team.send(&[update("m0", "1", "dev", 0, r#"{"status":"done"}"#)]);
    assert!(
        team.storage.stat(&team.path("tasks")).unwrap().is_none(),
        "nothing touched a task"
    );
    team.send(&[assign("m9", "1", "dev", 1, r#"{"subject":"S"}"#)]);
    assert_eq!(
        team.storage.list(&team.path("tasks")).unwrap(),
        ["1.json", "2.json"]
    );
    assert_eq!(team.view("tasks/2.json"), before[1].1);
}

#[test]
fn a_lost_cursor_has_all_views_looked_at() {
    let team = filled();
    let before = team.views();
    write(&team, "views", "no cursor");
    write(&team, "tasks/2.json", "{}");
    team.storage.remove_file(&team.path("team.json")).unwrap();
    write(&team, "inboxes/stranger.jsonl", "x\n");
    team.append(vec![foreign("looked_around")]);
    assert_eq!(team.views(), before);
}

#[test]
fn a_rebuild_writes_only_what_differs() {
    let team = filled();
    let before = team.views();
    assert_eq!(
        team.rebuilt().0,
        given!(ViewUpdate; kept: 5, written: 0, removed: 0)
    );
    write(&team, "tasks/1.json", "torn");
    write(&team, "tasks/orphan.json", "{}");
    let qa = team.view("inboxes/qa.jsonl");
    write(&team, "inboxes/qa.jsonl", &qa.replace("hi", "ho"));
    team.storage.create_dir(&team.path("inboxes/odd")).unwrap();
    assert_eq!(
        team.rebuilt().0,
        given!(ViewUpdate; kept: 3, written: 2, removed: 2)
    );
    assert_eq!(team.views(), before);
    team.storage.remove_dir_all(&team.path("inboxes")).unwrap();
    team.storage.remove_dir_all(&team.path("tasks")).unwrap();
    assert_eq!(
        team.rebuilt().0,
        given!(ViewUpdate; kept: 1, written: 4, removed: 0)
    );
    assert_eq!(team.views(), before);
}

#[test]
fn views_wait_for_the_group_that_makes_them() {
    let team = filled();
    let writer = team.writer();
    let sent = message("m9", MessageType::Message, "qa", 9, "{}")
        .sent()
        .unwrap();
    let job = move |_: &Live, _| Ok::<_, std::convert::Infallible>(((), vec![sent.clone()]));
    writer.commit(Durability::Buffered, job).unwrap();
    assert_eq!(team.view("inboxes/qa.jsonl").lines().count(), 1);
    writer.with_state(|live| {
        assert_eq!(
            live.agent("qa").unwrap().received,
            2,
            "later decisions see it"
        );
        live.flush().unwrap();
    });
    writer.sync().unwrap();
    assert_eq!(team.view("inboxes/qa.jsonl").lines().count(), 2);
    let mut live = writer.close().unwrap();
    live.flush().unwrap();
    assert_eq!(live.digest().unwrap(), team.rebuilt().1);
}

/// Creates a writer that stays open, with two changes of the same files: a collected batch, and later events.
fn behind_a_batch(team: &Team) -> (Writer<Live>, ViewBatch) {
    let writer = team.writer();
    writer.with_state(Live::write_views_later);
    let report = |id: &str, minute, note: &str| {
        let payload = format!(r#"{{"note":"{note}"}}"#);
        update(id, "1", "dev", minute, &payload).sent().unwrap()
    };
    commit(&writer, vec![report("m4", 4, "old")]);
    let batch = writer.with_state(Live::collect_views).unwrap();
    commit(&writer, vec![report("m5", 5, "new")]);
    (writer, batch)
}

#[test]
fn what_is_written_at_once_waits_for_the_batch_before() {
    let team = filled();
    let (writer, batch) = behind_a_batch(&team);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // If the writer did not wait for the first batch, it would write the later changes during this sleep.
            std::thread::sleep(std::time::Duration::from_millis(100));
            batch.write().unwrap();
        });
        writer.with_state(Live::finish_views);
    });
    drop(writer);
    assert_eq!(team.json("tasks/1.json")["note"], "new");
    assert_eq!(team.rebuilt().0.written, 0);
}

#[test]
fn behind_a_batch_that_failed_all_is_mended() {
    let team = filled();
    let (writer, batch) = behind_a_batch(&team);
    // Dropping the batch simulates a thread that ended before it could write the files of the batch.
    drop(batch);
    writer.with_state(Live::finish_views);
    writer.with_reader(|live, reader| {
        assert!(live.views_error().is_some());
        live.keep_views(reader).unwrap();
        assert!(live.views_error().is_none());
    });
    drop(writer);
    assert_eq!(team.json("tasks/1.json")["note"], "new");
    assert_eq!(team.rebuilt().0.written, 0);
}

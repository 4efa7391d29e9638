//! Tests with the recorded history of a real team, if it is available.

use crate::support::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use teamlog_engine::Durability;
use teamlog_engine::storage::Files;
use teamlog_projections::{Envelope, Names};

fn history() -> Option<String> {
    let named = std::env::var_os("TEAMLOG_REAL_MESSAGES").map(PathBuf::from);
    let beside =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/agent-messages.jsonl");
    std::fs::read_to_string(named.unwrap_or(beside)).ok()
}

#[test]
fn the_real_history_is_rebuilt_with_every_view() {
    let Some(text) = history() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let team = Team::on(Arc::new(Files::open(root.path()).unwrap()), Format::Jsonl);
    let start = Instant::now();
    let mut messages: Vec<_> = text
        .lines()
        .map(|line| {
            Envelope::parse(line)
                .unwrap()
                .complete(Names::Imported, at(0), 0)
                .unwrap()
        })
        .collect();
    messages.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    eprintln!("parse {:?}", start.elapsed());
    let start = Instant::now();
    let writer = team.log.lock().unwrap().into_writer(());
    let mut events: Vec<NewEvent> = vec![created(&["lead"], true)];
    events.extend(messages.iter().map(|message| message.sent().unwrap()));
    for group in events.chunks(2000).map(<[NewEvent]>::to_vec) {
        let job = move |(): &(), _| Ok::<_, std::convert::Infallible>(((), group.clone()));
        writer.commit(Durability::Synced, job).unwrap();
    }
    writer.close().unwrap();
    eprintln!("append {:?}", start.elapsed());
    let tasks: std::collections::BTreeSet<_> = messages
        .iter()
        .filter(|message| matches!(message.kind.name(), "task_assign" | "task_update"))
        .filter_map(|message| message.task_id.clone())
        .collect();
    let exclusive = team.log.lock().unwrap();
    let reader = exclusive.reader();
    let mut digests = Vec::new();
    for (round, workers) in [2, 1, 3].into_iter().enumerate() {
        let start = Instant::now();
        let (found, live) = rehydrate(&team.log, &reader, workers, &mut |_| {}).unwrap();
        eprintln!(
            "rehydrate with {workers}: {:?}, {:?}",
            start.elapsed(),
            found
        );
        assert_eq!(found.counts.tasks, tasks.len() as u64);
        assert_eq!(found.counts.messages, messages.len() as u64);
        assert_eq!(found.views.written > 0, round == 0, "{:?}", found.views);
        assert_eq!(live.digest().unwrap(), found.digest);
        digests.push(found.digest);
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]));
    let files = team.storage.list(&team.path("tasks")).unwrap();
    assert_eq!(files.len(), tasks.len());
    let live = team.live();
    for id in tasks.iter().step_by(97) {
        let view = team.json(&format!("tasks/{id}.json"));
        let json = live.task(id).unwrap().unwrap().to_json();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(json.as_str()).unwrap(),
            view
        );
    }
    drop(exclusive);
    let start = Instant::now();
    team.send(&[message(
        "one-more",
        teamlog_projections::MessageType::Message,
        "agent-001",
        1,
        "{}",
    )]);
    eprintln!("one more {:?}", start.elapsed());
    let live = team.live();
    let inbox = team.view("inboxes/agent-001.jsonl");
    assert_eq!(
        inbox.len() as u64,
        live.agent("agent-001").unwrap().view_bytes
    );
    assert_eq!(
        inbox.lines().count() as u64,
        live.agent("agent-001").unwrap().received
    );
}

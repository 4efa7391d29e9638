//! Many processes on one team. No event is lost or recorded twice, and there is no gap. Also tests a held lock.

use crate::answers::{Event, Status, Verify};
use crate::prelude::*;
use std::fs::File;

#[test]
fn two_to_eight_processes_append_at_once() {
    for (format, processes, each) in [("jsonl", 2, 10), ("jsonl", 8, 5), ("binary", 5, 6)] {
        let cli = Cli::with_team_of(format);
        let batch: String = (0..20)
            .map(|n| format!("{{\"kind\":\"step_done\",\"payload\":{{\"n\":{n}}}}}\n"))
            .collect();
        cli.file("batch.jsonl", &batch);
        let sender = |process: usize| {
            for n in 0..each {
                let line = format!(
                    "send demo --from lead --to dev --type handoff --message-id m-{process}-{n}"
                );
                let ran = cli.run(&line);
                assert_eq!(ran.code, Some(0), "{ran:?}");
            }
            let ran = cli.run("append demo --batch batch.jsonl --batch-size 10");
            assert_eq!(ran.code, Some(0), "{ran:?}");
        };
        std::thread::scope(|scope| {
            for process in 0..processes {
                scope.spawn(move || sender(process));
            }
        });
        let events: Vec<Event> = parse_lines(&cli.ok("replay demo --json"));
        let expected = 1 + processes * (each + 20);
        let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=expected as u64).collect::<Vec<_>>(), "{format}");
        assert!(events.is_sorted_by(|a, b| a.id < b.id && a.created_at <= b.created_at));
        let messages: BTreeSet<_> = events
            .iter()
            .filter_map(|event| event.message_id.clone())
            .collect();
        assert_eq!(messages.len(), processes * each, "{format}");
        assert_whole_groups(&events);
        assert!(cli.json::<Verify>("verify demo").ok);
        let status: Status = cli.json("status demo --digest");
        assert_eq!(status.unread_counts["dev"], (processes * each) as u64);
        let rebuilt: crate::answers::Rehydrate = cli.json("rehydrate demo");
        assert_eq!(status.state_digest, Some(rebuilt.state_digest), "{format}");
    }
}

/// Checks that the events of a group are consecutive: a group has the events 0 to 9 or 10 to 19.
fn assert_whole_groups(events: &[Event]) {
    let steps: Vec<(u64, u64)> = events
        .iter()
        .filter(|event| event.kind == "step_done")
        .map(|event| (event.seq, event.payload["n"].as_u64().unwrap()))
        .collect();
    for group in steps.chunks(10) {
        let (seq, n) = group[0];
        assert!(n.is_multiple_of(10), "{group:?}");
        for (i, step) in group.iter().enumerate() {
            assert_eq!(*step, (seq + i as u64, n + i as u64), "{group:?}");
        }
    }
}

#[test]
fn a_held_lock_ends_in_75_and_names_the_holder() {
    let cli = Cli::with_team();
    let lock = File::open(cli.dir().join("teams/demo/lock")).unwrap();
    lock.lock().unwrap();
    let line = "send demo --from lead --to dev --type handoff --lock-timeout 0.3";
    let error = cli.refused_json(75, line);
    assert_eq!(error.code, "locked");
    assert!(!error.details["holder"].as_str().unwrap().is_empty());
    assert!(error.details["waited_ms"].as_u64().unwrap() >= 300);
    assert!(error.hint.unwrap().contains("--lock-timeout"));
    assert_eq!(
        cli.json::<Status>("status demo").events,
        1,
        "readers do not wait for the lock"
    );
    lock.unlock().unwrap();
    cli.ok(line);
}

#[test]
fn the_lock_is_not_held_while_input_is_awaited() {
    let cli = Cli::with_team();
    // This process reads its batch from a pipe that stays open. The process must not hold the lock while it waits for
    // input.
    let mut waiting = cli
        .command("append demo --batch - --batch-size 1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ran = cli.run("send demo --from lead --to dev --type handoff --lock-timeout 5");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    drop(waiting.stdin.take());
    let ran = Ran::from_output(waiting.wait_with_output().unwrap());
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "nothing to record\n"));
}

//! Tests of status and state after a history.

use crate::prelude::*;
use teamlog_team::GivenReceipt;
use teamlog_team::lifecycle::status::Status;

#[test]
fn status_counts_what_is_unread_blocked_and_stale() {
    let (world, mut team) = demo();
    for (id, report) in [
        ("t1", "blocked"),
        ("t2", "in_progress"),
        ("t3", "completed"),
    ] {
        team.task_assign(assign(id, "dev")).unwrap();
        world.later(1);
        team.task_update(update(id, report)).unwrap();
    }
    world.later(91 * MINUTE);
    team.send(message("lead", "qa")).unwrap();
    let answer = status(&mut team);
    let ids = |tasks: &[teamlog_team::task::listed::Listed]| {
        tasks
            .iter()
            .map(|task| task.task_id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(answer.members, ["dev", "lead", "qa"]);
    assert_eq!(
        json(&answer.unread_counts),
        serde_json::json!({"dev": 3, "lead": 3, "qa": 1})
    );
    assert_eq!(ids(&answer.blocked_tasks), ["t1"]);
    assert_eq!(ids(&answer.stale_tasks), ["t1", "t2"]);
    assert_eq!(answer.stale_messages.len(), 6);
    assert_eq!(answer.stale_messages[0].age_minutes, 91);
    assert_eq!(answer.task_count, 3);
    assert_eq!(answer.tasks_by_status.values().sum::<u64>(), 3);
    assert_eq!(
        (answer.events, answer.last_seq, answer.message_count),
        (8, 8, 7)
    );
    let shown = json(&answer);
    has!(shown, {"malformed_jsonl": {"total": 0, "files": []},
        "/stale_messages/0/type": "task_assign"});
    let patient = team.status(given!(Status, stale_minutes: 92)).unwrap();
    assert!(patient.stale_tasks.is_empty() && patient.stale_messages.is_empty());
    assert_eq!(patient.state_digest, None);
    let short = team.status(given!(Status, limit: 2)).unwrap();
    assert_eq!(short.stale_messages.len(), 2);
    assert_eq!(short.members.len(), 2);
    assert_eq!(
        short.truncated,
        ["members", "unread_counts", "stale_messages"],
        "those that hold more than is shown, no others"
    );
    assert!(answer.truncated.is_empty());
}

#[test]
fn rehydrate_counts_what_the_log_holds_and_any_number_of_workers_agrees() {
    for format in [Format::Jsonl, Format::Binary] {
        let (world, mut team) = team_of(None, format);
        for n in 0..30 {
            world.later(MINUTE);
            team.task_assign(assign(&format!("t{}", n % 7), "dev"))
                .unwrap();
        }
        let live = settled_digest(&mut team);
        for workers in [1, 2, 5] {
            let rebuilt = team
                .rehydrate(given!(Rehydrate, workers), &mut |_, _| {})
                .unwrap();
            assert_eq!(rebuilt.state_digest, live);
            assert_eq!(
                (
                    rebuilt.event_count,
                    rebuilt.message_count,
                    rebuilt.task_count,
                    rebuilt.ack_count
                ),
                (32, 30, 7, 0)
            );
        }
    }
}

#[test]
fn a_second_handle_sees_what_the_first_one_did() {
    let (world, mut one) = demo();
    let mut two = world.root.team("demo").unwrap();
    for n in 0..20 {
        let (writer, reader) = if n % 2 == 0 {
            (&mut one, &mut two)
        } else {
            (&mut two, &mut one)
        };
        let named = given!(Send, message_id: format!("m{n}"), ..message("lead", "dev"));
        writer.send(named).unwrap();
        writer.finish().unwrap();
        assert_eq!(status(reader).unread_counts["dev"], n + 1);
    }
    assert_eq!(
        settled_digest(&mut one),
        status(&mut two).state_digest.unwrap()
    );
}

#[test]
fn everything_derived_can_be_deleted() {
    let (world, mut team) = demo();
    for n in 0..600 {
        team.task_assign(assign(&format!("t{}", n % 9), "dev"))
            .unwrap();
        team.finish().unwrap();
    }
    let digest = settled_digest(&mut team);
    let dir = Path::new("teams/demo");
    for name in world.memory.list(dir).unwrap() {
        let path = dir.join(&name);
        match &*name {
            "derived" | "tasks" | "inboxes" => world.memory.remove_dir_all(&path).unwrap(),
            "derived.lock" | "views" | "team.json" => world.memory.remove_file(&path).unwrap(),
            _ => {}
        }
    }
    let mut again = world.root.team("demo").unwrap();
    assert_eq!(status(&mut again).state_digest, Some(digest.clone()));
    again.send(message("lead", "qa")).unwrap();
    again.finish().unwrap();
    settled_digest(&mut again);
    assert!(
        world
            .memory
            .stat(&dir.join("tasks/t1.json"))
            .unwrap()
            .is_some()
    );
}

/// Number of bytes per checksum in a run.
const PAGE: u64 = 4096;

#[test]
fn damage_to_a_run_is_mended_by_whatever_command_meets_it() {
    let (world, mut team) = demo();
    for n in 0..1100 {
        let mut assignment = assign(&format!("t{}", n % 9), "dev");
        assignment.message_id = Some(format!("m{n}"));
        team.task_assign(assignment).unwrap();
        team.finish().unwrap();
    }
    let digest = status(&mut team).state_digest;
    let dir = Path::new("teams/demo/derived");
    let version = world.memory.list(dir).unwrap().pop().unwrap();
    let dir = dir.join(version);
    let runs: Vec<String> = world.memory.list(&dir).unwrap();
    // Damages one byte of a run, at many offsets in turn. Some damage is found when the run is opened, other damage when the run is
    // read. Then damages the whole run except its end, because opening a run checks the end.
    for n in 0..32 {
        let memory = world.memory.snapshot();
        for name in &runs {
            let file = dir.join(name);
            let len = memory.stat(&file).unwrap().unwrap().len;
            let places = match n < 24 {
                true => vec![len * n / 24],
                false => (100..len.saturating_sub(PAGE))
                    .step_by(PAGE as usize)
                    .collect(),
            };
            for at in places {
                memory.corrupt(&file, at, 0x55).unwrap();
            }
        }
        let root = Root::on(Arc::new(memory), world.root.options().clone());
        let mut team = root.team("demo").unwrap();
        match n % 4 {
            0 => {
                for known in (0..1100).step_by(25) {
                    let again = given!(Send, message_id: format!("m{known}"),
                        ..message("lead", "qa"));
                    refused(team.send(again), Code::MessageIdReused);
                }
            }
            1 => drop(team.task_update(update("t3", "completed")).unwrap()),
            2 => assert_eq!(status(&mut team).state_digest, digest),
            _ => drop(team.append(fact()).unwrap()),
        }
        team.finish().unwrap();
        settled_digest(&mut team);
    }
}

fn fact() -> Append {
    given!(Append, kind: "seen", task_id: "t3")
}

#[test]
fn verify_finds_the_log_whole_and_a_receipt_holds() {
    let (world, mut team) = demo();
    team.send(message("lead", "dev")).unwrap();
    let receipt = json(&team.head().unwrap()).to_string();
    team.send(message("lead", "dev")).unwrap();
    let receipt = GivenReceipt::read(&receipt).unwrap().receipt;
    let answer = team.verify(Some(&receipt)).unwrap();
    assert!(answer.ok, "{answer:?}");
    assert_eq!((answer.events, answer.last_seq, answer.segments), (3, 3, 1));
    assert!(answer.problems.is_empty());

    let file = Path::new("teams/demo/events").join(&receipt.segment);
    world.memory.corrupt(&file, receipt.length - 20, 1).unwrap();
    let answer = team.verify(Some(&receipt)).unwrap();
    assert!(!answer.ok);
    assert!(!answer.problems.is_empty());
    for text in ["", "{}", "{\"log\":1}"] {
        refused(
            GivenReceipt::read(text).map_err(Into::into),
            Code::InvalidInput,
        );
    }
}

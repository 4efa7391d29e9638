//! Tests of following a log, and of waits for events.

use crate::prelude::*;
use std::sync::mpsc::{Receiver, channel};
use teamlog_team::log::tail::Tail;
use teamlog_team::message::wait::{Wait, WaitStatus};

/// Upper limit of a wait. A test reaches this limit only if the test fails.
const LONG: Duration = Duration::from_secs(30);

/// Follows a log on another thread. Sends each seq, and finally the outcome.
fn follower(
    world: &World,
    tail: Tail,
) -> (Receiver<u64>, thread::JoinHandle<Result<u64, Failure>>) {
    let (seen, seqs) = channel();
    let mut team = world.root.team("demo").unwrap();
    let following = thread::spawn(move || {
        team.follow(
            &tail,
            &mut |event, line| {
                assert!(line.starts_with(b"{\"seq\":"));
                // If the receiver is gone, the follower ends.
                match seen.send(event.seq) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            },
            &mut || ControlFlow::Continue(()),
        )
    });
    (seqs, following)
}

fn take(seqs: &Receiver<u64>, count: usize) -> Vec<u64> {
    (0..count)
        .map(|_| seqs.recv_timeout(LONG).unwrap())
        .collect()
}

#[test]
fn a_follower_shows_what_is_there_and_then_what_comes() {
    for format in [Format::Jsonl, Format::Binary] {
        let (world, mut team) = team_of(None, format);
        for _ in 0..5 {
            team.send(message("lead", "dev")).unwrap();
        }
        let (all, _) = follower(&world, Tail::default());
        let (newest, following) = follower(&world, given!(Tail, last: 2));
        let none = Tail {
            filter: given!(Replay, kind: "message_acked"),
            // The follower must not skip events if it begins late, so `last` is unset.
            last: None,
        };
        let (acks, _) = follower(&world, none);
        assert_eq!(take(&all, 7), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(take(&newest, 2), [6, 7]);
        for _ in 0..3 {
            team.send(message("lead", "dev")).unwrap();
        }
        assert_eq!(take(&all, 3), [8, 9, 10]);
        assert_eq!(take(&newest, 3), [8, 9, 10]);
        drop(newest);
        let inbox = team.read(of("dev")).unwrap();
        let ack = given!(Ack, agent: "dev", message_id: inbox.messages[0].id.clone());
        team.ack(ack).unwrap();
        // The event that adds the new agent to the team comes before the agent's ack.
        assert_eq!(take(&acks, 1), [12], "others went by");
        assert_eq!(
            following.join().unwrap().unwrap(),
            6,
            "the one nobody took counts"
        );
    }
}

fn of(agent: &str) -> Read {
    given!(Read, agent)
}

#[test]
fn it_goes_on_across_segments_and_midnights() {
    for format in [Format::Jsonl, Format::Binary] {
        let mut world = World::new();
        let options = given!(RootOptions, segment_bytes_max: 2_000, ..world.root.options().clone());
        world.root = Root::on(world.memory.clone(), options);
        let mut team = world.team(None, format);
        let (seqs, _) = follower(&world, Tail::default());
        take(&seqs, 1);
        for n in 0..40 {
            world.later(137 * MINUTE);
            team.send(message("lead", "dev")).unwrap();
            team.finish().unwrap();
            // The first agent that acts also joins.
            assert_eq!(take(&seqs, 1 + usize::from(n == 0)).last(), Some(&(n + 3)));
        }
        let segments = world.memory.list(Path::new("teams/demo/events")).unwrap();
        assert!(segments.len() > 6, "{segments:?}");
    }
}

#[test]
fn a_limit_ends_it_and_a_filter_with_an_end_is_refused() {
    let (world, mut team) = demo();
    let limited = given!(Tail; filter: given!(Replay, limit: 2, from_seq: 3), last: None);
    let (seqs, following) = follower(&world, limited);
    for _ in 0..4 {
        team.send(message("lead", "dev")).unwrap();
    }
    assert_eq!(following.join().unwrap().unwrap(), 2);
    assert_eq!(take(&seqs, 2), [3, 4]);
    for (field, filter) in cases![
        ("to_seq" => given!(Replay, to_seq: 9)),
        ("until" => given!(Replay, until: world.root.options().clock.now())),
        ("reverse" => given!(Replay, reverse: true)),
    ] {
        let tail = Tail { filter, last: None };
        let followed = team.follow(&tail, &mut |_, _| ControlFlow::Continue(()), &mut || {
            ControlFlow::Continue(())
        });
        assert_eq!(
            refused(followed, Code::InvalidInput).field.as_deref(),
            Some(field)
        );
    }
}

#[test]
fn another_log_in_its_place_ends_it_with_a_word() {
    for cut in [false, true] {
        let (world, mut team) = demo();
        for _ in 0..3 {
            team.send(message("lead", "dev")).unwrap();
        }
        // The replacement is the same log without its last event, or another log.
        let other = match cut {
            true => Arc::new(world.memory.snapshot()),
            false => {
                let other = World::new();
                // Advances the random source, so that the new log gets another id.
                other.root.options().ids.random().unwrap();
                drop(other.demo());
                other.memory
            }
        };
        team.send(message("lead", "dev")).unwrap();
        let (seqs, following) = follower(&world, Tail::default());
        take(&seqs, 5);
        copy(&*other, &*world.memory, Path::new("teams/demo"));
        let refusal = refused(following.join().unwrap(), Code::LogReplaced);
        assert!(refusal.message.contains("after event 5"), "{refusal}");
    }
}

/// Replaces a directory by another directory with renames, as a restore does.
fn copy(from: &dyn Storage, to: &dyn Storage, dir: &Path) {
    let aside = Path::new("teams/.aside");
    copy_into(from, to, dir, aside);
    to.rename(dir, Path::new("teams/.old")).unwrap();
    to.rename(aside, dir).unwrap();
}

fn copy_into(from: &dyn Storage, to: &dyn Storage, dir: &Path, aside: &Path) {
    to.create_dir_all(aside).unwrap();
    for name in from.list(dir).unwrap() {
        let (old, new) = (dir.join(&name), aside.join(&name));
        match from.stat(&old).unwrap().unwrap().is_dir {
            true => copy_into(from, to, &old, &new),
            false => to
                .replace(&new, &from.read(&old, 1 << 30).unwrap(), false)
                .unwrap(),
        }
    }
}

fn wait(world: &World, wait: Wait) -> thread::JoinHandle<(WaitStatus, Vec<u64>, u64)> {
    let mut team = world.root.team("demo").unwrap();
    thread::spawn(move || {
        let answer = team.wait(&wait).unwrap();
        assert_eq!(answer.count, answer.events.len());
        let seqs = answer.events.iter().map(|recorded| recorded.event.seq);
        (answer.status, seqs.collect(), answer.last_seq)
    })
}

fn known(agent: &str, since: u64) -> Wait {
    given!(Wait; agent, timeout_ms: 30_000, since)
}

#[test]
fn mail_ends_the_wait_and_what_came_before_is_not_missed() {
    let (world, mut team) = demo();
    let waiting = wait(&world, known("dev", 1));
    team.send(message("lead", "qa")).unwrap();
    team.send(message("qa", "dev")).unwrap();
    assert_eq!(waiting.join().unwrap(), (WaitStatus::Arrived, vec![3], 3));
    // The message is in the log already.
    let again = wait(&world, known("dev", 2));
    assert_eq!(again.join().unwrap(), (WaitStatus::Arrived, vec![3], 3));
    let nothing = given!(Wait, timeout_ms: 30, ..known("dev", 3));
    assert_eq!(
        wait(&world, nothing).join().unwrap(),
        (WaitStatus::TimedOut, vec![], 3)
    );
    let ahead = team.wait(&known("dev", 4));
    assert_eq!(
        refused(ahead, Code::InvalidInput).field.as_deref(),
        Some("since")
    );
    refused(team.wait(&known("stranger", 0)), Code::WorkerNotFound);
}

#[test]
fn what_others_do_to_a_task_reaches_its_owner_what_it_does_itself_wakes_nobody() {
    let (world, mut team) = demo();
    team.task_assign(assign("t1", "dev")).unwrap();
    let since = 2;
    let waiting = wait(&world, known("dev", since));
    // These events do not wake the waiting agent: its own report, a fact about another task, and its own fact.
    team.task_update(update("t1", "in_progress")).unwrap();
    let fact =
        |task: &str, actor: &str| given!(Append, kind: "ci_run_finished", actor, task_id: task);
    team.append(fact("t2", "ci")).unwrap();
    team.append(fact("t1", "dev")).unwrap();
    thread::sleep(Duration::from_millis(20));
    assert!(!waiting.is_finished());
    team.append(fact("t1", "ci")).unwrap();
    assert_eq!(waiting.join().unwrap(), (WaitStatus::Arrived, vec![6], 6));
}

#[test]
fn a_long_absence_is_caught_up_with_by_pages() {
    let (world, mut team) = demo();
    for _ in 0..120 {
        team.send(message("lead", "dev")).unwrap();
        team.send(message("lead", "qa")).unwrap();
        team.finish().unwrap();
    }
    let mut since = 0;
    let mut found = Vec::new();
    loop {
        let deadline = given!(Wait, timeout_ms: 0, ..known("qa", since));
        let (status, seqs, last) = wait(&world, deadline).join().unwrap();
        assert!(seqs.len() <= 50);
        found.extend(seqs);
        since = last;
        if status == WaitStatus::TimedOut {
            break;
        }
    }
    assert_eq!(found, (1..=120).map(|n| 2 * n + 1).collect::<Vec<u64>>());
    assert_eq!(since, 241);
}

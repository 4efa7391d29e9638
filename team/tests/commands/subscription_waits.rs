//! Tests of durable subscriptions: waits, the daemon that runs them, removed files, and refusals of acks.

use crate::agent_tokens::as_agent;
use crate::prelude::*;
use crate::subscriptions::{DIR, ack, append, fetch, refused_item, seqs, show, take, watched};
use teamlog_team::command::deadline::Deadline;
use teamlog_team::subscription::fetch::{FetchStatus, FetchSubscription};
use teamlog_team::subscription::manage::{DeleteSubscription, Subscribe};
use teamlog_team::subscription::runner::SubscriptionRunner;
use teamlog_team::subscription::settle::{NakSubscription, ReleaseSubscription};

#[test]
fn a_wait_polls_nothing_and_wakes_for_an_event_an_ack_and_a_release() {
    let (world, mut team) = watched(1);
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    // The fetch of a caller that can disconnect, as in the daemon.
    let waiting = |epoch: Option<u64>, holding: Vec<u64>, timeout_ms: u64| {
        let root = world.root.clone();
        thread::spawn(move || {
            let mut team = root.team("demo").unwrap();
            team.under(Control {
                deadline: Deadline::as_long_as(|| true),
                ..Control::default()
            });
            let fetch = FetchSubscription {
                epoch,
                holding: Some(holding),
                timeout_ms: Some(timeout_ms),
                ..take()
            };
            team.fetch_subscription(&fetch).unwrap()
        })
    };
    let locks = || world.memory.calls()["lock"];
    let before = locks();
    let idle = waiting(Some(epoch), vec![], 2_000).join().unwrap();
    assert_eq!(idle.status, FetchStatus::Empty);
    // One pass at the start and one at the end; the wait itself does not touch the subscription.
    assert!(locks() - before <= 3, "{} passes", locks() - before);

    let late = waiting(Some(epoch), vec![], 60_000);
    until("the fetch waits", || locks() - before >= 3);
    let first = append(&mut team, "built", None);
    assert_eq!(seqs(&late.join().unwrap()), [first]);
    let second = append(&mut team, "built", None);
    // The window is full until the first event is settled.
    let full = waiting(Some(epoch), vec![first], 60_000);
    let other = waiting(None, vec![], 60_000);
    thread::sleep(Duration::from_millis(300));
    assert!(!full.is_finished() && !other.is_finished());
    ack(&mut team, epoch, &[first]).unwrap();
    assert_eq!(seqs(&full.join().unwrap()), [second]);
    let release = given!(ReleaseSubscription, name: "watch", epoch);
    team.release_subscription(&release).unwrap();
    let other = other.join().unwrap();
    assert_eq!((seqs(&other), other.epoch), (vec![second], Some(epoch + 1)));
}

#[test]
fn the_daemon_that_runs_a_subscription_is_shown_while_it_runs_or_fails() {
    let (world, mut team) = watched(1);
    let mut runner = SubscriptionRunner {
        pid: 7,
        target: "exec notify.sh".to_owned(),
        last_error: None,
        last_error_at: None,
    };
    team.record_runner("watch", Some(&runner)).unwrap();
    // Without a lease and without an error, the daemon no longer runs.
    assert_eq!(show(&mut team).subscription.run_by, None);
    let lease = FetchSubscription {
        consumer: Some("daemon-7".to_owned()),
        ..take()
    };
    team.fetch_subscription(&lease).unwrap();
    assert_eq!(show(&mut team).subscription.run_by, Some(runner.clone()));
    world.later(31 * SECOND);
    assert_eq!(show(&mut team).subscription.run_by, None);
    runner.last_error = Some("x".repeat(600));
    team.record_runner("watch", Some(&runner)).unwrap();
    let list = team.subscriptions().unwrap().subscriptions;
    let shown = list[0].run_by.clone().unwrap();
    assert_eq!(shown.last_error.unwrap().len(), 500);
    let mut agent = as_agent(&world, "dev").team("demo").unwrap();
    let list = agent.subscriptions().unwrap().subscriptions;
    assert_eq!(list[0].run_by, None);
    team.forget_runners(&["watch"]).unwrap();
    assert!(show(&mut team).subscription.run_by.is_some());
    team.forget_runners(&[]).unwrap();
    assert_eq!(show(&mut team).subscription.run_by, None);
}

#[test]
fn a_removed_durable_file_is_damage_and_a_deleted_subscription_is_none() {
    let (world, mut team) = watched(1);
    fetch(&mut team, None, &[]);
    world
        .memory
        .remove_file(&Path::new(DIR).join("watch.json"))
        .unwrap();
    let again = given!(Subscribe, name: "watch", kind: "built");
    refused(team.subscribe(&again), Code::SubscriptionDamaged);
    refused(team.fetch_subscription(&take()), Code::SubscriptionDamaged);
    assert_eq!(team.subscriptions().unwrap().damaged, ["watch"]);
    refused_item(&mut team, "damaged or missing");
    team.delete_subscription(&given!(DeleteSubscription, name: "watch"))
        .unwrap();
    refused(team.subscription("watch"), Code::SubscriptionNotFound);
    assert!(team.subscriptions().unwrap().damaged.is_empty());
    team.subscribe(&again).unwrap();
}

#[test]
fn refusals_of_acks_and_naks_are_true() {
    let (_world, mut team) = watched(1);
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    let seq = append(&mut team, "built", None);
    let ahead = refused(ack(&mut team, epoch + 5, &[seq]), Code::SubscriptionFenced);
    shows!(&*ahead.message => has "was never granted");
    let nak = given!(NakSubscription, name: "watch", epoch, seq);
    let refusal = refused(team.nak_subscription(&nak), Code::EventNotDelivered);
    assert_eq!(refusal.field.as_deref(), Some("seq"));
    let none = refused(ack(&mut team, epoch, &[]), Code::InvalidInput);
    shows!(&*none.message => has "names 0");
    refused(ack(&mut team, epoch, &[0]), Code::InvalidInput);
}

#[test]
fn a_waiting_fetch_returns_when_an_event_is_recorded() {
    let (world, mut team) = watched(1);
    let root = world.root.clone();
    let waiting = thread::spawn(move || {
        let mut team = root.team("demo").unwrap();
        let fetch = FetchSubscription {
            timeout_ms: Some(60_000),
            ..take()
        };
        seqs(&team.fetch_subscription(&fetch).unwrap())
    });
    until("the fetch has the lease", || {
        show(&mut team).subscription.consumer.is_some()
    });
    let seq = append(&mut team, "built", None);
    assert_eq!(waiting.join().unwrap(), [seq]);
}

//! Tests of durable subscriptions: delivery, acks, leases, retries, parked events, and crashes.

use crate::agent_tokens::as_agent;
use crate::prelude::*;
use teamlog_engine::internals::storage::Fault;
use teamlog_team::attention::{Attention, AttentionKind};
use teamlog_team::handle::settlements::Settlements;
use teamlog_team::subscription::fetch::{FetchAnswer, FetchStatus, FetchSubscription};
use teamlog_team::subscription::manage::{
    DeleteSubscription, ReplaySubscription, Subscribe, SubscriptionAnswer,
};
use teamlog_team::subscription::settle::{
    AckSubscription, NakAnswer, NakSubscription, ReleaseSubscription, SettledAnswer,
};
use teamlog_team::subscription::{PARKED_MAX, SUBSCRIPTIONS_MAX};

pub const DIR: &str = "teams/demo/subscriptions";

pub fn append(team: &mut Team, kind: &str, task: Option<&str>) -> u64 {
    let fact = given!(Append, kind, actor: "ci", task_id: task.map(str::to_owned));
    team.append(fact).unwrap().seq
}

/// Returns a team with a subscription `watch` of all events of kind `built` from now on.
pub fn watched(window: usize) -> (World, Team) {
    let (world, mut team) = demo();
    let window = Some(window);
    team.subscribe(&given!(Subscribe, name: "watch", kind: "built", window))
        .unwrap();
    (world, team)
}

pub fn take() -> FetchSubscription {
    given!(FetchSubscription, name: "watch", timeout_ms: 0)
}

pub fn fetch(team: &mut Team, epoch: Option<u64>, holding: &[u64]) -> FetchAnswer {
    let fetch = FetchSubscription {
        epoch,
        holding: Some(holding.to_vec()),
        ..take()
    };
    team.fetch_subscription(&fetch).unwrap()
}

pub fn seqs(answer: &FetchAnswer) -> Vec<u64> {
    let events = answer.events.iter();
    events.map(|event| event.event.event.seq).collect()
}

pub fn ack(team: &mut Team, epoch: u64, seqs: &[u64]) -> Result<SettledAnswer, Failure> {
    let seqs = seqs.to_vec();
    team.ack_subscription(&given!(AckSubscription, name: "watch", epoch, seqs))
}

fn nak(team: &mut Team, epoch: u64, seq: u64) -> NakAnswer {
    let nak = given!(NakSubscription, name: "watch", epoch, seq, reason: "exit 1");
    team.nak_subscription(&nak).unwrap()
}

pub fn show(team: &mut Team) -> SubscriptionAnswer {
    team.subscription("watch").unwrap()
}

#[test]
fn events_are_delivered_in_order_until_they_are_acknowledged() {
    let (_world, mut team) = watched(1);
    let answer = fetch(&mut team, None, &[]);
    assert_eq!(answer.status, FetchStatus::Empty);
    let epoch = answer.epoch.unwrap();
    let first = append(&mut team, "built", None);
    append(&mut team, "tested", None);
    let second = append(&mut team, "built", None);
    for _ in 0..2 {
        // Without an ack, the event is delivered again.
        assert_eq!(seqs(&fetch(&mut team, Some(epoch), &[])), [first]);
    }
    assert!(seqs(&fetch(&mut team, Some(epoch), &[first])).is_empty());
    assert_eq!(ack(&mut team, epoch, &[first]).unwrap().position, first);
    let answer = fetch(&mut team, Some(epoch), &[]);
    assert_eq!((seqs(&answer), answer.position), (vec![second], second - 1));
    ack(&mut team, epoch, &[second]).unwrap();
    // A repeated ack changes nothing.
    assert_eq!(
        ack(&mut team, epoch, &[first, second]).unwrap().position,
        second
    );
    assert!(seqs(&fetch(&mut team, Some(epoch), &[])).is_empty());
    assert_eq!(show(&mut team).subscription.behind, 0);
}

#[test]
fn an_ack_of_an_event_that_was_not_delivered_is_refused_and_settles_nothing() {
    let (_world, mut team) = watched(1);
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    let first = append(&mut team, "built", None);
    let second = append(&mut team, "built", None);
    fetch(&mut team, Some(epoch), &[]);
    for wrong in [second, second + 1, u64::MAX] {
        let refusal = refused(
            ack(&mut team, epoch, &[first, wrong]),
            Code::EventNotDelivered,
        );
        assert_eq!(refusal.details["seq"], wrong);
    }
    refused(ack(&mut team, epoch, &[]), Code::InvalidInput);
    assert_eq!(seqs(&fetch(&mut team, Some(epoch), &[])), [first]);
}

#[test]
fn a_second_consumer_takes_over_when_the_lease_ends_and_fences_the_first() {
    let (world, mut team) = watched(1);
    let first = append(&mut team, "built", None);
    let one = fetch(&mut team, None, &[]);
    let epoch = one.epoch.unwrap();
    assert_eq!(seqs(&one), [first]);
    let waiting = fetch(&mut team, None, &[]);
    assert_eq!((waiting.status, waiting.epoch), (FetchStatus::Held, None));
    assert!(waiting.events.is_empty());
    world.later(30 * SECOND);
    // The lease has expired, but no other consumer has taken it, so an ack still counts.
    ack(&mut team, epoch, &[first]).unwrap();
    let second = append(&mut team, "built", None);
    world.later(30 * SECOND);
    let two = fetch(&mut team, None, &[]);
    assert_eq!((seqs(&two), two.epoch), (vec![second], Some(epoch + 1)));
    let refusal = refused(ack(&mut team, epoch, &[second]), Code::SubscriptionFenced);
    assert_eq!(refusal.details["epoch"], epoch + 1);
    let stale = FetchSubscription {
        epoch: Some(epoch),
        ..take()
    };
    refused(team.fetch_subscription(&stale), Code::SubscriptionFenced);
    let release = given!(ReleaseSubscription, name: "watch", epoch);
    refused(
        team.release_subscription(&release),
        Code::SubscriptionFenced,
    );
    let release = given!(ReleaseSubscription, name: "watch", epoch: epoch + 1);
    team.release_subscription(&release).unwrap();
    let three = fetch(&mut team, None, &[]);
    assert_eq!((seqs(&three), three.epoch), (vec![second], Some(epoch + 2)));
}

#[test]
fn fetches_and_acks_renew_the_lease() {
    let (world, mut team) = watched(1);
    let epoch = fetch(&mut team, None, &[]).epoch;
    for _ in 0..4 {
        world.later(20 * SECOND);
        assert_eq!(fetch(&mut team, None, &[]).status, FetchStatus::Held);
        let renewal = FetchSubscription {
            epoch,
            limit: Some(0),
            timeout_ms: Some(60_000),
            ..take()
        };
        assert_eq!(team.fetch_subscription(&renewal).unwrap().epoch, epoch);
    }
}

#[test]
fn a_wider_window_keeps_the_order_of_each_task() {
    let (_world, mut team) = watched(4);
    let tasks = [Some("a"), Some("a"), Some("b"), None, None];
    let all: Vec<u64> = tasks
        .iter()
        .map(|task| append(&mut team, "built", *task))
        .collect();
    let answer = fetch(&mut team, None, &[]);
    let epoch = answer.epoch.unwrap();
    assert_eq!(seqs(&answer), [all[0], all[2], all[3]]);
    let answer = ack(&mut team, epoch, &[all[2], all[3]]).unwrap();
    assert_eq!(answer.position, all[0] - 1);
    // The fifth event is outside of the window, which begins at the first unsettled event.
    assert!(seqs(&fetch(&mut team, Some(epoch), &[all[0]])).is_empty());
    ack(&mut team, epoch, &[all[0]]).unwrap();
    assert_eq!(seqs(&fetch(&mut team, Some(epoch), &[])), [all[1], all[4]]);
    ack(&mut team, epoch, &[all[1], all[4]]).unwrap();
    assert_eq!(show(&mut team).subscription.position, all[4]);
}

#[test]
fn a_failing_event_is_retried_later_then_parked_listed_and_replayed() {
    let (world, mut team) = watched(1);
    let bad = append(&mut team, "built", Some("7"));
    let good = append(&mut team, "built", Some("8"));
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    for attempts in 1..5 {
        let answer = nak(&mut team, epoch, bad);
        assert_eq!((answer.attempts, answer.parked), (attempts, false));
        assert!(seqs(&fetch(&mut team, Some(epoch), &[])).is_empty());
        assert_eq!(show(&mut team).failing[0].error, "exit 1");
        world.later(SECOND << (attempts - 1));
        let again = fetch(&mut team, Some(epoch), &[]);
        assert_eq!(
            (seqs(&again), again.events[0].attempt),
            (vec![bad], attempts + 1)
        );
    }
    assert!(nak(&mut team, epoch, bad).parked);
    let attention = given!(Attention, kind: AttentionKind::SubscriptionParked);
    let items = team.attention(&attention).unwrap().items;
    assert_eq!((items.len(), items[0].seq), (1, Some(bad)));
    assert!(items[0].text.contains("exit 1") && items[0].command.contains("watch"));
    let answer = fetch(&mut team, Some(epoch), &[]);
    assert_eq!(
        (seqs(&answer), answer.events[0].replayed),
        (vec![good], false)
    );
    ack(&mut team, epoch, &[good]).unwrap();
    let other = given!(ReplaySubscription, name: "watch", seq: good);
    refused(team.replay_subscription(&other), Code::EventNotParked);
    team.replay_subscription(&given!(ReplaySubscription, name: "watch"))
        .unwrap();
    assert!(team.attention(&attention).unwrap().items.is_empty());
    let answer = fetch(&mut team, Some(epoch), &[]);
    assert_eq!(
        (seqs(&answer), answer.events[0].replayed),
        (vec![bad], true)
    );
    assert_eq!(answer.events[0].attempt, 1);
    ack(&mut team, epoch, &[bad]).unwrap();
    let shown = show(&mut team);
    assert_eq!((shown.parked.len(), shown.subscription.position), (0, good));
}

#[test]
fn a_team_with_many_parked_events_parks_no_more_and_retries_instead() {
    let (_world, mut team) = watched(256);
    let subscribe = given!(Subscribe, name: "watch", kind: "built", max_attempts: 1);
    team.subscribe(&subscribe).unwrap();
    let epoch = fetch(&mut team, None, &[]).epoch;
    for _ in 0..PARKED_MAX / 200 {
        for _ in 0..200 {
            append(&mut team, "built", None);
        }
        for seq in seqs(&fetch(&mut team, epoch, &[])) {
            assert!(nak(&mut team, epoch.unwrap(), seq).parked);
        }
    }
    let last = append(&mut team, "built", None);
    fetch(&mut team, epoch, &[]);
    assert!(!nak(&mut team, epoch.unwrap(), last).parked);
    assert_eq!(show(&mut team).subscription.position, last - 1);
}

#[test]
fn a_filter_passes_other_events_and_the_position_follows() {
    let (world, mut team) = demo();
    let start = given!(Subscribe, name: "watch", task_id: "7", actor: "ci", from: "start");
    let shown = team.subscribe(&start).unwrap();
    assert_eq!(shown.subscription.position, 0);
    let seq = append(&mut team, "built", Some("7"));
    append(&mut team, "built", Some("8"));
    append(&mut team, "built", None);
    let answer = fetch(&mut team, None, &[]);
    assert_eq!((seqs(&answer), answer.position), (vec![seq], seq - 1));
    let epoch = answer.epoch.unwrap();
    ack(&mut team, epoch, &[seq]).unwrap();
    world.later(2 * SECOND);
    let answer = fetch(&mut team, Some(epoch), &[]);
    assert_eq!(answer.position, answer.last_seq);
    assert_eq!(show(&mut team).subscription.position, answer.last_seq);
    // No ack and no other event: the position moves at most once a second in the durable file.
    let kept = || world.text("subscriptions/watch.json");
    let before = kept();
    append(&mut team, "built", Some("8"));
    fetch(&mut team, Some(epoch), &[]);
    assert_eq!(kept(), before);
    world.later(2 * SECOND);
    append(&mut team, "built", Some("8"));
    fetch(&mut team, Some(epoch), &[]);
    assert!(kept() != before);
}

#[test]
fn a_filter_by_tags_delivers_events_with_all_of_them() {
    let (_world, mut team) = demo();
    let tag = vec!["pr=77".to_owned(), "ci=main".to_owned()];
    team.subscribe(&given!(Subscribe, name: "watch", tag: tag.clone()))
        .unwrap();
    let mut tagged = |tags: &[String]| {
        let fact = given!(Append, kind: "built", actor: "ci", tags: tags.to_vec());
        team.append(fact).unwrap().seq
    };
    tagged(&tag[..1]);
    let both = tagged(&tag);
    tagged(&[]);
    let answer = fetch(&mut team, None, &[]);
    assert_eq!(seqs(&answer), [both]);
    ack(&mut team, answer.epoch.unwrap(), &[both]).unwrap();
    assert!(seqs(&fetch(&mut team, answer.epoch, &[])).is_empty());
    let wrong = given!(Subscribe, name: "x", tag: vec!["pr".to_owned()]);
    refused(team.subscribe(&wrong), Code::InvalidInput);
}

#[test]
fn a_consumer_that_keeps_its_own_position_continues_after_it() {
    let (world, mut team) = watched(1);
    let first = append(&mut team, "built", None);
    let second = append(&mut team, "built", None);
    let third = append(&mut team, "built", None);
    let own = |seq| FetchSubscription {
        from_seq: Some(seq),
        ..take()
    };
    let answer = team.fetch_subscription(&own(first)).unwrap();
    assert_eq!(seqs(&answer), [second]);
    world.later(31 * SECOND);
    let answer = team.fetch_subscription(&own(second)).unwrap();
    assert_eq!(seqs(&answer), [third]);
    world.later(31 * SECOND);
    refused(team.fetch_subscription(&own(third + 9)), Code::CursorAhead);
    let answer = team.fetch_subscription(&own(0)).unwrap();
    assert_eq!(seqs(&answer), [first]);
}

#[test]
fn a_name_has_one_filter_and_a_team_has_a_limited_number_of_names() {
    let (_world, mut team) = watched(1);
    let same = given!(Subscribe, name: "watch", kind: "built", from: "start", window: 3);
    assert_eq!(team.subscribe(&same).unwrap().subscription.window, 3);
    let other = given!(Subscribe, name: "watch", kind: "tested");
    let refusal = refused(team.subscribe(&other), Code::SubscriptionExists);
    assert_eq!(refusal.details["filter"]["kind"], "built");
    for (name, from) in [("../up", "now"), ("", "now"), ("ok", "later"), ("ok", "-1")] {
        refused(
            team.subscribe(&given!(Subscribe, name, from)),
            Code::InvalidInput,
        );
    }
    refused(
        team.subscribe(&given!(Subscribe, name: "ok", from: "999")),
        Code::CursorAhead,
    );
    for window in [0, 257] {
        let wide = given!(Subscribe, name: "ok", window: window);
        refused(team.subscribe(&wide), Code::InvalidInput);
    }
    for number in 1..SUBSCRIPTIONS_MAX {
        team.subscribe(&given!(Subscribe, name: format!("s{number}")))
            .unwrap();
    }
    refused(
        team.subscribe(&given!(Subscribe, name: "more")),
        Code::TooLarge,
    );
    assert_eq!(team.subscriptions().unwrap().count, SUBSCRIPTIONS_MAX);
    let refusal = refused(team.subscription("wach"), Code::SubscriptionNotFound);
    assert_eq!(refusal.details["nearest"], "watch");
}

#[test]
fn an_epoch_of_a_deleted_subscription_fits_no_later_one() {
    let (_world, mut team) = watched(1);
    let seq = append(&mut team, "built", None);
    let old = fetch(&mut team, None, &[]).epoch.unwrap();
    let delete = given!(DeleteSubscription, name: "watch");
    team.delete_subscription(&delete).unwrap();
    refused(
        team.delete_subscription(&delete),
        Code::SubscriptionNotFound,
    );
    refused(ack(&mut team, old, &[seq]), Code::SubscriptionNotFound);
    let again = given!(Subscribe, name: "watch", kind: "built", from: "start");
    team.subscribe(&again).unwrap();
    assert_eq!(seqs(&fetch(&mut team, None, &[])), [seq]);
    refused(ack(&mut team, old, &[seq]), Code::SubscriptionFenced);
}

#[test]
fn a_damaged_file_is_reported_and_can_only_be_deleted() {
    let (world, mut team) = watched(1);
    append(&mut team, "built", None);
    let path = Path::new(DIR).join("watch.json");
    let whole = world.memory.read(&path, 1 << 20).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        world.memory.replace(&path, &bytes, true).unwrap();
        refused(team.subscription("watch"), Code::SubscriptionDamaged);
    }
    refused(team.fetch_subscription(&take()), Code::SubscriptionDamaged);
    assert_eq!(team.subscriptions().unwrap().damaged, ["watch"]);
    team.delete_subscription(&given!(DeleteSubscription, name: "watch"))
        .unwrap();
    refused(team.fetch_subscription(&take()), Code::SubscriptionNotFound);
}

#[test]
fn another_history_of_the_log_is_refused() {
    let (world, mut team) = watched(1);
    let first = append(&mut team, "built", None);
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    ack(&mut team, epoch, &[first]).unwrap();
    let files = ["watch.json", "watch.delivery"].map(|name| {
        let path = Path::new(DIR).join(name);
        (path.clone(), world.memory.read(&path, 1 << 20).unwrap())
    });
    // Another team of the same name has a shorter log, and then other events.
    let (other, mut team) = watched(1);
    for (path, bytes) in files {
        other.memory.replace(&path, &bytes, true).unwrap();
    }
    other.later(31 * SECOND);
    let refusal = refused(team.fetch_subscription(&take()), Code::CursorAhead);
    assert!(refusal.hint.unwrap().contains("--from SEQ"));
    misfits(&mut team, "the log was cut or restored", Code::CursorAhead);
    append(&mut team, "built", None);
    refused(team.fetch_subscription(&take()), Code::LogReplaced);
    misfits(&mut team, "the log was replaced or cut", Code::LogReplaced);
}

/// Asserts that list, show, attention and replay report a subscription that does not fit its log.
fn misfits(team: &mut Team, text: &str, code: Code) {
    let list = team.subscriptions().unwrap().subscriptions;
    for shown in [list[0].clone(), show(team).subscription] {
        assert!(shown.refused.as_ref().unwrap().contains(text), "{shown:?}");
    }
    refused_item(team, text);
    let replay = given!(ReplaySubscription, name: "watch");
    refused(team.replay_subscription(&replay), code);
}

/// Asserts that attention lists one refused subscription.
pub fn refused_item(team: &mut Team, text: &str) {
    let kind = Some(AttentionKind::SubscriptionRefused);
    let items = team.attention(&given!(Attention, kind)).unwrap().items;
    assert_eq!(items.len(), 1);
    assert!(items[0].text.contains(text), "{items:?}");
    assert_eq!(items[0].command, "teamlog subscription delete demo watch");
}

#[test]
fn an_agent_uses_its_own_subscriptions_only() {
    let (world, mut team) = watched(1);
    let seq = append(&mut team, "built", None);
    let mut dev = as_agent(&world, "dev").team("demo").unwrap();
    refused(dev.fetch_subscription(&take()), Code::ActorMismatch);
    let delete = given!(DeleteSubscription, name: "watch");
    refused(dev.delete_subscription(&delete), Code::ActorMismatch);
    dev.subscribe(&given!(Subscribe, name: "own", kind: "built", from: "start"))
        .unwrap();
    let own = given!(FetchSubscription, name: "own", timeout_ms: 0);
    let answer = dev.fetch_subscription(&own).unwrap();
    assert_eq!((seqs(&answer), &*answer.consumer), (vec![seq], "dev"));
    let mut qa = as_agent(&world, "qa").team("demo").unwrap();
    refused(qa.fetch_subscription(&own), Code::ActorMismatch);
    team.delete_subscription(&given!(DeleteSubscription, name: "own"))
        .unwrap();
}

#[test]
fn after_a_power_loss_no_acknowledged_event_is_delivered_again_and_none_is_missed() {
    let (world, mut team) = watched(2);
    let all: Vec<u64> = (0..6).map(|_| append(&mut team, "built", None)).collect();
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    let mut acked = BTreeSet::new();
    let mut states = 0;
    for seq in &all {
        fetch(&mut team, Some(epoch), &[]);
        if *seq == all[2] {
            nak(&mut team, epoch, *seq);
            world.later(SECOND);
            fetch(&mut team, Some(epoch), &[]);
        }
        ack(&mut team, epoch, &[*seq]).unwrap();
        acked.insert(*seq);
        for memory in world.memory.crashes().take(400) {
            states += 1;
            let world = World {
                memory: Arc::new(memory),
                ..World::new()
            };
            let root = Root::on(world.memory.clone(), world.root.options().clone());
            world.clock.advance(60 * SECOND);
            let mut team = root.team("demo").unwrap();
            let mut seen = acked.clone();
            let mut epoch = None;
            loop {
                let answer = fetch(&mut team, epoch, &[]);
                epoch = answer.epoch;
                let new = seqs(&answer);
                if new.is_empty() {
                    break;
                }
                for seq in &new {
                    assert!(seen.insert(*seq), "{seq} was delivered again");
                }
                ack(&mut team, epoch.unwrap(), &new).unwrap();
            }
            assert_eq!(seen, all.iter().copied().collect());
        }
    }
    assert!(states > 6, "{states} states");
}

#[test]
fn death_and_power_loss_at_every_call_of_an_ack_lose_no_answered_ack_and_no_event() {
    let (world, mut team) = watched(2);
    let all: Vec<u64> = (0..3).map(|_| append(&mut team, "built", None)).collect();
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    drop(team);
    let mut states = 0;
    for call in 0.. {
        let memory = Arc::new(world.memory.snapshot());
        let faulty = Faulty::new(memory.clone());
        faulty.arm(call, Fault::Stop);
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let root = Root::on(storage, world.root.options().clone());
        let acked = root
            .team("demo")
            .is_ok_and(|mut team| ack(&mut team, epoch, &all[..1]).is_ok());
        drop(root);
        for seed in 1..8_u64 {
            states += 1;
            let mut random = seed;
            let crashed = memory.crash(&mut |choices| {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) as usize % choices
            });
            let after = World::new();
            after.clock.advance(60 * SECOND);
            let root = Root::on(Arc::new(crashed), after.root.options().clone());
            let mut team = root.team("demo").unwrap();
            let answer = fetch(&mut team, None, &[]);
            let mut seen = seqs(&answer);
            ack(&mut team, answer.epoch.unwrap(), &seen).unwrap();
            seen.extend(seqs(&fetch(&mut team, answer.epoch, &[])));
            let rest = if acked { &all[1..] } else { &all[..] };
            assert!(
                seen == rest || (!acked && seen == all[1..]),
                "{call}: {seen:?}"
            );
        }
        if faulty.count() <= call {
            assert!(acked);
            break;
        }
    }
    assert!(states > 20, "{states} states");
}

#[test]
fn acks_of_many_threads_share_writes_and_each_counts() {
    let (world, mut team) = watched(256);
    let all: Vec<u64> = (0..64).map(|_| append(&mut team, "built", None)).collect();
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    let options = RootOptions {
        settlements: Some(Arc::<Settlements>::default()),
        lock_deadline: Duration::from_secs(60),
        ..world.root.options().clone()
    };
    let root = world.root.with_options(options);
    thread::scope(|scope| {
        for seqs in all.chunks(4) {
            let root = &root;
            scope.spawn(move || {
                let mut team = root.team("demo").unwrap();
                for seq in seqs {
                    ack(&mut team, epoch, &[*seq]).unwrap();
                }
                refused(ack(&mut team, epoch, &[u64::MAX]), Code::EventNotDelivered);
            });
        }
    });
    let shown = show(&mut team).subscription;
    assert_eq!((shown.position, shown.unsettled_count), (all[63], 0));
}

#[test]
fn a_subscription_changes_neither_the_log_nor_its_digest_and_is_in_no_past() {
    let (_world, mut team) = watched(1);
    append(&mut team, "built", None);
    let count = events(&mut team).len();
    let epoch = fetch(&mut team, None, &[]).epoch.unwrap();
    let seq = events(&mut team).len() as u64;
    ack(&mut team, epoch, &[seq]).unwrap();
    assert_eq!(events(&mut team).len(), count);
    let mut past = team.at(teamlog_engine::Point::Seq(1)).unwrap();
    refused(past.fetch_subscription(&take()), Code::PastReadOnly);
    refused(
        past.subscribe(&given!(Subscribe, name: "x")),
        Code::PastReadOnly,
    );
}

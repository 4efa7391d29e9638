//! Tests of durable delivery: policy and deadlines. The deadlines do not depend on the caller, on
//! the times of ticks, or on the number of ticks.

mod waits;

use crate::prelude::*;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use teamlog_engine::internals::storage::Fault;
use teamlog_team::command::deadline::Deadline;
use teamlog_team::message::ack::AckStatus;
use teamlog_team::message::dead_letter::{DeadLetterList, DeadLetterRequeue, DeadLetterShown};
use teamlog_team::message::deliveries::DeliveryList;

/// Returns a message that requires an ack within `seconds`, with `retries` further attempts.
pub fn durable(id: &str, seconds: u64, retries: u64) -> Send {
    given!(Send, message_id: id,
        delivery: given!(Require, ack_timeout_seconds: seconds, max_retries: retries),
        ..message("lead", "dev"))
}

pub fn tick(team: &mut Team) -> (u64, u64) {
    let ticked = team.tick(Tick::default()).unwrap().delivery;
    (ticked.retried, ticked.dead_lettered)
}

fn ack(team: &mut Team, id: &str) -> AckStatus {
    let ack = given!(Ack, agent: "dev", message_id: id);
    team.ack(ack).unwrap().status
}

/// Returns, for each delivery event, its kind, its message, its payload, and the message that
/// caused it.
fn story(team: &mut Team) -> Vec<Value> {
    let all = events(team);
    let owner = |id: &Value| {
        let found = all.iter().find(|event| event["id"] == *id);
        found.map(|event| (event["kind"].clone(), event["message_id"].clone()))
    };
    all.iter()
        .filter(|event| event["kind"].as_str().unwrap().starts_with("delivery_"))
        .map(|event| {
            let mut payload = event["payload"].clone();
            if event["kind"] == "delivery_dead_letter" {
                payload["id"] = Value::Null;
            }
            json!([event["kind"], payload, owner(&event["cause"])])
        })
        .collect()
}

fn policy(team: &mut Team, id: &str) -> (u64, u64) {
    let all = events(team);
    let event = all
        .iter()
        .find(|event| event["kind"] == "delivery_required" && event["message_id"] == id)
        .unwrap();
    let number = |name: &str| event["payload"][name].as_u64().unwrap();
    (number("ack_timeout_seconds"), number("max_retries"))
}

#[test]
fn an_ack_is_required_by_an_event_of_the_same_group() {
    let (_, mut team) = demo();
    let answer = team.send(durable("m1", 60, 2)).unwrap();
    assert_eq!(answer.status, SendStatus::Sent);
    assert_eq!(answer.event.event.kind, "message_sent");
    let terms = answer.delivery.unwrap();
    assert_eq!((terms.ack_timeout_seconds, terms.max_retries), (60, 2));
    shows!(terms.dead_letter_at => starts "2026-11-21T12:03:00.00");
    assert_eq!(kinds(&mut team)[1..], ["message_sent", "delivery_required"]);
    let all = events(&mut team);
    assert_eq!(all[2]["cause"], all[1]["id"]);
    has!(all[2], {"agent": "dev", "actor": "lead"});
    let same = team.send(durable("m1", 60, 2)).unwrap();
    assert_eq!(same.status, SendStatus::Duplicate);
    assert!(same.delivery.is_none());
    assert_eq!(story(&mut team).len(), 1, "a duplicate requires nothing");
    assert!(
        team.send(message("lead", "dev"))
            .unwrap()
            .delivery
            .is_none()
    );
}

#[test]
fn the_policy_is_the_senders_else_the_teams_by_type_else_the_default() {
    let (_, mut team) = demo();
    let send = |id: &str, kind: &str| {
        given!(Send, message_id: id,
            kind, delivery: Require::default(), ..message("lead", "dev"))
    };
    team.send(send("m1", "handoff")).unwrap();
    team.send(send("m2", "decision_required")).unwrap();
    team.send(send("m3", "shutdown_request")).unwrap();
    for (key, value) in [
        ("delivery.default.ack_timeout_seconds", "30"),
        ("delivery.handoff.max_retries", "7"),
        ("delivery.shutdown_request.ack_timeout_seconds", "5"),
    ] {
        team.config_change(given!(ConfigChange, key, value))
            .unwrap();
    }
    team.send(send("m4", "handoff")).unwrap();
    team.send(send("m5", "decision_required")).unwrap();
    team.send(send("m6", "shutdown_request")).unwrap();
    team.send(durable("m7", 9, 1)).unwrap();
    let found: Vec<_> = (1..=7)
        .map(|n| policy(&mut team, &format!("m{n}")))
        .collect();
    let expected = [60, 180, 180, 30, 180, 5, 9].into_iter();
    let expected = expected.zip([2, 3, 2, 7, 3, 2, 1]);
    assert_eq!(found, expected.collect::<Vec<_>>());
    let refusal = refused(team.send(durable("m8", 0, 1)), Code::InvalidInput);
    assert_eq!(
        refusal.message,
        r#"ack_timeout_seconds must be a whole number from 1 to 2592000, but is "0""#
    );
    refused(team.send(durable("m8", 1, 101)), Code::InvalidInput);
    assert_eq!(events(&mut team).len(), 18, "a refusal writes nothing");
}

#[test]
fn attempts_and_dead_letter_come_when_they_are_due_and_once() {
    let (world, mut team) = demo();
    team.send(durable("m1", 60, 2)).unwrap();
    // The attempt began at noon according to the clock. The deadline does not depend on the times
    // of events.
    world.later(60 * SECOND - 1);
    assert_eq!(tick(&mut team), (0, 0), "a moment too early");
    world.later(1);
    assert_eq!(tick(&mut team), (1, 0));
    assert_eq!(tick(&mut team), (0, 0), "at once again");
    world.later(59 * SECOND);
    assert_eq!(tick(&mut team), (0, 0));
    world.later(SECOND);
    assert_eq!(tick(&mut team), (1, 0));
    world.later(60 * SECOND);
    let answer = team.tick(Tick::default()).unwrap();
    assert_eq!(
        (answer.delivery.retried, answer.delivery.dead_lettered),
        (0, 1)
    );
    assert_eq!(answer.next_due_at, None);
    world.later(1_000_000 * SECOND);
    assert_eq!(tick(&mut team), (0, 0));
    let story = story(&mut team);
    let due = |minute: u32| format!("2026-11-21T12:0{minute}:00.000000Z");
    let caused_by = json!(["delivery_required", "m1"]);
    let expected = cases![
        ("delivery_retry", {"message_id": "m1", "attempt": 2, "due_at": due(1), "ends_at": due(2)}),
        ("delivery_retry", {"message_id": "m1", "attempt": 3, "due_at": due(2), "ends_at": due(3)}),
        ("delivery_dead_letter", {"id": null, "message_id": "m1", "reason": "ack_timeout",
            "attempts": 3, "due_at": due(3)}),
    ]
    .map(|(kind, payload)| json!([kind, payload, caused_by]));
    assert_eq!(story[1..], expected);
    settled_digest(&mut team);
}

#[test]
fn a_long_stop_takes_no_time_from_the_attempts_that_follow() {
    let (world, mut team) = demo();
    team.send(durable("m1", 60, 2)).unwrap();
    world.later(24 * 60 * MINUTE);
    for expected in [(1, 0), (1, 0), (0, 1)] {
        let answer = team.tick(Tick::default()).unwrap().delivery;
        assert_eq!((answer.retried, answer.dead_lettered), expected);
        world.later(60 * SECOND - 1);
        assert_eq!(tick(&mut team), (0, 0), "the attempt has its full timeout");
        world.later(1);
    }
    let times = story(&mut team);
    let times: Vec<&str> = times
        .iter()
        .map(|event| event[1]["due_at"].as_str().unwrap())
        .collect();
    assert_eq!(
        times[1..],
        [
            "2026-11-21T12:01:00.000000Z",
            "2026-11-22T12:01:00.000000Z",
            "2026-11-22T12:02:00.000000Z",
        ]
    );
    settled_digest(&mut team);
}

#[test]
fn an_ack_after_a_long_stop_is_in_time_for_the_attempt_that_it_begins() {
    let (world, mut team) = demo();
    team.send(durable("m1", 60, 1)).unwrap();
    world.later(24 * 60 * MINUTE);
    assert_eq!(tick(&mut team), (1, 0));
    world.later(59 * SECOND);
    assert_eq!(tick(&mut team), (0, 0));
    assert_eq!(ack(&mut team, "m1"), AckStatus::Acked);
    world.later(60 * MINUTE);
    assert_eq!(tick(&mut team), (0, 0));
}

#[test]
fn an_ack_closes_the_delivery_in_its_own_group() {
    let (world, mut team) = demo();
    team.send(durable("m1", 60, 2)).unwrap();
    world.later(61 * SECOND);
    assert_eq!(tick(&mut team), (1, 0));
    assert_eq!(ack(&mut team, "m1"), AckStatus::Acked);
    assert_eq!(kinds(&mut team)[4..], ["message_acked", "delivery_acked"]);
    let all = events(&mut team);
    has!(all[5], {"payload": json!({"message_id": "m1", "attempt": 2}), "cause": all[4]["id"]});
    world.later(1000 * SECOND);
    assert_eq!(tick(&mut team), (0, 0));
    assert_eq!(ack(&mut team, "m1"), AckStatus::AlreadyAcked);
    assert_eq!(kinds(&mut team).len(), 7);
    settled_digest(&mut team);
}

#[test]
fn somebody_elses_ack_closes_nothing() {
    let (world, mut team) = demo();
    team.send(durable("m1", 60, 0)).unwrap();
    let wrong = given!(Ack, agent: "qa", message_id: "m1");
    assert_eq!(team.ack(wrong).unwrap().status, AckStatus::WrongRecipient);
    world.later(61 * SECOND);
    assert_eq!(tick(&mut team), (0, 1));
}

#[test]
fn dead_letters_are_listed_requeued_and_closed_by_a_late_ack() {
    let (world, mut team) = demo();
    for n in 1..=3 {
        team.send(durable(&format!("m{n}"), 10 * n, 0)).unwrap();
    }
    world.later(60 * SECOND);
    assert_eq!(tick(&mut team), (0, 3));
    let list = |team: &mut Team, cursor: Option<&str>| {
        let list = given!(DeadLetterList, agent: "dev", limit: 2, cursor);
        json(&team.dead_letters(list).unwrap())
    };
    let page = list(&mut team, None);
    let ids = |page: &Value| {
        let letters = page["dead_letters"].as_array().unwrap().iter();
        letters
            .map(|letter| letter["message_id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&page), ["m2", "m3"]);
    let rest = list(&mut team, page["next_cursor"].as_str());
    assert_eq!(
        (ids(&rest), &rest["next_cursor"]),
        (vec![json!("m1")], &Value::Null)
    );
    let letter = rest["dead_letters"][0].clone();
    has!(letter, {"status": "dead", "/message/id": "m1"});
    let read: DeadLetterShown = serde_json::from_str(&letter.to_string()).unwrap();
    assert_eq!(read.recipient(), "dev");
    let other = given!(DeadLetterList, agent: "qa");
    assert_eq!(team.dead_letters(other).unwrap().count, 0);

    let by_id = given!(DeadLetterRequeue, id: letter["id"].as_str().map(str::to_owned));
    let answer = json(&team.dead_letter_requeue(by_id.clone()).unwrap());
    assert_eq!(answer["delivery"]["ack_timeout_seconds"], 10, "as before");
    assert_eq!(answer["event"]["payload"]["requeued"], true);
    refused(team.dead_letter_requeue(by_id.clone()), Code::DeliveryOpen);
    let by_message = given!(DeadLetterRequeue, message_id: "m2",
        ack_timeout_seconds: 100_u64, max_retries: 1_u64);
    team.dead_letter_requeue(by_message).unwrap();
    world.later(11 * SECOND);
    assert_eq!(tick(&mut team), (0, 1), "m1 is dead once more");
    assert_eq!(ack(&mut team, "m1"), AckStatus::Acked);
    assert_eq!(ack(&mut team, "m3"), AckStatus::Acked);
    refused(team.dead_letter_requeue(by_id), Code::AlreadyAcked);
    let all = json(&team.dead_letters(DeadLetterList::default()).unwrap());
    let letters = all["dead_letters"].as_array().unwrap().iter();
    let statuses = letters.map(|letter| json!([letter["message_id"], letter["status"]]));
    assert_eq!(
        Value::from_iter(statuses),
        json!([
            ["m1", "requeued"],
            ["m2", "requeued"],
            ["m3", "acked"],
            ["m1", "acked"]
        ])
    );
    for (requeue, field) in [
        (given!(DeadLetterRequeue, id: "dlq_x"), "id"),
        (given!(DeadLetterRequeue, message_id: "m9"), "message_id"),
    ] {
        let refusal = refused(team.dead_letter_requeue(requeue), Code::DeadLetterNotFound);
        assert_eq!(refusal.field.as_deref(), Some(field));
    }
    settled_digest(&mut team);
}

#[test]
fn a_dead_letter_is_requeued_as_an_operation_by_whoever_does_it() {
    let (world, mut team) = demo();
    team.send(durable("m1", 10, 0)).unwrap();
    let requeue = given!(DeadLetterRequeue, message_id: "m1", max_retries: 2_u64);
    refused(
        team.dead_letter_requeue(requeue.clone()),
        Code::DeadLetterNotFound,
    );
    world.later(11 * SECOND);
    assert_eq!(tick(&mut team), (0, 1));
    team.under(Control {
        key: Some("again".into()),
        actor: Some("lead".into()),
        ..Control::default()
    });
    let answer = json(&team.dead_letter_requeue(requeue.clone()).unwrap());
    has!(answer, {"status": "requeued", "team": "demo", "message_id": "m1",
        "/delivery/ack_timeout_seconds": 10, "/delivery/max_retries": 2, "/event/actor": "lead"});
    let count = events(&mut team).len();
    let again = json(&team.dead_letter_requeue(requeue.clone()).unwrap());
    assert_eq!((again, events(&mut team).len()), (answer, count));
    team.under(Control::default());
    refused(
        team.dead_letter_requeue(requeue.clone()),
        Code::DeliveryOpen,
    );
    assert_eq!(ack(&mut team, "m1"), AckStatus::Acked);
    refused(team.dead_letter_requeue(requeue), Code::AlreadyAcked);
    refused(
        team.dead_letter_requeue(DeadLetterRequeue::default()),
        Code::InvalidInput,
    );
}

#[test]
fn open_deliveries_are_listed_page_by_page_in_the_order_of_time() {
    let (world, mut team) = demo();
    for n in [3, 1, 2] {
        team.send(durable(&format!("m{n}"), 10 * n, 1)).unwrap();
    }
    let page = |team: &mut Team, cursor: Option<&str>| {
        let list = given!(DeliveryList, limit: 2_usize, cursor);
        json(&team.open_deliveries(&list).unwrap())
    };
    let ids = |page: &Value| {
        let all = page["deliveries"].as_array().unwrap().iter();
        let told = all.map(|one| json!([one["message_id"], one["overdue"]]));
        Value::from_iter(told)
    };
    let first = page(&mut team, None);
    assert_eq!(ids(&first), json!([["m1", false], ["m2", false]]));
    has!(first["deliveries"][0], {"from": "lead", "to": "dev", "attempt": 1, "attempts_max": 2,
        "sent_at": "2026-11-21T12:00:00.000000Z", "due_at": "2026-11-21T12:00:10.000000Z"});
    let cursor = first["next_cursor"].as_str().unwrap();
    // The cursor stays valid after its delivery is closed.
    assert_eq!(ack(&mut team, "m2"), AckStatus::Acked);
    let rest = page(&mut team, Some(cursor));
    assert_eq!(
        (ids(&rest), &rest["next_cursor"]),
        (json!([["m3", false]]), &Value::Null)
    );
    world.later(10 * SECOND);
    assert_eq!(
        ids(&page(&mut team, None)),
        json!([["m1", true], ["m3", false]])
    );
    assert_eq!(tick(&mut team), (1, 0));
    let retried = page(&mut team, None);
    has!(retried["deliveries"][0], {"message_id": "m1", "attempt": 2, "overdue": true});
    for cursor in ["m1", "x@m1"] {
        let list = given!(DeliveryList, cursor: cursor);
        refused(team.open_deliveries(&list), Code::CursorUnknown);
    }
}

#[test]
fn what_is_due_at_once_goes_out_in_bounded_groups_in_the_order_of_time() {
    let (world, mut team) = demo();
    for n in 0..200 {
        team.send(durable(&format!("m{n}"), 10, 1)).unwrap();
    }
    world.later(MINUTE);
    let before = kinds(&mut team).len();
    assert_eq!(tick(&mut team), (200, 0));
    world.later(MINUTE);
    assert_eq!(tick(&mut team), (0, 200));
    let due: Vec<String> = story(&mut team)[200..]
        .iter()
        .map(|event| event[1]["due_at"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(due.len(), 400);
    assert!(due.is_sorted(), "{due:?}");
    assert_eq!(kinds(&mut team).len(), before + 400);
    assert_eq!(tick(&mut team), (0, 0));
}

/// A sent message: the pause before the send, the ack timeout, the number of retries, and true if
/// the message is acknowledged.
type Sent = (i64, u64, u64, bool);

/// Sends the messages, acknowledges some of them, then ticks after each pause. Returns the delivery events.
fn history(sent: &[Sent], ticks: &[i64], handles: usize) -> Vec<Value> {
    let world = World::new();
    world.team(Some(&["lead", "dev", "qa"]), Format::Jsonl);
    let mut teams: Vec<Team> = (0..handles)
        .map(|_| world.root.team("demo").unwrap())
        .collect();
    for (n, (pause, seconds, retries, _)) in sent.iter().enumerate() {
        world.later(*pause);
        teams[0]
            .send(durable(&format!("m{n}"), *seconds, *retries))
            .unwrap();
    }
    for (n, (_, _, _, acked)) in sent.iter().enumerate() {
        if *acked {
            ack(&mut teams[0], &format!("m{n}"));
        }
    }
    // Ends every delivery, because each of these pauses ends one attempt of all open deliveries.
    let to_the_end = [3600 * SECOND; 6];
    for (n, pause) in ticks.iter().chain(&to_the_end).enumerate() {
        world.later(*pause);
        tick(&mut teams[n % handles]);
    }
    settled_digest(&mut teams[0]);
    story(&mut teams[0])
}

/// Returns a time field of a delivery event, in microseconds.
fn moment(event: &Value, field: &str) -> i64 {
    time(event[1][field].as_str().unwrap()).micros()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_attempt_has_its_full_timeout_whenever_and_by_whomever_it_is_begun(
        sent in proptest::collection::vec((1..900_000_i64, 5..90_u64, 0..5_u64, any::<bool>()), 1..12),
        ticks in proptest::collection::vec(1..200 * SECOND, 0..40),
    ) {
        let story = history(&sent, &ticks, 1);
        prop_assert_eq!(&story, &history(&sent, &ticks, 3));
        for (n, (_, seconds, retries, acked)) in sent.iter().enumerate() {
            let id = format!("m{n}");
            let own = story.iter().filter(|event| event[1]["message_id"] == id.as_str());
            let own: Vec<&Value> = own.filter(|event| event[0] != "delivery_acked").collect();
            let attempts = if *acked { 0 } else { *retries as usize + 1 };
            prop_assert_eq!(own.len(), 1 + attempts, "{:?}", own);
            for pair in own.windows(2) {
                let begun = if pair[0][0] == "delivery_required" { "due_at" } else { "ends_at" };
                prop_assert_eq!(moment(pair[1], "due_at"), moment(pair[0], begun));
                if pair[1][0] == "delivery_retry" {
                    let lasts = moment(pair[1], "ends_at") - moment(pair[1], "due_at");
                    prop_assert!(lasts >= *seconds as i64 * SECOND);
                }
            }
        }
    }
}

/// Returns a root for the teams of a world, on a storage that can fail.
fn faulty(world: &World) -> (Faulty, Root) {
    let inner: Arc<dyn Storage> = world.memory.clone();
    let faulty = Faulty::new(inner);
    let options = given!(RootOptions, clock: world.root.options().clock.clone(),
        ..world.root.options().clone());
    (faulty.clone(), Root::on(Arc::new(faulty), options))
}

#[test]
fn a_tick_that_dies_anywhere_is_finished_by_the_next_one() {
    let told = |death: Option<usize>| {
        let (world, mut team) = demo();
        for n in 0..3 {
            team.send(durable(&format!("m{n}"), 10, n % 2)).unwrap();
        }
        world.later(MINUTE);
        tick(&mut team);
        drop(team);
        world.later(MINUTE);
        let mut died = false;
        if let Some(call) = death {
            let (faulty, root) = faulty(&world);
            faulty.arm(call, Fault::Stop);
            let outcome = root
                .team("demo")
                .and_then(|mut team| team.tick(Tick::default()));
            died = outcome.is_err() || faulty.count() > call;
        }
        let mut team = world.root.team("demo").unwrap();
        tick(&mut team);
        // If the tick recorded no event, the next command repairs the view file.
        team.send(message("lead", "qa")).unwrap();
        let view = world.text("dead-letter/2026-11-21.jsonl");
        assert_eq!(view.lines().count(), 3, "{death:?}: {view}");
        settled_digest(&mut team);
        (story(&mut team), died)
    };
    let (expected, _) = told(None);
    assert_eq!(expected.len(), 7);
    let mut deaths = 0;
    for call in 0.. {
        let (story, died) = told(Some(call));
        assert_eq!(story, expected, "died before call {call}");
        if !died {
            break;
        }
        deaths += 1;
    }
    assert!(deaths > 20, "{deaths}");
}

#[test]
fn the_senders_death_loses_nothing() {
    let (world, mut sender) = demo();
    sender.send(durable("m1", 60, 1)).unwrap();
    drop(sender);
    let mut other = world.root.team("demo").unwrap();
    world.later(61 * SECOND);
    assert_eq!(tick(&mut other), (1, 0));
    assert_eq!(ack(&mut other, "m1"), AckStatus::Acked);
    let again = other
        .send_and_wait(durable("m1", 60, 1), &Deadline::default())
        .unwrap();
    assert_eq!(
        again.status,
        SendStatus::Acked,
        "whoever asks again is told"
    );
    assert_eq!(again.attempt, Some(2));
    assert_eq!(again.ack.unwrap().event.kind, "message_acked");
}

/// Creates a dead letter in the team `demo`. The dead letter results from several operations and a change of the clock.
pub fn with_dead_letter(world: &World) {
    let mut team = world.demo();
    team.send(durable("m-dead", 1, 0)).unwrap();
    world.later(2 * SECOND);
    team.tick(Tick::default()).unwrap();
    team.finish().unwrap();
}

//! Tests of waits for an ack.

use super::*;

#[test]
fn who_waits_is_woken_by_the_ack() {
    let world = World::new();
    world.demo();
    let root = world.root.clone();
    let waiting = thread::spawn(move || {
        let mut team = root.team("demo").unwrap();
        team.send_and_wait(durable("m1", 3600, 0), &Deadline::default())
            .unwrap()
    });
    let mut team = world.root.team("demo").unwrap();
    while ack_of(&mut team, "m1") != AckStatus::Acked {
        thread::yield_now();
    }
    let answer = waiting.join().unwrap();
    assert_eq!(answer.status, SendStatus::Acked);
    assert_eq!(answer.attempt, Some(1));
    assert_eq!(answer.ack.unwrap().event.actor, "dev");
    assert!(answer.dead_letter.is_none());
}

#[test]
fn whoever_stops_waiting_is_told_that_the_message_is_open() {
    let (_, mut team) = demo();
    let looks = AtomicU64::new(0);
    let twice = Deadline::as_long_as(move || looks.fetch_add(1, Ordering::Relaxed) < 2);
    let answer = team.send_and_wait(durable("m1", 3600, 0), &twice).unwrap();
    assert_eq!(answer.status, SendStatus::Sent);
    assert!(answer.is_open());
    let again = team.send_and_wait(durable("m1", 3600, 0), &twice).unwrap();
    assert_eq!(again.status, SendStatus::Duplicate);
    assert!(again.is_open());
    assert_eq!(ack(&mut team, "m1"), AckStatus::Acked);
    let known = team.send_and_wait(durable("m1", 3600, 0), &twice).unwrap();
    assert_eq!(
        known.status,
        SendStatus::Acked,
        "what is known needs no deadline"
    );
    assert!(!known.is_open());
}

/// Acknowledges a message. While the message does not exist, the ack has no effect.
fn ack_of(team: &mut Team, id: &str) -> AckStatus {
    match kinds(team).iter().any(|kind| kind == "delivery_required") {
        true => ack(team, id),
        false => AckStatus::NotFound,
    }
}

#[test]
fn who_waits_sees_to_its_own_time_and_gets_the_dead_letter() {
    let (world, mut team) = demo();
    team.send(durable("m0", 10, 0)).unwrap();
    team.send(durable("m1", 10, 1)).unwrap();
    world.later(MINUTE);
    let mut other = world.root.team("demo").unwrap();
    let waiting = thread::spawn(move || {
        let deadline = Deadline::default();
        team.send_and_wait(durable("m1", 10, 1), &deadline)
            .map(|answer| (answer, team))
    });
    until("it is tried again", || {
        kinds(&mut other).contains(&"delivery_retry".to_owned())
    });
    world.later(10 * SECOND);
    // An appended event wakes the waiting sender.
    other
        .append(given!(Append, kind: "noticed", actor: "ci"))
        .unwrap();
    let (answer, mut team) = waiting.join().unwrap().unwrap();
    assert_eq!(answer.status, SendStatus::DeadLetter);
    let letter = answer.dead_letter.unwrap();
    assert_eq!((&*letter.message_id, letter.attempts), ("m1", 2));
    assert_eq!(
        kinds(&mut team)[5..],
        [
            "message_duplicate",
            "delivery_retry",
            "noticed",
            "delivery_dead_letter"
        ],
        "that of nobody else"
    );
    assert_eq!(tick(&mut team), (0, 1), "m0 waits for a tick");
}

#[test]
fn waiting_for_what_needs_no_ack_is_a_duplicate() {
    let (_, mut team) = demo();
    team.send(given!(Send, message_id: "m1", ..message("lead", "dev")))
        .unwrap();
    let answer = team
        .send_and_wait(durable("m1", 10, 1), &Deadline::default())
        .unwrap();
    assert_eq!(answer.status, SendStatus::Duplicate);
}

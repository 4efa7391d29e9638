//! Tests of a log after its host's clock was ahead for a while. Times in the log never go back, so they stay ahead. This does not
//! delay any deadline.

use crate::bootstrap::Boot;
use crate::bootstrap_work::{BOTH, running};
use crate::mode_calls::{start, update};
use crate::prelude::*;
use teamlog_team::mode::sessions::ModeSessions;

const HOUR: i64 = 60 * MINUTE;

/// Records an event while the clock is an hour ahead.
fn once_ahead(world: &World, team: &mut Team) {
    world.later(HOUR);
    team.send(message("lead", "lead")).unwrap();
    world.later(-HOUR);
}

/// Returns a message that requires an ack within ten seconds, with one further attempt.
fn durable(id: &str) -> Send {
    given!(Send, message_id: id,
        delivery: Require { ack_timeout_seconds: Some(10), max_retries: Some(1), },
        ..message("lead", "dev"))
}

fn tick(team: &mut Team) -> (u64, u64) {
    let ticked = team.tick(Tick::default()).unwrap().delivery;
    (ticked.retried, ticked.dead_lettered)
}

#[test]
fn a_delivery_is_due_by_the_clock_and_not_by_the_logs_times() {
    let (world, mut team) = demo();
    once_ahead(&world, &mut team);
    let sent = team.send(durable("m1")).unwrap();
    assert!(sent.event.event.created_at > world.root.options().clock.now().plus_micros(HOUR));
    let dead_at = world.root.options().clock.now().plus_micros(20 * SECOND);
    assert_eq!(sent.delivery.unwrap().dead_letter_at, dead_at.to_string());
    let due = team.tick(Tick::default()).unwrap().next_due_at;
    let first = world.root.options().clock.now().plus_micros(10 * SECOND);
    assert_eq!(due, Some(first.to_string()));
    world.later(10 * SECOND - 1);
    assert_eq!(tick(&mut team), (0, 0));
    world.later(1);
    assert_eq!(tick(&mut team), (1, 0));
    world.later(10 * SECOND);
    assert_eq!(tick(&mut team), (0, 1));

    let requeue = given!(DeadLetterRequeue, message_id: "m1",
        ack_timeout_seconds: 5_u64, max_retries: 0_u64);
    team.dead_letter_requeue(requeue).unwrap();
    world.later(5 * SECOND);
    assert_eq!(tick(&mut team), (0, 1), "the same of a second chance");
    settled_digest(&mut team);
}

#[test]
fn a_cooldown_counts_from_when_the_last_message_was_sent() {
    let (world, mut team) = demo();
    once_ahead(&world, &mut team);
    let cooled = || given!(Send, cooldown_seconds: 60, ..message("lead", "dev"));
    let mut status = || team.send(cooled()).unwrap().status;
    assert_eq!(status(), SendStatus::Sent);
    world.later(59 * SECOND);
    assert_eq!(status(), SendStatus::Suppressed);
    world.later(SECOND);
    assert_eq!(status(), SendStatus::Sent);
    // The creation time that a sender gives does not shorten the cooldown.
    world.later(60 * SECOND);
    let early = given!(Send, created_at: "2026-11-20", ..message("lead", "dev"));
    team.send(early).unwrap();
    let mut status = || team.send(cooled()).unwrap().status;
    world.later(59 * SECOND);
    assert_eq!(status(), SendStatus::Suppressed);
    world.later(SECOND);
    assert_eq!(status(), SendStatus::Sent);
    settled_digest(&mut team);
}

#[test]
fn nudges_do_not_wait_for_the_clock_to_catch_up() {
    let (world, mut team) = demo();
    once_ahead(&world, &mut team);
    team.send(message("dev", "qa")).unwrap();
    team.send(message("qa", "dev")).unwrap();
    let mut nudged = || {
        let answer = team.nudge(Nudge::default()).unwrap();
        (answer.count, answer.reminded.len(), answer.skipped.cooling)
    };
    assert_eq!(nudged(), (3, 0, 0), "what they did lies in the future");
    world.later(MINUTE);
    assert_eq!(nudged(), (0, 0, 3));
    world.later(15 * MINUTE);
    assert_eq!(nudged(), (0, 3, 0), "the first wake-ups are unread");
}

#[test]
fn a_bootstrap_run_times_out_by_the_clock() {
    let mut boot = Boot::at(State::MembersReady);
    once_ahead_of(&mut boot);
    boot.go(State::CoreReady);
    boot.world.later(60 * SECOND - 1);
    assert_eq!(sweep(&mut boot), (0, 0));
    boot.world.later(1);
    assert_eq!(sweep(&mut boot), (1, 0));
    boot.ok("core_relaunched", json!({}));
    boot.world.later(60 * SECOND);
    assert_eq!(sweep(&mut boot), (1, 0));

    let mut boot = running();
    once_ahead_of(&mut boot);
    boot.ok(
        "mapping_result",
        json!({"d": "a", "message_id": "m", "to": BOTH}),
    );
    boot.world.later(90 * SECOND - 1);
    assert_eq!(sweep(&mut boot), (0, 0));
    boot.world.later(1);
    assert_eq!(sweep(&mut boot), (0, 2));
    settled_digest(&mut boot.team);
}

fn once_ahead_of(boot: &mut Boot) {
    once_ahead(&boot.world, &mut boot.team);
}

fn sweep(boot: &mut Boot) -> (u64, u64) {
    let ticked = boot.team.tick(Tick::default()).unwrap().bootstrap;
    (ticked.handshakes, ticked.deliveries)
}

#[test]
fn doctor_warns_of_a_last_event_in_the_future_until_the_clock_is_there() {
    let (world, mut team) = demo();
    let clock = || {
        let answer = doctor(&world.root, "demo");
        let mut checks = answer.checks.into_iter();
        let found = checks.find(|check| check.name == "clock").unwrap();
        (found.status, found.details.get("ahead_seconds").cloned())
    };
    assert_eq!(clock(), (Health::Healthy, None));
    once_ahead(&world, &mut team);
    assert_eq!(clock(), (Health::Warn, Some(json!(3600))));
    world.later(HOUR);
    assert_eq!(clock(), (Health::Healthy, None));
}

#[test]
fn a_message_from_the_future_is_still_refused() {
    let (world, mut team) = demo();
    once_ahead(&world, &mut team);
    let ahead = given!(Send, created_at: "2026-11-21T12:30:00Z", ..message("lead", "dev"));
    refused(team.send(ahead), Code::CreatedAtAhead);
}

/// Sends a prompt that requests nothing, in a session.
fn idle_prompt(team: &mut Team) {
    let prompt = given!(ModePrompt, text: "how is it going?", session_id: "s-1");
    team.mode_prompt(prompt).unwrap();
}

/// Returns start and last activity of the only session.
fn heard(team: &mut Team) -> (String, String) {
    let mut all = team.mode_sessions(ModeSessions::default()).unwrap();
    let session = all.sessions.remove(0);
    (session.started_at, session.last_seen_at)
}

#[test]
fn a_session_is_heard_of_by_the_clock_and_not_by_the_logs_times() {
    type Sign = fn(&mut Team);
    let signs: [Sign; 3] = [
        |_| (),
        |team| drop(update(team, Mode::Autopilot, "s-1", json!({"iteration": 1})).unwrap()),
        idle_prompt,
    ];
    for (number, sign) in signs.into_iter().enumerate() {
        let (world, mut team) = demo();
        let now = || world.root.options().clock.now().to_string();
        once_ahead(&world, &mut team);
        start(&mut team, Mode::Autopilot, "s-1").unwrap();
        assert_eq!(heard(&mut team), (now(), now()));
        world.later(2 * HOUR);
        once_ahead(&world, &mut team);
        if number > 0 {
            sign(&mut team);
            assert_eq!(heard(&mut team).1, now(), "sign {number}");
        }
        let silent = if number > 0 { 24 * HOUR } else { 22 * HOUR };
        world.later(silent);
        refused(start(&mut team, Mode::Team, ""), Code::ModeDenied);
        world.later(1);
        start(&mut team, Mode::Team, "").unwrap();
        settled_digest(&mut team);
    }
}

#[test]
fn a_sign_of_life_from_the_future_is_set_right_by_the_next_one() {
    let (world, mut team) = demo();
    world.later(HOUR);
    start(&mut team, Mode::Autopilot, "s-1").unwrap();
    world.later(-HOUR);
    idle_prompt(&mut team);
    let now = world.root.options().clock.now().to_string();
    assert_eq!(heard(&mut team), (now.clone(), now));
    settled_digest(&mut team);
}

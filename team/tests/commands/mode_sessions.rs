//! Tests of sessions: their start, last activity and end, and the starts that they block.

use crate::mode_calls::{
    active, complete, kinds_of, recorded, session, show, start, update, write,
};
use crate::prelude::*;
use teamlog_team::mode::sessions::{
    ModeEndSession, ModeSessions, SessionEndedAnswer, SessionShown,
};

const HOUR: i64 = 60 * MINUTE;

fn sessions(team: &mut Team) -> Vec<SessionShown> {
    team.mode_sessions(ModeSessions::default())
        .unwrap()
        .sessions
}

fn one(team: &mut Team, id: &str) -> SessionShown {
    let all = sessions(team);
    let found = all.into_iter().find(|session| session.session_id == id);
    found.unwrap_or_else(|| panic!("no session {id}"))
}

fn prompt(team: &mut Team, text: &str, at: &str) {
    team.mode_prompt(given!(ModePrompt, text, session_id: session(at)))
        .unwrap();
}

fn end(team: &mut Team, id: &str) -> SessionEndedAnswer {
    team.mode_end_session(given!(ModeEndSession; session_id: id, reason: "closed"))
        .unwrap()
}

#[test]
fn a_session_that_was_abandoned_holds_up_nobody() {
    type Way = fn(&mut Team);
    let ways: [Way; 3] = [
        |team| drop(start(team, Mode::Team, "").unwrap()),
        |team| drop(write(team, Mode::Team, "", json!({"active": true})).unwrap()),
        |team| prompt(team, "$team go", "s-new"),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let (world, mut team) = demo();
        start(&mut team, Mode::Autopilot, "s-old").unwrap();
        world.later(24 * HOUR - MINUTE);
        let refusal = refused(start(&mut team, Mode::Team, ""), Code::ModeDenied);
        assert_eq!(refusal.details["session_id"], "s-old");
        assert!(one(&mut team, "s-old").live);
        world.later(2 * MINUTE);
        let before = one(&mut team, "s-old");
        assert_eq!((before.live, before.ended_at.as_deref()), (false, None));
        assert_eq!(before.active_modes, [Mode::Autopilot]);
        let new = recorded(&mut team, way);
        assert_eq!(kinds_of(&new)[..2], ["mode_canceled", "mode_session_ended"]);
        let seen = before.last_seen_at.clone();
        has!(new[1], {"payload": {"session_id": "s-old", "reason": "stale", "last_seen_at": seen}});
        assert_eq!(active(&mut team, ""), [Mode::Team], "way {number}");
        let after = one(&mut team, "s-old");
        assert!(after.ended_at.is_some() && !after.live);
        assert_eq!(after.last_seen_at, before.last_seen_at);
        assert_eq!(after.active_modes, []);
        let state = show(&mut team, Mode::Autopilot, "s-old");
        has!(state, {"active": false, "/state/lifecycle_outcome": "userinterlude"});
        settled_digest(&mut team);
    }
}

#[test]
fn a_session_that_lives_is_asked_beside_one_that_was_abandoned() {
    let (world, mut team) = demo();
    start(&mut team, Mode::Autopilot, "s-old").unwrap();
    world.later(25 * HOUR);
    start(&mut team, Mode::Autopilot, "s-new").unwrap();
    let new = recorded(&mut team, |team| {
        let refusal = refused(start(team, Mode::Team, ""), Code::ModeDenied);
        assert_eq!(refusal.details["session_id"], "s-new");
        assert!(!refusal.message.contains("s-old"), "{refusal}");
    });
    assert_eq!(
        kinds_of(&new),
        [""; 0],
        "nobody ends for a start that is denied"
    );
    complete(&mut team, Mode::Autopilot, "s-new").unwrap();
    start(&mut team, Mode::Team, "").unwrap();
}

#[test]
fn one_that_is_in_nobodys_way_goes_on_however_long_it_is_silent() {
    let (world, mut team) = demo();
    start(&mut team, Mode::Forge, "s-old").unwrap();
    world.later(48 * HOUR);
    start(&mut team, Mode::Team, "").unwrap();
    assert_eq!(active(&mut team, "s-old"), [Mode::Forge, Mode::Team]);
    update(&mut team, Mode::Forge, "s-old", json!({"iteration": 2})).unwrap();
    let session = one(&mut team, "s-old");
    assert!(session.live);
    assert!(session.last_seen_at > session.started_at);
}

#[test]
fn whatever_is_done_in_a_session_is_a_sign_of_life() {
    type Sign = fn(&mut Team);
    let signs: [Sign; 5] = [
        |team| prompt(team, "how is it going?", "s-1"),
        |team| prompt(team, "keep going", "s-1"),
        |team| drop(start(team, Mode::Autopilot, "s-1").unwrap()),
        |team| drop(write(team, Mode::Autopilot, "s-1", json!({"active": true})).unwrap()),
        |team| drop(update(team, Mode::Autopilot, "s-1", json!({"iteration": 3})).unwrap()),
    ];
    for (number, sign) in signs.into_iter().enumerate() {
        let (world, mut team) = demo();
        start(&mut team, Mode::Autopilot, "s-1").unwrap();
        // Reads, and calls of other sessions, do not count as activity of the session.
        world.later(20 * HOUR);
        prompt(&mut team, "how is it going?", "s-2");
        assert_eq!(active(&mut team, "s-1"), [Mode::Autopilot]);
        let before = one(&mut team, "s-1");
        assert_eq!(before.last_seen_at, before.started_at);
        sign(&mut team);
        let after = one(&mut team, "s-1");
        assert!(after.last_seen_at > before.last_seen_at, "sign {number}");
        assert_eq!(after.started_at, before.started_at);
        world.later(20 * HOUR);
        refused(start(&mut team, Mode::Team, ""), Code::ModeDenied);
        world.later(5 * HOUR);
        start(&mut team, Mode::Team, "").unwrap();
        settled_digest(&mut team);
    }
}

#[test]
fn a_sign_that_changes_nothing_is_recorded_now_and_then_and_where_it_matters() {
    let (world, mut team) = demo();
    let hourly = |team: &mut Team, minutes: i64| {
        let new = recorded(team, |team| {
            for _ in 0..minutes {
                world.later(MINUTE);
                prompt(team, "go on with the tests", "s-1");
            }
        });
        kinds_of(&new)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    // The session has no active mode, so its activity is not recorded.
    assert_eq!(hourly(&mut team, 90), [""; 0]);
    start(&mut team, Mode::Autopilot, "s-1").unwrap();
    assert_eq!(hourly(&mut team, 59), [""; 0]);
    names!(hourly(&mut team, 122) => mode_session_seen mode_session_seen);
}

#[test]
fn a_session_that_is_ended_cancels_what_is_active_in_it_once() {
    let (world, mut team) = demo();
    start(&mut team, Mode::Autopilot, "s-1").unwrap();
    start(&mut team, Mode::Ultrawork, "s-1").unwrap();
    start(&mut team, Mode::Ultrawork, "").unwrap();
    refused(start(&mut team, Mode::Team, ""), Code::ModeDenied);
    let new = recorded(&mut team, |team| {
        let ended = end(team, "s-1");
        assert!(ended.changed && ended.ended_at.is_some());
        assert_eq!(ended.canceled, [Mode::Autopilot, Mode::Ultrawork]);
    });
    names!(kinds_of(&new) => mode_canceled mode_canceled mode_session_ended);
    assert_eq!(active(&mut team, "s-1"), []);
    assert_eq!(
        active(&mut team, ""),
        [Mode::Ultrawork],
        "the root's goes on"
    );
    let again = recorded(&mut team, |team| assert!(!end(team, "s-1").changed));
    let unknown = recorded(&mut team, |team| assert!(!end(team, "nobody").changed));
    assert_eq!((again.len(), unknown.len()), (0, 0));
    start(&mut team, Mode::Team, "").unwrap();
    // The ended session begins again.
    let before = one(&mut team, "s-1");
    world.later(MINUTE);
    start(&mut team, Mode::Forge, "s-1").unwrap();
    let after = one(&mut team, "s-1");
    assert!(after.live && after.ended_at.is_none());
    assert!(after.started_at > before.ended_at.unwrap());
    for id in ["a.b", ""] {
        let bad = team.mode_end_session(given!(ModeEndSession; session_id: id,
            reason: None::<String>));
        refused(bad, Code::InvalidInput);
    }
    settled_digest(&mut team);
}

#[test]
fn an_interview_that_waits_ends_with_its_session() {
    let (_, mut team) = demo();
    prompt(&mut team, "$brief me", "s-1");
    let question = json!({"question_enforcement": {"obligation_id": "q", "status": "pending"}});
    write(&mut team, Mode::DeepInterview, "s-1", question).unwrap();
    assert_eq!(show(&mut team, Mode::DeepInterview, "s-1")["active"], false);
    end(&mut team, "s-1");
    let state = show(&mut team, Mode::DeepInterview, "s-1")["state"].clone();
    has!(state, {"/input_lock/active": false, "/question_enforcement/status": "cleared"});
    settled_digest(&mut team);
}

#[test]
fn how_long_a_session_may_be_silent_is_a_setting() {
    let (world, mut team) = demo();
    team.config_change(given!(ConfigChange, key: "modes.session_stale_seconds", value: "120"))
        .unwrap();
    start(&mut team, Mode::Autopilot, "s-1").unwrap();
    world.later(2 * MINUTE);
    refused(start(&mut team, Mode::Team, ""), Code::ModeDenied);
    world.later(MINUTE);
    start(&mut team, Mode::Team, "").unwrap();
}

#[test]
fn sessions_come_by_pages_and_are_the_same_when_rebuilt() {
    let (_, mut team) = demo();
    for at in ["s-1", "s-2", "s-3"] {
        start(&mut team, Mode::Ultrawork, at).unwrap();
    }
    end(&mut team, "s-2");
    let page = |team: &mut Team, cursor: Option<String>| {
        let asked = given!(ModeSessions; limit: 2, cursor);
        let answer = team.mode_sessions(asked).unwrap();
        let ids = answer.sessions.into_iter().map(|one| one.session_id);
        (ids.collect::<Vec<_>>(), answer.next_cursor)
    };
    let (first, next) = page(&mut team, None);
    assert_eq!(
        (first, next.as_deref()),
        (vec!["s-1".into(), "s-2".into()], Some("s-2"))
    );
    assert_eq!(page(&mut team, next), (vec!["s-3".to_owned()], None));
    let before = sessions(&mut team);
    rehydrate(&mut team);
    assert_eq!(sessions(&mut team), before);
}

#[test]
fn closing_the_team_ends_its_sessions_and_what_waits_in_them() {
    let (_, mut team) = demo();
    prompt(&mut team, "$brief me", "s-1");
    let question = json!({"question_enforcement": {"obligation_id": "q", "status": "pending"}});
    write(&mut team, Mode::DeepInterview, "s-1", question).unwrap();
    prompt(&mut team, "$ultrawork go", "s-2");
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    for session in sessions(&mut team) {
        assert!(!session.live, "{session:?}");
        assert!(session.ended_at.is_some() && session.active_modes.is_empty());
    }
    let state = show(&mut team, Mode::DeepInterview, "s-1")["state"].clone();
    has!(state, {"/input_lock/active": false, "/question_enforcement/status": "cleared"});
    let before = events(&mut team).len();
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    assert_eq!(events(&mut team).len(), before, "once is enough");
    settled_digest(&mut team);
}

//! Tests of claims and of the sessions that made them.

use crate::claims::{after, claim, complete, count, new, status};
use crate::leases::release;
use crate::prelude::*;
use teamlog_team::SessionClaim;
use teamlog_team::command::Origin;
use teamlog_team::ownership::review::ReviewRequest;

/// Sets the session and the actor of the calls that follow.
fn in_session(team: &mut Team, session: &str) {
    team.under(Control {
        actor: Some("dev".to_owned()),
        origin: Origin {
            claim_session: Some(session.to_owned()),
            ..Origin::default()
        },
        ..Control::default()
    });
}

fn own(worker: &str, session: &str) -> SessionClaim {
    SessionClaim {
        task_id: "1".to_owned(),
        worker: worker.to_owned(),
        session: session.to_owned(),
    }
}

/// Creates a task that session `a` of `dev` claims.
fn claimed_in_a() -> (World, Team, ClaimAnswer) {
    let (world, mut team) = demo();
    team.task_create(new("first")).unwrap();
    in_session(&mut team, "a");
    let held = team.task_claim(claim("1", "dev")).unwrap();
    (world, team, held)
}

#[test]
fn the_claim_of_a_session_is_found_by_that_session_alone() {
    let (world, mut team, held) = claimed_in_a();
    let found = team.session_claim(&own("dev", "a")).unwrap();
    assert_eq!((found.epoch, found.earlier), (1, None));
    let refusal = refused(team.session_claim(&own("dev", "b")), Code::NotHolder);
    assert!(
        refusal.message.contains("another session of dev"),
        "{refusal:?}"
    );
    refused(team.session_claim(&own("qa", "a")), Code::NotHolder);
    world.later(16 * MINUTE);
    refused(team.session_claim(&own("dev", "a")), Code::LeaseExpired);
    refused(team.session_claim(&own("qa", "a")), Code::ClaimConflict);
    let held = team
        .task_claim(claim(&held.task.task.task_id, "dev"))
        .unwrap();
    let found = team.session_claim(&own("dev", "a")).unwrap();
    assert_eq!((found.epoch, found.earlier), (2, Some(1)));
    team.task_finish(complete(&held)).unwrap();
    refused(team.session_claim(&own("dev", "a")), Code::AlreadyTerminal);
}

#[test]
fn a_claim_of_another_session_is_no_earlier_claim() {
    let (_, mut team, held) = claimed_in_a();
    team.task_release(release(&held)).unwrap();
    refused(team.session_claim(&own("dev", "a")), Code::ClaimConflict);
    in_session(&mut team, "b");
    let second = team.task_claim(claim("1", "dev")).unwrap();
    let found = team.session_claim(&own("dev", "b")).unwrap();
    assert_eq!((found.epoch, found.earlier), (2, None));
    // The earlier claim in session `a` was made by `dev`, so `qa` has no earlier claim.
    team.task_release(release(&second)).unwrap();
    in_session(&mut team, "a");
    team.task_claim(claim("1", "qa")).unwrap();
    let found = team.session_claim(&own("qa", "a")).unwrap();
    assert_eq!((found.epoch, found.earlier), (3, None));
}

#[test]
fn a_claim_that_the_session_ended_itself_is_no_earlier_claim() {
    let (world, mut team, held) = claimed_in_a();
    team.task_release(release(&held)).unwrap();
    let held = team.task_claim(claim("1", "dev")).unwrap();
    let found = team.session_claim(&own("dev", "a")).unwrap();
    assert_eq!((found.epoch, found.earlier), (2, None));
    team.task_finish(given!(TaskFinish, to: "failed", ..complete(&held)))
        .unwrap();
    team.task_reopen(serde_json::from_value(json!({"task_id": "1"})).unwrap())
        .unwrap();
    team.task_claim(claim("1", "dev")).unwrap();
    let found = team.session_claim(&own("dev", "a")).unwrap();
    assert_eq!((found.epoch, found.earlier), (3, None));
    // The session cannot know that its lease expired.
    world.later(16 * MINUTE);
    team.task_claim(claim("1", "dev")).unwrap();
    let found = team.session_claim(&own("dev", "a")).unwrap();
    assert_eq!((found.epoch, found.earlier), (4, Some(3)));
    // The leader releases the task, not the session.
    team.under(Control::default());
    let by_lead = given!(TaskRelease, task_id: "1", worker: "lead", epoch: 4_u64, force: true);
    team.task_release(by_lead).unwrap();
    in_session(&mut team, "a");
    team.task_claim(claim("1", "dev")).unwrap();
    let found = team.session_claim(&own("dev", "a")).unwrap();
    assert_eq!((found.epoch, found.earlier), (5, Some(4)));
}

#[test]
fn another_session_of_the_holder_neither_edits_nor_reviews_nor_assigns_its_task() {
    let (_, mut team, _) = claimed_in_a();
    let edit = |epoch: Option<u64>| given!(TaskEdit, task_id: "1", subject: "second", worker: "dev", epoch);
    let review = |epoch: Option<u64>| {
        let input = json!({"task_id": "1", "worker": "dev", "to": "qa", "epoch": epoch});
        serde_json::from_value::<ReviewRequest>(input).unwrap()
    };
    let assign = |epoch: Option<u64>| given!(TaskAssignment, task_id: "1", owner: "qa", worker: "dev", epoch);
    in_session(&mut team, "b");
    let before = count(&mut team);
    for refusal in [
        refused(team.task_edit(edit(None)), Code::NotHolder),
        refused(team.request_review(review(None)), Code::NotHolder),
        refused(team.task_assignment(assign(None)), Code::NotHolder),
    ] {
        shows!(&*refusal.message => has "another session of dev");
        shows!(refusal.hint.as_deref().unwrap() => has "--epoch");
    }
    refused(team.task_edit(edit(Some(2))), Code::ClaimConflict);
    refused(team.request_review(review(Some(2))), Code::ClaimConflict);
    assert_eq!(count(&mut team), before);
    team.task_edit(edit(Some(1))).unwrap();
    team.request_review(review(Some(1))).unwrap();
    in_session(&mut team, "a");
    team.task_edit(edit(None)).unwrap();
    team.task_assignment(assign(None)).unwrap();
}

/// Sends a message of `dev`. Returns the kinds of the events in the recorded group.
fn note(team: &mut Team) -> Vec<String> {
    let last = count(team);
    team.send(given!(Send, from: "dev", to: "qa", kind: "message"))
        .unwrap();
    let events = after(team, last);
    let kinds = events
        .iter()
        .map(|event| event["kind"].as_str().unwrap().to_owned());
    kinds.collect()
}

#[test]
fn recording_commands_of_the_session_renew_a_lease_of_which_less_than_half_is_left() {
    let (world, mut team, _) = claimed_in_a();
    world.later(7 * MINUTE);
    assert_eq!(note(&mut team), ["message_sent"]);
    world.later(MINUTE);
    in_session(&mut team, "b");
    assert_eq!(note(&mut team), ["message_sent"]);
    in_session(&mut team, "a");
    assert_eq!(note(&mut team), ["message_sent", "task_renewed"]);
    world.later(14 * MINUTE);
    assert_eq!(status(&mut team, "1"), "in_progress");
    assert_eq!(note(&mut team), ["message_sent", "task_renewed"]);
    let never = given!(ConfigChange, key: "claims.renew_below_percent", value: "0");
    team.config_change(never).unwrap();
    world.later(14 * MINUTE);
    assert_eq!(note(&mut team), ["message_sent"]);
}

#[test]
fn another_session_of_the_holder_is_not_handed_its_claim() {
    let (_, mut team, _) = claimed_in_a();
    let refusal = refused(team.task_claim(claim("1", "dev")), Code::ClaimConflict);
    shows!(refusal.hint.as_deref().unwrap() => has "pass epoch 1");
    let briefed = |team: &mut Team, session: &str| {
        let prime = given!(Prime, agent: "dev", session);
        json(&team.prime(&prime).unwrap()).to_string()
    };
    shows!(&briefed(&mut team, "a") => has "--epoch 1", has "\"epoch\":1");
    let told = |team: &mut Team| {
        let sent = team.task_update(update("1", "in_progress")).unwrap();
        json(&sent).to_string()
    };
    shows!(&told(&mut team) => has "--epoch 1");
    in_session(&mut team, "b");
    let refusal = refused(team.task_claim(claim("1", "dev")), Code::ClaimConflict);
    shows!(&*refusal.message => has "another session of dev", lacks "epoch");
    assert_eq!(refusal.hint, None);
    shows!(&briefed(&mut team, "b") => lacks "--epoch 1", lacks "\"epoch\":1");
    shows!(&told(&mut team) => lacks "--epoch 1");
    let refusal = refused(team.session_claim(&own("dev", "b")), Code::NotHolder);
    shows!(refusal.hint.as_deref().unwrap() => lacks "--epoch 1");
}

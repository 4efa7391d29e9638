//! Tests of callers that present a claim. Any caller may present its token. If the caller is known, only the holder may
//! present the epoch alone.

use crate::claims::{after, claimed, new};
use crate::prelude::*;
use crate::transitions::cancel;

/// The presented parts of the claim of `dev`, and the agent that presents them.
#[derive(Clone, Default)]
struct Shown<'a> {
    token: Option<&'a str>,
    epoch: Option<u64>,
    worker: Option<&'a str>,
    actor: Option<&'a str>,
    force: bool,
}

const WAYS: [&str; 5] = ["complete", "fail", "renew", "release", "cancel"];

/// Presents the claim to an operation. Returns the payload of the resulting event.
fn present(team: &mut Team, way: &str, shown: &Shown<'_>) -> Result<Value, Failure> {
    team.under(given!(Control, actor: shown.actor.map(str::to_owned)));
    let (claim_token, epoch) = (shown.token.map(str::to_owned), shown.epoch);
    let (worker, force) = (shown.worker.map(str::to_owned), shown.force);
    let before = team.head().unwrap().receipt.seq;
    match way {
        "complete" | "fail" => {
            let to = if way == "fail" { "failed" } else { "completed" };
            team.task_finish(
                given!(TaskFinish, task_id: "1", from: "in_progress", to, claim_token, epoch,
                    worker, force),
            )
            .map(drop)?;
        }
        "renew" => drop(
            team.task_renew(given!(TaskRenew, task_id: "1", claim_token, epoch, worker, force))?,
        ),
        "release" => drop(
            team.task_release(TaskRelease {
                task_id: "1".into(),
                // A release must name its worker.
                worker: worker
                    .or(shown.actor.map(str::to_owned))
                    .unwrap_or("dev".into()),
                claim_token,
                epoch,
                force,
                ..TaskRelease::default()
            })?,
        ),
        _ => drop(team.task_cancel(given!(
            TaskCancel,
            claim_token,
            epoch,
            worker,
            force,
            ..cancel("1")
        ))?),
    }
    Ok(after(team, usize::try_from(before).unwrap()).remove(0))
}

/// Creates a team in which `dev` holds task 1. Also returns the token of that claim.
fn held() -> (World, Team, String) {
    let (world, mut team) = demo();
    let token = claimed(&mut team, new("first")).claim_token;
    (world, team, token)
}

#[test]
fn an_epoch_that_somebody_else_presents_moves_nothing() {
    let (_world, mut team, _) = held();
    let guessed = given!(Shown, epoch: 1);
    let before = team.head().unwrap().receipt.seq;
    for way in WAYS {
        for (worker, actor, field) in [
            (None, Some("qa"), "actor"),
            (Some("qa"), None, "worker"),
            (Some("qa"), Some("dev"), "worker"),
            (Some("dev"), Some("qa"), "actor"),
        ] {
            let shown = given!(Shown, worker, actor, ..guessed.clone());
            let refusal = refused(present(&mut team, way, &shown), Code::NotHolder);
            // A release must name a worker.
            if way != "release" || worker.is_some() {
                assert_eq!(
                    refusal.field.as_deref(),
                    Some(field),
                    "{way} {worker:?} {actor:?}"
                );
            }
            assert_eq!(refusal.details["owner"], "dev");
            assert!(!format!("{refusal:?}").contains("token"), "{refusal:?}");
        }
    }
    assert_eq!(
        team.head().unwrap().receipt.seq,
        before,
        "a refusal recorded something"
    );
}

#[test]
fn a_token_alone_suffices_whoever_presents_it() {
    for way in WAYS {
        let (_world, mut team, token) = held();
        let shown = given!(Shown, token: token.as_str(), actor: "qa");
        let event = present(&mut team, way, &shown).unwrap();
        assert_eq!(event["actor"], "qa", "{way}");
        assert_eq!(event["payload"]["forced"], Value::Null, "{way}");
    }
}

#[test]
fn an_epoch_suffices_for_its_holder_and_where_nobody_knows_who_acts() {
    for way in WAYS {
        for (worker, actor) in [(None, None), (Some("dev"), None), (None, Some("dev"))] {
            let (_world, mut team, _) = held();
            let shown = given!(Shown, epoch: 1, worker, actor);
            let event = present(&mut team, way, &shown).unwrap();
            assert_eq!(event["payload"]["forced"], Value::Null, "{way}");
        }
    }
}

#[test]
fn an_override_skips_the_holder_but_never_the_epoch_and_is_recorded() {
    for way in WAYS {
        let (_world, mut team, _) = held();
        let forced = |epoch| given!(Shown, epoch, actor: "qa", force: true);
        for wrong in [0, 2, u64::MAX] {
            refused(present(&mut team, way, &forced(wrong)), Code::ClaimConflict);
        }
        // Without presenting the claim, the leader can only cancel the task.
        let none = given!(Shown, actor: "qa", force: true);
        match way {
            "cancel" => refused(present(&mut team, way, &none), Code::ClaimConflict),
            _ => refused(present(&mut team, way, &none), Code::InvalidInput),
        };
        let event = present(&mut team, way, &forced(1)).unwrap();
        has!(event, {"actor": "qa", "/payload/forced": true});
        if way != "cancel" {
            assert_eq!(event["payload"]["worker"], "dev", "{way}");
        }
        settled_digest(&mut team);
    }
}

#[test]
fn a_claim_renewed_by_force_is_answered_without_the_token_unless_it_was_presented() {
    let (_world, mut team, token) = held();
    let renew = |claim_token: Option<&String>, epoch, force| {
        given!(TaskRenew, task_id: "1",
            claim_token: claim_token.cloned(), epoch, force)
    };
    for (renewal, told) in [
        (renew(None, Some(1), true), false),
        (renew(Some(&token), Some(1), true), true),
        (renew(Some(&token), None, false), true),
        (renew(None, Some(1), false), true),
    ] {
        let answer = json(&team.task_renew(renewal.clone()).unwrap());
        assert_eq!(answer["epoch"], 1);
        assert!(answer["leased_until"].is_string(), "{answer}");
        assert_eq!(answer["claimToken"] == token, told, "{renewal:?}: {answer}");
        assert_eq!(answer.to_string().contains(&token), told, "{answer}");
    }
}

#[test]
fn a_forced_end_without_a_claim_says_nothing_of_force() {
    let (_, mut team) = demo();
    team.task_create(new("first")).unwrap();
    let shown = given!(Shown, force: true);
    let event = present(&mut team, "cancel", &shown).unwrap();
    assert_eq!(event["payload"]["forced"], Value::Null);
}

#[test]
fn an_override_by_nobody_known_is_not_the_holders_doing() {
    for way in ["complete", "fail", "renew"] {
        let (_world, mut team, _) = held();
        let shown = given!(Shown, epoch: 1, force: true);
        let event = present(&mut team, way, &shown).unwrap();
        assert_eq!(event["actor"], "teamlog", "{way}");
    }
}

#[test]
fn a_claim_that_is_not_presented_may_be_forced_by_the_leader_or_once_its_lease_ran_out() {
    let qa = given!(Shown, actor: "qa", force: true);
    for actor in ["leader-fixed", "lead"] {
        let (_world, mut team, _) = held();
        let leader = given!(Shown, actor, ..qa);
        let event = present(&mut team, "cancel", &leader).unwrap();
        assert_eq!(event["payload"]["forced"], true);
    }
    let (world, mut team, _) = held();
    world.later(86_400 * SECOND);
    present(&mut team, "cancel", &qa).unwrap();
}

//! Tests of [`ClaimOrder::EpochFirst`], the order of checks for claims that come over HTTP: the task, its epoch, its status, its holder,
//! its lease, then the input.

use crate::claims::{claim, claimed, complete, new};
use crate::prelude::*;
use teamlog_team::command::ClaimOrder;

/// Renews, completes and fails task `1` as `worker`. Each call presents `epoch`, and its other input is invalid. Returns the three
/// codes.
fn codes(team: &mut Team, epoch: u64, worker: &str) -> [Code; 3] {
    let renew = given!(TaskRenew, task_id: "1", epoch, worker, lease_ms: 1_u64);
    let finish = |to: &str| given!(TaskFinish, task_id: "1", from: "nonsense", to, epoch, worker);
    let finished = ["completed", "failed"].map(|to| team.task_finish(finish(to)).map(drop));
    let [completed, failed] = finished;
    [team.task_renew(renew).map(drop), completed, failed]
        .map(|outcome| outcome.unwrap_err().refusal().unwrap().code)
}

#[test]
fn each_check_precedes_the_next_one() {
    let (world, mut team) = demo();
    team.under(given!(Control, claim_order: ClaimOrder::EpochFirst));
    assert_eq!(codes(&mut team, 9, "qa"), [Code::TaskNotFound; 3]);
    team.task_create(new("first")).unwrap();
    assert_eq!(codes(&mut team, 0, "qa"), [Code::ClaimConflict; 3]);
    team.task_claim(claim("1", "dev")).unwrap();
    for epoch in [0, 2, u64::MAX] {
        assert_eq!(codes(&mut team, epoch, "qa"), [Code::EpochMismatch; 3]);
    }
    assert_eq!(codes(&mut team, 1, "qa"), [Code::NotHolder; 3]);
    assert_eq!(codes(&mut team, 1, "dev"), [Code::InvalidInput; 3]);
    world.later(15 * MINUTE);
    assert_eq!(codes(&mut team, 1, "qa"), [Code::NotHolder; 3]);
    assert_eq!(codes(&mut team, 1, "dev"), [Code::LeaseExpired; 3]);
    let again = team.task_claim(claim("1", "dev")).unwrap();
    team.task_finish(complete(&again)).unwrap();
    assert_eq!(codes(&mut team, 1, "qa"), [Code::EpochMismatch; 3]);
    assert_eq!(codes(&mut team, 2, "qa"), [Code::AlreadyTerminal; 3]);
}

#[test]
fn force_skips_the_holder_and_never_the_epoch() {
    let (_, mut team) = demo();
    team.under(given!(Control, claim_order: ClaimOrder::EpochFirst));
    let held = claimed(&mut team, new("first"));
    let renew = |epoch: u64| given!(TaskRenew, task_id: "1", epoch, worker: "qa", force: true);
    refused(team.task_renew(renew(2)), Code::EpochMismatch);
    team.task_renew(renew(1)).unwrap();
    let finish = |epoch: u64| {
        given!(TaskFinish, claim_token: None::<String>, epoch, worker: "qa", force: true,
            ..complete(&held))
    };
    refused(team.task_finish(finish(2)), Code::EpochMismatch);
    team.task_finish(finish(1)).unwrap();
    has!(events(&mut team).pop().unwrap(), {"kind": "task_completed", "/payload/forced": true,
        "/payload/worker": "dev"});
}

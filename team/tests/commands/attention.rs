//! Tests of `attention`: each kind of item appears, and disappears after its command has run.

use crate::claims::{claim, new, waiting};
use crate::prelude::*;
use teamlog_team::attention::{Attention, AttentionItem, AttentionKind, AttentionSeverity};
use teamlog_team::resource::can_write::{CanWrite, WriteReason};
use teamlog_team::resource::refused::{RefusedWrite, RefusedWrites};
use teamlog_team::shell::words;
use teamlog_team::task::reopen::TaskReopen;

pub fn items(team: &mut Team) -> Vec<AttentionItem> {
    let answer = team.attention(&Attention::default()).unwrap();
    assert_eq!((answer.count, answer.more), (answer.items.len(), false));
    answer.items
}

#[track_caller]
fn only(team: &mut Team, kind: AttentionKind) -> AttentionItem {
    let mut items = items(team);
    assert_eq!(items.len(), 1, "{items:?}");
    let item = items.remove(0);
    assert_eq!((item.kind, item.severity), (kind, kind.severity()));
    item
}

#[track_caller]
fn is_quiet(team: &mut Team) {
    assert_eq!(items(team), []);
}

/// Splits an item's command line into words. Checks that the command is `subcommand` for this team.
#[track_caller]
fn typed(item: &AttentionItem, subcommand: &str) -> Vec<String> {
    let words = words(&item.command).unwrap();
    let begins = format!("teamlog {subcommand} ");
    assert!(item.command.starts_with(&begins), "{}", item.command);
    words
}

fn option(words: &[String], name: &str) -> String {
    let at = words.iter().position(|word| word == name).unwrap();
    words[at + 1].clone()
}

#[test]
fn who_waits_for_a_canceled_task_waits_in_vain_until_it_waits_no_longer() {
    let (_, mut team) = demo();
    for task in [
        new("1"),
        new("2"),
        waiting("3", &["1", "2"]),
        waiting("4", &["3"]),
    ] {
        team.task_create(task).unwrap();
    }
    is_quiet(&mut team);
    team.task_cancel(given!(TaskCancel, task_id: "2")).unwrap();

    let item = only(&mut team, AttentionKind::WaitsInVain);
    assert_eq!(
        item.text, "dependency failed: 3 waits for 2 (canceled)",
        "4 waits for what may yet be done"
    );
    assert_eq!(item.task_id.as_deref(), Some("3"));
    assert_eq!(
        json(&item)["waits_for"],
        json!([{"task_id": "2", "status": "canceled"}])
    );
    assert_eq!(item.command, "teamlog edit demo 3 --after 1");
    let answer = api::find("edit-task").unwrap().execute(
        &mut team,
        &json!({"task_id": "3", "blocked_by": ["1"]}).to_string(),
    );
    answer.unwrap();
    is_quiet(&mut team);
}

#[test]
fn a_failed_task_is_reopened_for_those_that_wait_for_it() {
    let (_, mut team) = demo();
    team.task_create(new("1")).unwrap();
    let mut owned = waiting("2", &["1"]);
    owned.owner = Some("qa".into());
    team.task_create(owned).unwrap();
    let claimed = team.task_claim(claim("1", "dev")).unwrap();
    let failed = json!({"task_id": "1", "from": "in_progress", "to": "failed", "claim_token": claimed.claim_token});
    let transition = api::find("transition-task-status").unwrap();
    transition.execute(&mut team, &failed.to_string()).unwrap();

    let item = only(&mut team, AttentionKind::WaitsInVain);
    assert_eq!(
        (&*item.text, item.agent.as_deref()),
        ("dependency failed: 2 waits for 1 (failed)", Some("qa"))
    );
    let words = typed(&item, "task reopen demo");
    team.task_reopen(given!(TaskReopen, task_id: words[4].clone()))
        .unwrap();
    is_quiet(&mut team);
}

#[test]
fn a_task_that_messages_govern_can_wait_in_vain() {
    let (_, mut team) = demo();
    team.task_assign(assign("A", "dev")).unwrap();
    let mut second = assign("B", "qa");
    second.deps = vec!["A".into()];
    team.task_assign(second).unwrap();
    is_quiet(&mut team);
    team.task_update(update("A", "canceled")).unwrap();
    assert_eq!(
        only(&mut team, AttentionKind::WaitsInVain).text,
        "dependency failed: B waits for A (canceled)"
    );
    team.task_update(update("A", "completed")).unwrap();
    is_quiet(&mut team);
}

#[test]
fn a_lease_that_ran_out_is_shown_until_somebody_claims_the_task() {
    for recorded in [false, true] {
        let (world, mut team) = demo();
        team.task_create(new("1")).unwrap();
        team.task_claim(claim("1", "dev")).unwrap();
        is_quiet(&mut team);
        world.later(16 * MINUTE);
        if recorded {
            let ticked = team.tick(Tick::default()).unwrap();
            assert_eq!(ticked.leases.expired, 1);
        }
        let item = only(&mut team, AttentionKind::LeaseExpired);
        assert_eq!(
            (&*item.text, item.since.is_some()),
            ("lease expired: 1, last claimed by dev", true)
        );
        let words = typed(&item, "task show demo");
        team.task_claim(claim(&words[4], "qa")).unwrap();
        is_quiet(&mut team);
    }
}

#[test]
fn who_gave_a_claim_back_did_not_let_it_run_out() {
    let (_, mut team) = demo();
    team.task_create(new("1")).unwrap();
    let token = team.task_claim(claim("1", "dev")).unwrap().claim_token;
    team.task_release(given!(TaskRelease, task_id: "1", worker: "dev", claim_token: token))
        .unwrap();
    is_quiet(&mut team);
}

fn delivered(team: &mut Team, id: &str) {
    let delivery = Require {
        ack_timeout_seconds: Some(60),
        max_retries: Some(1),
    };
    let send = given!(Send, message_id: id, delivery, ..message("lead", "dev"));
    team.send(send).unwrap();
}

#[test]
fn an_ack_is_overdue_behind_the_first_attempt_until_it_comes() {
    let (world, mut team) = demo();
    delivered(&mut team, "it's late");
    is_quiet(&mut team);
    world.later(61 * SECOND);
    let overdue = only(&mut team, AttentionKind::OverdueAck);
    team.tick(Tick::default()).unwrap();
    let item = only(&mut team, AttentionKind::OverdueAck);
    assert_eq!(item, overdue, "another attempt makes it no less overdue");
    // Only the recipient can acknowledge.
    assert_eq!(item.command, "teamlog nudge demo");
    team.ack(given!(Ack, agent: "dev", message_id: "it's late"))
        .unwrap();
    is_quiet(&mut team);
}

#[test]
fn a_dead_letter_is_shown_until_it_is_requeued() {
    let (world, mut team) = demo();
    delivered(&mut team, "m-1");
    for _ in 0..2 {
        world.later(10 * MINUTE);
        team.tick(Tick::default()).unwrap();
    }
    let item = only(&mut team, AttentionKind::DeadLetter);
    assert_eq!(item.severity, AttentionSeverity::Error);
    let words = typed(&item, "dead-letter requeue demo");
    team.dead_letter_requeue(given!(DeadLetterRequeue, message_id: option(&words, "--message-id")))
        .unwrap();
    is_quiet(&mut team);
}

#[test]
fn a_task_is_stale_once_nothing_was_heard_of_it() {
    let (world, mut team) = demo();
    team.task_assign(assign("A", "dev")).unwrap();
    team.task_create(new("nobody has it")).unwrap();
    team.task_create(new("kept")).unwrap();
    let mut long = claim("2", "qa");
    long.lease_ms = Some(86_400_000);
    team.task_claim(long).unwrap();
    world.later(89 * MINUTE);
    is_quiet(&mut team);
    world.later(2 * MINUTE);
    let stale = items(&mut team);
    let told: Vec<&str> = stale.iter().map(|item| &*item.text).collect();
    assert_eq!(
        told,
        [
            "stale: no report on 2 from qa",
            "stale: no report on A from dev"
        ]
    );
    for (item, status) in stale.iter().zip(["in_progress", "assigned"]) {
        assert_eq!(item.kind, AttentionKind::StaleTask);
        let words = typed(item, "task show demo");
        let update = given!(TaskUpdate, from: item.agent.clone().unwrap(), to: "lead",
            task_id: words[4].as_str(), status);
        team.task_update(update).unwrap();
    }
    is_quiet(&mut team);
    let soon = given!(Attention, stale_minutes: 0_u64, limit: 1_usize);
    world.later(1);
    let answer = team.attention(&soon).unwrap();
    assert_eq!((answer.count, answer.more), (1, true));
    refused(
        team.attention(&given!(Attention, limit: 1_001_usize)),
        Code::InvalidInput,
    );
}

#[test]
fn a_refused_write_is_shown_for_a_day_with_what_explains_it() {
    let (world, mut team) = demo();
    let refuse = |team: &mut Team, path: &str| {
        let write = RefusedWrite {
            path: path.to_owned(),
            tool: "Write".into(),
            reason: WriteReason::ResourceHeldByOther,
            holder: Some("qa".into()),
        };
        let writes = vec![write];
        let agent = "dev".to_owned();
        team.record_refused_writes(RefusedWrites {
            agent,
            subagent: None,
            writes,
        })
        .unwrap();
    };
    refuse(&mut team, "src/a b");
    world.later(2 * MINUTE);
    refuse(&mut team, "src/a b");
    let item = only(&mut team, AttentionKind::WriteRefused);
    assert_eq!(
        item.text,
        "write refused: dev may not write src/a b, held by qa"
    );
    assert_eq!(
        (item.agent.as_deref(), item.path.as_deref()),
        (Some("dev"), Some("src/a b"))
    );
    let newest = team.refused_writes(1).unwrap().remove(0);
    assert_eq!(item.seq, Some(newest.seq), "of a path only the newest");
    let words = typed(&item, "can-write demo");
    assert_eq!(words[3], "src/a b");
    let asked = given!(CanWrite, agent: option(&words, "--agent"), path: words[3].clone());
    assert!(!team.can_write(asked).unwrap().allow);

    world.later(24 * 60 * MINUTE - 1);
    only(&mut team, AttentionKind::WriteRefused);
    world.later(2 * MINUTE);
    is_quiet(&mut team);
    for number in 0..101 {
        world.later(MINUTE);
        refuse(&mut team, &format!("src/{number}"));
    }
    let answer = team.attention(&Attention::default()).unwrap();
    assert_eq!((answer.count, answer.more), (100, true));
}

#[test]
fn a_run_that_broke_its_contract_is_shown_until_another_begins() {
    let (_, mut team) = demo();
    let domains = vec!["io".to_owned(), "ui".to_owned()];
    team.bootstrap_start(given!(BootstrapStart, domains: domains))
        .unwrap();
    is_quiet(&mut team);
    let solo = given!(BootstrapRecord, event: "task_launched", data: Map::from_iter([("member".to_owned(), json!("io"))]));
    assert!(!team.bootstrap_record(solo).unwrap().accepted);
    let item = only(&mut team, AttentionKind::BootstrapBreached);
    let words = typed(&item, "bootstrap start demo");
    let domains: Vec<String> = option(&words, "--domains")
        .split(',')
        .map(str::to_owned)
        .collect();
    team.bootstrap_start(given!(BootstrapStart, domains: domains))
        .unwrap();
    is_quiet(&mut team);
}

#[test]
fn the_most_severe_comes_first_and_a_closed_team_needs_nothing() {
    let (world, mut team) = demo();
    team.task_create(new("1")).unwrap();
    team.task_create(waiting("2", &["1"])).unwrap();
    team.task_create(new("3")).unwrap();
    delivered(&mut team, "m-1");
    for _ in 0..2 {
        world.later(10 * MINUTE);
        team.tick(Tick::default()).unwrap();
    }
    team.task_claim(claim("3", "dev")).unwrap();
    team.task_cancel(given!(TaskCancel, task_id: "1")).unwrap();
    world.later(16 * MINUTE);
    let kinds: Vec<AttentionKind> = items(&mut team).iter().map(|item| item.kind).collect();
    assert_eq!(
        kinds,
        [
            AttentionKind::WaitsInVain,
            AttentionKind::DeadLetter,
            AttentionKind::LeaseExpired
        ]
    );
    team.orphan_cleanup(OrphanCleanup::default()).unwrap();
    is_quiet(&mut team);
}

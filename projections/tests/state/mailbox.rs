//! Tests of mail besides acks: marks, requests to notify the recipient, and repeated mail.

use crate::support::*;
use teamlog_engine::Timestamp;
use teamlog_projections::live::SeqPage;
use teamlog_projections::message::event::{
    DispatchMoved, DispatchRequested, MailFact, Mark, MessageMarked,
};
use teamlog_projections::message::{Dispatch, DispatchStatus, InboxQuery, MessageInfo};

/// Returns the fields of a message that are needed to record events about the message.
pub fn about(id: &str, to: &str) -> MessageInfo {
    given!(MessageInfo; id, seq: 0, kind: MessageType::Message, to, task_id: None::<String>,
        trace_id: None::<String>, acked: None)
}

pub fn marked(mark: Mark, id: &str, agent: &str) -> NewEvent {
    let marked = given!(MessageMarked; message_id: id, agent);
    mark.on(marked).event(agent, &about(id, agent))
}

pub fn requested(request: &str, id: &str, to: &str) -> NewEvent {
    let requested = given!(DispatchRequested; request_id: request, kind: "mailbox", to_worker: to,
        trigger_message: "look", intent: None::<String>, message_id: id,
        transport_preference: "transport_direct", fallback_allowed: false);
    MailFact::Requested(requested).event("lead", &about(id, to))
}

pub fn moved(request: &str, to: DispatchStatus) -> NewEvent {
    let reason = (to == DispatchStatus::Failed).then_some("nobody there");
    let moved = DispatchMoved::new(request, reason);
    let fact = match to {
        DispatchStatus::Notified => MailFact::DispatchNotified(moved),
        DispatchStatus::Delivered => MailFact::DispatchDelivered(moved),
        _ => MailFact::DispatchFailed(moved),
    };
    fact.event("dev", &about("m1", "dev"))
}

pub fn mail(id: &str, to: &str, body: &str) -> Message {
    let payload = serde_json::json!({ "body": body }).to_string();
    message(id, MessageType::Message, to, 1, &payload)
}

/// Number of requests in random histories; the requests are named `r0`, `r1` and so on.
pub const REQUESTS: u8 = 8;

/// Compares the indexes of mail with every message.
pub fn check_mail(live: &Live, agents: &[&str], messages: &[Message]) {
    for agent in agents {
        let all = given!(InboxQuery; unread: false, before: None, limit: usize::MAX);
        let inbox = live.inbox(agent, all).unwrap().seqs;
        let mine = messages.iter().filter(|message| message.to == *agent);
        let known: Vec<_> = mine
            .filter_map(|message| live.message(&message.id).unwrap())
            .filter(|known| known.to == *agent)
            .collect();
        let seqs = |of: &dyn Fn(&MessageInfo) -> bool| {
            let mut seqs: Vec<u64> = known
                .iter()
                .filter(|known| of(known))
                .map(|of| of.seq)
                .collect();
            seqs.sort_unstable();
            seqs.dedup();
            seqs
        };
        let delivered = |known: &MessageInfo| live.marks(&known.id).unwrap().delivered_at.is_some();
        assert_eq!(inbox, seqs(&|_| true), "inbox of {agent}");
        let unread = seqs(&|known| known.acked.is_none());
        let undelivered = seqs(&|known| !delivered(known));
        for limit in [1, 2, usize::MAX] {
            let of = |page: SeqPage| (page.seqs, page.older);
            let newest = |all: &[u64]| {
                let from = all.len().saturating_sub(limit);
                (all[from..].to_vec(), from > 0)
            };
            let query = given!(InboxQuery, unread: true, limit, ..all);
            assert_eq!(
                of(live.inbox(agent, query).unwrap()),
                newest(&unread),
                "unread of {agent}"
            );
            let page = live.undelivered(agent, None, limit).unwrap();
            assert_eq!(of(page), newest(&undelivered), "undelivered of {agent}");
        }
        assert_eq!(live.unread_count(agent).unwrap(), unread.len() as u64);
        let counts = live.mail_counts(agent).unwrap();
        assert_eq!(counts.undelivered, undelivered.len() as u64);
        let requests = (0..REQUESTS).map(|n| live.dispatch(&format!("r{n}")).unwrap());
        let open =
            |dispatch: &Dispatch| dispatch.status.is_open() && dispatch.request.to_worker == *agent;
        let open = requests.flatten().filter(open).count();
        assert_eq!(counts.open_dispatches, open as u64);
    }
    for message in messages {
        let body: serde_json::Value = serde_json::from_str(message.payload.as_str()).unwrap();
        let Some(body) = body["body"]
            .as_str()
            .filter(|_| message.kind == MessageType::Message)
        else {
            continue;
        };
        let waits = |other: &&Message| {
            let known = live.message(&other.id).unwrap();
            let marks = live.marks(&other.id).unwrap();
            known.is_some() && marks.delivered_at.is_none()
        };
        let same = messages
            .iter()
            .filter(|other| (&other.from, &other.to) == (&message.from, &message.to))
            .filter(|other| other.kind == message.kind && other.payload == message.payload)
            .find(waits);
        let found = live.same_mail(&message.from, &message.to, body).unwrap();
        let found = found.map(|found| (found.id, found.created_at));
        assert_eq!(
            found,
            same.map(|same| (same.id.clone(), same.created_at)),
            "{body}"
        );
    }
}

fn marks(team: &Team, id: &str) -> (Option<Timestamp>, Option<Timestamp>) {
    let marks = team.live().marks(id).unwrap();
    (marks.notified_at, marks.delivered_at)
}

#[test]
fn marks_know_nothing_of_each_other_and_the_first_stays() {
    let team = Team::new();
    team.send(&[mail("m1", "dev", "a"), mail("m2", "dev", "b")]);
    team.clock.set(at(2));
    team.append(vec![marked(Mark::Notified, "m1", "dev")]);
    team.append(vec![marked(Mark::Delivered, "m2", "dev")]);
    team.clock.set(at(3));
    team.append(vec![marked(Mark::Notified, "m1", "dev")]);
    team.append(vec![marked(Mark::Delivered, "m2", "dev")]);
    assert_eq!(marks(&team, "m1").1, None);
    assert_eq!(marks(&team, "m2").0, None);
    assert!(marks(&team, "m1").0.unwrap() < at(3), "the first stays");
    assert!(marks(&team, "m2").1.unwrap() < at(3), "the first stays");
    // Another agent than the recipient marks nothing, and an unknown message has no marks.
    team.append(vec![
        marked(Mark::Delivered, "m1", "qa"),
        marked(Mark::Delivered, "m9", "dev"),
    ]);
    assert_eq!(marks(&team, "m1").1, None);
    assert_eq!(marks(&team, "m9"), (None, None));
    assert_eq!(team.live().mail_counts("qa").unwrap().undelivered, 0);
}

#[test]
fn an_ack_is_a_delivery_a_delivery_is_no_ack() {
    let team = Team::new();
    let sent = [
        mail("m1", "dev", "a"),
        mail("m2", "dev", "b"),
        mail("m3", "dev", "c"),
    ];
    team.send(&sent);
    team.append(vec![marked(Mark::Delivered, "m1", "dev"), ack("m2", "dev")]);
    let live = team.live();
    check_mail(&live, &["dev"], &sent);
    assert_eq!(live.message("m1").unwrap().unwrap().acked, None);
    assert_eq!(live.agent("dev").unwrap().unread, 2);
    assert!(live.marks("m2").unwrap().delivered_at.is_some());
    let undelivered = live.undelivered("dev", None, 10).unwrap();
    assert_eq!(undelivered.seqs, [4]);
    let unread = given!(InboxQuery; unread: true, before: None, limit: 10);
    assert_eq!(live.inbox("dev", unread).unwrap().seqs, [2, 4]);
    team.append(vec![ack("m1", "dev"), marked(Mark::Delivered, "m2", "dev")]);
    let live = team.live();
    check_mail(&live, &["dev"], &sent);
    assert_eq!(live.inbox("dev", unread).unwrap().seqs, [4]);
    assert_eq!(live.mail_counts("dev").unwrap().undelivered, 1);
}

#[test]
fn plain_mail_is_found_by_its_text_until_it_is_delivered() {
    let team = Team::new();
    let same = |body: &str| {
        let found = team.live().same_mail("lead", "dev", body).unwrap();
        found.map(|found| found.id)
    };
    team.send(&[
        mail("m1", "dev", "a"),
        mail("m2", "dev", "a"),
        mail("m3", "dev", ""),
    ]);
    let handoff = message("m4", MessageType::Handoff, "dev", 1, r#"{"body":"h"}"#);
    let none = message("m5", MessageType::Message, "dev", 1, r#"{"body":["a"]}"#);
    team.send(&[handoff, none]);
    assert_eq!(same("a").as_deref(), Some("m1"));
    assert_eq!(same("").as_deref(), Some("m3"));
    assert_eq!((same("A"), same("h")), (None, None));
    assert_eq!(team.live().same_mail("dev", "lead", "a").unwrap(), None);
    // The digest separates the names and the body.
    assert_eq!(team.live().same_mail("lea", "ddev", "a").unwrap(), None);
    team.append(vec![marked(Mark::Notified, "m1", "dev")]);
    assert_eq!(same("a").as_deref(), Some("m1"));
    team.append(vec![marked(Mark::Delivered, "m1", "dev")]);
    assert_eq!(same("a").as_deref(), Some("m2"));
    team.append(vec![ack("m2", "dev")]);
    assert_eq!(same("a"), None);
}

#[test]
fn a_request_goes_its_way_step_by_step() {
    use DispatchStatus::{Delivered, Failed, Notified, Pending};
    for from in DispatchStatus::ALL {
        for (step, to) in [
            (DispatchStatus::Notified, Notified),
            (DispatchStatus::Delivered, Delivered),
            (DispatchStatus::Failed, Failed),
        ] {
            let team = Team::new();
            team.send(&[mail("m1", "dev", "a")]);
            team.append(vec![requested("r1", "m1", "dev")]);
            let way: &[DispatchStatus] = match from {
                Pending => &[],
                Notified => &[DispatchStatus::Notified],
                Delivered => &[DispatchStatus::Notified, DispatchStatus::Delivered],
                Failed => &[DispatchStatus::Failed],
            };
            team.append(way.iter().map(|step| moved("r1", *step)).collect());
            let before = team.live().dispatch("r1").unwrap().unwrap();
            assert_eq!(
                (before.status, before.attempt_count),
                (from, way.len() as u64)
            );
            team.clock.set(at(7));
            team.append(vec![moved("r1", step)]);
            let after = team.live().dispatch("r1").unwrap().unwrap();
            let legal = matches!(
                (from, to),
                (Pending, Notified | Failed) | (Notified, Delivered | Failed)
            );
            if !legal {
                assert_eq!(after, before, "{from:?} to {to:?}");
                continue;
            }
            assert_eq!(
                (after.status, after.attempt_count),
                (to, before.attempt_count + 1)
            );
            let stamps = [after.notified_at, after.delivered_at, after.failed_at];
            assert_eq!(stamps[to as usize - 1], Some(after.updated_at));
            assert_eq!(after.last_reason.is_some(), to == Failed);
            let open = team.live().mail_counts("dev").unwrap().open_dispatches;
            assert_eq!(open, u64::from(to == Notified));
        }
    }
}

#[test]
fn an_ack_settles_the_request_and_a_request_counts_once() {
    let team = Team::new();
    team.send(&[mail("m1", "dev", "a"), mail("m2", "dev", "b")]);
    team.append(vec![
        requested("r1", "m1", "dev"),
        requested("r1", "m2", "dev"),
        requested("r2", "m2", "dev"),
        requested("r3", "m9", "dev"),
        moved("r2", DispatchStatus::Failed),
        moved("r9", DispatchStatus::Failed),
    ]);
    let live = team.live();
    assert_eq!(live.marks("m1").unwrap().dispatch.as_deref(), Some("r1"));
    assert_eq!(live.marks("m2").unwrap().dispatch.as_deref(), Some("r2"));
    assert_eq!(live.marks("m9").unwrap().dispatch, None);
    assert_eq!(live.mail_counts("dev").unwrap().open_dispatches, 2);
    team.append(vec![ack("m1", "dev"), ack("m2", "dev")]);
    let status = |request: &str| team.live().dispatch(request).unwrap().unwrap().status;
    assert_eq!(status("r1"), DispatchStatus::Delivered);
    assert_eq!(status("r2"), DispatchStatus::Failed);
    assert_eq!(
        team.live().dispatch("r1").unwrap().unwrap().attempt_count,
        2
    );
    assert_eq!(team.live().mail_counts("dev").unwrap().open_dispatches, 1);
}

#[test]
fn what_leads_out_of_its_place_is_not_decoded() {
    for (kind, payload) in [
        ("message_notified", r#"{"message_id":"m1","agent":"../x"}"#),
        ("message_delivered", r#"{"message_id":"","agent":"dev"}"#),
        (
            "dispatch_requested",
            r#"{"request_id":"r","kind":"mailbox","to_worker":"a/b","trigger_message":"","transport_preference":"","fallback_allowed":true}"#,
        ),
        ("dispatch_notified", r#"{"request_id":7}"#),
        ("dispatch_failed", "{}"),
    ] {
        let team = Team::new();
        let event = NewEvent::new(kind, "dev", teamlog_engine::Json::parse(payload).unwrap());
        team.force(vec![event]);
        team.load_error();
    }
}

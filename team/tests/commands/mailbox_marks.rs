//! Tests of marks on mail, and of dispatch requests.

use crate::mailbox::{delivered, list, mail, send, told};
use crate::prelude::*;
use teamlog_team::message::wait::Wait;

#[test]
fn the_leaders_mail_lies_in_its_mailbox_and_an_ack_makes_room_for_the_same_again() {
    let (_, mut team) = demo();
    let first = team
        .send_message(mail("dev", "leader-fixed", "done"))
        .unwrap();
    assert_eq!(first.dispatch.transport, "hook");
    told(&mut team, "leader-fixed", &first.message);
    let again = team
        .send_message(mail("dev", "leader-fixed", "done"))
        .unwrap();
    assert_eq!(again.dispatch.transport, "mailbox");
    let ack = given!(Ack, agent: "leader-fixed", message_id: first.message.message_id.clone());
    team.ack(ack).unwrap();
    let listed = list(&mut team, "leader-fixed");
    assert!(listed.messages[0].delivered_at.is_some(), "{listed:?}");
    let marked = delivered(&mut team, "leader-fixed", &first.message);
    assert!(
        marked.updated && marked.dispatch_updated,
        "the ack settled both: {marked:?}"
    );
    let third = team
        .send_message(mail("dev", "leader-fixed", "done"))
        .unwrap();
    assert_ne!(third.message.message_id, first.message.message_id);
    settled_digest(&mut team);
}

#[test]
fn marks_know_nothing_of_each_other_and_the_first_stays() {
    let (world, mut team) = demo();
    let mail = send(&mut team, "dev", "a").message;
    world.later(MINUTE);
    assert!(told(&mut team, "dev", &mail).notified);
    let first = list(&mut team, "dev").messages.remove(0);
    assert!(first.notified_at.is_some() && first.delivered_at.is_none());
    world.later(MINUTE);
    let before = kinds(&mut team);
    assert!(told(&mut team, "dev", &mail).notified);
    assert_eq!(list(&mut team, "dev").messages, [first]);
    for (worker, id) in [
        ("qa", mail.message_id.as_str()),
        ("dev", "none"),
        ("nobody", "none"),
    ] {
        let mark = given!(MarkNotified, worker, message_id: id);
        assert!(!team.mark_notified(mark).unwrap().notified);
        let mark = given!(MarkDelivered, worker, message_id: id);
        assert_eq!(
            json(&team.mark_delivered(mark).unwrap()),
            json!({
                "worker": worker,
                "message_id": id,
                "updated": false,
                "dispatch_request_id": null,
                "dispatch_updated": false,
            })
        );
    }
    assert_eq!(kinds(&mut team), before, "nothing is recorded");
}

#[test]
fn a_delivery_brings_the_request_to_its_end() {
    let (world, mut team) = demo();
    let sent = send(&mut team, "dev", "a");
    let id = sent.message.message_id.as_str();
    let request = sent.dispatch.request_id.unwrap();
    world.later(MINUTE);
    let marked = delivered(&mut team, "dev", &sent.message);
    let at = &events(&mut team)[5]["created_at"];
    let mut shown = json(&marked);
    let dispatch = shown.as_object_mut().unwrap().remove("dispatch").unwrap();
    assert_eq!(
        shown,
        json!({
            "worker": "dev",
            "message_id": id,
            "updated": true,
            "dispatch_request_id": request,
            "dispatch_updated": true,
        })
    );
    for (field, value) in cases![
        ("request_id" => json!(request)),
        ("kind" => json!("mailbox")),
        ("team_name" => json!("demo")),
        ("to_worker" => json!("dev")),
        ("message_id" => json!(id)),
        ("transport_preference" => json!("hook_preferred_with_fallback")),
        ("fallback_allowed" => json!(true)),
        ("status" => json!("delivered")),
        ("attempt_count" => json!(2)),
        ("updated_at" => at.clone()),
        ("delivered_at" => at.clone()),
    ] {
        assert_eq!(dispatch[field], value, "{field}");
    }
    assert_eq!(dispatch.get("failed_at"), None);
    let log = events(&mut team);
    let told: Vec<&Value> = log[3..].iter().map(|event| &event["kind"]).collect();
    names!(told => message_delivered dispatch_notified dispatch_delivered);
    assert!(log[4..].iter().all(|event| event["cause"] == log[3]["id"]));
    assert_eq!(
        delivered(&mut team, "dev", &sent.message),
        marked,
        "once is enough"
    );
    assert_eq!(kinds(&mut team).len(), 6);
}

#[test]
fn a_request_fails_with_its_message_and_a_delivery_does_not_mend_it() {
    let (world, mut team) = demo();
    team.send(given!(Send, kind: "message", payload: r#"{"body":"a"}"#,
        delivery: Require { ack_timeout_seconds: Some(60), max_retries: Some(0), },
        ..message("lead", "dev")))
        .unwrap();
    let first = send(&mut team, "dev", "a");
    let request = first.dispatch.request_id.unwrap();
    world.later(2 * MINUTE);
    team.tick(Tick::default()).unwrap();
    let log = events(&mut team);
    let [.., dead, failed] = log.as_slice() else {
        panic!("{log:?}");
    };
    assert_eq!(dead["kind"], "delivery_dead_letter");
    assert_eq!(
        (&failed["kind"], &failed["cause"]),
        (&json!("dispatch_failed"), &dead["id"])
    );
    has!(failed, {"payload": {"request_id": request, "reason": "ack_timeout"}});
    let marked = delivered(&mut team, "dev", &first.message);
    assert_eq!((marked.updated, marked.dispatch_updated), (true, false));
    assert_eq!(marked.dispatch_request_id.as_ref(), Some(&request));
    let dispatch = marked.dispatch.unwrap();
    assert_eq!(
        (dispatch.status.as_str(), dispatch.last_reason.as_deref()),
        ("failed", Some("ack_timeout"))
    );
    settled_digest(&mut team);
}

#[test]
fn undelivered_mail_whose_request_failed_is_told_of_again() {
    let (world, mut team) = demo();
    team.send(
        given!(Send, kind: "message", message_id: "m1", payload: r#"{"body":"a"}"#,
            delivery: Require { ack_timeout_seconds: Some(60), max_retries: Some(0), },
            ..message("lead", "dev")),
    )
    .unwrap();
    let first = send(&mut team, "dev", "a");
    assert_eq!(first.message.message_id, "m1");
    world.later(2 * MINUTE);
    team.tick(Tick::default()).unwrap();
    let again = send(&mut team, "dev", "a");
    assert_eq!(again.message.message_id, "m1");
    assert_eq!(again.dispatch.reason, "queued_for_hook_dispatch");
    assert_ne!(again.dispatch.request_id, first.dispatch.request_id);
    let marked = delivered(&mut team, "dev", &again.message);
    assert_eq!(
        marked.dispatch_request_id, again.dispatch.request_id,
        "the newest counts"
    );
    assert!(marked.dispatch_updated);
}

#[test]
fn marks_and_requests_wake_nobody_but_the_mail_does() {
    let (_, mut team) = demo();
    let sent = send(&mut team, "dev", "a").message;
    team.under(given!(Control, actor: "bridge"));
    told(&mut team, "dev", &sent);
    delivered(&mut team, "dev", &sent);
    let wait = given!(Wait; agent: "dev", timeout_ms: 0, since: 0);
    let arrived = team.wait(&wait).unwrap();
    let kinds: Vec<_> = arrived
        .events
        .iter()
        .map(|event| &*event.event.kind)
        .collect();
    assert_eq!(kinds, ["message_sent"]);
}

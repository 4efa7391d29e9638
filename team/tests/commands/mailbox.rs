//! Tests of brokers' mail: sent once, listed, repeated under a key.

use crate::prelude::*;
use teamlog_team::message::mail::Mail;
use teamlog_team::message::mailbox_list::{MailboxList, MailboxListAnswer};
use teamlog_team::message::mailbox_mark::{MarkDeliveredAnswer, MarkNotifiedAnswer};
use teamlog_team::message::send_message::SendMessageAnswer;

pub fn mail(from: &str, to: &str, body: &str) -> SendMessage {
    given!(SendMessage, from_worker: from, to_worker: to, body)
}

pub fn send(team: &mut Team, to: &str, body: &str) -> SendMessageAnswer {
    team.send_message(mail("lead", to, body)).unwrap()
}

pub fn told(team: &mut Team, worker: &str, message: &Mail) -> MarkNotifiedAnswer {
    let mark = given!(MarkNotified, worker, message_id: message.message_id.clone());
    team.mark_notified(mark).unwrap()
}

pub fn delivered(team: &mut Team, worker: &str, message: &Mail) -> MarkDeliveredAnswer {
    let mark = given!(MarkDelivered, worker, message_id: message.message_id.clone());
    team.mark_delivered(mark).unwrap()
}

pub fn of(worker: &str) -> MailboxList {
    given!(MailboxList, worker)
}

pub fn list(team: &mut Team, worker: &str) -> MailboxListAnswer {
    let answer = team.mailbox_list(&of(worker)).unwrap();
    assert_eq!(answer.count, answer.messages.len());
    answer
}

fn bodies(messages: &[Mail]) -> Vec<&str> {
    messages.iter().map(|mail| mail.body.as_str()).collect()
}

fn under(key: &str, request: &str) -> Control {
    given!(Control, operation: "op", request: request.as_bytes().to_vec(), key)
}

#[test]
fn mail_lies_in_the_mailbox_and_its_recipient_is_to_be_told() {
    let (_, mut team) = demo();
    let answer = send(&mut team, "dev", "  look at 7 \n");
    let id = answer.message.message_id.clone();
    let hyphens = id.match_indices('-').map(|(at, _)| at);
    assert_eq!(hyphens.collect::<Vec<_>>(), [8, 13, 18, 23], "{id}");
    let request = answer.dispatch.request_id.clone().unwrap();
    assert_eq!(
        json(&answer),
        json!({
            "message": {
                "message_id": id,
                "from_worker": "lead",
                "to_worker": "dev",
                "type": "message",
                "body": "look at 7",
                "created_at": NOON,
            },
            "dispatch": {
                "ok": true,
                "transport": "hook",
                "reason": "queued_for_hook_dispatch",
                "request_id": request,
                "message_id": id,
                "to_worker": "dev",
            },
        })
    );
    assert_eq!(list(&mut team, "dev").messages, [answer.message]);
    let log = events(&mut team);
    let [_, sent, asked] = log.as_slice() else {
        panic!("{log:?}");
    };
    has!(sent, {"/payload/message/payload": {"body": "look at 7"}});
    assert_eq!(
        (&sent["kind"], &asked["kind"]),
        (&json!("message_sent"), &json!("dispatch_requested"))
    );
    assert_eq!(asked["cause"], sent["id"]);
    has!(asked, {"agent": "dev", "message_id": id, "/payload/intent": "pending-mailbox-review"});
}

#[test]
fn what_lies_there_undelivered_is_not_sent_twice() {
    let (world, mut team) = demo();
    let first = send(&mut team, "dev", "a");
    let before = kinds(&mut team);
    world.later(MINUTE);
    let again = send(&mut team, "dev", " a ");
    assert_eq!(again.message, first.message);
    assert_eq!(
        json(&again.dispatch),
        json!({
            "ok": false,
            "transport": "none",
            "reason": "duplicate_pending_dispatch_request",
            "request_id": first.dispatch.request_id,
            "message_id": first.message.message_id,
        })
    );
    assert_eq!(kinds(&mut team), before, "nothing is recorded");
    // A message with another sender, recipient or text is new.
    for other in [
        mail("qa", "dev", "a"),
        mail("lead", "qa", "a"),
        mail("lead", "dev", "A"),
    ] {
        let other = team.send_message(other).unwrap();
        assert_ne!(other.message.message_id, first.message.message_id);
    }
    told(&mut team, "dev", &first.message);
    let before = kinds(&mut team);
    let again = send(&mut team, "dev", "a");
    assert!(again.message.notified_at.is_some());
    assert_eq!(
        json(&again.dispatch),
        json!({
            "ok": true,
            "transport": "hook",
            "reason": "existing_message_already_notified",
            "message_id": first.message.message_id,
            "to_worker": "dev",
        })
    );
    assert_eq!(kinds(&mut team), before, "nothing is recorded");
    delivered(&mut team, "dev", &first.message);
    let new = send(&mut team, "dev", "a");
    assert_ne!(new.message.message_id, first.message.message_id);
    assert_eq!(new.dispatch.reason, "queued_for_hook_dispatch");
}

#[test]
fn strangers_and_blank_texts_are_refused_and_record_nothing() {
    let (_, mut team) = demo();
    for (send, code, field) in cases![
        (mail("lead", "stranger", "a") => Code::WorkerNotFound, "to_worker"),
        (mail("stranger", "dev", "a") => Code::WorkerNotFound, "from_worker"),
        (mail("lead", "../x", "a") => Code::InvalidInput, "to_worker"),
        (mail("lead", "dev", " \n") => Code::InvalidInput, "body"),
    ] {
        let refusal = refused(team.send_message(send), code);
        assert_eq!(refusal.field.as_deref(), Some(field));
    }
    let huge = mail("lead", "dev", &"x".repeat(2 << 20));
    refused(team.send_message(huge), Code::TooLarge);
    assert_eq!(kinds(&mut team), ["team_created"]);
}

#[test]
fn a_broadcast_goes_to_every_worker_but_the_sender_and_nobody_is_to_be_told() {
    let (_, mut team) = demo();
    let lone = send(&mut team, "qa", "all hands");
    let broadcast = |team: &mut Team, from: &str| {
        team.broadcast(given!(Broadcast, from_worker: from, body: " all hands "))
    };
    let answer = broadcast(&mut team, "lead").unwrap();
    let to: Vec<&str> = answer
        .messages
        .iter()
        .map(|mail| mail.to_worker.as_str())
        .collect();
    assert_eq!((answer.count, to), (2, vec!["dev", "qa"]));
    assert_eq!(answer.messages[1], lone.message, "it lay there");
    assert_eq!(kinds(&mut team)[3..], ["message_sent"]);
    assert_eq!(broadcast(&mut team, "lead").unwrap(), answer);
    assert_eq!(kinds(&mut team).len(), 4);
    // The recipient of a broadcast may be notified later.
    let told = send(&mut team, "dev", "all hands");
    assert_eq!(told.message, answer.messages[0]);
    assert_eq!(told.dispatch.reason, "queued_for_hook_dispatch");
    assert_eq!(broadcast(&mut team, "leader-fixed").unwrap().count, 3);
    refused(broadcast(&mut team, "stranger"), Code::WorkerNotFound);
    let (_, mut team) = team_of(Some(&["leader-fixed", "dev"]), Format::Jsonl);
    let none = broadcast(&mut team, "dev").unwrap();
    assert_eq!(none.count, 0, "the leader is no worker");
}

#[test]
fn a_mailbox_holds_everything_and_pages_towards_older_mail() {
    let (_, mut team) = demo();
    for n in 1..=5 {
        send(&mut team, "dev", &format!("b{n}"));
    }
    team.send(
        given!(Send, message_id: "h1", task_id: "t1", trace_id: "tr",
            payload: r#"{"files":["a"],"body":"over to you"}"#, ..message("qa", "dev")),
    )
    .unwrap();
    team.send(
        given!(Send, message_id: "h2", payload: r#"{"files":["a"]}"#, ..message("qa", "dev")),
    )
    .unwrap();
    let all = list(&mut team, "dev");
    assert_eq!(
        bodies(&all.messages),
        [
            "b1",
            "b2",
            "b3",
            "b4",
            "b5",
            "over to you",
            r#"{"files":["a"]}"#
        ]
    );
    assert_eq!(
        json(&all.messages[5]),
        json!({
            "message_id": "h1",
            "from_worker": "qa",
            "to_worker": "dev",
            "type": "handoff",
            "body": "over to you",
            "created_at": NOON,
            "task_id": "t1",
            "trace_id": "tr",
            "payload": {"files": ["a"], "body": "over to you"},
        })
    );
    assert_eq!(json(&all).get("next_cursor"), None);
    delivered(&mut team, "dev", &all.messages[1]);
    delivered(&mut team, "dev", &all.messages[6]);
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let page = given!(MailboxList, include_delivered: false, limit: 2, cursor: cursor.take(),
            ..of("dev"));
        let page = team.mailbox_list(&page).unwrap();
        pages.push(bodies(&page.messages).join(" "));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(pages, ["b5 over to you", "b3 b4", "b1"]);
    assert_eq!(list(&mut team, "dev").count, 7, "delivered mail stays");
    let with = given!(MailboxList, include_delivered: true, ..of("dev"));
    assert_eq!(team.mailbox_list(&with).unwrap().count, 7);
    assert_eq!(list(&mut team, "nobody").count, 0);
    let astray = given!(MailboxList, cursor: "h1", ..of("qa"));
    refused(team.mailbox_list(&astray), Code::CursorUnknown);
}

#[test]
fn the_same_key_gets_the_first_answer_again() {
    let (_, mut team) = demo();
    team.under(under("k1", "send"));
    let first = send(&mut team, "dev", "a");
    assert_eq!(send(&mut team, "dev", "a"), first);
    assert_eq!(first.dispatch.reason, "queued_for_hook_dispatch");
    team.under(under("k2", "tell"));
    let marked = told(&mut team, "dev", &first.message);
    assert_eq!(told(&mut team, "dev", &first.message), marked);
    team.under(under("k3", "deliver"));
    let marked = delivered(&mut team, "dev", &first.message);
    assert_eq!(delivered(&mut team, "dev", &first.message), marked);
    team.under(under("k4", "nothing"));
    let nothing = told(&mut team, "qa", &first.message);
    assert!(!nothing.notified);
    assert_eq!(told(&mut team, "qa", &first.message), nothing);
    team.under(under("k5", "broadcast"));
    let broadcast = given!(Broadcast, from_worker: "lead", body: "all");
    let sent = team.broadcast(broadcast.clone()).unwrap();
    assert_eq!(team.broadcast(broadcast).unwrap(), sent);
    team.under(under("k1", "another"));
    let reused = team.send_message(mail("lead", "dev", "b"));
    refused(reused, Code::IdempotencyKeyReused);
}

#[test]
fn who_acts_joins_an_open_team_and_a_trace_goes_with_the_message() {
    let (_, mut team) = team_of(None, Format::Jsonl);
    team.under(given!(Control, trace_id: "tr", actor: "bridge"));
    let sent = send(&mut team, "dev", "a");
    told(&mut team, "dev", &sent.message);
    delivered(&mut team, "dev", &sent.message);
    let log = events(&mut team);
    let seen: Vec<_> = log
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        seen,
        [
            "team_created",
            "members_added",
            "message_sent",
            "dispatch_requested",
            // The notified agent is not the actor.
            "message_notified",
            "members_added",
            "message_delivered",
            "dispatch_notified",
            "dispatch_delivered",
        ]
    );
    for event in &log[1..] {
        has!(event, {"trace_id": "tr", "actor": "bridge"});
    }
    team.under(Control::default());
    assert_eq!(
        list(&mut team, "dev").messages[0].trace_id.as_deref(),
        Some("tr")
    );
    let again = send(&mut team, "dev", "b").message;
    told(&mut team, "dev", &again);
    let last = events(&mut team).pop().unwrap();
    assert_eq!(last["actor"], "teamlog", "nobody says who told it");
    let answer = team
        .broadcast(given!(Broadcast, from_worker: "newcomer", body: "hello"))
        .unwrap();
    assert_eq!(answer.count, 2, "who joins by it gets none");
}

#[test]
fn polling_costs_the_same_however_much_was_delivered() {
    let (world, mut team) = demo();
    let mut round = |count: usize| {
        for n in 0..count {
            let sent = send(&mut team, "dev", &format!("b{n}"));
            delivered(&mut team, "dev", &sent.message);
            team.finish().unwrap();
        }
        send(&mut team, "dev", "left");
        let calls = || world.memory.calls().values().sum::<u64>();
        let mut fresh = Root::on(world.memory.clone(), world.root.options().clone())
            .team("demo")
            .unwrap();
        let before = calls();
        let undelivered = given!(MailboxList, include_delivered: false, ..of("dev"));
        assert_eq!(
            bodies(&fresh.mailbox_list(&undelivered).unwrap().messages),
            ["left"]
        );
        assert!(!send(&mut fresh, "dev", "left").dispatch.ok);
        calls() - before
    };
    let short = round(100);
    let long = round(900);
    assert!(long <= short + 40, "{short} calls grew to {long}");
}

#[test]
fn a_broadcast_that_no_group_can_hold_is_refused_whole() {
    let world = World::new();
    let names: Vec<String> = (0..8).map(|n| format!("w{n}")).collect();
    let members: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut team = world.team(Some(&members), Format::Jsonl);
    let broadcast = given!(Broadcast, from_worker: "leader-fixed", body: "x".repeat(900 << 10));
    refused(team.broadcast(broadcast), Code::TooLarge);
    assert_eq!(kinds(&mut team), ["team_created"]);
}

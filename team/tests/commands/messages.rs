//! Tests of messages: sending, reading and acknowledging them.

use crate::prelude::*;
use teamlog_engine::IdSource;
use teamlog_team::message::ack::AckStatus;
use teamlog_team::message::send::SendAnswer;
use teamlog_team::worker::shutdown::{RequestShutdown, WriteAck};

fn ack(agent: &str, id: &str) -> Ack {
    given!(Ack, agent, message_id: id)
}

fn named(id: &str) -> Send {
    given!(Send, message_id: id, ..message("lead", "dev"))
}

fn inbox(agent: &str) -> Read {
    given!(Read, agent)
}

#[test]
fn a_sent_message_lies_in_the_inbox_and_its_event_carries_every_ref() {
    let (_, mut team) = demo();
    let sent = team
        .send(
            given!(Send, task_id: "t1", trace_id: "tr_1", priority: "high",
                payload: r#"{"body":"hello"}"#, ..message("lead", "dev")),
        )
        .unwrap();
    assert_eq!(sent.status, SendStatus::Sent);
    let id = &sent.message.id;
    assert!(id.len() == 16 && id.starts_with("msg_"), "{id}");
    let answer = json(&sent);
    has!(answer, {"/message/payload/body": "hello", "/message/created_at": crate::world::NOON});
    assert_eq!(answer.as_object().unwrap().len(), 3, "{answer}");
    let event = &events(&mut team)[1];
    assert_eq!(&answer["event"], event);
    for (field, value) in [
        ("kind", "message_sent"),
        ("actor", "lead"),
        ("agent", "dev"),
        ("message_id", id),
        ("task_id", "t1"),
        ("trace_id", "tr_1"),
    ] {
        assert_eq!(event[field], value, "{event}");
    }
    let page = team.read(inbox("dev")).unwrap();
    assert_eq!(page.messages, [sent.message]);
    assert_eq!(team.read(inbox("qa")).unwrap().count, 0);
}

#[test]
fn a_known_id_is_a_duplicate_and_the_stored_message_stays() {
    let (world, mut team) = demo();
    let first = team.send(named("m1")).unwrap();
    world.clock.advance(1_000_000);
    let second = team.send(named("m1")).unwrap();
    assert_eq!(second.status, SendStatus::Duplicate);
    assert_eq!(second.message, first.message);
    assert_eq!(json(&second)["event"]["kind"], "message_duplicate");
    names!(kinds(&mut team) => team_created message_sent message_duplicate);
    assert_eq!(team.read(inbox("qa")).unwrap().count, 0);
}

#[test]
fn a_known_id_with_other_content_is_refused_and_nothing_is_recorded() {
    let (_, mut team) = demo();
    let first =
        given!(Send, task_id: "t1", trace_id: "tr_1", payload: r#"{"a":1,"b":2}"#, ..named("m1"));
    let sent = team.send(first.clone()).unwrap();
    let created_at = sent.message.created_at.to_string();
    let same = given!(Send, payload: r#"{"b": 2, "a": 1}"#, created_at: created_at.as_str(), ..first.clone());
    for same in [
        Send {
            trace_id: None,
            ..first.clone()
        },
        same,
    ] {
        assert_eq!(team.send(same).unwrap().status, SendStatus::Duplicate);
    }
    let before = kinds(&mut team).len();
    for (field, other) in [
        ("from", given!(Send, from: "qa", ..first.clone())),
        ("to", given!(Send, to: "qa", ..first.clone())),
        ("type", given!(Send, kind: "message", ..first.clone())),
        (
            "task_id",
            Send {
                task_id: None,
                ..first.clone()
            },
        ),
        (
            "payload",
            given!(Send, payload: r#"{"a":1}"#, ..first.clone()),
        ),
        (
            "created_at",
            given!(Send, created_at: "2026-01-01T00:00:00Z", ..first.clone()),
        ),
        ("trace_id", given!(Send, trace_id: "tr_2", ..first)),
    ] {
        let refusal = refused(team.send(other), Code::MessageIdReused);
        assert!(
            refusal.message.contains(field),
            "{field}: {}",
            refusal.message
        );
    }
    assert_eq!(kinds(&mut team).len(), before);
}

#[test]
fn an_answer_says_what_was_applied_to_the_task() {
    use teamlog_team::message::effect::Applied;
    let (world, mut team) = demo();
    let told = |answer: &SendAnswer| {
        (
            answer.applied,
            answer.reason.clone().unwrap_or_default().into_owned(),
        )
    };
    let assign = |id: &str, deps: &[&str]| {
        given!(TaskAssign, from: "lead", to: "dev", task_id: id, subject: "s",
        deps: deps.iter().map(|dep| dep.to_string()).collect::<Vec<_>>())
    };
    let first = team.task_assign(assign("T-1", &["T-2"])).unwrap();
    assert_eq!(told(&first), (Some(Applied::Applied), String::new()));
    assert_eq!(first.doubts.unknown_deps, ["T-2"]);
    let cyclic = team.task_assign(assign("T-2", &["T-1"])).unwrap();
    assert_eq!(
        told(&cyclic),
        (Some(Applied::NotApplied), "dependency_cycle".into())
    );
    let update =
        |id: &str| given!(TaskUpdate, from: "dev", to: "lead", task_id: id, status: "pending");
    let late = given!(TaskUpdate, created_at: "2026-01-01T00:00:00Z", ..update("T-1"));
    let late = team.task_update(late).unwrap();
    assert_eq!(
        told(&late),
        (Some(Applied::Superseded), "newer_message".into())
    );
    let typo = team.task_update(update("T1")).unwrap();
    assert_eq!(told(&typo), (Some(Applied::Applied), String::new()));
    assert_eq!(
        (typo.doubts.created, typo.doubts.did_you_mean.as_deref()),
        (true, Some("T-1"))
    );
    let known = team.task_update(update("T-1")).unwrap();
    assert_eq!(
        (known.doubts.created, known.doubts.did_you_mean),
        (false, None)
    );
    team.task_claim(given!(TaskClaim, task_id: "T1", worker: "qa"))
        .unwrap();
    world.clock.advance(1_000_000);
    let claimed = team.task_update(update("T1")).unwrap();
    assert_eq!(
        told(&claimed),
        (Some(Applied::NotApplied), "claim_governed".into())
    );
    assert_eq!(claimed.reported.unwrap().holder.as_deref(), Some("qa"));
    let plain = team.send(message("lead", "dev")).unwrap();
    assert_eq!(told(&plain), (None, String::new()));
}

#[test]
fn an_update_creates_no_task_where_the_setting_forbids_it() {
    let (_, mut team) = demo();
    let assignment = given!(TaskAssign, from: "lead", to: "dev", task_id: "T-1", subject: "s");
    team.task_assign(assignment).unwrap();
    let forbidden = given!(ConfigChange, key: "tasks.create_by_update", value: "false");
    team.config_change(forbidden).unwrap();
    let update =
        |id: &str| given!(TaskUpdate, from: "dev", to: "lead", task_id: id, status: "pending");
    let refusal = refused(team.task_update(update("T1")), Code::TaskNotFound);
    assert!(
        refusal.message.ends_with("did you mean T-1?"),
        "{}",
        refusal.message
    );
    team.task_update(update("T-1")).unwrap();
}

#[test]
fn an_answer_names_a_recipient_that_stopped_or_never_acted() {
    let world = World::new();
    let mut team = world
        .root
        .init(Init::for_team("open"))
        .map(|_| world.root.team("open").unwrap())
        .unwrap();
    let first = team.send(message("lead", "dev")).unwrap();
    assert_eq!(
        first.doubts.agents.recipient_unknown, None,
        "nobody else is known yet"
    );
    team.send(message("dev", "lead")).unwrap();
    for (name, meant) in [
        ("dev-2", "did you mean dev?"),
        ("Dev", "did you mean dev?"),
        ("zzzzzzzz", "known agents: dev"),
    ] {
        let said = team
            .send(message("lead", name))
            .unwrap()
            .doubts
            .agents
            .recipient_unknown;
        assert!(
            said.as_ref().is_some_and(|said| said.contains(meant)),
            "{name}: {said:?}"
        );
    }
    team.request_shutdown(RequestShutdown {
        worker: "dev".into(),
        requested_by: "lead".into(),
    })
    .unwrap();
    let ack = WriteAck {
        worker: "dev".into(),
        status: "accept".into(),
        ..WriteAck::default()
    };
    team.write_shutdown_ack(ack).unwrap();
    assert!(
        team.send(message("lead", "dev"))
            .unwrap()
            .doubts
            .agents
            .recipient_gone
            .is_some()
    );
    team.send(message("dev", "lead")).unwrap();
    assert_eq!(
        team.send(message("lead", "dev"))
            .unwrap()
            .doubts
            .agents
            .recipient_gone,
        None
    );
}

/// A random source that returns equal bits at each call.
#[derive(Debug)]
struct Stuck;

impl IdSource for Stuck {
    fn random(&self) -> teamlog_engine::Result<u64> {
        Ok(42)
    }
}

/// A random source that always fails.
#[derive(Debug)]
struct Dry;

impl IdSource for Dry {
    fn random(&self) -> teamlog_engine::Result<u64> {
        Err(teamlog_engine::Error::Random("there is none".into()))
    }
}

#[test]
fn without_random_bits_no_token_and_no_id_is_made() {
    let (world, mut team) = demo();
    let create = || given!(TaskCreate, subject: "one", description: "all of it");
    drop(team.task_create(create()).unwrap());
    let before = events(&mut team);
    let options = given!(RootOptions, ids: Arc::new(Dry) as Arc<dyn IdSource>,
        ..world.root.options().clone());
    let mut dry = Root::on(world.memory.clone(), options)
        .team("demo")
        .unwrap();
    let claim = || given!(TaskClaim, task_id: "1", worker: "dev");
    let failures = [
        dry.task_claim(claim()).err(),
        dry.send(message("lead", "dev")).err(),
        dry.task_create(create()).err(),
    ];
    for failure in failures {
        shows!(failure.unwrap().to_string() => starts "cannot get random bits");
    }
    assert_eq!(events(&mut team), before);
    // After the failure, a repetition of the command succeeds.
    let claimed = team.task_claim(claim()).unwrap();
    assert_eq!(claimed.claim_token.len(), 36);
}

#[test]
fn a_generated_id_never_meets_a_known_one() {
    let world = World::new();
    let options = given!(RootOptions, ids: Arc::new(Stuck) as Arc<dyn IdSource>,
        ..world.root.options().clone());
    let root = Root::on(world.memory.clone(), options);
    root.init(Init::for_team("demo")).unwrap();
    let mut team = root.team("demo").unwrap();
    let ids: Vec<String> = (0..3)
        .map(|_| team.send(message("lead", "dev")).unwrap())
        .inspect(|sent| assert_eq!(sent.status, SendStatus::Sent))
        .map(|sent| sent.message.id)
        .collect();
    names!(ids => msg_00000000002a msg_00000000002b msg_00000000002c);
}

#[test]
fn the_cooldown_swallows_a_repetition_and_says_for_how_long() {
    let (world, mut team) = demo();
    let nudge = given!(Send, cooldown_seconds: 60, task_id: "t1", ..message("lead", "dev"));
    assert_eq!(team.send(nudge.clone()).unwrap().status, SendStatus::Sent);
    world.later(10 * SECOND - SECOND / 2);
    let swallowed = team.send(nudge.clone()).unwrap();
    assert_eq!(swallowed.status, SendStatus::Suppressed);
    let answer = json(&swallowed);
    has!(answer, {"reason": "cooldown", "cooldown_remaining_seconds": 51,
        "/event/kind": "message_suppressed"});
    assert_eq!(team.read(inbox("dev")).unwrap().count, 1);

    let elsewhere = [
        given!(Send, to: "qa", ..nudge.clone()),
        given!(Send, task_id: "t2", ..nudge.clone()),
        given!(Send, kind: "message", ..nudge.clone()),
        given!(Send, cooldown_seconds: None, ..nudge.clone()),
    ];
    for other in elsewhere {
        assert_eq!(team.send(other).unwrap().status, SendStatus::Sent);
    }
    world.later(61 * SECOND);
    assert_eq!(team.send(nudge).unwrap().status, SendStatus::Sent);
}

#[test]
fn a_retry_within_the_cooldown_is_a_duplicate_and_a_clock_that_ran_back_does_not_lengthen_it() {
    let (world, mut team) = demo();
    let nudge = given!(Send, cooldown_seconds: 60, ..named("m1"));
    team.send(nudge.clone()).unwrap();
    assert_eq!(
        team.send(nudge.clone()).unwrap().status,
        SendStatus::Duplicate
    );
    world.later(-30 * MINUTE);
    let other = given!(Send, message_id: "m2", ..nudge);
    assert_eq!(
        team.send(other).unwrap().cooldown_remaining_seconds,
        Some(60)
    );
}

#[test]
fn strangers_are_refused_in_a_closed_team_and_join_an_open_one() {
    let (_, mut closed) = demo();
    let refusal = refused(closed.send(message("lead", "eve")), Code::WorkerNotFound);
    assert_eq!(refusal.field.as_deref(), Some("message.to"));
    assert_eq!(
        json(&refusal.details["known"]),
        json(&["dev", "lead", "qa"])
    );
    refused(closed.send(message("eve", "dev")), Code::WorkerNotFound);
    refused(closed.ack(ack("eve", "m1")), Code::WorkerNotFound);
    refused(closed.read(inbox("eve")), Code::WorkerNotFound);
    closed.send(message("leader-fixed", "dev")).unwrap();
    closed.send(message("dev", "leader-fixed")).unwrap();
    assert_eq!(kinds(&mut closed).len(), 3, "refusals write nothing");

    let (_, mut open) = team_of(None, Default::default());
    open.send(message("lead", "eve")).unwrap();
    let status = crate::world::status(&mut open);
    assert!(
        status.members.contains(&"lead".to_string()),
        "{:?}",
        status.members
    );
    assert_eq!(status.unread_counts["eve"], 1);
}

#[test]
fn broken_envelopes_are_refused_by_field_value_and_rule() {
    let (_, mut team) = team_of(None, Default::default());
    let base = message("lead", "dev");
    let cases = cases![
        (given!(Send, from: "a/b", ..base.clone()) => "message.from", "path separator"),
        (given!(Send, to: "a..b", ..base.clone()) => "message.to", "traversal token"),
        (given!(Send, to: "-dev", ..base.clone()) => "message.to", "-"),
        (given!(Send, task_id: "ü", ..base.clone()) => "message.task_id", "^[A-Za-z0-9._-]+$"),
        (given!(Send, task_id: "-t", ..base.clone()) => "message.task_id", "-"),
        (given!(Send, kind: "gossip", ..base.clone()) => "message.type", "task_assign"),
        (given!(Send, priority: "urgent", ..base.clone()) => "message.priority", "critical"),
        (given!(Send, payload: "[1]", ..base.clone()) => "message.payload", "object"),
        (given!(Send, payload: "{\"a\":1,\"a\":2}", ..base.clone()) => "message.payload", "a"),
        (given!(Send, message_id: "a\nb", ..base.clone()) => "message.id", "control"),
        (given!(Send, created_at: "yesterday", ..base.clone()) => "message.created_at",
            "yesterday"),
    ];
    for (send, field, said) in cases {
        let refusal = refused(team.send(send), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some(field), "{refusal}");
        assert!(refusal.message.contains(said), "{refusal}");
        assert!(refusal.message.contains(field), "{refusal}");
    }
    team.under(given!(Control, actor: "a\u{7f}"));
    let refusal = refused(team.send(base.clone()), Code::InvalidInput);
    assert_eq!(refusal.field.as_deref(), Some("actor"), "{refusal}");
    team.under(Control::default());
    let mistyped = given!(Send, kind: "task_update", task_id: "t1", payload: r#"{"status":3}"#,
        ..base);
    let refusal = refused(team.send(mistyped), Code::InvalidInput);
    assert!(refusal.message.contains("status"), "{refusal}");
    assert_eq!(kinds(&mut team), ["team_created"]);
}

#[test]
fn what_no_task_can_take_is_sent_and_the_answer_says_so() {
    let (_, mut team) = demo();
    let assigned = given!(Send, kind: "task_assign", trace_id: String::new(),
        payload: r#"{"subject":"which?"}"#, ..message("lead", "dev"));
    let answer = team.send(assigned).unwrap();
    assert_eq!(
        json(&answer.not_applied),
        serde_json::json!({"task_id": "no_task_id"})
    );
    assert_eq!(answer.message.trace_id, None);
    let finished = given!(TaskUpdate, note: "really", ..crate::world::update("t1", "finished"));
    let answer = team.task_update(finished).unwrap();
    has!(json(&answer), {"not_applied": {"status": "unknown_status"}});
    let show = given!(TaskShow, task_id: "t1");
    let task = json(&team.task_show(show).unwrap())["task"].clone();
    let found = [
        &task["status"],
        &task["owner"],
        &task["note"],
        &task["last_update_from"],
    ];
    assert_eq!(
        serde_json::json!(found),
        serde_json::json!(["pending", "lead", "really", "dev"]),
        "a task born of an update is its recipient's"
    );
    let known = crate::world::update("t1", "done");
    assert!(json(&team.task_update(known).unwrap())["not_applied"].is_null());
    assert_eq!(crate::world::status(&mut team).task_count, 1);
    crate::world::settled_digest(&mut team);
}

#[test]
fn a_time_more_than_five_minutes_ahead_is_refused() {
    let (_, mut team) = demo();
    let at = |text: &str| given!(Send, created_at: text, ..message("lead", "dev"));
    team.send(at("2026-11-21T12:05:00Z")).unwrap();
    team.send(at("1999-01-01T00:00:00+02:00")).unwrap();
    let refusal = refused(
        team.send(at("2026-11-21T12:05:00.000001Z")),
        Code::CreatedAtAhead,
    );
    assert_eq!(refusal.field.as_deref(), Some("message.created_at"));
}

#[test]
fn a_message_that_is_too_large_for_an_event_is_refused_and_the_team_goes_on() {
    let (_, mut team) = demo();
    let body = "x".repeat(1 << 20);
    let huge = given!(Send, payload: format!(r#"{{"body":"{body}"}}"#), ..message("lead", "dev"));
    refused(team.send(huge), Code::TooLarge);
    team.send(message("lead", "dev")).unwrap();
    assert_eq!(kinds(&mut team), ["team_created", "message_sent"]);
}

#[test]
fn acks_count_once_and_only_from_the_recipient() {
    let (_, mut team) = demo();
    let sent = given!(Send, trace_id: "tr", task_id: "t1", ..named("m1"));
    team.send(sent).unwrap();
    let wrong = team.ack(ack("qa", "m1")).unwrap();
    assert_eq!(
        json(&wrong),
        serde_json::json!({"status": "wrong_recipient", "message_id": "m1", "agent": "qa", "expected": "dev"})
    );
    let acked = team.ack(ack("dev", "m1")).unwrap();
    assert_eq!(
        json(&acked),
        serde_json::json!({"status": "acked", "message_id": "m1", "agent": "dev"})
    );
    assert_eq!(
        team.ack(ack("dev", "m1")).unwrap().status,
        AckStatus::AlreadyAcked
    );
    assert_eq!(
        team.ack(ack("dev", "m2")).unwrap().status,
        AckStatus::NotFound
    );
    names!(kinds(&mut team)[2..] => ack_rejected message_acked message_ack_duplicate ack_rejected);
    let event = &events(&mut team)[3];
    has!(event, {"trace_id": "tr", "task_id": "t1", "actor": "dev"});
    assert_eq!(crate::world::status(&mut team).unread_counts["dev"], 0);
}

#[test]
fn reading_pages_towards_older_messages_and_the_last_page_has_no_cursor() {
    let (_, mut team) = demo();
    for n in 1..=7 {
        team.send(named(&format!("m{n}"))).unwrap();
        team.send(message("lead", "qa")).unwrap();
    }
    for n in [2, 6] {
        team.ack(ack("dev", &format!("m{n}"))).unwrap();
    }
    let mut page = |unread, cursor: Option<&str>| {
        let read = given!(Read, agent: "dev", unread, limit: 3, cursor);
        let page = team.read(read).unwrap();
        let ids: Vec<String> = page
            .messages
            .into_iter()
            .map(|message| message.id)
            .collect();
        assert_eq!(page.count, ids.len());
        (ids.join(" "), page.next_cursor)
    };
    assert_eq!(page(false, None), ("m5 m6 m7".into(), Some("m5".into())));
    assert_eq!(
        page(false, Some("m5")),
        ("m2 m3 m4".into(), Some("m2".into()))
    );
    assert_eq!(page(false, Some("m2")), ("m1".into(), None));
    assert_eq!(page(true, None), ("m4 m5 m7".into(), Some("m4".into())));
    assert_eq!(page(true, Some("m4")), ("m1 m3".into(), None));
    let all = given!(Read, limit: 0, ..inbox("dev"));
    assert_eq!(team.read(all).unwrap().count, 7);
}

#[test]
fn a_cursor_of_another_inbox_or_of_nothing_is_refused() {
    let (_, mut team) = demo();
    team.send(named("m1")).unwrap();
    for (agent, cursor) in [("dev", "m2"), ("qa", "m1")] {
        let read = given!(Read, cursor, ..inbox(agent));
        refused(team.read(read), Code::CursorUnknown);
    }
}

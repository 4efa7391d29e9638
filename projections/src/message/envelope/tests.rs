//! Tests of reading envelopes, and of the field named by each refusal.

use super::*;
use crate::RefKind;
use crate::event::message::{AckRefused, MessageAcked};
use crate::fact::Fact;
use crate::message::NotApplied;
use proptest::prelude::*;
use teamlog_engine::{Event, EventId, Refs};

const NOW: &str = "2026-11-21T10:00:00.000000Z";

fn now() -> Timestamp {
    Timestamp::from_canonical(NOW.as_bytes()).unwrap()
}

fn complete(text: &str) -> Result<Message, InvalidMessage> {
    Envelope::parse(text)?.complete(Names::New, now(), 0xabc)
}

fn recorded(event: teamlog_engine::NewEvent) -> Event<'static> {
    let at = Timestamp::from_micros(1_000_000).unwrap();
    Event {
        seq: 7,
        id: EventId::new(at, 1),
        created_at: at,
        kind: event.kind,
        actor: event.actor.into(),
        refs: event.refs,
        schema_version: event.schema_version,
        foreign: event.foreign,
        payload: event.payload.as_str().to_owned().into(),
    }
}

#[test]
fn what_is_missing_gets_its_default() {
    let message = complete(r#"{"type":"handoff","from":"a","to":"b"}"#).unwrap();
    assert_eq!(message.id, "msg_000000000abc");
    assert_eq!(message.priority, Priority::Normal);
    assert_eq!(message.created_at, now());
    assert_eq!(message.payload.as_str(), "{}");
    assert_eq!(
        message.to_json().unwrap().as_str(),
        r#"{"id":"msg_000000000abc","type":"handoff","from":"a","to":"b","priority":"normal","created_at":"2026-11-21T10:00:00.000000Z","schema_version":1,"payload":{}}"#
    );
}

#[test]
fn nulls_stand_for_absent() {
    let message = complete(
        r#"{"id":null,"type":"handoff","from":"a","to":"b","task_id":null,"trace_id":null,"payload":null,"priority":null,"schema_version":null,"created_at":null}"#,
    );
    assert_eq!(message.unwrap().payload.as_str(), "{}");
}

#[test]
fn unknown_fields_are_kept() {
    let message = complete(r#"{"x":{"y":[1,"z"]},"type":"message","from":"a","to":"b"}"#).unwrap();
    let json = message.to_json().unwrap();
    assert!(
        json.as_str()
            .ends_with(r#","payload":{},"x":{"y":[1,"z"]}}"#)
    );
    let again = Envelope::parse(json.as_str()).unwrap();
    assert_eq!(again.complete(Names::New, now(), 0).unwrap(), message);
}

/// Invalid envelopes and the expected errors. `A{` and `U{` begin the payload of an assignment and of an update; `LONG`
/// is a name that is too long.
const REFUSALS: &str = r#"
nonsense => message => must be a JSON object
[1] => message => must be a JSON object
{"from":"a","from":"b"} => message => must be a JSON object
{"from":"a","to":"b"} => message.type => is required
{"type":"gossip","from":"a","to":"b"} => message.type => must be one of task_assign,
{"type":"handoff","to":"b"} => message.from => is required
{"type":"handoff","from":"a"} => message.to => is required
{"type":"handoff","from":1,"to":"b"} => message.from => must be a string
{"type":"handoff","from":"a/b","to":"b"} => message.from => path separator
{"type":"handoff","from":"a","to":"a\\b"} => message.to => path separator
{"type":"handoff","from":"a..b","to":"b"} => message.from => traversal token
{"type":"handoff","from":"","to":"b"} => message.from => must not be empty
{"type":"handoff","from":"a b","to":"b"} => message.from => ^[A-Za-z0-9._-]+$
{"type":"handoff","from":".a","to":"b"} => message.from => must not begin with .
{"type":"handoff","from":"-a","to":"b"} => message.from => must not begin with -
{"type":"handoff","from":"LONG","to":"b"} => message.from => at most 128 bytes
{"type":"handoff","from":"a","to":"b","task_id":"../x"} => message.task_id => path separator
{"id":"","type":"handoff","from":"a","to":"b"} => message.id => must not be empty
{"id":"a\nb","type":"handoff","from":"a","to":"b"} => message.id => control characters
{"trace_id":"a\u0085b","type":"handoff","from":"a","to":"b"} => message.trace_id => control characters
{"priority":"urgent","type":"handoff","from":"a","to":"b"} => message.priority => must be one of low
{"created_at":"soon","type":"handoff","from":"a","to":"b"} => message.created_at => ISO 8601
{"schema_version":2,"type":"handoff","from":"a","to":"b"} => message.schema_version => must be 1
{"schema_version":"1","type":"handoff","from":"a","to":"b"} => message.schema_version => must be 1
{"payload":[],"type":"handoff","from":"a","to":"b"} => message.payload => must be an object
A{"subject":1} => message.payload.subject => must be a string
A{"details":[]} => message.payload.details => must be a string
A{"deps":"t"} => message.payload.deps => array of task ids
A{"deps":["a\nb"]} => message.payload.deps => must match the pattern
U{"status":3} => message.payload.status => must be one of pending, blocked, assigned, in_progress, completed, failed, canceled, done, skipped
U{"note":3} => message.payload.note => must be a string
U{"blocked":"no"} => message.payload.blocked => must be true or false
"#;

#[test]
fn every_rule_names_its_field() {
    let task = |kind: &str, payload: &str| {
        format!(r#"{{"type":"{kind}","from":"a","to":"b","task_id":"t","payload":{payload}}}"#)
    };
    let mut rows = 0;
    for row in REFUSALS.trim().lines() {
        let cells: Vec<&str> = row.split(" => ").collect();
        let [text, field, rule] = cells[..] else {
            panic!("{row}");
        };
        let text = match text.split_at(1) {
            ("A", payload) => task("task_assign", payload),
            ("U", payload) => task("task_update", payload),
            _ => text.replace("LONG", &"x".repeat(129)),
        };
        let error = complete(&text).expect_err(&text);
        assert_eq!(error.field, field, "{text}: {error}");
        assert!(error.rule.contains(rule), "{text}: {error}");
        assert!(error.to_string().starts_with(field), "{error}");
        rows += 1;
    }
    assert_eq!(rows, 32);
}

#[test]
fn a_payload_too_deep_for_an_envelope_is_refused() {
    let deep = format!("{}{}", "[".repeat(63), "]".repeat(63));
    let text = format!(r#"{{"type":"handoff","from":"a","to":"b","payload":{{"x":{deep}}}}}"#);
    assert_eq!(complete(&text).unwrap_err().field, "message");
    let payload = format!(r#"{{"x":{deep}}}"#);
    let envelope = Envelope {
        kind: Some("handoff".into()),
        from: Some("a".into()),
        to: Some("b".into()),
        payload: Some(payload),
        ..Envelope::default()
    };
    assert_eq!(
        envelope.complete(Names::New, now(), 0).unwrap_err().field,
        "message.payload"
    );
}

#[test]
fn imports_may_begin_with_a_dash_only() {
    let import = |from: &str| {
        let envelope = Envelope {
            kind: Some("handoff".into()),
            from: Some(from.into()),
            to: Some("b".into()),
            ..Envelope::default()
        };
        envelope.complete(Names::Imported, now(), 0)
    };
    assert!(import("-a").is_ok());
    assert!(import(".a").is_err());
    assert!(import("..").is_err());
}

#[test]
fn names_of_types_and_priorities_come_back() {
    for kind in MessageType::ALL {
        assert_eq!(MessageType::from_name(kind.name()), Some(kind));
        assert_eq!(MessageType::ALL[kind as usize], kind);
    }
    for priority in Priority::ALL {
        assert_eq!(Priority::from_name(priority.name()), Some(priority));
        assert_eq!(Priority::ALL[priority as usize], priority);
    }
}

#[test]
fn the_facts_of_refusals_carry_what_they_are_about() {
    let message = complete(r#"{"id":"m","type":"handoff","from":"a","to":"b"}"#).unwrap();
    let duplicate = message.duplicate();
    assert_eq!(&*duplicate.kind, "message_duplicate");
    assert_eq!(
        duplicate.payload.as_str(),
        r#"{"message_id":"m","from":"a","to":"b"}"#
    );
    let suppressed = message.suppressed(9).unwrap();
    assert!(
        suppressed
            .payload
            .as_str()
            .ends_with(r#","reason":"cooldown","remaining_seconds":9}"#)
    );
    let ack = MessageAcked {
        message_id: "m".into(),
        agent: "c".into(),
    };
    let rejected = ack.rejected(AckRefused::WrongRecipient, Some("b"));
    assert_eq!(
        rejected.payload.as_str(),
        r#"{"message_id":"m","agent":"c","reason":"wrong_recipient","expected":"b"}"#
    );
    for event in [duplicate, suppressed, rejected, ack.repeated()] {
        assert_eq!(event.refs.get(RefKind::Message), Some("m"));
        let fact = Fact::decode(&recorded(event)).unwrap();
        assert!(matches!(fact, Fact::Message(_)) && fact.sent().is_none());
    }
}

fn imported(text: &str) -> Message {
    let envelope = Envelope::parse(text).unwrap();
    envelope.complete(Names::Imported, now(), 1).unwrap()
}

fn decoded(event: &Event<'_>) -> MessageSent {
    let fact = Fact::decode(event).unwrap();
    fact.sent().unwrap().clone()
}

#[test]
fn what_a_task_cannot_take_is_a_message_all_the_same_and_its_event_says_so() {
    let cases = [
        (
            r#"{"id":"m","type":"task_assign","from":"a","to":"b","payload":{"subject":"s"}}"#,
            r#""not_applied":{"task_id":"no_task_id"}"#,
        ),
        (
            r#"{"id":"m","type":"task_update","from":"a","to":"b","payload":{"status":"parked"}}"#,
            r#""not_applied":{"task_id":"no_task_id"}"#,
        ),
        (
            r#"{"id":"m","type":"task_update","from":"a","to":"b","task_id":"t","payload":{"note":"n","status":"parked"}}"#,
            r#""not_applied":{"status":"unknown_status"}"#,
        ),
    ];
    for (text, says) in cases {
        let message = complete(text).unwrap();
        let event = recorded(message.sent().unwrap());
        assert!(
            event.payload.ends_with(&format!(",{says}}}")),
            "{}",
            event.payload
        );
        assert_eq!(Message::from_event(&event).unwrap(), message);
        let change = decoded(&event).change;
        assert_eq!(change.is_some(), message.task_id.is_some(), "{text}");
        let change = change.unwrap_or_default();
        assert_eq!(change.status, None);
        assert_eq!(change.note.is_some(), text.contains(r#""note""#));
    }
    // An event may have two fields beside its message.
    let message = complete(cases[2].0).unwrap();
    let later = message.created_at.plus_micros(5);
    let event = recorded(message.sent_at(later).unwrap());
    let sent = decoded(&event);
    assert_eq!(
        (sent.sent_at, sent.change.unwrap().note.as_deref()),
        (later, Some("n"))
    );
    assert_eq!(Message::from_event(&event).unwrap(), message);
}

#[test]
fn history_is_taken_whole_where_a_new_message_is_refused() {
    let fields = [
        ("task_assign", "subject", "7"),
        ("task_assign", "details", "[]"),
        ("task_assign", "deps", r#"["a",7]"#),
        ("task_assign", "deps", r#"[""]"#),
        ("task_update", "status", "3"),
        ("task_update", "note", "{}"),
        ("task_update", "blocked", r#""no""#),
    ];
    for (kind, field, value) in fields {
        let text = format!(
            r#"{{"type":"{kind}","from":"a","to":"b","task_id":"t","payload":{{"{field}":{value}}}}}"#
        );
        assert!(complete(&text).is_err(), "{text}");
        let message = imported(&text);
        let found = message.unapplied();
        assert_eq!(
            (&*found[0].field, found[0].reason),
            (field, NotApplied::WrongType)
        );
        let event = recorded(message.sent().unwrap());
        assert_eq!(
            decoded(&event).change,
            Some(crate::event::TaskChange::default()),
            "{text}"
        );
        assert_eq!(Message::from_event(&event).unwrap(), message);
    }
}

#[test]
fn an_event_that_does_not_say_what_was_left_out_must_be_applied_whole() {
    for (kind, rest) in [
        (
            "task_update",
            r#","task_id":"t","payload":{"status":"parked"}"#,
        ),
        ("task_update", r#","payload":{}"#),
    ] {
        let text = format!(r#"{{"type":"{kind}","from":"a","to":"b"{rest}}}"#);
        let mut event = recorded(complete(&text).unwrap().sent().unwrap());
        let start = event.payload.find(",\"not_applied\"").unwrap();
        let unmarked = format!("{}}}", &event.payload[..start]);
        event.payload = unmarked.into();
        assert!(Fact::decode(&event).is_err(), "{text}");
    }
}

#[test]
fn an_empty_trace_id_is_none() {
    let message = complete(r#"{"type":"handoff","from":"a","to":"b","trace_id":""}"#).unwrap();
    assert_eq!(message.trace_id, None);
}

fn any_message() -> impl Strategy<Value = Message> {
    let name = "[A-Za-z0-9_][A-Za-z0-9_-]{0,12}";
    let note = any::<String>();
    (
        "[^\\p{Cc}]{1,20}",
        0..MessageType::ALL.len(),
        (name, name, name),
        prop::option::of("[^\\p{Cc}]{1,20}"),
        0..4usize,
        0i64..4_000_000_000_000_000,
        note,
    )
        .prop_map(|(id, kind, (from, to, task), trace, priority, at, note)| {
            let kind = MessageType::ALL[kind];
            let payload = match kind {
                MessageType::TaskAssign => serde_json::json!({"subject": note, "deps": ["a", "b"]}),
                MessageType::TaskUpdate => {
                    serde_json::json!({"note": note, "status": "done", "progress": 0.5, "eta": null})
                }
                _ => serde_json::json!({"body": note}),
            };
            Message {
                id,
                kind,
                from,
                to,
                task_id: Some(task),
                trace_id: trace,
                priority: Priority::ALL[priority],
                created_at: Timestamp::from_micros(at).unwrap(),
                payload: Json::from_value(&payload).unwrap(),
                extra: Vec::new(),
        actor: None,
            }
        })
}

proptest! {
    #[test]
    fn a_message_comes_back_from_its_event(message in any_message()) {
        prop_assume!(message.validate(Names::New).is_ok());
        let event = recorded(message.sent().unwrap());
        prop_assert_eq!(Message::from_event(&event).unwrap(), message.clone());
        prop_assert_eq!(crate::event::envelope(&event).unwrap(), message.to_json().unwrap().as_str().to_owned());
        let sent = decoded(&event);
        prop_assert_eq!((&sent.id, sent.kind, &sent.from, &sent.to), (&message.id, message.kind, &message.from, &message.to));
        prop_assert_eq!(sent.created_at, message.created_at);
        prop_assert_eq!(sent.envelope(&event).to_owned(), message.to_json().unwrap().into_string());
        prop_assert_eq!(event.refs.get(RefKind::Agent), Some(message.to.as_str()));
        prop_assert_eq!(event.refs.get(RefKind::Trace), message.trace_id.as_deref());
        prop_assert_eq!(&*event.actor, message.from.as_str());
    }
    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>(), payload in any::<String>()) {
        if let Ok(envelope) = Envelope::parse(&text) {
            let _ = envelope.complete(Names::New, now(), 0);
        }
        let mut event = recorded(MessageAcked { message_id: "m".into(), agent: "a".into() }.repeated());
        for kind in ["message_sent", "message_acked", "team_created", "members_added", "unheard_of"] {
            event.kind = kind.into();
            event.payload = payload.clone().into();
            event.refs = Refs::default();
            let error = Fact::decode(&event).unwrap_err();
            let named = match &error {
                crate::Error::Undecodable { seq: 7, kind: named, .. } => named == kind && kind != "unheard_of",
                crate::Error::Engine(teamlog_engine::Error::Newer { seq: 7, kind: named, .. }) => named == "unheard_of",
                _ => false,
            };
            prop_assert!(named, "{}", error);
        }
    }
}

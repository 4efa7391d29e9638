//! Fetches of durable subscriptions as streams of server-sent events.

use super::stand::{Stand, TEAM};
use crate::client::until;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;

/// The frames of a stream.
struct Frames(BufReader<TcpStream>);

/// A frame: name of the event, id and data.
#[derive(Debug, PartialEq)]
struct Frame {
    event: String,
    id: Option<u64>,
    data: Value,
}

impl Frames {
    fn open(stand: &Stand, name: &str, body: &Value) -> Frames {
        let bearer = stand.bearer();
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Accept", "text/event-stream"),
        ];
        let target = format!("/v1/subscriptions/{name}/fetch");
        Frames(BufReader::new(stand.send(
            "POST",
            &target,
            &headers,
            &body.to_string(),
        )))
    }

    /// Returns the next line, or `None` at the end of the stream. Skips the lengths of chunks.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Returns the next frame that is no comment, or `None` at the end of the stream.
    fn next(&mut self) -> Option<Frame> {
        let mut frame = Frame {
            event: "message".to_owned(),
            id: None,
            data: Value::Null,
        };
        let mut other = String::new();
        loop {
            let Some(line) = self.line() else {
                assert!(!other.contains("HTTP/1.1 4"), "{other}");
                return None;
            };
            if let Some(event) = line.strip_prefix("event: ") {
                frame.event = event.to_owned();
            } else if let Some(id) = line.strip_prefix("id: ") {
                frame.id = Some(id.parse().unwrap());
            } else if let Some(data) = line.strip_prefix("data: ") {
                frame.data = serde_json::from_str(data).unwrap();
                return Some(frame);
            } else {
                other += &line;
            }
        }
    }

    #[track_caller]
    fn is(&mut self, event: &str) -> Frame {
        let frame = self.next().unwrap();
        assert_eq!(frame.event, event, "{frame:?}");
        frame
    }
}

/// Creates a subscription of the events of kind `built`.
fn subscribed(stand: Stand, window: u64) -> Stand {
    let body = json!({"name": "w", "kind": "built", "from": "start", "window": window});
    stand
        .with_token("POST", "/v1/subscriptions", &body.to_string())
        .is(200);
    stand
}

fn append(stand: &Stand) -> u64 {
    let body = json!({"kind": "built", "actor": "ci"}).to_string();
    let heard = stand.with_token("POST", "/v1/events", &body);
    heard.is(201).json()["seq"].as_u64().unwrap()
}

fn settle(stand: &Stand, verb: &str, body: &Value) -> u16 {
    let target = format!("/v1/subscriptions/w/{verb}");
    stand.with_token("POST", &target, &body.to_string()).status
}

fn consumer(stand: &Stand) -> Value {
    let shown = stand.with_token("GET", "/v1/subscriptions/w", "").json();
    shown["subscription"]["consumer"].clone()
}

#[test]
fn a_stream_delivers_as_the_window_allows_and_a_closed_connection_ends_the_lease() {
    let stand = subscribed(Stand::new(), 1);
    let first = append(&stand);
    let mut frames = Frames::open(&stand, "w", &json!({"consumer": "one"}));
    let lease = frames.is("lease");
    let epoch = lease.data["epoch"].as_u64().unwrap();
    let event = frames.is("message");
    assert_eq!(event.id, Some(first));
    assert_eq!(
        (&event.data["attempt"], &event.data["epoch"]),
        (&json!(1), &json!(epoch))
    );
    assert_eq!(event.data["event"]["seq"], first);
    assert!(event.data["event"]["sentence"].is_string(), "{event:?}");
    // The window has one event, so the second one follows the ack. A failed event is delivered again.
    let second = append(&stand);
    assert_eq!(
        settle(&stand, "ack", &json!({"epoch": epoch, "seqs": [first]})),
        200
    );
    assert_eq!(frames.is("message").id, Some(second));
    let nak = json!({"epoch": epoch, "seq": second, "delayMs": 1});
    assert_eq!(settle(&stand, "nak", &nak), 200);
    let again = frames.is("message");
    assert_eq!(
        (again.id, &again.data["attempt"]),
        (Some(second), &json!(2))
    );
    assert_eq!(consumer(&stand), "one");
    drop(frames);
    until("the lease is released", || consumer(&stand).is_null());
    let mut next = Frames::open(&stand, "w", &json!({}));
    assert_eq!(next.is("lease").data["epoch"], epoch + 1);
    assert_eq!(next.is("message").id, Some(second));
}

#[test]
fn a_second_stream_waits_and_a_fenced_stream_ends() {
    let stand = subscribed(Stand::timed(&[TEAM], |_| {}), 1);
    let mut one = Frames::open(&stand, "w", &json!({"consumer": "one"}));
    let epoch = one.is("lease").data["epoch"].as_u64().unwrap();
    let mut two = Frames::open(&stand, "w", &json!({"consumer": "two"}));
    assert_eq!(two.is("held").data["consumer"], "one");
    // The second stream looks once more at the lease before it waits.
    std::thread::sleep(std::time::Duration::from_millis(500));
    // The lease ends although the connection is open, as if the daemon had been suspended.
    stand.clock.advance(31_000_000);
    let taken = json!({"consumer": "three", "timeoutMs": 0}).to_string();
    let taken = stand.with_token("POST", "/v1/subscriptions/w/fetch", &taken);
    assert_eq!(taken.json()["epoch"], epoch + 1);
    let last = one.is("fenced");
    assert_eq!(last.data["code"], "subscription_fenced");
    assert_eq!(one.next(), None);
    assert_eq!(settle(&stand, "release", &json!({"epoch": epoch + 1})), 200);
    assert_eq!(two.is("lease").data["epoch"], epoch + 2);
    let seq = append(&stand);
    assert_eq!(two.is("message").id, Some(seq));
    let old = json!({"epoch": epoch, "seqs": [seq]});
    assert_eq!(settle(&stand, "ack", &old), 409);
    // A deleted subscription ends its stream.
    assert_eq!(settle(&stand, "delete", &json!({})), 200);
    assert_eq!(two.is("cut").data["code"], "subscription_not_found");
    assert_eq!(two.next(), None);
}

#[test]
fn a_filter_names_the_actor_by_and_the_concerned_agent_about() {
    let stand = Stand::new();
    let body = json!({"name": "x", "by": "ci", "about": "dev"}).to_string();
    let shown = stand
        .with_token("POST", "/v1/subscriptions", &body)
        .is(200)
        .json();
    let filter = &shown["subscription"]["filter"];
    assert_eq!(
        (&filter["actor"], &filter["agent"]),
        (&json!("ci"), &json!("dev"))
    );
    let heard = stand.with_token(
        "POST",
        "/v1/subscriptions",
        r#"{"name": "y", "agentId": "dev"}"#,
    );
    heard.refused(400, "invalid_input");
}

#[test]
fn an_empty_list_of_events_is_refused() {
    let stand = Stand::new();
    let heard = stand.with_token("POST", "/v1/events", r#"{"events": [], "if_seq": 0}"#);
    let json = heard.refused(400, "invalid_input").json();
    assert_eq!(json["error"]["details"]["field"], "events");
}

#[test]
fn refusals_are_ordinary_answers_and_a_revoked_token_ends_the_stream() {
    let stand = subscribed(Stand::new(), 1);
    let bearer = stand.bearer();
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Accept", "text/event-stream"),
    ];
    let heard = stand.ask("POST", "/v1/subscriptions/x/fetch", &headers, "{}");
    heard.refused(404, "subscription_not_found");
    let heard = stand.ask(
        "POST",
        "/v1/subscriptions/w/fetch",
        &headers,
        r#"{"ttlMs": 1}"#,
    );
    heard.refused(400, "invalid_input");
    let mut frames = Frames::open(&stand, "w", &json!({"consumer": "one"}));
    frames.is("lease");
    stand.rotate();
    frames.is("cut");
    assert_eq!(frames.next(), None);
    until("the lease is released", || consumer(&stand).is_null());
}

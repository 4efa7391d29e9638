//! The answers of a daemon stay valid after this daemon has ended.

use super::stand::{Stand, TEAM};
use crate::client::{Client, Heard};
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

fn keyed(stand: &Stand, key: &str, target: &str, body: &str) -> Heard {
    let line = format!("POST {target}");
    let headers = [("Idempotency-Key", key)];
    Client::tcp(&stand.daemon).call_with(&stand.token(Some(TEAM)), &line, &headers, body)
}

#[test]
fn a_key_is_known_to_the_next_daemon() {
    let stand = Stand::new();
    let first = keyed(&stand, "unique", "/v1/tasks", r#"{"title":"one"}"#);
    let claimed = keyed(&stand, "claim", "/v1/tasks/1/claim", r#"{"agentId":"ada"}"#);
    assert_eq!((first.status, claimed.status), (201, 200));
    let stand = stand.restarted();
    let again = keyed(&stand, "unique", "/v1/tasks", r#"{"title":"one"}"#);
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let again = keyed(&stand, "claim", "/v1/tasks/1/claim", r#"{"agentId":"ada"}"#);
    assert_eq!((again.status, again.body), (200, claimed.body));
    let other = keyed(&stand, "unique", "/v1/tasks", r#"{"title":"two"}"#);
    assert_eq!(other.json()["error"]["code"], "idempotency_key_reused");
    assert_eq!(other.status, 422);
}

/// Opens a stream of the events after `known`.
fn follow(stand: &Stand, known: u64) -> TcpStream {
    let bearer = stand.bearer();
    let known = known.to_string();
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Accept", "text/event-stream"),
        ("Last-Event-ID", &known),
    ];
    stand.send("GET", "/v1/events", &headers, "")
}

/// Returns the seqs that a stream sends, up to `last`.
fn told(stand: &Stand, known: u64, last: u64) -> Vec<u64> {
    let mut stream = follow(stand, known);
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    loop {
        let seqs: Vec<u64> = text
            .lines()
            .filter_map(|line| line.strip_prefix("id: ")?.trim().parse().ok())
            .collect();
        if seqs.last().is_some_and(|seq| *seq >= last) {
            return seqs;
        }
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "the stream ended behind {text}");
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
}

#[test]
fn a_stream_goes_on_under_the_next_daemon_without_gap_or_repetition() {
    let stand = Stand::new();
    for _ in 0..20 {
        stand.with_token("POST", "/v1/tasks", r#"{"title":"one"}"#);
    }
    let head = |stand: &Stand| {
        stand.with_token("GET", "/v1/status", "").json()["last_seq"]
            .as_u64()
            .unwrap()
    };
    let before = head(&stand);
    let mut all = told(&stand, 0, before - 5);
    let known = *all.last().unwrap();
    let stand = stand.restarted();
    for _ in 0..20 {
        stand.with_token("POST", "/v1/tasks", r#"{"title":"two"}"#);
    }
    let last = head(&stand);
    all.extend(told(&stand, known, last));
    all.retain(|seq| *seq <= last);
    assert_eq!(all, (1..=last).collect::<Vec<u64>>());
}

#[test]
fn a_stream_ends_with_its_token_and_goes_on_under_the_next_one() {
    let stand = Stand::new();
    let make = || {
        for _ in 0..20 {
            stand.with_token("POST", "/v1/tasks", r#"{"title":"one"}"#);
        }
    };
    let mut stream = follow(&stand, 0);
    make();
    stand.rotate();
    // The timeout is shorter than the interval of heartbeats, so that the test ends if no event arrives.
    let deadline = Duration::from_secs(10);
    stream.set_read_timeout(Some(deadline)).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("\r\n0\r\n\r\n"), "{text}");
    assert!(
        text.contains("event: cut\ndata: {\"why\":\"the token was revoked or has expired\"}"),
        "{text}"
    );
    let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    let mut all: Vec<u64> = ids.map(|seq| seq.trim().parse().unwrap()).collect();
    make();
    let status = stand.with_token("GET", "/v1/status", "").json();
    let last = status["last_seq"].as_u64().unwrap();
    all.extend(told(&stand, all.last().copied().unwrap_or(0), last));
    assert_eq!(all, (1..=last).collect::<Vec<u64>>());
}

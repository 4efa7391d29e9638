//! Calls that wait for an event: their duration, and other calls meanwhile.

use super::stand::Stand;
use crate::client::until;
use std::io::Read;
use std::time::{Duration, Instant};

const AWAIT: &str = "/v1/api/await-event";

fn awaiting(stand: &Stand) -> u64 {
    let numbers = stand.with_token("GET", "/metrics", "").body;
    let line = numbers
        .lines()
        .find_map(|line| line.strip_prefix("teamlog_calls_awaiting "));
    line.unwrap().parse().unwrap()
}

fn ask(stand: &Stand, body: &str) -> std::net::TcpStream {
    let bearer = stand.bearer();
    stand.send("POST", AWAIT, &[("Authorization", &bearer)], body)
}

#[test]
fn nobody_waits_for_longer_than_the_daemon_allows() {
    let stand = Stand::new();
    for odd in [
        r#"{"timeout_ms": 300001}"#,
        r#"{"timeout_ms": 18446744073709551615}"#,
    ] {
        let heard = stand.with_token("POST", AWAIT, odd);
        let json = heard.refused(400, "invalid_input").json();
        assert_eq!(json["error"]["details"]["field"], "timeout_ms", "{json}");
        let message = json["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("timeout_ms must be at most 300000, but is "),
            "{message}"
        );
    }
    let heard = stand.with_token("POST", AWAIT, r#"{"timeout_ms": 300}"#);
    assert_eq!(heard.status, 200);
    assert_eq!(heard.json()["data"]["status"], "timeout");
    // The default wait is limited to the maximum wait.
    let stand = Stand::within(|limits| limits.wait_time = Duration::from_millis(300));
    let heard = stand.with_token("POST", AWAIT, r#"{"timeout_ms": 301}"#);
    assert_eq!(heard.status, 400);
    let since = Instant::now();
    assert_eq!(stand.with_token("POST", AWAIT, "").status, 200);
    assert!(since.elapsed() < Duration::from_secs(10));
}

#[test]
fn whoever_hangs_up_leaves_a_place_to_the_next() {
    let stand = Stand::within(|limits| limits.waits = 1);
    for _ in 0..3 {
        let gone = ask(&stand, r#"{"timeout_ms": 300000}"#);
        until("it waits", || awaiting(&stand) == 1);
        assert_eq!(stand.with_token("POST", AWAIT, "").status, 503);
        drop(gone);
        until("its place is free", || awaiting(&stand) == 0);
    }
    // Pass a cursor to the wait. The call counts as waiting shortly before it reads the end of the log, and without a
    // cursor it would miss an event in between.
    let known = stand
        .with_token("POST", AWAIT, r#"{"timeout_ms": 0}"#)
        .json();
    let known = known["data"]["cursor"].as_str().unwrap();
    let wait = format!(r#"{{"timeout_ms": 300000, "after_event_id": "{known}"}}"#);
    let mut stays = ask(&stand, &wait);
    until("it waits", || awaiting(&stand) == 1);
    stand.with_token("POST", "/v1/tasks", r#"{"title":"one"}"#);
    stand.with_token("POST", "/v1/tasks/1/claim", r#"{"agentId":"ada"}"#);
    stand.with_token("POST", "/v1/tasks/1/complete", r#"{"epoch":1}"#);
    let mut text = String::new();
    stays.read_to_string(&mut text).unwrap();
    assert!(text.contains(r#""status":"event""#), "{text}");
}

//! Recorded exchanges: requests of other clients of the protocol, byte for byte, and the expected answers.
//!
//! A file contains several exchanges, separated by `---`. An answer must have the recorded fields and may have more.
//! `"*"` matches any value.

use super::stand::{Stand, TEAM};
use serde_json::Value;
use std::path::Path;

struct Exchange {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: String,
    status: u16,
    answer: Value,
}

impl Exchange {
    fn read(text: &str) -> Exchange {
        let (request, answer) = text.split_once("\nHTTP/1.1 ").expect("an answer");
        let (head, body) = request.split_once("\n\n").unwrap_or((request, ""));
        let mut lines = head.lines();
        let (method, target) = lines
            .next()
            .and_then(|line| line.split_once(' '))
            .expect("a request line");
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(": ").expect("a header");
            (name.to_owned(), value.to_owned())
        });
        let (status, answer) = answer.split_once('\n').expect("a status");
        Exchange {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers.collect(),
            body: body.trim_end().to_owned(),
            status: status.trim().parse().expect("a status"),
            answer: serde_json::from_str(answer)
                .unwrap_or_else(|error| panic!("{error}: {answer}")),
        }
    }
}

/// Returns true if `found` has every value that `least` contains.
fn covers(found: &Value, least: &Value) -> bool {
    match (found, least) {
        (_, Value::String(any)) if any == "*" => true,
        (Value::Object(found), Value::Object(least)) => least
            .iter()
            .all(|(name, least)| found.get(name).is_some_and(|found| covers(found, least))),
        (Value::Array(found), Value::Array(least)) => {
            found.len() == least.len()
                && found
                    .iter()
                    .zip(least)
                    .all(|(found, least)| covers(found, least))
        }
        (found, least) => found == least,
    }
}

#[test]
fn every_exchange_goes_as_it_is_recorded() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/http/exchanges");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let stand = Stand::new();
        let token = stand.token(Some(TEAM));
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, text) in text.split("\n---\n").enumerate() {
            let place = format!("{} {}", file.display(), number + 1);
            let exchange = Exchange::read(text.trim());
            let headers: Vec<(&str, String)> = exchange
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.replace("TOKEN", &token)))
                .collect();
            let headers: Vec<(&str, &str)> = headers
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            let heard = stand.ask(&exchange.method, &exchange.target, &headers, &exchange.body);
            assert_eq!(heard.status, exchange.status, "{place}: {heard:?}");
            assert!(
                covers(&heard.json(), &exchange.answer),
                "{place}: {}",
                heard.body
            );
        }
    }
}

#[test]
fn what_is_not_there_is_not_covered() {
    let json = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    assert!(covers(
        &json(r#"{"a":1,"b":[{"c":2,"d":3}]}"#),
        &json(r#"{"b":[{"c":2}],"a":"*"}"#)
    ));
    for least in [
        r#"{"c":"*"}"#,
        r#"{"a":2}"#,
        r#"{"b":[]}"#,
        r#"{"b":[{"c":3}]}"#,
    ] {
        assert!(
            !covers(&json(r#"{"a":1,"b":[{"c":2}]}"#), &json(least)),
            "{least}"
        );
    }
}

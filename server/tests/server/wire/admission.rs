//! Admission: the conditions for a request, the order of the checks, and the resulting call.

use super::stand::Stand;
use crate::client::{Client, address};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn only_the_names_of_the_loopback_and_the_right_port_are_hosts() {
    let (_stand, daemon, _) = Stand::demo();
    let port = address(&daemon).port();
    let cases = [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("LocalHost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        ("127.0.0.1".to_owned(), 421),
        (format!("127.0.0.1:{}", port ^ 1), 421),
        (format!("127.0.0.1:0{port}"), 421),
        (format!("127.0.0.1:{port} "), 200),
        (format!("127.0.0.2:{port}"), 421),
        (format!("0.0.0.0:{port}"), 421),
        (format!("evil.example:{port}"), 421),
        (format!("localhost.evil.example:{port}"), 421),
        (format!("localhost.:{port}"), 421),
        (format!("user@localhost:{port}"), 421),
        (format!("127.0.0.1:{port}@evil.example"), 421),
        (format!("127.0.0.1:{port}, evil.example"), 421),
        (String::new(), 421),
    ];
    for (host, status) in cases {
        let mut client = Client::tcp(&daemon);
        client.say(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
        let answer = client.hear().unwrap();
        assert_eq!(answer.status, status, "{host:?}");
        if status == 421 {
            assert_eq!(answer.code(), "misdirected");
        }
    }
}

#[test]
fn only_the_daemons_own_pages_are_origins() {
    let (stand, daemon, _) = Stand::demo();
    let (port, token) = (address(&daemon).port(), stand.token("demo"));
    let cases = [
        (format!("http://127.0.0.1:{port}"), 200),
        (format!("http://localhost:{port}"), 200),
        (format!("http://[::1]:{port}"), 200),
        (format!("https://127.0.0.1:{port}"), 403),
        (format!("http://127.0.0.1:{port}/"), 403),
        (format!("http://127.0.0.1:{}", port ^ 1), 403),
        ("http://127.0.0.1".to_owned(), 403),
        ("null".to_owned(), 403),
        ("file://".to_owned(), 403),
        ("http://evil.example".to_owned(), 403),
        ("chrome-extension://abcdefgh".to_owned(), 403),
        (String::new(), 403),
    ];
    for (origin, status) in cases {
        for path in ["/healthz", "/", "/v1/x"] {
            let mut client = Client::tcp(&daemon);
            let bearer = format!("Bearer {token}");
            let headers = [("Origin", origin.as_str()), ("Authorization", &bearer)];
            let answer = client.ask(&format!("GET {path}"), &headers, "");
            assert_eq!(answer.status, status, "{origin:?} {path}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
}

#[test]
fn a_call_wants_the_token_of_a_team_whichever_path_it_names() {
    let stand = Stand::new(&["demo", "other"]);
    let daemon = stand.serve_within(|limits| limits.guess_delay = Duration::ZERO);
    let (demo, other) = (stand.token("demo"), stand.token("other"));
    assert_ne!(demo, other);
    let longer = format!("{demo}0");
    let cases = [
        (Some(format!("Bearer {demo}")), Some("demo")),
        (Some(format!("bearer {demo}")), Some("demo")),
        (Some(format!("Bearer   {demo} ")), Some("demo")),
        (Some(format!("Bearer {other}")), Some("other")),
        (None, None),
        (Some(String::new()), None),
        (Some("Bearer".to_owned()), None),
        (Some("Bearer ".to_owned()), None),
        (Some(demo.clone()), None),
        (Some(format!("Basic {demo}")), None),
        (Some(format!("Bearer{demo}")), None),
        (Some(format!("Bearer {longer}")), None),
        (Some(format!("Bearer {}", &demo[..63])), None),
        (Some(format!("Bearer {}", demo.to_uppercase())), None),
        (Some(format!("Bearer {demo} extra")), None),
        (Some(format!("Bearer {}", "0".repeat(64))), None),
    ];
    for (authorization, team) in cases {
        for path in ["/v1/tasks", "/v1/nothing", "/nothing", "//", "/metrics"] {
            let mut client = Client::tcp(&daemon);
            let headers: Vec<_> = authorization
                .iter()
                .map(|value| ("Authorization", value.as_str()))
                .collect();
            let answer = client.ask(&format!("GET {path}"), &headers, "");
            match team {
                Some(_) if path == "/metrics" => assert_eq!(answer.status, 200),
                Some(team) => assert_eq!(answer.json()["team"], team, "{authorization:?}"),
                None => {
                    assert_eq!(answer.status, 401, "{authorization:?} {path}");
                    assert_eq!(answer.code(), "unauthorized");
                    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
                }
            }
        }
    }
    let twice = format!("Bearer {demo}\r\nAuthorization: Bearer {demo}");
    let answer = Client::tcp(&daemon).ask("GET /v1/x", &[("Authorization", &twice)], "");
    assert_eq!(answer.status, 401);
    let in_the_url = format!("GET /v1/x?token={demo}&access_token={demo}");
    assert_eq!(Client::tcp(&daemon).ask(&in_the_url, &[], "").status, 401);
}

#[test]
fn many_wrong_tokens_slow_down_wrong_tokens_only() {
    let stand = Stand::new(&["demo"]);
    // Delay of answers. This delay is much longer than an answer takes on a busy machine.
    const DELAY: Duration = Duration::from_secs(2);
    let daemon = stand.serve_within(|limits| {
        limits.guesses = 3;
        limits.guess_delay = DELAY;
    });
    let token = stand.token("demo");
    let mut times = Vec::new();
    let mut client = Client::tcp(&daemon);
    // The fourth wrong token is delayed, unless a new second of the daemon's counter starts.
    while times.last().is_none_or(|took| *took < DELAY) {
        assert!(times.len() < 20, "{times:?}");
        let since = Instant::now();
        assert_eq!(client.call("wrong", "GET /v1/x", "").status, 401);
        times.push(since.elapsed());
    }
    assert!(times.len() > 3, "{times:?}");
    let mut guessers: Vec<_> = (0..5).map(|_| Client::tcp(&daemon)).collect();
    for guesser in &mut guessers {
        guesser.begin("wrong", "GET /v1/x", "");
    }
    let since = Instant::now();
    assert_eq!(client.call(&token, "GET /v1/x", "").status, 200);
    assert!(since.elapsed() < DELAY);
}

#[test]
fn a_body_is_json_or_says_nothing_of_itself() {
    let (stand, daemon, _) = Stand::demo();
    let bearer = format!("Bearer {}", stand.token("demo"));
    for line in "
         -> 200
        Content-Type: application/json -> 200
        Content-Type: Application/JSON; charset=utf-8 -> 200
        Content-Type: text/plain -> 415
        Content-Type: application/x-www-form-urlencoded -> 415
        Content-Type: multipart/form-data; boundary=application/json -> 415
        Content-Type:  -> 415
        Content-Type: application/json | Content-Type: text/plain -> 415
        Content-Encoding: gzip -> 415
        Content-Encoding: identity -> 200
        "
    .lines()
    .filter(|line| line.contains("->"))
    {
        let (given, status) = line.split_once(" -> ").unwrap();
        let given = given
            .split(" | ")
            .filter_map(|one| one.trim_start().split_once(": "));
        let headers: Vec<_> = [("Authorization", bearer.as_str())]
            .into_iter()
            .chain(given)
            .collect();
        let answer = Client::tcp(&daemon).ask("POST /v1/x", &headers, "{}");
        assert_eq!(answer.status.to_string(), status, "{line}");
    }
}

#[test]
fn what_is_checked_first_answers_first() {
    let (stand, daemon, _) = Stand::demo_within(|limits| limits.body_bytes = 10);
    let (host, token) = (address(&daemon).to_string(), stand.token("demo"));
    // At first, every part of the request is wrong. Then the faults are corrected one after another.
    let mut wrong = [
        ("Host: evil.example", format!("Host: {host}"), 421),
        ("Origin: null", String::new(), 403),
        ("Content-Type: text/plain", String::new(), 415),
        (
            "Authorization: Bearer x",
            format!("Authorization: Bearer {token}"),
            401,
        ),
        ("Content-Length: 11", "Content-Length: 0".to_owned(), 413),
    ];
    let mut right: Vec<String> = Vec::new();
    for number in 0..=wrong.len() {
        let mut request = "POST /v1/%zz HTTP/1.1\r\n".to_owned();
        for line in &right {
            request += line;
        }
        for (line, _, _) in &wrong[number..] {
            request += &format!("{line}\r\n");
        }
        request += "\r\n";
        let mut client = Client::tcp(&daemon);
        client.say(request.as_bytes());
        let expected = wrong.get(number).map_or(400, |(_, _, status)| *status);
        assert_eq!(client.hear().unwrap().status, expected, "{request}");
        if let Some((_, mended, _)) = wrong.get_mut(number)
            && !mended.is_empty()
        {
            right.push(format!("{mended}\r\n"));
        }
    }
    assert_eq!(stand.calls(), 0);
}

#[test]
fn a_call_is_what_was_asked() {
    let (_stand, daemon, token) = Stand::demo();
    let mut client = Client::tcp(&daemon);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{trace}-00f067aa0ba902b7-01");
    let headers = [
        ("Idempotency-Key", "k-1"),
        ("traceparent", &*parent),
        ("Last-Event-ID", "17"),
        ("Accept", "application/json, text/event-stream; q=0.9"),
    ];
    let answer = client.call_with(&token, "GET /v1/tasks/..%2Fx?a=1&a=%26", &headers, "");
    let expected = json!({
        "method": "GET",
        "path": ["v1", "tasks", "../x"],
        "query": [["a", "1"], ["a", "&"]],
        "team": "demo",
        "key": "k-1",
        "trace": trace,
        "last": "17",
        "stream": true,
        "body": "",
    });
    assert_eq!(answer.json(), expected);
    let headers = [
        ("Idempotency-Key", ""),
        ("X-Trace-Id", "own"),
        ("traceparent", &*parent),
    ];
    let answer = client
        .call_with(&token, "POST /v1/x/", &headers, "{\"ä\":1}")
        .json();
    assert_eq!(answer["path"], json!(["v1", "x", ""]));
    assert_eq!(answer["body"], "{\"ä\":1}");
    assert_eq!(answer["key"], json!(null));
    assert_eq!(answer["trace"], "own");
    // Empty headers count as absent.
    let headers = [("X-Trace-Id", ""), ("traceparent", &*parent)];
    let answer = client.call_with(&token, "POST /v1/x", &headers, "").json();
    assert_eq!(answer["trace"], trace);
    for (accept, stream) in [
        ("text/event-stream;q=0, application/json", false),
        ("text/event-stream; q=0.000", false),
        ("Text/Event-Stream;charset=utf-8;q=0.1", true),
        ("text/*", false),
    ] {
        let headers = [("Accept", accept)];
        let answer = client.call_with(&token, "GET /v1/x", &headers, "").json();
        assert_eq!(answer["stream"], stream, "{accept}");
    }
    for broken in ["00-0", "00-00000000000000000000000000000000-1-1", "x"] {
        let headers = [("traceparent", broken)];
        assert_eq!(
            client.call_with(&token, "GET /v1/x", &headers, "").json()["trace"],
            json!(null)
        );
    }
    let twice = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")];
    let refused = client.call_with(&token, "POST /v1/x", &twice, "");
    assert_eq!(refused.code(), "invalid_input");
    let error = &refused.json()["error"];
    assert_eq!(error["details"]["field"], "Idempotency-Key");
    assert_eq!(error["message"], "Idempotency-Key must be given once");
}

#[test]
fn heads_of_answers_are_answers_without_a_body() {
    let (stand, daemon, _) = Stand::demo();
    let mut client = Client::tcp(&daemon);
    let request = format!(
        "HEAD /v1/x HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        address(&daemon),
        stand.token("demo")
    );
    client.say(request.as_bytes());
    let text = String::from_utf8(client.rest()).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    assert!(text.ends_with("\r\n\r\n"), "{text}");
}

#[test]
fn every_answer_says_how_it_may_be_used() {
    let (_stand, daemon, token) = Stand::demo();
    for path in ["/", "/healthz", "/readyz", "/v1/x", "/nothing"] {
        for token in [token.as_str(), "wrong"] {
            let answer = Client::tcp(&daemon).call(token, &format!("GET {path}"), "");
            assert_eq!(
                answer.header("x-content-type-options"),
                Some("nosniff"),
                "{path}"
            );
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
            assert_eq!(answer.header("set-cookie"), None);
        }
    }
    let page = Client::tcp(&daemon).get("/");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(
        page.header("cross-origin-opener-policy"),
        Some("same-origin")
    );
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert!(!page.body.contains(&token));
    let mut head = Client::tcp(&daemon);
    head.send("HEAD /", &[("Connection", "close")], "");
    let head = String::from_utf8(head.rest()).unwrap();
    assert!(
        head.contains(&format!("content-length: {}\r\n", page.body.len())),
        "{head}"
    );
    assert!(head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn a_method_that_a_page_does_not_have_is_named_with_those_that_it_has() {
    let (stand, daemon, _) = Stand::demo();
    for path in ["/", "/healthz", "/readyz", "/metrics"] {
        let answer = Client::tcp(&daemon).ask(&format!("POST {path}"), &[], "");
        assert_eq!(answer.status, 405, "{path}");
        assert_eq!(answer.code(), "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
    for (target, allow) in [
        ("/healthz", "GET, HEAD"),
        ("/v1/tasks", "GET, HEAD, POST"),
        ("/v1/tasks/1", "GET, HEAD"),
        ("/v1/tasks/1/claim?x=1", "POST"),
        ("/v1/api/read-task", "POST"),
        ("/v1/nothing", ""),
    ] {
        let mut client = Client::tcp(&daemon);
        let answer = client.call(&stand.token("demo"), &format!("DELETE {target}"), "");
        let told = (answer.status, answer.code());
        assert_eq!(told, (405, "method_not_allowed".to_owned()), "{target}");
        assert_eq!(answer.header("allow"), Some(allow), "{target}");
        assert!(client.is_over(), "{target}");
    }
    let answer = Client::unix(&daemon).ask("DELETE /control/stop", &[], "");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
}

#[test]
fn a_call_that_fails_in_the_daemon_takes_nothing_with_it() {
    let (_stand, daemon, token) = Stand::demo_within(|limits| limits.workers = 1);
    let mut client = Client::tcp(&daemon);
    let answer = client.call(&token, "GET /v1/panic", "");
    answer.refused(500, "internal");
    assert_eq!(client.call(&token, "GET /v1/x", "").status, 200);
}

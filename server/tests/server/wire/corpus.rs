//! Valid and invalid requests as bytes, with the expected results, as `corpus.txt` lists them.

use super::stand::Stand;
use crate::client::{Client, address, until};
use crate::documented;
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};
use std::net::Shutdown;
use std::net::TcpStream;
use std::sync::LazyLock;
use teamlog_server::Daemon;
use teamlog_server::route::CODES;

struct Case {
    name: String,
    bytes: Vec<u8>,
    statuses: Vec<u16>,
    calls: usize,
    closed: bool,
}

fn cases(host: &str, token: &str) -> Vec<Case> {
    let text = include_str!("corpus.txt");
    let mut cases = Vec::new();
    for block in text.split("\n== ").skip(1) {
        let (name, rest) = block.split_once('\n').unwrap();
        let (lines, end) = rest.split_once("\n-> ").unwrap();
        let mut bytes = Vec::new();
        for line in lines.lines() {
            let line = line.replace("{host}", host).replace("{token}", token);
            match line.strip_prefix('*').and_then(|rest| rest.split_once(' ')) {
                Some((times, line)) => {
                    let times = times.parse().unwrap();
                    bytes.extend(plain(line).repeat(times));
                }
                None => bytes.extend(plain(&line)),
            }
        }
        let mut end = end.trim().split(", ");
        let statuses = statuses(end.next().unwrap());
        let calls = end.next().unwrap().strip_suffix(" calls").unwrap();
        cases.push(Case {
            name: name.to_owned(),
            bytes,
            statuses,
            calls: calls.parse().unwrap(),
            closed: match end.next().unwrap() {
                "closed" => true,
                "open" => false,
                other => panic!("{name}: {other}"),
            },
        });
    }
    cases
}

fn statuses(text: &str) -> Vec<u16> {
    let mut statuses = Vec::new();
    for status in text.trim_matches(',').split_whitespace() {
        let (status, times) = status.split_once('*').unwrap_or((status, "1"));
        let times: usize = times.parse().unwrap();
        statuses.extend(vec![status.parse::<u16>().unwrap(); times]);
    }
    statuses
}

fn plain(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            bytes.extend(next.to_string().into_bytes());
            continue;
        }
        match rest.next().unwrap() {
            'r' => bytes.push(b'\r'),
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'x' => {
                let digits: String = rest.by_ref().take(2).collect();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap());
            }
            other => panic!("\\{other}"),
        }
    }
    bytes
}

/// Returns method and target of the first request line, or empty texts if it cannot be read.
fn first_line(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes);
    let line = text.trim_start().lines().next().unwrap_or_default();
    let mut words = line.split(' ').map(str::to_owned);
    (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    )
}

/// Returns true if the connection still answers a request.
fn is_open(client: &mut Client<TcpStream>, host: &str) -> bool {
    client.say(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
    let answer = client.hear();
    assert!(answer.as_ref().is_none_or(|answer| answer.status == 200));
    answer.is_some()
}

fn run(step: usize) {
    let (stand, daemon, _) = Stand::demo();
    let host = address(&daemon).to_string();
    let cases = cases(&host, &stand.token("demo"));
    assert!(cases.len() > 50, "{}", cases.len());
    for case in cases {
        let before = stand.calls();
        let mut client = Client::tcp(&daemon);
        for piece in case.bytes.chunks(step) {
            client.say(piece);
        }
        let mut heard = Vec::new();
        for expected in &case.statuses {
            let Some(answer) = client.hear() else { break };
            heard.push(answer.status);
            assert_eq!(answer.status, *expected, "{}: {answer:?}", case.name);
            // Skip later answers without a body.
            if answer.status >= 400 && (heard.len() == 1 || !answer.body.is_empty()) {
                let (code, status) = (answer.code(), answer.status);
                let known = CODES
                    .iter()
                    .any(|row| row.code == code && row.status == status);
                assert!(known, "{}: {answer:?}", case.name);
                let (method, target) = first_line(&case.bytes);
                documented::check(&method, &target, status, &answer.json());
            }
        }
        assert_eq!(heard, case.statuses, "{}", case.name);
        assert_eq!(!is_open(&mut client, &host), case.closed, "{}", case.name);
        assert_eq!(stand.calls() - before, case.calls, "{}", case.name);
        let _ = client.stream.shutdown(Shutdown::Both);
    }
    assert!(daemon.stop());
}

#[test]
fn every_request_becomes_what_the_corpus_says() {
    run(usize::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_the_daemon_answers_the_next_one(
        cut in 0usize..400,
        changes in proptest::collection::vec((0usize..400, any::<u8>()), 0..6),
        noise in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let (stand, daemon) = &*SHARED;
        let (host, token) = (address(daemon).to_string(), stand.token("demo"));
        let mut bytes = format!(
            "POST /v1/x HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Length: 2\r\n\r\n{{}}\
             POST /v1/y HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n\
             2\r\n{{}}\r\n0\r\n\r\n"
        )
        .into_bytes();
        for (place, byte) in changes {
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        let cut = cut.min(bytes.len());
        bytes.splice(cut..cut, noise);
        let mut client = Client::tcp(daemon);
        client.say(&bytes);
        let _ = client.stream.shutdown(Shutdown::Write);
        let told = String::from_utf8_lossy(&client.rest()).into_owned();
        for line in told.lines().filter(|line| line.starts_with("HTTP/1.1 ")) {
            prop_assert!(!line.starts_with("HTTP/1.1 5"), "{told}");
        }
        // The daemon disconnects a client that is delayed for longer than the time limit of a head. The client then
        // tries again.
        until("the next one is answered", || {
            let mut next = Client::tcp(daemon);
            next.send("GET /healthz", &[], "");
            next.hear().is_some_and(|answer| answer.status == 200)
        });
    }
}

/// The daemon that all cases share.
static SHARED: LazyLock<(Stand, Daemon)> = LazyLock::new(|| {
    let stand = Stand::new(&["demo"]);
    let daemon = stand.serve_within(|limits| {
        limits.guess_delay = std::time::Duration::ZERO;
        limits.head_time = std::time::Duration::from_millis(100);
        limits.body_time = std::time::Duration::from_millis(100);
    });
    (stand, daemon)
});

#[test]
fn it_does_not_matter_how_the_bytes_are_cut() {
    run(997);
}

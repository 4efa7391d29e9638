//! Requests as bytes, good and bad, and what becomes of them: data in `corpus.txt`.

use crate::stand::{Client, Stand, address};
use std::net::Shutdown;
use std::net::TcpStream;
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

/// Whether the connection is still good for a request.
fn is_open(client: &mut Client<TcpStream>, host: &str) -> bool {
    client.say(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
    let answer = client.hear();
    assert!(answer.as_ref().is_none_or(|answer| answer.status == 200));
    answer.is_some()
}

fn run(step: usize) {
    let stand = Stand::new(&["demo"]);
    let daemon = stand.serve();
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
            if answer.status >= 400 {
                let (code, status) = (answer.code(), answer.status);
                let known = CODES
                    .iter()
                    .any(|row| row.code == code && row.status == status);
                assert!(known, "{}: {answer:?}", case.name);
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

#[test]
fn it_does_not_matter_how_the_bytes_are_cut() {
    run(997);
}

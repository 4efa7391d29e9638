//! Clients that are too slow, send too much, or are too many.

use super::stand::Stand;
use crate::client::{Client, address, until};
use std::io::Write;
use std::time::{Duration, Instant};
use teamlog_server::Limits;

const SHORT: Duration = Duration::from_millis(200);
/// Time limit for short work on a busy machine. This limit is shorter than the default limits.
const SOON: Duration = Duration::from_millis(4900);

fn since<T>(what: impl FnOnce() -> T) -> (T, Duration) {
    let since = Instant::now();
    (what(), since.elapsed())
}

#[track_caller]
fn was_cut_after(limit: Duration, took: Duration) {
    assert!(
        took >= limit - Duration::from_millis(20) && took < SOON,
        "{took:?}"
    );
}

#[test]
fn a_head_that_trickles_is_cut() {
    let (_stand, daemon, _) = Stand::demo_within(|limits| limits.head_time = SHORT);
    // The time limit of the daemon starts after the measurement of `since`, even if this thread is delayed.
    let (over, took) = since(|| Client::tcp(&daemon).is_over());
    assert!(over);
    was_cut_after(SHORT, took);
    let began = Instant::now();
    let mut slow = Client::tcp(&daemon);
    let mut writing = slow.stream.try_clone().unwrap();
    std::thread::spawn(move || {
        for byte in b"GET /healthz HTTP/1.1\r\nX: "
            .iter()
            .chain([b'y'; 200].iter())
        {
            if writing.write_all(&[*byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(slow.is_over());
    was_cut_after(SHORT, began.elapsed());
}

#[test]
fn a_body_that_trickles_is_answered_and_cut() {
    let (stand, daemon, _) = Stand::demo_within(|limits| limits.body_time = SHORT);
    let mut client = Client::tcp(&daemon);
    let request = format!(
        "POST /v1/x HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: 10\r\n\r\n{{",
        address(&daemon),
        stand.token("demo")
    );
    let (answer, took) = since(|| {
        client.say(request.as_bytes());
        client.hear().unwrap()
    });
    answer.refused(408, "request_timeout");
    was_cut_after(SHORT, took);
    assert!(client.is_over());
    assert_eq!(stand.calls(), 0);
}

#[test]
fn a_client_that_reads_nothing_is_cut() {
    let (stand, daemon, _) = Stand::demo_within(|limits| limits.stall_time = SHORT);
    let (mut client, mut other) = (Client::tcp(&daemon), Client::tcp(&daemon));
    assert_eq!(client.get("/healthz").status, 200);
    let open = || connections(&stand, &daemon);
    until("both are connected", || {
        assert_eq!(other.get("/healthz").status, 200);
        open() == 3
    });
    client.begin(&stand.token("demo"), "GET /v1/large/50000000", "");
    until("the one that reads nothing is cut", || {
        assert_eq!(other.get("/healthz").status, 200);
        open() == 2
    });
    assert!(client.rest().len() < 50_000_000);
}

#[test]
fn a_client_that_reads_slowly_gets_all_of_it() {
    let (stand, daemon, _) =
        Stand::demo_within(|limits| limits.stall_time = Duration::from_secs(5));
    let mut client = Client::tcp(&daemon);
    let bearer = format!("Bearer {}", stand.token("demo"));
    client.send("GET /v1/large/20000000", &[("Authorization", &bearer)], "");
    until("it is answered", || stand.calls() == 1);
    let answer = client.hear().unwrap();
    assert_eq!(answer.body.len(), 20_000_000);
}

#[test]
fn a_connection_without_a_request_is_closed_after_a_while() {
    let idle = Duration::from_secs(2);
    let (stand, daemon, _) = Stand::demo_within(|limits| limits.idle_time = idle);
    let mut client = Client::tcp(&daemon);
    for _ in 0..3 {
        assert_eq!(client.get("/healthz").status, 200);
        std::thread::sleep(idle / 10);
    }
    let (over, took) = since(|| client.is_over());
    assert!(over && took < idle + SOON, "{took:?}");
    // A connection whose request is being answered is not idle.
    let token = stand.token("demo");
    let answer = Client::tcp(&daemon).call(&token, "GET /v1/slow/3000", "");
    assert_eq!(answer.status, 200);
}

#[test]
fn one_connection_too_many_is_told_so_at_once_and_may_come_back() {
    let (_stand, daemon, token) = Stand::demo_within(|limits| limits.connections = 3);
    let mut held: Vec<_> = (0..3).map(|_| Client::tcp(&daemon)).collect();
    for (client, path) in held.iter_mut().zip(["/v1/x", "/metrics", "/readyz"]) {
        // Wait, because a daemon needs some time after its start until it is ready.
        until(path, || {
            client.call(&token, &format!("GET {path}"), "").status == 200
        });
    }
    let (answer, took) = since(|| Client::tcp(&daemon).get("/healthz"));
    answer.refused(503, "busy");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(took < SOON, "{took:?}");
    // TCP connections do not block the command line, which uses the Unix socket.
    assert_eq!(Client::unix(&daemon).get("/healthz").status, 200);
    assert_eq!(held[0].get("/healthz").status, 200);
    held.pop();
    until("there is a place again", || {
        Client::tcp(&daemon).get("/healthz").status == 200
    });
}

#[test]
fn whoever_has_a_token_finds_a_place_among_any_number_who_have_none() {
    // Set a long timeout, so that no slot becomes free.
    let (_stand, daemon, token) =
        Stand::demo_within(|limits| limits.head_time = Duration::from_secs(3600));
    let mut known = Client::tcp(&daemon);
    assert_eq!(known.call(&token, "GET /v1/x", "").status, 200);
    let mut unauthenticated: Vec<_> = (0..600).map(|_| Client::tcp(&daemon)).collect();
    for stranger in &mut unauthenticated[300..] {
        stranger.say(b"GET /v1/x HTTP/1.1\r\n");
    }
    for _ in 0..20 {
        let answer = Client::tcp(&daemon).call(&token, "GET /v1/x", "");
        assert_eq!(answer.status, 200);
    }
    assert_eq!(known.call(&token, "GET /v1/x", "").status, 200);
    assert!(unauthenticated[0].is_over());
    let numbers = Client::unix(&daemon).get("/metrics").body;
    let of = |series: &str| super::numbers::value(&numbers, series);
    assert!(of("teamlog_connections{via=\"tcp\"}") <= 512);
    assert!(of("teamlog_connections_displaced_total") >= 89, "{numbers}");
    assert_eq!(of("teamlog_connections_turned_away_total"), 0);
}

#[test]
fn who_has_asked_nothing_for_the_longest_time_goes_first() {
    let (_stand, daemon, _) = Stand::demo_within(|limits| limits.connections = 3);
    let mut unauthenticated: Vec<_> = (0..3).map(|_| Client::tcp(&daemon)).collect();
    for at in [0, 1, 2, 0] {
        assert_eq!(unauthenticated[at].get("/healthz").status, 200);
    }
    let mut guesser = Client::tcp(&daemon);
    assert_eq!(guesser.call("wrong", "GET /v1/x", "").status, 401);
    assert!(unauthenticated[1].is_over());
    assert_eq!(unauthenticated[0].get("/healthz").status, 200);
    let mut last = Client::tcp(&daemon);
    assert_eq!(last.get("/healthz").status, 200);
    assert!(unauthenticated[2].is_over());
    assert_eq!(guesser.get("/healthz").status, 200);
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read_and_its_sender_hears_why() {
    let (stand, daemon, _) = Stand::demo_within(|limits| {
        limits.body_bytes = 1000;
        // During this time, the daemon reads and discards the remaining bytes of the request.
        limits.linger_time = Duration::from_secs(30);
    });
    let (host, token) = (address(&daemon).to_string(), stand.token("demo"));
    let head = format!("POST /v1/x HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
    let declared = format!(
        "{head}Content-Length: 30000000\r\n\r\n{}",
        "x".repeat(30_000_000)
    );
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let in_chunks = format!(
        "{head}Transfer-Encoding: chunked\r\n\r\n{}",
        chunk.repeat(7000)
    );
    for request in [declared, in_chunks] {
        let mut client = Client::tcp(&daemon);
        // Most clients send the whole request before they read.
        client.stream.write_all(request.as_bytes()).unwrap();
        let answer = client.hear().unwrap();
        answer.refused(413, "too_large");
        assert!(client.is_over());
    }
    let fits = "x".repeat(1000);
    let answer = Client::tcp(&daemon).call(&token, "POST /v1/x", &fits);
    assert_eq!(answer.status, 200);
    assert_eq!(stand.calls(), 1);
}

#[test]
fn all_bodies_together_take_no_more_than_their_share() {
    let (stand, daemon, token) = Stand::demo_within(|limits| limits.bodies_bytes = 1500);
    let body = "x".repeat(1000);
    let mut first = Client::tcp(&daemon);
    first.begin(&token, "POST /v1/slow/3000", &body);
    until("the first one runs", || stand.calls() == 1);
    let answer = Client::tcp(&daemon).call(&token, "POST /v1/x", &body);
    answer.refused(503, "busy");
    assert_eq!(first.hear().unwrap().status, 200);
    let answer = Client::tcp(&daemon).call(&token, "POST /v1/x", &body);
    assert_eq!(answer.status, 200);
}

#[test]
fn large_bodies_wait_for_their_turn_and_are_turned_away_in_the_end() {
    let (stand, daemon, token) = Stand::demo_within(|limits| {
        limits.small_body_bytes = 500;
        limits.large_bodies = 1;
        limits.large_body_wait = Duration::from_millis(200);
    });
    let large = "x".repeat(1000);
    let mut first = Client::tcp(&daemon);
    first.begin(&token, "POST /v1/slow/3000", &large);
    until("the first one runs", || stand.calls() == 1);
    let chunked = format!(
        "POST /v1/x HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n3e8\r\n{large}\r\n0\r\n\r\n",
        daemon.url().replace("http://", "")
    );
    let mut in_chunks = Client::tcp(&daemon);
    in_chunks.stream.write_all(chunked.as_bytes()).unwrap();
    let declared = Client::tcp(&daemon).call(&token, "POST /v1/x", &large);
    for answer in [declared, in_chunks.hear().unwrap()] {
        answer.refused(503, "busy");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    // Small bodies need no slot.
    let small = Client::tcp(&daemon).call(&token, "POST /v1/x", &"x".repeat(500));
    assert_eq!(small.status, 200);
    assert_eq!(first.hear().unwrap().status, 200);
    let answer = Client::tcp(&daemon).call(&token, "POST /v1/x", &large);
    assert_eq!(answer.status, 200);
}

#[test]
fn more_calls_than_can_wait_are_turned_away() {
    let (stand, daemon, token) = Stand::demo_within(|limits| {
        limits.workers = 1;
        limits.queue = 1;
    });
    let mut running = Client::tcp(&daemon);
    running.begin(&token, "GET /v1/slow/3000", "");
    until("one runs", || stand.calls() == 1);
    // Two more connections send a call: one call waits in the queue, and the other is refused.
    let mut more = [Client::tcp(&daemon), Client::tcp(&daemon)];
    for client in &mut more {
        client.begin(&token, "GET /v1/x", "");
    }
    let mut answers = more.map(|mut client| client.hear().unwrap());
    answers.sort_by_key(|answer| answer.status);
    answers[0].is(200);
    answers[1].refused(503, "busy");
    assert_eq!(answers[1].header("retry-after"), Some("1"));
    assert_eq!(running.hear().unwrap().status, 200);
}

#[test]
fn calls_that_wait_keep_no_other_from_being_answered_nor_the_daemon_from_ending() {
    let (stand, daemon, token) = Stand::demo_within(|limits| {
        limits.workers = 1;
        limits.queue = 0;
        limits.waits = 2;
    });
    let mut waiting = [Client::tcp(&daemon), Client::tcp(&daemon)];
    for client in &mut waiting {
        client.begin(&token, "POST /v1/api/await-event", "");
    }
    until("both wait", || stand.calls() == 2);
    let mut other = Client::tcp(&daemon);
    assert_eq!(other.call(&token, "GET /v1/x", "").status, 200);
    // Both names select the waiting operation.
    for name in ["await-event", "Team_Await_Event"] {
        let answer = other.call(&token, &format!("POST /v1/api/{name}"), "");
        assert_eq!(answer.status, 503, "{name}");
    }
    let (stopped, took) = since(|| daemon.stop());
    assert!(stopped && took < SOON, "{took:?}");
    for client in &mut waiting {
        assert_eq!(client.hear().unwrap().code(), "busy");
    }
}

#[test]
fn a_stream_shows_that_it_lives_and_ends_with_whoever_sends_it() {
    let (stand, daemon, _) = Stand::demo_within(|limits| {
        limits.heartbeat_time = Duration::from_millis(50);
        limits.idle_time = SHORT;
    });
    let mut client = Client::tcp(&daemon);
    let head = client.call(&stand.token("demo"), "GET /v1/stream/400", "");
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(head.header("transfer-encoding"), Some("chunked"));
    // The stream lasts longer than the idle timeout of a connection.
    client.until(|told| told.contains("data: 2") && told.matches("3\r\n:\n\n\r\n").count() >= 3);
    let reader = std::thread::spawn(move || String::from_utf8(client.rest()).unwrap());
    assert!(daemon.stop());
    let told = reader.join().unwrap();
    assert!(
        told.contains("data: 0") && told.contains("data: 1"),
        "{told}"
    );
    assert!(told.matches("3\r\n:\n\n\r\n").count() >= 3, "{told}");
    assert!(told.ends_with("0\r\n\r\n"), "{told}");
}

#[test]
fn a_reader_of_a_stream_that_stops_reading_is_cut() {
    let (stand, daemon, _) = Stand::demo_within(|limits| limits.stall_time = SHORT);
    let mut client = Client::tcp(&daemon);
    let since = Instant::now();
    let head = client.call(&stand.token("demo"), "GET /v1/flood", "");
    assert_eq!(head.status, 200);
    until("it is cut", || connections(&stand, &daemon) == 1);
    was_cut_after(SHORT, since.elapsed());
}

#[test]
fn the_limits_of_a_daemon_are_those_of_its_document() {
    let limits = Limits::default();
    let seconds = Duration::from_secs;
    assert_eq!((limits.connections, limits.headers), (512, 100));
    assert_eq!((limits.head_bytes, limits.body_bytes), (16 << 10, 8 << 20));
    assert_eq!(limits.head_time, seconds(5));
    assert_eq!(limits.body_time, seconds(10));
    assert_eq!(limits.stall_time, seconds(10));
    assert_eq!(limits.idle_time, seconds(30));
    assert_eq!((limits.workers, limits.team_workers), (96, 64));
    assert_eq!(limits.drain_time, seconds(10));
    assert_eq!((limits.waits, limits.wait_time), (256, seconds(300)));
}

/// Returns the number of open TCP connections, including the connection of the request.
fn connections(stand: &Stand, daemon: &teamlog_server::Daemon) -> u64 {
    let token = stand.token("demo");
    let numbers = Client::tcp(daemon).call(&token, "GET /metrics", "").body;
    super::numbers::value(&numbers, "teamlog_connections{via=\"tcp\"}")
}

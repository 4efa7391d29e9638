//! Many silent connections from another process, and a client that works at the same time.

use super::stand::Stand;
use crate::client::{Client, address};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CROWD: &str = "TEAMLOG_TEST_CROWD";
/// Maximum 99th percentile of response times. A client would notice a longer wait.
const LONGEST_P99: Duration = Duration::from_millis(500);

/// Helper that a test below runs in another process, and not a test. Opens connections, reports this, and keeps the connections
/// until it is told to end.
#[test]
fn a_crowd() {
    let Ok(task) = std::env::var(CROWD) else {
        return;
    };
    let (address, count) = task.split_once(' ').unwrap();
    let address: SocketAddr = address.parse().unwrap();
    let mut held = Vec::new();
    for _ in 0..count.parse::<usize>().unwrap() {
        // Also keep connections that the daemon has closed, because a client need not close its side.
        held.extend(TcpStream::connect_timeout(&address, Duration::from_secs(5)));
    }
    println!("\nholding {}", held.len());
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

fn gather(address: SocketAddr, count: usize) -> (Child, usize) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "wire::crowd::a_crowd", "--nocapture"])
        .env(CROWD, format!("{address} {count}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let held = lines.find_map(|line| Some(line.unwrap().strip_prefix("holding ")?.to_owned()));
    std::thread::spawn(move || lines.count());
    (child, held.unwrap().parse().unwrap())
}

/// Measures the response times of a working client while `count` connections are opened and kept.
fn endure(count: usize) {
    let (stand, daemon, _) = Stand::demo();
    let (address, token) = (address(&daemon), stand.token("demo"));
    let mut healthy = Client::tcp(&daemon);
    assert_eq!(healthy.call(&token, "GET /v1/x", "").status, 200);
    let crowd = std::thread::spawn(move || gather(address, count));
    let mut times = Vec::new();
    let mut ask = |times: &mut Vec<Duration>| {
        let since = Instant::now();
        assert_eq!(healthy.call(&token, "GET /v1/x", "").status, 200);
        times.push(since.elapsed());
    };
    while !crowd.is_finished() {
        ask(&mut times);
    }
    let (mut child, held) = crowd.join().unwrap();
    assert!(
        held >= count * 9 / 10,
        "only {held} of {count} could be opened"
    );
    for _ in 0..1000 {
        ask(&mut times);
    }
    // The Unix socket can be used even if all TCP slots are taken.
    let mut socket = Client::unix(&daemon);
    assert_eq!(socket.call(&token, "GET /v1/x", "").status, 200);
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 1000).min(times.len() - 1)];
    println!(
        "{held} connections held: {} answers, p50 {:?}, p99 {:?}, longest {:?}",
        times.len(),
        at(500),
        at(990),
        at(1000)
    );
    assert!(at(990) < LONGEST_P99, "{:?}", at(990));
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(daemon.stop());
}

#[test]
fn a_thousand_connections_keep_nobody_from_working() {
    endure(1000);
}

/// Needs 10,000 file descriptors per process and 10,000 local ports: `cargo test -- --ignored crowd`.
#[test]
#[ignore = "ten times the above, which not every machine has the descriptors for"]
fn ten_thousand_connections_keep_nobody_from_working() {
    endure(10_000);
}

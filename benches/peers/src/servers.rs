//! Measures the daemon beside UmaDB's server: 32 clients, each with one connection and one event per request. Each server is a process of
//! its own; the clients are threads of this process on the same cores.

use crate::appends::THREADS;
use crate::figures::{head, number, row};
use crate::options::Options;
use serde_json::json;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use teamlog_benches::daemon::{Client, Daemon, Views};
use teamlog_benches::rounds::{median, turns};
use umadb_client::UmaDbClient;
use umadb_core::mvcc::StorageOptions;
use umadb_dcb::{DcbAppendCondition, DcbEvent, DcbEventStoreSync, DcbQuery, DcbQueryItem};
use umadb_server::{ServerOptions, start_server_with_options};

const FLAG: &str = "--umadb-server";
const KIND: &str = "step_taken";
/// Ticks of the kernel's clock in a second.
const TICKS: f64 = 100.0;

/// Runs UmaDB's server, if this process was started for that. The server ends when this process is killed.
pub fn child(args: &[String]) -> bool {
    let [flag, dir, address] = args else {
        return false;
    };
    if flag != FLAG {
        return false;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_running, shutdown) = tokio::sync::oneshot::channel();
    let options = ServerOptions {
        listen_addr: address.clone(),
        tls: None,
        api_key: None,
        storage: StorageOptions::default().db_path(Path::new(dir).join("uma.db")),
    };
    runtime
        .block_on(start_server_with_options(options, shutdown))
        .unwrap();
    true
}

/// A running UmaDB server, killed when dropped.
struct Umadb {
    child: Child,
    url: String,
}

impl Umadb {
    fn start(dir: &Path) -> Umadb {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let mut server = Command::new(std::env::current_exe().unwrap());
        server.arg(FLAG).arg(dir).arg(&address);
        let child = server
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while TcpStream::connect(&address).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let url = format!("http://{address}");
        Umadb { child, url }
    }
}

impl Drop for Umadb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that is measured.
enum Server {
    Teamlog(Daemon),
    Umadb(Umadb),
}

/// Function that appends the event with a number.
type Call = Box<dyn FnMut(u64) + Send>;

impl Server {
    fn pid(&self) -> u32 {
        match self {
            Server::Teamlog(daemon) => daemon.pid(),
            Server::Umadb(umadb) => umadb.child.id(),
        }
    }

    fn client(&self, has_condition: bool) -> Call {
        let payload = json!({"step": 7, "text": "look at the second half of the parser"});
        match self {
            Server::Teamlog(daemon) => {
                let mut client: Client = daemon.client();
                Box::new(move |number| {
                    let tag = format!("n={number}");
                    let mut body = json!({"kind": KIND, "tags": [tag], "payload": payload});
                    if has_condition {
                        body["if_none"] = json!([{"kinds": [KIND], "tags": [tag]}]);
                    }
                    let (status, answer) = client.call("POST", "/v1/events", &body.to_string());
                    assert!((200..300).contains(&status), "{status} {answer}");
                })
            }
            Server::Umadb(umadb) => {
                let client = UmaDbClient::new(umadb.url.clone()).connect().unwrap();
                let data = payload.to_string();
                Box::new(move |number| {
                    let tag = format!("n={number}");
                    let item = DcbQueryItem::new().types([KIND]).tags([tag.clone()]);
                    let condition =
                        has_condition.then(|| DcbAppendCondition::new(DcbQuery::new().item(item)));
                    let event = DcbEvent::new()
                        .event_type(KIND)
                        .data(data.clone())
                        .tags([tag]);
                    client.append(vec![event], condition, None).unwrap();
                })
            }
        }
    }
}

/// Figures of a round.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// Events per second.
    rate: f64,
    /// Events per second of processor time of the server.
    rate_of_server: f64,
    /// Median duration of a call, in microseconds.
    p50: f64,
    p99: f64,
}

fn measure(server: &Server, first: u64, window: Duration, has_condition: bool) -> (Round, u64) {
    let start = Barrier::new(THREADS + 1);
    let (calls, took, used) = std::thread::scope(|scope| {
        let start = &start;
        let clients: Vec<_> = (0..THREADS as u64)
            .map(|own| {
                let mut call = server.client(has_condition);
                scope.spawn(move || {
                    let (mut number, mut calls) = (first + own, Vec::new());
                    start.wait();
                    let begun = Instant::now();
                    while begun.elapsed() < window {
                        let called = Instant::now();
                        call(number);
                        calls.push(called.elapsed().as_secs_f64() * 1e6);
                        number += THREADS as u64;
                    }
                    calls
                })
            })
            .collect();
        let before = processor_time(server.pid());
        start.wait();
        let begun = Instant::now();
        let calls: Vec<Vec<f64>> = clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect();
        let took = begun.elapsed().as_secs_f64();
        (calls, took, processor_time(server.pid()) - before)
    });
    let longest = calls.iter().map(Vec::len).max().unwrap_or_default() as u64;
    let mut calls = calls.concat();
    calls.sort_unstable_by(f64::total_cmp);
    let count = calls.len() as f64;
    let round = Round {
        rate: count / took,
        rate_of_server: count / used,
        p50: calls[calls.len() / 2],
        p99: calls[calls.len() * 99 / 100],
    };
    (round, first + (longest + 1) * THREADS as u64)
}

/// Returns the processor time of a process in seconds.
fn processor_time(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    let ticks = fields
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse::<f64>().unwrap());
    ticks.sum::<f64>() / TICKS
}

/// Measures both servers in turns, without and with a condition per append.
pub fn section(options: &Options) {
    if !options.begins(&format!(
        "Servers: {THREADS} clients, one event per request"
    )) {
        return;
    }
    let teamlog = options.teamlog();
    let daemon = |format| Daemon::start(&teamlog, &options.fresh(), format, Views::After);
    let servers = [
        (
            "teamlog jsonl, POST /v1/events",
            Server::Teamlog(daemon("jsonl")),
        ),
        (
            "teamlog binary, POST /v1/events",
            Server::Teamlog(daemon("binary")),
        ),
        (
            "UmaDB's server",
            Server::Umadb(Umadb::start(&options.fresh())),
        ),
    ];
    let window = Duration::from_secs(if options.quick { 1 } else { 3 });
    let mut rounds = vec![Vec::new(); servers.len() * 2];
    let mut first = 1;
    turns(options.rounds(), rounds.len(), |round, at| {
        let (figures, next) = measure(&servers[at / 2].1, first, window, at % 2 == 1);
        first = next;
        if round > 0 {
            rounds[at].push(figures);
        }
    });
    head(&[
        "server",
        "condition",
        "events/s",
        "p50 us",
        "p99 us",
        "events per CPU s of the server",
        "events/s: x UmaDB",
        "CPU: x UmaDB",
    ]);
    let middle =
        |rounds: &[Round], figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
    let ratio = |own: &[Round], other: &[Round], figure: fn(&Round) -> f64| {
        let pairs = own.iter().zip(other);
        let ratio = median(
            pairs
                .map(|(own, other)| figure(own) / figure(other))
                .collect(),
        );
        format!("{ratio:.2} x")
    };
    for (at, own) in rounds.iter().enumerate() {
        let peer = &rounds[rounds.len() - 2 + at % 2];
        row([
            servers[at / 2].0.to_owned(),
            if at % 2 == 1 { "yes" } else { "no" }.to_owned(),
            number(middle(own, |round| round.rate)),
            number(middle(own, |round| round.p50)),
            number(middle(own, |round| round.p99)),
            number(middle(own, |round| round.rate_of_server)),
            ratio(own, peer, |round| round.rate),
            ratio(own, peer, |round| round.rate_of_server),
        ]);
    }
}

//! The daemon, as clients meet it: a process of its own, connections that stay open, every answer durable.

use crate::options::Options;
use crate::process::{build, run_quietly};
use crate::rounds::{human, timed};
use crate::table::{Target, row};
use crate::workspace::directory;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

const TEAM: &str = "bench";
/// A page of the disk, which a task's events about fill.
const EVENT_BYTES: usize = 512;

/// The rows about the daemon.
pub fn rows(options: &Options) {
    type Row = (&'static str, fn(&str, &Path, &Options));
    const ROWS: [Row; 4] = [
        ("teamd, durable create, claim and complete", clients),
        ("teamd, 32 clients create beside 2,000 tasks", many_creates),
        (
            "teamd, a create at 100,000 tasks against one at 100",
            flatness,
        ),
        ("teamd, one event to 100 readers", fan_out),
    ];
    let mut built = None;
    for (name, measure) in ROWS.iter().filter(|(name, _)| options.wants(name)) {
        measure(name, built.get_or_insert_with(build), options);
    }
}

fn clients(name: &str, teamlog: &Path, options: &Options) {
    for count in [1, 32, 256] {
        many_clients(name, teamlog, count, options);
    }
}

/// A daemon on a root of its own, killed when dropped.
struct Daemon {
    child: Child,
    address: String,
    token: String,
    _dir: tempfile::TempDir,
}

impl Daemon {
    fn start(teamlog: &Path) -> Daemon {
        let dir = directory();
        let command = |args: &[&str]| {
            let mut command = Command::new(teamlog);
            command.arg("--data-root").arg(dir.path()).args(args);
            command
        };
        run_quietly(&mut command(&["init", TEAM]));
        let mut serve = command(&["serve", "--json"]);
        let mut child = serve.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        answers.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let runtime = dir.path().join("teams").join(TEAM).join("runtime.json");
        let runtime: Value = serde_json::from_slice(&std::fs::read(runtime).unwrap()).unwrap();
        let url = said["url"].as_str().unwrap();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Daemon {
            child,
            address: address.into(),
            token: runtime["token"].as_str().unwrap().into(),
            _dir: dir,
        }
    }

    fn client(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Client {
            reader: BufReader::new(stream),
            head: format!(
                "Host: {}\r\nAuthorization: Bearer {}\r\n",
                self.address, self.token
            ),
        }
    }

    /// A counter of `/metrics`, summed over its labels.
    fn counter(&self, name: &str) -> f64 {
        let text = self.client().call("GET", "/metrics", "").1;
        text.lines()
            .filter(|line| {
                line.strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with(['{', ' ']))
            })
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }

    /// Resident memory in MiB.
    fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let mut lines = status
            .lines()
            .filter_map(|line| line.strip_prefix("VmRSS:"));
        let kib = lines.next().unwrap().trim_end_matches("kB").trim();
        let kib: f64 = kib.parse().unwrap();
        kib / 1024.0
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection that stays open.
struct Client {
    reader: BufReader<TcpStream>,
    head: String,
}

impl Client {
    fn call(&mut self, method: &str, path: &str, body: &str) -> (u16, String) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        );
        self.reader.get_mut().write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut length = 0;
        loop {
            line.clear();
            self.reader.read_line(&mut line).unwrap();
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        (status, String::from_utf8(body).unwrap())
    }

    fn post(&mut self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call("POST", path, &body.to_string());
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    fn create(&mut self) -> String {
        let body = json!({"teamId": TEAM, "title": "look at the second half of the parser"});
        let answer = self.post("/v1/tasks", &body);
        answer["task"]["id"].as_str().unwrap().into()
    }

    /// A task's life: three durable answers.
    fn cycle(&mut self, agent: &str, took: &mut Vec<Duration>) {
        let (mut task, mut claimed) = (String::new(), Value::Null);
        took.push(timed(|| task = self.create()));
        let claim = json!({"teamId": TEAM, "agentId": agent});
        took.push(timed(|| {
            claimed = self.post(&format!("/v1/tasks/{task}/claim"), &claim)
        }));
        let epoch = &claimed["lease"]["epoch"];
        let complete = json!({"teamId": TEAM, "agentId": agent, "epoch": epoch});
        took.push(timed(|| {
            drop(self.post(&format!("/v1/tasks/{task}/complete"), &complete))
        }));
    }
}

/// What one thread gets out of the disk: an append and a sync each time.
fn syncs_per_second() -> f64 {
    const SYNCS: u64 = 200;
    let dir = directory();
    let file = std::fs::File::create(dir.path().join("floor")).unwrap();
    let bytes = [b'x'; EVENT_BYTES];
    let took = timed(|| {
        for at in 0..SYNCS {
            file.write_all_at(&bytes, at * EVENT_BYTES as u64).unwrap();
            file.sync_data().unwrap();
        }
    });
    SYNCS as f64 / took.as_secs_f64()
}

fn many_clients(name: &str, teamlog: &Path, clients: usize, options: &Options) {
    let cycles = match options.quick {
        true => 1_200usize.div_ceil(clients).max(4),
        false => 6_000usize.div_ceil(clients).max(8),
    };
    let daemon = Daemon::start(teamlog);
    daemon.client().create();
    let floor = syncs_per_second();
    let [mutations, syncs] =
        ["teamlog_commands_total", "teamlog_syncs_total"].map(|name| daemon.counter(name));
    let barrier = Barrier::new(clients + 1);
    let mut all = Vec::new();
    let mut took = Duration::ZERO;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|number| {
                let mut client = daemon.client();
                let barrier = &barrier;
                scope.spawn(move || {
                    let mut took = Vec::with_capacity(cycles * 3);
                    let agent = format!("agent-{number}");
                    barrier.wait();
                    for _ in 0..cycles {
                        client.cycle(&agent, &mut took);
                    }
                    took
                })
            })
            .collect();
        barrier.wait();
        took = timed(|| {
            for thread in threads {
                all.extend(thread.join().unwrap());
            }
        });
    });
    let [mutations, syncs] = [
        daemon.counter("teamlog_commands_total") - mutations,
        daemon.counter("teamlog_syncs_total") - syncs,
    ];
    all.sort_unstable();
    let at = |part: f64| human(all[((all.len() - 1) as f64 * part) as usize]);
    let rate = all.len() as f64 / took.as_secs_f64();
    let (p50, p99, memory) = (at(0.5), at(0.99), daemon.memory());
    let detail = format!(
        "{rate:.0}/s, p50 {p50}, p99 {p99}; the disk alone {floor:.0} syncs/s; {memory:.0} MiB"
    );
    let what = format!("{name}, {clients} clients");
    row(&what, Target::Report, rate / floor, " x", &detail);
    let target = match clients {
        32 => Target::AtLeast(10.0),
        _ => Target::Report,
    };
    let detail = format!("{mutations:.0} durable mutations, {syncs:.0} syncs");
    let what = format!("{what}: mutations per sync");
    row(&what, target, mutations / syncs, "", &detail);
}

fn many_creates(name: &str, teamlog: &Path, options: &Options) {
    const CLIENTS: usize = 32;
    const BEFORE: usize = 2_000;
    let each = if options.quick { 100 } else { 500 };
    let daemon = Daemon::start(teamlog);
    let create = |each: usize| {
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                let mut client = daemon.client();
                scope.spawn(move || (0..each).for_each(|_| drop(client.create())));
            }
        });
    };
    create(BEFORE.div_ceil(CLIENTS));
    let took = timed(|| create(each));
    let rate = (CLIENTS * each) as f64 / took.as_secs_f64();
    let detail = format!("{:.0} MiB", daemon.memory());
    row(name, Target::Report, rate, " /s", &detail);
}

fn flatness(name: &str, teamlog: &Path, options: &Options) {
    const MEASURED: usize = 400;
    let grown = if options.quick { 10_000 } else { 100_000 };
    let daemon = Daemon::start(teamlog);
    let mut client = daemon.client();
    let measure = |client: &mut Client| {
        let create = |_| timed(|| drop(client.create()));
        let mut took: Vec<Duration> = (0..MEASURED).map(create).collect();
        took.sort_unstable();
        took[MEASURED / 2]
    };
    (0..100).for_each(|_| drop(client.create()));
    let young = measure(&mut client);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            let mut client = daemon.client();
            scope.spawn(move || (0..grown / 64).for_each(|_| drop(client.create())));
        }
    });
    let old = measure(&mut client);
    let figure = old.as_secs_f64() / young.as_secs_f64();
    let detail = format!(
        "{} against {}; {grown} tasks in between; {:.0} MiB",
        human(old),
        human(young),
        daemon.memory()
    );
    row(name, Target::AtMost(1.3), figure, " x", &detail);
}

/// From a durable answer to the last of all readers.
fn fan_out(name: &str, teamlog: &Path, options: &Options) {
    const READERS: usize = 100;
    let events = if options.quick { 50 } else { 300 };
    let daemon = Daemon::start(teamlog);
    let mut client = daemon.client();
    client.create();
    let barrier = Barrier::new(READERS + 1);
    let mut took = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            let mut reader = daemon.client();
            let barrier = &barrier;
            scope.spawn(move || {
                let request = format!(
                    "GET /v1/events?kind=task_created&after=0 HTTP/1.1\r\n{}Accept: text/event-stream\r\n\r\n",
                    reader.head
                );
                reader.reader.get_mut().write_all(request.as_bytes()).unwrap();
                let mut line = String::new();
                for _ in 0..=events {
                    loop {
                        line.clear();
                        assert!(reader.reader.read_line(&mut line).unwrap() > 0, "the stream ended");
                        if line.starts_with("id:") {
                            break;
                        }
                    }
                    barrier.wait();
                }
            });
        }
        barrier.wait();
        for _ in 0..events {
            took.push(timed(|| {
                client.create();
                barrier.wait();
            }));
        }
    });
    took.sort_unstable();
    let millis = took[took.len() / 2].as_secs_f64() * 1e3;
    let p99 = human(took[took.len() * 99 / 100]);
    let detail = format!("p99 {p99}; {:.0} MiB", daemon.memory());
    row(name, Target::Report, millis, " ms", &detail);
}

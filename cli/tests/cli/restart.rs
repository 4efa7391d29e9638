//! A daemon is killed under load and started again. No answered request is lost, no request is applied twice, and a follower
//! continues after its last event.

use crate::prelude::*;
use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock};

const TEAM: &str = "demo";
const WRITERS: usize = 6;
const TASKS: usize = 25;
const DEATHS: usize = 3;

/// The current address and token of the daemon.
#[derive(Clone, Default)]
struct At {
    address: String,
    token: String,
}

struct Daemon(Child);

impl Daemon {
    fn start(root: &Path) -> (Daemon, At) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_teamlog"))
            .arg("--data-root")
            .arg(root)
            .args(["serve", "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let runtime = std::fs::read(root.join("teams").join(TEAM).join("runtime.json")).unwrap();
        let runtime: Value = serde_json::from_slice(&runtime).unwrap();
        let url = said["url"].as_str().unwrap();
        let at = At {
            address: url
                .trim_start_matches("http://")
                .trim_end_matches('/')
                .into(),
            token: runtime["token"].as_str().unwrap().into(),
        };
        (Daemon(child), at)
    }

    /// Kills the daemon with SIGKILL.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a request. Returns `None` if the daemon was killed before the answer was complete.
fn call(at: &At, method: &str, path: &str, key: Option<&str>, body: &str) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(&at.address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let key = key
        .map(|key| format!("Idempotency-Key: {key}\r\n"))
        .unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{key}Content-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        at.address,
        at.token,
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(body).ok()?))
}

/// Creates tasks. Repeats each request with its key until it is answered.
fn write(writer: usize, at: &RwLock<At>, acked: &Mutex<BTreeMap<String, String>>) {
    for number in 0..TASKS {
        let title = format!("task {writer}-{number}");
        let key = format!("key-{writer}-{number}");
        let body = json!({"teamId": TEAM, "title": title}).to_string();
        let deadline = Instant::now() + Duration::from_secs(60);
        let id = loop {
            assert!(Instant::now() < deadline, "{title} was never answered");
            let now = at.read().unwrap().clone();
            match call(&now, "POST", "/v1/tasks", Some(&key), &body) {
                Some((200 | 201, answer)) => {
                    break answer["task"]["id"].as_str().unwrap().to_owned();
                }
                // A refusal during a restart: the token still belongs to the killed daemon (401),
                // or the new daemon is not ready yet (503).
                Some((401 | 503, _)) => {}
                Some((status, answer)) => panic!("{status} {answer}"),
                None => {}
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        acked.lock().unwrap().insert(title, id);
    }
}

/// Follows all events across restarts. After a restart, continues after the last event that it received.
fn follow(at: &RwLock<At>, done: &AtomicBool, last_wanted: &Mutex<u64>) -> Vec<u64> {
    let mut seen: Vec<u64> = Vec::new();
    loop {
        let last = seen.last().copied().unwrap_or(0);
        if done.load(Ordering::Acquire) && last >= *last_wanted.lock().unwrap() {
            return seen;
        }
        let now = at.read().unwrap().clone();
        if let Ok(stream) = TcpStream::connect(&now.address) {
            read_stream(stream, &now, &mut seen, done, last_wanted);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn read_stream(
    mut stream: TcpStream,
    at: &At,
    seen: &mut Vec<u64>,
    done: &AtomicBool,
    last_wanted: &Mutex<u64>,
) {
    stream
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let last = seen.last().copied().unwrap_or(0);
    let request = format!(
        "GET /v1/events?after=0 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\n\
         Last-Event-ID: {last}\r\n\r\n",
        at.address, at.token
    );
    if stream.write_all(request.as_bytes()).is_err() {
        return;
    }
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    loop {
        match reader.read_line(&mut line) {
            Ok(0) => return,
            Ok(_) if line.ends_with('\n') => {
                if let Some(id) = line.strip_prefix("id:") {
                    seen.push(id.trim().parse().unwrap());
                }
                line.clear();
            }
            Ok(_) => return,
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) =>
            {
                let last = seen.last().copied().unwrap_or(0);
                if done.load(Ordering::Acquire) && last >= *last_wanted.lock().unwrap() {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

#[test]
fn what_was_answered_survives_every_death_and_followers_miss_and_repeat_nothing() {
    let root = tempfile::tempdir().unwrap();
    let init = Command::new(env!("CARGO_BIN_EXE_teamlog"))
        .arg("--data-root")
        .arg(root.path())
        .args(["init", TEAM])
        .output()
        .unwrap();
    assert!(init.status.success());
    let (mut daemon, first) = Daemon::start(root.path());
    let at = RwLock::new(first);
    let acked = Mutex::new(BTreeMap::new());
    let (done, last) = (AtomicBool::new(false), Mutex::new(u64::MAX));
    let died = &mut daemon;
    let seen = std::thread::scope(|scope| {
        let follower = scope.spawn(|| follow(&at, &done, &last));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (at, acked) = (&at, &acked);
                scope.spawn(move || write(writer, at, acked))
            })
            .collect();
        for death in 1..=DEATHS {
            // Distribute the kills evenly over the work.
            let so_many = WRITERS * TASKS * death / (DEATHS + 1);
            until("as many are acknowledged", || {
                acked.lock().unwrap().len() >= so_many
            });
            died.kill();
            let (next, now) = Daemon::start(root.path());
            *died = next;
            *at.write().unwrap() = now;
        }
        for writer in writers {
            writer.join().unwrap();
        }
        let now = at.read().unwrap().clone();
        let (status, answer) = call(&now, "GET", "/v1/status", None, "").unwrap();
        assert_eq!(status, 200);
        *last.lock().unwrap() = answer["last_seq"].as_u64().unwrap();
        done.store(true, Ordering::Release);
        follower.join().unwrap()
    });
    let wanted = *last.lock().unwrap();
    assert_eq!(seen, (1..=wanted).collect::<Vec<_>>());
    let now = at.read().unwrap().clone();
    let (_, listed) = call(&now, "GET", &format!("/v1/tasks?teamId={TEAM}"), None, "").unwrap();
    let there: BTreeMap<String, String> = listed["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| {
            let text = |field: &str| task[field].as_str().unwrap().to_owned();
            (text("title"), text("id"))
        })
        .collect();
    let acked = acked.into_inner().unwrap();
    assert_eq!(acked.len(), WRITERS * TASKS);
    assert_eq!(
        there, acked,
        "one task for each key, the one that was answered"
    );
    let ids: BTreeSet<_> = there.values().collect();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), ids.len());
    daemon.kill();
}

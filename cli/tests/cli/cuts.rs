//! Connections to the daemon that end in the middle of an exchange, and a daemon that is killed under load. Each call gets one
//! answer, and the answer is true.

use crate::daemon::Daemon;
use crate::harness::{Cli, ErrorBody, Ran, parse};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Number of bytes between two cuts in the middle of a long exchange. The first and last bytes are cut at every position.
const STRIDE: usize = 9;
/// Number of bytes at each end of an exchange that are cut at every position.
const END: usize = 24;
/// Maximum time of a call.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Caller,
    Daemon,
}

/// The sender whose bytes are cut, and the number of bytes that pass before the proxy ends the
/// connection.
type Cut = (From, usize);

/// A proxy between the callers and the daemon.
struct Proxy {
    shared: Arc<Shared>,
}

struct Shared {
    daemon: PathBuf,
    /// Cuts for the next connections. Later connections are not cut.
    cuts: Mutex<VecDeque<Cut>>,
    /// Bytes of each connection: sent by the caller, and sent by the daemon.
    said: Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Proxy {
    /// Starts a proxy in front of the daemon. Callers then find the proxy instead of the daemon.
    fn of(cli: &Cli, daemon: &Daemon) -> Proxy {
        let file = cli.dir().join("teams/demo/runtime.json");
        let mut runtime: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let socket = cli.dir().join("proxy");
        let listener = UnixListener::bind(&socket).unwrap();
        runtime["socket"] = json!(socket);
        let aside = cli.dir().join("aside");
        std::fs::write(&aside, runtime.to_string()).unwrap();
        std::fs::set_permissions(&aside, PermissionsExt::from_mode(0o600)).unwrap();
        std::fs::rename(&aside, &file).unwrap();
        let shared = Arc::new(Shared {
            daemon: daemon.socket(),
            cuts: Mutex::default(),
            said: Mutex::default(),
        });
        let serving = shared.clone();
        // The thread ends with the process of the test.
        thread::spawn(move || {
            for caller in listener.incoming() {
                serving.pass(caller.unwrap());
            }
        });
        Proxy { shared }
    }

    /// Sets the cuts for the next connections.
    fn cut(&self, cuts: impl IntoIterator<Item = Cut>) {
        let mut next = self.shared.cuts.lock().unwrap();
        next.clear();
        next.extend(cuts);
    }

    /// Waits for the connection whose caller sent `part`. Returns the bytes that one side sent.
    fn said(&self, by: From, part: &str) -> Vec<u8> {
        let since = Instant::now();
        let has = |said: &[u8]| {
            said.windows(part.len())
                .any(|bytes| bytes == part.as_bytes())
        };
        loop {
            assert!(since.elapsed() < LONGEST_WAIT, "nobody said {part}");
            let said = self.shared.said.lock().unwrap();
            if let Some((up, down)) = said.iter().find(|(up, _)| has(up)) {
                return if by == From::Caller { up } else { down }.clone();
            }
            drop(said);
            thread::yield_now();
        }
    }
}

impl Shared {
    fn pass(&self, caller: UnixStream) {
        let cut = self.cuts.lock().unwrap().pop_front();
        let Ok(daemon) = UnixStream::connect(&self.daemon) else {
            return;
        };
        let until = |from: From| match cut {
            Some((by, count)) if by == from => count,
            _ => usize::MAX,
        };
        thread::scope(|scope| {
            let up = scope.spawn(|| pumped(&caller, &daemon, until(From::Caller)));
            let down = pumped(&daemon, &caller, until(From::Daemon));
            let up = up.join().unwrap();
            self.said.lock().unwrap().push((up, down));
        });
    }
}

/// Forwards at most `until` bytes, then closes both connections. Returns the forwarded bytes.
fn pumped(mut from: &UnixStream, mut to: &UnixStream, until: usize) -> Vec<u8> {
    let mut passed = Vec::new();
    let mut bytes = [0; 4096];
    while passed.len() < until {
        let count = match from.read(&mut bytes) {
            Ok(count) if count > 0 => count.min(until - passed.len()),
            _ => break,
        };
        passed.extend_from_slice(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // The receiver reads all forwarded bytes before it sees the end.
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
    passed
}

/// Returns the positions at which to cut a text: every byte near its ends, and every `STRIDE` bytes between them.
fn places(length: usize) -> impl Iterator<Item = usize> {
    let is_end = move |place: &usize| *place < END || place + END >= length;
    (0..=length).filter(move |place| is_end(place) || place.is_multiple_of(STRIDE))
}

/// Returns the length of the HTTP head. The daemon cannot have carried out a call that was cut within the head.
fn head(said: &[u8]) -> usize {
    let end = said.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    end.unwrap() + 4
}

/// Outcome of a call, as its answer reports it.
#[derive(Debug, PartialEq, Eq)]
enum CallReport {
    Done,
    Unknown,
    NotDone,
}

/// Cuts the exchange of a call at every position, one call per position. Returns the reported
/// outcome of each call. `call` makes a call with a unique name.
fn told(proxy: &Proxy, call: impl Fn(&str) -> CallReport) -> BTreeMap<String, CallReport> {
    let mut told = BTreeMap::new();
    for (by, letter) in [(From::Caller, 'c'), (From::Daemon, 'd')] {
        proxy.cut([]);
        let whole = format!("whole_{letter}_00001");
        assert_eq!(call(&whole), CallReport::Done);
        let said = proxy.said(by, &whole);
        let behind = said.len() + 99;
        for place in places(said.len()).chain([behind]) {
            let name = format!("cuts_{letter}_{place:05}");
            proxy.cut([(by, place)]);
            let answer = call(&name);
            // After a cut within the head, nothing was carried out and the call is repeated. After a cut at the end,
            // the whole answer arrived. In both cases the call succeeds.
            if place < head(&said) || place == behind {
                assert_eq!(answer, CallReport::Done, "{name}");
            }
            assert_ne!(answer, CallReport::NotDone, "{name}");
            told.insert(name, answer);
        }
    }
    told
}

/// Compares the reported outcome of each call with the recorded events. The name of the call
/// identifies its event.
fn hold(told: &BTreeMap<String, CallReport>, recorded: &[String]) {
    let mut unknown = [0, 0];
    for (name, told) in told {
        let count = recorded.iter().filter(|other| *other == name).count();
        assert!(count <= 1, "{name}: recorded {count} times");
        match told {
            CallReport::Done => assert_eq!(count, 1, "{name}"),
            CallReport::NotDone => assert_eq!(count, 0, "{name}"),
            CallReport::Unknown => unknown[count] += 1,
        }
    }
    assert!(unknown[1] > 0, "{unknown:?}");
}

/// Checks the envelope and the exit code of an operation. Returns the reported outcome, and the
/// envelope.
#[track_caller]
fn envelope(ran: &Ran, operation: &str) -> (CallReport, Value) {
    // After the daemon was killed, the next command that opens the log can print notes about the
    // log.
    assert!(
        ran.stderr
            .lines()
            .all(|line| line.starts_with("{\"note\":")),
        "{ran:?}"
    );
    let envelope: Value = parse(&ran.stdout);
    crate::schemas::check(&["api".to_owned()], &ran.stdout);
    assert_eq!(envelope["operation"], operation, "{ran:?}");
    assert_eq!(envelope["command"], format!("teamlog api {operation}"));
    let ok = envelope["ok"] == true;
    assert_eq!(ran.code, Some(i32::from(!ok)), "{ran:?}");
    if ok {
        return (CallReport::Done, envelope);
    }
    let error = &envelope["error"];
    assert_eq!(error["code"], "operation_failed", "{ran:?}");
    let told = match error["details"]["code"].as_str() {
        Some("outcome_unknown") => CallReport::Unknown,
        Some("locked") => CallReport::NotDone,
        other => panic!("{other:?}: {ran:?}"),
    };
    (told, envelope)
}

/// Checks the answer of a command with `--json`. Returns the reported outcome.
#[track_caller]
fn line(ran: &Ran) -> CallReport {
    #[derive(serde::Deserialize)]
    struct Line {
        error: ErrorBody,
    }
    if ran.code == Some(0) {
        assert_eq!(ran.stderr, "", "{ran:?}");
        let _: Value = parse(&ran.stdout);
        return CallReport::Done;
    }
    assert_eq!((ran.code, &*ran.stdout), (Some(74), ""), "{ran:?}");
    let line: Line = parse(&ran.stderr);
    assert_eq!(line.error.code, "outcome_unknown", "{ran:?}");
    assert!(line.error.hint.is_some(), "{ran:?}");
    CallReport::Unknown
}

fn creation(name: &str) -> String {
    json!({"team_name": "demo", "subject": name, "description": "D"}).to_string()
}

fn subjects(cli: &Cli) -> Vec<String> {
    let tasks: Value = parse(&cli.ok("tasks demo --json --limit 0"));
    let tasks = tasks["tasks"].as_array().unwrap();
    let subject = |task: &Value| task["subject"].as_str().unwrap().to_owned();
    tasks.iter().map(subject).collect()
}

#[test]
fn an_operation_has_one_answer_wherever_its_connection_ends() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    let proxy = Proxy::of(&cli, &daemon);
    let told = told(&proxy, |name| {
        let input = creation(name);
        let ran = cli.run(&format!("api create-task --json --input '{input}'"));
        envelope(&ran, "create-task").0
    });
    hold(&told, &subjects(&cli));
}

#[test]
fn an_operation_whose_input_is_read_has_one_answer_wherever_its_connection_ends() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    let proxy = Proxy::of(&cli, &daemon);
    let told = told(&proxy, |name| {
        let ran = cli.run_with_input("api create-task --json --input -", &creation(name));
        envelope(&ran, "create-task").0
    });
    hold(&told, &subjects(&cli));
}

#[test]
fn a_command_has_one_answer_wherever_its_connection_ends() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    let proxy = Proxy::of(&cli, &daemon);
    let told = told(&proxy, |name| {
        line(&cli.run(&format!("task create demo --subject {name} --json")))
    });
    hold(&told, &subjects(&cli));
}

#[test]
fn a_command_for_people_has_one_answer_wherever_its_connection_ends() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    let proxy = Proxy::of(&cli, &daemon);
    let told = told(&proxy, |name| {
        let input = format!("{{\"kind\":\"{name}\"}}\n");
        let ran = cli.run_with_input("append demo --batch -", &input);
        if ran.code == Some(0) {
            assert_eq!(ran.stderr, "", "{ran:?}");
            assert!(ran.stdout.starts_with("1 event recorded: "), "{ran:?}");
            assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
            return CallReport::Done;
        }
        assert_eq!((ran.code, &*ran.stdout), (Some(74), ""), "{ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{ran:?}");
        assert_eq!(ran.stderr.matches("error: ").count(), 1, "{ran:?}");
        assert!(
            ran.stderr
                .contains("it is unknown whether the command was recorded"),
            "{ran:?}"
        );
        CallReport::Unknown
    });
    let kinds: Vec<String> = cli
        .ok("replay demo --json")
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["kind"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    hold(&told, &kinds);
}

#[test]
fn where_no_connection_comes_to_anything_nothing_is_recorded_and_the_answer_says_so() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    // The first command makes the daemon take the lock.
    cli.ok("tick demo");
    let proxy = Proxy::of(&cli, &daemon);
    let mut told = BTreeMap::new();
    for (by, letter) in [(From::Caller, 'c'), (From::Daemon, 'd')] {
        for place in [0, 1, 60] {
            let name = format!("none_{letter}_{place}");
            proxy.cut(vec![(by, place); 99]);
            let input = creation(&name);
            let ran = cli.run(&format!(
                "--lock-timeout 0 api create-task --json --input '{input}'"
            ));
            let (answer, envelope) = envelope(&ran, "create-task");
            assert_eq!(answer, CallReport::NotDone, "{envelope}");
            told.insert(name, answer);
            let error = cli.refused_json(75, "task create demo --subject no --lock-timeout 0");
            assert_eq!(error.code, "locked");
        }
    }
    proxy.cut([]);
    assert_eq!(subjects(&cli), Vec::<String>::new());
}

#[test]
fn the_advice_is_to_repeat_what_has_a_key_and_to_look_before_what_has_none() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    let proxy = Proxy::of(&cli, &daemon);
    let last = |line: &str, name: &str| {
        proxy.cut([]);
        cli.ok_of_any_shape(line);
        proxy.said(From::Daemon, name).len() - 1
    };
    let create = |key: &str, name: &str| {
        let mut input: Value = serde_json::from_str(&creation(name)).unwrap();
        if !key.is_empty() {
            input["key"] = key.into();
        }
        format!("api create-task --json --input '{input}'")
    };
    for (keys, advice) in [
        (
            ["", ""],
            "before you repeat the command, check whether it was recorded",
        ),
        (["k-1", "k-2"], "the same key"),
    ] {
        let (first, other) = (format!("first{}", keys[0]), format!("other{}", keys[1]));
        let place = last(&create(keys[0], &first), &first);
        proxy.cut([(From::Daemon, place)]);
        let ran = cli.run(&create(keys[1], &other));
        let (told, envelope) = envelope(&ran, "create-task");
        assert_eq!(told, CallReport::Unknown);
        let hint = envelope["error"]["details"]["hint"].as_str().unwrap();
        assert!(hint.contains(advice), "{hint}");
    }
    // The hint works: repeating the command with its key creates no second task.
    let before = subjects(&cli).len();
    let again = envelope(&cli.run(&create("k-2", "otherk-2")), "create-task");
    assert_eq!(again.0, CallReport::Done);
    assert_eq!(subjects(&cli).len(), before);
    for (words, advice) in [
        (
            "task create demo --subject S=",
            "before you repeat the command, check whether it was recorded",
        ),
        ("task create demo --subject S --key s=", "the same key"),
        (
            "send demo --from lead --to dev --type handoff --trace-id t=",
            "before you repeat the command, check whether it was recorded",
        ),
        (
            "send demo --from lead --to dev --type handoff --message-id m=",
            "the same --message-id",
        ),
    ] {
        let name = words.rsplit(' ').next().unwrap();
        let place = last(&format!("{words}1"), &format!("{name}1"));
        proxy.cut([(From::Daemon, place)]);
        let error = cli.refused_json(74, &format!("{words}2"));
        assert_eq!(error.code, "outcome_unknown");
        assert!(error.hint.unwrap().contains(advice), "{words}");
    }
}

/// Number of times that the daemon is killed, and number of answers between two kills.
const DEATHS: usize = 8;
const BETWEEN: usize = 12;
const CALLERS: usize = 3;

#[test]
fn a_daemon_that_is_killed_again_and_again_leaves_every_call_one_true_answer() {
    let cli = Cli::with_team();
    let daemon = Mutex::new(Some(Daemon::of(&cli)));
    let answers = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let made = Mutex::new(BTreeSet::new());
    let since = Instant::now();
    let enough = || done.load(Ordering::SeqCst) >= DEATHS;
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (cli, answers, made, enough) = (&cli, &answers, &made, &enough);
            scope.spawn(move || {
                for call in 0.. {
                    if enough() || since.elapsed() > LONGEST_WAIT {
                        break;
                    }
                    let name = format!("{caller}-{call}");
                    let mut input: Value = serde_json::from_str(&creation(&name)).unwrap();
                    input["key"] = format!("k-{name}").into();
                    // Follow the hint: repeat the command with its key until the outcome is known.
                    loop {
                        let ran = cli.run(&format!("api create-task --json --input '{input}'"));
                        answers.fetch_add(1, Ordering::SeqCst);
                        match envelope(&ran, "create-task") {
                            (CallReport::Done, _) => break,
                            (CallReport::Unknown, _) => {}
                            (CallReport::NotDone, envelope) => panic!("{envelope}"),
                        }
                        assert!(since.elapsed() < 2 * LONGEST_WAIT, "it is never known");
                    }
                    made.lock().unwrap().insert(name);
                }
            });
        }
        for _ in 0..DEATHS {
            let before = answers.load(Ordering::SeqCst);
            while answers.load(Ordering::SeqCst) < before + BETWEEN
                && since.elapsed() < LONGEST_WAIT
            {
                thread::sleep(Duration::from_millis(1));
            }
            if let Some(daemon) = daemon.lock().unwrap().take() {
                daemon.kill();
            }
            *daemon.lock().unwrap() = Some(Daemon::of(&cli));
            done.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut recorded = subjects(&cli);
    recorded.sort();
    let made: Vec<String> = made.into_inner().unwrap().into_iter().collect();
    assert_eq!(recorded, made, "each of them once");
    assert!(made.len() >= DEATHS, "{made:?}");
    cli.ok("verify demo");
}

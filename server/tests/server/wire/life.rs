//! Start and end of a daemon, and the files that it leaves.

use super::stand::Stand;
use crate::client::{Client, LONGEST_WAIT, until};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use teamlog_server::{Running, StartError, running, serve};
use teamlog_team::log::append::Append;
use teamlog_team::log::append_batch::AppendBatch;
use teamlog_team::{Root, RootOptions};

const ROOT: &str = "TEAMLOG_TEST_DAEMON_ROOT";

/// Helper that the tests below run in another process, and not a test. Runs the daemon.
#[test]
fn a_daemon_of_its_own() {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    let stand = Stand::new(&[]);
    let mut options = stand.options();
    options.root = root.into();
    options.signals = true;
    options.confined = true;
    let daemon = serve(options).unwrap();
    println!("\nconfined {}", daemon.is_confined());
    println!(
        "serving {}",
        serde_json::to_string(daemon.running()).unwrap()
    );
    std::process::exit(match daemon.wait() {
        true => 0,
        false => 1,
    });
}

/// Starts a daemon in another process and waits until the daemon serves. Also returns true if the kernel confines the
/// daemon.
fn spawn(root: &Path) -> (Child, Running, bool) {
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -S -n 256 && exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "wire::life::a_daemon_of_its_own", "--nocapture"])
        .env(ROOT, root)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = |what: &str| {
        let told = lines.find_map(|line| Some(line.unwrap().strip_prefix(what)?.to_owned()));
        told.unwrap()
    };
    let confined = told("confined ") == "true";
    let running = serde_json::from_str(&told("serving ")).unwrap();
    // Read the further output of the daemon, so that the pipe does not become full.
    std::thread::spawn(move || lines.count());
    (child, running, confined)
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn what_clients_need_stands_in_each_team_while_the_daemon_runs() {
    let stand = Stand::new(&["demo", "other"]);
    let daemon = stand.serve();
    for team in ["demo", "other"] {
        let found = std::fs::metadata(stand.runtime_path(team)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert_eq!(found.nlink(), 1);
        let runtime = stand.runtime(team);
        assert_eq!(runtime.url, daemon.url());
        assert_eq!(runtime.socket, daemon.socket());
        assert_eq!(runtime.pid, std::process::id());
        assert_eq!(runtime.team_id.as_deref().unwrap(), team);
        assert_eq!(runtime.schema_version, "1.0.0");
        assert_eq!(runtime.version, env!("CARGO_PKG_VERSION"));
        assert_eq!(runtime.token.len(), 64);
    }
    let (socket, first) = (daemon.socket().to_owned(), stand.token("demo"));
    assert_eq!(
        running(stand.dir.path()).unwrap().as_ref(),
        Some(daemon.running())
    );
    assert!(daemon.stop());
    assert!(!stand.runtime_path("demo").exists() && !stand.runtime_path("other").exists());
    assert!(!socket.exists());
    assert_eq!(running(stand.dir.path()).unwrap(), None);
    let daemon = stand.serve();
    assert_ne!(stand.token("demo"), first);
    drop(daemon);
    assert!(!stand.runtime_path("demo").exists());
}

#[test]
fn a_second_daemon_is_told_of_the_first() {
    let (stand, daemon, token) = Stand::demo();
    let refused = serve(stand.options()).unwrap_err();
    let StartError::AlreadyServed(Some(first)) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(first.as_ref(), daemon.running());
    let text = refused.to_string();
    assert!(
        text.contains(daemon.url()) && text.contains(&std::process::id().to_string()),
        "{text}"
    );
    assert!(text.contains("teamd.sock"), "{text}");
    assert_eq!(refused.code(), "already_served");
    // The refused start has changed nothing.
    assert_eq!(stand.token("demo"), token);
    assert_eq!(Client::unix(&daemon).get("/healthz").status, 200);
    assert!(daemon.stop());
    assert!(serve(stand.options()).unwrap().stop());
}

#[test]
fn only_named_teams_are_served_and_only_known_ones_can_be() {
    let stand = Stand::new(&["demo", "other"]);
    let mut options = stand.options();
    options.teams = vec!["demo".to_owned()];
    let daemon = serve(options).unwrap();
    assert_eq!(daemon.served().names(), ["demo"]);
    assert!(!stand.runtime_path("other").exists());
    assert!(daemon.stop());
    let mut options = stand.options();
    options.teams = vec!["nobody".to_owned()];
    assert!(matches!(serve(options), Err(StartError::Team(_))));
    let mut options = stand.options();
    options.listen = "0.0.0.0:0".parse().unwrap();
    assert!(matches!(serve(options), Err(StartError::NotLoopback(_))));
    let mut options = stand.options();
    options.root = stand.dir.path().join("nowhere");
    assert!(serve(options).is_err());
    assert!(!stand.dir.path().join("nowhere").exists());
    // The daemons that did not start left no file that prevents a start.
    assert!(stand.serve().stop());
}

#[test]
fn teams_that_come_are_served_and_those_that_go_are_not() {
    let (stand, daemon, _) =
        Stand::demo_within(|limits| limits.tick_time = Duration::from_millis(20));
    stand.init("late");
    until("the new one is served", || daemon.served().serves("late"));
    let token = stand.token("late");
    assert_eq!(
        Client::tcp(&daemon).call(&token, "GET /v1/x", "").json()["team"],
        "late"
    );
    std::fs::rename(
        stand.dir.path().join("teams/late"),
        stand.dir.path().join("gone"),
    )
    .unwrap();
    until("it is forgotten", || !daemon.served().serves("late"));
    Client::tcp(&daemon).call(&token, "GET /v1/x", "").is(401);
    assert!(daemon.stop());
}

#[test]
fn what_clients_need_is_written_again_where_it_was_taken_away() {
    let (stand, daemon, _) = Stand::demo();
    let before = stand.token("demo");
    std::fs::remove_file(stand.runtime_path("demo")).unwrap();
    until("the file is there again", || {
        stand.runtime_path("demo").exists()
    });
    let after = stand.token("demo");
    assert_ne!(before, after);
    let mut client = Client::tcp(&daemon);
    // The file exists shortly before its token is valid.
    until("its token lets in", || {
        client.call(&after, "GET /v1/status", "").status == 200
    });
    assert_eq!(client.call(&before, "GET /v1/status", "").status, 401);
    assert!(daemon.stop());
    assert!(!stand.runtime_path("demo").exists());
}

#[test]
fn what_stands_where_the_token_belongs_is_replaced_and_never_followed() {
    let stand = Stand::new(&["demo", "other", "third"]);
    let target = stand.dir.path().join("target");
    std::fs::write(&target, "kept").unwrap();
    symlink(&target, stand.runtime_path("demo")).unwrap();
    symlink(
        &target,
        stand.dir.path().join("teams/other/.runtime.json.new"),
    )
    .unwrap();
    std::fs::write(stand.runtime_path("third"), "{\"pid\":1}").unwrap();
    let daemon = stand.serve();
    for team in ["demo", "other", "third"] {
        assert_eq!(stand.token(team).len(), 64);
        assert!(
            std::fs::symlink_metadata(stand.runtime_path(team))
                .unwrap()
                .is_file()
        );
    }
    // A daemon does not remove a file that another program wrote in the meantime.
    let mut theirs = stand.runtime("third");
    theirs.pid = 1;
    let theirs = serde_json::to_vec(&theirs).unwrap();
    std::fs::write(stand.runtime_path("third"), &theirs).unwrap();
    assert!(daemon.stop());
    assert_eq!(std::fs::read(&target).unwrap(), b"kept");
    assert_eq!(std::fs::read(stand.runtime_path("third")).unwrap(), theirs);
    assert!(!stand.runtime_path("demo").exists());
}

#[test]
fn a_stop_waits_for_what_runs() {
    let (stand, daemon, token) = Stand::demo();
    let mut idle = Client::tcp(&daemon);
    assert_eq!(idle.get("/healthz").status, 200);
    let mut silent = Client::tcp(&daemon);
    let mut busy = Client::tcp(&daemon);
    let url = daemon.url().to_owned();
    let asking = std::thread::spawn(move || {
        let answer = busy.call(&token, "GET /v1/slow/3000", "");
        (answer, busy.is_over())
    });
    until("it runs", || stand.calls() == 1);
    let since = Instant::now();
    assert!(daemon.stop());
    let took = since.elapsed();
    assert!(
        took > Duration::from_secs(1) && took < Duration::from_secs(9),
        "{took:?}"
    );
    let (answer, over) = asking.join().unwrap();
    assert_eq!(answer.json()["slept"], "3000");
    assert!(over && idle.is_over() && silent.is_over());
    let address: std::net::SocketAddr = url[7..].parse().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn a_stop_lets_what_was_answered_arrive() {
    let (stand, daemon, token) = Stand::demo();
    let mut slow = Client::tcp(&daemon);
    slow.begin(&token, "GET /v1/large/30000000", "");
    until("it is answered", || stand.calls() == 1);
    let reading = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(600));
        slow.hear().unwrap().body.len()
    });
    assert!(daemon.stop());
    assert_eq!(reading.join().unwrap(), 30_000_000);
}

#[test]
fn a_stop_does_not_wait_for_ever() {
    let (stand, daemon, token) =
        Stand::demo_within(|limits| limits.drain_time = Duration::from_millis(200));
    let mut busy = Client::tcp(&daemon);
    busy.begin(&token, "GET /v1/slow/10000", "");
    until("it runs", || stand.calls() == 1);
    let since = Instant::now();
    assert!(!daemon.stop());
    assert!(
        since.elapsed() < Duration::from_secs(9),
        "{:?}",
        since.elapsed()
    );
    assert!(!stand.runtime_path("demo").exists());
    assert!(busy.is_over());
}

#[test]
fn a_signal_drains_and_a_kill_is_recovered_from() {
    let stand = Stand::new(&["demo"]);
    let root = stand.dir.path();
    for name in ["-TERM", "-INT"] {
        let (mut child, found, _) = spawn(root);
        assert_eq!(found.pid, child.id());
        assert_eq!(stand.runtime("demo").pid, child.id());
        assert_eq!(running(root).unwrap().unwrap(), found);
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
        let files = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"));
        let files: Vec<_> = files.unwrap().split_whitespace().collect();
        assert_eq!(files[0], files[1], "as many as it may have");
        // A write beyond the file size limit is an error and does not end the daemon.
        signal(&child, "-XFSZ");
        signal(&child, "-PIPE");
        let refused = serve(stand.options()).unwrap_err();
        assert!(
            refused.to_string().contains(&child.id().to_string()),
            "{refused}"
        );
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{name}");
        assert!(!stand.runtime_path("demo").exists() && !found.socket.exists());
    }
    let (mut child, found, _) = spawn(root);
    let token = stand.token("demo");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(stand.runtime_path("demo").exists() && found.socket.exists());
    assert_eq!(running(root).unwrap(), None);
    let daemon = stand.serve();
    assert_eq!(stand.runtime("demo").pid, std::process::id());
    Client::unix(&daemon).call(&token, "GET /v1/x", "").is(401);
    Client::unix(&daemon)
        .call(&stand.token("demo"), "GET /v1/x", "")
        .is(200);
    assert!(daemon.stop());
    assert!(LONGEST_WAIT > Duration::ZERO);
}

#[test]
fn the_kernel_keeps_the_daemon_from_writing_elsewhere() {
    let (stand, elsewhere) = (Stand::new(&["demo"]), tempfile::tempdir().unwrap());
    let (mut child, found, confined) = spawn(stand.dir.path());
    let token = stand.token("demo");
    let address: std::net::SocketAddr = found.url[7..].parse().unwrap();
    let write = |path: &Path| {
        let encoded = path.to_str().unwrap().replace('/', "%2F");
        let line = format!("GET /v1/write/{encoded}");
        Client::at(address).call(&token, &line, "").status
    };
    assert_eq!(write(&stand.dir.path().join("inside")), 200);
    assert_eq!(write(Path::new("/dev/null")), 200);
    match confined {
        true => assert_eq!(write(&elsewhere.path().join("outside")), 403),
        false => println!("this kernel has no Landlock; nothing was confined"),
    }
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Records an event without the daemon. Waits at most `lock_deadline` for the lock.
fn note(stand: &Stand, team: &str, lock_deadline: Duration) -> teamlog_team::Result<()> {
    let options = RootOptions {
        lock_deadline,
        ..RootOptions::default()
    };
    let append = Append {
        kind: "note".to_owned(),
        ..Append::default()
    };
    let root = Root::open(stand.dir.path(), options).unwrap();
    root.team(team).unwrap().append(append).map(drop)
}

#[test]
fn the_daemon_holds_the_locks_of_its_teams_until_it_ends() {
    let (stand, daemon, _) = Stand::demo();
    let write = || note(&stand, "demo", Duration::from_millis(50));
    until("the lock is held", || write().is_err());
    assert!(daemon.stop());
    write().unwrap();
}

#[test]
fn many_teams_are_taken_and_given_back_at_once_each_with_a_token_of_its_own() {
    // Use more teams than the daemon handles concurrently.
    let names: Vec<String> = (0..35).map(|number| format!("team-{number}")).collect();
    let stand = Stand::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let daemon = stand.serve();
    let mut client = Client::tcp(&daemon);
    for name in &names {
        let answer = client.call(&stand.token(name), "GET /v1/x", "");
        assert_eq!(answer.json()["team"], name.as_str());
    }
    until("all are ready", || client.get("/readyz").status == 200);
    drop(client);
    assert!(daemon.stop());
    for name in &names {
        assert!(!stand.runtime_path(name).exists(), "{name}");
        note(&stand, name, Duration::ZERO).unwrap();
    }
}

/// Returns the time from the start of a daemon to its first answer, for a team with `events` events.
fn start_on(events: usize) -> Duration {
    let stand = Stand::new(&["demo"]);
    let root = Root::open(stand.dir.path(), RootOptions::default()).unwrap();
    let lines = "{\"kind\":\"note\",\"payload\":{\"text\":\"what was seen\"}}\n".repeat(events);
    let mut team = root.team("demo").unwrap();
    let batch = AppendBatch {
        batch_size: Some(10_000),
        ..AppendBatch::default()
    };
    team.append_batch(batch, &mut lines.as_bytes()).unwrap();
    team.finish().unwrap();
    drop((team, root));
    let since = Instant::now();
    let daemon = stand.serve();
    let token = stand.token("demo");
    Client::tcp(&daemon).call(&token, "GET /v1/x", "").is(200);
    let took = since.elapsed();
    until("its lock is held", || {
        Client::tcp(&daemon).get("/readyz").status == 200
    });
    println!(
        "{events} events: serving after {took:?}, ready after {:?}",
        since.elapsed()
    );
    assert!(daemon.stop());
    took
}

#[test]
fn a_start_takes_no_longer_with_a_longer_history() {
    assert!(start_on(50_000) < Duration::from_secs(3));
}

/// Run on a quiet machine: `cargo test -p teamlog-server --test wire -- --ignored million --nocapture`.
#[test]
#[ignore = "writes a million events first"]
fn a_start_on_a_million_events_is_at_once() {
    assert!(start_on(1_000_000) < Duration::from_millis(50));
}

//! The Unix socket: requests without a token by the daemon's user, and refused requests.

use super::stand::Stand;
use crate::client::{Client, address, until};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_server::forward::{Caller, Forward, PROTOCOL};
use teamlog_server::{Served, serve};

#[test]
fn the_socket_is_for_its_user_alone() {
    let (_stand, daemon, _) = Stand::demo();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(daemon.socket()), 0o600);
    assert_eq!(mode(daemon.socket().parent().unwrap()), 0o700);
}

const STRANGER: &str = "TEAMLOG_TEST_STRANGER";

/// Helper that a test below runs as another user, and not a test. Sends a request to the socket and prints the answer.
#[test]
fn a_stranger() {
    let Some(socket) = std::env::var_os(STRANGER) else {
        return;
    };
    let mut stream = UnixStream::connect(socket).unwrap();
    let _ =
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut heard = Vec::new();
    let _ = stream.read_to_end(&mut heard);
    println!("\nheard {} bytes", heard.len());
}

/// This test needs the root user and the program `setpriv`, which runs a program as another user.
#[test]
fn another_user_hears_nothing_even_where_the_modes_would_let_them() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        println!("nobody else can be tried");
        return;
    }
    let (stand, daemon, _) = Stand::demo();
    let open = |path: &Path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o777));
    let exe = stand.dir.path().join("stranger");
    std::fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    for path in [
        stand.dir.path(),
        daemon.socket().parent().unwrap(),
        daemon.socket(),
        &exe,
    ] {
        open(path).unwrap();
    }
    let as_user = |user: &str| {
        let output = Command::new("setpriv")
            .args(["--reuid", user, "--clear-groups"])
            .arg(&exe)
            .args(["--exact", "wire::control::a_stranger", "--nocapture"])
            .env(STRANGER, daemon.socket())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        text
    };
    assert!(as_user("65534").contains("heard 0 bytes"));
    assert!(!as_user("0").contains("heard 0 bytes"));
}

#[test]
fn calls_want_a_token_there_too() {
    let (stand, daemon, _) = Stand::demo();
    let mut client = Client::unix(&daemon);
    assert_eq!(client.get("/v1/x").status, 401);
    let answer = client.call(&stand.token("demo"), "GET /v1/x", "");
    assert_eq!(answer.json()["team"], "demo");
    assert_eq!(client.get("/metrics").status, 200);
}

#[test]
fn what_its_user_controls_nobody_controls_over_tcp() {
    let (stand, daemon, token) = Stand::demo();
    for line in [
        "GET /control/status",
        "POST /control/stop",
        "POST /control/token/demo",
    ] {
        assert_eq!(
            Client::tcp(&daemon).ask(line, &[], "").status,
            401,
            "{line}"
        );
        let answer = Client::tcp(&daemon).call(&token, line, "");
        // The request is an ordinary call, with a path that no route has.
        assert_eq!(answer.json()["path"][0], "control", "{line}");
    }
    assert_eq!(stand.token("demo"), token);
    let status = Client::unix(&daemon).get("/control/status").json();
    assert_eq!(status["pid"], std::process::id());
    assert_eq!(status["url"], daemon.url());
    assert_eq!(status["stopping"], false);
    assert!(status["teams"]["demo"].is_object());
    assert!(!status.to_string().contains(&token));
}

#[test]
fn a_token_that_is_rotated_is_worth_nothing() {
    let stand = Stand::new(&["demo", "other"]);
    let daemon = stand.serve();
    let (old, other) = (stand.token("demo"), stand.token("other"));
    let mut client = Client::unix(&daemon);
    let answer = client.ask("POST /control/token/demo", &[], "");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["rotated"].as_bool(), Some(true));
    let new = stand.token("demo");
    assert_ne!(old, new);
    assert!(!answer.body.contains(&new));
    assert_eq!(client.call(&old, "GET /v1/x", "").status, 401);
    assert_eq!(client.call(&new, "GET /v1/x", "").status, 200);
    assert_eq!(client.call(&other, "GET /v1/x", "").status, 200);
    let mode = std::fs::metadata(stand.runtime_path("demo"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let answer = client.ask("POST /control/token/nobody", &[], "");
    answer.refused(404, "team_not_found");
}

#[test]
fn what_goes_on_under_a_token_ends_with_it_and_nothing_else_does() {
    let stand = Stand::new(&["demo", "other"]);
    let daemon = stand.serve();
    let (token, other) = (stand.token("demo"), stand.token("other"));
    let mut streams: Vec<_> = [&token, &token, &other]
        .map(|token| {
            let mut client = Client::tcp(&daemon);
            assert_eq!(client.call(token, "GET /v1/stream/100", "").status, 200);
            client
        })
        .into();
    let mut waiting: Vec<_> = [&token, &other]
        .map(|token| {
            let mut client = Client::tcp(&daemon);
            let request = format!(
                "POST /v1/api/await-event HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
                address(&daemon)
            );
            client.say(request.as_bytes());
            client
        })
        .into();
    until("all are answered or wait", || stand.calls() == 5);
    let rotated = Client::unix(&daemon).ask("POST /control/token/demo", &[], "");
    assert_eq!(rotated.status, 200);
    let since = Instant::now();
    let mut others = streams.split_off(2);
    for stream in &mut streams {
        // The stream ended with a complete body, so the connection was not broken.
        assert!(stream.chunks().is_some());
    }
    let refused = waiting[0].hear().unwrap();
    refused.refused(401, "unauthorized");
    assert!(since.elapsed() < Duration::from_secs(10));
    // Streams of other teams continue.
    let mut space = [0; 4096];
    for _ in 0..5 {
        assert!(others[0].stream.read(&mut space).unwrap() > 0);
    }
    let numbers = || Client::unix(&daemon).get("/metrics").body;
    until("the wait was given up", || {
        super::numbers::value(&numbers(), "teamlog_calls_awaiting") == 1
    });
    assert_eq!(super::numbers::value(&numbers(), "teamlog_streams"), 1);
}

#[test]
fn its_user_stops_the_daemon() {
    let (_stand, daemon, _) = Stand::demo();
    let answer = Client::unix(&daemon).ask("POST /control/stop", &[], "");
    assert_eq!(answer.status, 202);
    assert_eq!(answer.json()["stopping"].as_bool(), Some(true));
    assert!(daemon.wait());
}

/// Handler that answers each message in capital letters.
struct Echo;

impl Forward for Echo {
    fn answer(
        &self,
        served: &Arc<Served>,
        request: &[u8],
        caller: &Arc<Caller>,
    ) -> std::io::Result<()> {
        assert_eq!(served.names(), ["demo"]);
        assert_ne!(request, b"!", "on purpose");
        caller.send(&request.to_ascii_uppercase())
    }
}

#[test]
fn another_protocol_takes_a_connection_over_with_what_was_said_too_early() {
    let stand = Stand::new(&["demo"]);
    let mut options = stand.options();
    options.forward = Some(Arc::new(Echo));
    let daemon = serve(options).unwrap();
    let asking = |protocol: &str, version: &str| {
        format!(
            "GET /v1/forward HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\n\
             Upgrade: {protocol}\r\nteamlog-version: {version}\r\n\r\n"
        )
    };
    let ours = &daemon.running().version.clone();
    let mut client = Client::unix(&daemon);
    client.say(format!("{}\u{e}\0\0\0early ", asking(PROTOCOL, ours)).as_bytes());
    let answer = client.hear().unwrap();
    assert_eq!(answer.status, 101);
    assert_eq!(answer.header("upgrade"), Some(PROTOCOL));
    assert_eq!(answer.header("teamlog-version"), Some(ours.as_str()));
    client.say(b"and late");
    assert_eq!(client.rest(), b"\x0e\0\0\0EARLY AND LATE");

    let mut client = Client::unix(&daemon);
    client.say(asking(PROTOCOL, "0.0.0").as_bytes());
    let answer = client.hear().unwrap();
    answer.refused(409, "daemon_version_mismatch");
    // A client that names no version is refused.
    let silent = asking(PROTOCOL, "");
    client.say(silent.replace("teamlog-version: \r\n", "").as_bytes());
    assert_eq!(client.hear().unwrap().code(), "daemon_version_mismatch");
    // A client that names another version of the protocol is refused.
    for other in ["teamlog-forward", "teamlog-forward/1"] {
        client.say(asking(other, ours).as_bytes());
        assert_eq!(client.hear().unwrap().code(), "daemon_version_mismatch");
    }
    client.say(asking("websocket", ours).as_bytes());
    assert_eq!(client.hear().unwrap().status, 400);

    // A connection that fails does not affect other connections.
    let mut client = Client::unix(&daemon);
    client.say(asking(PROTOCOL, ours).as_bytes());
    assert_eq!(client.hear().unwrap().status, 101);
    client.say(b"\x01\0\0\0!");
    assert!(client.is_over());

    let mut client = Client::tcp(&daemon);
    client.say(
        asking(PROTOCOL, ours)
            .replace("localhost", &daemon.url()[7..])
            .as_bytes(),
    );
    assert_eq!(client.hear().unwrap().status, 401);
    assert!(daemon.stop());
}

//! `post` in `subscriptions.toml`: signed requests, failures, TLS, and refused files.

use crate::daemon::Daemon;
use crate::prelude::*;
use crate::subscriptions::{built, handled, position, shown};
use rustix::process::{Pid, Signal, kill_process};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

const SECRET: &str = "0123456789abcdef-secret";

/// Writes `subscriptions.toml` with one subscription of events of kind `built`.
fn file(cli: &Cli, lines: &str) -> PathBuf {
    let text = format!(
        "[[subscription]]\nteam = \"demo\"\nname = \"w\"\nkind = \"built\"\nfrom = \"start\"\n{lines}\n"
    );
    let file = cli.file("subscriptions.toml", &text);
    private(&file);
    file
}

fn private(path: &Path) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
}

/// Reads a request. Returns its head and body.
fn request(stream: &mut impl Read) -> (String, String) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let count = stream.read(&mut chunk).unwrap();
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .unwrap();
        if body.len() == length.parse::<usize>().unwrap() {
            return (head.to_owned(), body.to_owned());
        }
    }
}

fn header(head: &str, name: &str) -> String {
    let prefix = format!("{name}: ");
    let value = head.lines().find_map(|line| line.strip_prefix(&prefix));
    value
        .unwrap_or_else(|| panic!("no {name} in {head}"))
        .to_owned()
}

/// Answers requests one after another, each with the next of `answers`; the last one for all later requests. Returns the port and
/// the requests.
fn receiver(answers: &'static [&'static str]) -> (u16, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, requests) = channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream: TcpStream = stream.unwrap();
            let got = request(&mut stream);
            let answer = answers[number.min(answers.len() - 1)];
            let _ = stream.write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes());
            if send.send(got).is_err() {
                return;
            }
        }
    });
    (port, requests)
}

/// Stops a daemon, so that its leases end at once.
fn stop(daemon: Daemon) {
    let pid = Pid::from_raw(daemon.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(daemon.ended().0, Some(0));
}

#[test]
fn a_receiver_verifies_the_signature_of_each_posted_event() {
    let cli = Cli::with_team();
    let secret = cli.file("secret", &format!("{SECRET}\n"));
    private(&secret);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/receive_events.py");
    let mut receiver = Command::new("python3")
        .arg(example)
        .args([&secret, &cli.dir().join("handled")])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut port = String::new();
    let mut out = BufReader::new(receiver.stdout.take().unwrap());
    out.read_line(&mut port).unwrap();
    let url = format!("http://localhost:{}/events", port.trim());
    file(
        &cli,
        &format!("post = \"{url}\"\nsecret_file = \"{}\"", secret.display()),
    );
    let all = built(&cli, 3);
    let daemon = Daemon::of(&cli);
    until("the events are posted", || position(&cli) == all[2]);
    assert_eq!(handled(&cli), all);
    let run_by = shown(&cli)["subscription"]["run_by"].clone();
    let target = format!("post http://localhost:{}", port.trim());
    assert_eq!(run_by, json!({"pid": daemon.pid(), "target": target}));
    let doctor = cli.ok("doctor check demo --json");
    assert!(doctor.contains(&target), "{doctor}");
    // A forged request is refused.
    let mut stream = TcpStream::connect(format!("127.0.0.1:{}", port.trim())).unwrap();
    let forged = "POST / HTTP/1.1\r\nContent-Length: 2\r\nTeamlog-Timestamp: 1\r\n\
        Teamlog-Signature: v1=00\r\n\r\n{}";
    stream.write_all(forged.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(" 401 "), "{answer}");
    receiver.kill().unwrap();
    receiver.wait().unwrap();
    drop(daemon);
}

#[test]
fn failures_and_redirects_are_delivered_again_and_shown() {
    let cli = Cli::with_team();
    let (port, requests) = receiver(&[
        "302 Found\r\nLocation: http://127.0.0.1:1/\r\nRetry-After: 0",
        "503 Busy\r\nRetry-After: 0",
        "410 Gone\r\nRetry-After: 3600",
    ]);
    file(
        &cli,
        &format!(
            "post = \"http://127.0.0.1:{port}/hook?key=hidden\"\nsecret = \"{SECRET}\"\ntimeout_seconds = 5"
        ),
    );
    let all = built(&cli, 1);
    let daemon = Daemon::of(&cli);
    for attempt in ["1", "2", "3"] {
        let (head, body) = requests.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(head.starts_with("POST /hook?key=hidden HTTP/1.1"), "{head}");
        assert_eq!(header(&head, "Teamlog-Attempt"), attempt);
        assert_eq!(header(&head, "Teamlog-Seq"), all[0].to_string());
        assert_eq!(header(&head, "Teamlog-Team"), "demo");
        assert_eq!(header(&head, "Teamlog-Subscription"), "w");
        assert_eq!(header(&head, "Host"), format!("127.0.0.1:{port}"));
        let event: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(event["seq"], all[0]);
    }
    until("the third failure is stored", || {
        shown(&cli)["failing"][0]["attempts"] == 3
    });
    let shown = shown(&cli);
    assert_eq!(shown["failing"][0]["error"], "HTTP 410", "{shown}");
    let run_by = &shown["subscription"]["run_by"];
    let error = format!("event {}: HTTP 410", all[0]);
    assert_eq!(run_by["last_error"], error, "{shown}");
    assert!(run_by["last_error_at"].is_string(), "{shown}");
    assert!(!shown.to_string().contains("hidden"), "{shown}");
    let list = cli.ok("subscription list demo");
    assert!(list.contains("HTTP 410"), "{list}");
    let doctor = cli.ok("doctor check demo");
    assert!(doctor.contains("HTTP 410"), "{doctor}");
    // The delay of Retry-After is used.
    let text = cli.ok("subscription show demo w");
    assert!(text.contains("again in 59m"), "{text}");
    assert!(text.contains("last error"), "{text}");
    drop(daemon);
}

#[test]
fn a_certificate_is_verified_and_a_silent_receiver_times_out() {
    let cli = Cli::with_team();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let pem = include_str!("remote/server.pem");
    let key = include_str!("remote/server.key");
    let certificates = CertificateDer::pem_slice_iter(pem.as_bytes());
    let certificates: Vec<_> = certificates.map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    let config = Arc::new(config);
    let (send, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let server = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(server, stream.unwrap());
            let mut first = [0; 1];
            // A client that does not trust the certificate ends the handshake.
            if stream.read_exact(&mut first).is_err() {
                let _ = send.send(String::new());
                continue;
            }
            let got = request(&mut stream).0;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let _ = stream.flush();
            let _ = send.send(got);
        }
    });
    let ca = cli.file("ca.pem", include_str!("remote/ca.pem"));
    let post = format!("post = \"https://localhost:{port}/\"\nsecret = \"{SECRET}\"");
    let all = built(&cli, 1);
    file(&cli, &post);
    let daemon = Daemon::of(&cli);
    let wait = Duration::from_secs(30);
    assert_eq!(requests.recv_timeout(wait).unwrap(), "");
    until("the failure is stored", || {
        shown(&cli)["failing"][0]["error"].is_string()
    });
    let error = shown(&cli)["failing"][0]["error"].clone();
    assert!(error.as_str().unwrap().contains("certificate"), "{error}");
    stop(daemon);
    file(&cli, &format!("{post}\nca_file = \"{}\"", ca.display()));
    let daemon = Daemon::of(&cli);
    until("the event is posted", || position(&cli) == all[0]);
    stop(daemon);

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    file(
        &cli,
        &format!("post = \"http://127.0.0.1:{port}/\"\nsecret = \"{SECRET}\"\ntimeout_seconds = 1"),
    );
    built(&cli, 1);
    let daemon = Daemon::of(&cli);
    until("the timeout is stored", || {
        shown(&cli)["failing"][0]["error"] == "no response within 1 s"
    });
    drop(daemon);
}

#[test]
fn a_wrong_file_is_refused_with_line_field_and_rule() {
    let cli = Cli::with_team();
    let secret = format!("secret = \"{SECRET}\"");
    let http = "post = \"http://127.0.0.1:9/\"";
    for (lines, told) in [
        (
            String::new(),
            vec![
                "line 1",
                "subscription \"w\" needs exec (a program) or post (a URL)",
            ],
        ),
        (
            format!("exec = [\"x\"]\n{http}\n{secret}"),
            vec!["line 7", "post and exec exclude each other in w"],
        ),
        (
            "exec = []".to_owned(),
            vec!["line 6", "exec must have a program"],
        ),
        (
            http.to_owned(),
            vec!["line 6", "post needs secret or secret_file"],
        ),
        (
            format!("{http}\nsecret = \"short\""),
            vec![
                "line 7",
                "secret must have 16 to 1024 bytes, but the secret has 5",
            ],
        ),
        (
            format!("{http}\n{secret}\nsecret_file = \"x\""),
            vec!["line 8", "exclude each other"],
        ),
        (
            format!("{http}\n{secret}\ntimeout_seconds = 0"),
            vec!["line 8", "timeout_seconds \"0\" must be 1 to 86400"],
        ),
        (
            format!("{http}\n{secret}\nwindow = 999"),
            vec!["line 8", "window \"999\" must be 1 to 256"],
        ),
        (
            format!("{http}\n{secret}\nca_file = \"x\""),
            vec!["line 8", "ca_file is only for https"],
        ),
        (
            format!("exec = [\"x\"]\n{secret}"),
            vec!["line 7", "secret is only for post"],
        ),
        (
            format!("post = \"ftp://h/?key=hidden\"\n{secret}"),
            vec!["line 6", "post must begin with https:// or http://"],
        ),
        (
            format!("post = \"http://192.0.2.1/?key=hidden\"\n{secret}"),
            vec!["line 6", "http://192.0.2.1", "192.0.2.1; use https"],
        ),
        (
            format!("{http}\n{secret}\nmethod = \"PUT\""),
            vec!["line 8", "method"],
        ),
        (
            format!(
                "{http}\n{secret}\n[[subscription]]\nteam = \"demo\"\nname = \"w\"\nexec = [\"x\"]"
            ),
            vec!["line 8", "name \"w\" is twice"],
        ),
    ] {
        file(&cli, &lines);
        let error = cli.refused_json(1, "serve");
        for text in told {
            assert!(error.message.contains(text), "{lines}: {error:?}");
        }
        assert!(!error.message.contains("hidden"), "{error:?}");
    }
    file(&cli, "exec = [\"x\"]\nwindow = \"many\"");
    let error = cli.refused_json(1, "serve");
    assert!(error.message.contains("line 7: invalid type"), "{error:?}");
    assert!(!error.message.contains('\n'), "{error:?}");
    let exposed = cli.file("secret", SECRET);
    std::fs::set_permissions(&exposed, PermissionsExt::from_mode(0o644)).unwrap();
    file(
        &cli,
        &format!("{http}\nsecret_file = \"{}\"", exposed.display()),
    );
    assert_eq!(cli.refused_json(1, "serve").code, "key_exposed");
}

//! Connections that break, and servers that are not the expected daemon.

use super::line::{self, Cut, Line};
use super::*;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use std::net::TcpListener;

#[test]
fn a_daemon_of_another_version_or_something_else_is_told_from_ours() {
    let machine = Machine::unserved();
    for (answer, code) in [
        ("HTTP/1.1 409 Conflict\r\n\r\n", "daemon_version_mismatch"),
        ("HTTP/1.1 404 Not Found\r\n\r\n", "daemon_unreachable"),
        ("220 mail.example ESMTP\r\n", "daemon_unreachable"),
        ("", "daemon_unreachable"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let certificates = CertificateDer::pem_slice_iter(SERVER.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
                let provider = Arc::new(rustls::crypto::ring::default_provider());
                let config = ServerConfig::builder_with_provider(provider)
                    .with_safe_default_protocol_versions()
                    .unwrap()
                    .with_no_client_auth()
                    .with_single_cert(certificates.map(Result::unwrap).collect(), key)
                    .unwrap();
                let server = ServerConnection::new(Arc::new(config)).unwrap();
                let mut stream = StreamOwned::new(server, stream);
                let mut head = [0; 64];
                let _ = stream.read(&mut head);
                let _ = stream.write_all(answer.as_bytes());
                let _ = stream.flush();
            }
        });
        let mut command = machine.command("dev", "append demo --kind k_1 --json");
        command.env("TEAMLOG_REMOTE", format!("https://localhost:{port}"));
        assert_eq!(
            refused(Ran::of(&mut command)),
            (Some(69), code.to_owned()),
            "{answer}"
        );
    }
}

#[test]
fn whatever_the_line_does_a_command_is_carried_out_once_or_not_at_all() {
    let machine = Machine::new();
    let mut outcomes = BTreeMap::<&str, usize>::new();
    for (number, cut) in line::cuts().into_iter().enumerate() {
        let line = Line::to(machine.port, cut);
        let through = Machine {
            cli: machine.cli.copy(),
            daemon: None,
            elsewhere: machine.elsewhere.copy(),
            host: "localhost".to_owned(),
            port: line.port,
        };
        let subject = format!("number {number}");
        let create = format!("task create demo --task-id N-{number} --subject '{subject}' --json");
        let ran = through.run("dev", &create);
        let made = || {
            let tasks = machine.events();
            let tasks = tasks.iter().filter(|event| event["kind"] == "task_created");
            tasks
                .filter(|event| event["task_id"] == format!("N-{number}"))
                .count()
        };
        let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_default();
        match (
            ran.code,
            error["error"]["code"].as_str().unwrap_or_default(),
        ) {
            (Some(0), _) => {
                assert_eq!(made(), 1, "{cut:?}");
                *outcomes.entry("done").or_default() += 1;
            }
            (Some(69), "daemon_unreachable") => {
                assert_eq!(made(), 0, "{cut:?}: {ran:?}");
                *outcomes.entry("nothing").or_default() += 1;
            }
            (Some(74), "outcome_unknown") => {
                let key = error["error"]["details"]["key"].as_str().unwrap();
                assert!(
                    error["error"]["hint"].as_str().unwrap().contains(key),
                    "{error}"
                );
                machine.ok("dev", &format!("{create} --key {key}"));
                assert_eq!(made(), 1, "{cut:?}");
                *outcomes.entry("unknown").or_default() += 1;
            }
            _ => panic!("{cut:?}: {ran:?}"),
        }
    }
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
}

#[test]
fn a_slow_line_only_takes_longer_and_a_message_without_an_id_gets_one() {
    let machine = Machine::new();
    let line = Line::to(machine.port, Cut::Delays(Duration::from_millis(60)));
    let through = |agent: &str, words: &str| {
        let mut command = machine.command(agent, words);
        command.env("TEAMLOG_REMOTE", format!("https://localhost:{}", line.port));
        Ran::of(&mut command)
    };
    let ran = through("dev", "send demo --to lead --type handoff --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // Find a number of bytes to the client after which a cut loses the answer of a request that the
    // daemon has received.
    let lost = (1_000..6_000).step_by(100).find_map(|after| {
        let line = Line::to(machine.port, Cut::Back { after, reset: true });
        let mut command = machine.command("dev", "send demo --to lead --type handoff --json");
        command.env("TEAMLOG_REMOTE", format!("https://localhost:{}", line.port));
        let error: Value = serde_json::from_str(&Ran::of(&mut command).stderr).unwrap_or_default();
        let lost = error["error"]["code"] == "outcome_unknown";
        lost.then(|| {
            error["error"]["details"]["message_id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
    });
    let id = lost.unwrap();
    let again = format!("send demo --to lead --type handoff --message-id {id} --json");
    let again: Value = serde_json::from_str(&machine.ok("dev", &again)).unwrap();
    assert_eq!(again["message"]["id"], *id);
    let sent = machine.events();
    let sent = sent
        .iter()
        .filter(|event| event["message_id"] == *id && event["kind"] == "message_sent");
    assert_eq!(sent.count(), 1);
}

#[test]
fn a_reader_far_away_follows_and_whoever_is_gone_is_not_waited_for() {
    let machine = Machine::new();
    let mut tail = machine.command("qa", "tail demo -f --lines 0 --json");
    let mut tail = tail.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(BufReader::new(tail.stdout.take().unwrap()));
    // The first line shows that `tail` follows the log.
    let (mut number, mut heard) = (0, String::new());
    while heard.is_empty() {
        number += 1;
        machine.ok("dev", &format!("append demo --kind k_{number}"));
        if number > 3 {
            heard = lines.next().unwrap().unwrap();
        }
    }
    assert!(heard.contains("\"kind\":\"k_"), "{heard}");
    tail.kill().unwrap();
    tail.wait().unwrap();
    let for_ever = format!(
        "api await-event --input '{{\"team_name\":\"demo\",\"timeout_ms\":{},\"worker\":\"nobody\"}}'",
        u64::MAX
    );
    for line in ["wait demo --agent qa --timeout 60", &for_ever] {
        let mut waits = machine.command("qa", line);
        let mut waits = waits.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert!(waits.try_wait().unwrap().is_none(), "{line}");
        waits.kill().unwrap();
        waits.wait().unwrap();
    }
    // The daemon stops at once after `serve --stop`.
    let began = std::time::Instant::now();
    machine.cli.ok("serve --stop");
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
}

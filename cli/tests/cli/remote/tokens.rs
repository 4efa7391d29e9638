//! Scope, limits and expiry of tokens, and other programs that present a token.

use super::*;
use crate::daemon::ask;
use crate::waiting::until_some;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// Connects over TLS like another program.
fn connected(port: u16) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(CA.as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(client, TcpStream::connect(("127.0.0.1", port)).unwrap())
}

/// Sends a request over TLS. Returns the status, and the error code if the request is refused.
fn asked(
    machine: &Machine,
    token: &str,
    method: &str,
    target: &str,
    more: &str,
    body: &str,
) -> (u16, String) {
    let mut connection = connected(machine.port);
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: somewhere\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Length: {}\r\n{more}\r\n{body}",
        body.len()
    );
    connection.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = connection.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or(0);
    let code = answer.split("\"code\":\"").nth(1).unwrap_or_default();
    (
        status,
        code.split('"').next().unwrap_or_default().to_owned(),
    )
}

#[test]
fn a_token_lets_its_agent_so_far_and_no_further_and_not_once_it_is_revoked() {
    let machine = Machine::new();
    let forbidden = (Some(77), "forbidden".to_owned());
    for line in [
        "config set demo nudge.idle_seconds 5",
        "init demo --members ops",
        "usage demo --set --max-tokens 5",
        "token revoke demo 0000000000000000",
    ] {
        for agent in ["dev", "qa"] {
            assert_eq!(machine.refused(agent, line), forbidden, "{agent} {line}");
        }
    }
    assert_eq!(
        machine.refused("qa", "task create demo --subject x"),
        forbidden
    );
    assert_eq!(machine.refused("qa", "append demo --kind k_1"), forbidden);
    let api = "api create-task --json --input '{\"team_name\":\"demo\",\"subject\":\"S\",\"description\":\"D\"}'";
    assert!(
        machine
            .run("qa", api)
            .stdout
            .contains("\"code\":\"forbidden\"")
    );
    machine.ok("lead", "config set demo nudge.idle_seconds 5");
    machine.ok("lead", "init demo --members ops");
    let ops = machine.token("ops");
    machine.ok(
        "lead",
        &format!("token add demo --agent ops --out {}", ops.display()),
    );
    machine.ok("ops", "task create demo --subject x");
    // Commands that need direct access to the data are refused.
    for line in [
        "rehydrate demo",
        "teams",
        "doctor check demo",
        "backup demo ../b",
        "init other",
        "dashboard",
    ] {
        let (code, error) = machine.refused("lead", line);
        assert_ne!(code, Some(0), "{line}");
        assert!(
            ["remote_unsupported", "team_not_found"].contains(&&*error),
            "{line}: {error}"
        );
    }
    let (code, error) = machine.refused("lead", "status other");
    assert_eq!((code, &*error), (Some(1), "team_not_found"));
    let listed: Value =
        serde_json::from_str(&machine.ok("lead", "token list demo --agent ops --json")).unwrap();
    let token = listed["tokens"][0]["token_id"].as_str().unwrap();
    machine.ok("lead", &format!("token revoke demo {token}"));
    assert_eq!(
        machine.refused("ops", "status demo"),
        (Some(77), "unauthorized".to_owned())
    );
}

#[test]
fn other_programs_are_let_in_by_the_token_of_an_agent_alone() {
    let machine = Machine::new();
    let (dev, qa) = (machine.secret("dev"), machine.secret("qa"));
    let runtime =
        std::fs::read_to_string(machine.cli.dir().join("teams/demo/runtime.json")).unwrap();
    let runtime: Value = serde_json::from_str(&runtime).unwrap();
    let local = runtime["token"].as_str().unwrap();
    let get = |token: &str, target: &str| asked(&machine, token, "GET", target, "", "");
    assert_eq!(get(&dev, "/v1/status").0, 200);
    assert_eq!(get("", "/healthz").0, 200);
    for token in [
        local,
        "",
        "demo~dev~x",
        &dev.replace("dev", "lead"),
        &dev[..dev.len() - 1],
    ] {
        assert_eq!(
            get(token, "/v1/status"),
            (401, "unauthorized".to_owned()),
            "{token}"
        );
    }
    // The page and the routes about all teams are available only on the daemon's own machine.
    for target in ["/", "/metrics", "/readyz", "/control/status"] {
        assert_eq!(get(&dev, target).0, 404, "{target}");
    }
    let post =
        |token: &str, body: &str| asked(&machine, token, "POST", "/v1/api/create-task", "", body);
    let task = r#"{"subject":"S","description":"D"}"#;
    assert_eq!(post(&qa, task), (403, "forbidden".to_owned()));
    assert_eq!(post(&dev, task).0, 200);
    assert_eq!(machine.events().last().unwrap()["actor"], "dev");
    let as_lead = r#"{"from_worker":"lead","to_worker":"qa","body":"b"}"#;
    let (status, _) = asked(&machine, &dev, "POST", "/v1/api/send-message", "", as_lead);
    assert_eq!(status, 403);
    let budget = asked(
        &machine,
        &dev,
        "POST",
        "/v1/api/set-budget",
        "",
        r#"{"max_tokens":5}"#,
    );
    assert_eq!(budget, (403, "forbidden".to_owned()));
    let origin = asked(
        &machine,
        &dev,
        "GET",
        "/v1/status",
        "Origin: https://evil.example\r\n",
        "",
    );
    assert_eq!(origin, (403, "forbidden".to_owned()));
    let upgrade = |version: &str| {
        let more = format!(
            "Connection: Upgrade\r\nUpgrade: teamlog-forward/2\r\nteamlog-version: {version}\r\n"
        );
        asked(&machine, &dev, "GET", "/", &more, "")
    };
    assert_eq!(
        upgrade("0.0.0"),
        (409, "daemon_version_mismatch".to_owned())
    );
    // The token also works on the daemon's own machine.
    let url = machine.daemon.as_ref().unwrap().ready["url"]
        .as_str()
        .unwrap()
        .to_owned();
    let (status, ..) = ask(&url, &dev, "GET", "/v1/status", "");
    assert_eq!(status, 200);
    for target in ["/metrics", "/readyz"] {
        let (status, ..) = ask(&url, &dev, "GET", target, "");
        assert_eq!(status, 401, "{target}");
    }
}

#[test]
fn what_goes_on_under_a_token_ends_with_it() {
    let machine = Machine::new();
    let (mut tail, _lines) = following(machine.command("qa", "tail demo -f --json"));
    let mut wait = machine.command("qa", "wait demo --agent dev --timeout 600");
    let mut wait = wait
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let listed: Value = machine.cli.json("token list demo --agent qa --json");
    let token = listed["tokens"][0]["token_id"].as_str().unwrap();
    machine.cli.ok(&format!("token revoke demo {token}"));
    for process in [&mut tail, &mut wait] {
        let ended = until_some("it ends", || process.try_wait().unwrap().ok_or("at once"));
        assert_ne!(ended.code(), Some(0));
    }
    let mut told = String::new();
    tail.stderr
        .take()
        .unwrap()
        .read_to_string(&mut told)
        .unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["error"]["code"], "unauthorized", "{told}");
}

#[test]
fn a_stream_says_that_its_token_was_revoked() {
    let machine = Machine::new();
    let mut connection = connected(machine.port);
    let head = format!(
        "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\n\
         Connection: close\r\n\r\n",
        machine.secret("qa")
    );
    connection.write_all(head.as_bytes()).unwrap();
    let mut begin = [0; 12];
    connection.read_exact(&mut begin).unwrap();
    assert!(begin.ends_with(b"200"), "{begin:?}");
    let listed: Value = machine.cli.json("token list demo --agent qa --json");
    let token = listed["tokens"][0]["token_id"].as_str().unwrap();
    machine.cli.ok(&format!("token revoke demo {token}"));
    let mut rest = Vec::new();
    let _ = connection.read_to_end(&mut rest);
    let rest = String::from_utf8_lossy(&rest).into_owned();
    assert!(
        rest.contains("event: cut\ndata: {\"why\":\"the token was revoked"),
        "{rest}"
    );
}

#[test]
fn a_busy_daemon_is_waited_for() {
    let machine = Machine::new();
    let head = format!(
        "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\n\
         Upgrade: teamlog-forward/2\r\nteamlog-version: {}\r\n\r\n",
        machine.secret("qa"),
        env!("CARGO_PKG_VERSION")
    );
    // Open as many connections as a token permits, and send no request.
    let mut silent = Vec::new();
    loop {
        let mut connection = connected(machine.port);
        connection.write_all(head.as_bytes()).unwrap();
        let mut answer = [0; 12];
        connection.read_exact(&mut answer).unwrap();
        if answer.ends_with(b"503") {
            break;
        }
        silent.push(connection);
    }
    let (code, error) = machine.refused("qa", "status demo --lock-timeout 0.2");
    assert_eq!((code, &*error), (Some(75), "busy"));
    let mut waiting = machine
        .command("qa", "status demo --lock-timeout 60")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert!(waiting.try_wait().unwrap().is_none());
    drop(silent);
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
}

#[test]
fn who_stays_on_the_line_or_trickles_has_a_moment_and_a_place_of_its_own() {
    let machine = Machine::new();
    let upgraded = |agent: &str| {
        let mut connection = connected(machine.port);
        let head = format!(
            "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\n\
             Upgrade: teamlog-forward/2\r\nteamlog-version: {}\r\n\r\n",
            machine.secret(agent),
            env!("CARGO_PKG_VERSION")
        );
        connection.write_all(head.as_bytes()).unwrap();
        let mut answer = [0; 12];
        connection.read_exact(&mut answer).unwrap();
        (
            connection,
            String::from_utf8_lossy(&answer[9..]).into_owned(),
        )
    };
    // If the request stays incomplete, the daemon waits briefly and then closes the connection.
    let (mut silent, status) = upgraded("qa");
    assert_eq!(status, "101");
    silent.write_all(&9_u32.to_le_bytes()).unwrap();
    // A token cannot use the connections of another token.
    let all: Vec<_> = (0..33).map(|_| upgraded("qa")).collect();
    let refused = all.iter().filter(|(_, status)| status == "503").count();
    assert!(refused > 0, "{refused}");
    machine.ok("dev", "status demo");
    machine.cli.ok("append demo --kind k_1");
    // An invalid request closes the connection even if the client keeps its side open.
    let mut nonsense = all
        .into_iter()
        .find(|(_, status)| status == "101")
        .unwrap()
        .0;
    nonsense.write_all(&4_u32.to_le_bytes()).unwrap();
    nonsense.write_all(b"null").unwrap();
    nonsense
        .sock
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut rest = Vec::new();
    let ended = nonsense.read_to_end(&mut rest);
    assert!(
        ended.as_ref().map_or_else(
            |error| error.kind() != std::io::ErrorKind::WouldBlock,
            |_| true
        ),
        "{ended:?}"
    );
    let mut rest = Vec::new();
    silent
        .sock
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let ended = silent.read_to_end(&mut rest);
    assert!(
        ended.as_ref().map_or_else(
            |error| error.kind() != std::io::ErrorKind::WouldBlock,
            |_| true
        ),
        "{ended:?}"
    );
}

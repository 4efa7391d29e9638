//! One daemon, many machines: what is typed elsewhere, with the token of an agent, over TLS.

mod line;
mod namespaces;

use crate::daemon::{Daemon, ask};
use crate::prelude::*;
use line::{Cut, Line};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

/// The daemon's certificate, for which `CA` vouches: of localhost, 127.0.0.1 and 10.77.0.1.
const SERVER: &str = include_str!("remote/server.pem");
const KEY: &str = include_str!("remote/server.key");
const CA: &str = include_str!("remote/ca.pem");
/// Somebody else's.
const OTHER: &str = include_str!("remote/other.pem");

/// The machine of the daemon, and what others need to reach it.
struct Machine {
    cli: Cli,
    daemon: Option<Daemon>,
    /// Where nothing of the team lies.
    elsewhere: Cli,
    host: String,
    port: u16,
}

fn private(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
}

impl Machine {
    /// A daemon of the team `demo`, and a token for each of `lead` (operate), `dev` (act) and `qa` (read).
    fn new() -> Machine {
        let machine = Machine::unserved();
        let daemon = Daemon::with(&machine.cli, &machine.words("127.0.0.1:0"));
        let url = daemon.ready["remoteUrl"].as_str().unwrap().to_owned();
        let (_, port) = url.rsplit_once(':').unwrap();
        Machine {
            port: port.parse().unwrap(),
            daemon: Some(daemon),
            ..machine
        }
    }

    fn unserved() -> Machine {
        let (cli, elsewhere) = (Cli::with_team(), Cli::new());
        private(&cli.outside().join("server.pem"), SERVER);
        private(&cli.outside().join("server.key"), KEY);
        private(&elsewhere.outside().join("ca.pem"), CA);
        let machine = Machine {
            cli,
            daemon: None,
            elsewhere,
            host: "localhost".to_owned(),
            port: 0,
        };
        for (agent, scope) in [("lead", "operate"), ("dev", "act"), ("qa", "read")] {
            machine.cli.ok(&format!(
                "token add demo --agent {agent} --scope {scope} --out {}",
                machine.token(agent).display()
            ));
        }
        machine
    }

    fn words(&self, listen: &str) -> String {
        let dir = self.cli.outside().display();
        format!("--listen {listen} --tls-cert {dir}/server.pem --tls-key {dir}/server.key")
    }

    fn token(&self, agent: &str) -> PathBuf {
        self.elsewhere.outside().join(format!("{agent}.token"))
    }

    /// A command on another machine, of that agent.
    fn command(&self, agent: &str, line: &str) -> Command {
        let mut command = self.elsewhere.command(line);
        command
            .env(
                "TEAMLOG_REMOTE",
                format!("https://{}:{}", self.host, self.port),
            )
            .env("TEAMLOG_REMOTE_CA", self.elsewhere.outside().join("ca.pem"))
            .env("TEAMLOG_TOKEN_FILE", self.token(agent));
        command
    }

    fn run(&self, agent: &str, line: &str) -> Ran {
        Ran::of(&mut self.command(agent, line))
    }

    #[track_caller]
    fn ok(&self, agent: &str, line: &str) -> String {
        let ran = self.run(agent, line);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {ran:?}");
        ran.stdout
    }

    /// How it is refused: its exit, and the code of its error.
    fn refused(&self, agent: &str, line: &str) -> (Option<i32>, String) {
        refused(self.run(agent, &format!("{line} --json")))
    }

    fn events(&self) -> Vec<Value> {
        let text = self.cli.ok_of_any_shape("export demo");
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }
}

fn refused(ran: Ran) -> (Option<i32>, String) {
    let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_default();
    (
        ran.code,
        error["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    )
}

/// What only reads; each as people and as programs read it.
const QUESTIONS: &str = "\
status demo
status demo --at 4
status demo --digest
who demo
attention demo
tasks demo
tasks demo --owner nobody
tasks demo --status nonsense
task show demo T-1
task show demo T-99
task history demo T-1
ready demo
prime demo --agent dev
read demo --agent dev
read demo --agent nobody
wait demo --agent dev --timeout 0
wait demo --agent dev --since 1 --timeout 5
await demo --timeout-ms 0
deliveries demo
dead-letter list demo
thread list demo
thread tail demo thread-0001
thread search demo ship
mode list demo
mode show demo forge
mode explain demo blueprint
mode sessions demo
mode outcome demo --mode forge
state read --mode forge --team demo
state list-active --team demo
state get-status --team demo
bootstrap list demo
bootstrap show demo
bootstrap evidence demo
bootstrap explain demo --event core_ready_ack
usage demo
artifact list demo
artifact get demo notes.md
artifact get demo nothing.md
token list demo
config list demo
config get demo delivery.default.max_retries
config get demo no.such
traces demo
trace demo --trace-id tr-1
trace demo --trace-id tr-1 --format chrome
trace demo --trace-id tr-1 --format otlp-json
diff demo --from 1
diff demo --from 1 --to 3
diff demo --from 9999
can-write demo --agent dev src/io/lib.rs
can-write demo --agent dev README.md
views sync demo
verify demo
head demo
replay demo
replay demo --reverse --limit 3
replay demo --kind message_sent --since 1h
tail demo
tail demo --lines 2
export demo
export demo --format audit
api read-task --input '{\"team_name\":\"demo\",\"task_id\":\"T-1\"}'
api list-tasks --input '{\"team_name\":\"demo\"}'
";

/// What is recorded by `dev`, from elsewhere.
const STORY: &str = "\
task create demo --subject 'Ship it' --task-id T-1 --resource src/io --trace-id tr-1
task create demo --subject 'Write it' --task-id T-2
task claim demo T-1
send demo --to lead --type handoff --payload-json '{\"a\":1}'
thread start demo --title 'How to ship' --participants dev,qa
mode start demo forge --task 'fix every warning'
bootstrap list demo
artifact put demo notes --name notes.md
usage demo --report --input-tokens 7
append demo --kind build_finished
tick demo
task-update demo --from dev --to lead --task-id T-2 --status in_progress
";

#[test]
fn what_is_asked_elsewhere_is_answered_as_on_the_machine_of_the_daemon() {
    let machine = Machine::new();
    machine.elsewhere.file("notes", "what was found");
    for line in STORY.lines() {
        machine.ok("dev", line);
    }
    let mut wrong = Vec::new();
    for line in QUESTIONS.lines() {
        for line in [line.to_owned(), format!("{line} --json")] {
            let answers = || {
                let mut here = machine.cli.command(&line);
                let here = Ran::of(here.env("TEAMLOG_AGENT", "qa"));
                (here, machine.run("qa", &line))
            };
            let same = |(here, there): &(Ran, Ran)| {
                (here.code, timeless(&here.stdout), timeless(&here.stderr))
                    == (there.code, timeless(&there.stdout), timeless(&there.stderr))
            };
            // How long ago something was may change between the two.
            let mut answered = answers();
            for _ in 0..3 {
                if same(&answered) {
                    break;
                }
                answered = answers();
            }
            if !same(&answered) {
                wrong.push((line, answered));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Without the time of the answer.
fn timeless(text: &str) -> String {
    let mut text = text.to_owned();
    for marker in ["\"timestamp\":\"", "\"now\":\"", "\"time\":\""] {
        let parts: Vec<&str> = text.split(marker).collect();
        let rest = parts
            .iter()
            .skip(1)
            .map(|part| part.split_once('"').unwrap().1);
        text = [parts[0]].into_iter().chain(rest).collect();
    }
    let parts: Vec<&str> = text.split("_ms\":").collect();
    let rest = parts
        .iter()
        .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.collect()
}

#[test]
fn what_an_agent_records_from_elsewhere_is_its_own() {
    let machine = Machine::new();
    machine.elsewhere.file("notes", "what was found");
    let before = machine.events().len();
    for line in STORY.lines() {
        machine.ok("dev", line);
    }
    let events = machine.events().split_off(before);
    assert!(events.len() > 10, "{events:?}");
    for event in &events {
        assert_eq!(event["actor"], "dev", "{event}");
    }
    let keys = events.iter().filter(|event| event["key"].is_string());
    assert!(keys.count() > 4, "{events:#?}");
    // Nobody else, whatever is said of them.
    let count = machine.events().len();
    for line in [
        "send demo --from lead --to qa --type handoff",
        "--actor lead task create demo --subject x",
        "task claim demo T-2 --worker lead",
        "append demo --kind k_1 --actor lead",
        "ack demo --agent lead --message-id m",
        "api create-task --input '{\"team_name\":\"demo\",\"subject\":\"S\",\"description\":\"D\",\"actor\":\"lead\"}'",
    ] {
        let ran = machine.run("dev", line);
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
    }
    assert_eq!(machine.events().len(), count);
    assert!(!machine.elsewhere.dir().join("teams").exists());
}

#[test]
fn a_file_of_messages_is_imported_from_elsewhere_as_on_the_machine_of_the_daemon() {
    let machine = Machine::new();
    let message = |number: usize, from: &str| {
        format!(
            "{{\"id\":\"old-{number}\",\"type\":\"handoff\",\"from\":\"{from}\",\"to\":\"dev\",\
             \"created_at\":\"2024-01-01T00:00:00Z\",\"payload\":{{\"text\":\"{}\"}}}}\n",
            "x".repeat(900)
        )
    };
    let mut text: String = (0..1_000).map(|number| message(number, "qa")).collect();
    text.push_str("no message\n");
    let alone = machine.cli.copy();
    for cli in [&machine.elsewhere, &alone] {
        cli.file("messages.jsonl", &text);
    }
    let line = "import demo --messages messages.jsonl --restamp";
    let there = machine.run("lead", line);
    let here = alone.run(line);
    let plain = |text: &str| text.split(" in ").next().unwrap().to_owned();
    assert_eq!(
        (there.code, plain(&there.stdout)),
        (here.code, plain(&here.stdout)),
        "{there:?}"
    );
    assert_eq!(there.code, Some(0), "{there:?}");
    assert_eq!(there.stderr, here.stderr);
    let sent = |events: Vec<Value>| {
        let sent = events
            .iter()
            .filter(|event| event["kind"] == "message_sent");
        sent.count()
    };
    assert_eq!(sent(machine.events()), 1_000);
    let again = machine.run("lead", &format!("{line} --json"));
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["duplicates"], 1_000);
    let strict = machine.run("lead", &format!("{line} --strict"));
    assert_eq!(strict.code, Some(1), "{strict:?}");
    let dev = machine.refused("dev", line);
    assert_eq!(dev, (Some(77), "forbidden".to_owned()));
    let missing = machine.refused("lead", "import demo --messages none.jsonl");
    assert_eq!(missing, (Some(1), "invalid_input".to_owned()));
    let left: Vec<_> = std::fs::read_dir(machine.cli.dir())
        .unwrap()
        .flatten()
        .collect();
    assert!(
        left.iter()
            .all(|entry| !entry.file_name().to_string_lossy().starts_with(".import"))
    );
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
    // What needs the data itself.
    for line in [
        "rehydrate demo",
        "teams",
        "doctor check demo",
        "backup demo ../b",
        "init other",
        "board demo",
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
fn what_names_the_daemon_or_the_token_must_be_right() {
    let machine = Machine::new();
    let with = |set: &[(&str, &str)]| {
        let mut command = machine.command("dev", "status demo --json");
        command.envs(set.iter().copied());
        refused(Ran::of(&mut command))
    };
    let invalid = (Some(1), "invalid_input".to_owned());
    for url in [
        "http://localhost:1",
        "localhost:1",
        "https://",
        "https://ada:secret@localhost:1",
        "https://localhost:x",
    ] {
        assert_eq!(with(&[("TEAMLOG_REMOTE", url)]), invalid, "{url}");
    }
    let outside = machine.elsewhere.outside();
    let (nothing, open) = (outside.join("nothing"), outside.join("open.token"));
    std::fs::write(&open, std::fs::read(machine.token("dev")).unwrap()).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o640)).unwrap();
    private(&outside.join("no.token"), "secret");
    let path = |name: &str| outside.join(name).display().to_string();
    assert_eq!(
        with(&[("TEAMLOG_TOKEN_FILE", &nothing.display().to_string())]),
        invalid
    );
    assert_eq!(with(&[("TEAMLOG_TOKEN_FILE", "")]), invalid);
    assert_eq!(with(&[("TEAMLOG_TOKEN_FILE", &path("no.token"))]), invalid);
    assert_eq!(
        with(&[("TEAMLOG_TOKEN_FILE", &path("open.token"))]),
        (Some(1), "key_exposed".to_owned())
    );
    assert_eq!(with(&[("TEAMLOG_REMOTE_CA", &path("no.token"))]), invalid);
    let unreachable = (Some(69), "daemon_unreachable".to_owned());
    assert_eq!(
        with(&[("TEAMLOG_REMOTE", "https://localhost:1")]),
        unreachable
    );
    // Not the daemon's certificate, or not that of this name.
    private(&outside.join("other.pem"), OTHER);
    assert_eq!(
        with(&[("TEAMLOG_REMOTE_CA", &path("other.pem"))]),
        unreachable
    );
    let other_name = format!("https://127.0.0.2:{}", machine.port);
    assert_eq!(with(&[("TEAMLOG_REMOTE", &other_name)]), unreachable);
    // The certificate itself is as good as who vouches for it.
    private(&outside.join("server.pem"), SERVER);
    assert_eq!(
        with(&[("TEAMLOG_REMOTE_CA", &path("server.pem"))]),
        (Some(0), String::new())
    );
    // A data root that is named goes before.
    let line = format!("--data-root {} status demo", machine.cli.dir().display());
    assert_eq!(machine.run("dev", &line).code, Some(0));
}

#[test]
fn the_daemon_says_what_is_wrong_with_where_and_how_it_is_to_listen() {
    let machine = Machine::unserved();
    let dir = machine.cli.outside().display().to_string();
    for (words, said) in [
        ("--listen 0.0.0.0:0".to_owned(), "invalid_input"),
        (
            format!("--listen 0.0.0.0:0 --tls-cert {dir}/server.pem"),
            "usage",
        ),
        (
            format!("--tls-cert {dir}/none.pem --tls-key {dir}/server.key"),
            "invalid_input",
        ),
        (
            format!("--tls-cert {dir}/server.key --tls-key {dir}/server.key"),
            "invalid_input",
        ),
        (
            format!("--tls-cert {dir}/server.pem --tls-key {dir}/server.pem"),
            "invalid_input",
        ),
        ("--listen nowhere".to_owned(), "usage"),
    ] {
        let ran = machine.cli.run(&format!("serve {words} --json"));
        let (code, error) = refused(ran);
        assert_ne!(code, Some(0), "{words}");
        assert_eq!(error, said, "{words}");
    }
    let key = machine.cli.outside().join("server.key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    let ran = machine
        .cli
        .run(&format!("serve {} --json", machine.words("127.0.0.1:0")));
    assert_eq!(refused(ran), (Some(1), "key_exposed".to_owned()));
}

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

/// A connection as another program makes it.
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

/// What a request over TLS is answered: its status, and its code where it is refused.
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
fn other_programs_are_let_in_by_the_token_of_an_agent_alone() {
    let machine = Machine::new();
    let text = |agent: &str| {
        std::fs::read_to_string(machine.token(agent))
            .unwrap()
            .trim()
            .to_owned()
    };
    let (dev, qa) = (text("dev"), text("qa"));
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
    // What is about all teams, and the page, are for the daemon's own machine.
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
            "Connection: Upgrade\r\nUpgrade: teamlog-forward\r\nteamlog-version: {version}\r\n"
        );
        asked(&machine, &dev, "GET", "/", &more, "")
    };
    assert_eq!(
        upgrade("0.0.0"),
        (409, "daemon_version_mismatch".to_owned())
    );
    // On its own machine a token is as good.
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
fn a_token_that_is_used_too_often_has_to_rest() {
    let machine = Machine::new();
    let qa = std::fs::read_to_string(machine.token("qa"))
        .unwrap()
        .trim()
        .to_owned();
    let mut connection = connected(machine.port);
    let head = format!("GET /v1/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {qa}\r\n\r\n");
    let mut statuses = BTreeSet::new();
    for _ in 0..4 {
        let pipelined = head.repeat(150);
        connection.write_all(pipelined.as_bytes()).unwrap();
        let mut seen = String::new();
        while seen.matches("HTTP/1.1 ").count() < 150 {
            let mut space = [0; 1 << 14];
            let read = connection.read(&mut space).unwrap();
            seen.push_str(&String::from_utf8_lossy(&space[..read]));
        }
        let found = seen
            .split("HTTP/1.1 ")
            .skip(1)
            .map(|answer| answer[..3].to_owned());
        statuses.extend(found);
    }
    assert!(
        statuses.contains("200") && statuses.contains("429"),
        "{statuses:?}"
    );
    // Another agent's is none the worse.
    machine.ok("dev", "status demo");
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
    let line = Line::to(
        machine.port,
        Cut::Back {
            after: 2_000,
            reset: true,
        },
    );
    let mut command = machine.command("dev", "send demo --to lead --type handoff --json");
    command.env("TEAMLOG_REMOTE", format!("https://localhost:{}", line.port));
    let ran = Ran::of(&mut command);
    let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_default();
    if error["error"]["code"] == "outcome_unknown" {
        let id = error["error"]["details"]["message_id"].as_str().unwrap();
        let again = machine.ok(
            "dev",
            &format!("send demo --to lead --type handoff --message-id {id} --json"),
        );
        let again: Value = serde_json::from_str(&again).unwrap();
        assert_eq!(again["message"]["id"], id);
    }
}

#[test]
fn a_reader_far_away_follows_and_whoever_is_gone_is_not_waited_for() {
    let machine = Machine::new();
    let mut tail = machine.command("qa", "tail demo -f --lines 0 --json");
    let mut tail = tail.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(BufReader::new(tail.stdout.take().unwrap()));
    // It follows once it says nothing more of what was there.
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
    // A daemon that is told to stop ends at once.
    let began = std::time::Instant::now();
    machine.cli.ok("serve --stop");
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn what_goes_on_under_a_token_ends_with_it() {
    let machine = Machine::new();
    let mut tail = machine.command("qa", "tail demo -f --json");
    let mut tail = tail
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = BufReader::new(tail.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
    let mut wait = machine.command("qa", "wait demo --agent dev --timeout 600");
    let mut wait = wait
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let listed: Value = machine.cli.json("token list demo --agent qa --json");
    let token = listed["tokens"][0]["token_id"].as_str().unwrap();
    machine.cli.ok(&format!("token revoke demo {token}"));
    let until = std::time::Instant::now() + Duration::from_secs(20);
    for process in [&mut tail, &mut wait] {
        let code = loop {
            if let Some(status) = process.try_wait().unwrap() {
                break status.code();
            }
            assert!(std::time::Instant::now() < until, "it goes on");
            std::thread::sleep(Duration::from_millis(50));
        };
        assert_ne!(code, Some(0));
    }
}

#[test]
fn bytes_that_look_like_another_answer_come_through_as_they_are() {
    let machine = Machine::new();
    let text = "HTTP/1.1 400 ".repeat(60_000);
    machine.elsewhere.file("odd", &text);
    machine.ok("dev", "artifact put demo odd --name odd");
    assert_eq!(machine.ok("qa", "artifact get demo odd"), text);
    let line = format!(
        "{{\"kind\":\"k_1\",\"payload\":{{\"text\":\"{}\"}}}}\n",
        "HTTP/1.1 431 ".repeat(4_000)
    );
    machine.elsewhere.file("facts.jsonl", &line.repeat(6));
    machine.ok("dev", "append demo --batch facts.jsonl");
    let here = machine.cli.ok_of_any_shape("export demo");
    assert_eq!(machine.ok("qa", "export demo"), here);
}

#[test]
fn who_stays_on_the_line_or_trickles_has_a_moment_and_a_place_of_its_own() {
    let machine = Machine::new();
    let token = |agent: &str| {
        std::fs::read_to_string(machine.token(agent))
            .unwrap()
            .trim()
            .to_owned()
    };
    let upgraded = |agent: &str| {
        let mut connection = connected(machine.port);
        let head = format!(
            "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\n\
             Upgrade: teamlog-forward\r\nteamlog-version: {}\r\n\r\n",
            token(agent),
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
    // No request: it is heard for a moment, and the line ends.
    let (mut silent, status) = upgraded("qa");
    assert_eq!(status, "101");
    silent.write_all(&9_u32.to_le_bytes()).unwrap();
    // One token takes no place of another's.
    let all: Vec<_> = (0..33).map(|_| upgraded("qa")).collect();
    let refused = all.iter().filter(|(_, status)| status == "503").count();
    assert!(refused > 0, "{refused}");
    machine.ok("dev", "status demo");
    machine.cli.ok("append demo --kind k_1");
    // Nonsense is no request, and ends the line although its other end stays open.
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

//! A daemon on a full disk answers every GET, and answers 507 to a write.

use super::{Medium, sample};
use crate::daemon::Daemon;
use crate::prelude::*;
use crate::reference::prepared;
use std::io::Write;

/// A daemon whose teams are on a small disk.
struct Served {
    daemon: Daemon,
    teams: PathBuf,
}

impl Served {
    fn new(cli: &Cli) -> Served {
        let mut command = Medium::Small.on(cli);
        command
            .arg(env!("CARGO_BIN_EXE_teamlog"))
            .args(["serve", "--json"]);
        let daemon = Daemon::started(command);
        // Access the disk through the daemon's process, because only the daemon has it mounted.
        let teams = format!("/proc/{}/root{}/teams", daemon.pid(), cli.dir().display());
        let teams = PathBuf::from(teams);
        Served { daemon, teams }
    }

    fn fill(&self) {
        let mut file = std::fs::File::create(self.teams.join(".filler")).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
    }

    fn empty(&self) {
        std::fs::remove_file(self.teams.join(".filler")).unwrap();
    }

    /// Sends a request with the team's token. Returns status, head and body.
    fn ask(&self, method: &str, target: &str, body: &str) -> (u16, String, Value) {
        let runtime = std::fs::read(self.teams.join("demo/runtime.json")).unwrap();
        let runtime: Value = serde_json::from_slice(&runtime).unwrap();
        let token = runtime["token"].as_str().unwrap();
        self.daemon.ask(token, method, target, body)
    }

    /// Returns every GET request of the daemon's OpenAPI document, with its required parameters.
    fn targets(&self) -> Vec<String> {
        let (_, _, document) = self.ask("GET", "/v1/openapi.json", "");
        let paths = document["paths"].as_object().unwrap();
        let reading = paths.iter().filter(|(_, item)| item.get("get").is_some());
        reading
            .map(|(path, item)| target(path, &item["get"]))
            .collect()
    }

    /// Sends every GET request. Returns status and head of each reply.
    fn read_all(&self) -> Vec<(String, u16, String)> {
        let targets = self.targets();
        let ask = |target: String| {
            let (status, head, _) = self.ask("GET", &target, "");
            (target, status, head)
        };
        targets.into_iter().map(ask).collect()
    }

    /// Posts until the answer is not `poisoned`: a write of the daemon itself can fail at the same moment, and then this request wrote
    /// nothing and may be repeated. `code` is the place of the code in the answer.
    fn refused_write(&self, path: &str, body: &str, code: &str) -> (u16, Value) {
        for _ in 0..20 {
            let (status, _, answer) = self.ask("POST", path, body);
            if answer.pointer(code) != Some(&json!("poisoned")) {
                return (status, answer);
            }
            assert_eq!(status, 503, "{answer}");
        }
        panic!("every write to {path} was answered poisoned");
    }
}

fn target(path: &str, described: &Value) -> String {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in described["parameters"].as_array().into_iter().flatten() {
        if parameter["required"] != true {
            continue;
        }
        let name = parameter["name"].as_str().unwrap();
        let value = match sample(name, &parameter["schema"]) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        match parameter["in"] == "path" {
            true => path = path.replace(&format!("{{{name}}}"), &value),
            false => query.push(format!("{name}={}", value.replace('/', "%2F"))),
        }
    }
    // The name of a projection has no dot.
    let path = path.replace("/projections/fix.patch", "/projections/counts");
    match query.is_empty() {
        true => path,
        false => format!("{path}?{}", query.join("&")),
    }
}

/// Checks that every GET request got status 200, except for `/readyz` and `/v1/root/teams`.
#[track_caller]
fn all_well(read: &[(String, u16, String)]) {
    assert!(read.len() > 12, "{read:?}");
    for (target, status, head) in read
        .iter()
        .filter(|(target, ..)| !["/readyz", "/v1/root/teams"].contains(&target.as_str()))
    {
        assert_eq!(*status, 200, "{target}: {head}");
    }
}

#[test]
fn every_get_answers_while_the_disk_is_full_and_a_write_is_answered_507() {
    if !Medium::Small.is_there() {
        return;
    }
    let cli = prepared();
    let served = Served::new(&cli);
    all_well(&served.read_all());
    served.fill();
    // The event is larger than the free part of a block, so only a part of it is written.
    let long = format!(
        "{{\"title\":\"big\",\"description\":\"{}\"}}",
        "x".repeat(200_000)
    );
    for _ in 0..2 {
        let (status, body) = served.refused_write("/v1/tasks", &long, "/error/code");
        assert_eq!(
            (status, &body["error"]["code"]),
            (507, &json!("no_space")),
            "{body}"
        );
    }
    let (status, body) = served.refused_write(
        "/v1/api/create-task",
        r#"{"subject":"big","description":"x"}"#,
        "/error/details/code",
    );
    assert_eq!(
        (status, &body["error"]["details"]["code"]),
        (507, &json!("no_space")),
        "{body}"
    );
    let read = served.read_all();
    all_well(&read);
    let noting = read.iter().filter(|(_, _, head)| {
        let head = head.to_lowercase();
        head.contains("x-teamlog-note: ") && head.contains("after the durable head")
    });
    assert!(noting.count() > 8, "{read:?}");
    until("the full disk is told", || {
        let (status, _, body) = served.ask("GET", "/readyz", "");
        status == 503 && body["teams"]["demo"]["code"] == "no_space"
    });
    assert_eq!(served.ask("GET", "/healthz", "").0, 200);
    served.empty();
    let (status, _, body) = served.ask("POST", "/v1/tasks", r#"{"title":"small"}"#);
    assert_eq!(status, 201, "{body}");
    let read = served.read_all();
    all_well(&read);
    assert!(
        read.iter()
            .all(|(_, _, head)| !head.contains("after the durable head"))
    );
}

//! `/metrics`, `/healthz`, `/readyz`.

use super::stand::Stand;
use crate::client::{Client, until};
use crate::segment;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};
use teamlog_team::RootOptions;
use teamlog_team::backup::dir::BackupDir;
use teamlog_team::message::send_message::SendMessage;
use teamlog_team::task::claim::TaskClaim;
use teamlog_team::task::create::TaskCreate;

/// Returns the value of a metric's series.
pub fn value(text: &str, series: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    let line = line.unwrap_or_else(|| panic!("no {series} in\n{text}"));
    line.trim().parse::<f64>().unwrap() as u64
}

#[test]
fn what_happened_is_counted() {
    let (_stand, daemon, token) = Stand::demo();
    let mut client = Client::tcp(&daemon);
    for _ in 0..3 {
        client.call(&token, "GET /v1/x", "");
    }
    client.call("wrong", "GET /v1/x", "");
    let answer = client.call(&token, "GET /metrics", "");
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    let numbers = answer.body;
    assert!(numbers.ends_with("# EOF\n"));
    for (series, expected) in [
        ("teamlog_answers_total{status=\"200\"}", 3),
        ("teamlog_answers_total{status=\"401\"}", 1),
        ("teamlog_refusals_total{code=\"unauthorized\"}", 1),
        ("teamlog_answer_seconds_count", 4),
        ("teamlog_connections{via=\"tcp\"}", 1),
        ("teamlog_teams_served", 1),
    ] {
        assert_eq!(value(&numbers, series), expected, "{series}\n{numbers}");
    }
    assert!(!numbers.contains(&token));
}

#[test]
fn what_is_written_to_a_team_is_counted_by_events_commands_and_syncs() {
    let stand = Stand::new(&["demo", "other"]);
    let daemon = stand.serve();
    let numbers = || Client::unix(&daemon).get("/metrics").body;
    let in_log = value(&numbers(), "teamlog_events{team=\"demo\"}");
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let served = daemon.served().clone();
            std::thread::spawn(move || {
                let create = TaskCreate {
                    subject: format!("t{number}"),
                    ..TaskCreate::default()
                };
                served.team("demo").unwrap().task_create(create).unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let numbers = numbers();
    let of = |name: &str| value(&numbers, &format!("teamlog_{name}{{team=\"demo\"}}"));
    assert_eq!((of("events"), of("appends_total")), (in_log + 8, 8));
    assert_eq!((of("commands_total"), of("batch_sum")), (8, 8));
    assert_eq!(of("syncs_total"), of("batch_count"));
    assert!((1..=8).contains(&of("syncs_total")), "{numbers}");
    assert!(of("appended_bytes_total") > 8 * 100, "{numbers}");
    assert_eq!((of("projection_lag"), of("views_behind")), (0, 0));
    let pending = "teamlog_tasks{team=\"demo\",status=\"pending\"}";
    assert_eq!(value(&numbers, pending), 8);
    let endless = "teamlog_batch_bucket{le=\"+Inf\",team=\"demo\"}";
    assert_eq!(value(&numbers, endless), of("syncs_total"));
    assert_eq!(value(&numbers, "teamlog_appends_total{team=\"other\"}"), 0);
}

#[test]
fn leases_are_counted_while_they_run_and_when_they_ran_out() {
    let (_stand, daemon, _) = Stand::demo();
    let leases = || {
        let numbers = Client::unix(&daemon).get("/metrics").body;
        ["leases", "leases_granted_total", "leases_expired_total"]
            .map(|name| value(&numbers, &format!("teamlog_{name}{{team=\"demo\"}}")))
    };
    assert_eq!(leases(), [0, 0, 0]);
    let mut team = daemon.served().team("demo").unwrap();
    for (task, lease_ms) in [("1", 600_000), ("2", 600_000), ("3", 3_000)] {
        let create = TaskCreate {
            subject: task.to_owned(),
            ..TaskCreate::default()
        };
        team.task_create(create).unwrap();
        let claim = TaskClaim {
            task_id: task.to_owned(),
            worker: "ada".to_owned(),
            lease_ms: Some(lease_ms),
            ..TaskClaim::default()
        };
        team.task_claim(claim).unwrap();
    }
    assert_eq!(leases(), [3, 3, 0]);
    // An expired lease no longer counts as held, even if no event has recorded the expiry yet.
    until("it ran out", || leases()[..2] == [2, 3]);
    until("it is recorded", || leases() == [2, 3, 1]);
}

#[test]
fn what_an_operator_watches_is_told_of_each_team() {
    let (stand, daemon, _) = Stand::demo();
    let numbers = || Client::unix(&daemon).get("/metrics").body;
    let series = |name: &str| format!("teamlog_{name}{{team=\"demo\"}}");
    assert!(!numbers().contains(&series("last_backup_timestamp_seconds")));
    until("the log is verified and the files are measured", || {
        let numbers = numbers();
        ["last_verify_timestamp_seconds", "disk_bytes"]
            .iter()
            .all(|name| numbers.contains(&series(name)))
    });
    let mut team = daemon.served().team("demo").unwrap();
    for number in 0..3 {
        let send = SendMessage {
            from_worker: "lead".to_owned(),
            to_worker: "dev".to_owned(),
            body: format!("no {number}"),
        };
        team.send_message(send).unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let backup_dir =
        BackupDir::create(elsewhere.path(), stand.dir.path(), RootOptions::default()).unwrap();
    team.backup(&backup_dir).unwrap();
    let text = numbers();
    let of = |name: &str| value(&text, &series(name));
    assert_eq!((of("unread_messages"), of("dead_letters_total")), (3, 0));
    assert_eq!(of("last_verify_sound"), 1);
    assert!(of("disk_bytes") > 4096, "{text}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    for name in [
        "last_verify_timestamp_seconds",
        "last_backup_timestamp_seconds",
    ] {
        let age = now.as_secs() - of(name);
        assert!(age < 60, "{name} {age}");
    }
    let places = ["forwarded_running", "forwarded_waiting"];
    assert_eq!(
        places.map(|name| value(&text, &format!("teamlog_{name} "))),
        [0, 0]
    );
}

#[test]
fn whoever_follows_a_stream_is_counted_until_they_go() {
    let (stand, daemon, _) = Stand::demo();
    let streams = || {
        value(
            &Client::unix(&daemon).get("/metrics").body,
            "teamlog_streams",
        )
    };
    assert_eq!(streams(), 0);
    let mut client = Client::tcp(&daemon);
    client.call(&stand.token("demo"), "GET /v1/stream/10", "");
    assert_eq!(streams(), 1);
    drop(client);
    until("it is not counted any more", || streams() == 0);
}

#[test]
fn every_number_is_explained_and_every_explained_number_is_there() {
    let (stand, daemon, _) = Stand::demo();
    let mut client = Client::tcp(&daemon);
    client.call("wrong", "GET /v1/x", "");
    let numbers = client.call(&stand.token("demo"), "GET /metrics", "").body;
    let given: BTreeSet<String> = numbers
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(|line| match line.split_once(' ').unwrap() {
            (name, "counter") => format!("{name}_total"),
            (name, _) => name.to_owned(),
        })
        .collect();
    let document = include_str!("../../../../docs/http.md");
    let explained: BTreeSet<String> = document
        .split('`')
        .filter(|word| word.starts_with("teamlog_"))
        .map(|word| word.split('{').next().unwrap().to_owned())
        .collect();
    assert_eq!(given, explained);
}

#[test]
fn a_daemon_is_ready_when_its_teams_are() {
    let stand = Stand::new(&["demo", "ill"]);
    let daemon = stand.serve();
    let token = stand.token("demo");
    let mut client = Client::tcp(&daemon);
    until("it is ready", || client.get("/readyz").status == 200);
    assert_eq!(
        client.get("/readyz").json(),
        json!({"status": "ready", "served": 2, "unready": 0})
    );
    let full = client.call(&token, "GET /readyz", "").json();
    assert_eq!(full["teams"]["ill"], json!({"condition": "sound"}));
    assert!(daemon.stop());

    // Change a byte in the middle of acknowledged events.
    segment::flip(&segment::of(stand.dir.path(), "ill"));
    let daemon = stand.serve();
    let token = stand.token("demo");
    let mut client = Client::tcp(&daemon);
    until("what is damaged is found", || {
        client.call(&token, "GET /readyz", "").json()["teams"]["ill"]["condition"] == "unready"
    });
    // The team may be unready before its whole log was verified.
    let found = "teamlog_last_verify_sound{team=\"ill\"} 0";
    until("its log is verified", || {
        let numbers = client.call(&token, "GET /metrics", "").body;
        numbers.lines().any(|line| line == found)
    });
    until("the other one is sound", || {
        client.get("/readyz").json()["unready"] == 1
    });
    let answer = client.call(&token, "GET /readyz", "");
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.json()["teams"]["ill"]["code"], "damaged");
    assert!(client.get("/readyz").json().get("teams").is_none());
    assert_eq!(client.get("/healthz").json()["status"], "ok");
}

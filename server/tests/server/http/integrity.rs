//! Routes for background checks, receipts and disk usage.

use super::stand::{Stand, TEAM};
use crate::{client, segment};
use serde_json::{Value, json};
use std::os::unix::fs::FileExt;
use teamlog_team::{BackupDir, Root, RootOptions};

fn get(stand: &Stand, target: &str) -> Value {
    stand.with_token("GET", target, "").is(200).json()
}

fn post(stand: &Stand, target: &str, body: &str) -> Value {
    stand.with_token("POST", target, body).is(200).json()
}

/// Waits until the answer of a route fulfils a condition. Returns the answer.
#[track_caller]
fn until(stand: &Stand, target: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let mut told = Value::Null;
    client::until(target, || {
        told = get(stand, target);
        fits(&told)
    });
    told
}

fn make(stand: &Stand, count: usize) {
    for number in 0..count {
        let body = json!({"title": format!("task {number}")}).to_string();
        stand.with_token("POST", "/v1/tasks", &body).is(201);
    }
}

/// Flips a bit in the middle of the log. Returns the name of the changed file.
fn flip(stand: &Stand) -> String {
    let path = segment::of(stand.dir.path(), TEAM);
    segment::flip(&path);
    format!("events/{}", path.file_name().unwrap().to_str().unwrap())
}

#[test]
fn a_verification_is_made_behind_the_answer_and_its_result_outlives_the_daemon() {
    let stand = Stand::new();
    make(&stand, 20);
    // The daemon starts a check at its start.
    let first = until(&stand, "/v1/verify", |told| told["state"] == "done");
    assert_eq!((&first["ok"], &first["team"]), (&json!(true), &json!(TEAM)));
    let begun = post(&stand, "/v1/verify", "");
    assert_eq!(begun["state"], "running");
    assert!(begun["progress"]["bytes"].is_u64(), "{begun}");
    let newer = |told: &Value| {
        told["state"] == "done" && told["finished_at"].as_str() > first["finished_at"].as_str()
    };
    let second = until(&stand, "/v1/verify", newer);
    assert_eq!(second["events"], get(&stand, "/v1/status")["last_seq"]);
    assert_eq!(second["progress"], Value::Null);
    let file = flip(&stand);
    post(&stand, "/v1/api/verify-start", "{}");
    let damaged = until(&stand, "/v1/verify", |told| told["ok"] == false);
    assert_eq!(damaged["problems"][0]["file"], json!(file));
    let stand = stand.restarted();
    let told = get(&stand, "/v1/verify");
    assert_eq!(told["ok"], false, "{told}");
}

#[test]
fn everything_is_checked_behind_the_answer() {
    let stand = Stand::new();
    make(&stand, 3);
    assert_eq!(get(&stand, "/v1/doctor")["state"], "never");
    assert_eq!(post(&stand, "/v1/doctor", "{}")["state"], "running");
    let sound = until(&stand, "/v1/doctor", |told| told["state"] == "done");
    assert_eq!(sound["healthy"], true, "{sound}");
    assert!(sound["checks"].as_array().unwrap().len() > 10);
    flip(&stand);
    post(&stand, "/v1/doctor", "");
    let unwell = until(&stand, "/v1/doctor", |told| told["healthy"] == false);
    let checks = unwell["checks"].as_array().unwrap();
    let segments = checks
        .iter()
        .find(|check| check["name"] == "segments")
        .unwrap();
    assert_eq!(segments["status"], "unhealthy");
    assert!(segments["hint"].as_str().unwrap().starts_with("teamlog "));
}

#[test]
fn a_receipt_of_the_head_holds_until_a_byte_changes() {
    let stand = Stand::new();
    make(&stand, 10);
    let receipt = get(&stand, "/v1/head");
    make(&stand, 10);
    let asked = json!({"receipt": receipt}).to_string();
    let ask = |stand: &Stand| post(stand, "/v1/receipts/check", &asked);
    let held = ask(&stand);
    assert_eq!(held["holds"], true);
    assert_eq!(held["seq"], receipt["seq"]);
    let then = format!("/v1/head?sign=false&at={}", receipt["seq"]);
    assert_eq!(get(&stand, &then), receipt);
    let file = flip(&stand);
    // The flipped bit can be outside of the bytes that the receipt covers, so also damage the middle of the covered
    // bytes.
    let path = stand.dir.path().join("teams").join(TEAM).join(&file);
    let log = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let early = receipt["length"].as_u64().unwrap() / 2;
    log.write_all_at(b"\x01", early).unwrap();
    let changed = ask(&stand);
    assert_eq!(changed["holds"], false);
    assert_eq!(changed["problem"]["file"], json!(file));
    assert!(
        changed["problem"]["seq"].as_u64() <= receipt["seq"].as_u64(),
        "{changed}"
    );
    let broken = r#"{"receipt":{"seq":1}}"#;
    let refused = stand.with_token("POST", "/v1/receipts/check", broken);
    refused.is(400);
    stand.with_token("GET", "/v1/head?sign=true", "").is(400);
}

#[test]
fn the_disk_the_segments_and_the_backups_are_told() {
    let stand = Stand::new();
    make(&stand, 3);
    let elsewhere = tempfile::tempdir().unwrap();
    let root = Root::open(stand.dir.path(), RootOptions::default()).unwrap();
    let place = BackupDir::create(elsewhere.path(), stand.dir.path(), RootOptions::default());
    let kept = root.team(TEAM).unwrap().backup(&place.unwrap()).unwrap();
    let told = get(&stand, "/v1/storage");
    let (free, total) = (&told["disk"]["free_bytes"], &told["disk"]["total_bytes"]);
    assert!(free.as_u64().unwrap() > 0 && free.as_u64() <= total.as_u64());
    let segment = &told["log"]["segments"][0];
    assert_eq!(segment["first_seq"], 1);
    assert_eq!(segment["sealed"], false);
    assert_eq!(segment["last_seq"], get(&stand, "/v1/status")["last_seq"]);
    assert_eq!(segment["bytes"], told["log"]["bytes"]);
    let backup = &told["backups"][0];
    assert_eq!(backup["last_seq"], json!(kept.seq));
    assert_eq!(backup["bytes"], json!(kept.bytes));
    assert_eq!(told["backups_unreadable"], Value::Null);
    drop(elsewhere);
    let gone = get(&stand, "/v1/storage");
    assert_eq!(gone["backups"], json!([]));
    assert!(gone["backups_unreadable"][0]["why"].is_string(), "{gone}");
}

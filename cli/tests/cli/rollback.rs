//! A log that was set back to an older state, for example because its files are under version
//! control. Every command reports the rollback, newer files stay unchanged, and the operator can
//! accept the rollback.

use crate::daemon::{Daemon, ask};
use crate::prelude::*;

/// The files of a team that are under version control, with their contents.
struct Tracked(Vec<(PathBuf, Vec<u8>)>);

impl Tracked {
    fn of(cli: &Cli) -> Tracked {
        let team = team(cli);
        let segments = std::fs::read_dir(team.join("events")).unwrap();
        let segments = segments.map(|entry| entry.unwrap().path());
        let others = ["head", "log.json"].map(|name| team.join(name));
        let read = |path: PathBuf| (path.clone(), std::fs::read(path).unwrap());
        Tracked(segments.chain(others).map(read).collect())
    }

    /// Restores the tracked files like `git checkout`: removes each existing file, and writes a new
    /// file.
    fn check_out(&self) {
        for (path, bytes) in &self.0 {
            std::fs::remove_file(path).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
}

fn team(cli: &Cli) -> PathBuf {
    cli.dir().join("teams/demo")
}

/// Collects all files of a team with their contents, except for the notes of checks.
fn files(dir: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false if path.ends_with("derived/verify.json") => {}
            false => drop(found.insert(path.clone(), std::fs::read(&path).unwrap())),
        }
    }
}

fn all_files(cli: &Cli) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    files(&team(cli), &mut found);
    found
}

/// Creates a task, saves the files, then claims the task twice and completes it.
fn story(format: &str) -> (Cli, Tracked, u64) {
    let cli = Cli::with_team_of(format);
    cli.ok("task create demo --task-id T-1 --subject 'Fix it'");
    let tracked = Tracked::of(&cli);
    cli.ok("task claim demo T-1 --worker dev");
    cli.ok("task release demo T-1 --worker dev --epoch 1");
    let claim: Value = cli.json("task claim demo T-1 --worker dev");
    assert_eq!(claim["epoch"], 2);
    cli.ok("send demo --from lead --to dev --type handoff");
    cli.ok("task complete demo T-1 --epoch 2 --worker dev");
    let head: Value = cli.json("head demo");
    (cli, tracked, head["seq"].as_u64().unwrap())
}

#[test]
fn a_log_that_was_put_back_is_refused_told_kept_and_accepted() {
    for format in ["jsonl", "binary"] {
        let (cli, tracked, known) = story(format);
        tracked.check_out();
        let before = all_files(&cli);
        for line in [
            "task claim demo T-1 --worker qa",
            "send demo --from lead --to dev --type handoff",
            "rehydrate demo",
            "rehydrate demo --salvage",
            "convert demo --to binary",
        ] {
            let error = cli.refused_json(65, line);
            assert_eq!(error.code, "rolled_back", "{line}");
            let hint = error.hint.unwrap_or_default();
            shows!(hint => has "doctor repair demo --accept-rollback");
            assert_eq!(error.details["known_seq"], known, "{line}");
        }
        let synced = cli.run("views sync demo");
        assert_eq!(synced.code, Some(65), "{synced:?}");
        // Reading commands answer, and report the rollback.
        let told = format!("event {known} was acknowledged");
        for line in [
            "status demo",
            "task show demo T-1",
            "read demo --agent dev",
            "head demo",
        ] {
            for line in [line.to_owned(), format!("{line} --json")] {
                let ran = cli.run(&line);
                assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
                shows!(ran.stderr => has "was rolled back", has &told);
            }
        }
        let shown: Value =
            serde_json::from_str(&cli.run("task show demo T-1 --json").stdout).unwrap();
        assert_eq!(shown["task"]["status"], "pending");
        let verified = cli.run("verify demo --json");
        assert_eq!(verified.code, Some(65), "{verified:?}");
        shows!(verified.stdout => has "\"rolled_back\"");
        let checked = cli.run("doctor check demo --json");
        assert_eq!(checked.code, Some(2), "{checked:?}");
        let answer: Value = serde_json::from_str(&checked.stdout).unwrap();
        let accept = json!(["teamlog doctor repair demo --accept-rollback"]);
        assert_eq!(answer["recommendations"], accept, "{answer}");
        shows!(checked.stdout => lacks "crash", lacks "rehydrate");
        assert_eq!(
            all_files(&cli),
            before,
            "nothing that knows more is touched"
        );

        let accepted: Value = cli.json("doctor repair demo --accept-rollback --actor lead");
        has!(accepted, {"status": "accepted", "/rollback/known_seq": known, "/rollback/witness": "lock"});
        let lost = accepted["rollback"]["lost"].as_array().unwrap();
        assert!(
            lost.iter().any(|event| event["kind"] == "message_sent"),
            "{lost:?}"
        );
        assert!(
            lost.iter()
                .any(|event| event["seq"] == known && event["id"].is_string())
        );
        shows!(cli.ok("replay demo --kind log_rolled_back") => has "log_rolled_back");
        let claim: Value = cli.json("task claim demo T-1 --worker qa");
        assert!(claim["epoch"].as_u64() > Some(2), "{claim}");
        assert_eq!(claim["epoch"], known + 1);
        let ran = cli.run("status demo --json");
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        let ok: Value = cli.json("doctor check demo");
        // The status can be `warning` if the disk is nearly full.
        assert_ne!(ok["overall_status"], "unhealthy", "{ok}");
        assert_eq!(ok["recommendations"], json!([]), "{ok}");
        let again: Value = cli.json("doctor repair demo --accept-rollback");
        assert_eq!(again["status"], "unchanged");
    }
}

#[test]
fn without_a_witness_derived_files_tell() {
    let (cli, tracked, known) = story("jsonl");
    tracked.check_out();
    // Versions of teamlog without a witness leave the lock file empty.
    std::fs::write(team(&cli).join("lock"), b"").unwrap();
    let before = all_files(&cli);
    for line in ["task claim demo T-1 --worker qa", "rehydrate demo"] {
        assert_eq!(cli.refused_json(65, line).code, "rolled_back", "{line}");
    }
    shows!(cli.run("status demo").stderr => has "was rolled back", has "views");
    assert_eq!(cli.run("verify demo").code, Some(65));
    shows!(cli.run("doctor check demo").stdout => has "--accept-rollback", lacks "crash");
    assert_eq!(all_files(&cli), before);
    let accepted: Value = cli.json("doctor repair demo --accept-rollback");
    assert_eq!(accepted["rollback"]["known_seq"], known);
    let claim: Value = cli.json("task claim demo T-1 --worker qa");
    assert_eq!(claim["epoch"], known + 1);
}

#[test]
fn a_log_that_is_gone_is_missed_and_no_new_one_takes_its_place() {
    let (cli, _, known) = story("jsonl");
    // These are the files that `git clean -fd` removes if the other files of the team are ignored.
    std::fs::remove_dir_all(team(&cli).join("events")).unwrap();
    for name in ["head", "log.json"] {
        std::fs::remove_file(team(&cli).join(name)).unwrap();
    }
    for line in [
        "init demo",
        "task claim demo T-1 --worker qa",
        "status demo",
    ] {
        let error = cli.refused_json(65, line);
        shows!(error.message => has &format!("event {known} was acknowledged"));
    }
}

#[test]
fn a_cut_fences_the_claims_that_it_takes_away() {
    let (cli, tracked, known) = story("jsonl");
    drop(tracked);
    let seq = cli.json::<Value>("replay demo --kind task_created --json")["seq"].as_u64();
    cli.ok(&format!("doctor repair demo --to {} --yes", seq.unwrap()));
    let claim: Value = cli.json("task claim demo T-1 --worker qa");
    assert_eq!(claim["epoch"], known + 1);
}

#[test]
fn a_daemon_stops_serving_a_team_whose_log_was_put_back() {
    let (cli, tracked, _) = story("jsonl");
    let daemon = Daemon::of(&cli);
    cli.ok("send demo --from lead --to dev --type handoff");
    let url = daemon.ready["url"].as_str().unwrap().to_owned();
    let runtime = std::fs::read_to_string(team(&cli).join("runtime.json")).unwrap();
    let runtime: Value = serde_json::from_str(&runtime).unwrap();
    let token = runtime["token"].as_str().unwrap();
    tracked.check_out();
    let is = |field: &str, value: &str| {
        let status: Value = cli.json("serve --status");
        status["teams"][0][field] == value
    };
    // The daemon checks once a second, even without requests.
    until("the rollback is told", || is("code", "rolled_back"));
    let (code, _, body) = ask(&url, token, "GET", "/readyz", "");
    assert_eq!(code, 503, "{body}");
    for (method, target, body) in [
        ("GET", "/v1/tasks/T-1", ""),
        ("POST", "/v1/tasks/T-1/claim", "{\"agentId\":\"qa\"}"),
    ] {
        let (code, _, answer) = ask(&url, token, method, target, body);
        assert_eq!(code, 503, "{target}: {answer}");
        shows!(answer.to_string() => has "rolled_back");
    }
    let error = cli.refused_json(65, "task claim demo T-1 --worker qa");
    assert_eq!(error.code, "rolled_back");
    // The daemon releases the team while the command runs.
    let accepted: Value = cli.json("doctor repair demo --accept-rollback");
    assert_eq!(accepted["status"], "accepted");
    let claim: Value = cli.json("task claim demo T-1 --worker qa");
    assert!(claim["epoch"].as_u64() > Some(2));
    until("the team is sound", || is("condition", "sound"));
}

//! `doctor check`: each test plants a fault. The fault makes its check and the dependent checks unhealthy, and the recommended
//! command repairs the fault. Also tests `doctor repair` and `rehydrate --salvage` as processes.

mod repair;
mod together;

use crate::answers::Verify;
use crate::daemon::Daemon;
use crate::prelude::*;
use std::sync::Arc;
use std::time::SystemTime;
use teamlog_team::engine::internals::derived::{Delta, Store};
use teamlog_team::engine::internals::receipt::hex_digest;
use teamlog_team::engine::storage::{Files, Storage};

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Doctor {
    team: String,
    generated_at: String,
    overall_status: String,
    exit_code: i32,
    checks: Vec<Check>,
    stats: BTreeMap<String, serde_json::Value>,
    recommendations: Vec<String>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    name: String,
    status: String,
    summary: String,
    details: serde_json::Value,
    recommendations: Vec<String>,
}

const NAMES: [&str; 22] = [
    "index_integrity",
    "malformed_jsonl",
    "snapshot_monotonicity",
    "index_inbox_sample_consistency",
    "ack_index_consistency",
    "segments",
    "sidecars",
    "checkpoint",
    "views",
    "modes",
    "bootstrap",
    "artifacts",
    "subscriptions",
    "quarantine",
    "backups",
    "leftovers",
    "access",
    "git",
    "clock",
    "lock",
    "file_system",
    "disk_space",
];

/// Names of the checks that read the log.
const OF_THE_LOG: [&str; 9] = [
    "index_integrity",
    "snapshot_monotonicity",
    "index_inbox_sample_consistency",
    "ack_index_consistency",
    "checkpoint",
    "views",
    "modes",
    "bootstrap",
    "artifacts",
];

/// Returns a world with tasks, messages and acks, followed by a checkpoint.
fn history(format: &str) -> Cli {
    let cli = Cli::with_team_of(format);
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject One --message-id m1 --trace-id tr");
    cli.ok("task-assign demo --from lead --to qa --task-id T-2 --subject Two --message-id m2");
    cli.ok(
        "task-update demo --from dev --to lead --task-id T-1 --status in_progress --message-id m3",
    );
    cli.ok("send demo --from lead --to dev --type handoff --message-id m4 --payload-json '{\"note\":\"first\"}'");
    cli.ok("send demo --from lead --to dev --type handoff --message-id m5");
    cli.ok("ack demo --agent dev --message-id m4");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --message-id m6");
    cli.ok("rehydrate demo");
    cli
}

fn team(cli: &Cli) -> PathBuf {
    cli.dir().join("teams/demo")
}

/// Returns all files below a directory with their bytes and modification times.
fn tree(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let written = path.metadata().unwrap().modified().unwrap();
            if path.is_dir() {
                found.insert(path.clone(), (Vec::new(), written));
                open.push(path);
            } else {
                found.insert(path.clone(), (std::fs::read(&path).unwrap(), written));
            }
        }
    }
    found
}

/// Runs `doctor check`, and asserts that it changes no file.
#[track_caller]
fn check(cli: &Cli) -> Doctor {
    let before = tree(cli.dir());
    let ran = cli.run("doctor check demo --sample-size 0 --json");
    assert_eq!(tree(cli.dir()), before, "a check changes nothing");
    assert_eq!(ran.stderr, "", "{ran:?}");
    let answer: Doctor = parse(&ran.stdout);
    assert_eq!(ran.code, Some(answer.exit_code), "{answer:?}");
    let unhealthy = answer
        .checks
        .iter()
        .any(|check| check.status == "unhealthy");
    assert_eq!(
        answer.exit_code,
        if unhealthy { 2 } else { 0 },
        "{answer:?}"
    );
    let names: Vec<&str> = answer.checks.iter().map(|check| &*check.name).collect();
    assert_eq!(names, NAMES);
    answer
}

/// Returns the names of unhealthy checks with their status. Leaves out `disk_space`, which depends on the machine.
fn turned(answer: &Doctor) -> BTreeSet<(&str, &str)> {
    let of_the_team = answer
        .checks
        .iter()
        .filter(|check| check.name != "disk_space");
    of_the_team
        .filter(|check| check.status != "healthy")
        .map(|check| (&*check.name, &*check.status))
        .collect()
}

/// Runs the recommended commands as printed, and checks that the team is healthy afterwards.
#[track_caller]
fn mended(cli: &Cli, answer: &Doctor) {
    assert!(!answer.recommendations.is_empty(), "{answer:?}");
    for command in &answer.recommendations {
        let line = command.strip_prefix("teamlog ").unwrap();
        let ran = cli.run(line);
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
    }
    let after = check(cli);
    assert_eq!(turned(&after), BTreeSet::new(), "{after:?}");
    assert!(cli.json::<Verify>("verify demo").problems.is_empty());
}

/// Plants a fault, compares the unhealthy checks with `expected`, and then repairs the fault.
#[track_caller]
fn turns(plant: impl Fn(&Cli), expected: &[(&str, &str)]) {
    for format in ["jsonl", "binary"] {
        let cli = history(format);
        plant(&cli);
        let answer = check(&cli);
        let expected: BTreeSet<(&str, &str)> = expected.iter().copied().collect();
        assert_eq!(turned(&answer), expected, "{format}: {answer:#?}");
        mended(&cli, &answer);
    }
}

fn edit(path: PathBuf, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

fn replace(path: PathBuf, old: &str, new: &str) {
    edit(path, |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains(old), "{text}");
        *bytes = text.replacen(old, new, 1).into_bytes();
    });
}

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// Changes entries of the derived store and writes valid checksums.
fn tamper(cli: &Cli, change: impl Fn(&mut Entries)) {
    let storage: Arc<dyn Storage> = Arc::new(Files::open(cli.dir()).unwrap());
    let derived = Path::new("teams/demo/derived");
    let version = storage.list(derived).unwrap().pop().unwrap();
    let store = Store::open(storage, &derived.join(version), &mut |_| Ok(true)).unwrap();
    let runs = store.runs();
    assert_eq!(runs.len(), 1, "rehydrate leaves one run");
    let mut entries: Entries = store
        .scan(&[0], &[0xff; 8], false)
        .map(|entry| entry.map(|(key, value)| (key, value.to_vec())).unwrap())
        .collect();
    change(&mut entries);
    let last = runs[0].last;
    let places: Vec<_> = (1..=last.seq)
        .map(|seq| store.place(seq).unwrap().unwrap())
        .collect();
    let delta = Delta {
        first_seq: 1,
        last,
        places: &places,
        entries: Box::new(entries.iter().map(|(key, value)| (&**key, Some(&**value)))),
    };
    store.write(delta).unwrap().unwrap();
}

/// Swaps the first two different values in a namespace.
fn swap(entries: &mut Entries, namespace: u8) {
    let keys: Vec<Vec<u8>> = entries
        .range(vec![namespace]..vec![namespace + 1])
        .map(|(key, _)| key.clone())
        .collect();
    let other = keys
        .iter()
        .find(|key| entries[*key] != entries[&keys[0]])
        .unwrap();
    let (a, b) = (entries[&keys[0]].clone(), entries[other].clone());
    entries.insert(keys[0].clone(), b);
    entries.insert(other.clone(), a);
}

#[test]
fn a_healthy_team_is_healthy_and_says_what_was_looked_at() {
    for format in ["jsonl", "binary"] {
        let cli = history(format);
        let answer = check(&cli);
        assert_eq!(turned(&answer), BTreeSet::new(), "{answer:#?}");
        assert_eq!(answer.team, "demo");
        assert!(answer.generated_at.ends_with('Z'));
        assert_ne!(answer.overall_status, "unhealthy");
        has!(answer.stats, {"events": 8, "messages": 6, "tasks": 2});
        // A team without a derived store is healthy too.
        std::fs::remove_dir_all(team(&cli).join("derived")).unwrap();
        assert_eq!(turned(&check(&cli)), BTreeSet::new());
        let shown = cli.ok("doctor check demo");
        shows!(shown => starts "demo: ", lacks "to repair it");
    }
    let cli = Cli::new();
    cli.ok("init demo --no-views");
    assert_eq!(turned(&check(&cli)), BTreeSet::new());
    shows!(cli.refused(1, "doctor check nobody") => has "no team nobody");
}

#[test]
fn index_integrity() {
    let lost = |cli: &Cli| {
        tamper(cli, |entries| {
            let posting = entries.keys().find(|key| key[0] == 0xf1).unwrap().clone();
            entries.remove(&posting);
        });
    };
    turns(lost, &[("index_integrity", "unhealthy")]);
    let damaged = |cli: &Cli| {
        let derived = team(cli).join("derived");
        let version = std::fs::read_dir(derived)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let mut runs: Vec<PathBuf> = std::fs::read_dir(version)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        runs.retain(|path| path.extension().is_some_and(|end| end == "run"));
        edit(runs.pop().unwrap(), |bytes| bytes[4096 + 700] ^= 8);
    };
    turns(damaged, &[("index_integrity", "warn")]);
}

#[test]
fn malformed_jsonl() {
    let plant = |cli: &Cli| edit(team(cli).join("inboxes/qa.jsonl"), |bytes| bytes[0] = b'#');
    // The inbox file is a view too, so `views` is also unhealthy.
    turns(
        plant,
        &[
            ("malformed_jsonl", "unhealthy"),
            ("index_inbox_sample_consistency", "unhealthy"),
            ("views", "unhealthy"),
        ],
    );
}

#[test]
fn snapshot_monotonicity() {
    // The view shows an earlier message. `views` is unhealthy too, because the view differs from the state.
    let file = |cli: &Cli| {
        let path = team(cli).join("tasks/T-1.json");
        replace(
            path,
            "\"last_message_id\": \"m6\"",
            "\"last_message_id\": \"m3\"",
        );
    };
    turns(
        file,
        &[
            ("snapshot_monotonicity", "unhealthy"),
            ("views", "unhealthy"),
        ],
    );
    let stored = |cli: &Cli| tamper(cli, |entries| swap(entries, 0x30));
    turns(
        stored,
        &[
            ("snapshot_monotonicity", "unhealthy"),
            ("checkpoint", "unhealthy"),
        ],
    );
}

#[test]
fn index_inbox_sample_consistency() {
    let file = |cli: &Cli| {
        replace(
            team(cli).join("inboxes/dev.jsonl"),
            "\"note\":\"first\"",
            "\"note\":\"worst\"",
        )
    };
    turns(
        file,
        &[
            ("index_inbox_sample_consistency", "unhealthy"),
            ("views", "unhealthy"),
        ],
    );
    let stored = |cli: &Cli| {
        tamper(cli, |entries| {
            let inbox = entries.keys().find(|key| key[0] == 0x80).unwrap().clone();
            entries.remove(&inbox);
        });
    };
    turns(
        stored,
        &[
            ("index_inbox_sample_consistency", "unhealthy"),
            ("checkpoint", "unhealthy"),
        ],
    );
}

#[test]
fn ack_index_consistency() {
    let plant = |cli: &Cli| tamper(cli, |entries| swap(entries, 0x21));
    turns(
        plant,
        &[
            ("ack_index_consistency", "unhealthy"),
            ("checkpoint", "unhealthy"),
        ],
    );
}

#[test]
fn checkpoint() {
    // Only the check `checkpoint` covers the number of events per kind.
    let plant = |cli: &Cli| tamper(cli, |entries| swap(entries, 0x12));
    turns(plant, &[("checkpoint", "unhealthy")]);
}

#[test]
fn views() {
    let missing = |cli: &Cli| std::fs::remove_file(team(cli).join("tasks/T-2.json")).unwrap();
    turns(missing, &[("views", "unhealthy")]);
    let unknown = |cli: &Cli| std::fs::write(team(cli).join("tasks/T-9.json"), "{}").unwrap();
    turns(unknown, &[("views", "unhealthy")]);
    let differs = |cli: &Cli| replace(team(cli).join("team.json"), "qa", "qb");
    turns(differs, &[("views", "unhealthy")]);
}

#[test]
fn segments() {
    let plant = |cli: &Cli| {
        let segment = cli.segment("demo");
        edit(segment, |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
        });
    };
    // The checks that read the log report that they could not read it.
    let mut expected = vec![("segments", "unhealthy")];
    expected.extend(OF_THE_LOG.map(|name| (name, "warn")));
    turns(plant, &expected);
    // A crash can leave a torn tail.
    let torn = |cli: &Cli| {
        edit(cli.segment("demo"), |bytes| {
            bytes.extend_from_slice(b"torn")
        })
    };
    turns(torn, &[("segments", "warn")]);
}

#[test]
fn sidecars() {
    // Damage the older slot. Damage to the newer slot would set the head back.
    let slot = |cli: &Cli| {
        edit(team(cli).join("head"), |bytes| {
            let generation =
                |at: usize| u64::from_le_bytes(bytes[at + 32..at + 40].try_into().unwrap());
            let older = if generation(0) < generation(512) {
                0
            } else {
                512
            };
            bytes[older + 100] ^= 1;
        });
    };
    turns(slot, &[("sidecars", "warn")]);
    let cursor = |cli: &Cli| edit(team(cli).join("views"), |bytes| bytes[30] ^= 1);
    turns(cursor, &[("sidecars", "warn")]);
    let manifest = |cli: &Cli| {
        let derived = team(cli).join("derived");
        let version = std::fs::read_dir(derived)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        edit(version.join("manifest"), |bytes| bytes[25] ^= 1);
    };
    turns(manifest, &[("sidecars", "warn")]);
    let lock = |cli: &Cli| std::fs::remove_file(team(cli).join("lock")).unwrap();
    turns(lock, &[("sidecars", "warn"), ("lock", "warn")]);
    let head = |cli: &Cli| {
        edit(team(cli).join("head"), |bytes| {
            bytes[100] ^= 1;
            bytes[612] ^= 1;
        });
    };
    let mut expected = vec![("sidecars", "unhealthy"), ("clock", "warn")];
    expected.extend(OF_THE_LOG.map(|name| (name, "warn")));
    turns(head, &expected);
    let identity = |cli: &Cli| edit(team(cli).join("log.json"), |bytes| bytes[40] ^= 1);
    expected.extend([("malformed_jsonl", "warn"), ("segments", "warn")]);
    turns(identity, &expected);
    turns(
        |cli| std::fs::remove_file(team(cli).join("log.json")).unwrap(),
        &expected,
    );
}

#[test]
fn quarantine() {
    let unnamed = |cli: &Cli| {
        let segment = cli.segment("demo");
        let name = segment.file_name().unwrap().to_str().unwrap();
        let dir = team(cli).join("quarantine");
        std::fs::create_dir_all(&dir).unwrap();
        let file = format!("{name}.99.{}", &hex_digest(b"torn")[..16]);
        std::fs::write(dir.join(file), "torn").unwrap();
    };
    turns(unnamed, &[("quarantine", "warn")]);
    let cli = history("jsonl");
    unnamed(&cli);
    cli.ok("rehydrate demo");
    let kept = std::fs::read_dir(team(&cli).join("quarantine")).unwrap();
    edit(kept.into_iter().next().unwrap().unwrap().path(), |bytes| {
        bytes[0] = b'T'
    });
    let answer = check(&cli);
    assert_eq!(
        turned(&answer),
        BTreeSet::from([("quarantine", "unhealthy")])
    );
    // A check with a sample detects the changed file too.
    let sampled: Value = parse(&cli.run("doctor check demo --sample-size 1 --json").stdout);
    let quarantine = sampled["checks"].as_array().unwrap().iter();
    let mut quarantine = quarantine.filter(|check| check["name"] == "quarantine");
    has!(quarantine.next().unwrap(), {"status": "unhealthy"});
    // No command can restore changed evidence.
    assert!(answer.recommendations.is_empty(), "{answer:?}");
}

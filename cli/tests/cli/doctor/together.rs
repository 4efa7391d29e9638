//! The lock of a team, and several faults at one time.

use super::*;

#[test]
fn lock() {
    let cli = history("jsonl");
    let storage = Files::open(cli.dir()).unwrap();
    let held = storage
        .lock(Path::new("teams/demo/lock"), Duration::ZERO)
        .unwrap();
    let answer = check(&cli);
    assert_eq!(turned(&answer), BTreeSet::from([("lock", "warn")]));
    let lock = answer
        .checks
        .iter()
        .find(|check| check.name == "lock")
        .unwrap();
    let me = std::process::id().to_string();
    assert!(lock.summary.contains(&me), "{lock:?}");
    assert!(lock.details["holder"].as_str().unwrap().contains(&me));
    assert!(lock.recommendations.is_empty());
    drop(held);
    assert_eq!(turned(&check(&cli)), BTreeSet::new());
}

#[test]
fn the_lock_of_the_daemon_that_answers_is_no_fault() {
    let cli = history("jsonl");
    let daemon = Daemon::of(&cli);
    // The daemon takes the lock with the first command.
    cli.ok("task create demo --subject 'one more'");
    cli.ok("views sync demo");
    let answer: Doctor = cli.json("doctor check demo");
    assert_eq!(turned(&answer), BTreeSet::new());
    let lock = answer.checks.iter().find(|check| check.name == "lock");
    let held = format!(
        "held by the daemon that serves the team, pid {}",
        daemon.pid()
    );
    shows!(&*lock.unwrap().summary => starts "held by the daemon that serves the team, pid ");
    assert!(lock.unwrap().summary.starts_with(&held), "{held}");
}

#[test]
fn several_faults_are_all_told_and_one_pass_mends_them() {
    let cli = history("jsonl");
    edit(cli.segment("demo"), |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
    });
    edit(team(&cli).join("views"), |bytes| bytes[30] ^= 1);
    edit(team(&cli).join("inboxes/qa.jsonl"), |bytes| bytes[0] = b'#');
    let answer = check(&cli);
    for name in ["segments", "sidecars", "malformed_jsonl"] {
        assert!(
            turned(&answer).iter().any(|(turned, _)| *turned == name),
            "{answer:#?}"
        );
    }
    // The command that repairs the log comes first.
    shows!(answer.recommendations[0] => is "teamlog rehydrate demo --salvage");
    let shown = cli.run("doctor check demo");
    assert_eq!(shown.code, Some(2));
    assert!(shown.stdout.starts_with("demo: ✕ unhealthy\n"), "{shown:?}");
    shows!(shown.stdout => has "to repair it:\n  teamlog rehydrate demo --salvage\n");
    mended(&cli, &answer);
}

#[test]
fn the_commands_name_the_data_root_where_the_call_did() {
    let cli = history("jsonl");
    std::fs::remove_file(team(&cli).join("tasks/T-2.json")).unwrap();
    let ran = cli.run("--data-root . doctor check demo --json");
    let answer: Doctor = parse(&ran.stdout);
    assert_eq!(
        answer.recommendations,
        ["teamlog --data-root . rehydrate demo"]
    );
}

#[test]
fn what_stands_in_the_place_of_derived_data_is_healed_or_a_failed_check() {
    let cli = Cli::with_team();
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject x");
    cli.ok("rehydrate demo");
    let derived = team(&cli).join("derived");
    std::fs::remove_dir_all(&derived).unwrap();
    std::fs::write(&derived, "x").unwrap();
    assert!(cli.ok("status demo").contains("demo"));
    let answer: Doctor = cli.json("doctor check demo");
    let named = |answer: &Doctor, name: &str| {
        let check = answer.checks.iter().find(|check| check.name == name);
        check.map(|check| (check.status.clone(), check.summary.clone()))
    };
    let (status, summary) = named(&answer, "sidecars").unwrap();
    assert_eq!(status, "warn");
    assert!(summary.contains("derived"), "{summary}");
    cli.ok("rehydrate demo");
    assert!(derived.is_dir());
    let version = std::fs::read_dir(&derived).unwrap().next().unwrap();
    let manifest = version.unwrap().path().join("manifest");
    std::fs::remove_file(&manifest).unwrap();
    std::fs::create_dir(&manifest).unwrap();
    cli.ok("send demo --from lead --to dev --type handoff");
    cli.ok("rehydrate demo");
    assert!(manifest.is_file());
    assert_eq!(cli.run("doctor check demo").code, Some(0));

    // The check fails if a directory is in the place of a file that writers do not replace.
    for (entry, check) in [
        ("tasks/T-1.json", "views"),
        ("inboxes/dev.jsonl", "views"),
        ("derived.lock", "sidecars"),
        ("views", "sidecars"),
    ] {
        let cli = cli.copy();
        let path = team(&cli).join(entry);
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let ran = cli.run("doctor check demo --json");
        assert_eq!(ran.code, Some(2), "{entry}: {ran:?}");
        let answer: Doctor = parse(&ran.stdout);
        let (status, _) = named(&answer, check).unwrap();
        assert_eq!(status, "unhealthy", "{entry}");
    }
}

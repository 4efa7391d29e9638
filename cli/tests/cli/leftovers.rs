//! Files that killed commands leave. `doctor check` finds them and `doctor clean` removes them. Both commands ignore a
//! team that another process is creating.

use crate::prelude::*;
use std::fs;

/// Returns the command under strace, which applies `inject` to its system calls. Returns `None` if strace is missing or not
/// permitted.
fn traced(cli: &Cli, inject: &str, line: &str) -> Option<Command> {
    let can = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "true"])
        .output();
    if !can.is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: strace is missing or may not trace here");
        return None;
    }
    let plain = cli.command(line);
    let mut command = Command::new("strace");
    command
        .args(["-f", "-o", "/dev/null", "-e", inject, "--"])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(cli.dir())
        .env("HOME", cli.dir())
        .stdin(Stdio::null());
    Some(command)
}

/// Returns the hidden names in `teams`. Directories with hidden names are not teams.
fn staging(cli: &Cli) -> Vec<String> {
    let names = fs::read_dir(cli.dir().join("teams")).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.') && name != ".gitignore")
        .collect();
    names.sort();
    names
}

/// Returns the result of the check `leftovers`. `doctor check` reports this check for every team.
fn leftovers(cli: &Cli) -> Value {
    let answer: Value = cli.json("doctor check other");
    let checks = answer["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "leftovers");
    check.unwrap().clone()
}

/// Kills the command at its first system call named `call`, then at later such calls, until the command succeeds.
/// Each run has a new copy of the world. Returns the number of kills that left files.
fn killed_at_every(call: &str, world: &Cli, line: &str) -> usize {
    let mut left = 0;
    for when in [1, 2, 3, 4, 6, 9, 14, 21, 32, 50, 80, 130] {
        let cli = world.copy();
        let inject = format!("inject={call}:signal=SIGKILL:when={when}");
        let Some(mut command) = traced(&cli, &inject, line) else {
            return 1;
        };
        let ran = Ran::of(&mut command);
        if ran.code == Some(0) {
            assert_eq!(staging(&cli), Vec::<String>::new(), "{call} {when}");
            return left;
        }
        let what = format!("{call} {when}: {line}");
        let names = staging(&cli);
        let dirs: Vec<&String> = names
            .iter()
            .filter(|name| !name.ends_with(".lock"))
            .collect();
        let check = leftovers(&cli);
        if names.is_empty() {
            assert_eq!(check["status"], "healthy", "{what}: {check}");
            continue;
        }
        left += 1;
        assert_eq!(check["status"], "warn", "{what}: {check}");
        has!(check, {"recommendations": ["teamlog doctor clean --yes"]}, "{what}");
        for dir in dirs {
            assert!(
                check["summary"].as_str().unwrap().contains(dir),
                "{what}: {check}"
            );
        }
        let planned: Value = cli.json("doctor clean");
        assert_eq!(planned["status"], "planned", "{what}");
        assert_eq!(staging(&cli), names, "a plan changes nothing");
        let shown = cli.ok("doctor clean --yes");
        assert!(shown.contains("removed"), "{what}: {shown}");
        assert_eq!(staging(&cli), Vec::<String>::new(), "{what}");
        assert_eq!(leftovers(&cli)["status"], "healthy", "{what}");
        shows!(cli.ok("doctor clean --yes") => has "left nothing");
        // The team exists completely or not at all. Running the command again completes it or finds it complete.
        let again = cli.run(line);
        assert!(
            [Some(0), Some(1)].contains(&again.code),
            "{what}: {again:?}"
        );
    }
    panic!("{call}: it never came to its end");
}

fn world() -> Cli {
    let cli = Cli::with_team();
    cli.ok("init other --members a");
    cli.ok("send demo --from lead --to dev --type handoff --message-id secret");
    cli
}

#[test]
fn what_a_killed_purge_left_is_found_and_removed() {
    let cli = world();
    cli.ok_of_any_shape("api cleanup --input '{\"team_name\":\"demo\",\"force\":true}'");
    for call in ["unlinkat", "renameat,renameat2"] {
        let left = killed_at_every(call, &cli, "purge demo --yes");
        assert!(left > 0, "{call}: nothing was ever left");
    }
}

#[test]
fn what_a_killed_import_or_init_left_is_found_and_removed() {
    let cli = world();
    let line = |n: u32| {
        format!(
            "{{\"id\":\"m{n}\",\"type\":\"handoff\",\"from\":\"lead\",\"to\":\"dev\",\
             \"created_at\":\"2026-01-0{n}T09:00:00\"}}\n"
        )
    };
    cli.file("mail.jsonl", &(1..4).map(line).collect::<String>());
    for (call, command) in [
        ("mkdirat", "import new --messages mail.jsonl"),
        ("fsync", "import new --messages mail.jsonl"),
        ("renameat,renameat2", "init new --members a"),
        ("unlinkat", "init new --members a"),
    ] {
        let left = killed_at_every(call, &cli, command);
        assert!(left > 0, "{call}: nothing was ever left");
    }
}

#[test]
fn what_somebody_still_builds_is_left_alone() {
    let cli = world();
    // Delay the last sync before the team gets its name.
    let slow = "inject=fsync:delay_enter=1500000:when=1..2";
    let Some(mut command) = traced(&cli, slow, "init new --members a") else {
        return;
    };
    let mut building = command.stdout(Stdio::null()).spawn().unwrap();
    let built = |names: &[String]| names.iter().any(|name| !name.ends_with(".lock"));
    until("the team is being built", || {
        assert!(building.try_wait().unwrap().is_none(), "it ended too early");
        built(&staging(&cli))
    });
    let check = leftovers(&cli);
    let cleaned: Value = cli.json("doctor clean --yes");
    if built(&staging(&cli)) {
        assert_eq!(check["status"], "healthy", "{check}");
        assert_eq!(cleaned["status"], "unchanged", "{cleaned}");
        assert!(cleaned["leftovers"][0]["holder"].is_string(), "{cleaned}");
        assert_eq!(cleaned["leftovers"][0]["removed"], false);
    }
    assert!(building.wait().unwrap().success());
    assert_eq!(staging(&cli), Vec::<String>::new());
    assert!(cli.ok("verify new").starts_with("ok: 1 event"));
}

#[test]
fn a_place_where_two_handles_get_one_lock_is_refused_and_nothing_is_left() {
    let cli = world();
    for (allowed, code) in [("", 78), (" --allow-network-fs", 0)] {
        let line = format!("init new --members a{allowed}");
        // The first `flock` call takes the lock. The second call tries the lock through another handle and must fail,
        // but strace makes it succeed.
        let Some(mut command) = traced(&cli, "inject=flock:retval=0:when=2", &line) else {
            return;
        };
        let ran = Ran::of(&mut command);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert_eq!(
            ran.stderr.contains("two handles got the same lock"),
            code == 78
        );
        assert_eq!(staging(&cli), Vec::<String>::new());
    }
}

#[test]
fn what_cannot_be_a_directory_keeps_none_of_the_others() {
    let cli = world();
    let teams = cli.dir().join("teams");
    fs::write(teams.join(".new-a-00000000000000aa"), "a file").unwrap();
    std::os::unix::fs::symlink("demo", teams.join(".new-b-00000000000000aa")).unwrap();
    fs::create_dir(teams.join(".new-c-00000000000000aa")).unwrap();
    let cleaned: Value = cli.json("doctor clean --yes");
    assert_eq!(cleaned["status"], "cleaned", "{cleaned}");
    assert_eq!(staging(&cli), Vec::<String>::new());
    cli.ok("verify demo");
}

#[test]
fn directories_of_older_versions_left_without_a_lock_file_are_found_too() {
    let cli = world();
    let teams = cli.dir().join("teams");
    let old: PathBuf = teams.join(".purged-gone-00000000000000aa");
    let copied = Command::new("cp")
        .arg("-a")
        .arg(teams.join("demo"))
        .arg(&old)
        .status();
    assert!(copied.unwrap().success());
    // Directories with other names stay.
    for other in [".new-team", ".git", ".new-a b-00000000000000aa"] {
        fs::create_dir(teams.join(other)).unwrap();
    }
    let check = leftovers(&cli);
    let summary = check["summary"].as_str().unwrap();
    shows!(summary => has ".purged-gone-00000000000000aa", has "can still be read");
    cli.ok("doctor clean --yes");
    assert_eq!(
        staging(&cli),
        [".git", ".new-a b-00000000000000aa", ".new-team"]
    );
    assert!(cli.ok("verify demo").starts_with("ok"));
}

#[test]
fn derived_files_of_older_versions_go_with_a_tick_or_a_rehydration() {
    for command in ["tick demo", "rehydrate demo"] {
        let cli = world();
        cli.ok("rehydrate demo");
        let derived = cli.dir().join("teams/demo/derived");
        let versions = || -> Vec<String> {
            let names = fs::read_dir(&derived).unwrap();
            let mut names: Vec<String> = names
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let [now] = &*versions() else {
            panic!("{:?}", versions());
        };
        let newer = format!("v{}", now[1..].parse::<u32>().unwrap() + 1);
        for name in ["v0", &newer, "v01", "backup_dir"] {
            fs::create_dir(derived.join(name)).unwrap();
            fs::write(derived.join(name).join("run"), "x").unwrap();
        }
        let answer: Value = cli.json("doctor check demo");
        let checks = answer["checks"].as_array().unwrap();
        let check = checks
            .iter()
            .find(|check| check["name"] == "leftovers")
            .unwrap();
        assert_eq!(check["status"], "warn", "{check}");
        has!(check, {"/details/old_derived": ["teams/demo/derived/v0"],
            "recommendations": ["teamlog rehydrate demo"]});
        cli.ok(command);
        let mut left = vec![now.clone(), newer, "v01".into(), "backup_dir".into()];
        left.sort();
        assert_eq!(
            versions(),
            left,
            "{command}: what may be a newer version's stays"
        );
    }
}

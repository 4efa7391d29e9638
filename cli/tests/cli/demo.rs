//! `demo` as a process.

use crate::answers::{Demo, Verify};
use crate::prelude::*;

#[test]
fn the_demo_shows_what_it_claims_and_keeps_its_directory() {
    let cli = Cli::new();
    let demo: Demo = cli.json("demo");
    assert!(
        demo.ok && demo.checks.iter().all(|check| check.holds),
        "{demo:?}"
    );
    assert!(demo.checks.len() >= 7, "{demo:?}");
    assert_eq!(demo.live_digest, demo.rebuilt_digest);
    assert_eq!(demo.live_digest.len(), 64);
    assert!(demo.torn_bytes > 0 && demo.recovered.len() == 1, "{demo:?}");
    let verify: Verify = cli.json(&format!("verify demo --data-root {}", demo.dir));
    assert_eq!(
        (verify.ok, verify.events, verify.problems.len()),
        (true, demo.events, 0)
    );
}

#[test]
fn the_demo_is_pleasant_to_read() {
    let cli = Cli::new();
    let shown = cli.ok("demo");
    let lines = shown.lines().count();
    assert!((45..=75).contains(&lines), "{lines} lines:\n{shown}");
    for line in shown.lines() {
        assert!(
            line.trim_end() == line && line.chars().count() <= 150,
            "{line:?}"
        );
    }
    for part in [
        "superseded: changed nothing",
        "duplicate",
        "recovered:",
        "ci_run_finished",
        "state digest",
        "later)",
    ] {
        assert!(shown.contains(part), "{part} in:\n{shown}");
    }
    assert!(!shown.contains("NOT SO"), "{shown}");
}

#[test]
fn the_commands_to_try_next_work_when_pasted() {
    let cli = Cli::new();
    std::fs::create_dir(cli.dir().join("a 'dir'")).unwrap();
    let shown = Ran::of(cli.command("").args(["demo", "--dir", "a 'dir'/x"])).stdout;
    let commands: Vec<&str> = shown
        .lines()
        .skip_while(|line| *line != "your turn")
        .skip(1)
        .collect();
    assert_eq!(commands.len(), 4, "{shown}");
    for command in commands {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir("/")
            .env_clear()
            .output()
            .unwrap();
        let ran = Ran::from_output(output);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{command}");
        assert!(!ran.stdout.is_empty(), "{command}");
    }
}

#[test]
fn the_demo_touches_no_directory_that_is_there() {
    let cli = Cli::new();
    std::fs::create_dir(cli.dir().join("mine")).unwrap();
    let error = cli.refused(1, "demo --dir mine");
    shows!(error => has "exists already", has "mine");
    let demo: Demo = parse(&cli.ok("demo --dir fresh --json"));
    assert_eq!(
        std::path::Path::new(&demo.dir),
        std::fs::canonicalize(cli.dir().join("fresh")).unwrap()
    );
}

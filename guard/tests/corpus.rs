//! Commands and what they write, held against a table.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, Instant};
use teamlog_guard::{Place, Writes, shell};

fn place() -> Place {
    Place {
        dir: Some("/repo".into()),
        home: Some("/home/u".into()),
        ..Place::default()
    }
}

fn told(writes: &Writes) -> String {
    let mut told: Vec<String> = writes
        .targets()
        .map(|target| match (target.below, target.path.as_str()) {
            (false, path) => path.to_owned(),
            (true, "/") => "/**".to_owned(),
            (true, path) => format!("{path}/**"),
        })
        .collect();
    told.dedup();
    if !writes.doubts().is_empty() {
        told.push("?".to_owned());
    }
    match told.is_empty() {
        true => "-".to_owned(),
        false => told.join(","),
    }
}

fn rows() -> Vec<(String, String)> {
    include_str!("corpus.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (expected, command) = line.split_once(" | ").unwrap();
            (expected.to_owned(), command.replace("\\n", "\n"))
        })
        .collect()
}

#[test]
fn every_command_writes_what_the_table_says() {
    let rows = rows();
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(expected, command)| {
            let writes = shell::writes(command, &place());
            let found = told(&writes);
            (found != *expected).then(|| {
                format!(
                    "{command:?}: expected {expected}, found {found} {:?}",
                    writes.doubts()
                )
            })
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(rows.len() >= 600, "{}", rows.len());
}

#[test]
fn a_directory_that_is_not_known_leaves_only_absolute_paths() {
    let nowhere = Place::default();
    assert_eq!(told(&shell::writes("rm a", &nowhere)), "?");
    assert_eq!(told(&shell::writes("rm /a", &nowhere)), "/a");
    assert_eq!(told(&shell::writes("ls a", &nowhere)), "-");
}

#[test]
fn git_changes_the_tree_as_a_whole_from_anywhere_in_it() {
    let below = Place {
        dir: Some("/repo/src".into()),
        top: Some("/repo".into()),
        ..Place::default()
    };
    for (command, expected) in [
        ("git checkout main", "/repo/**"),
        ("git reset --hard", "/repo/**"),
        ("git stash", "/repo/**"),
        ("cd io && git pull", "/repo/**"),
        ("git clean -fd", "/repo/src/**"),
        ("git checkout -- a", "/repo/src/a"),
        ("cd /other && git pull", "/other/**"),
    ] {
        assert_eq!(told(&shell::writes(command, &below)), expected, "{command}");
    }
}

#[test]
fn what_is_too_long_or_too_deep_is_not_read() {
    for command in [
        "(".repeat(100_000),
        "$(".repeat(150),
        "a ".repeat(100_000),
        "\u{0}".repeat(9),
    ] {
        assert_eq!(
            told(&shell::writes(&command, &place())),
            "?",
            "{}",
            command.len()
        );
    }
}

#[test]
fn no_command_takes_long_however_it_is_nested() {
    for part in [
        "(",
        "{ ",
        "((",
        "$((",
        "$(",
        "`",
        "[[ ( ",
        "${a:-",
        "$[",
        "<(",
        "\"$(",
        "if ",
        "case x in (",
        "a() { ",
        "while ",
        "! ",
        "{a,",
        "+(",
        "eval '",
        "sh -c \"",
        "cat <<",
        "a=(",
        "\\",
        "'",
        "\"",
        "$'",
        "&& ",
        "| ",
    ] {
        for count in [10, 40, 95, 190] {
            let command = part.repeat(count);
            let begun = Instant::now();
            shell::writes(&command, &place());
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(4), "{part:?} {count}: {took:?}");
        }
    }
}

//! Compares the paths that the guard finds for each command with the paths in a table.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::thread;
use std::time::{Duration, Instant};
use teamlog_guard::{Command, Effect, Own, Place, Programs, Writes, shell};

/// Maximum number of commands in `writers.txt` that the guard may allow.
const WRITERS_MAX: usize = 1;
/// Maximum number of commands in `harmless.txt` that the guard may refuse or ask about.
const HARMLESS_MAX: usize = 5;

fn place() -> Place {
    Place {
        dir: Some("/repo".into()),
        home: Some("/home/u".into()),
        ..Place::default()
    }
}

/// Teamlog's commands, in the form in which the caller of the guard lists them.
const COMMANDS: &[Command] = &[
    own("api", Effect::TeamData, &[]),
    own("config", Effect::TeamData, &["set"]),
    own("init", Effect::Files, &[]),
    own("nudge", Effect::TeamData, &["--exec"]),
    own("serve", Effect::Runs, &[]),
    own("status", Effect::Reads, &[]),
    own("task", Effect::TeamData, &[]),
    own("wait", Effect::Reads, &[]),
];

fn own_program() -> Own {
    let options = [
        ("--json", false),
        ("--utc", false),
        ("--data-root", true),
        ("--actor", true),
    ];
    let options = options.map(|(name, takes_value)| (name.to_owned(), takes_value));
    Own {
        commands: COMMANDS,
        options: options.to_vec(),
    }
}

const fn own(name: &'static str, effect: Effect, raised: &'static [&'static str]) -> Command {
    Command {
        name,
        effect,
        raised,
    }
}

fn writes(command: &str, place: &Place) -> Writes {
    shell::writes(command, place, &Programs::trusting(own_program(), ""))
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
    if !writes.unknown().is_empty() {
        told.push("?".to_owned());
    }
    match told.is_empty() {
        true => "-".to_owned(),
        false => told.join(","),
    }
}

fn rows() -> Vec<(String, String)> {
    [include_str!("corpus.txt"), include_str!("outside.txt")]
        .into_iter()
        .flat_map(str::lines)
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
            let writes = writes(command, &place());
            let found = told(&writes);
            (found != *expected).then(|| {
                format!(
                    "{command:?}: expected {expected}, found {found} {:?}",
                    writes.unknown()
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
    assert!(rows.len() >= 1200, "{}", rows.len());
}

/// Returns true if the guard allows a command of an agent that holds only `src/io`.
fn passes(command: &str) -> bool {
    let place = Place {
        top: Some("/repo".into()),
        ..place()
    };
    let writes = writes(command, &place);
    let held = |path: &str| {
        path == "/repo/src/io" || path.starts_with("/repo/src/io/") && !path.contains("..")
    };
    writes.unknown().is_empty() && writes.paths().all(held)
}

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines();
    let said = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    said.map(|line| line.replace('⏎', "\n")).collect()
}

#[test]
fn few_commands_that_write_pass() {
    let commands = lines(include_str!("writers.txt"));
    assert!(commands.len() >= 400, "{}", commands.len());
    let passed: Vec<&String> = commands.iter().filter(|line| passes(line)).collect();
    assert!(passed.len() <= WRITERS_MAX, "{passed:#?}");
}

#[test]
fn few_harmless_commands_are_held_up() {
    let commands = lines(include_str!("harmless.txt"));
    assert!(commands.len() >= 400, "{}", commands.len());
    let held: Vec<&String> = commands.iter().filter(|line| !passes(line)).collect();
    assert!(held.len() <= HARMLESS_MAX, "{held:#?}");
}

#[test]
fn a_directory_that_is_not_known_leaves_only_absolute_paths() {
    let nowhere = Place::default();
    assert_eq!(told(&writes("rm a", &nowhere)), "?");
    assert_eq!(told(&writes("rm /a", &nowhere)), "/a");
    assert_eq!(told(&writes("ls a", &nowhere)), "-");
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
        ("git commit -m x", "-"),
        ("git -C .. commit -m x", "-"),
        ("cd \"$(git rev-parse --show-toplevel)\" && git add -A", "-"),
        ("git -C /other commit -m x", "/other/.git/**"),
        ("git -C ../../other tag v1", "/other/.git/**"),
        ("cd /other && git add a && git branch x", "/other/.git/**"),
        ("cd /other && git log && git tag -l && git branch -a", "-"),
        ("git -C /other config user.name x", "/other/.git/**"),
        ("git push /other main", "/other/.git/**"),
        ("git push ../../other main", "/repo/src/../../other/.git/**"),
        ("git push origin main", "-"),
        ("git push file:///other main", "?"),
        ("cd $X && git commit -m x", "?"),
    ] {
        assert_eq!(told(&writes(command, &below)), expected, "{command}");
    }
}

#[test]
fn git_writes_another_repository_also_where_the_own_one_is_not_known() {
    for (command, expected) in [
        ("git add -A && git commit -m x", "-"),
        ("cd sub && git commit -m x", "-"),
        ("git -C /other commit -m x", "/other/.git/**"),
        ("cd .. && git add a", "/.git/**"),
    ] {
        assert_eq!(told(&writes(command, &place())), expected, "{command}");
    }
}

#[test]
fn a_trusted_program_is_asked_for_only_where_it_may_leave_the_repository() {
    let place = Place {
        dir: Some("/repo/src".into()),
        top: Some("/repo".into()),
        ..Place::default()
    };
    let programs = Programs::trusting(own_program(), "make, cargo test, python3, git, sed");
    for (command, expected) in [
        ("make -j4 all", "-"),
        ("make > log", "/repo/src/log"),
        ("make $(touch x)", "/repo/src/x,?"),
        ("make ../a", "-"),
        ("make -f /repo/Makefile", "-"),
        ("make ../../a", "?"),
        ("make -C /elsewhere", "?"),
        ("make DESTDIR=/usr", "?"),
        ("make $X", "?"),
        ("PATH=/x make", "?"),
        ("python3 run.py", "-"),
        ("cargo test -p x", "-"),
        ("cargo build", "?"),
        ("cargo --config x test", "?"),
        ("./make", "?"),
        // A trusted program that is in the table keeps the effects of the table.
        ("sed -i s/a/b/ a", "/repo/src/a"),
        ("git checkout main", "/repo/**"),
        ("git frobnicate", "?"),
    ] {
        let writes = shell::writes(command, &place, &programs);
        assert_eq!(told(&writes), expected, "{command}: {:?}", writes.unknown());
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
        assert_eq!(told(&writes(&command, &place())), "?", "{}", command.len());
    }
}

#[test]
fn no_command_takes_long_however_it_is_nested() {
    // Parse these commands concurrently, because a command that cannot be parsed in time uses up the whole time
    // limit.
    let nested = [
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
    ];
    let is_read_soon = |part: &str, count: usize| {
        let begun = Instant::now();
        writes(&part.repeat(count), &place());
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(4), "{part:?} {count}: {took:?}");
    };
    thread::scope(|scope| {
        for part in nested {
            for count in [10, 40, 95, 190] {
                scope.spawn(move || is_read_soon(part, count));
            }
        }
    });
}

//! Counts the system calls of a command under strace. Besides views and derived files, a command makes one write of
//! data, one sync and one write of the head. A command opens only certain derived files, and the total number of its
//! calls has a budget. If strace is missing or not permitted, the tests print a note and pass.

use crate::prelude::*;
use tempfile::TempDir;

const WRITES: &str = "write,pwrite64,writev,pwritev,pwritev2";
const SYNCS: &str = "fsync,fdatasync,sync,syncfs,sync_file_range,msync";

fn teamlog(root: &Path) -> Vec<String> {
    let root = root.display().to_string();
    [env!("CARGO_BIN_EXE_teamlog"), "--data-root", &root]
        .map(String::from)
        .into()
}

fn succeeds(argv: &[String]) -> bool {
    let (program, args) = argv.split_first().unwrap();
    let output = Command::new(program).args(args).output();
    output.is_ok_and(|output| output.status.success())
}

/// Creates a team in a log format, with a message from an earlier day in the inbox of `dev`.
fn team(format: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for command in [
        format!("init demo --members lead,dev --format {format}"),
        "send demo --from lead --to dev --type handoff --task-id bd-1".into(),
    ] {
        let mut argv = teamlog(root.path());
        argv.extend(command.split(' ').map(String::from));
        assert!(succeeds(&argv), "{command}");
    }
    root
}

/// Returns the lines of strace about a command and files of the team. Returns `None` if strace is missing or not permitted.
fn traced(root: &Path, command: &str) -> Option<Vec<String>> {
    let mut lines = traced_for(root, command, &format!("trace={WRITES},{SYNCS}"))?;
    lines.retain(|line| line.contains("/teams/demo"));
    Some(lines)
}

/// Returns all lines of strace about these system calls of a command. Returns `None` if strace is missing or not permitted.
fn traced_for(root: &Path, command: &str, calls: &str) -> Option<Vec<String>> {
    let trace = root.join("trace").display().to_string();
    let strace: Vec<String> = ["strace", "-f", "-y", "-s", "0", "-o", &trace, "-e", calls]
        .map(String::from)
        .into();
    if !succeeds(&[strace.clone(), vec!["true".into()]].concat()) {
        eprintln!("skipped: strace is missing or may not trace here");
        return None;
    }
    let words = command.split(' ').map(String::from).collect();
    let argv = [strace, teamlog(root), words].concat();
    assert!(succeeds(&argv), "{command}");
    let text = std::fs::read_to_string(&trace).unwrap();
    Some(text.lines().map(String::from).collect())
}

/// Counts system calls with these names on a path that contains `path`.
fn count(lines: &[String], names: &str, path: &str) -> usize {
    let named = |line: &&String| {
        names
            .split(',')
            .any(|name| line.contains(&format!(" {name}(")))
    };
    lines
        .iter()
        .filter(named)
        .filter(|line| line.contains(path))
        .count()
}

/// A command opens a run of the derived store only if the manifest does not rule out that the run
/// contains the command's key.
#[test]
fn runs_that_cannot_hold_the_key_stay_closed() {
    let root = team("binary");
    let batch = root.path().join("batch");
    for story in 0..5 {
        let fact = |n| format!(r#"{{"kind":"step_taken","trace_id":"tr-{story}","payload":{n}}}"#);
        let facts: Vec<String> = (0..40).map(fact).collect();
        std::fs::write(&batch, facts.join("\n")).unwrap();
        let mut argv = teamlog(root.path());
        let batch = batch.display().to_string();
        argv.extend(["append", "demo", "--actor", "ci", "--batch", &batch].map(String::from));
        assert!(succeeds(&argv));
    }
    let opened = |command: &str| {
        let lines = traced_for(root.path(), command, "trace=openat2")?;
        Some(count(&lines, "openat2", ".run"))
    };
    for (command, runs) in [
        ("trace demo --trace-id tr-3 --limit 5", 1),
        ("trace demo --trace-id nobody", 0),
        // The oldest run contains the team and the settings of the team.
        ("append demo --kind build_finished --actor ci", 1),
    ] {
        let Some(opened) = opened(command) else {
            return;
        };
        assert_eq!(opened, runs, "{command}");
    }
}

fn segments(root: &Path) -> usize {
    root.join("teams/demo/events").read_dir().unwrap().count()
}

#[test]
fn one_command_is_one_write_one_sync_and_one_head_write() {
    for format in ["jsonl", "binary"] {
        for command in [
            "send demo --from lead --to dev --type handoff --task-id bd-1",
            "task-update demo --from dev --to lead --task-id bd-1 --status in_progress",
            "append demo --kind build_finished --actor ci",
        ] {
            let root = team(format);
            let before = segments(root.path());
            let Some(mut lines) = traced(root.path(), command) else {
                return;
            };
            if segments(root.path()) != before {
                // A new segment was started at midnight. The next attempt runs in the middle of a day.
                lines = traced(root.path(), command).unwrap();
            }
            let counts = [
                count(&lines, WRITES, "/events/"),
                count(&lines, "fdatasync", "/events/"),
                count(&lines, WRITES, "/head>"),
                count(&lines, SYNCS, "/"),
            ];
            assert_eq!(counts, [1, 1, 1, 1], "{command}: {lines:#?}");
        }
    }
}

#[test]
fn commands_that_only_ask_sync_nothing_and_leave_the_log_alone() {
    for command in [
        "read demo --agent dev",
        "status demo",
        "trace demo --trace-id tr_bd-1",
        "verify demo",
        "replay demo",
    ] {
        let root = team("jsonl");
        let Some(lines) = traced(root.path(), command) else {
            return;
        };
        let counts = [
            count(&lines, WRITES, "/events/"),
            count(&lines, WRITES, "/head>"),
            count(&lines, SYNCS, "/"),
        ];
        assert_eq!(counts, [0, 0, 0], "{command}: {lines:#?}");
    }
}

/// Excludes system calls whose number varies. Memory calls depend on the allocator and the optimisation level. A debug build
/// checks a file descriptor before closing it. Waiting for a thread depends on scheduling.
const VARYING: &str = "trace=!brk,mmap,munmap,mprotect,madvise,fcntl,futex,sched_yield";

/// The document with the budgets, which people and this test read.
const BUDGETS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../docs/performance/budgets.md"
);
/// Number of events in the log before each command.
const PAST: usize = 1_000;
/// The name of each row, and its command. The commands run one after another on one team.
const COMMANDS: [(&str, &str); 9] = [
    ("`--version`", "--version"),
    ("open, and `status`", "status demo"),
    ("`append`", "append demo --kind build_finished --actor ci"),
    (
        "`task create`",
        "task create demo --task-id T-1 --subject one",
    ),
    ("`task claim`", "task claim demo T-1 --worker dev"),
    (
        "`task complete`",
        "task complete demo T-1 --epoch 1 --result done",
    ),
    (
        "`send`",
        "send demo --from lead --to dev --type handoff --task-id bd-1",
    ),
    ("`trace` of 20", "trace demo --trace-id tr_7"),
    ("`tick`", "tick demo"),
];

/// Number of system calls, number of syncs, number of writes to files of the team, and number of
/// bytes in these writes.
type Counts = [usize; 4];
const COLUMNS: [&str; 4] = ["system calls", "syncs", "writes", "bytes"];

#[test]
fn a_command_stays_within_its_budget() {
    let mut counted = Vec::new();
    for format in ["jsonl", "binary"] {
        let Some(counts) = counts_behind_a_past(format) else {
            return;
        };
        counted.extend(counts.map(|(name, counts)| (format!("| {name} | {format} |"), counts)));
    }
    let budgets = std::fs::read_to_string(BUDGETS).unwrap();
    if std::env::var_os("TEAMLOG_BLESS").is_some() {
        let (text, _) = budgets.split_once("\n| `").unwrap();
        let rows = counted.iter().map(|(row, [calls, syncs, writes, bytes])| {
            // Round the number of bytes, because process ids differ in length.
            let bytes = (bytes + 16).next_multiple_of(32) * bytes.min(&1);
            format!("{row} {calls} | {syncs} | {writes} | {bytes} |\n")
        });
        let rows: String = rows.collect();
        std::fs::write(BUDGETS, format!("{text}\n{rows}")).unwrap();
        return;
    }
    let mut over = Vec::new();
    for (row, counts) in counted {
        let budget = budgets.lines().find_map(|line| line.strip_prefix(&row));
        let budget = budget.unwrap_or_else(|| panic!("no budget of {row}"));
        let budget = budget
            .split('|')
            .filter_map(|cell| cell.trim().parse().ok());
        let budget: Counts = budget.collect::<Vec<usize>>().try_into().unwrap();
        for ((count, most), what) in counts.iter().zip(budget).zip(COLUMNS) {
            if *count > most {
                over.push(format!("{row} {count} {what}, at most {most}"));
            }
        }
    }
    assert!(over.is_empty(), "over budget:\n{}", over.join("\n"));
}

/// Returns the counts of each command. Returns `None` if strace is missing or not permitted, or if the program is not the program under
/// test.
fn counts_behind_a_past(format: &str) -> Option<[(&'static str, Counts); 9]> {
    loop {
        let root = team(format);
        let line = |at: usize| {
            let trace = at / 20;
            format!("{{\"kind\":\"step_taken\",\"actor\":\"ci\",\"trace_id\":\"tr_{trace}\"}}\n")
        };
        let lines = root.path().join("lines");
        std::fs::write(&lines, (0..PAST).map(line).collect::<String>()).unwrap();
        for command in [
            &format!("append demo --batch {}", lines.display()),
            "tick demo",
        ] {
            let words = command.split(' ').map(String::from).collect();
            assert!(
                succeeds(&[teamlog(root.path()), words].concat()),
                "{command}"
            );
        }
        let before = segments(root.path());
        let mut counts = [("", [0; 4]); 9];
        for (into, (name, command)) in counts.iter_mut().zip(COMMANDS) {
            *into = (name, counts_of(root.path(), command)?);
        }
        // A new segment was started at midnight. The next attempt runs in the middle of a day.
        if segments(root.path()) == before {
            return Some(counts);
        }
    }
}

fn counts_of(root: &Path, command: &str) -> Option<Counts> {
    let mut lines = traced_for(root, command, VARYING)?;
    if lines.iter().any(|line| line.contains("ld.so.cache")) {
        eprintln!("skipped: the program was not linked statically");
        return None;
    }
    // Exclude reads of `/proc`, because their number depends on the length of paths.
    lines.retain(|line| {
        let call = line.contains('(') && !line.contains(" resumed>");
        call && !line.contains("/proc/")
    });
    let written = lines.iter().filter(|line| {
        let called = |name| line.contains(&format!(" {name}("));
        WRITES.split(',').any(called) && line.contains("/teams/demo")
    });
    let bytes = written.filter_map(|line| line.rsplit("= ").next()?.parse::<usize>().ok());
    Some([
        lines.len(),
        count(&lines, SYNCS, "/"),
        count(&lines, WRITES, "/teams/demo"),
        bytes.sum(),
    ])
}

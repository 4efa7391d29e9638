//! What one command asks of the operating system, counted under strace: one data write, one sync, one head write,
//! whatever views and derived files it touches besides; and no more calls in all than there were. Where strace is missing
//! or may not trace, the tests say so and pass.

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

/// A team in that format, with a message from the past in `dev`'s inbox.
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

/// The lines of strace about one command on files of the team; `None` where nothing can be traced.
fn traced(root: &Path, command: &str) -> Option<Vec<String>> {
    let mut lines = traced_for(root, command, &format!("trace={WRITES},{SYNCS}"))?;
    lines.retain(|line| line.contains("/teams/demo"));
    Some(lines)
}

/// All lines of strace about these calls of one command; `None` where nothing can be traced.
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

/// How many of the lines are calls of these names on a path that contains that.
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
                // Midnight passed and began a segment; the next one is in the middle of a day.
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

/// What memory is asked for depends on the allocator and on how the program was optimised, and so does what a debug build
/// asks of a descriptor before it closes it.
const VARYING: &str = "trace=!brk,mmap,munmap,mprotect,madvise,fcntl";

#[test]
fn a_command_makes_no_more_system_calls_than_it_did() {
    for (command, most) in [
        (
            "send demo --from lead --to dev --type handoff --task-id bd-1",
            112,
        ),
        ("trace demo --trace-id tr_bd-1", 44),
        ("status demo", 44),
        ("--version", 26),
    ] {
        let root = team("jsonl");
        let Some(lines) = traced_for(root.path(), command, VARYING) else {
            return;
        };
        if lines.iter().any(|line| line.contains("ld.so.cache")) {
            eprintln!("skipped: the program was not linked statically");
            return;
        }
        // What the start reads of its process is as long as its paths are.
        let calls = lines.iter().filter(|line| line.contains('('));
        let calls = calls.filter(|line| !line.contains("/proc/")).count();
        assert!(calls <= most, "{command}: {calls} calls: {lines:#?}");
    }
}

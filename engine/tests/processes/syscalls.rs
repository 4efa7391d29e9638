//! Counts the system calls of an append, a rotation and a read under strace.
//!
//! The test starts itself again under strace as [`traced_steps`]. Counts do not depend on the load of the machine. If strace is
//! missing, or if the system does not permit tracing, the tests print that and pass.

use crate::support::{FORMATS, create, open, options, say, writer};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use teamlog_engine::storage::{Files, Storage};
use teamlog_engine::{Format, LogOptions};
use tempfile::TempDir;

const ROOT: &str = "TEAMLOG_TRACED_ROOT";
const STEPS: &str = "TEAMLOG_TRACED_STEPS";
const SYSCALLS: &str = "trace=write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync,syncfs,sync_file_range,msync";
/// System calls that never wait for the disk.
const LOOKS: &str = "openat,openat2,stat,fstat,newfstatat,statx,close,flock";
const THREADS: usize = 32;
const EACH: usize = 25;
/// Segment size at which a segment ends after a few events.
const SMALL_SEGMENT: u64 = 1_000;

/// Segment size at which a long-lived writer ends segments during the test.
const MIDDLING_SEGMENT: u64 = 12_000;
const MANY: usize = 160;
/// Path that separates two appends in the trace.
const BETWEEN: &str = "teams/between";

/// Calls in strace's format. Only calls on files of the log are kept.
struct Calls(Vec<String>);

impl Calls {
    /// Returns the number of calls with these names on paths that contain `path`.
    fn count(&self, names: &[&str], path: &str) -> usize {
        let one_of = |line: &&String| names.iter().any(|name| line.contains(&format!("{name}(")));
        self.0
            .iter()
            .filter(one_of)
            .filter(|line| line.contains(path))
            .count()
    }
    fn writes(&self, path: &str) -> usize {
        self.count(
            &["write", "pwrite64", "writev", "pwritev", "pwritev2"],
            path,
        )
    }
    fn syncs(&self, path: &str) -> usize {
        let names = [
            "fsync",
            "fdatasync",
            "sync",
            "syncfs",
            "sync_file_range",
            "msync",
        ];
        self.count(&names, path)
    }
    /// Returns the number of calls that check, open or close a file.
    fn looks(&self) -> usize {
        self.count(&LOOKS.split(',').collect::<Vec<_>>(), "/")
    }
    /// Counts the syncs of the directories `teams`, `demo` and `events`.
    fn directory_syncs(&self) -> usize {
        self.syncs("/teams>") + self.syncs("/demo>") + self.syncs("/events>")
    }
}

/// Creates a directory on the disk of the build. A file system in memory would not show the cost of a sync.
fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn storage(root: &Path) -> Arc<dyn Storage> {
    Arc::new(Files::create(root).unwrap())
}

/// Creates a log with one event.
fn existing(format: Format) -> TempDir {
    let root = directory();
    let log = create(&storage(root.path()), format, &options().1);
    let writer = writer(&log);
    say(&writer, "first");
    writer.close().unwrap();
    root
}

/// Runs `steps` in another process under strace; returns `None` if tracing is not possible.
fn traced(steps: &str, root: &Path) -> Option<Calls> {
    let trace = root.join("trace");
    let strace = || {
        let mut strace = Command::new("strace");
        let calls = format!("{SYSCALLS},{LOOKS}");
        strace.args(["-f", "-y", "-s", "0", "-e", &calls, "-o"]);
        strace.arg(&trace);
        strace
    };
    if !strace()
        .arg("true")
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("skipped: strace is missing or may not trace here");
        return None;
    }
    let output = strace()
        .arg(std::env::current_exe().unwrap())
        .args([
            "syscalls::traced_steps",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(ROOT, root)
        .env(STEPS, steps)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&trace).unwrap();
    let teams = root.join("teams").display().to_string();
    // A call that checks a file names the file by its path from the root.
    let looks = |line: &str| line.contains("statx(") && line.contains("\"teams/");
    let ours = text
        .lines()
        .filter(|line| line.contains(&teams) || looks(line));
    Some(Calls(ours.map(str::to_owned).collect()))
}

/// Runs the steps that the other tests trace. Without their environment variables the test does nothing.
#[test]
#[ignore = "started by the other tests"]
fn traced_steps() {
    let (Ok(root), Ok(steps)) = (std::env::var(ROOT), std::env::var(STEPS)) else {
        return;
    };
    // The clock does not move, so no new segment begins at midnight.
    let (storage, options) = (storage(Path::new(&root)), options().1);
    match steps.as_str() {
        "append" => {
            let writer = writer(&open(&storage, &options));
            say(&writer, "one");
            writer.release().unwrap();
        }
        "append ten" => {
            let writer = writer(&open(&storage, &options));
            for _ in 0..10 {
                say(&writer, "one");
            }
            writer.release().unwrap();
        }
        "threads" => {
            let writer = writer(&open(&storage, &options));
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        for _ in 0..EACH {
                            say(&writer, "many");
                        }
                    });
                }
            });
            writer.release().unwrap();
        }
        "rotate" => {
            let options = given!(LogOptions, segment_bytes_max: SMALL_SEGMENT, ..options);
            let writer = writer(&open(&storage, &options));
            for _ in 0..EACH {
                say(&writer, "grows");
            }
            writer.release().unwrap();
        }
        "rotate, apart" => {
            let options = given!(LogOptions, segment_bytes_max: MIDDLING_SEGMENT, ..options);
            let writer = writer(&open(&storage, &options));
            for _ in 0..MANY {
                say(&writer, "grows");
                storage.look(Path::new(BETWEEN)).unwrap();
            }
            writer.release().unwrap();
        }
        "read" => {
            let log = open(&storage, &options);
            let read = log
                .reader()
                .unwrap()
                .events(None)
                .map(Result::unwrap)
                .count();
            assert_eq!(read, 1);
        }
        other => panic!("no such steps: {other}"),
    }
}

#[test]
fn a_synced_append_is_one_write_one_sync_one_head_and_one_witness() {
    for format in FORMATS {
        let root = existing(format);
        let Some(calls) = traced("append", root.path()) else {
            return;
        };
        let counts = (
            calls.writes("/events/"),
            calls.count(&["fdatasync"], "/events/"),
            calls.writes("/head>"),
            calls.writes("/lock>"),
            calls.syncs("/"),
        );
        assert_eq!(counts, (1, 1, 1, 1, 1), "{:#?}", calls.0);
    }
}

/// Beside the write, the sync and the head, a group costs only checks. Before the group is written, the writer checks the lock
/// file, the segment, and twice the head. Before the head is written, the writer checks the lock file and the segment.
#[test]
fn a_group_looks_twice_whether_the_log_is_still_ours() {
    for format in FORMATS {
        let looks = |steps| {
            let root = existing(format);
            Some(traced(steps, root.path())?.looks())
        };
        let (Some(one), Some(ten)) = (looks("append"), looks("append ten")) else {
            return;
        };
        assert_eq!(ten - one, 9 * (2 * 2 + 2), "{format:?}");
    }
}

#[test]
fn threads_share_syncs() {
    for format in FORMATS {
        let root = existing(format);
        let Some(calls) = traced("threads", root.path()) else {
            return;
        };
        let syncs = calls.count(&["fdatasync"], "/events/");
        assert!(
            syncs * 12 <= THREADS * EACH,
            "{} events took {syncs} syncs",
            THREADS * EACH
        );
        assert_eq!(calls.syncs("/"), syncs, "{:#?}", calls.0);
        // Zeros ahead are written once, without a separate sync.
        let filled = usize::from(format == Format::Binary && syncs > 16);
        assert_eq!(
            (calls.writes("/events/"), calls.writes("/head>")),
            (syncs + filled, syncs)
        );
    }
}

/// The last append of a segment and the first append of the next segment share the syncs of a rotation.
#[test]
fn the_appends_around_a_rotation_share_its_syncs() {
    for format in FORMATS {
        let root = existing(format);
        let Some(calls) = traced("rotate, apart", root.path()) else {
            return;
        };
        let between = |line: &String| line.contains(BETWEEN);
        let appends: Vec<Vec<String>> = calls
            .0
            .split(between)
            .map(|lines| {
                let waits = |line: &&String| line.contains("sync(");
                let said = |line: &String| waited(line, format);
                lines.iter().filter(waits).map(said).collect()
            })
            .collect();
        let begins = appends.iter().position(|waits| waits.len() > 2);
        let begins = begins.unwrap_or_else(|| panic!("{appends:?}"));
        let [before, ends, begins, behind] = &appends[begins - 2..begins + 2] else {
            panic!("{appends:?}");
        };
        assert_eq!(before[..], ["fdatasync segment"], "{format:?}");
        assert_eq!(ends[..], ["fsync segment", "fdatasync head"], "{format:?}");
        let waits = [
            "fsync aside",
            "fsync directory",
            "fdatasync head",
            "fdatasync segment",
        ];
        assert_eq!(begins[..], waits, "{format:?}");
        assert_eq!(behind[..], ["fdatasync segment"], "{format:?}");
        // The zeros ahead are written from the second group of a segment on.
        let most = calls.0.split(between).map(|lines| {
            let writes = lines.iter().filter(|line| line.contains("pwrite64("));
            writes.map(|line| bytes(line)).max().unwrap_or(0)
        });
        let filled = most.filter(|most| *most > 100_000).count();
        assert_eq!(filled > 0, format == Format::Binary, "{:#?}", calls.0);
    }
}

/// Returns the name of the call that waited, and its file.
fn waited(line: &str, format: Format) -> String {
    let call = ["fdatasync", "fsync"]
        .into_iter()
        .find(|call| line.contains(&format!(" {call}(")))
        .unwrap_or("another call");
    let of = [
        (format!(".{}>", format.extension()), "segment"),
        (".tmp>".to_owned(), "aside"),
        ("/head>".to_owned(), "head"),
        ("/events>".to_owned(), "directory"),
    ];
    let of = of.iter().find(|(end, _)| line.contains(end));
    format!("{call} {}", of.map_or("something else", |(_, what)| what))
}

/// Returns the number of bytes that a call reports.
fn bytes(line: &str) -> usize {
    let answer = line.rsplit("= ").next().unwrap_or_default();
    answer.trim().parse().unwrap_or(0)
}

#[test]
fn directories_are_synced_at_rotation_only() {
    for format in FORMATS {
        let root = existing(format);
        let Some(calls) = traced("rotate", root.path()) else {
            return;
        };
        let segments = root
            .path()
            .join("teams/demo/events")
            .read_dir()
            .unwrap()
            .count();
        assert!(segments > 2, "{segments} segments");
        // There is one sync per append, and one for the header of each new segment. In `binary`, there is one more for a segment
        // that was not ended by its last group.
        let others = calls.syncs("/events/") - EACH;
        let most = (segments - 1) * if format == Format::Binary { 2 } else { 1 };
        assert!((segments - 1..=most).contains(&others), "{:#?}", calls.0);
        assert_eq!(calls.directory_syncs(), segments - 1, "{:#?}", calls.0);
    }
}

#[test]
fn a_read_writes_and_syncs_nothing() {
    for format in FORMATS {
        let root = existing(format);
        let Some(calls) = traced("read", root.path()) else {
            return;
        };
        assert_eq!(
            (calls.writes("/"), calls.syncs("/")),
            (0, 0),
            "{:#?}",
            calls.0
        );
    }
}

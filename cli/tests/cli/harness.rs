//! Runs the built program in its own world: with an empty environment, its own home and its own directory.

use crate::prelude::*;
use crate::schemas;
use rustix::fs::StatVfsMountFlags;
use serde::de::DeserializeOwned;
use std::io::Write;
use tempfile::TempDir;

/// A world: a home and a data root for one test.
pub struct Cli {
    /// Parent directory of the home. Commands may put files beside the home.
    top: TempDir,
    home: PathBuf,
}

/// Exit code, standard output and standard error of a run.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A file system in memory.
const MEMORY: &str = "/dev/shm";

/// Returns true if a directory has space for copies and allows executing programs.
fn has_room(dir: &Path) -> bool {
    rustix::fs::statvfs(dir).is_ok_and(|found| {
        let free = found.f_bavail * found.f_frsize;
        free > 1 << 30 && !found.f_flag.contains(StatVfsMountFlags::NOEXEC)
    })
}

impl Cli {
    /// Creates a world without teams.
    pub fn new() -> Cli {
        Cli::within(&std::env::temp_dir())
    }

    fn within(dir: &Path) -> Cli {
        let top = tempfile::tempdir_in(dir).unwrap();
        let home = top.path().join("home");
        std::fs::create_dir(&home).unwrap();
        Cli { top, home }
    }

    /// Copies the world. The copy is in memory if memory has enough space. Tests make hundreds of
    /// copies, and creating files on a disk is slow after many removals.
    pub fn copy(&self) -> Cli {
        let copy = match has_room(Path::new(MEMORY)) {
            true => Cli::within(Path::new(MEMORY)),
            false => Cli::new(),
        };
        let copied = || {
            let mut cp = Command::new("cp");
            let from = self.top.path().join(".");
            let status = cp.arg("-a").arg(from).arg(copy.top.path()).status();
            status.unwrap().success()
        };
        // The copy may fail, because a daemon can rename a view file between the listing of its directory and the copy.
        assert!((0..10).any(|_| copied()));
        copy
    }

    /// Creates a world with a team `demo` whose members are `lead`, `dev` and `qa`.
    pub fn with_team() -> Cli {
        Cli::with_team_of("jsonl")
    }

    /// Creates a world with a team `demo` in the given log format.
    pub fn with_team_of(format: &str) -> Cli {
        let cli = Cli::new();
        cli.ok(&format!(
            "init demo --members lead,dev,qa --format {format}"
        ));
        cli
    }

    /// Returns the home directory. It is also the working directory and the default data root.
    pub fn dir(&self) -> &Path {
        &self.home
    }

    /// Returns the parent of the home directory, for files that must be outside of the data root.
    pub fn outside(&self) -> &Path {
        self.top.path()
    }

    /// Writes a file in the home directory. Returns its path.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Ticks until `demo` has `count` dead letters. The ack timeout of the team must be short.
    pub fn until_dead_letters(&self, count: usize) {
        until("the deliveries are dead letters", || {
            self.ok("tick demo");
            let letters: Value = parse(&self.ok("dead-letter list demo --json"));
            letters["count"] == count
        });
    }

    /// Returns the path of a team's last segment.
    pub fn segment(&self, team: &str) -> PathBuf {
        let events = self.dir().join("teams").join(team).join("events");
        let mut segments: Vec<PathBuf> = std::fs::read_dir(events)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        segments.sort();
        segments.pop().unwrap()
    }

    /// Returns a command without starting it. Words are split as in a shell, including single quotes.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamlog"));
        command
            .args(words(line))
            .current_dir(self.dir())
            .env_clear()
            .env("HOME", self.dir())
            .env("TMPDIR", self.dir())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command until it ends.
    pub fn run(&self, line: &str) -> Ran {
        Ran::of(&mut self.command(line))
    }

    /// Runs a command with `input` on standard input.
    pub fn run_with_input(&self, line: &str, input: &str) -> Ran {
        let mut child = self
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Ignore errors, because a process that ends early does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Ran::from_output(child.wait_with_output().unwrap())
    }

    /// Runs a command. Checks that the exit code is 0 and that standard error is empty. Returns standard output. JSON output is
    /// checked against its schema.
    #[track_caller]
    pub fn ok(&self, line: &str) -> String {
        let out = self.ok_of_any_shape(line);
        let words = words(line);
        if words.iter().any(|word| word == "--json") {
            schemas::check(&words, &out);
        }
        out
    }

    /// Runs a command like [`Cli::ok`], but does not check JSON output against a schema.
    #[track_caller]
    pub fn ok_of_any_shape(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {ran:?}");
        ran.stdout
    }

    /// Runs a command with `--json` like [`Cli::ok`]. Parses the line of output as `T`.
    #[track_caller]
    pub fn json<T: DeserializeOwned>(&self, line: &str) -> T {
        parse(&self.ok(&format!("{line} --json")))
    }

    /// Runs a command. Checks its exit code and its error line. Returns standard error.
    #[track_caller]
    pub fn refused(&self, code: i32, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(
            (ran.code, &*ran.stdout),
            (Some(code), ""),
            "{line}: {ran:?}"
        );
        assert!(ran.stderr.starts_with("error: "), "{line}: {ran:?}");
        ran.stderr
    }

    /// Runs a command with `--json`. Checks its exit code. Returns the error object.
    #[track_caller]
    pub fn refused_json(&self, code: i32, line: &str) -> ErrorBody {
        let ran = self.run(&format!("{line} --json"));
        assert_eq!(
            (ran.code, &*ran.stdout),
            (Some(code), ""),
            "{line}: {ran:?}"
        );
        schemas::check_stderr(&ran.stderr);
        let line: ErrorLine = parse(&ran.stderr);
        line.error
    }
}

impl Ran {
    pub fn of(command: &mut Command) -> Ran {
        Ran::from_output(command.output().unwrap())
    }

    /// Converts the output of a process. The output must be UTF-8.
    pub fn from_output(output: std::process::Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorLine {
    error: ErrorBody,
}

/// The error object of a command with `--json`.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    pub code: String,
    pub message: String,
    pub field: Option<String>,
    pub hint: Option<String>,
    #[serde(default)]
    pub details: serde_json::Map<String, serde_json::Value>,
}

/// Parses a line of compact JSON as `T`.
#[track_caller]
pub fn parse<T: DeserializeOwned>(line: &str) -> T {
    let text = line
        .strip_suffix('\n')
        .unwrap_or_else(|| panic!("no newline: {line:?}"));
    assert!(!text.contains('\n'), "more than one line: {line:?}");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Parses every line of compact JSON as `T`.
#[track_caller]
pub fn parse_lines<T: DeserializeOwned>(text: &str) -> Vec<T> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Returns true if a process watches files. Commands that wait for events watch files.
pub fn watches_files(pid: u32) -> bool {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let links = files.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
    links
        .into_iter()
        .any(|link| link.ends_with("anon_inode:inotify"))
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

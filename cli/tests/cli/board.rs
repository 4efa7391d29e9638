//! `board` as a process: on a terminal that the program `script` provides, without a terminal, and after each way to end it.
//! Tests that need a terminal pass if `script` is missing.

use crate::prelude::*;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Time limit for waits. The limit is long, because only a failing test reaches this limit.
const LONG: Duration = Duration::from_secs(60);

/// A board on its own terminal. It runs in a shell that prints the terminal's settings after the board ends.
struct OnTerminal {
    child: Child,
    keys: std::process::ChildStdin,
    shown: Receiver<Vec<u8>>,
    text: String,
}

impl OnTerminal {
    /// Starts the board. Returns `None` if the machine has no `script`.
    fn start(cli: &Cli, size: (u16, u16), set: &[(&str, &str)]) -> Option<OnTerminal> {
        let (columns, rows) = size;
        let program = env!("CARGO_BIN_EXE_teamlog");
        let shell = format!(
            "stty cols {columns} rows {rows}; {program} board demo; echo ended $?; stty -a"
        );
        let mut command = Command::new("script");
        command
            .args(["-q", "-e", "-c", &shell, "/dev/null"])
            .current_dir(cli.dir())
            .env_clear()
            .env("HOME", cli.dir())
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "xterm")
            .envs(set.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let keys = child.stdin.take().unwrap();
        let mut out = child.stdout.take().unwrap();
        let (said, shown) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut bytes) {
                if said.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Some(OnTerminal {
            child,
            keys,
            shown,
            text: String::new(),
        })
    }

    /// Waits until the terminal has shown a text.
    #[track_caller]
    fn until(&mut self, wanted: &str) {
        let began = Instant::now();
        while !self.text.contains(wanted) {
            let left = LONG.saturating_sub(began.elapsed());
            match self.shown.recv_timeout(left) {
                Ok(bytes) => self.text.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("no {wanted:?} in {:?}", self.text),
            }
        }
    }

    fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn pid(&self) -> i32 {
        let of = |parent: u32| {
            let path = format!("/proc/{parent}/task/{parent}/children");
            let children = std::fs::read_to_string(path).unwrap();
            let first = children.split_whitespace().next().unwrap_or_default();
            first.parse::<u32>().ok()
        };
        // `script` starts a shell, and the shell starts the board.
        let shell = of(self.child.id()).unwrap();
        of(shell).unwrap() as i32
    }

    /// Checks the exit code, and that the board restored the terminal.
    #[track_caller]
    fn ended(&mut self, code: i32) {
        self.until("\u{1b}[?1049l");
        self.until(&format!("ended {code}"));
        self.until("extproc");
        let (_, after) = self.text.split_once("ended").unwrap();
        let set: BTreeSet<&str> = after.split_whitespace().collect();
        for word in ["icanon", "echo", "isig", "opost"] {
            assert!(set.contains(word), "{word}: {after}");
        }
        let last = self.text.rfind("\u{1b}[?25l").unwrap_or_default();
        assert!(
            self.text[last..].contains("\u{1b}[?25h"),
            "the cursor is shown again: {:?}",
            self.text
        );
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn working() -> Cli {
    let cli = Cli::with_team();
    cli.ok("task create demo --subject Build");
    cli.ok_of_any_shape("task claim demo 1 --worker dev");
    cli
}

const PLAIN: (&str, &str) = ("NO_COLOR", "1");

#[test]
fn without_a_terminal_it_is_one_frame() {
    let cli = working();
    let once = cli.ok("board demo --once");
    shows!(once => has "1 Crew 3", has "15m left", has "Build", has "nothing needs attention", has "dev claimed task 1 until");
    assert!(!once.contains('\u{1b}'));
    let widest = once.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80) && once.lines().count() <= 24, "{once}");
    let ran = cli.run("board demo");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    shows!(ran.stdout => has "15m left");
    assert!(ran.stderr.starts_with("note: no terminal"), "{ran:?}");
    assert!(ran.stderr.contains("teamlog tail -f demo"), "{ran:?}");
    let mut small = cli.command("board demo --once");
    small.env("COLUMNS", "10").env("LINES", "3");
    let small = Ran::of(&mut small);
    assert_eq!(small.code, Some(0), "{small:?}");
    assert!(small.stdout.lines().all(|line| line.chars().count() <= 10));
    cli.refused(1, "board nobody");
    cli.refused(2, "board demo --at soon");
    cli.refused(1, "board demo --at 99");
}

#[test]
fn a_program_gets_the_same_data_as_json() {
    let cli = working();
    let board: Value = cli.json("board demo");
    let who: Value = cli.json("who demo");
    let tasks: Value = cli.json("tasks demo");
    assert_eq!(board["crew"]["live_claims"], who["live_claims"]);
    assert_eq!(board["board"]["tasks"], tasks["tasks"]);
    let count = board["live"]["count"].as_u64();
    assert_eq!(count, board["last_seq"].as_u64());
    assert_eq!(board["attention"]["count"], 0);
    let past: Value = cli.json("board demo --at 2");
    assert_eq!(
        (&past["last_seq"], &past["crew"]["live_claims"]),
        (&2.into(), &0.into())
    );
    let shown = cli.ok("board demo --at 2 --once");
    shows!(shown => has "as of event 2", has "pending 1");
    assert!(!shown.contains("task_claimed"), "{shown}");
}

#[test]
fn a_reader_that_left_is_no_error() {
    let cli = working();
    let mut child = cli
        .command("board demo")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = Ran::from_output(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stderr.contains("error"), "{ran:?}");
}

#[test]
fn it_goes_along_and_leaves_the_terminal_as_it_was() {
    let cli = working();
    let Some(mut board) = OnTerminal::start(&cli, (80, 24), &[PLAIN]) else {
        return;
    };
    board.until("15m left");
    cli.ok("append demo --kind ci_run_finished --actor ci");
    board.until("ci_run_finished");
    // A writer does not wait for the board, because the board holds no lock.
    let began = Instant::now();
    cli.ok("append demo --kind zqzqzqzq --actor ci");
    assert!(began.elapsed() < LONG / 4);
    // The board writes only changed cells, so wait for letters that were not on the screen before.
    board.until("zqzqzqzq");
    board.keys("?");
    board.until("local time, UTC, relative");
    board.keys("\u{1b}");
    // Wait, because a letter directly after Escape is read as Alt and the letter.
    std::thread::sleep(Duration::from_secs(2));
    board.keys("q");
    board.ended(0);
    assert!(!board.text.contains("\u{1b}[31"), "no colours");
}

#[test]
fn ten_columns_and_three_rows_are_enough_to_leave() {
    let cli = working();
    let Some(mut board) = OnTerminal::start(&cli, (10, 3), &[]) else {
        return;
    };
    board.until("Crew");
    board.keys("2\t\t?jj\u{3}");
    board.ended(0);
}

#[test]
fn a_dumb_terminal_gets_one_frame() {
    let cli = working();
    let Some(mut board) = OnTerminal::start(&cli, (80, 24), &[("TERM", "dumb")]) else {
        return;
    };
    board.until("ended 0");
    assert!(!board.text.contains('\u{1b}'), "{:?}", board.text);
    shows!(board.text => has "15m left", has "note: no terminal");
}

#[test]
fn signals_end_it_with_the_terminal_as_it_was() {
    let cli = working();
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let Some(mut board) = OnTerminal::start(&cli, (80, 24), &[]) else {
            return;
        };
        board.until("15m left");
        let kill = Command::new("kill")
            .args([format!("-{signal}"), board.pid().to_string()])
            .status();
        assert!(kill.unwrap().success());
        board.ended(code);
    }
}

#[test]
fn a_log_that_is_damaged_meanwhile_is_said_and_mended_again() {
    let cli = working();
    let Some(mut board) = OnTerminal::start(&cli, (80, 24), &[PLAIN]) else {
        return;
    };
    board.until("15m left");
    let identity = cli.dir().join("teams/demo/log.json");
    let before = std::fs::read(&identity).unwrap();
    std::fs::write(&identity, "{").unwrap();
    board.until("!! damaged");
    std::fs::write(&identity, before).unwrap();
    board.text.clear();
    cli.ok("append demo --kind ci_run_finished --actor ci");
    board.until("ci_run_finished");
    board.keys("q");
    board.ended(0);
}

#[test]
fn it_goes_along_beside_a_daemon() {
    let cli = working();
    let daemon = crate::daemon::Daemon::of(&cli);
    let Some(mut board) = OnTerminal::start(&cli, (80, 24), &[PLAIN]) else {
        return;
    };
    board.until("15m left");
    cli.ok("append demo --kind zqzqzqzq --actor ci");
    board.until("zqzqzqzq");
    board.keys("q");
    board.ended(0);
    drop(daemon);
}

//! `--follow`, waits and reads of the past, with real processes.

use crate::answers::{Event, Ready, Status, Tasks, Wait};
use crate::prelude::*;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Time limit for waits. The limit is long, because only a failing test reaches this limit.
const LONG: Duration = Duration::from_secs(30);

/// A process, with its lines of output as they arrive.
struct Following {
    child: Child,
    lines: Receiver<String>,
}

impl Following {
    fn start(cli: &Cli, line: &str) -> Following {
        let mut child = cli
            .command(line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (said, lines) = channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    break;
                }
            }
        });
        Following { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(LONG).unwrap()
    }

    fn seqs(&self, count: usize) -> Vec<u64> {
        let event = |_| serde_json::from_str::<Event>(&self.line()).unwrap().seq;
        (0..count).map(event).collect()
    }

    /// Returns the number of times that the process went to sleep.
    fn naps(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("voluntary_ctxt_switches"));
        line.unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    }

    fn end(self) -> Ran {
        Ran::from_output(self.child.wait_with_output().unwrap())
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.child.kill();
        let _ = self.0.child.wait();
    }
}

/// A follower that is killed on drop.
struct Killed(Following);

const SEND: &str = "send demo --from lead --to dev --type handoff";

#[test]
fn a_follower_shows_what_other_processes_append_and_sleeps_between() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        for _ in 0..3 {
            cli.ok(SEND);
        }
        let tail = Killed(Following::start(&cli, "tail demo -f -n 2 --json"));
        let replay = Killed(Following::start(
            &cli,
            "replay demo --follow --kind message_sent --json",
        ));
        let people = Killed(Following::start(
            &cli,
            "tail demo --follow -n 1 --agent dev",
        ));
        assert_eq!(tail.0.seqs(2), [3, 4]);
        assert_eq!(replay.0.seqs(3), [2, 3, 4]);
        // The process shows recorded events first, and then follows the log.
        people.0.line();
        cli.ok(SEND);
        cli.ok("append demo --kind ci_run_finished --actor ci");
        cli.ok(SEND);
        assert_eq!(tail.0.seqs(3), [5, 6, 7]);
        assert_eq!(replay.0.seqs(2), [5, 7]);
        assert!(people.0.line().contains("handed work over to dev"));
        // Wait until the follower is idle. Then count its wake-ups while no event arrives.
        thread::sleep(Duration::from_millis(100));
        let before = tail.0.naps();
        thread::sleep(Duration::from_millis(500));
        let naps = tail.0.naps() - before;
        assert!(naps <= 4, "woke {naps} times for nothing");
    }
}

#[test]
fn many_writers_and_a_kill_lose_a_follower_nothing() {
    let cli = Cli::with_team();
    let tail = Killed(Following::start(&cli, "tail demo -f -n 0 --json"));
    // With `-n 0`, events before the start of the follower are not shown, so send until a line arrives.
    let first = loop {
        cli.ok(SEND);
        if let Ok(line) = tail.0.lines.recv_timeout(Duration::from_millis(500)) {
            break serde_json::from_str::<Event>(&line).unwrap().seq;
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..8).for_each(|_| assert_eq!(cli.run(SEND).code, Some(0))));
        }
        for _ in 0..6 {
            let mut killed = cli.command(SEND).stdout(Stdio::null()).spawn().unwrap();
            thread::sleep(Duration::from_millis(3));
            let _ = killed.kill();
            let _ = killed.wait();
        }
    });
    let last = cli.json::<Status>("status demo").last_seq;
    let seqs = tail.0.seqs((last - first) as usize);
    assert_eq!(seqs, (first + 1..=last).collect::<Vec<_>>());
}

#[test]
fn a_reader_that_leaves_ends_a_follower_quietly() {
    let cli = Cli::with_team();
    for line in ["tail demo -f", "replay demo --follow --json"] {
        let mut following = Following::start(&cli, line);
        following.line();
        // The channel is closed, so the thread that reads lines ends at the next line. The end of
        // the thread closes the pipe.
        following.lines = channel().1;
        let started = Instant::now();
        while following.child.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < LONG, "{line} goes on for nobody");
            cli.ok(SEND);
        }
        let ran = following.end();
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}");
    }
}

#[test]
fn a_follower_of_a_log_that_was_replaced_says_so() {
    let cli = Cli::with_team();
    let other = Cli::with_team();
    let following = Following::start(&cli, "tail demo -f --json");
    assert_eq!(following.seqs(1), [1]);
    let (here, old) = (cli.dir().join("teams/demo"), cli.dir().join("teams/old"));
    std::fs::rename(&here, &old).unwrap();
    std::fs::rename(other.dir().join("teams/demo"), &here).unwrap();
    let ran = following.end();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("\"code\":\"log_replaced\""), "{ran:?}");
    assert!(
        ran.stderr.contains("teamlog replay demo --limit 5"),
        "{ran:?}"
    );
}

#[test]
fn a_follower_of_a_log_that_is_taken_away_says_so() {
    let cli = Cli::with_team();
    let following = Following::start(&cli, "tail demo -f --json");
    assert_eq!(following.seqs(1), [1]);
    let (here, old) = (cli.dir().join("teams/demo"), cli.dir().join("teams/old"));
    std::fs::rename(&here, &old).unwrap();
    let ran = following.end();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("\"code\":\"log_replaced\""), "{ran:?}");
}

#[test]
fn a_wait_ends_with_mail_or_with_its_time() {
    let cli = Cli::with_team();
    let ran = cli.run("wait demo --agent dev --timeout 0.05 --json");
    assert_eq!((ran.code, &*ran.stderr), (Some(1), ""));
    let late: Wait = parse(&ran.stdout);
    assert_eq!(
        (&*late.status, late.count, late.last_seq),
        ("timed_out", 0, 1)
    );
    let waiting = Following::start(&cli, "wait demo --agent dev --timeout 30 --since 1 --json");
    cli.ok("send demo --from lead --to qa --type handoff");
    cli.ok(SEND);
    let arrived: Wait = serde_json::from_str(&waiting.line()).unwrap();
    assert_eq!(
        (&*arrived.status, arrived.count, arrived.last_seq),
        ("arrived", 1, 3)
    );
    assert_eq!(arrived.events[0].agent.as_deref(), Some("dev"));
    assert_eq!(waiting.end().code, Some(0));
    assert_eq!(
        cli.ok("wait demo --agent qa --since 1 --timeout 1")
            .lines()
            .count(),
        1
    );
    shows!(cli.run("wait demo --agent dev --timeout 0").stdout => starts "nothing new for dev");
    shows!(cli.refused_json(1, "wait demo --agent dev --since 99").code => is "invalid_input");
    shows!(cli.refused(2, "wait demo --agent dev --timeout soon") => has "seconds");
}

#[test]
fn a_team_is_shown_as_it_was() {
    let cli = Cli::with_team();
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject First");
    let then = cli
        .json::<Event>("replay demo --reverse --limit 1")
        .created_at;
    cli.ok("task-assign demo --from lead --to qa --task-id T-2 --subject Second");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done");
    for at in ["2", &then] {
        let status: Status = cli.json(&format!("status demo --at {at}"));
        assert_eq!((status.task_count, status.last_seq), (1, 2));
        let tasks: Tasks = cli.json(&format!("tasks demo --at {at}"));
        assert_eq!(tasks.tasks[0]["status"], "assigned");
        let ready: Ready = cli.json(&format!("ready demo --at {at}"));
        assert_eq!((ready.total, &ready.tasks[0]["id"]), (1, &"T-1".into()));
    }
    let ready: Ready = cli.json("ready demo --agent qa");
    assert_eq!((ready.count, &ready.tasks[0]["id"]), (1, &"T-2".into()));
    let ran = cli.run("task show demo T-1 --at 2");
    assert!(ran.stdout.contains("assigned"), "{ran:?}");
    assert!(ran.stderr.starts_with("note: as of event 2, 20"), "{ran:?}");
    for bad in ["5", "0", "2000-01-01", "2999-01-01"] {
        let error = cli.refused_json(1, &format!("read demo --agent dev --at {bad}"));
        assert_eq!(error.code, "point_unknown", "{bad}");
    }
    shows!(cli.refused(2, "trace demo --trace-id t --at soon") => has "soon");
}

/// Measures the time from the end of the appending process to the follower's line. The limit is loose, because the machine may
/// be busy.
#[test]
#[ignore = "measures"]
fn a_follower_wakes_soon() {
    let cli = Cli::with_team();
    let tail = Killed(Following::start(&cli, "tail demo -f -n 1 --json"));
    tail.0.seqs(1);
    let mut took: Vec<Duration> = (0..50)
        .map(|_| {
            cli.ok(SEND);
            let answered = Instant::now();
            tail.0.seqs(1);
            answered.elapsed()
        })
        .collect();
    took.sort();
    eprintln!("median {:?}, slowest {:?}", took[25], took[49]);
    assert!(took[25] < Duration::from_millis(50), "{took:?}");
}

//! Durable subscriptions from the command line: programs per event, kills at every step, take-over, and the daemon's file.

use crate::daemon::Daemon;
use crate::prelude::*;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, Read};
use std::os::unix::fs::PermissionsExt;

/// Program that appends the event's seq to the file `handled`.
const HANDLE: &str = "echo $TEAMLOG_EVENT_SEQ >> handled";

/// Appends events of kind `built`. Returns their seqs.
pub fn built(cli: &Cli, count: usize) -> Vec<u64> {
    (0..count)
        .map(|_| {
            let answer: Value = parse(&cli.ok("append demo --kind built --actor ci --json"));
            answer["seq"].as_u64().unwrap()
        })
        .collect()
}

/// Returns the seqs in the file `handled`.
pub fn handled(cli: &Cli) -> Vec<u64> {
    let text = std::fs::read_to_string(cli.dir().join("handled")).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

pub fn shown(cli: &Cli) -> Value {
    parse(&cli.ok("subscription show demo w --json"))
}

/// Returns the position; 0 before the subscription exists.
pub fn position(cli: &Cli) -> u64 {
    let ran = cli.run("subscription show demo w --json");
    match ran.code {
        Some(0) => parse::<Value>(&ran.stdout)["subscription"]["position"]
            .as_u64()
            .unwrap(),
        _ => 0,
    }
}

fn subscribe(cli: &Cli, words: &str, script: &str) -> Command {
    let line = format!(
        "subscribe demo w --from start --kind built --lease-seconds 1 {words} --exec sh -- -c '{script}'"
    );
    cli.command(&line)
}

fn run(cli: &Cli, words: &str, script: &str) -> Ran {
    Ran::of(&mut subscribe(cli, words, script))
}

fn stop(child: &Child) {
    let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
}

#[test]
fn a_program_runs_once_per_event_in_order_and_a_restart_continues() {
    let cli = Cli::with_team();
    let mut all = built(&cli, 2);
    cli.ok("append demo --kind tested --actor ci");
    assert_eq!(run(&cli, "--once", HANDLE).code, Some(0));
    assert_eq!(handled(&cli), all);
    all.extend(built(&cli, 1));
    let script = "cat > event; echo $TEAMLOG_EVENT_KIND $TEAMLOG_EVENT_ATTEMPT $TEAMLOG_TEAM $TEAMLOG_SUBSCRIPTION";
    let ran = run(&cli, "--once", script);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(0), "built 1 demo w\n"),
        "{ran:?}"
    );
    let event = std::fs::read_to_string(cli.dir().join("event")).unwrap();
    assert_eq!(parse::<Value>(&event)["seq"], all[2]);
    let list = cli.ok("subscription list demo");
    assert!(
        list.contains("w  at ") && list.contains("no consumer"),
        "{list}"
    );
}

#[test]
fn a_consumer_that_is_killed_at_every_step_misses_no_event() {
    let cli = Cli::with_team();
    let all = built(&cli, 3);
    // The program kills its consumer before the work, lets it live, and kills it after the work, in turn.
    let script = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; \
        if [ $((n % 3)) = 0 ]; then kill -9 $PPID; exit 1; fi; \
        echo $TEAMLOG_EVENT_SEQ >> handled; \
        if [ $((n % 3)) = 2 ]; then kill -9 $PPID; fi";
    let mut kills = 0;
    while kills == 0 || position(&cli) < all[2] {
        consume(&cli, &mut kills, script);
        assert!(kills < 20, "{:?}", handled(&cli));
    }
    let done = handled(&cli);
    let mut once = done.clone();
    once.dedup();
    assert_eq!(once, all, "{done:?}");
    assert!(kills >= 2, "{kills} kills");
}

/// Runs a consumer until it ends, and counts its kill.
fn consume(cli: &Cli, kills: &mut usize, script: &str) {
    // A killed consumer keeps its lease for a second.
    until("the lease is free", || {
        let ran = run(cli, "--once", script);
        let is_held = ran.stderr.contains("is held by");
        *kills += usize::from(ran.code.is_none());
        !is_held
    });
}

#[test]
fn an_answered_ack_counts_even_if_the_next_process_is_killed() {
    let cli = Cli::with_team();
    cli.ok("subscribe demo w --kind built --from start --window 8 --once");
    built(&cli, 24);
    let call = |name: &str, input: &Value| {
        let mut input = input.clone();
        input["team_name"] = "demo".into();
        input["name"] = "w".into();
        cli.command(&format!("api {name} --input '{input}' --json"))
    };
    let mut acked = BTreeSet::new();
    let mut epoch = Value::Null;
    for round in 0..60_u64 {
        let mut input = json!({"timeout_ms": 0, "lease_ms": 3_600_000});
        if !epoch.is_null() {
            input["epoch"] = epoch.clone();
        }
        let ran = Ran::of(&mut call("fetch-subscription", &input));
        let answer: Value = parse(&ran.stdout);
        epoch = answer["data"]["epoch"].clone();
        let events = answer["data"]["events"].as_array().unwrap().iter();
        let seqs: Vec<u64> = events
            .map(|one| one["event"]["seq"].as_u64().unwrap())
            .collect();
        for seq in &seqs {
            assert!(!acked.contains(seq), "{seq} was acknowledged before");
        }
        let Some(first) = seqs.first() else { break };
        let input = json!({"epoch": epoch, "seqs": [first]});
        let mut ack = call("ack-subscription", &input)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(round * 7 % 60));
        let _ = ack.kill();
        if ack.wait().unwrap().success() {
            acked.insert(*first);
        }
    }
    assert!(acked.len() >= 3, "{acked:?}");
}

#[test]
fn a_second_consumer_waits_and_takes_over_at_once_after_a_clean_end() {
    let cli = Cli::with_team();
    let all = built(&cli, 2);
    let mut first = subscribe(&cli, "", HANDLE)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the first has handled all events", || {
        position(&cli) == all[1]
    });
    let refused = run(&cli, "--once", HANDLE);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let mut second = subscribe(&cli, "--consumer second", HANDLE)
        .spawn()
        .unwrap();
    stop(&first);
    assert_eq!(first.wait().unwrap().code(), Some(0));
    until("the second has the lease", || {
        shown(&cli)["subscription"]["consumer"] == "second"
    });
    let more = built(&cli, 1);
    until("the second has handled the event", || {
        position(&cli) == more[0]
    });
    assert_eq!(handled(&cli), [all, more].concat());
    stop(&second);
    assert_eq!(second.wait().unwrap().code(), Some(0));
    assert_eq!(shown(&cli)["subscription"]["consumer"], Value::Null);
}

#[test]
fn a_program_that_fails_or_hangs_is_retried_then_parked_and_replayed() {
    let cli = Cli::with_team();
    let all = built(&cli, 2);
    let hang =
        "if [ $TEAMLOG_EVENT_SEQ = BAD ]; then sleep 60; fi; echo $TEAMLOG_EVENT_SEQ >> handled";
    let hang = hang.replace("BAD", &all[0].to_string());
    let mut consumer = subscribe(&cli, "--max-attempts 2 --exec-timeout-seconds 1", &hang)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the second event is handled", || handled(&cli) == [all[1]]);
    stop(&consumer);
    assert!(consumer.wait().unwrap().success());
    let mut notes = String::new();
    consumer
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut notes)
        .unwrap();
    assert!(
        notes.contains("killed after 1 s") && notes.contains("parked"),
        "{notes}"
    );
    let attention = cli.ok("attention demo");
    assert!(
        attention.contains("events parked: w gave up event"),
        "{attention}"
    );
    let shown = cli.ok("subscription show demo w");
    assert!(shown.contains("parked"), "{shown}");
    cli.ok("subscription replay demo w");
    assert_eq!(run(&cli, "--once", HANDLE).code, Some(0));
    assert_eq!(handled(&cli), [all[1], all[0]]);
    assert!(!cli.ok("attention demo").contains("parked"));
}

#[test]
fn lines_are_acknowledged_after_they_are_written_and_a_reader_that_leaves_ends_the_command() {
    let cli = Cli::with_team();
    let all = built(&cli, 3);
    let out = cli.ok("subscribe demo w --kind built --from start --once --json");
    let seqs: Vec<u64> = parse_lines::<Value>(&out)
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, all);
    assert_eq!(cli.ok("subscribe demo w --kind built --once"), "");
    let mut follower = cli
        .command("subscribe demo w --kind built --json")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let more = built(&cli, 1);
    let mut line = String::new();
    let mut lines = BufReader::new(follower.stdout.take().unwrap());
    lines.read_line(&mut line).unwrap();
    assert_eq!(parse::<Value>(&line)["seq"], more[0]);
    drop(lines);
    assert!(follower.wait().unwrap().success());
    // The lease is released, and the events that were not read are delivered again.
    let late = built(&cli, 1);
    let out = cli.ok("subscribe demo w --kind built --once --json");
    assert_eq!(parse::<Value>(&out)["seq"], late[0]);
}

#[test]
fn the_examples_of_the_guide_run() {
    let cli = Cli::with_team();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
    cli.ok("append demo --kind built --actor ci --task-id 7");
    let notify = examples.join("notify.sh");
    let line = "subscribe demo alerts --from start --kind built --once --exec";
    cli.ok(&format!("{line} {}", notify.display()));
    let alerts = std::fs::read_to_string(cli.dir().join("alerts.txt")).unwrap();
    assert_eq!(alerts, "built: task 7 of demo\n");

    let program = Path::new(env!("CARGO_BIN_EXE_teamlog")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let copy = |options: &str| {
        let script = format!(
            "exec python3 {}/subscription_to_sqlite.py demo copy.db {options}",
            examples.display()
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env_clear();
        command.env("PATH", &path).env("HOME", cli.dir());
        command.current_dir(cli.dir());
        command
    };
    let count = || {
        let script = "import sqlite3; db = sqlite3.connect('copy.db'); \
            print(*db.execute('SELECT count(*), max(seq) FROM event').fetchone(), \
            *db.execute('SELECT seq FROM position').fetchone())";
        let mut command = Command::new("python3");
        command.args(["-c", script]).current_dir(cli.dir());
        Ran::of(&mut command).stdout
    };
    assert!(copy("--once").status().unwrap().success());
    let last = 1 + cli.ok("replay demo --json").lines().count();
    assert_eq!(count(), format!("{0} {0} {0}\n", last - 1));
    let mut running = copy("").spawn().unwrap();
    for _ in 0..8 {
        built(&cli, 1);
    }
    running.kill().unwrap();
    running.wait().unwrap();
    until("the orphan has released the lease", || {
        copy("--once")
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
    });
    assert_eq!(count(), format!("{0} {0} {0}\n", last + 7));
}

#[test]
fn the_daemon_runs_the_subscriptions_of_a_private_file() {
    let cli = Cli::with_team();
    let text = "[[subscription]]\nteam = \"demo\"\nname = \"w\"\nkind = \"built\"\nfrom = \"start\"\n\
        exec = [\"sh\", \"-c\", \"echo $TEAMLOG_EVENT_SEQ >> handled\"]\n";
    let file = cli.file("subscriptions.toml", text);
    let mode = |mode| std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    mode(0o644);
    let error = cli.refused_json(1, "serve");
    assert_eq!(error.code, "key_exposed");
    mode(0o600);
    let all = built(&cli, 2);
    let daemon = Daemon::of(&cli);
    until("the events are handled", || handled(&cli) == all);
    let more = built(&cli, 1);
    until("the new event is handled", || position(&cli) == more[0]);
    let consumer = shown(&cli)["subscription"]["consumer"].clone();
    assert_eq!(consumer, format!("daemon-{}", daemon.pid()));
    let doctor = cli.ok("doctor check demo --json");
    assert!(
        doctor.contains(&format!("running: w by daemon-{}", daemon.pid())),
        "{doctor}"
    );
    let pid = Pid::from_raw(daemon.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(daemon.ended(), (Some(0), String::new()));
    assert_eq!(shown(&cli)["subscription"]["consumer"], Value::Null);
    cli.file(
        "subscriptions.toml",
        "[[subscription]]\nteam = \"demo\"\nname = \"w\"\n",
    );
    let error = cli.refused_json(1, "serve");
    assert!(error.message.contains("exec"), "{error:?}");
}

#[test]
fn a_window_runs_programs_at_the_same_time_and_keeps_the_order_of_a_task() {
    let cli = Cli::with_team();
    let mut all = Vec::new();
    for task in ["1", "1", "2", "3", "4"] {
        let line = format!("append demo --kind built --actor ci --task-id {task} --json");
        let answer: Value = parse(&cli.ok(&line));
        all.push(answer["seq"].as_u64().unwrap());
    }
    // Each program waits until four programs have started. The second event of task 1 waits for the first one.
    let script = "echo $TEAMLOG_EVENT_SEQ >> started; \
        while [ $(wc -l < started) -lt 4 ]; do sleep 0.01; done; echo $TEAMLOG_EVENT_SEQ >> handled";
    let ran = run(&cli, "--once --window 8 --exec-timeout-seconds 60", script);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let started = std::fs::read_to_string(cli.dir().join("started")).unwrap();
    let last = started.lines().last().unwrap();
    assert_eq!(last, all[1].to_string(), "{started}");
    let mut done = handled(&cli);
    assert_eq!(done.last(), Some(&all[1]));
    done.sort_unstable();
    assert_eq!(done, all);
    assert_eq!(position(&cli), all[4]);
    // One program that fails does not stop the others.
    let more = built(&cli, 3);
    let fails = format!("[ $TEAMLOG_EVENT_SEQ = {} ] && exit 1; {HANDLE}", more[0]);
    let ran = run(&cli, "--once --window 8", &fails);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("1 delivery failed"), "{ran:?}");
    assert!(ran.stderr.contains("exit status: 1"), "{ran:?}");
    let mut done = handled(&cli).split_off(5);
    done.sort_unstable();
    assert_eq!(done, more[1..]);
    assert_eq!(shown(&cli)["failing"][0]["seq"], more[0]);
}

#[test]
fn a_consumer_whose_deliveries_are_forgotten_gets_the_events_again() {
    let cli = Cli::with_team();
    let all = built(&cli, 2);
    // The file that a power loss can remove.
    let delivery = cli.dir().join("teams/demo/subscriptions/w.delivery");
    let script = format!(
        "[ -e once ] || {{ touch once; rm {}; }}; {HANDLE}",
        delivery.display()
    );
    let mut consumer = subscribe(&cli, "", &script)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the events are settled", || position(&cli) == all[1]);
    stop(&consumer);
    assert_eq!(consumer.wait().unwrap().code(), Some(0));
    let mut notes = String::new();
    consumer
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut notes)
        .unwrap();
    assert!(notes.contains("no longer knows the deliveries"), "{notes}");
    assert_eq!(handled(&cli), [all[0], all[0], all[1]]);
}

#[test]
fn a_daemon_that_is_killed_at_any_time_misses_no_event_and_settles_each_once() {
    let cli = Cli::with_team();
    let text = "[[subscription]]\nteam = \"demo\"\nname = \"w\"\nkind = \"built\"\nfrom = \"start\"\nwindow = 4\n\
        exec = [\"sh\", \"-c\", \"echo $TEAMLOG_EVENT_SEQ $TEAMLOG_EVENT_ATTEMPT >> handled\"]\n";
    let file = cli.file("subscriptions.toml", text);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    cli.ok("subscribe demo w --kind built --from start --window 4 --once");
    let all = built(&cli, 40);
    let runs = || {
        let text = std::fs::read_to_string(cli.dir().join("handled")).unwrap_or_default();
        let lines = text.lines().map(|line| {
            let (seq, attempt) = line.split_once(' ').unwrap();
            assert_eq!(
                attempt, "1",
                "a kill of the daemon is no failure of the event"
            );
            seq.parse().unwrap()
        });
        lines.collect::<Vec<u64>>()
    };
    let (mut kills, mut settled) = (0, 0);
    while position(&cli) < all[39] {
        let daemon = Daemon::of(&cli);
        // The daemon before this one was killed, so its lease has to end first: the test ends it.
        free(&cli);
        let count = runs().len();
        let enough = count + 1 + kills * 5 % 9;
        until("the daemon has handled events", || {
            runs().len() >= enough || position(&cli) >= all[39]
        });
        daemon.kill();
        kills += 1;
        let now = position(&cli);
        assert!(now >= settled, "the position moved back: {now} < {settled}");
        settled = now;
        assert!(kills < 60, "{:?}", runs());
    }
    let done = runs();
    let once: BTreeSet<u64> = done.iter().copied().collect();
    assert_eq!(once.into_iter().collect::<Vec<_>>(), all);
    assert!(kills >= 4, "{kills} kills");
    // Per kill, at most the window's number of events runs again.
    assert!(
        done.len() <= all.len() + kills * 4,
        "{} runs, {kills} kills",
        done.len()
    );
}

#[test]
fn a_program_that_cannot_start_is_no_attempt_and_a_seq_moves_a_subscription() {
    let cli = Cli::with_team();
    let all = built(&cli, 2);
    let line = "subscribe demo w --kind built --from start --once";
    let error = cli.refused_json(1, &format!("{line} --exec /nonexistent/notify"));
    assert!(
        error.message.contains("cannot run /nonexistent/notify"),
        "{error:?}"
    );
    let listed = &shown(&cli)["subscription"];
    assert_eq!(listed["failing_count"], 0, "{listed}");
    assert_eq!(listed["consumer"], Value::Null);
    assert_eq!(run(&cli, "--once", HANDLE).code, Some(0));
    assert_eq!(handled(&cli), all);
    let moved = cli.run(&format!(
        "subscribe demo w --kind built --from {} --once",
        all[0] - 1
    ));
    assert!(moved.stderr.contains("are delivered again"), "{moved:?}");
    assert_eq!(moved.stdout.lines().count(), 2, "{moved:?}");
    built(&cli, 1);
    let last = built(&cli, 1)[0];
    let moved = cli.run(&format!(
        "subscribe demo w --kind built --from {last} --once"
    ));
    assert!(
        moved.stderr.contains("settled without delivery"),
        "{moved:?}"
    );
    assert_eq!(moved.stdout, "");
}

/// Ends the lease of a consumer that was killed.
fn free(cli: &Cli) {
    let epoch = shown(cli)["subscription"]["epoch"].as_u64().unwrap();
    let consumer = shown(cli)["subscription"]["consumer"].clone();
    let is_dead = |consumer: &str| {
        let pid = consumer.strip_prefix("daemon-").unwrap();
        !Path::new("/proc").join(pid).exists()
    };
    if consumer.as_str().is_some_and(is_dead) {
        let input = json!({"team_name": "demo", "name": "w", "epoch": epoch});
        cli.ok(&format!("api release-subscription --input '{input}'"));
    }
}

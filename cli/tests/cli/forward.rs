//! Runs the command line with and without a daemon. Output, exit codes and history are equal byte for byte.

mod faults;

use crate::daemon::{Daemon, unknown};
use crate::harness::{Cli, Ran, parse};
use crate::mcp::Client;
use crate::scenario::{Given, scenario};
use crate::terminal::on_terminal;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;

/// Every recording command, in forms that succeed and forms that fail. The order gives each command something to do. The text
/// after `<<` is standard input.
const HISTORY: &str = include_str!("forward/history.txt");

/// Creates a world with all files that the history names. Returns the world and a copy.
fn worlds() -> (Cli, Cli) {
    let direct = Cli::with_team();
    direct.file("payload.json", r#"{"said":"in a file"}"#);
    direct.file("ack.json", r#"{"from":"synthesizer"}"#);
    direct.file("fields.json", r#"{"plan":"docs/plan.md"}"#);
    direct.file("state.json", r#"{"mode":"forge","active":true}"#);
    direct.file(
        "task.json",
        r#"{"team_name":"demo","subject":"S","description":"in a file"}"#,
    );
    direct.file("facts.jsonl", "{\"kind\":\"seen\"}\n{\"kind\":\"heard\"}\n");
    direct.file(
        "messages.jsonl",
        "{\"id\":\"old-1\",\"type\":\"handoff\",\"from\":\"lead\",\"to\":\"dev\",\"created_at\":\"2024-01-01T00:00:00Z\"}\n",
    );
    for (name, text) in [
        (
            "tell",
            "#!/bin/sh\necho \"$TEAMLOG_TEAM $TEAMLOG_NUDGED $TEAMLOG_UNREAD $MARK $(pwd)\" >> told\necho told\n",
        ),
        ("slow", "#!/bin/sh\nexec sleep 30\n"),
    ] {
        let path = direct.file(name, text);
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let receipt = direct.ok("head demo --json");
    direct.file("receipt.json", &receipt);
    direct.ok("backup demo ../backup_dir");
    let served = direct.copy();
    (direct, served)
}

fn ran(cli: &Cli, step: &str) -> Ran {
    let (line, input) = step.split_once(" << ").unwrap_or((step, ""));
    let mut command = cli.command(line);
    command.env("TEAMLOG_AGENT", "lead").env("MARK", "mine");
    command.env("PATH", "/usr/bin:/bin");
    with_input(&mut command, input)
}

fn with_input(command: &mut Command, input: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Ran::from_output(child.wait_with_output().unwrap())
}

/// Removes from a text the parts that differ between worlds: paths, times, random bits and durations.
fn plain(cli: &Cli, text: &str) -> String {
    let text = text.replace(&cli.outside().display().to_string(), "WORLD");
    // Long operations also print their speed.
    let text = match (text.find("events/s)"), text.find(" (")) {
        (Some(end), Some(begin)) if begin < end => {
            [&text[..begin], &text[end + "events/s)".len()..]].concat()
        }
        _ => text,
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '+');
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let length = rest
            .find(|c| is_word(c) != is_word(first))
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        match is_word(first) {
            true => plain.push_str(&named(
                word,
                ["_ms\"", "_second\""]
                    .iter()
                    .any(|end| plain.ends_with(end)),
            )),
            false => plain.push_str(word),
        }
        rest = behind;
    }
    plain
}

fn named(word: &str, is_duration: bool) -> String {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_time =
        word.len() >= 19 && digits(&word[..4]) && word.contains('T') && word.contains(':');
    let are_bits = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    };
    if is_time
        || (is_duration && word.strip_prefix(':').is_some_and(digits))
        || word
            .strip_suffix("ms")
            .is_some_and(|number| number.split('.').all(digits))
    {
        return "TIME".to_owned();
    }
    // A word can consist of a name and random bits.
    match word.len().checked_sub(36).map(|at| word.split_at(at)) {
        Some((name, bits)) if are_bits(bits) && !are_bits(name) => format!("{name}BITS"),
        _ if word.len() >= 12 && are_bits(word) => "BITS".to_owned(),
        _ => word.to_owned(),
    }
}

#[track_caller]
fn same(direct: &Cli, served: &Cli, step: &str) {
    let (alone, through) = (ran(direct, step), ran(served, step));
    for (what, alone, through) in [
        ("stdout", &alone.stdout, &through.stdout),
        ("stderr", &alone.stderr, &through.stderr),
    ] {
        assert_eq!(
            plain(direct, alone),
            plain(served, through),
            "{what} of {step}"
        );
    }
    assert_eq!(alone.code, through.code, "{step}: {alone:?}");
}

#[test]
fn what_is_typed_says_and_does_the_same_through_the_daemon() {
    let (direct, served) = worlds();
    let daemon = Daemon::of(&served);
    assert_eq!(daemon.ready["teams"], json!(["demo"]));
    let mut events = 0;
    let steps: Vec<&str> = HISTORY.lines().filter(|line| !line.is_empty()).collect();
    for (at, step) in steps.iter().enumerate() {
        same(&direct, &served, step);
        let is_last = at + 2 >= steps.len();
        if at % 16 != 0 && !is_last {
            continue;
        }
        // The exports show that both worlds recorded equal events.
        let (alone, through) = (direct.run("export demo"), served.run("export demo"));
        assert_eq!(
            plain(&direct, &alone.stdout),
            plain(&served, &through.stdout),
            "{step}"
        );
        events = events.max(alone.stdout.lines().count());
    }
    assert!(events > 60, "{events}");
    let told = |cli: &Cli| {
        plain(
            cli,
            &std::fs::read_to_string(cli.dir().join("told")).unwrap(),
        )
    };
    assert_eq!(told(&direct), told(&served));
    assert!(
        told(&direct).contains(" mine WORLD/home"),
        "{}",
        told(&direct)
    );
}

#[test]
fn every_operation_of_the_api_answers_the_same_through_the_daemon() {
    let direct = Cli::with_team();
    let served = direct.copy();
    let _daemon = Daemon::of(&served);
    let (mut of_direct, mut of_served) = (Given::default(), Given::default());
    // Results of the last checks and disk usage are known only to the daemon, which verifies each log at its start.
    let own = [
        "verify-last",
        "verify-start",
        "doctor-last",
        "doctor-start",
        "read-storage",
    ];
    let compared = scenario()
        .into_iter()
        .filter(|(operation, _)| !own.contains(operation));
    for (operation, input) in compared {
        let call = |cli: &Cli, given: &mut Given| {
            let input = Value::Object(given.fill(input.clone())).to_string();
            let mut command = cli.command("");
            command.args(["api", operation, "--json", "--input", &input]);
            let ran = Ran::of(&mut command);
            let envelope: Value = parse(&ran.stdout);
            given.learn(&envelope["data"]);
            (ran.code, ran.stderr, plain(cli, &ran.stdout))
        };
        let (alone, through) = (call(&direct, &mut of_direct), call(&served, &mut of_served));
        assert_eq!(alone, through, "{operation}");
    }
}

#[test]
fn the_daemon_holds_the_lock_and_only_hands_on_what_records() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    cli.ok("append demo --kind by_the_daemon");
    let locked = unknown(&cli, || {
        cli.refused_json(75, "append demo --kind alone --lock-timeout 0")
    });
    assert_eq!(locked.code, "locked");
    cli.ok("append demo --kind handed_on --lock-timeout 0");
    cli.ok("read demo --agent dev");
    daemon.kill();
    cli.ok("verify demo");
}

#[test]
fn files_are_those_of_the_callers_directory_and_of_its_process() {
    let cli = Cli::with_team();
    let below = cli.dir().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("facts.jsonl"), "{\"kind\":\"found_below\"}\n").unwrap();
    let _daemon = Daemon::of(&cli);
    let ran = Ran::of(
        cli.command("append demo --batch facts.jsonl")
            .current_dir(&below),
    );
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(0), "1 event recorded: event 2\n")
    );
    let relative = Ran::of(
        cli.command("append demo --batch ../b/facts.jsonl --data-root ../..")
            .current_dir(&below),
    );
    assert_eq!(relative.code, Some(0), "{relative:?}");
    // Read a batch from a pipe on another file descriptor, as in `--batch <(command)`.
    let shell = format!(
        "echo '{{\"kind\":\"piped\"}}' | ( exec 3<&0; exec {} append demo --batch /dev/fd/3 < /dev/null )",
        env!("CARGO_BIN_EXE_teamlog")
    );
    let piped = Ran::of(
        Command::new("/bin/sh")
            .args(["-c", &shell])
            .current_dir(cli.dir())
            .env_clear(),
    );
    assert_eq!(
        (piped.code, &*piped.stdout),
        (Some(0), "1 event recorded: event 4\n"),
        "{piped:?}"
    );
    let none = cli.refused_json(1, "append demo --batch /dev/fd/33");
    assert_eq!(none.code, "invalid_input");
    assert_eq!(none.message, "batch file not found: /dev/fd/33");
}

#[test]
fn an_input_that_names_the_team_is_read_once_and_by_whoever_carries_it_out() {
    let cli = Cli::with_team();
    let input = r#"{"team_name":"demo","subject":"S","description":"D"}"#;
    let state = r#"{"team":"demo","mode":"forge","active":true}"#;
    let twice = |expected: usize| {
        let made = cli.run_with_input("api create-task --json --input -", input);
        assert_eq!(made.code, Some(0), "{made:?}");
        let written = cli.run_with_input("state write --json --input -", state);
        assert_eq!(written.code, Some(0), "{written:?}");
        let tasks: Value = parse(&cli.ok("tasks demo --json"));
        assert_eq!(tasks["tasks"].as_array().map(Vec::len), Some(expected));
    };
    twice(1);
    let _daemon = Daemon::of(&cli);
    twice(2);
}

#[test]
fn a_reader_that_left_or_a_full_disk_is_met_as_without_the_daemon() {
    let (direct, served) = worlds();
    let _daemon = Daemon::of(&served);
    let left = |cli: &Cli| {
        let mut child = cli
            .command("send demo --from lead --to dev --type handoff --message-id m")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ran = Ran::from_output(child.wait_with_output().unwrap());
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        assert!(
            cli.ok("replay demo --json")
                .contains("\"message_id\":\"m\"")
        );
    };
    left(&direct);
    left(&served);
    let full = |cli: &Cli| {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut command = cli.command("tick demo --json");
        let output = command
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let ran = Ran::from_output(output);
        (ran.code, ran.stderr)
    };
    let alone = full(&direct);
    assert_eq!(alone.0, Some(74), "{alone:?}");
    assert_eq!(alone, full(&served));
}

#[test]
fn a_key_counts_whoever_carries_it_out() {
    let cli = Cli::with_team();
    cli.file("fix.patch", "+line\n");
    let keyed = [
        "task create demo --subject S --resource src --key k-1",
        "artifact put demo fix.patch --agent dev --key k-2",
        "mode prompt demo --text $ultrawork --key k-3",
        "bootstrap start demo --trace-id tr --key k-4",
        "bootstrap record demo --event team_create_returned --data {\"outcome\":{\"ok\":\"alpha\"}} --key k-5",
        "api thread-start --input {\"team_name\":\"demo\",\"key\":\"k-6\"}",
    ];
    let answers = |cli: &Cli| {
        keyed.map(|line| {
            let mut command = cli.command("--json");
            command.args(line.split(' '));
            let ran = Ran::of(&mut command);
            assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
            ran.stdout
        })
    };
    let daemon = Daemon::of(&cli);
    let first = answers(&cli);
    let events = cli.ok("replay demo --json");
    for again in [answers(&cli), {
        daemon.kill();
        answers(&cli)
    }] {
        for (first, again) in first.iter().zip(again) {
            assert!(again.contains("\"replayed\":true"), "{again}");
            let plain = |text: &str| {
                let mut answer: Value = parse(text);
                let fields = answer.as_object_mut().unwrap();
                fields.retain(|name, _| !["replayed", "timestamp"].contains(&&**name));
                answer
            };
            assert_eq!(plain(&again), plain(first));
        }
    }
    assert_eq!(cli.ok("replay demo --json"), events);
}

#[test]
fn many_callers_at_once_each_get_their_own_answer() {
    let cli = Cli::with_team();
    let _daemon = Daemon::of(&cli);
    const CALLERS: usize = 8;
    const CALLS: usize = 12;
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let cli = &cli;
            scope.spawn(move || {
                for call in 0..CALLS {
                    let said = cli.ok(&format!(
                        "send demo --from lead --to dev --type handoff --message-id m-{caller}-{call}"
                    ));
                    assert!(said.starts_with(&format!("sent m-{caller}-{call} ")), "{said}");
                    let refused = cli.refused_json(1, &format!("task cancel demo no-{caller}"));
                    assert_eq!(refused.details["task_id"], format!("no-{caller}"));
                }
            });
        }
    });
    let sent = cli.ok("replay demo --json --kind message_sent");
    assert_eq!(sent.lines().count(), CALLERS * CALLS);
    cli.ok("verify demo");
}

#[test]
fn the_daemon_is_asked_how_it_is_and_only_one_serves() {
    let cli = Cli::with_team();
    let none = cli.refused_json(69, "serve --status");
    assert_eq!(none.code, "daemon_not_running");
    let stopped: Value = parse(&cli.ok("serve --stop --json"));
    assert_eq!(stopped["status"], "not_running");
    assert_eq!(
        cli.refused_json(69, "token rotate demo").code,
        "daemon_not_running"
    );
    let daemon = Daemon::of(&cli);
    assert_eq!(daemon.ready["pid"], daemon.pid());
    let second = cli.refused_json(75, "serve");
    assert_eq!(second.code, "already_served");
    assert!(
        second.message.contains(&daemon.pid().to_string()),
        "{second:?}"
    );
    let status: Value = parse(&cli.ok("serve --status --json"));
    assert_eq!(
        (&status["status"], &status["pid"]),
        (&"running".into(), &daemon.pid().into())
    );
    assert_eq!(status["teams"][0]["team"], "demo");
    assert_eq!(
        cli.refused_json(1, "serve --listen 0.0.0.0:0 --data-root a")
            .code,
        "data_root_not_found"
    );
    let before = std::fs::read_to_string(cli.dir().join("teams/demo/runtime.json")).unwrap();
    let said = cli.ok("token rotate demo");
    let after = std::fs::read_to_string(cli.dir().join("teams/demo/runtime.json")).unwrap();
    let token = |text: &str| -> String {
        let runtime: Value = serde_json::from_str(text).unwrap();
        runtime["token"].as_str().unwrap().to_owned()
    };
    assert_ne!(token(&before), token(&after));
    let told = format!("{said}{status}{}", daemon.ready);
    assert!(!told.contains(&token(&after)) && !told.contains(&token(&before)));
    assert!(daemon.socket().exists());
    cli.ok("serve --stop");
    assert_eq!(daemon.ended().0, Some(0));
    let other = Cli::with_team();
    let refused = other.refused_json(1, "serve --listen 0.0.0.0:0");
    assert_eq!(refused.code, "invalid_input");
}

#[test]
fn tools_that_write_go_through_the_daemon() {
    let alone = Cli::with_team();
    let served = alone.copy();
    let _daemon = Daemon::of(&served);
    alone.ok("append demo --kind by_nobody");
    // The first command makes the daemon take the lock.
    served.ok("append demo --kind by_the_daemon");
    let said = |world: &Cli| {
        let (mut client, _) = Client::initialized_with(
            world,
            "mcp --team demo --lock-timeout 0",
            &[("CODEX_SESSION_ID", "s-1")],
        );
        let said = [
            ("state_write", json!({"mode": "forge", "active": true})),
            ("state_write", json!({"mode": "nonsense"})),
            (
                "state_write",
                json!({"mode": "blueprint", "active": true, "team": "demo"}),
            ),
            (
                "state_write",
                json!({"mode": "forge", "note": "x", "team": "nosuch"}),
            ),
            ("state_clear", json!({"mode": "forge"})),
            ("state_read", json!({"mode": "forge"})),
        ]
        .map(|(tool, arguments)| client.call(tool, arguments));
        client.end();
        said.map(|(text, failed)| (plain(world, &text), failed))
    };
    let answers = said(&alone);
    assert_eq!(answers, said(&served));
    let failed: Vec<bool> = answers.iter().map(|(_, failed)| *failed).collect();
    assert_eq!(
        failed,
        [false, true, true, true, false, false],
        "{answers:?}"
    );
    assert!(answers[0].0.contains("sessions/s-1/forge"), "{answers:?}");
}

#[test]
fn a_command_for_all_teams_leaves_those_unlocked_that_the_daemon_does_not_serve() {
    let cli = Cli::with_team();
    cli.ok("init other --members lead,dev");
    let send = "--from lead --to dev --type handoff --lock-timeout 0";
    for team in ["demo", "other"] {
        cli.ok(&format!("send {team} {send}"));
    }
    let daemon = Daemon::with(&cli, "--team demo");
    for line in ["nudge --all-teams --idle-seconds 0", "tick --all"] {
        let shown = cli.ok(line);
        let both = shown.contains("demo: ") && shown.contains("other: ");
        assert!(both && !shown.contains("failed"), "{line}: {shown}");
        cli.ok(&format!("send other {send}"));
    }
    let verified = cli.ok("verify --all");
    assert_eq!(verified.matches("ok: ").count(), 2, "{verified}");
    // Commands for the served team still go through the daemon.
    cli.ok(&format!("send demo {send}"));
    drop(daemon);
    assert!(cli.ok("replay other").contains("to wake an agent"));
}

#[test]
fn a_terminal_is_the_callers() {
    let alone = Cli::with_team();
    let served = alone.copy();
    let _daemon = Daemon::of(&served);
    let line = "init demo --members ops";
    for set in [&[][..], &[("NO_COLOR", "1")][..]] {
        let Some(shown) = on_terminal(&alone, line, set) else {
            return;
        };
        assert_eq!(shown.contains("\x1b[1m"), set.is_empty(), "{shown:?}");
        assert_eq!(on_terminal(&served, line, set).as_ref(), Some(&shown));
    }
}

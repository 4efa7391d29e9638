//! Hooks of coding agents: the hooks that `setup` installs, the actor in a subagent, and the
//! answers of a hook while the daemon does not respond.

use crate::agents::{event, fire, fire_with, line, project, project_of, settings, write_call};
use crate::daemon::Daemon;
use crate::prelude::*;
use std::fs;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Time limit for a hook in these tests. Agents allow ten seconds.
const SOON: Duration = Duration::from_secs(5);

/// Returns each part that the answer of `setup` names, followed by its status.
fn parts(told: &Value) -> Vec<String> {
    let parts = told["parts"].as_array().unwrap().iter();
    let said = parts.map(|part| format!("{} {}", part["part"], part["status"]).replace('"', ""));
    said.collect()
}

#[test]
fn the_prompt_hook_is_installed_with_modes_alone_and_stays() {
    for whose in ["claude", "codex"] {
        let (cli, repo) = project();
        let prompt = || settings(&repo, whose)["hooks"]["UserPromptSubmit"].clone();
        let done: Value = cli.json(&line(&repo, &format!("{whose} --agent dev")));
        assert_eq!(prompt(), Value::Null, "{done}");
        assert!(!parts(&done).iter().any(|part| part.starts_with("prompt")));
        cli.ok(&line(&repo, &format!("{whose} --check")));
        let missing = cli.run(&line(&repo, &format!("{whose} --check --modes --json")));
        assert_eq!(missing.code, Some(1), "{missing:?}");

        let done: Value = cli.json(&line(&repo, &format!("{whose} --modes")));
        assert!(
            parts(&done).contains(&"prompt written".to_owned()),
            "{done}"
        );
        assert_eq!(prompt().as_array().unwrap().len(), 1);
        // Without `--modes`, `setup` reports the installed hook and keeps it.
        let again: Value = cli.json(&line(&repo, whose));
        assert_eq!(again["status"], "unchanged", "{again}");
        assert!(parts(&again).contains(&"prompt current".to_owned()));
        assert!(
            again["notes"].to_string().contains("modes.trigger off"),
            "{again}"
        );
        assert_eq!(prompt().as_array().unwrap().len(), 1);
        let removed: Value = cli.json(&line(&repo, &format!("{whose} --remove")));
        assert!(parts(&removed).contains(&"prompt removed".to_owned()));
    }
}

#[test]
fn the_hook_before_a_compaction_of_older_versions_is_taken_out() {
    let (cli, repo) = project();
    cli.ok(&line(&repo, "claude --agent dev"));
    let file = repo.join(".claude/settings.local.json");
    let current = fs::read_to_string(&file).unwrap();
    let mut old: Value = serde_json::from_str(&current).unwrap();
    old["hooks"]["PreCompact"] = old["hooks"]["SessionStart"].clone();
    fs::write(&file, old.to_string()).unwrap();
    let ran = cli.run(&line(&repo, "claude --check --json"));
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, Some(1), "{told}");
    assert!(
        parts(&told).contains(&"compaction outdated".to_owned()),
        "{told}"
    );
    let told: Value = cli.json(&line(&repo, "claude"));
    assert!(
        parts(&told).contains(&"compaction removed".to_owned()),
        "{told}"
    );
    assert_eq!(
        settings(&repo, "claude")["hooks"]["PreCompact"],
        Value::Null
    );
    cli.ok(&line(&repo, "claude --check"));
}

#[test]
fn setup_says_if_the_commands_that_it_names_start_nothing() {
    let (cli, repo) = project();
    let bin = Path::new(env!("CARGO_BIN_EXE_teamlog")).parent().unwrap();
    let notes = |path: &Path| {
        let mut command = cli.command(&line(&repo, "claude --agent dev --dry-run --json"));
        let ran = Ran::of(command.env("PATH", path));
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        told["notes"].to_string()
    };
    shows!(notes(&repo) => has "teamlog is not on the PATH");
    assert!(!notes(bin).contains("PATH"), "{}", notes(bin));
}

/// Adds the fields of a subagent to an event.
fn of_subagent(mut event: Value, kind: &str, id: &str) -> Value {
    event["agent_type"] = json!(kind);
    event["agent_id"] = json!(id);
    event
}

fn open_team() -> Cli {
    let cli = Cli::new();
    cli.ok("init demo");
    cli
}

const EXPLORER: (&str, &str) = ("Explore", "a7784052ceb8a4d1a");
const NAME: &str = "explore-eb8a4d1a";

fn in_explorer(event: Value) -> Value {
    of_subagent(event, EXPLORER.0, EXPLORER.1)
}

#[test]
fn a_subagent_acts_under_its_own_name_and_may_write_what_its_parent_holds() {
    for whose in ["claude", "codex"] {
        let (cli, repo) = project_of(open_team());
        cli.ok(&line(&repo, &format!("{whose} --team demo --agent dev")));
        let fire = |event: Value| fire(&cli, &repo, whose, &event);
        let start = || in_explorer(event(whose, &repo, "SubagentStart", json!({})));
        let told = fire(start());
        assert_eq!((told.code, &*told.stderr), (Some(0), ""), "{told:?}");
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        let output = &told["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "SubagentStart");
        let text = output["additionalContext"].as_str().unwrap();
        shows!(text => has &format!("You are {NAME} in the team demo, a subagent of dev"));
        let manifest: Value = cli.json("api read-manifest --input '{\"team_name\":\"demo\"}'");
        let workers = manifest["data"]["manifest"]["workers"].as_array().unwrap();
        let own = workers.iter().find(|worker| worker["name"] == NAME);
        assert_eq!(own.unwrap()["role"], "Explore", "{manifest}");
        // A resumed subagent is already registered, so the hook records no event.
        let events = cli.ok("export demo");
        assert_eq!(fire(start()).code, Some(0));
        assert_eq!(cli.ok("export demo"), events);

        let write = |path: &str| fire(in_explorer(write_call(whose, &repo, path)));
        assert_eq!(write("src/io/a").code, Some(0), "dev holds it");
        let denied = write("src/a");
        assert_eq!(denied.code, Some(2));
        shows!(denied.stderr => has &format!("{NAME} may not write"));
        let refused = cli.ok("replay demo --kind write_refused --json");
        shows!(refused => has &format!("\"agent\":\"{NAME}\""));
        // A subagent must not write a path of another subagent, and a parent must not write a path of its subagent.
        cli.ok("task create demo --subject a --resource src/a");
        cli.ok("task claim demo 2 --worker other");
        assert_eq!(write("src/a").code, Some(2));
        cli.ok("task release demo 2 --worker other --epoch 1");
        cli.ok(&format!("task claim demo 2 --worker {NAME}"));
        assert_eq!(write("src/a").code, Some(0));
        assert_eq!(
            fire(write_call(whose, &repo, "src/a")).code,
            Some(2),
            "not the parent's"
        );

        // Only the first answer says that the subagent still holds a task.
        let stop = |active: bool| {
            let more = json!({"stop_hook_active": active});
            fire(in_explorer(event(whose, &repo, "SubagentStop", more)))
        };
        let told: Value = serde_json::from_str(&stop(false).stdout).unwrap();
        assert_eq!(told["decision"], "block");
        let reason = told["reason"].as_str().unwrap();
        shows!(reason => has &format!("{NAME} still holds task 2."));
        assert_eq!(&*stop(true).stdout, "");
        let release = reason.split('`').nth(3).unwrap();
        cli.ok(release.strip_prefix("teamlog ").unwrap());
        let done = stop(false);
        assert_eq!((done.code, &*done.stdout, &*done.stderr), (Some(0), "", ""));
    }
}

#[test]
fn the_variable_decides_for_every_subagent_and_without_a_parent_a_subagent_has_its_name() {
    let (cli, repo) = project_of(open_team());
    cli.ok(&line(&repo, "claude --team demo"));
    let write = |path: &str, vars: &[(&str, &str)]| {
        let call = in_explorer(write_call("claude", &repo, path));
        fire_with(&cli, &repo, "claude", &call, vars)
    };
    let dev = [("TEAMLOG_AGENT", "dev")];
    assert_eq!(write("src/io/a", &dev).code, Some(0));
    let denied = write("src/a", &dev);
    shows!(denied.stderr => has "dev may not write");
    let refused = cli.ok("replay demo --kind write_refused --json");
    shows!(refused => has "\"agent\":\"dev\"", has &format!("\"subagent\":\"{NAME}\""));
    let denied = write("src/io/a", &[]);
    assert_eq!(denied.code, Some(2));
    shows!(denied.stderr => has &format!("{NAME} may not write"));
}

#[test]
fn in_a_team_with_members_a_subagent_acts_as_its_parent() {
    let (cli, repo) = project();
    cli.ok(&line(&repo, "claude --team demo --agent dev"));
    let fire = |event: Value| fire(&cli, &repo, "claude", &in_explorer(event));
    let events = cli.ok("export demo");
    let told = fire(event("claude", &repo, "SubagentStart", json!({})));
    assert_eq!((told.code, &*told.stderr), (Some(0), ""), "{told:?}");
    shows!(told.stdout => has &format!("You are the subagent {NAME} of dev"));
    let stop = fire(event("claude", &repo, "SubagentStop", json!({})));
    assert_eq!((stop.code, &*stop.stdout), (Some(0), ""), "{stop:?}");
    assert_eq!(cli.ok("export demo"), events, "nobody joins");
    assert_eq!(fire(write_call("claude", &repo, "src/io/a")).code, Some(0));
    assert_eq!(fire(write_call("claude", &repo, "src/a")).code, Some(2));
    let refused = cli.ok("replay demo --kind write_refused --json");
    shows!(refused => has "\"agent\":\"dev\"", has &format!("\"subagent\":\"{NAME}\""));
}

#[test]
fn commands_of_every_shell_tool_are_checked() {
    let (cli, repo) = project();
    cli.ok(&line(&repo, "claude --agent dev --on-unknown deny"));
    for (tool, command, code) in [
        ("Monitor", "tail -f log | tee src/a", 2),
        ("Monitor", "tail -f log | tee src/io/a", 0),
        ("Monitor", "tail -f log", 0),
        ("PowerShell", "Set-Content src/a x", 2),
    ] {
        let more = json!({"tool_name": tool, "tool_input": {"command": command}});
        let ran = fire(
            &cli,
            &repo,
            "claude",
            &event("claude", &repo, "PreToolUse", more),
        );
        assert_eq!(ran.code, Some(code), "{tool} {command}: {ran:?}");
    }
}

/// Runs each hook that `setup --modes` installs, and checks that the hook answers within its limit.
fn all_answer(cli: &Cli, repo: &Path) {
    let fire = |event: Value| {
        let began = Instant::now();
        let ran = fire(cli, repo, "claude", &event);
        assert!(began.elapsed() < SOON, "{:?} {event}", began.elapsed());
        ran
    };
    let ask = |name: &str, more: Value| fire(event("claude", repo, name, more));
    let prompt = |text: &str| {
        let ran = ask("UserPromptSubmit", json!({"prompt": text}));
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        told["hookSpecificOutput"]["additionalContext"].clone()
    };
    assert_eq!(prompt("fix the null $team->members"), "");
    let told = prompt("$ultrawork fix it");
    let told = told.as_str().unwrap();
    shows!(told => has "teamlog could not carry out this prompt: the daemon", has "does not answer",
        has "started and ended no mode", has "Modes active when teamlog looked: forge");
    let told = prompt("continue");
    shows!(told.as_str().unwrap() => has "continues workflow skill forge");
    let start = ask("SessionStart", json!({"source": "compact"}));
    assert_eq!(start.code, Some(0), "{start:?}");
    shows!(start.stdout => has "m-1");
    let start = fire(in_explorer(event(
        "claude",
        repo,
        "SubagentStart",
        json!({}),
    )));
    assert_eq!(start.code, Some(0), "{start:?}");
    shows!(start.stdout => has NAME);
    let stop = ask("Stop", json!({"stop_hook_active": false}));
    assert_eq!(stop.code, Some(0), "{stop:?}");
    shows!(stop.stdout => has "block");
    let stop = fire(in_explorer(event(
        "claude",
        repo,
        "SubagentStop",
        json!({}),
    )));
    assert_eq!((stop.code, &*stop.stdout), (Some(0), ""), "{stop:?}");
    assert_eq!(fire(write_call("claude", repo, "src/io/a")).code, Some(0));
    assert_eq!(fire(write_call("claude", repo, "src/a")).code, Some(2));
}

fn with_forge(cli: &Cli, repo: &Path) {
    cli.ok(&line(repo, "claude --team demo --agent dev --modes"));
    let session = event("claude", repo, "Stop", json!({}))["session_id"].clone();
    let session = session.as_str().unwrap();
    cli.ok(&format!("mode start demo forge --session {session}"));
}

#[test]
fn hooks_answer_what_they_know_while_the_daemon_is_stopped() {
    let (cli, repo) = project_of(open_team());
    with_forge(&cli, &repo);
    let daemon = Daemon::of(&cli);
    daemon.suspend();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| all_answer(&cli, &repo)));
    daemon.resume();
    if let Err(panic) = caught {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn a_daemon_that_accepts_and_never_answers_is_asked_once_by_a_prompt() {
    let (cli, repo) = project_of(open_team());
    with_forge(&cli, &repo);
    let daemon = Daemon::of(&cli);
    let socket = daemon.socket();
    let aside = socket.with_extension("aside");
    fs::rename(&socket, &aside).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    // Keep the connections open, so that clients do not see them close.
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
            kept.push(stream);
        }
    });
    all_answer(&cli, &repo);
    // Three prompts and the registration of a subagent ask the daemon. A refused write is one more
    // call if its connection is made in time.
    let asked = asked.load(Ordering::SeqCst);
    assert!((4..=5).contains(&asked), "{asked}");
    fs::remove_file(&socket).unwrap();
    fs::rename(&aside, &socket).unwrap();
}

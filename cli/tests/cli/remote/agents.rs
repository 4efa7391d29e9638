//! Coding agents on another machine: the guard, `setup`, `hooks`, `mcp` and the board through the daemon.

use super::*;
use crate::agents::{event, settings, write_call};
use crate::mcp::Client;
use std::fs::{self, File};
use std::os::unix::fs::symlink;

/// Returns a machine, and the directory of a repository in which `dev` holds `src/io`.
fn with_repository() -> (Machine, PathBuf) {
    let machine = Machine::new();
    let repo = machine.elsewhere.outside().join("repo");
    fs::create_dir_all(repo.join("src/io")).unwrap();
    machine.ok("dev", "task create demo --subject io --resource src/io");
    machine.ok("dev", "task claim demo 1");
    (machine, repo)
}

/// Runs a command of an agent with `input` on standard input.
fn told(machine: &Machine, mut command: Command, input: &Value) -> Ran {
    let file = machine.elsewhere.file("input.json", &input.to_string());
    Ran::of(command.stdin(File::open(file).unwrap()))
}

fn write(path: &Path) -> Value {
    json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}})
}

fn bash(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}})
}

#[track_caller]
fn silent(ran: &Ran) {
    let told = (ran.code, &*ran.stdout, &*ran.stderr);
    assert_eq!(told, (Some(0), "", ""));
}

#[test]
fn the_guard_asks_the_daemon_for_leases_and_compares_paths_of_its_own_disk() {
    let (machine, repo) = with_repository();
    fs::create_dir(repo.join("docs")).unwrap();
    symlink("../../docs", repo.join("src/io/docs")).unwrap();
    // A setting that names no directory of this machine is not used.
    machine.ok("lead", "config set demo resources.root /nowhere/at/all");
    let line = format!("guard demo --root {}", repo.display());
    let ask =
        |agent: &str, line: &str, call: &Value| told(&machine, machine.command(agent, line), call);
    silent(&ask("dev", &line, &write(&repo.join("src/io/a"))));
    for (agent, path, why) in [
        ("dev", "src/a", "it holds no task that declares it"),
        ("dev", "src/io/docs/a", "it holds no task that declares it"),
        ("dev", "../a", "outside of the repository"),
        ("lead", "src/io/a", "dev holds src/io for task 1"),
    ] {
        let denied = ask(agent, &line, &write(&repo.join(path)));
        assert_eq!((denied.code, &*denied.stdout), (Some(2), ""), "{path}");
        assert!(denied.stderr.contains(why), "{path}: {denied:?}");
    }
    let rootless = ask("dev", "guard demo", &write(&repo.join("src/io/a")));
    assert_eq!(rootless.code, Some(2));
    shows!(rootless.stderr => has "the root of the repository is not set", has "--root DIR");

    let recorded = machine.events();
    let refused = recorded
        .iter()
        .filter(|event| event["kind"] == "write_refused");
    let refused: Vec<(&Value, &Value)> = refused
        .map(|event| (&event["agent"], &event["payload"]["path"]))
        .collect();
    assert!(
        refused.contains(&(&json!("dev"), &json!("src/a"))),
        "{refused:?}"
    );

    let unknown = ask("dev", &line, &bash("make"));
    assert_eq!((unknown.code, &*unknown.stderr), (Some(0), ""));
    shows!(unknown.stdout => has "\"permissionDecision\":\"ask\"");
    machine.ok("lead", "config set demo guard.known make");
    silent(&ask("dev", &line, &bash("make")));
    machine.ok("lead", "config set demo guard.unknown allow_when_free");
    silent(&ask("dev", &line, &bash("ninja")));
    shows!(ask("lead", &line, &bash("ninja")).stdout => has "dev holds src/io");

    // The agent of the token is the agent that writes.
    for other in [
        ask(
            "lead",
            &format!("{line} --agent dev"),
            &write(&repo.join("src/io/a")),
        ),
        told(
            &machine,
            {
                let mut command = machine.command("lead", &line);
                command.env("TEAMLOG_AGENT", "dev");
                command
            },
            &write(&repo.join("src/io/a")),
        ),
    ] {
        assert_eq!(other.code, Some(2));
        shows!(other.stderr => has "is of lead");
    }
}

#[test]
fn a_guard_that_cannot_reach_the_daemon_allows_nothing() {
    let (mut machine, repo) = with_repository();
    let line = format!("guard demo --root {}", repo.display());
    machine.ok("lead", "config set demo guard.unknown allow_when_free");
    let other = told(
        &machine,
        machine.command("dev", &format!("guard other --root {}", repo.display())),
        &write(&repo.join("src/io/a")),
    );
    assert_eq!(other.code, Some(2));
    shows!(other.stderr => has "no team other");
    let daemon = machine.daemon.as_ref().unwrap();
    daemon.suspend();
    let call = write(&repo.join("src/io/a"));
    let waited = told(&machine, machine.command("dev", &line), &call);
    daemon.resume();
    assert_eq!((waited.code, &*waited.stdout), (Some(2), ""));
    drop(machine.daemon.take());
    let ask = |line: &str, call: &Value| told(&machine, machine.command("dev", line), call);
    let denied = ask(&line, &write(&repo.join("src/io/a")));
    assert_eq!((denied.code, &*denied.stdout), (Some(2), ""));
    shows!(denied.stderr => has "did not accept the command");
    let unknown = ask(&line, &bash("make"));
    assert_eq!(unknown.code, Some(0));
    shows!(unknown.stdout => has "\"permissionDecision\":\"ask\"");
    let codex = ask(&format!("{line} --client codex"), &bash("make"));
    assert_eq!(codex.code, Some(2));
    let reads = json!({"tool_name": "Read", "tool_input": {"file_path": "/etc/passwd"}});
    silent(&ask(&line, &reads));
}

/// Runs the command that the settings of an agent contain for an event, with the environment of `dev` and the variables `vars`.
fn fire(machine: &Machine, repo: &Path, whose: &str, event: &Value, vars: &[(&str, &Path)]) -> Ran {
    let name = event["hook_event_name"].as_str().unwrap();
    let hooks = settings(repo, whose);
    let groups = hooks["hooks"][name].as_array().unwrap();
    let line = groups.last().unwrap()["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(repo).env_clear();
    for (name, value) in machine.command("dev", "").get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.envs(vars.iter().copied());
    told(machine, shell, event)
}

#[test]
fn setup_installs_hooks_that_ask_the_daemon() {
    for whose in ["claude", "codex"] {
        let (machine, repo) = with_repository();
        let line = |rest: &str| format!("setup {whose} {rest} --dir {}", repo.display());
        let dry = machine.ok("dev", &line("--dry-run"));
        shows!(dry => has "would write  guard", has "TEAMLOG_TOKEN_FILE");
        // The token of `dev` does not permit changes of settings. `setup` says which token permits
        // them.
        let done = machine.ok("dev", &line("--modes"));
        shows!(done => has "missing      guard.unknown", has "may not change settings");
        let checked = machine.run("dev", &line("--check"));
        assert_eq!(checked.code, Some(1));
        machine.ok("lead", &line("--modes"));
        let whole = machine.ok("dev", &line("--check"));
        shows!(whole => has "current      guard.unknown", lacks "missing", lacks "outdated");
        let before = fs::read_to_string(repo.join("AGENTS.md")).unwrap();
        shows!(before => lacks "--data-root", has "teamlog prime demo");
        let again: Value = serde_json::from_str(&machine.ok("dev", &line("--json"))).unwrap();
        assert_eq!(again["status"], "unchanged");

        let start = event(whose, &repo, "SessionStart", json!({"source": "startup"}));
        let told = fire(&machine, &repo, whose, &start, &[]);
        assert_eq!((told.code, &*told.stderr), (Some(0), ""));
        shows!(told.stdout => has "additionalContext", has "dev");
        let stop = event(whose, &repo, "Stop", json!({"stop_hook_active": false}));
        silent(&fire(&machine, &repo, whose, &stop, &[]));
        let prompt = event(
            whose,
            &repo,
            "UserPromptSubmit",
            json!({"prompt": "$forge x"}),
        );
        assert_eq!(fire(&machine, &repo, whose, &prompt, &[]).code, Some(0));
        let kept = fire(&machine, &repo, whose, &stop, &[]);
        assert_eq!((kept.code, &*kept.stderr), (Some(0), ""));
        shows!(kept.stdout => has "The mode forge is active");
        let held = fire(
            &machine,
            &repo,
            whose,
            &write_call(whose, &repo, "src/io/a"),
            &[],
        );
        silent(&held);
        let other = fire(
            &machine,
            &repo,
            whose,
            &write_call(whose, &repo, "src/a"),
            &[],
        );
        assert_eq!(other.code, Some(2));
        shows!(other.stderr => has "dev may not write");

        let doctor = |agent: &str| format!("hooks doctor {agent} --dir {}", repo.display());
        let sound = machine.ok("dev", &doctor(whose));
        shows!(sound => has "ok       remote", has "ok       probe");
        // Without the variables, the hook denies, and the doctor names the variable.
        let local = machine.elsewhere.run(&doctor(whose));
        assert_eq!(local.code, Some(1));
        shows!(local.stdout => has "failed   remote", has "export TEAMLOG_REMOTE=");
        let mcp = match whose {
            "claude" => ".mcp.json",
            _ => ".codex/config.toml",
        };
        let mcp = fs::read_to_string(repo.join(mcp)).unwrap();
        assert_eq!(mcp.contains("env_vars"), whose == "codex", "{mcp}");
        assert!(
            mcp.contains("--team") && !mcp.contains("--data-root"),
            "{mcp}"
        );
        let removed = machine.ok("dev", &line("--remove"));
        shows!(removed => has "removed      guard", has "removed      mcp", has "removed      stop");
        assert!(!repo.join("AGENTS.md").exists());
    }
}

#[test]
fn hooks_install_needs_no_data_root_and_no_other_agent() {
    let (machine, repo) = with_repository();
    let line = |rest: &str| format!("hooks install claude demo {rest} --dir {}", repo.display());
    let (code, error) = machine.refused("dev", &line("--agent qa"));
    assert_eq!((code, &*error), (Some(1), "invalid_input"));
    let shown = machine.ok("dev", &line("--write"));
    shows!(shown => has "guard --client claude --root", has "TEAMLOG_REMOTE", lacks "--data-root");
    let other = fire(
        &machine,
        &repo,
        "claude",
        &write_call("claude", &repo, "src/a"),
        &[],
    );
    assert_eq!(other.code, Some(2));
}

#[test]
fn the_mcp_server_carries_out_its_tools_in_the_daemon() {
    let (machine, _repo) = with_repository();
    let (mut client, _) = Client::of(machine.command("qa", "mcp")).introduced();
    assert_eq!(
        client.ask("tools/list", json!({}))["tools"]
            .as_array()
            .unwrap()
            .len(),
        13
    );
    let status = client.json("status", json!({}));
    has!(status, {"team": "demo", "task_count": 1});
    let task = client.json("task", json!({"task_id": "1"}));
    assert_eq!(task["task"]["owner"], "dev");
    // `qa` does not see the token of the claim that `dev` holds.
    let events = client.json("events", json!({"since": 1}));
    let text = events.to_string();
    assert!(
        text.contains("task_claimed") && !text.contains("\"token\":"),
        "{text}"
    );
    let listed = client.ask("resources/list", json!({}));
    assert_eq!(listed["resources"][0]["uri"], "teamlog://demo/ready");
    let read = client.ask("resources/read", json!({"uri": "teamlog://demo/status"}));
    shows!(read["contents"][0]["text"].as_str().unwrap() => has "\"team\":\"demo\"");
    // The token of `qa` permits only reads.
    let write = json!({"mode": "forge", "active": true, "session_id": "s-1"});
    let refused = client.ask(
        "tools/call",
        json!({"name": "state_write", "arguments": write}),
    );
    shows!(refused.to_string() => has "forbidden");
    let other = json!({"name": "status", "arguments": {"team": "other"}});
    shows!(client.ask("tools/call", other).to_string() => has "team_not_found");
    client.end();

    let (mut client, _) = Client::of(machine.command("dev", "mcp --team demo")).introduced();
    client.json("state_write", write);
    let modes = machine.ok("dev", "mode list demo --session s-1 --json");
    assert!(modes.contains("forge"), "{modes}");
    client.end();
    let (code, error) = machine.refused("dev", "mcp --team other");
    assert_eq!((code, &*error), (Some(1), "team_not_found"));
}

#[test]
fn the_board_shows_the_team_of_the_daemon() {
    let (machine, _repo) = with_repository();
    let once = machine.ok("qa", "board --once");
    shows!(once => has "1 Crew", has "1 live claim", has "dev claimed task");
    let here = machine.cli.ok("board demo --json");
    let there = machine.ok("dev", "board demo --json");
    let (mut here, mut there): (Value, Value) = (
        serde_json::from_str(&here).unwrap(),
        serde_json::from_str(&there).unwrap(),
    );
    for answer in [&mut here, &mut there] {
        answer["crew"]["now"].take();
        answer["attention"]["now"].take();
        answer["crew"]["agents"][0]["working_on"][0]["lease_left_ms"].take();
    }
    assert_eq!(here, there);
    let past = machine.ok("qa", "board demo --at 2 --once");
    shows!(past => lacks "task_claimed");
    let (code, error) = machine.refused("dev", "dashboard");
    assert_eq!((code, &*error), (Some(1), "remote_unsupported"));
}

#[test]
fn the_start_hook_of_claude_names_the_session_of_claims() {
    let (machine, repo) = with_repository();
    machine.ok("dev", &format!("setup claude --dir {}", repo.display()));
    let file = machine.elsewhere.outside().join("env.sh");
    let start = |id: &str| {
        let mut start = event(
            "claude",
            &repo,
            "SessionStart",
            json!({"source": "startup"}),
        );
        start["session_id"] = json!(id);
        let vars = [("CLAUDE_ENV_FILE", &*file)];
        assert_eq!(fire(&machine, &repo, "claude", &start, &vars).code, Some(0));
        fs::read_to_string(&file).unwrap()
    };
    let one = "export TEAMLOG_SESSION=s-1\n";
    assert_eq!(start("s-1"), one);
    assert_eq!(start("s-1"), one);
    assert_eq!(
        start("it's 2"),
        format!("{one}export TEAMLOG_SESSION='it'\\''s 2'\n")
    );
    // In a shell that reads the file, a command finds the claim without the option for the epoch.
    machine.ok("dev", "task create demo --subject two");
    let script = format!(
        ". {}; {program} task claim demo 2 && {program} done 2 ok",
        file.display(),
        program = env!("CARGO_BIN_EXE_teamlog")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&repo).env_clear();
    for (name, value) in machine.command("dev", "").get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let done = Ran::of(&mut shell);
    assert_eq!((done.code, &*done.stderr), (Some(0), ""));
}

//! `setup` and `hooks`: the configuration of a coding agent, and the hooks that `setup` installs.
//! Each test reads the hook's command from the settings and runs it as the agent does: in a shell,
//! with an event on standard input.

use crate::daemon::Daemon;
use crate::prelude::*;
use std::fs::{self, File};

/// Returns a world, and the directory of a project beside the data root. The agent `dev` holds
/// `src/io` in the project.
pub fn project() -> (Cli, PathBuf) {
    project_of(Cli::with_team())
}

/// Adds a project to an existing world. The agent `dev` holds `src/io` in the project.
pub fn project_of(cli: Cli) -> (Cli, PathBuf) {
    let repo = cli.outside().join("repo");
    fs::create_dir_all(repo.join("src/io")).unwrap();
    cli.ok("task create demo --subject io --resource src/io/");
    cli.ok("task claim demo 1 --worker dev");
    cli.ok("send demo --from lead --to dev --type handoff --message-id m-1");
    (cli, repo)
}

pub fn line(repo: &Path, rest: &str) -> String {
    format!("setup {rest} --dir {}", repo.display())
}

/// Returns all files below a directory with their contents, sorted by path.
fn files(dir: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => found.push((path.clone(), fs::read_to_string(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

fn hooks_file(whose: &str) -> &'static str {
    match whose {
        "claude" => ".claude/settings.local.json",
        _ => ".codex/hooks.json",
    }
}

pub fn settings(repo: &Path, whose: &str) -> Value {
    let text = fs::read_to_string(repo.join(hooks_file(whose))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Runs the command that the settings contain for an event, as the agent does.
pub fn fire(cli: &Cli, repo: &Path, whose: &str, event: &Value) -> Ran {
    fire_with(cli, repo, whose, event, &[])
}

/// Runs the command that the settings contain for an event, with additional environment variables.
pub fn fire_with(cli: &Cli, repo: &Path, whose: &str, event: &Value, vars: &[(&str, &str)]) -> Ran {
    let name = event["hook_event_name"].as_str().unwrap();
    let settings = settings(repo, whose);
    let groups = settings["hooks"][name].as_array().unwrap();
    let command = groups.last().unwrap()["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let input = cli.file("event.json", &event.to_string());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(repo).env_clear();
    shell.env("HOME", cli.dir()).envs(vars.iter().copied());
    Ran::of(shell.stdin(File::open(input).unwrap()))
}

/// Returns an event in the agent's format: the fields of all events, and the fields `more`.
pub fn event(whose: &str, repo: &Path, name: &str, more: Value) -> Value {
    let mut event = json!({
        "session_id": "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
        "transcript_path": "/home/u/sessions/0a1b2c3d.jsonl",
        "cwd": repo,
        "hook_event_name": name,
        "permission_mode": "default",
    });
    if whose == "codex" {
        event["model"] = json!("gpt-5");
        event["turn_id"] = json!("turn-7");
    }
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    event
}

pub fn write_call(whose: &str, repo: &Path, path: &str) -> Value {
    let more = match whose {
        "claude" => json!({
            "tool_name": "Write",
            "tool_input": {"file_path": repo.join(path), "content": "x"},
            "tool_use_id": "toolu_01",
        }),
        _ => json!({
            "tool_name": "apply_patch",
            "tool_input": {"command": format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch")},
            "tool_use_id": "call_01",
        }),
    };
    event(whose, repo, "PreToolUse", more)
}

#[test]
fn every_hook_that_is_set_up_does_what_its_agent_understands() {
    for whose in ["claude", "codex"] {
        let (cli, repo) = project();
        let set_up = format!("{whose} --team demo --agent dev --modes");
        cli.ok(&line(&repo, &set_up));
        let fire = |event: Value| fire(&cli, &repo, whose, &event);
        let allowed = fire(write_call(whose, &repo, "src/io/a"));
        assert_eq!(
            (allowed.code, &*allowed.stdout),
            (Some(0), ""),
            "{allowed:?}"
        );
        let denied = fire(write_call(whose, &repo, "src/a"));
        assert_eq!((denied.code, &*denied.stdout), (Some(2), ""), "{denied:?}");
        assert!(denied.stderr.contains("dev may not write"), "{denied:?}");
        let mcp = json!({"tool_name": "mcp__fs__write_file", "tool_input": {"path": "src/a"}});
        let denied = fire(event(whose, &repo, "PreToolUse", mcp));
        assert_eq!(denied.code, Some(2), "{denied:?}");

        for source in ["startup", "resume", "clear", "compact"] {
            let start = event(whose, &repo, "SessionStart", json!({"source": source}));
            let told = fire(start);
            assert_eq!((told.code, &*told.stderr), (Some(0), ""), "{told:?}");
            let told: Value = serde_json::from_str(&told.stdout).unwrap();
            let output = &told["hookSpecificOutput"];
            assert_eq!(output["hookEventName"], "SessionStart");
            let text = output["additionalContext"].as_str().unwrap();
            assert!(text.contains("m-1") && text.contains("dev"), "{text}");
        }
        let settings = settings(&repo, whose);
        let installed = settings["hooks"].as_object().unwrap();
        assert!(!installed.contains_key("PreCompact"), "{installed:?}");

        let prompt = json!({"prompt": "$forge fix the login"});
        let told = fire(event(whose, &repo, "UserPromptSubmit", prompt));
        assert_eq!((told.code, &*told.stderr), (Some(0), ""), "{told:?}");
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        let output = &told["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "UserPromptSubmit");
        shows!(output["additionalContext"].as_str().unwrap() => has "forge");

        let stop = |active: bool| event(whose, &repo, "Stop", json!({"stop_hook_active": active}));
        let told = fire(stop(false));
        assert_eq!((told.code, &*told.stderr), (Some(0), ""), "{told:?}");
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        assert_eq!(told["decision"], "block");
        let reason = told["reason"].as_str().unwrap();
        // Run the command that the reason names, without changes.
        let command = reason
            .split('`')
            .nth(1)
            .unwrap()
            .strip_prefix("teamlog ")
            .unwrap();
        let again = fire(stop(true));
        assert_eq!((again.code, &*again.stdout), (Some(0), ""), "{again:?}");
        cli.ok(command);
        let done = fire(stop(false));
        assert_eq!((done.code, &*done.stdout), (Some(0), ""), "{done:?}");
    }
}

#[test]
fn a_hook_that_fails_keeps_nobody_from_a_prompt_but_the_guard_does_from_writing() {
    for whose in ["claude", "codex"] {
        let (cli, repo) = project();
        cli.ok(&line(&repo, &format!("{whose} --team demo --modes")));
        // Neither an option nor an environment variable names the agent.
        for (name, more, code) in cases![
            ("SessionStart", {"source": "startup"}, 1),
            ("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "a"}}, 2),
        ] {
            let ran = fire(&cli, &repo, whose, &event(whose, &repo, name, more));
            assert_eq!(
                (ran.code, &*ran.stdout),
                (Some(code), ""),
                "{name}: {ran:?}"
            );
            assert!(ran.stderr.contains("TEAMLOG_AGENT"), "{ran:?}");
        }
        fs::rename(cli.dir().join("teams"), cli.dir().join("gone")).unwrap();
        for (name, more, code) in cases![
            ("UserPromptSubmit", {"prompt": "$forge x"}, 1),
            ("Stop", {"stop_hook_active": false}, 1),
            ("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "a"}}, 2),
        ] {
            let ran = fire(&cli, &repo, whose, &event(whose, &repo, name, more));
            assert_eq!(
                (ran.code, &*ran.stdout),
                (Some(code), ""),
                "{name}: {ran:?}"
            );
        }
    }
}

/// Writes settings files as a person would have written them before `setup`.
fn furnished(repo: &Path) {
    for (file, text) in [
        (
            ".claude/settings.local.json",
            "{\n    \"zeta\": 1,\n    \"hooks\": {\n        \"Stop\": [ {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]} ]\n    },\n    \"alpha\": [1,2]\n}\n",
        ),
        (
            ".mcp.json",
            "{\"mcpServers\": {\"zoo\": {\"command\": \"zoo\"}}, \"a\": 1}",
        ),
        (
            ".codex/hooks.json",
            "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}\n",
        ),
        (
            ".codex/config.toml",
            "# mine\nmodel = \"m\"\n\n[mcp_servers.zoo]\ncommand = \"zoo\"",
        ),
        ("AGENTS.md", "# Rules\n\nNo tabs.\n"),
    ] {
        let file = repo.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

#[test]
fn setup_is_merged_into_what_is_there_and_taken_out_again() {
    for (whose, furnish) in [
        ("claude", true),
        ("claude", false),
        ("codex", true),
        ("codex", false),
    ] {
        let (cli, repo) = project();
        if furnish {
            furnished(&repo);
        }
        let before = files(&repo);
        let missing = cli.run(&line(&repo, &format!("{whose} --check")));
        assert_eq!(missing.code, Some(1), "{missing:?}");
        assert!(missing.stdout.contains("missing"), "{missing:?}");
        let dry: Value = cli.json(&line(&repo, &format!("{whose} --dry-run")));
        assert_eq!(dry["status"], "would_write");
        assert_eq!(files(&repo), before);
        let shown = cli.ok(&line(&repo, &format!("{whose} --dry-run")));
        shows!(shown => has "would write", has "  + ");

        let done: Value = cli.json(&line(&repo, &format!("{whose} --agent dev --scratch /tmp")));
        assert_eq!(done["status"], "written");
        let after = files(&repo);
        for (path, text) in &before {
            let now = &after.iter().find(|(other, _)| other == path).unwrap().1;
            // All characters of the earlier text are kept, in their order.
            let mut now_left = now.chars();
            let kept = text.chars().all(|c| now_left.any(|other| other == c));
            assert!(kept, "{path:?}:\n{now}");
        }
        for change in done["files"].as_array().unwrap() {
            let file = Path::new(change["file"].as_str().unwrap());
            assert_eq!(fs::read_to_string(file).unwrap(), change["content"]);
        }
        // A second `setup` without options keeps the choices of the first `setup`.
        let again: Value = cli.json(&line(&repo, whose));
        assert_eq!(again["status"], "unchanged");
        assert_eq!(files(&repo), after);
        cli.ok(&line(&repo, &format!("{whose} --check")));
        let removed: Value = cli.json(&line(&repo, &format!("{whose} --remove")));
        assert_eq!(removed["status"], "removed");
        assert_eq!(files(&repo), before, "{whose}");
        let nothing: Value = cli.json(&line(&repo, &format!("{whose} --remove")));
        assert_eq!(nothing["status"], "unchanged");
    }
}

fn bash(whose: &str, repo: &Path, command: &str) -> Value {
    let more = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    event(whose, repo, "PreToolUse", more)
}

#[test]
fn builds_and_tests_of_the_project_run_after_a_set_up() {
    for whose in ["claude", "codex"] {
        let (cli, repo) = project();
        fs::write(repo.join("Cargo.toml"), "[package]\n").unwrap();
        let scripts = r#"{"scripts": {"test": "jest", "lint": "eslint --fix", "deploy": "x"}}"#;
        fs::write(repo.join("package.json"), scripts).unwrap();
        let known = "cargo build, cargo check, cargo clippy, cargo doc, cargo test, cargo fmt --check, \
            cargo fmt --all --check, npm test, npm run test";
        let dry = cli.ok(&line(&repo, &format!("{whose} --agent dev --dry-run")));
        shows!(dry => has "would write  guard.unknown  allow_when_free", has known);
        assert_eq!(
            cli.json::<Value>("config get demo guard.known")["set"],
            false
        );
        let done: Value = cli.json(&line(&repo, &format!("{whose} --agent dev")));
        assert_eq!(
            done["settings"],
            json!([
                {"key": "guard.unknown", "value": "allow_when_free", "status": "written"},
                {"key": "guard.known", "value": known, "status": "written"},
            ])
        );
        let code = |command: &str| {
            let ran = fire(&cli, &repo, whose, &bash(whose, &repo, command));
            (ran.code, ran.stdout.contains("\"ask\""))
        };
        let (yes, refused) = (
            (Some(0), false),
            match whose {
                "claude" => (Some(0), true),
                _ => (Some(2), false),
            },
        );
        // No other agent holds a path.
        for command in [
            "cargo test -p io",
            "npm test",
            "./ci/check",
            "npm run deploy",
        ] {
            assert_eq!(code(command), yes, "{whose}: {command}");
        }
        cli.ok("task create demo --subject docs --resource docs");
        cli.ok("task claim demo 2 --worker qa");
        for command in ["cargo test -p io", "cargo fmt --check", "npm test"] {
            assert_eq!(code(command), yes, "{whose}: {command}");
        }
        for command in [
            "cargo fmt",
            "cargo clippy --fix",
            "./ci/check",
            "npm run deploy",
        ] {
            assert_eq!(code(command), refused, "{whose}: {command}");
        }
        // `setup` keeps settings that a person made, and a note names further commands of the project.
        cli.ok("config set demo guard.known 'cargo test'");
        cli.ok("config set demo guard.unknown ask");
        let again: Value = cli.json(&line(&repo, whose));
        assert_eq!(again["status"], "unchanged", "{again}");
        let notes = again["notes"].to_string();
        shows!(notes => has "to add: teamlog config set demo guard.known 'cargo test, cargo build, ");
        cli.ok("config set demo guard.known ''");
        assert_eq!(
            cli.json::<Value>(&line(&repo, whose))["status"],
            "unchanged"
        );
    }
}

#[test]
fn a_set_up_follows_the_team_where_an_earlier_version_wrote_its_default() {
    for (whose, old, kept) in [("claude", "ask", "deny"), ("codex", "deny", "ask")] {
        let (cli, repo) = project();
        cli.ok(&line(&repo, &format!("{whose} --agent dev")));
        let file = repo.join(hooks_file(whose));
        let text = fs::read_to_string(&file).unwrap();
        let client = format!("--client {whose}");
        for (answer, stays) in [(old, false), (kept, true)] {
            let earlier = text.replace(&client, &format!("--on-unknown {answer}"));
            assert_ne!(earlier, text);
            fs::write(&file, earlier).unwrap();
            cli.ok(&line(&repo, whose));
            let now = fs::read_to_string(&file).unwrap();
            assert!(now.contains(&client), "{now}");
            assert_eq!(
                now.contains("--on-unknown"),
                stays,
                "{whose} {answer}: {now}"
            );
        }
        // `setup` keeps an `--on-unknown` in the hook, and then does not change the team's settings.
        cli.ok("config unset demo guard.unknown");
        cli.ok(&line(&repo, &format!("{whose} --on-unknown {old}")));
        let done: Value = cli.json(&line(&repo, whose));
        assert_eq!(done["settings"], json!([]));
        let now = fs::read_to_string(&file).unwrap();
        assert!(now.contains(&format!("--on-unknown {old}")), "{now}");
    }
}

#[test]
fn check_names_what_is_out_of_date() {
    let (cli, repo) = project();
    cli.ok(&line(&repo, "claude --agent dev"));
    let file = repo.join(".claude/settings.local.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"onFailure\"", "\"onFail\"")).unwrap();
    fs::remove_file(repo.join(".mcp.json")).unwrap();
    fs::remove_file(cli.dir().join("teams/demo/.gitignore")).unwrap();
    let ran = cli.run(&line(&repo, "claude --check --json"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let parts = told["parts"].as_array().unwrap();
    let open: Vec<_> = parts
        .iter()
        .filter(|part| part["status"] != "current")
        .map(|part| format!("{} {}", part["part"], part["status"]).replace('"', ""))
        .collect();
    assert_eq!(open, ["guard outdated", "mcp missing", "gitignore missing"]);
    cli.ok(&line(&repo, "claude"));
    cli.ok(&line(&repo, "claude --check"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn what_belongs_to_somebody_else_is_refused_and_nothing_is_written() {
    for (whose, file, text) in cases![
        ("claude" => ".mcp.json", r#"{"mcpServers":{"teamlog":{"command":"other"}}}"#),
        ("claude" => ".claude/skills/teamlog/SKILL.md", "---\nname: teamlog\n---\nmine\n"),
        ("claude" => ".claude/settings.local.json", r#"{"hooks":{"Stop":{}}}"#),
        ("codex" => ".codex/config.toml", "[mcp_servers.teamlog]\ncommand = \"other\"\n"),
        ("codex" => ".codex/hooks.json", "[]"),
    ] {
        let (cli, repo) = project();
        let path = repo.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let before = files(&repo);
        let error = cli.refused_json(1, &line(&repo, &format!("{whose} --agent dev")));
        assert!(error.message.contains(file), "{error:?}");
        assert_eq!(files(&repo), before, "{file}");
    }
}

#[test]
fn the_hook_of_one_agent_does_not_take_the_place_of_anothers() {
    for whose in ["claude", "codex", "pi"] {
        let (cli, repo) = project();
        let install =
            |rest: &str| format!("hooks install {whose} demo {rest} --dir {}", repo.display());
        cli.ok(&install("--agent dev --scratch /tmp --write"));
        let before = files(&repo);
        let error = cli.refused_json(1, &install("--agent qa --write"));
        assert!(error.message.contains("dev"), "{error:?}");
        assert_eq!(files(&repo), before);
        let hint = error.hint.unwrap();
        assert!(hint.contains("export TEAMLOG_AGENT=qa\n"), "{hint}");
        let next = hint
            .lines()
            .last()
            .unwrap()
            .strip_prefix("teamlog ")
            .unwrap();
        cli.ok(next);
        let text = &files(&repo)[0].1;
        assert!(!text.contains("--agent") && text.contains("/tmp"), "{text}");
    }
    let (cli, repo) = project();
    cli.ok(&line(&repo, "claude --agent dev"));
    let before = files(&repo);
    let error = cli.refused_json(1, &line(&repo, "claude --agent qa"));
    assert_eq!(files(&repo), before);
    for next in error.hint.unwrap().lines().skip(2) {
        cli.ok(next.strip_prefix("teamlog ").unwrap());
    }
    let text = fs::read_to_string(repo.join(".claude/settings.local.json")).unwrap();
    assert!(!text.contains("--agent"), "{text}");
}

#[test]
fn the_paragraph_stays_as_long_as_an_agent_needs_it() {
    let (cli, repo) = project();
    cli.ok(&line(&repo, "claude --agent dev"));
    cli.ok(&line(&repo, "codex --agent dev"));
    cli.ok(&line(&repo, "claude --remove"));
    assert!(repo.join("AGENTS.md").exists());
    cli.ok(&line(&repo, "codex --check"));
    cli.ok(&line(&repo, "codex --remove"));
    assert!(files(&repo).is_empty());
}

#[test]
fn the_doctor_tries_the_hook() {
    for whose in ["claude", "codex", "pi"] {
        let (cli, repo) = project();
        let doctor = format!("hooks doctor {whose} --dir {} --json", repo.display());
        let ask = || {
            let ran = cli.run(&doctor);
            let told: Value = serde_json::from_str(&ran.stdout).unwrap();
            let state = |name: &str| {
                let checks = told["checks"].as_array().unwrap();
                let check = checks.iter().find(|check| check["name"] == name);
                check.map(|check| check["status"].as_str().unwrap().to_owned())
            };
            (
                ran.code,
                state("installed").unwrap(),
                state("probe"),
                state("trusted"),
                told,
            )
        };
        let (code, installed, ..) = ask();
        assert_eq!((code, &*installed), (Some(1), "failed"));
        cli.ok(&format!(
            "config set demo resources.root {}",
            repo.display()
        ));
        let install = format!(
            "hooks install {whose} demo --agent dev --write --dir {}",
            repo.display()
        );
        let said = cli.ok(&install);
        assert_eq!(said.contains("/hooks"), whose == "codex", "{said}");
        let (code, _, probe, trusted, told) = ask();
        assert_eq!((code, probe.as_deref()), (Some(0), Some("ok")), "{told}");
        let hooks = fs::canonicalize(&repo).unwrap().join(".codex/hooks.json");
        let expected = (whose == "codex").then_some("warning");
        assert_eq!(trusted.as_deref(), expected, "{told}");
        fs::create_dir_all(cli.dir().join(".codex")).unwrap();
        let entry = format!(
            "[hooks.state.\"{}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:0\"\n",
            hooks.display()
        );
        fs::write(cli.dir().join(".codex/config.toml"), entry).unwrap();
        let (_, _, _, trusted, told) = ask();
        assert_eq!(
            trusted.as_deref(),
            (whose == "codex").then_some("ok"),
            "{told}"
        );
        // First a guard that allows every path, then a guard whose program is missing and which therefore denies everything.
        let file = files(&repo).remove(0).0;
        let good = fs::read_to_string(&file).unwrap();
        fs::write(
            &file,
            good.replace("--agent", "--scratch / --agent")
                .replace("\"--scratch / --agent\"", "\"--scratch\",\"/\",\"--agent\""),
        )
        .unwrap();
        let (code, _, probe, _, told) = ask();
        assert_eq!(
            (code, probe.as_deref()),
            (Some(1), Some("failed")),
            "{told}"
        );
        fs::write(
            &file,
            good.replace("teamlog guard", "no-teamlog guard")
                .replace("teamlog\",\"guard", "no-teamlog\",\"guard"),
        )
        .unwrap();
        let (code, _, probe, _, told) = ask();
        assert_eq!(
            (code, probe.as_deref()),
            (Some(1), Some("failed")),
            "{told}"
        );
    }
}

#[test]
fn git_is_told_to_leave_a_team_alone_as_a_whole() {
    let (cli, repo) = project();
    let daemon = Daemon::of(&cli);
    let team = cli.dir().join("teams/demo");
    let read = |path: &Path| fs::read_to_string(path.join(".gitignore")).unwrap();
    let ignored = read(&team);
    assert_eq!(ignored, "# Written by teamlog, and replaced by it.\n*\n");
    assert_eq!(read(&cli.dir().join("teamd")), "*\n");
    assert_eq!(read(&cli.dir().join("teams")), ignored);
    drop(daemon);

    // Teams of older versions have no `.gitignore`, so `setup` adds it. `setup` keeps a `.gitignore` that a person wrote.
    fs::remove_file(team.join(".gitignore")).unwrap();
    cli.ok(&line(&repo, "codex --agent dev"));
    assert_eq!(read(&team), ignored);
    fs::write(team.join(".gitignore"), "# mine\n").unwrap();
    cli.ok("init demo --members new");
    cli.ok(&line(&repo, "codex"));
    shows!(read(&team) => is "# mine\n");

    // Checks, backup and restore work with the changed `.gitignore`. The restored team gets the default file.
    cli.ok("doctor check demo");
    cli.ok("verify demo");
    cli.ok("backup demo ../backups");
    cli.ok("restore ../backups demo --data-root ../elsewhere");
    assert_eq!(read(&cli.outside().join("elsewhere/teams/demo")), ignored);
}

//! `can-write`, `guard` and `hooks`: the right of agents to write paths, and the answer before a write.

use crate::prelude::*;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

/// Creates a repository beside the data root. `dev` holds `src/io` and `qa` holds `docs`.
fn with_leases() -> (Cli, PathBuf) {
    let cli = Cli::with_team();
    let repo = cli.outside().join("repo");
    fs::create_dir_all(repo.join("src/io")).unwrap();
    cli.ok("task create demo --subject io --resource src/io/ --resource 'notes/*.md'");
    cli.ok("task create demo --subject docs --resource docs");
    cli.ok("task claim demo 1 --worker dev");
    cli.ok("task claim demo 2 --worker qa");
    cli.ok(&format!(
        "config set demo resources.root {}",
        repo.display()
    ));
    (cli, repo)
}

fn at(repo: &Path, path: &str) -> String {
    repo.join(path).to_str().unwrap().to_owned()
}

#[test]
fn a_path_may_be_written_by_whoever_holds_it() {
    let (cli, repo) = with_leases();
    let yes: Value = cli.json("can-write demo src/x/../io/a --agent dev");
    has!(yes, {"allow": true, "path": "src/io/a", "task_id": "1"});
    for (agent, path, reason, text) in cases![
        ("qa" => "src/io/a".to_owned(), "resource_held_by_other", "dev holds src/io for task 1"),
        ("dev" => "src/a".to_owned(), "no_active_lease_for_path", "no claimed task"),
        ("dev" => "../a".to_owned(), "path_traversal_denied", "leads out"),
        ("dev" => at(&repo, "../x"), "path_traversal_denied", "leads out"),
    ] {
        let line = format!("can-write demo {path} --agent {agent}");
        let ran = cli.run(&line);
        assert_eq!((ran.code, &*ran.stderr), (Some(1), ""), "{line}: {ran:?}");
        shows!(ran.stdout => starts "no  ", has text);
        let ran = cli.run(&format!("{line} --json"));
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(told["reason"], reason, "{line}");
    }
    let shown = cli.ok("can-write demo notes/a.md --agent dev");
    shows!(shown => starts "yes  notes/a.md  dev holds notes/*.md");
}

#[test]
fn what_overlaps_is_refused_or_said() {
    let (cli, _) = with_leases();
    cli.ok("task create demo --subject all --resource src --resource docs/a");
    let error = cli.refused_json(1, "task claim demo 3 --worker lead");
    assert_eq!(error.code, "resource_conflict");
    shows!(error.message => has "overlaps src/io, which dev holds for task 1");
    cli.ok("config set demo resources.policy advisory");
    let shown = cli.ok("task claim demo 3 --worker lead");
    shows!(shown => has "overlap: src is yours, and dev holds src/io");
    shows!(shown => has "overlap: docs/a is yours, and qa holds docs");
    cli.ok("task create demo --subject any --resource . --shared=false --json");
    let card = cli.ok("task show demo 4");
    assert!(card.contains(".  (exclusive)"), "{card}");
}

fn guard(cli: &Cli, repo: &Path, options: &str, call: &Value) -> Ran {
    let mut call = call.clone();
    call["cwd"] = json!(repo);
    let line = format!("guard demo {options}");
    cli.run_with_input(&line, &call.to_string())
}

/// Checks that an allowed call has no output.
#[track_caller]
fn silent(ran: &Ran) {
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (Some(0), "", ""),
        "{ran:?}"
    );
}

fn native(tool: &str, input: Value) -> Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input})
}

fn bash(command: &str) -> Value {
    native("Bash", json!({"command": command}))
}

#[test]
fn the_guard_allows_what_is_held_and_denies_what_is_not() {
    let (cli, repo) = with_leases();
    symlink("../../../out", repo.join("src/io/out")).unwrap();
    fs::create_dir(cli.outside().join("out")).unwrap();
    let file = |path: &str| native("Write", json!({"file_path": path}));
    let patch =
        "*** Begin Patch\n*** Add File: src/io/a\n+x\n*** Delete File: docs/b\n*** End Patch";
    for (call, denied) in cases![
        (file("src/io/a"), None),
        (file(&at(&repo, "src/io/a")), None),
        (native("Read", json!({"file_path": "/etc/passwd"})), None),
        (native("Edit", json!({"file_path": "notes/a.md"})), None),
        (bash("ls; cat src/a | grep x"), None),
        (bash("cd src/io && echo x > a && rm -r b"), None),
        (bash("cat > src/io/a <<'E'\nrm -rf /\nE"), None),
        (bash("teamlog task complete demo 1 --epoch 1"), None),
        (file("src/a"), Some("it holds no task that declares it")),
        (file("docs/a"), Some("qa holds docs for task 2")),
        (file("/etc/passwd"), Some("outside of the repository")),
        (file("src/io/out/a"), Some("outside of the repository")),
        (
            file("src/io/out/../../a"),
            Some("outside of the repository")
        ),
        (file("src/io/../../../a"), Some("outside of the repository")),
        (bash("echo x > src/a"), Some("src/a (>)")),
        (bash("rm -rf src"), Some("(rm)")),
        (bash("rm -rf src/io src/*"), Some("what lies below")),
        (bash("cd src/io && git checkout main"), Some("git checkout")),
        (
            bash("bash -c 'eval \"touch docs/x\"'"),
            Some("docs/x (touch)")
        ),
        (
            native("apply_patch", json!({"input": patch})),
            Some("docs/b")
        ),
    ] {
        let ran = guard(&cli, &repo, "--agent dev", &call);
        match denied {
            None => silent(&ran),
            Some(why) => {
                assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{call}: {ran:?}");
                shows!(ran.stderr => starts "error: dev may not write ");
                assert!(ran.stderr.contains(why), "{call}: {ran:?}");
            }
        }
    }
    let scratch = cli.outside().join("out");
    let options = format!("--agent dev --scratch {}", scratch.display());
    silent(&guard(&cli, &repo, &options, &file(&at(&scratch, "a/b"))));
    let away = format!("{}/../x", scratch.display());
    assert_eq!(guard(&cli, &repo, &options, &file(&away)).code, Some(2));
    // Paths are relative to `--root`.
    let options = format!("--agent dev --root {}", repo.join("src").display());
    assert_eq!(
        guard(&cli, &repo, &options, &file("src/io/a")).code,
        Some(2)
    );
    assert_eq!(
        guard(&cli, &repo, &options, &file("src/src/io/a")).code,
        Some(0)
    );
}

#[test]
fn where_nobody_can_tell_the_guard_does_as_it_was_told() {
    let (cli, repo) = with_leases();
    let call = bash("make");
    let asked = guard(&cli, &repo, "--agent dev", &call);
    assert_eq!((asked.code, &*asked.stderr), (Some(0), ""), "{asked:?}");
    let answer: Value = serde_json::from_str(&asked.stdout).unwrap();
    let output = &answer["hookSpecificOutput"];
    has!(output, {"hookEventName": "PreToolUse", "permissionDecision": "ask"});
    shows!(output["permissionDecisionReason"].as_str().unwrap() => has "make");
    let plain = json!({"toolName": "bash", "input": {"command": "make"}});
    let asked = guard(&cli, &repo, "--agent dev", &plain);
    let answer: Value = serde_json::from_str(&asked.stdout).unwrap();
    assert_eq!(answer["decision"], "ask");
    let denied = guard(&cli, &repo, "--agent dev --on-unknown deny", &call);
    assert_eq!((denied.code, &*denied.stdout), (Some(2), ""));
    silent(&guard(&cli, &repo, "--agent dev --on-unknown allow", &call));
    // A known conflict takes precedence over an unknown write.
    let both = bash("make; rm src/a");
    let denied = guard(&cli, &repo, "--agent dev --on-unknown allow", &both);
    assert_eq!(denied.code, Some(2), "{denied:?}");
}

/// Returns the command in a hint for a person.
fn typed(text: &str) -> &str {
    let (_, command) = text.split_once("a person types: teamlog ").unwrap();
    command.lines().next().unwrap()
}

#[test]
fn a_command_of_unknown_effect_runs_while_no_other_agent_holds_a_path() {
    let (cli, repo) = with_leases();
    cli.ok("config set demo guard.unknown allow_when_free");
    let claude = |command: &str| guard(&cli, &repo, "--agent dev --client claude", &bash(command));
    let codex = |command: &str| guard(&cli, &repo, "--agent dev --client codex", &bash(command));
    let reason = |ran: &Ran| {
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "ask");
        output["permissionDecisionReason"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // Another agent holds `docs`. Claude Code asks its user. Codex cannot ask, so the call is denied.
    let asked = reason(&claude("cargo test -p io"));
    shows!(asked => starts "cannot tell which files 'cargo test' writes, and qa holds docs for task 2 until ");
    let denied = codex("cargo test -p io");
    assert_eq!((denied.code, &*denied.stdout), (Some(2), ""), "{denied:?}");
    shows!(denied.stderr => starts "error: blocked: cannot tell which files 'cargo test' writes, and qa holds docs");
    // The command in the hint keeps the programs that are already trusted.
    cli.ok("config set demo guard.known make");
    let hint = codex("cargo test && npm run build").stderr;
    shows!(hint => has "(and 1 more)", has "config set demo guard.known 'make, cargo test, npm run build'");
    cli.ok(typed(&hint));
    silent(&codex("cargo test && npm run build"));
    silent(&claude("make all"));
    // `guard.known` cannot contain an expansion, so the hint does not propose this setting.
    shows!(codex("$X --all").stderr => lacks "guard.known");
    shows!(codex("python3").stderr => lacks "guard.known");

    cli.ok("task release demo 2 --worker qa --epoch 1");
    silent(&codex("ninja"));
    silent(&claude("$X --all"));
    // Known conflicts are still denied, and only a person may change the settings of the guard.
    assert_eq!(codex("ninja; touch src/a").code, Some(2));
    assert_eq!(
        codex("teamlog config set demo guard.unknown ask").code,
        Some(2)
    );
    reason(&claude("teamlog config set demo guard.known ninja"));
    // An option of the hook takes precedence over the setting.
    assert_eq!(
        guard(&cli, &repo, "--agent dev --on-unknown deny", &bash("ninja")).code,
        Some(2)
    );
    cli.ok("config set demo guard.unknown deny");
    assert_eq!(claude("ninja").code, Some(2));
    cli.ok("config unset demo guard.unknown");
    assert_eq!(codex("ninja").code, Some(2));
    reason(&claude("ninja"));
    // A lease without paths and an expired lease do not block writes.
    cli.ok("config set demo guard.unknown allow_when_free");
    cli.ok("task create demo --subject talk");
    cli.ok("task claim demo 3 --worker qa");
    silent(&codex("ninja"));
}

#[test]
fn a_team_says_which_programs_it_trusts() {
    let (cli, repo) = with_leases();
    let asks = |command: &str| {
        let ran = guard(&cli, &repo, "--agent dev", &bash(command));
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
        ran.stdout.contains("\"ask\"")
    };
    assert!(asks("make -j2"));
    cli.ok("config set demo guard.known make");
    silent(&guard(&cli, &repo, "--agent dev", &bash("make -j2")));
    assert!(asks("make -C /elsewhere"));
    assert!(asks("ninja"));
    // Changing the guard's list of trusted programs needs a confirmation.
    assert!(asks("teamlog config set demo guard.known ninja"));
    assert!(asks("teamlog init other"));
    assert!(asks("teamlog nudge demo --exec ./x"));
    silent(&guard(
        &cli,
        &repo,
        "--agent dev",
        &bash("teamlog nudge demo"),
    ));
    let denied = guard(&cli, &repo, "--agent dev", &bash("make > src/a"));
    assert_eq!(denied.code, Some(2), "{denied:?}");
}

#[test]
fn whatever_goes_wrong_is_a_denial() {
    let (cli, repo) = with_leases();
    let call = bash("touch src/io/a").to_string();
    for (line, input) in [
        ("guard demo --agent dev", ""),
        ("guard demo --agent dev", "{"),
        ("guard demo --agent dev", "[]"),
        ("guard demo --agent dev", r#"{"tool_name":7}"#),
        ("guard demo", &*call),
        ("guard demo --agent a/b", &*call),
        ("guard other --agent dev", &*call),
        ("guard demo --agent dev --data-root /nowhere", &*call),
        ("guard demo --agent dev --on-unknown maybe", &*call),
        ("guard demo --agent dev --bogus", &*call),
        ("guard demo --agent dev --last-receipt {", &*call),
    ] {
        let ran = cli.run_with_input(line, input);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{line}: {ran:?}");
    }
    let mut command = cli.command("guard demo");
    let ran = Ran::of(command.env("TEAMLOG_AGENT", OsStr::from_bytes(b"\xff")));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let segment = cli.segment("demo");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[40] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let _ = fs::remove_dir_all(cli.dir().join("teams/demo/derived"));
    let ran = guard(&cli, &repo, "--agent dev", &bash("touch src/io/a"));
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{ran:?}");
}

#[test]
fn the_guard_waits_for_no_lock_and_changes_nothing() {
    let (cli, repo) = with_leases();
    let before = cli.ok("export demo");
    let lock = File::open(cli.dir().join("teams/demo/lock")).unwrap();
    lock.lock().unwrap();
    let allowed = guard(&cli, &repo, "--agent dev", &bash("touch src/io/a"));
    silent(&allowed);
    drop(lock);
    assert_eq!(cli.ok("export demo"), before);
}

#[test]
fn hooks_are_shown_then_written_and_then_as_they_should_be() {
    let (cli, repo) = with_leases();
    let line = format!(
        "hooks install claude demo --agent dev --dir {}",
        repo.display()
    );
    let file = repo.join(".claude/settings.local.json");
    let shown: Value = cli.json(&line);
    assert_eq!(shown["status"], "would_write");
    assert!(!repo.join(".claude").exists());
    fs::create_dir(repo.join(".claude")).unwrap();
    fs::write(&file, r#"{"model":"m"}"#).unwrap();
    let text = cli.ok(&format!("{line} --dry-run"));
    shows!(text => starts "would write ", has "PreToolUse");
    assert_eq!(fs::read_to_string(&file).unwrap(), r#"{"model":"m"}"#);
    let written: Value = cli.json(&format!("{line} --write"));
    assert_eq!(written["status"], "written");
    assert_eq!(fs::read_to_string(&file).unwrap(), written["content"]);
    let again: Value = cli.json(&format!("{line} --write"));
    assert_eq!(again["status"], "unchanged");
    let settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(settings["model"], "m");
    assert_eq!(fs::read_dir(repo.join(".claude")).unwrap().count(), 1);
    // Run the installed hook in a shell, in the agent's working directory.
    let hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let run = |hook: &str, call: &Value| {
        let input = cli.file("call.json", &call.to_string());
        let mut shell = Command::new("sh");
        shell.args(["-c", hook]).current_dir(&repo).env_clear();
        Ran::of(shell.stdin(File::open(input).unwrap()))
    };
    silent(&run(hook, &bash("touch src/io/a")));
    assert_eq!(run(hook, &bash("touch src/a")).code, Some(2));
    let gone = hook.replacen("/teamlog ", "/no-teamlog ", 1);
    assert_eq!(run(&gone, &bash("ls")).code, Some(2));
    for (whose, file) in [
        ("codex", ".codex/hooks.json"),
        ("pi", ".pi/agent/extensions/teamlog-guard.ts"),
    ] {
        cli.ok(&format!("hooks install {whose} demo --user --write"));
        let text = fs::read_to_string(cli.dir().join(file)).unwrap();
        shows!(text => has "guard", has "--client");
    }
    fs::write(&file, "{").unwrap();
    let error = cli.refused_json(1, &format!("{line} --write"));
    assert_eq!(error.code, "invalid_input");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{");
}

#[test]
fn hooks_are_installed_for_whom_there_is_and_where_there_is_something() {
    let cli = Cli::with_team();
    for (line, named) in [
        ("hooks install claude nosuch --agent dev", "nosuch"),
        ("hooks install claude demo --agent nobody", "nobody"),
        ("hooks install pi demo --dir nowhere --write", "nowhere"),
    ] {
        let ran = cli.run(line);
        assert!(ran.code.is_some_and(|code| code > 0), "{line}: {ran:?}");
        assert!(ran.stderr.contains(named), "{line}: {ran:?}");
    }
    assert!(!cli.dir().join("nowhere").exists());
}

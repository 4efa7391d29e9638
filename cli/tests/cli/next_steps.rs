//! Runs every command that teamlog prints as a next step: in `prime`, in refusals and errors, and
//! in the answers to reports that are not applied. The tests collect all parts of an answer that
//! look like commands, and run each as printed in a copy of the world.

use crate::prelude::*;

/// The commands before, the command under test, and its error code if it is refused.
struct Situation {
    before: &'static [&'static str],
    typed: &'static str,
    code: Option<&'static str>,
}

const fn asked(before: &'static [&'static str], typed: &'static str) -> Situation {
    Situation {
        before,
        typed,
        code: None,
    }
}

const fn refused(
    code: &'static str,
    before: &'static [&'static str],
    typed: &'static str,
) -> Situation {
    Situation {
        before,
        typed,
        code: Some(code),
    }
}

const MADE: &str = "task create demo --task-id T-1 --subject 'Fix it'";
const CLAIMED: &str = "task claim demo T-1 --worker dev";
const ASSIGNED: &str = "task-assign demo --from lead --to dev --task-id A-1 --subject 'Write it up' --message-id 'm 1'";
const AGENT: &str = "prime demo --agent dev";

const SITUATIONS: &[Situation] = &[
    // Next steps for an agent that starts.
    asked(&[], AGENT),
    asked(&[MADE], AGENT),
    asked(&[MADE, CLAIMED], AGENT),
    asked(
        &[
            MADE,
            "task create demo --subject S",
            CLAIMED,
            "task claim demo 1 --worker dev",
        ],
        AGENT,
    ),
    asked(&[ASSIGNED], AGENT),
    asked(
        &[
            ASSIGNED,
            "task-update demo --from dev --to lead --task-id A-1 --status in_progress",
        ],
        AGENT,
    ),
    asked(
        &[
            ASSIGNED,
            "task-update demo --from dev --to lead --task-id A-1 --status blocked",
        ],
        AGENT,
    ),
    asked(&[ASSIGNED, "task claim demo A-1 --worker dev"], AGENT),
    asked(
        &[
            "task create demo --subject S --owner dev",
            "task create demo --subject T --owner dev --blocked-by 1",
        ],
        AGENT,
    ),
    asked(
        &["send demo --from lead --to dev --type handoff --message-id 'm $x'"],
        AGENT,
    ),
    // Answers to a leader and to an agent with unread posts.
    asked(
        &[
            ASSIGNED,
            "task-assign demo --from lead --to qa --task-id A-2 --subject S --deps A-1",
            "task-update demo --from dev --to lead --task-id A-1 --status failed",
        ],
        "prime demo --agent lead",
    ),
    asked(&[MADE, CLAIMED], "prime demo --agent leader-fixed"),
    asked(
        &[
            "thread start demo --title T --participants lead,dev --agent lead",
            "thread post demo thread-0001 begin --agent lead",
        ],
        AGENT,
    ),
    asked(
        &[MADE, CLAIMED],
        "task-update demo --from dev --to lead --task-id T-1 --status done",
    ),
    asked(
        &[MADE, CLAIMED],
        "task-update demo --from dev --to lead --task-id T-1 --blocked --note stuck",
    ),
    refused("claim_conflict", &[MADE, CLAIMED], CLAIMED),
    refused(
        "claim_conflict",
        &[MADE, CLAIMED],
        "task claim demo T-1 --worker qa",
    ),
    refused(
        "claim_conflict",
        &[MADE, CLAIMED],
        "task complete demo T-1 --epoch 7",
    ),
    refused(
        "not_holder",
        &[MADE, CLAIMED],
        "task complete demo T-1 --epoch 1 --worker qa",
    ),
    refused(
        "claim_conflict",
        &[MADE, CLAIMED],
        "task cancel demo T-1 --worker qa",
    ),
    refused(
        "already_terminal",
        &[MADE, CLAIMED, "task fail demo T-1 --epoch 1"],
        CLAIMED,
    ),
    refused(
        "already_terminal",
        &[MADE, CLAIMED, "task complete demo T-1 --epoch 1"],
        CLAIMED,
    ),
    refused(
        "invalid_transition",
        &[MADE],
        "task complete demo T-1 --epoch 1",
    ),
    refused("invalid_transition", &[MADE], "task reopen demo T-1"),
    refused(
        "version_conflict",
        &[MADE],
        "task cancel demo T-1 --expected-version 7",
    ),
    refused("task_exists", &[MADE], MADE),
    refused("task_not_found", &[], "task claim demo T-9 --worker dev"),
    refused("task_not_found", &[], "task show demo T-9"),
    refused(
        "worker_not_found",
        &[MADE],
        "task claim demo T-1 --worker eve",
    ),
    refused(
        "blocked_dependency",
        &[
            MADE,
            "task create demo --task-id T-2 --subject S --blocked-by T-1",
        ],
        "task claim demo T-2 --worker dev",
    ),
    refused(
        "resource_conflict",
        &[
            "task create demo --task-id T-1 --subject S --resource src",
            CLAIMED,
            "task create demo --task-id T-2 --subject S --resource src/io",
        ],
        "task claim demo T-2 --worker qa",
    ),
    refused(
        "worker_not_found",
        &[],
        "send demo --from eve --to dev --type handoff",
    ),
    refused("setting_unknown", &[], "config get demo nosuch"),
    refused(
        "dead_letter_not_found",
        &[],
        "dead-letter requeue demo --id dl-1",
    ),
    refused("point_unknown", &[], "status demo --at 99"),
    refused("team_not_found", &[], "status nosuch"),
    refused("run_not_found", &[], "bootstrap show demo"),
    refused(
        "mode_not_active",
        &[],
        "mode update demo forge --phase executing",
    ),
    refused(
        "mode_denied",
        &["mode start demo forge"],
        "mode start demo blueprint",
    ),
    refused("team_open", &[], "purge demo --yes"),
    refused("thread_not_found", &[], "thread tail demo thread-0009"),
    refused("artifact_not_found", &[], "artifact get demo nosuch"),
];

/// Collects the commands in a text. A command starts at the beginning of a line, after a colon, or in backticks.
pub fn commands(text: &str, found: &mut BTreeSet<String>) {
    for line in text.lines() {
        let quoted = line.split('`').skip(1).step_by(2);
        let whole = line.trim();
        let behind = whole
            .match_indices(": teamlog ")
            .map(|(at, _)| &whole[at + 2..]);
        let all = quoted.chain([whole]).chain(behind);
        found.extend(
            all.filter(|one| one.starts_with("teamlog "))
                .map(str::to_owned),
        );
    }
}

fn walk(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => commands(text, found),
        Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| walk(field, found)),
        _ => {}
    }
}

/// Creates a directory that contains only teamlog.
fn bin(cli: &Cli) -> PathBuf {
    let bin = cli.outside().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let link = bin.join("teamlog");
    let _ = std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_teamlog"), link);
    bin
}

/// Runs a command in a shell. A `teamlog wait` gets a message, so that it ends.
fn run(cli: &Cli, command: &str) -> Ran {
    run_as(cli, command, None)
}

/// Runs a command in a shell as `agent`.
pub fn run_as(cli: &Cli, command: &str, agent: Option<&str>) -> Ran {
    let path = format!("{}:/usr/bin:/bin", bin(cli).display());
    let mut child = Command::new("sh")
        .args(["-e", "-c", command])
        .current_dir(cli.dir())
        .env_clear()
        .env("HOME", cli.dir())
        .env("PATH", path)
        .envs(agent.map(|agent| ("TEAMLOG_AGENT", agent)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if command.starts_with("teamlog wait ") {
        let agent = command.split_once(" --agent ");
        let agent = agent.or(command.split_once(" --as ")).unwrap().1;
        let agent = agent.split(' ').next().unwrap();
        cli.ok(&format!("send demo --from qa --to {agent} --type handoff"));
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("{command} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ran::from_output(child.wait_with_output().unwrap())
}

#[test]
fn every_command_that_is_printed_as_a_next_step_runs_as_printed() {
    let mut wrong = Vec::new();
    let mut total = 0;
    for situation in SITUATIONS {
        let cli = Cli::with_team();
        for line in situation.before {
            let ran = cli.run(line);
            assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        }
        let typed = situation.typed;
        // Text and JSON output are made in separate copies, so that both start from one state.
        let mut found = BTreeSet::new();
        let ran = cli.copy().run(typed);
        commands(&ran.stdout, &mut found);
        commands(&ran.stderr, &mut found);
        let ran = cli.copy().run(&format!("{typed} --json"));
        let text = format!("{}{}", ran.stdout, ran.stderr);
        for value in text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
        {
            walk(&value, &mut found);
        }
        match situation.code {
            Some(code) => assert!(
                text.contains(&format!("\"code\":\"{code}\"")),
                "{typed}: {text}"
            ),
            None => assert_eq!(ran.code, Some(0), "{typed}: {ran:?}"),
        }
        if found.is_empty() {
            wrong.push(format!("{typed} leads nowhere: {text}"));
        }
        total += found.len();
        for command in found {
            let world = cli.copy();
            if situation.code.is_none() {
                // If the command under test records events, it runs before its next step.
                world.run(typed);
            }
            let ran = run(&world, &command);
            if ran.code != Some(0) {
                wrong.push(format!("{typed}\n  {command}\n  {ran:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(total > 60, "{total}");
}

#[test]
fn what_leads_on_names_the_data_root_that_was_given() {
    let cli = Cli::new();
    let root = cli.outside().join("elsewhere");
    let flag = format!("--data-root {}", root.display());
    cli.ok(&format!("init demo --members dev {flag}"));
    cli.ok(&format!("{MADE} {flag}"));
    cli.ok(&format!("{CLAIMED} {flag}"));
    for (line, step) in [
        (AGENT, " done T-1 RESULT"),
        (
            "task-update demo --from dev --to dev --task-id T-1 --status done",
            " task complete demo T-1",
        ),
    ] {
        let mut found = BTreeSet::new();
        commands(&cli.ok(&format!("{line} {flag}")), &mut found);
        assert!(
            found.iter().any(|command| command.contains(step)),
            "{found:?}"
        );
        for command in found {
            shows!(command => starts &format!("teamlog {flag} "));
        }
    }
}

#[test]
fn the_next_steps_of_a_holder_end_its_claim() {
    let cli = Cli::with_team();
    cli.ok(MADE);
    cli.ok(CLAIMED);
    let primed: Value = cli.json(AGENT);
    let steps: Vec<&str> = primed["commands"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        !steps.iter().any(|step| step.contains("task-update")),
        "{steps:?}"
    );
    for (verb, status) in [
        ("complete", "completed"),
        ("fail", "failed"),
        ("release", "pending"),
        ("renew", "in_progress"),
    ] {
        let step = steps
            .iter()
            .find(|step| step.contains(&format!(" task {verb} ")))
            .unwrap();
        let world = cli.copy();
        assert_eq!(run(&world, step).code, Some(0), "{step}");
        let shown: Value = world.json("task show demo T-1");
        assert_eq!(shown["task"]["status"], status, "{step}");
    }
}

#[test]
fn a_claim_on_ones_own_task_says_how_it_is_renewed_and_tells_nobody_the_token() {
    let cli = Cli::with_team();
    cli.ok(MADE);
    let claim: Value = cli.json(CLAIMED);
    let token = claim["claimToken"].as_str().unwrap();
    let own = cli.refused(1, CLAIMED);
    assert!(
        own.contains("already claimed by dev, with epoch 1"),
        "{own}"
    );
    shows!(own => has "teamlog task renew demo T-1 --worker dev --epoch 1");
    let other = cli.refused(1, "task claim demo T-1 --worker qa");
    assert!(!other.contains("renew"), "{other}");
    for said in [own, other] {
        assert!(!said.contains(token), "{said}");
    }
}

#[test]
fn a_report_on_a_claimed_task_is_kept_and_shown_wherever_the_task_is() {
    let cli = Cli::with_team();
    cli.ok(MADE);
    cli.ok(CLAIMED);
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --progress 40% --eta tomorrow");
    cli.ok(
        "task-update demo --from dev --to lead --task-id T-1 --blocked --note 'needs the schema'",
    );
    let digest =
        |cli: &Cli| -> Value { cli.json::<Value>("status demo --digest")["state_digest"].take() };
    let before = digest(&cli);
    cli.ok("rehydrate demo");
    assert_eq!(digest(&cli), before);
    let check = |task: &Value| {
        for (field, value) in [
            ("status", "in_progress"),
            ("reported_progress", "40%"),
            ("reported_eta", "tomorrow"),
            ("reported_note", "needs the schema"),
            ("reported_by", "dev"),
        ] {
            assert_eq!(task[field], value, "{field}: {task}");
        }
        assert_eq!(task["reported_blocked"], true, "{task}");
    };
    check(&cli.json::<Value>("task show demo T-1")["task"]);
    check(&cli.json::<Value>("tasks demo")["tasks"][0]);
    check(&cli.json::<Value>("status demo")["blocked_tasks"][0]);
    let input = "--input '{\"team_name\":\"demo\",\"task_id\":\"T-1\"}'";
    check(&cli.json::<Value>(&format!("api read-task {input}"))["data"]["task"]);
    let file = std::fs::read_to_string(cli.dir().join("teams/demo/tasks/T-1.json")).unwrap();
    check(&serde_json::from_str(&file).unwrap());
    let primed: Value = cli.json(AGENT);
    has!(primed, {"/in_progress/items/0/reported": "blocked, 40%, eta tomorrow: needs the schema"});
    for line in ["task show demo T-1", "tasks demo", "status demo", AGENT] {
        let shown = cli.ok(line);
        assert!(
            shown.contains("blocked, 40%, eta tomorrow: needs the schema"),
            "{line}: {shown}"
        );
    }
    // The new holder of the task is not blocked, and the earlier note is still shown.
    cli.ok("task release demo T-1 --worker dev --epoch 1");
    cli.ok("task claim demo T-1 --worker qa");
    let task = cli.json::<Value>("task show demo T-1")["task"].take();
    assert_eq!(
        (task.get("reported_blocked"), &task["reported_note"]),
        (None, &"needs the schema".into())
    );
    assert_eq!(
        cli.json::<Value>("status demo")["blocked_tasks"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

//! Every hint is safe for the agent that gets it. An agent that holds nothing and is neither the
//! operator nor the leader follows each hint. The commands of a hint cause neither a usage error
//! nor the original error, and never act as another agent.

use crate::daemon::Daemon;
use crate::next_steps::{commands, run_as};
use crate::prelude::*;

/// A command of an agent that fails.
struct Failure {
    code: &'static str,
    /// Commands that the operator runs before the agent's command.
    before: &'static [&'static str],
    /// Further changes of the world before the agent's command.
    prepare: fn(&Cli),
    /// The agent's command.
    typed: &'static str,
}

/// The agent that runs the commands. It is a member of the team and holds nothing.
const AGENT: &str = "qa";
const MADE: &str = "task create demo --task-id T-1 --subject 'Fix it'";
const CLAIMED: &str = "task claim demo T-1 --worker dev";
const MAIL: &str = "send demo --from lead --to dev --type handoff --message-id m-1 --require-ack";
const CLOSED: &str = "api cleanup --input '{\"team_name\":\"demo\"}'";

/// Commands that a hint may name only to the operator or the leader.
const RESERVED: &[&str] = &[
    "init ",
    "purge ",
    "close ",
    "serve",
    "token ",
    "config set",
    "--accept-rollback",
    "--salvage",
    "--force",
    "cleanup",
];

/// Error codes whose hint is only for the operator.
const OPERATORS: &[&str] = &["token_not_found"];

/// Error codes that occur only with a daemon, a journal's server, a dead letter, a failing disk or
/// another version of the program.
const ELSEWHERE: &[&str] = &[
    "adoption_unfinished",
    "already_acked",
    "already_served",
    "backup_diverged",
    "cut_below_receipt",
    "daemon_unreachable",
    "daemon_version_mismatch",
    "delivery_open",
    "derived_unusable",
    "foreign_file",
    "journal_behind",
    "journal_not_configured",
    "journal_denied",
    "journal_moved",
    "journal_not_durable",
    "journal_of_another",
    "journal_refused",
    "journal_trimmed",
    "lock_lost",
    "locked",
    "log_replaced",
    "no_space",
    "not_in_journal",
    "not_launched",
    "not_permitted",
    "outcome_unknown",
    "signature_invalid",
    "subscription_damaged",
    "sync_failed",
    "undecodable",
];

const fn failure(
    code: &'static str,
    before: &'static [&'static str],
    typed: &'static str,
) -> Failure {
    Failure {
        code,
        before,
        prepare: |_| (),
        typed,
    }
}

const fn prepared(code: &'static str, prepare: fn(&Cli), typed: &'static str) -> Failure {
    Failure {
        code,
        before: &[MADE],
        prepare,
        typed,
    }
}

const FAILURES: &[Failure] = &[
    failure("claim_conflict", &[MADE, CLAIMED], "task claim demo T-1"),
    failure(
        "claim_conflict",
        &[MADE, "task claim demo T-1 --worker qa"],
        "task claim demo T-1",
    ),
    failure(
        "not_holder",
        &[MADE, CLAIMED],
        "task complete demo T-1 --epoch 1 --worker qa",
    ),
    prepared(
        "lease_expired",
        let_lease_end,
        "task complete demo T-1 --epoch 1 --worker dev",
    ),
    failure(
        "already_terminal",
        &[MADE, CLAIMED, "task fail demo T-1 --epoch 1"],
        "task claim demo T-1",
    ),
    failure("invalid_transition", &[MADE], "task reopen demo T-1"),
    failure(
        "version_conflict",
        &[MADE],
        "task cancel demo T-1 --expected-version 7",
    ),
    failure("task_exists", &[MADE], MADE),
    failure("task_not_found", &[], "task show demo T-9"),
    failure("task_not_found", &[], "task claim demo T-9"),
    failure(
        "blocked_dependency",
        &[
            MADE,
            "task create demo --task-id T-2 --subject S --blocked-by T-1",
        ],
        "task claim demo T-2",
    ),
    failure(
        "resource_conflict",
        &[
            "task create demo --task-id T-1 --subject S --resource src",
            CLAIMED,
            "task create demo --task-id T-2 --subject S --resource src/io",
        ],
        "task claim demo T-2",
    ),
    failure(
        "worker_not_found",
        &[MADE],
        "task claim demo T-1 --worker eve",
    ),
    failure("worker_not_found", &[], "send demo --to eve --type handoff"),
    failure(
        "budget_exceeded",
        &[
            "usage demo --set --max-tokens 10 --hard-limit",
            "usage demo --report --agent dev --input-tokens 11",
        ],
        MADE,
    ),
    failure("setting_unknown", &[], "config get demo nosuch"),
    failure(
        "dead_letter_not_found",
        &[],
        "dead-letter requeue demo --id dl-1",
    ),
    failure("not_found", &[MAIL], "ack demo --message-id m-9"),
    failure("wrong_recipient", &[MAIL], "ack demo --message-id m-1"),
    failure("thread_not_found", &[], "thread tail demo thread-0009"),
    failure("artifact_not_found", &[], "artifact get demo nosuch"),
    failure("token_not_found", &[], "token revoke demo 0123456789abcdef"),
    failure("run_not_found", &[], "bootstrap show demo"),
    failure(
        "run_exists",
        &["bootstrap start demo --run R-1"],
        "bootstrap start demo --run R-1 --domains legal",
    ),
    failure("point_unknown", &[], "status demo --at 99"),
    failure("subscription_not_found", &[], "subscription show demo nope"),
    failure("projection_not_found", &[], "project show demo nope"),
    failure(
        "event_not_parked",
        &["subscribe demo alerts --once"],
        "subscription replay demo alerts --seq 1",
    ),
    failure(
        "subscription_exists",
        &["subscribe demo alerts --once"],
        "subscribe demo alerts --kind built --once",
    ),
    failure("append_conflict", &[], "append demo --kind k_1 --if-seq 0"),
    failure("team_closed", &[CLOSED], MADE),
    failure("team_open", &[], "purge demo --yes"),
    prepared(
        "too_large",
        |cli| {
            let body = "x".repeat(2_000_000);
            cli.file("big.json", &format!("{{\"body\":\"{body}\"}}"));
        },
        "send demo --to dev --type message --payload-file big.json",
    ),
    failure("shutdown_gate_blocked", &[MADE], "close demo"),
    failure("team_not_found", &[], "status dmo"),
    failure(
        "mode_not_active",
        &[],
        "mode update demo forge --phase executing",
    ),
    failure(
        "mode_denied",
        &["mode start demo forge"],
        "mode start demo blueprint",
    ),
    failure("mode_not_found", &[], "mode show demo forge"),
    failure("daemon_not_running", &[], "serve --status"),
    failure("backup_not_found", &[], "restore empty demo2"),
    prepared("damaged", damage, "task claim demo T-1"),
    prepared("rolled_back", roll_back, "task claim demo T-1"),
    prepared(
        "changed_since_receipt",
        |cli| {
            let other = cli.copy();
            other.ok("send demo --from lead --to dev --type handoff");
            for _ in 0..2 {
                cli.ok("send demo --from lead --to qa --type handoff");
            }
            cli.file("receipt.json", &other.ok("head demo --json"));
        },
        "tasks demo --last-receipt @receipt.json",
    ),
    prepared(
        "signature_missing",
        |cli| {
            cli.ok("keygen --out key");
            cli.file("receipt.json", &cli.ok("head demo --json"));
        },
        "verify demo --against receipt.json --key key.pub",
    ),
    prepared(
        "team_not_found",
        |cli| {
            std::fs::create_dir_all(cli.dir().join("below/teams/models")).unwrap();
            std::fs::remove_dir_all(cli.dir().join("teams")).unwrap();
        },
        "status demo",
    ),
    prepared(
        "data_root_not_found",
        |_| (),
        "--data-root nowhere status demo",
    ),
];

/// Waits until the lease of a claim has ended.
fn let_lease_end(cli: &Cli) {
    cli.ok("task claim demo T-1 --worker dev --lease-ms 1000");
    until("the lease has ended", || {
        cli.ok("tick demo");
        cli.json::<Value>("task show demo T-1")["task"]["status"] == "pending"
    });
}

/// Flips a bit in the log's first segment.
fn damage(cli: &Cli) {
    let segment = cli.segment("demo");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let _ = std::fs::remove_dir_all(cli.dir().join("teams/demo/derived"));
}

/// Adds a task, then restores the log to its state before the task.
fn roll_back(cli: &Cli) {
    let old = cli.copy();
    cli.ok("task create demo --subject more");
    for name in ["events", "head"] {
        let (from, to) = (
            old.dir().join("teams/demo").join(name),
            cli.dir().join("teams/demo"),
        );
        let _ = std::fs::remove_dir_all(to.join(name));
        let _ = std::fs::remove_file(to.join(name));
        let status = Command::new("cp").arg("-a").arg(from).arg(to).status();
        assert!(status.unwrap().success());
    }
}

/// Returns the agents that a command line names as acting agents.
fn named_agents(command: &str) -> Vec<&str> {
    let words: Vec<&str> = command.split(' ').collect();
    let options = ["--agent", "--worker", "--from", "--actor"];
    words
        .windows(2)
        .filter(|pair| options.contains(&pair[0]))
        .map(|pair| pair[1])
        .collect()
}

/// Returns the code of a JSON error.
fn code_of(stderr: &str) -> Option<String> {
    let line = stderr.lines().last()?;
    let error: Value = serde_json::from_str(line).ok()?;
    error["error"]["code"].as_str().map(str::to_owned)
}

/// Returns the faults of a hint for an agent.
fn faults(world: &Cli, failure: &Failure, hint: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    commands(hint, &mut found);
    let mut faults = Vec::new();
    for command in &found {
        let mut fault = |why: String| faults.push(format!("{}: {command}: {why}", failure.typed));
        for agent in named_agents(command) {
            if agent != AGENT {
                fault(format!("acts as {agent}"));
            }
        }
        let own = failure.typed.split(' ').next().unwrap();
        for reserved in RESERVED {
            if command.contains(reserved)
                && !command.contains("--help")
                && !reserved.starts_with(own)
            {
                fault(format!("{AGENT} may not {reserved}"));
            }
        }
        // Run the hint's command in a copy, so that the next command of the hint starts from the
        // original world.
        let copy = world.copy();
        let ran = run_as(&copy, command, Some(AGENT));
        let again = run_as(&copy, &format!("{command} --json"), Some(AGENT));
        if ran.code == Some(2) || code_of(&again.stderr).as_deref() == Some(failure.code) {
            fault(format!("{ran:?}"));
        }
    }
    faults
}

fn world(failure: &Failure) -> Cli {
    let cli = Cli::with_team();
    cli.ok("config set demo resources.root /");
    std::fs::create_dir(cli.dir().join("empty")).unwrap();
    for line in failure.before {
        let ran = cli.run(line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    }
    (failure.prepare)(&cli);
    cli
}

#[test]
fn an_agent_may_follow_every_hint() {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for failure in FAILURES {
        let world = world(failure);
        let command = |more: &str| {
            let mut command = world.command(&format!("{}{more}", failure.typed));
            Ran::of(command.env("TEAMLOG_AGENT", AGENT))
        };
        let ran = command(" --json");
        let code = code_of(&ran.stderr);
        if code.as_deref() != Some(failure.code)
            && failure.code != "not_found"
            && failure.code != "wrong_recipient"
        {
            wrong.push(format!("{}: {ran:?}", failure.typed));
            continue;
        }
        seen.insert(failure.code);
        let line = ran.stderr.lines().last().unwrap_or_default().to_owned();
        let error: Value = serde_json::from_str(&line).unwrap_or_default();
        let hint = match error["error"]["hint"].as_str() {
            Some(hint) => hint.to_owned(),
            None => command("").stderr,
        };
        let has_none = !hint.contains("hint") && error["error"]["hint"].is_null();
        if has_none != OPERATORS.contains(&failure.code) {
            wrong.push(format!("{}: no hint: {ran:?}", failure.typed));
        }
        wrong.extend(faults(&world, failure, &hint.replace("hint: ", "")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The table must have every code that has a hint.
    let source = include_str!("../../src/hint/reported.rs");
    for code in codes(source) {
        let is_listed = seen.contains(&*code) || ELSEWHERE.contains(&&*code);
        assert!(is_listed, "no failure with {code} is tried");
    }
}

/// Returns the error codes that the match arms of a source file name.
fn codes(source: &str) -> BTreeSet<String> {
    let arms = source
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('"') || line.starts_with("| \""));
    let words = arms.flat_map(|line| {
        let head = line.split("=>").next().unwrap_or_default();
        let head = head.split(" if ").next().unwrap_or_default();
        head.split('|')
            .map(|one| one.trim().trim_matches('"').to_owned())
            .collect::<Vec<_>>()
    });
    words
        .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect()
}

#[test]
fn a_rolled_back_log_leads_the_operator_to_the_way_on() {
    let cli = Cli::with_team();
    cli.ok(MADE);
    roll_back(&cli);
    let said = cli.refused(65, "task claim demo T-1 --worker dev");
    shows!(said => has "teamlog doctor repair demo --accept-rollback");
    let said = cli.refused(2, "doctor repair demo");
    shows!(said => has "--accept-rollback");
    cli.ok("doctor repair demo --accept-rollback");
}

#[test]
fn no_hint_makes_a_team_where_init_would_refuse_or_a_root_may_lie_elsewhere() {
    let cli = Cli::new();
    std::fs::create_dir_all(cli.dir().join("teams/models")).unwrap();
    std::fs::write(cli.dir().join("teams/models/team.rs"), "").unwrap();
    for line in ["status demo", "status", "teams", "attention"] {
        let ran = cli.run(line);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains("init"), "{line}: {said}");
    }
    shows!(cli.refused(1, "status demo") => has "holds files that are not logs");
    // If `TEAMLOG_AGENT` is set, a team probably exists elsewhere, so the hint must not name
    // `init`.
    let cli = Cli::new();
    let ran = Ran::of(cli.command("status demo").env("TEAMLOG_AGENT", "dev"));
    assert!(!ran.stderr.contains("init"), "{ran:?}");
    shows!(cli.refused(1, "status demo") => has "teamlog init demo");
}

#[test]
fn a_team_that_was_moved_under_its_daemon_is_told_apart_from_a_busy_one() {
    let cli = Cli::with_team();
    let _daemon = Daemon::of(&cli);
    let teams = cli.dir().join("teams");
    std::fs::rename(teams.join("demo"), teams.join("moved")).unwrap();
    let ran = cli.run("--lock-timeout 0 send moved --from lead --to dev --type handoff");
    // The daemon may have found the team under its new name already.
    if ran.code == Some(0) {
        return;
    }
    assert_eq!(ran.code, Some(75), "{ran:?}");
    shows!(ran.stderr => has "the daemon of this data root");
    assert!(!ran.stderr.contains("--lock-timeout 60"), "{ran:?}");
}

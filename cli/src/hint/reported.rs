//! Hints for an error's code and details.

use super::{Caller, missing};
use crate::exit::{CommandError, Exit};
use crate::forward::Repeat;
use crate::link::Called;
use teamlog_team::lifecycle::membership::LEADER;
use teamlog_team::mode::rules::denial::session_option;
use teamlog_team::shell::quoted;

/// Returns a sentence for callers that cannot solve the problem themselves.
fn ask_operator(to: &str) -> Option<String> {
    Some(format!("ask the operator to {to}"))
}

/// Returns the hint after an error of a team.
pub(super) fn after(
    error: &CommandError,
    team: Option<&str>,
    caller: &Caller<'_>,
) -> Option<String> {
    let of_team = |team: String| {
        about_the_log(error, &team, caller)
            .or_else(|| about_tasks(error, &team, caller))
            .or_else(|| about_nouns(error, &team, caller))
            .or_else(|| about_the_outcome(error, &team, caller))
    };
    let hint = without_team(error, caller).or_else(|| of_team(quoted(team?)));
    if error.code() != "no_space" || error.is_unwritten() {
        return hint;
    }
    let room = "make room first, or raise the quota or the limit (ulimit -f); everything that only reads works meanwhile";
    Some(match hint {
        Some(hint) => format!("{hint}\n{room}"),
        None => room.to_owned(),
    })
}

/// Returns hints about damage, storage, and decisions of the operator.
fn about_the_log(error: &CommandError, team: &str, caller: &Caller<'_>) -> Option<String> {
    let command = |rest: String| Some(caller.command(&rest));
    match error.code() {
        // An error of `verify` already has a hint.
        "damaged" | "foreign_file" | "undecodable" if error.hint().is_none() => {
            match caller.is_remote() {
                true => ask_operator("check the log"),
                false => command(format!("verify {team}")),
            }
        }
        "not_permitted" if caller.is_sandboxed => Some(
            "teamlog guard exec keeps the data root read-only: type this outside of it, or ask the operator to start the daemon"
                .to_owned(),
        ),
        // Without a witness, only a receipt shows the rollback, and such a rollback cannot be accepted.
        "rolled_back" if caller.is_operator && error.detail("witness").is_some() => {
            Some(format!(
                "to look at what is there: {}\nto go on without the lost events: {}",
                caller.command(&format!("verify {team}")),
                caller.command(&format!("doctor repair {team} --accept-rollback"))
            ))
        }
        "rolled_back" | "cut_below_receipt" | "changed_since_receipt" => {
            let look = caller.command(&format!("verify {team}"));
            Some(format!(
                "nothing was written; tell the operator, and look at what is there: {look}"
            ))
        }
        "sync_failed" if caller.is_operator => Some(format!(
            "{}\n{}",
            caller.command("serve --stop"),
            caller.command("serve")
        )),
        "sync_failed" => ask_operator("restart the daemon of this data root"),
        "derived_unusable" if !caller.is_remote() => command(format!("rehydrate {team}")),
        "point_unknown" => Some(format!(
            "to see the newest events: {}",
            caller.command(&format!("replay {team} --reverse --limit 5"))
        )),
        "append_conflict" => {
            let seq = error.number("from_seq").unwrap_or_default();
            let replay = caller.command(&format!("replay {team} --from-seq {seq}"));
            Some(format!("to see what was recorded, and to decide again: {replay}"))
        }
        "log_replaced" => Some(format!(
            "to read the log that is there now: {}",
            caller.command(&format!("replay {team} --limit 5"))
        )),
        "backup_diverged" => Some(format!(
            "to look at the log: {}",
            caller.command(&format!("verify {team}"))
        )),
        "backup_not_found" => command("backup --help".to_owned()),
        "journal_behind" if caller.is_operator => Some(format!(
            "on the host that has most: {}",
            caller.command("journal heal --help")
        )),
        "journal_moved" if caller.is_operator => Some(format!(
            "to accept it: {}",
            caller.command("journal accept-system --help")
        )),
        "journal_not_durable" | "journal_of_another" | "journal_denied" if caller.is_operator => {
            Some(format!("to see more: {}", caller.command("journal check --help")))
        }
        "journal_not_configured" if caller.is_operator && error.says("unknown_kind") => {
            command(format!("journal leave {team} --offline"))
        }
        "journal_not_configured" if caller.is_operator => {
            Some(format!("to see how: {}", caller.command("journal create --help")))
        }
        "adoption_unfinished" if caller.is_operator => Some(format!(
            "on the host that began: {}",
            caller.command("journal adopt --help")
        )),
        "journal_refused" | "journal_trimmed" if caller.is_operator => {
            Some(caller.command("join --help"))
        }
        "not_in_journal" => {
            let journal = error.detail("journal").map(quoted).unwrap_or_default();
            let init = format!("init {team} --journal {journal}");
            missing::to_create("to begin it", &init, caller)
        }
        "team_not_found" => missing::team(team, error.has("known"), caller),
        "data_root_not_found" => {
            missing::to_create("to create it", &format!("init {team}"), caller)
        }
        _ => None,
    }
}

fn about_tasks(error: &CommandError, team: &str, caller: &Caller<'_>) -> Option<String> {
    let command = |rest: String| Some(caller.command(&rest));
    match error.code() {
        "task_not_found" => Some(format!(
            "list them with: {}",
            caller.command(&format!("tasks {team}"))
        )),
        "blocked_dependency" => command(format!("ready {team}")),
        "already_terminal" | "claim_conflict" | "invalid_transition" | "lease_expired"
        | "not_holder" | "resource_conflict" | "task_exists" | "version_conflict" => {
            let task = error.detail("task_id").map(quoted)?;
            let next = caller.command(&with_task(error, team, &task, caller));
            // The short forms refuse a second claim of one session, because the caller may mean the first claim.
            let reclaims = error.code() == "lease_expired" && next.contains(" task claim ");
            Some(match reclaims {
                true => format!("{next}\nthen finish it with the --epoch that the claim prints"),
                false => next,
            })
        }
        _ => None,
    }
}

/// Returns the next command about a task. Only the agent that holds or held the task gets a command that changes the
/// task.
fn with_task(error: &CommandError, team: &str, task: &str, caller: &Caller<'_>) -> String {
    let named = |detail: &str| {
        let agent = error.detail(detail)?;
        caller.is(agent).then(|| quoted(agent))
    };
    let own = error.number("epoch").filter(|_| error.says("yours"));
    match (error.code(), own) {
        ("claim_conflict", Some(epoch)) => match named("owner") {
            Some(owner) => format!("task renew {team} {task} --worker {owner} --epoch {epoch}"),
            None => format!("task show {team} {task}"),
        },
        ("already_terminal", _) if error.detail("status") == Some("failed") => {
            format!("task reopen {team} {task}")
        }
        ("invalid_transition", _) if error.detail("status") == Some("completed") => {
            format!("add SUBJECT --after {task}")
        }
        ("lease_expired", _) => match named("holder") {
            Some(holder) => format!("task claim {team} {task} --worker {holder}"),
            None => format!("task show {team} {task}"),
        },
        _ => format!("task show {team} {task}"),
    }
}

/// Returns hints about members, settings, mail, threads, artifacts, tokens, modes and bootstrap runs.
fn about_nouns(error: &CommandError, team: &str, caller: &Caller<'_>) -> Option<String> {
    let command = |rest: String| Some(caller.command(&rest));
    let listed = |rest: String| Some(format!("list them with: {}", caller.command(&rest)));
    match error.code() {
        "worker_not_found" => {
            // The leader is not a worker.
            let worker = error.detail("worker").filter(|worker| *worker != LEADER)?;
            let worker = quoted(worker);
            match caller.is_operator {
                true => Some(format!(
                    "to add it: {}",
                    caller.command(&format!("init {team} --members {worker}"))
                )),
                false => ask_operator("add it to the team"),
            }
        }
        "budget_exceeded" => match caller.is_operator {
            true => Some(format!("for more: {}", caller.command("usage --help"))),
            false => ask_operator("raise the budget"),
        },
        "setting_unknown" => command(format!("config list {team}")),
        "dead_letter_not_found" | "delivery_open" | "already_acked" => {
            command(format!("dead-letter list {team}"))
        }
        // Only the recipient can acknowledge a message, so the caller is shown its own messages.
        "not_found" | "wrong_recipient" => {
            let agent = caller.agent.as_deref().map(quoted)?;
            command(format!("read {team} --agent {agent}"))
        }
        "thread_not_found" => listed(format!("thread search {team}")),
        "subscription_not_found" => listed(format!("subscription list {team}")),
        "projection_not_found" => listed(format!("project list {team}")),
        "event_not_parked" | "subscription_exists" => {
            let name = error.detail("name").map(quoted)?;
            command(format!("subscription show {team} {name}"))
        }
        "subscription_damaged" if caller.is_operator => {
            let name = error.detail("name").map(quoted)?;
            Some(format!(
                "to delete it: {}",
                caller.command(&format!("subscription delete {team} {name}"))
            ))
        }
        "artifact_not_found" => listed(format!("artifact list {team}")),
        "token_not_found" if caller.is_operator => listed(format!("token list {team}")),
        "run_not_found" if caller.leads() => Some(format!(
            "to begin one: {}",
            caller.command(&format!("bootstrap start {team}"))
        )),
        "run_not_found" => listed(format!("bootstrap list {team}")),
        "run_exists" | "not_launched" => command(format!("bootstrap show {team}")),
        "team_closed" if caller.is_operator && caller.agent.is_none() => Some(format!(
            "to delete it: {}",
            caller.command(&format!("purge {team} --yes"))
        )),
        "team_closed" => Some(format!(
            "to see how it ended: {}",
            caller.command(&format!("status {team}"))
        )),
        "team_open" if caller.is_operator => Some(format!(
            "to close it: {}",
            caller.command(&format!("close {team}"))
        )),
        "team_open" => ask_operator("close the team"),
        "too_large" if !matches!(error.field(), Some("batch" | "name")) => Some(format!(
            "to share a long text: {}",
            caller.command("artifact put --help")
        )),
        "shutdown_gate_blocked" => Some(format!(
            "to see the unfinished tasks: {}",
            caller.command(&format!("list {team}"))
        )),
        "mode_denied" | "mode_not_found" => {
            let session = session(error);
            let typed = typed_here(&caller.program, error.message());
            typed.or_else(|| match error.hint() {
                Some(_) => None,
                None => command(format!("mode list {team}{session}")),
            })
        }
        "mode_not_active" => {
            let mode = error.detail("mode").map(quoted)?;
            command(format!("mode start {team} {mode}{}", session(error)))
        }
        _ => None,
    }
}

fn session(error: &CommandError) -> String {
    let session = error.detail("session_id").map(session_option);
    session.unwrap_or_default()
}

/// Returns hints about the daemon, locks and receipts, which name no team.
fn without_team(error: &CommandError, caller: &Caller<'_>) -> Option<String> {
    match error.code() {
        "daemon_not_running" if error.hint().is_some() => None,
        "daemon_not_running" if caller.is_operator => {
            Some(format!("to start one: {}", caller.command("serve")))
        }
        "daemon_not_running" => ask_operator("start the daemon of this data root"),
        "signature_missing" | "signature_invalid" => Some(format!(
            "to print a signed receipt: {}",
            caller.command("head --help")
        )),
        "locked" => Some(locked(error, caller)),
        "daemon_version_mismatch" if caller.is_remote() => None,
        "daemon_version_mismatch" if caller.is_operator => Some(format!(
            "restart the daemon with this program:\n{}\n{}",
            caller.command("serve --stop"),
            caller.command("serve")
        )),
        "daemon_version_mismatch" => ask_operator("restart the daemon with this program"),
        "daemon_unreachable" if !caller.is_remote() && error.hint().is_none() => {
            Some(caller.command("serve --status"))
        }
        "already_served" => Some(format!("to see it: {}", caller.command("serve --status"))),
        _ => None,
    }
}

/// Returns the hint for a lock that another process holds. If the team's daemon holds the lock, the data root was
/// moved: otherwise the daemon would have carried out the command.
fn locked(error: &CommandError, caller: &Caller<'_>) -> String {
    let holder = error.detail("holder").unwrap_or_default();
    let is_daemon = |pid: &u32| holder.starts_with(&format!("pid {pid} "));
    let Some(pid) = caller.daemon.filter(is_daemon) else {
        return "try again, or wait longer with --lock-timeout 60; the lock ends with the process that holds it, and deleting the file does not release it".to_owned();
    };
    let known = format!(
        "the daemon of this data root (pid {pid}) has the log open under another path: move the directory back, or restart the daemon"
    );
    match caller.is_operator {
        true => format!("{known}\n{}", caller.command("serve --stop")),
        false => known,
    }
}

/// Returns hints after an unknown outcome.
fn about_the_outcome(error: &CommandError, team: &str, caller: &Caller<'_>) -> Option<String> {
    let repeat = caller.repeat?;
    let look = caller.command(&format!("replay {team} --reverse --limit 5 --json"));
    match error.code() {
        // The client of the daemon has already added a hint about repeating the command.
        "outcome_unknown" if !repeat.is_safe() => Some(look),
        "outcome_unknown" => None,
        "lock_lost" if error.hint().is_none() => Some(format!(
            "deleting the lock file does not release the lock\n{}",
            unknown_outcome(repeat, &look)
        )),
        _ if error.exit() == Exit::Io && error.hint().is_none() => {
            Some(unknown_outcome(repeat, &look))
        }
        _ => None,
    }
}

fn unknown_outcome(repeat: Repeat, look: &str) -> String {
    match repeat.is_safe() {
        true => "it is unknown whether the command was recorded; repeat the same command: if it was recorded, the repeat changes nothing".to_owned(),
        false => format!("it is unknown whether the command was recorded; check before you repeat it:\n{look}"),
    }
}
/// Returns the commands in `text`, rewritten for the program and data root of this command line. Returns `None` if there are
/// no commands or they work unchanged.
pub fn typed_here(program: &str, text: &str) -> Option<String> {
    if program == Called::Rcs.name() {
        return None;
    }
    let quoted = text.split('`').skip(1).step_by(2);
    let named = quoted.filter_map(|words| words.strip_prefix("rcs state clear --"));
    let typed: Vec<String> = named
        .map(|options| format!("`{program} state clear --{options}`"))
        .collect();
    (!typed.is_empty()).then(|| format!("typed here: {}", typed.join(" and ")))
}

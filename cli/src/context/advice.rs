//! What to try next, for each error that a team may answer with.

use super::Context;
use crate::exit::{CommandError, Exit};
use crate::fence::VARIABLE;
use crate::link::Called;
use teamlog_team::lifecycle::membership::LEADER;
use teamlog_team::mode::rules::denial::session_option;
use teamlog_team::shell::quoted;

impl Context {
    /// The error with what to try next on the team concerned.
    pub fn advise(&self, error: CommandError) -> CommandError {
        if error.code() == "no_space" && !error.is_unwritten() {
            return self.advised(error).and_hint(
                "make room first, or raise the quota or the limit (ulimit -f); everything that only reads works meanwhile",
            );
        }
        self.advised(error)
    }

    fn advised(&self, error: CommandError) -> CommandError {
        let Some(team) = self.team.as_deref().map(quoted) else {
            return error;
        };
        let error = error.filling("TEAM", &team);
        let command = |rest: String| self.command(&rest);
        match error.code() {
            "damaged" | "foreign_file" | "undecodable" => {
                error.or_hint(command(format!("verify {team}")))
            }
            "not_permitted" if self.env.var(VARIABLE).is_some() => error.or_hint(format!(
                "teamlog guard exec keeps the data root read-only: type this outside of it, or first start the daemon: {}",
                self.command("serve")
            )),
            "rolled_back" | "cut_below_receipt" | "changed_since_receipt" => error.or_hint(format!(
                "nothing was written; look at what is there: {}",
                command(format!("verify {team} --against RECEIPT"))
            )),
            "sync_failed" => error.hinting(format!(
                "{}\n{}",
                self.command("serve --stop"),
                self.command("serve")
            )),
            "derived_unusable" => error.or_hint(command(format!("rehydrate {team}"))),
            "worker_not_found" => match error.detail("worker").map(str::to_owned) {
                // The leader of every team is none who works.
                Some(worker) if worker != LEADER => error.and_hint(&format!(
                    "to add it: {}",
                    command(format!("init {team} --members {}", quoted(&worker)))
                )),
                _ => error,
            },
            "setting_unknown" => error.and_hint(&command(format!("config list {team}"))),
            "dead_letter_not_found" | "delivery_open" | "already_acked" => {
                error.or_hint(command(format!("dead-letter list {team}")))
            }
            "task_not_found" => error.hinting(format!(
                "list them with: {}",
                command(format!("tasks {team}"))
            )),
            "run_not_found" => error.hinting(format!(
                "to begin one: {}",
                command(format!("bootstrap start {team}"))
            )),
            "run_exists" | "not_launched" => {
                error.and_hint(&command(format!("bootstrap show {team}")))
            }
            "team_closed" => error.and_hint(&format!(
                "to delete it: {}",
                command(format!("purge {team} --yes"))
            )),
            "mode_denied" | "mode_not_found" => {
                let session = error
                    .detail("session_id")
                    .map(session_option)
                    .unwrap_or_default();
                let error = match typed_here(&self.program(), error.message()) {
                    Some(typed) => error.and_hint(&typed),
                    None => error,
                };
                error.or_hint(command(format!("mode list {team}{session}")))
            }
            "blocked_dependency" => error.or_hint(command(format!("ready {team}"))),
            "already_terminal" | "claim_conflict" | "invalid_transition" | "lease_expired"
            | "not_holder" | "resource_conflict" | "task_exists" | "version_conflict" => {
                match error.detail("task_id").map(quoted) {
                    Some(task) => {
                        let next = command(about_task(&error, &team, &task));
                        error.and_hint(&next)
                    }
                    None => error,
                }
            }
            "team_not_found" => {
                let root = self.data_root().map(|root| root.display().to_string());
                let error =
                    error.and_hint(&format!("the data root is {}", root.unwrap_or_default()));
                error.and_hint(&self.to_create("to create it", &format!("init {team}")))
            }
            "data_root_not_found" => {
                error.or_hint(self.to_create("to create it", &format!("init {team}")))
            }
            "lock_lost" if error.hint().is_none() => {
                let frees = "deleting the lock file frees nothing";
                let error = error.hinting(frees);
                match self.if_unknown(&team) {
                    Some(next) => error.and_hint(&next),
                    None => error,
                }
            }
            _ if error.exit() == Exit::Io && error.hint().is_none() => match self.if_unknown(&team)
            {
                Some(next) => error.hinting(next),
                None => error,
            },
            _ => error,
        }
    }

    /// What to do where it is unknown whether the command was recorded, if it would have been.
    fn if_unknown(&self, team: &str) -> Option<String> {
        if self.repeat?.is_safe() {
            let advice = "whether it was recorded is unknown; type the same again: what is recorded already changes nothing";
            return Some(advice.to_owned());
        }
        let look = self.command(&format!("replay {team} --reverse --limit 5 --json"));
        Some(format!(
            "whether it was recorded is unknown; look before you repeat it:\n{look}"
        ))
    }
}

/// What leads on with a task about which a command was refused.
fn about_task(error: &CommandError, team: &str, task: &str) -> String {
    let own = error.number("epoch").filter(|_| error.says("yours"));
    match (error.code(), own, error.detail("owner").map(quoted)) {
        ("claim_conflict", Some(epoch), Some(owner)) => {
            format!("task renew {team} {task} --worker {owner} --epoch {epoch}")
        }
        ("already_terminal", _, _) if error.detail("status") == Some("failed") => {
            format!("task reopen {team} {task}")
        }
        ("lease_expired", _, _) => match error.detail("holder").map(quoted) {
            Some(holder) => format!("task claim {team} {task} --worker {holder}"),
            None => format!("task show {team} {task}"),
        },
        _ => format!("task show {team} {task}"),
    }
}

/// The commands of the link that a text of the contract names, as they have to be typed here; `None` where they work as they
/// stand, or there are none.
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

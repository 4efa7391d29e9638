//! Hints: the commands that lead on after an error, for the caller and the place that the failed command came from.
//!
//! [`after`] is the only source of commands that errors name. Errors say what failed ([`Cause`]); an explanation without a
//! command stays beside the rule that refuses. No command from here acts as another agent than the caller, creates a team
//! while a data root may lie elsewhere, or needs rights that the caller lacks: decisions of the operator are named to the
//! operator alone. If a caller still has to choose a value, the hint names the help of the command.
//!
//! | file | owns |
//! |---|---|
//! | `reported` | causes that an error's code and details tell |
//! | `missing` | teams and data roots that are missing |

mod missing;
mod reported;

pub use reported::typed_here;

use crate::exit::CommandError;
use crate::forward::Repeat;
use std::path::PathBuf;
use teamlog_team::lifecycle::membership::LEADER;
use teamlog_team::shell::quoted;

/// The caller of the command that failed.
pub struct Caller<'a> {
    /// The agent that acts, if one is named by an option, the environment or a token.
    pub agent: Option<String>,
    /// True for a person at the machine of the data root: neither `--actor` nor the environment names an agent.
    pub is_operator: bool,
    /// The beginning of each command: the program, and the data root if an option named it.
    pub program: String,
    pub place: Place<'a>,
    /// True below `teamlog guard exec`, which keeps the data root read-only.
    pub is_sandboxed: bool,
    /// The process of the daemon that left its mark in the team's directory.
    pub daemon: Option<u32>,
    /// How the failed command may be repeated, if it records anything.
    pub repeat: Option<Repeat>,
}

/// The place that the command came from.
pub enum Place<'a> {
    /// The machine of the data root.
    Local {
        data_root: PathBuf,
        /// True if an option or a variable named the data root, or one was found.
        is_certain: bool,
        /// Looks for other data roots that may be meant.
        others: Box<dyn Fn() -> Vec<PathBuf> + 'a>,
    },
    /// Another machine than that of the daemon.
    Remote,
}

/// Cause of a failure, with what a hint needs.
pub enum Cause<'a> {
    /// A command of a team, as the code and details of the error tell.
    Reported {
        error: &'a CommandError,
        team: Option<&'a str>,
    },
    /// No team was named, and the data root has none.
    NoTeamYet,
    /// A command that destroys something lacks its `--yes`; the whole command.
    Unconfirmed(String),
    /// `verify` cannot open the log of that team.
    Unreadable(&'a str),
    /// The guard denied a write.
    WriteDenied {
        team: &'a str,
        agent: &'a str,
        /// True if the setting `resources.root` is missing.
        is_rootless: bool,
        /// The agent that holds a path, if one does.
        holder: Option<&'a str>,
    },
    /// A backup or the notes of other hosts do not cover what a journal is to forget.
    NotCovered { team: &'a str, backup: &'a str },
    /// The journal lacks what the command needs; its name.
    NoJournalThere(&'a str),
    /// A command that lists the values to choose from.
    ListedBy(&'a str),
    /// The first words of a command, of which the caller has to read the help.
    HelpOf(&'a str),
    /// One directory has hooks for one agent, and a second agent is to be set up: the commands that set up all agents.
    ManyAgents {
        agent: Option<&'a str>,
        commands: Vec<String>,
    },
}

impl Caller<'_> {
    /// Returns a command as it has to be typed.
    fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.program)
    }

    fn is_remote(&self) -> bool {
        matches!(self.place, Place::Remote)
    }

    /// Returns whether the caller may decide for the team: its leader, or a person at the machine.
    fn leads(&self) -> bool {
        self.is_operator || self.agent.as_deref() == Some(LEADER)
    }

    fn is(&self, agent: &str) -> bool {
        self.agent.as_deref() == Some(agent)
    }
}

/// Returns what leads on after a failure, if anything does.
pub fn after(cause: &Cause<'_>, caller: &Caller<'_>) -> Option<String> {
    match cause {
        Cause::Reported { error, team } => reported::after(error, *team, caller),
        Cause::NoTeamYet => missing::to_create("to create one", "init TEAM", caller),
        Cause::Unconfirmed(command) => Some(caller.command(command)),
        Cause::Unreadable(team) if caller.is_operator => Some(format!(
            "restore the team's directory from a backup, or take what can be read: {}",
            caller.command(&format!("rehydrate {} --salvage", quoted(team)))
        )),
        Cause::Unreadable(_) => Some("ask the operator to restore the team's directory".to_owned()),
        Cause::WriteDenied {
            team,
            agent,
            is_rootless,
            holder,
        } => match (is_rootless, holder) {
            (true, _) => Some(format!(
                "the team has to know which directory it works in: {}",
                caller.command("config set --help")
            )),
            (false, Some(holder)) => Some(format!(
                "wait until {holder} has finished, or ask {holder}; to see the task: {}",
                caller.command(&format!(
                    "tasks {} --owner {}",
                    quoted(team),
                    quoted(holder)
                ))
            )),
            (false, None) => Some(format!(
                "claim a task that declares it: {}",
                caller.command(&format!("ready {} --agent {}", quoted(team), quoted(agent)))
            )),
        },
        Cause::NotCovered { team, backup } => {
            Some(caller.command(&format!("backup {} {}", quoted(team), quoted(backup))))
        }
        Cause::NoJournalThere(journal) => {
            let make = caller.command(&format!("journal create {}", quoted(journal)));
            Some(format!("to make it: {make}"))
        }
        Cause::ListedBy(words) => Some(caller.command(words)),
        Cause::HelpOf(words) => Some(caller.command(&format!("{words} --help"))),
        Cause::ManyAgents { agent, commands } => {
            let mut lines = vec![format!(
                "say who acts in the environment of each agent, and install the hooks once for all of them:\nexport TEAMLOG_AGENT={}",
                quoted(agent.unwrap_or("NAME"))
            )];
            lines.extend(commands.iter().map(|command| caller.command(command)));
            Some(lines.join("\n"))
        }
    }
}

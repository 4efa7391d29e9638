//! Hints: the next commands after an error, for the caller and the place of the failed command.
//!
//! [`after`] is the only source of commands that errors name. Errors say what failed ([`Cause`]); an explanation
//! without a command stays beside the rule that refuses. No command from here acts as another agent than the caller,
//! creates a team while a data root may lie elsewhere, or needs rights that the caller lacks. Decisions of the operator
//! are named to the operator only. If the caller has to choose a value, the hint names the help of the command.
//!
//! | file | owns |
//! |---|---|
//! | `reported` | causes that follow from an error's code and details |
//! | `missing` | missing teams and data roots |

mod missing;
mod reported;

pub use reported::typed_here;

use crate::exit::CommandError;
use crate::forward::Repeat;
use std::path::PathBuf;
use teamlog_team::lifecycle::membership::LEADER;
use teamlog_team::shell::quoted;

/// Caller of the failed command.
pub struct Caller<'a> {
    /// The acting agent, if an option, the environment or a token names one.
    pub agent: Option<String>,
    /// True for a person at the machine of the data root: neither `--actor` nor the environment names an agent.
    pub is_operator: bool,
    /// The beginning of each command: the program, and the data root if an option named it.
    pub program: String,
    pub place: Place<'a>,
    /// True below `teamlog guard exec`, which keeps the data root read-only.
    pub is_sandboxed: bool,
    /// Process id of the daemon whose `runtime.json` is in the team's directory.
    pub daemon: Option<u32>,
    /// Effect of repeating the failed command, if the command records anything.
    pub repeat: Option<Repeat>,
}

/// Place of the command.
pub enum Place<'a> {
    /// The machine of the data root.
    Local {
        data_root: PathBuf,
        /// True if an option or a variable named the data root, or one was found.
        is_certain: bool,
        /// Looks for other data roots that may be meant.
        others: Box<dyn Fn() -> Vec<PathBuf> + 'a>,
    },
    /// Another machine than the daemon's.
    Remote,
}

/// Cause of a failure.
pub enum Cause<'a> {
    /// A failed command of a team; the error has its code and details.
    Reported {
        error: &'a CommandError,
        team: Option<&'a str>,
    },
    /// No team was named, and the data root has none.
    NoTeamYet,
    /// A destructive command without its `--yes`: the whole command.
    Unconfirmed(String),
    /// `verify` cannot open the log of that team.
    Unreadable(&'a str),
    /// A write that the guard denied.
    WriteDenied {
        team: &'a str,
        agent: &'a str,
        /// True if the setting `resources.root` is missing.
        is_rootless: bool,
        /// The agent that holds a path, if one does.
        holder: Option<&'a str>,
    },
    /// Events to trim from a journal that the backup or the other hosts do not have.
    NotCovered { team: &'a str, backup: &'a str },
    /// A journal that does not exist or has no tables: its name.
    NoJournalThere(&'a str),
    /// A value that this command lists.
    ListedBy(&'a str),
    /// A command whose help explains the value: its first words.
    HelpOf(&'a str),
    /// A directory with hooks for one agent in which a second agent is set up: the commands that set up both.
    ManyAgents {
        agent: Option<&'a str>,
        commands: Vec<String>,
    },
}

impl Caller<'_> {
    /// Returns a command line for the caller's program and data root.
    fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.program)
    }

    fn is_remote(&self) -> bool {
        matches!(self.place, Place::Remote)
    }

    /// Returns true if the caller may decide for the team: its leader, or a person at the machine.
    fn leads(&self) -> bool {
        self.is_operator || self.agent.as_deref() == Some(LEADER)
    }

    fn is(&self, agent: &str) -> bool {
        self.agent.as_deref() == Some(agent)
    }
}

/// Returns the hint after a failure, if there is one.
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

//! Hints: the next commands after an error, for the caller and location of the failed command.
//!
//! Only [`after`] adds commands to errors. Errors say what failed ([`Cause`]); an explanation without a command stays beside
//! the rule that refuses. No hint acts as another agent than the caller, creates a team while the data root may be
//! elsewhere, or needs rights that the caller lacks. A hint names a decision of the operator only to the operator. If the
//! caller has to choose a value, the hint names the help of the command.
//!
//! | file | owns |
//! |---|---|
//! | `reported` | causes that follow from the code and the details of an error |
//! | `missing` | missing teams and data roots |
//! | `mistyped` | command lines that were probably meant |

mod missing;
pub mod mistyped;
mod reported;

pub use reported::typed_here;

use crate::exit::CommandError;
use crate::forward::Repeat;
use std::path::PathBuf;
use teamlog_team::lifecycle::membership::LEADER;
use teamlog_team::shell::quoted;

/// The caller of the failed command.
pub struct Caller<'a> {
    /// The acting agent, if an option, the environment or a token names one.
    pub agent: Option<String>,
    /// True for a person at the machine of the data root. The caller is a person if neither `--actor` nor the environment names
    /// an agent.
    pub is_operator: bool,
    /// Beginning of each command: the program, and the data root if an option named it.
    pub program: String,
    pub place: Place<'a>,
    /// True inside of `teamlog guard exec`, where the data root is read-only.
    pub is_sandboxed: bool,
    /// Process id of the daemon that `runtime.json` of the team names.
    pub daemon: Option<u32>,
    /// Effect of repeating the failed command, if the command records anything.
    pub repeat: Option<Repeat>,
}

/// Machine on which the command ran.
pub enum Place<'a> {
    /// The command ran on the machine of the data root.
    Local {
        data_root: PathBuf,
        /// True if an option or a variable named the data root, or if the search found a data root.
        is_certain: bool,
        /// Searches for other data roots that the caller may mean.
        others: Box<dyn Fn() -> Vec<PathBuf> + 'a>,
    },
    /// The command ran on another machine than the daemon.
    Remote,
}

/// Cause of a failure.
pub enum Cause<'a> {
    /// A command on a team failed. The error has its code and details.
    Reported {
        error: &'a CommandError,
        team: Option<&'a str>,
    },
    /// No team was named, and the data root has no team.
    NoTeamYet,
    /// A destructive command lacks `--yes`. The text is the command with `--yes`.
    Unconfirmed(String),
    /// `verify` cannot open the log of this team.
    Unreadable(&'a str),
    /// The guard denied a write.
    WriteDenied {
        team: &'a str,
        agent: &'a str,
        /// True if the setting `resources.root` is missing.
        is_rootless: bool,
        /// The agent that holds a denied path, if any.
        holder: Option<&'a str>,
    },
    /// The backup or the other hosts lack events that would be trimmed from a journal.
    NotCovered { team: &'a str, backup: &'a str },
    /// The journal with this name does not exist or has no tables.
    NoJournalThere(&'a str),
    /// The value is invalid. This command lists the valid values.
    ListedBy(&'a str),
    /// The value is invalid. The help of this command explains the value; the text has the first words of the command.
    HelpOf(&'a str),
    /// A second agent is set up in a directory whose hooks name one agent. The texts are the commands that set up both agents.
    ManyAgents {
        agent: Option<&'a str>,
        commands: Vec<String>,
    },
}

impl Caller<'_> {
    /// Returns a command line with the caller's program and data root.
    fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.program)
    }

    fn is_remote(&self) -> bool {
        matches!(self.place, Place::Remote)
    }

    /// Returns true if the caller may decide for the team: the team's leader, or a person at the machine.
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
            (true, _) if caller.is_remote() => Some(
                "name the repository of this machine in the command of the hook: --root DIR"
                    .to_owned(),
            ),
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

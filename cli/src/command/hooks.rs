//! `hooks`: installs and checks the hook with which a coding agent asks `teamlog guard` before each write.

mod doctor;
mod install;

use crate::agents::Agent;
use crate::command::prelude::*;
pub use doctor::PROBE;
use doctor::{Doctor, HooksDoctorAnswer};
use install::{HooksAnswer, Install};

subcommands! {
    INSTALL = own(
        answer::<HooksAnswer>("install"),
        "Make a coding agent ask the guard before it writes; without --write only show what would be done",
        Install::run,
    );
    DOCTOR = own(
        answer::<HooksDoctorAnswer>("doctor"),
        "Check that a coding agent's hook is installed, and that it denies a write that must be denied",
        Doctor::run,
    );
}

// The location of an agent's hooks. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Place {
    /// The project directory [default: the working directory]
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    pub dir: Option<PathBuf>,
    /// Use the user's own configuration, which applies to all projects
    #[arg(long)]
    pub user: bool,
}

/// Returns the step that the user must take before the agent runs an installed hook, if there is one.
pub fn trust(whose: Agent) -> Option<&'static str> {
    (whose == Agent::Codex).then_some(
        "Codex skips new and changed hooks without a word until you trust them: type /hooks in Codex, and review them there",
    )
}

//! `hooks`: what makes a coding agent ask `teamlog guard` before it writes, and whether it does.

mod doctor;
mod install;

use crate::agents::Agent;
use crate::command::printed::answer;
pub use doctor::PROBE;
use doctor::{Doctor, HooksDoctorAnswer};
use install::{HooksAnswer, Install};
use std::path::PathBuf;

actions! {
    Install = "install", answer::<HooksAnswer>;
    Doctor = "doctor", answer::<HooksDoctorAnswer>;
}

// Agent hooks, and where they are. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Place {
    /// The project whose configuration it is [default: the working directory]
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    pub dir: Option<PathBuf>,
    /// The user's own configuration, for all projects
    #[arg(long)]
    pub user: bool,
}

/// What has to be done in the agent before it runs what is installed.
pub fn trust(whose: Agent) -> Option<&'static str> {
    (whose == Agent::Codex).then_some(
        "Codex skips new and changed hooks without a word until you trust them: type /hooks in Codex, and review them there",
    )
}

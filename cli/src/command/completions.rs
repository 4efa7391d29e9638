//! `completions`: the few lines that make a shell ask teamlog what may come next.

use crate::command::prelude::*;
use crate::complete;
use clap::builder::PossibleValuesParser;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print the lines that make a shell complete teamlog's arguments\n\nThey ask teamlog itself, so that \
        teams, agents, tasks, messages and traces that exist are offered. Load them at the start of each shell, so \
        that they fit the installed version.",
    after_help = "\
Examples:
  teamlog completions bash > teamlog.bash
  teamlog completions zsh > _teamlog
  teamlog completions fish > teamlog.fish

To load them:
  bash         in ~/.bashrc:                     source <(teamlog completions bash)
  zsh          in ~/.zshrc, behind compinit:     source <(teamlog completions zsh)
  fish         in ~/.config/fish/config.fish:    teamlog completions fish | source
  elvish       in ~/.config/elvish/rc.elv:       eval (teamlog completions elvish | slurp)
  powershell   in $PROFILE:                      teamlog completions powershell | Out-String | Invoke-Expression"
)]
pub struct Args {
    /// The shell
    #[arg(value_parser = PossibleValuesParser::new(complete::SHELLS))]
    shell: String,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut script = Vec::new();
        complete::registration(&self.shell, &mut script)
            .map_err(|error| CommandError::io("write", "standard output", &error))?;
        context.out.text(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}

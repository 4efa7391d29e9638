//! `completions`: generates shell completions.

use crate::command::prelude::*;
use crate::complete;
use clap::builder::PossibleValuesParser;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Generate shell completions\n\nThe completions call teamlog, so that they offer existing teams, \
        agents, tasks, messages and traces. Load them at the start of each shell, so that they match the installed \
        version.",
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

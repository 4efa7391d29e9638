//! `prime`: prints a briefing for an agent that starts.
//!
//! Has arguments of its own, because `--hook` reads an event from standard input and answers in the form of that hook.

mod hook;

use crate::command::prelude::*;
use teamlog_team::message::prime::Prime;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show an agent's briefing, in fewer than 2,000 tokens\n\nIts tasks, what blocks them, tasks that it \
        can claim, its unread messages and posts, news of its tasks, and the commands that come next. For a leader \
        also the state of the team: open decisions, blocked tasks and why, holders, and tasks finished since its \
        last command. A shortened list says how many entries there are.\n\nWith --hook, reads an agent's hook event \
        from standard input and answers in the form of that hook: JSON for SessionStart and SubagentStart (which \
        also registers the subagent); for SubagentStop a reason to continue if the subagent still holds tasks; plain \
        text for other events.",
    after_help = "\
Examples:
  teamlog prime demo --agent dev
  teamlog prime demo --agent dev --json
  echo '{\"hook_event_name\":\"SessionStart\"}' | teamlog prime demo --agent dev --hook"
)]
pub struct Args {
    /// The team
    team: String,
    /// The agent [default: the acting agent]
    #[arg(long)]
    agent: Option<String>,
    #[command(flatten)]
    at: Past,
    /// Read the JSON of an agent's hook from standard input, and answer in that hook's form
    #[arg(long, conflicts_with = "at")]
    hook: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        if self.hook {
            return hook::answer(context, &self.team, self.agent);
        }
        let agent = context.agent("--agent", self.agent)?;
        let mut answer = context.read_at(&self.team, self.at, Prime { agent })?;
        context.own_commands(&mut answer.commands);
        context.end(Exit::Done, &answer, render::hand::primed)
    }
}

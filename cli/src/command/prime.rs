//! `prime`: what an agent should know when it wakes.

mod hook;

use crate::command::prelude::*;
use teamlog_team::message::prime::Prime;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show what an agent should know when it wakes, in fewer than 2,000 tokens\n\nIts tasks, what blocks them, \
        what it can take up, its unread mail and posts, news of its tasks, and what to type next. For a leader also the state of the \
        team: what is to decide, what is blocked and why, who holds what, what finished since its last command. Lists that do not fit say how many there are in all.\n\n\
        With --hook the event of an agent's hook stands on standard input, and the answer is what that hook takes: JSON for \
        SessionStart and SubagentStart, which also registers the subagent; for SubagentStop a reason to go on if the subagent \
        still holds tasks; the bare text for any other.",
    after_help = "\
Examples:
  teamlog prime demo --agent dev
  teamlog prime demo --agent dev --json
  echo '{\"hook_event_name\":\"SessionStart\"}' | teamlog prime demo --agent dev --hook"
)]
pub struct Args {
    /// The team
    team: String,
    /// Who wakes [default: who is acting]
    #[arg(long)]
    agent: Option<String>,
    #[command(flatten)]
    at: Past,
    /// Take the JSON of an agent's hook, and answer as that hook does
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

//! `prime`: what an agent should know when it wakes.

use crate::agents::event::{ContextAnswer, HookEvent};
use crate::command::prelude::*;
use crate::render::style::Paint;
use teamlog_team::message::prime::Prime;
use teamlog_team::message::prime::PrimeAnswer;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show what an agent should know when it wakes, in fewer than 2,000 tokens\n\nIts tasks, what blocks them, \
        what it can take up, its unread mail, and what to type next. Lists that do not fit say how many there are in all.\n\n\
        With --hook the event of an agent's hook stands on standard input, and the answer is what that hook takes: JSON for \
        SessionStart, the bare text for any other.",
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

const START: &str = "SessionStart";

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let agent = context.agent("--agent", self.agent)?;
        let told = self.hook.then(|| HookEvent::read(context)).transpose()?;
        let input = Prime { agent };
        let own = |answer: &mut PrimeAnswer, context: &Context| {
            context.own_commands(&mut answer.commands);
        };
        let Some(told) = told else {
            return context.ask_tuned(&self.team, self.at, &question::PRIME, input, own);
        };
        // As the hook takes it: not for a terminal.
        let plain = View {
            paint: Paint::new(false),
            width: None,
            ..context.view()
        };
        let lines = context.lines(&self.team, self.at, &question::PRIME, input, (plain, own))?;
        // Before a compaction agents take no JSON that adds anything, but may heed a text.
        match told.event == START || context.out.is_json() {
            true => context
                .out
                .json(&ContextAnswer::of(START, lines.join("\n")))?,
            false => context.out.lines(&lines)?,
        }
        context.ended(Exit::Done)
    }
}

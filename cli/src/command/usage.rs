//! `usage`: shows and reports used tokens, and sets the token budget.

use crate::command::prelude::*;
use crate::render::usage;
use teamlog_team::usage::report::{ReportUsage, SetBudget, Usage};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show the used tokens and the budget of a team, report tokens, or set the budget\n\nA budget is set as a \
        whole: absent limits are removed. With --hard-limit, no new work begins after the budget is used up (no task is \
        created or claimed, no thread started, no message sent); work in progress can be finished.",
    after_help = "\
Examples:
  teamlog usage demo
  teamlog usage demo --at 3
  teamlog usage demo --report --agent dev --task-id 7 --input-tokens 1200 --output-tokens 300
  teamlog usage demo --set --max-tokens 1000000 --soft-limit 800000 --hard-limit"
)]
pub struct Args {
    /// The team
    team: String,
    /// Report tokens that an agent used
    #[arg(long, conflicts_with = "at")]
    report: bool,
    /// Set the budget
    #[arg(long, conflicts_with_all = ["report", "at"])]
    set: bool,
    /// Remove the budget
    #[arg(long, requires = "set", conflicts_with_all = ["max_tokens", "soft_limit_tokens", "per_agent_tokens"])]
    none: bool,
    #[command(flatten)]
    shown: Usage,
    #[command(flatten)]
    used: ReportUsage,
    #[command(flatten)]
    budget: SetBudget,
    #[command(flatten)]
    at: Past,
    #[command(flatten)]
    stamp: Stamp,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let Args {
            team,
            shown,
            at,
            stamp,
            ..
        } = self;
        match (self.report, self.set) {
            (true, _) => {
                let used = ReportUsage {
                    worker: context.agent("--agent", shown.worker)?,
                    task_id: shown.task_id,
                    ..self.used
                };
                stamp.carry_out(context, &team, used, usage::card)
            }
            (_, true) if self.budget == SetBudget::default() && !self.none => {
                let message = "no limit to set: pass --max-tokens, --soft-limit or --per-agent, or --none to remove the budget";
                Err(CommandError::usage(message))
            }
            (_, true) => stamp.carry_out(context, &team, self.budget, usage::card),
            _ => context.show_at(&team, at, shown, usage::card),
        }
    }
}

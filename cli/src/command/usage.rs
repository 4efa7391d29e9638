//! `usage`: tokens that agents used, and how many they may.

use crate::command::prelude::*;
use crate::render::usage;
use teamlog_team::usage::report::{ReportUsage, SetBudget, Usage};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show how many tokens a team used and may use; report some, or set the budget\n\nA budget is set as a \
        whole: what is not given is not limited. With --hard-limit nothing new is begun once it is used up (no task is \
        created or claimed, no thread started, no message sent); what is under way can be finished.",
    after_help = "\
Examples:
  teamlog usage demo
  teamlog usage demo --report --agent dev --task-id 7 --input-tokens 1200 --output-tokens 300
  teamlog usage demo --set --max-tokens 1000000 --soft-limit 800000 --hard-limit"
)]
pub struct Args {
    /// The team
    team: String,
    /// Report tokens that an agent used
    #[arg(long)]
    report: bool,
    /// Set the budget
    #[arg(long, conflicts_with = "report")]
    set: bool,
    /// Who used them [default with --report: who is acting]; else show only that agent's
    #[arg(long, value_name = "AGENT", conflicts_with = "set")]
    agent: Option<String>,
    /// The task that they were used for; else show those for that task too
    #[arg(long, value_name = "TASK", conflicts_with = "set")]
    task_id: Option<String>,
    /// Tokens read
    #[arg(long, value_name = "N", requires = "report", value_parser = super::whole::<u64>)]
    input_tokens: Option<u64>,
    /// Tokens written
    #[arg(long, value_name = "N", requires = "report", value_parser = super::whole::<u64>)]
    output_tokens: Option<u64>,
    /// All of them [default: the sum of those]
    #[arg(long, value_name = "N", requires = "report", value_parser = super::whole::<u64>)]
    tokens: Option<u64>,
    /// Tokens that the team may use
    #[arg(long, value_name = "N", requires = "set", value_parser = super::whole::<u64>)]
    max_tokens: Option<u64>,
    /// Tokens that the team may use before it is warned
    #[arg(long, value_name = "N", requires = "set", value_parser = super::whole::<u64>)]
    soft_limit: Option<u64>,
    /// Tokens that each agent may use
    #[arg(long, value_name = "N", requires = "set", value_parser = super::whole::<u64>)]
    per_agent: Option<u64>,
    /// Begin nothing new once they are used up
    #[arg(long, requires = "set")]
    hard_limit: bool,
    /// Most agents; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// The agent that the page before ended with
    #[arg(long, value_name = "AGENT")]
    cursor: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        match (self.report, self.set) {
            (true, _) => self.report(context),
            (_, true) => self.set(context),
            _ => self.show(context),
        }
    }

    fn report(self, context: &mut Context) -> Outcome {
        let input = ReportUsage {
            worker: context.agent("--agent", self.agent)?,
            task_id: self.task_id,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            tokens: self.tokens,
        };
        self.stamp
            .carry_out(context, &self.team, input, usage::card)
    }

    fn set(self, context: &mut Context) -> Outcome {
        let input = SetBudget {
            max_tokens: self.max_tokens,
            soft_limit_tokens: self.soft_limit,
            per_agent_tokens: self.per_agent,
            hard_limit: self.hard_limit,
        };
        self.stamp
            .carry_out(context, &self.team, input, usage::card)
    }

    fn show(self, context: &mut Context) -> Outcome {
        let input = Usage {
            worker: self.agent,
            task_id: self.task_id,
            limit: self.limit,
            cursor: self.cursor,
        };
        context.show(&self.team, input, usage::card)
    }
}

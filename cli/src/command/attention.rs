//! `attention`: what somebody has to see to.

use crate::command::prelude::*;
use teamlog_team::attention::Attention;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show what somebody has to see to, each with the command that mends it\n\nTasks that wait in vain, \
        failed or were reported blocked, messages that did not change their task, questions without an answer, unknown \
        dependencies and owners, what agents that stopped left behind, used budgets, dead letters, bootstrap runs that \
        broke their contract, leases that ran out, acks that are overdue, writes that were refused, tasks of which nothing \
        was heard.",
    after_help = "\
Examples:
  teamlog attention demo
  teamlog attention demo --stale-minutes 30 --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Most items, 1 to 1000; 0 is all [default: 100]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Minutes without a word after which a task in somebody's hands is stale [default: 90]
    #[arg(long, value_name = "MINUTES", value_parser = super::whole::<u64>)]
    stale_minutes: Option<u64>,
    #[command(flatten)]
    at: Past,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = Attention {
            limit: self.limit,
            stale_minutes: self.stale_minutes,
        };
        let mut answer = context.read_at(&self.team, self.at, input)?;
        for item in &mut answer.items {
            context.own_commands(std::slice::from_mut(&mut item.command));
        }
        context.end(Exit::Done, &answer, render::attention::attention)
    }
}

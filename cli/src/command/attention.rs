//! `attention`: lists problems of a team, each with the command that solves the problem.

use crate::command::prelude::*;
use teamlog_team::attention::Attention;

subcommands! {
    operation::<Attention>("attention", render::attention::attention)
        .at()
        .own_commands(|answer, context| {
            for item in &mut answer.items {
                context.own_commands(std::slice::from_mut(&mut item.command));
            }
        })
        .details("The list has tasks that can never become ready, failed tasks, tasks reported blocked, messages that did not change their task, \
            unanswered questions, unknown dependencies and owners, work of stopped agents, exhausted budgets, dead letters, bootstrap \
            runs that broke their contract, expired leases, overdue acks, refused writes, and tasks without reports.")
        .examples("\
  teamlog attention demo
  teamlog attention demo --kind lease_expired --agent dev
  teamlog attention demo --stale-minutes 30 --json")
}

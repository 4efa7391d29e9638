//! Tokens used by the team, by each agent and for each task, and the budget.

pub use crate::event::usage as event;
mod query;

use crate::event::usage::{Budget, UsageFact, UsageReported};
use crate::prelude::*;

/// Namespace of used tokens; key: team, agent or task.
const USED: u8 = 0x4C;
/// Single row: the budget.
const BUDGET: u8 = 0x4D;

/// Tags of team, agent and task in keys.
const TEAM_TAG: u8 = 0;
const AGENT_TAG: u8 = 1;
const TASK_TAG: u8 = 2;

/// Selects the team, an agent or a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageOf<'a> {
    /// The team.
    Team,
    /// An agent.
    Agent(&'a str),
    /// A task.
    Task(&'a str),
}

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// Used tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// All tokens.
    pub tokens: u64,
    /// Number of reports.
    pub reports: u64,
    /// Time of the last report.
    pub at: Timestamp,
}

row!(Used);

/// The budget that was set last.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct BudgetInfo {
    /// Event that set the budget.
    pub seq: u64,
    /// The soft limit that was reached, if any.
    reached: Option<u64>,
    /// The budget.
    pub budget: Budget,
}

row!(BudgetInfo);

impl BudgetInfo {
    /// Returns true if an event recorded that the soft limit was reached.
    pub fn soft_limit_reached(&self) -> bool {
        self.reached.is_some() && self.reached == self.budget.warns_at()
    }
}

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Usage(fact) = recorded.fact else {
        return Ok(());
    };
    let mut row: BudgetInfo = tx.get(&[BUDGET])?.unwrap_or_default();
    match &**fact {
        UsageFact::Reported(reported) => return report(tx, recorded.event, reported),
        UsageFact::Set(budget) => {
            row.seq = recorded.event.seq;
            row.budget = budget.clone();
        }
        UsageFact::SoftLimitReached(soft) => row.reached = Some(soft.limit),
    }
    tx.put(&[BUDGET], &row);
    Ok(())
}

fn report(tx: &mut Tx<'_>, event: &Event<'_>, reported: &UsageReported) -> Result<()> {
    let task = reported.task_id.as_deref().map(UsageOf::Task);
    let whose = [UsageOf::Team, UsageOf::Agent(&reported.worker)];
    for whose in whose.into_iter().chain(task) {
        tx.change(&key(whose), |used: &mut Used| {
            used.input_tokens = used.input_tokens.saturating_add(reported.input_tokens);
            used.output_tokens = used.output_tokens.saturating_add(reported.output_tokens);
            used.tokens = used.tokens.saturating_add(reported.tokens);
            used.reports += 1;
            used.at = event.created_at;
        })?;
    }
    Ok(())
}

fn key(whose: UsageOf<'_>) -> Vec<u8> {
    let (tag, name) = match whose {
        UsageOf::Team => (TEAM_TAG, ""),
        UsageOf::Agent(name) => (AGENT_TAG, name),
        UsageOf::Task(name) => (TASK_TAG, name),
    };
    [&[USED, tag], name.as_bytes()].concat()
}

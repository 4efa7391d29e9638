//! The token budget of a team. Refuses new work after a hard budget is spent, and warns after a soft limit.

use crate::prelude::*;
use crate::projections::usage::event::UsageFact;
use crate::projections::usage::event::{Budget, SoftLimitReached};
use crate::projections::usage::{BudgetInfo, UsageOf};

/// Refuses new work if the team or the agent has spent a hard budget. Does not refuse work that has
/// begun.
pub(crate) fn check(live: &Live, worker: Option<&str>) -> Result<()> {
    let Some(BudgetInfo { budget, .. }) = live.budget()? else {
        return Ok(());
    };
    if !budget.hard_limit {
        return Ok(());
    }
    if let Some(over) = SpentBudget::of_team(live, &budget)? {
        return Err(over.refusal().into());
    }
    if let Some(worker) = worker
        && let Some(over) = SpentBudget::of_agent(live, &budget, worker)?
    {
        let refusal = over.refusal().field("worker");
        return Err(refusal.detail("worker", worker).into());
    }
    Ok(())
}

/// Returns the spent budgets of the team and of up to `most` agents, whether or not they refuse work.
pub(crate) fn spent(live: &Live, most: usize) -> Result<Vec<SpentBudget>> {
    let Some(BudgetInfo { budget, .. }) = live.budget()? else {
        return Ok(Vec::new());
    };
    let mut found: Vec<SpentBudget> = SpentBudget::of_team(live, &budget)?.into_iter().collect();
    if budget.per_agent_tokens.is_some() {
        for (agent, _) in live.agents_used(None, most)? {
            found.extend(SpentBudget::of_agent(live, &budget, &agent)?);
        }
    }
    Ok(found)
}

/// A spent budget.
#[derive(Debug, Clone)]
pub(crate) struct SpentBudget {
    /// The agent with this budget; `None` for the team's budget.
    pub agent: Option<String>,
    used: u64,
    max: u64,
    budget: Budget,
}

impl SpentBudget {
    fn of_team(live: &Live, budget: &Budget) -> Result<Option<SpentBudget>> {
        let Some(max) = budget.max_tokens else {
            return Ok(None);
        };
        let used = live.used(UsageOf::Team)?.tokens;
        Ok((used >= max).then(|| SpentBudget {
            agent: None,
            used,
            max,
            budget: budget.clone(),
        }))
    }

    fn of_agent(live: &Live, budget: &Budget, agent: &str) -> Result<Option<SpentBudget>> {
        let Some(max) = budget.per_agent_tokens else {
            return Ok(None);
        };
        let used = live.used(UsageOf::Agent(agent))?.tokens;
        Ok((used >= max).then(|| SpentBudget {
            agent: Some(agent.to_owned()),
            used,
            max,
            budget: budget.clone(),
        }))
    }

    /// Returns a sentence such as `dev has used 12 of 10 tokens`.
    pub fn message(&self) -> String {
        let who = self.agent.as_deref().unwrap_or("the team");
        format!("{who} has used {} of {} tokens", self.used, self.max)
    }

    /// Returns the command-line options that raise the budget to N.
    pub fn raise(&self) -> String {
        let flag = match self.agent {
            Some(_) => PER_AGENT,
            None => MAX_TOKENS,
        };
        let mut options = raised(&self.budget, flag);
        if self.budget.hard_limit {
            options.push_str(" --hard-limit");
        }
        options
    }

    fn refusal(&self) -> Refusal {
        Refusal::new(Code::BudgetExceeded, self.message())
            .detail("used_tokens", self.used)
            .detail("max_tokens", self.max)
            .hint(format!(
                "tasks that are already claimed can be finished; to allow more, raise the limit with --set{}",
                self.raise()
            ))
    }
}

const MAX_TOKENS: &str = "--max-tokens";
const PER_AGENT: &str = "--per-agent";

/// Returns all limits of the budget as command-line options, because a budget is set as a whole.
/// The option `flag` gets the value N.
fn raised(budget: &Budget, flag: &str) -> String {
    let limits = [
        (MAX_TOKENS, budget.max_tokens),
        ("--soft-limit", budget.soft_limit_tokens),
        (PER_AGENT, budget.per_agent_tokens),
    ];
    let mut options = String::new();
    for (name, limit) in limits {
        let Some(limit) = limit else { continue };
        let limit = if name == flag {
            "N".to_owned()
        } else {
            limit.to_string()
        };
        options.extend([" ", name, " ", &limit]);
    }
    options
}

/// Returns the event that records the reached soft limit; `None` if that event is already recorded.
pub(crate) fn reached(
    info: Option<&BudgetInfo>,
    budget: &Budget,
    tokens: u64,
    cause: usize,
) -> Option<NewEvent> {
    let limit = budget.warns_at().filter(|limit| tokens >= *limit)?;
    let known =
        |info: &BudgetInfo| info.soft_limit_reached() && info.budget.warns_at() == Some(limit);
    if info.is_some_and(known) {
        return None;
    }
    let reached = SoftLimitReached { limit, tokens };
    let mut event = UsageFact::SoftLimitReached(reached).event(DEFAULT_ACTOR, None);
    event.cause = Some(Cause::Earlier(cause));
    Some(event)
}

/// Returns a warning if the soft limit is reached, or if a budget that refuses nothing is spent.
pub(crate) fn warning(info: Option<&BudgetInfo>, used: u64) -> Option<String> {
    let budget = &info?.budget;
    let over = |limit: &u64| used >= *limit;
    if let Some(max) = budget.max_tokens.filter(over) {
        return Some(format!("budget used up: {used} of {max} tokens used"));
    }
    let soft = budget.soft_limit_tokens.filter(over)?;
    let of = match budget.max_tokens {
        Some(max) => format!(" of {max}"),
        None => String::new(),
    };
    Some(format!(
        "soft limit of {soft} reached: {used}{of} tokens used"
    ))
}

//! How many tokens a team may use: what is refused once they are used up, and when it is warned.

use crate::prelude::*;
use crate::projections::usage::event::UsageFact;
use crate::projections::usage::event::{Budget, SoftLimitReached};
use crate::projections::usage::{BudgetInfo, Whose};

/// Refuses new work to a team, or to an agent of it, that used up what it may. What goes on or ends is never asked.
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

/// Finds the spent budgets of the team and of at most `most` agents, whether or not new work is refused for them.
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

/// A budget that is used up.
#[derive(Debug, Clone)]
pub(crate) struct SpentBudget {
    /// The agent whose budget it is; `None` for that of the team.
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
        let used = live.used(Whose::Team)?.tokens;
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
        let used = live.used(Whose::Agent(agent))?.tokens;
        Ok((used >= max).then(|| SpentBudget {
            agent: Some(agent.to_owned()),
            used,
            max,
            budget: budget.clone(),
        }))
    }

    /// `dev may use 10 tokens, but used 12`.
    pub fn message(&self) -> String {
        let who = self.agent.as_deref().unwrap_or("the team");
        format!("{who} may use {} tokens, but used {}", self.max, self.used)
    }

    /// The options by which the budget is raised to N.
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
                "what is under way can be finished; a higher limit is set with{}",
                self.raise()
            ))
    }
}

const MAX_TOKENS: &str = "--max-tokens";
const PER_AGENT: &str = "--per-agent";

/// All limits as options, since a budget is set as a whole, with N in the place of the one that is in the way.
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

/// The event that says that the soft limit is reached, unless one says so already.
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

/// What a team is to be warned of: it used as many tokens as its soft limit says, or as it may where nothing is refused.
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

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
    if let Some(max) = budget.max_tokens {
        let used = live.used(Whose::Team)?.tokens;
        if used >= max {
            return Err(exceeded("the team", used, (max, MAX_TOKENS), &budget).into());
        }
    }
    if let (Some(max), Some(worker)) = (budget.per_agent_tokens, worker) {
        let used = live.used(Whose::Agent(worker))?.tokens;
        if used >= max {
            let refusal = exceeded(worker, used, (max, PER_AGENT), &budget).field("worker");
            return Err(refusal.detail("worker", worker).into());
        }
    }
    Ok(())
}

const MAX_TOKENS: &str = "--max-tokens";
const PER_AGENT: &str = "--per-agent";

fn exceeded(who: &str, used: u64, (max, flag): (u64, &str), budget: &Budget) -> Refusal {
    let message = format!("{who} may use {max} tokens, but used {used}");
    Refusal::new(Code::BudgetExceeded, message)
        .detail("used_tokens", used)
        .detail("max_tokens", max)
        .hint(format!(
            "what is under way can be finished; for more: teamlog usage TEAM --set{} --hard-limit",
            raised(budget, flag)
        ))
}

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

impl Team {
    /// A warning about the budget for those who work for the team, in a line of plain text.
    pub fn budget_warning(&mut self) -> Result<Option<String>> {
        self.peek(|live| {
            let info = live.budget()?;
            let used = live.used(Whose::Team)?.tokens;
            Ok(warning(info.as_ref(), used))
        })
    }
}

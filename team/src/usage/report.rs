//! `report-usage`, `set-budget`, `usage`: the tokens that agents have used, and their budget.

use crate::claim::existing;
use crate::operation::prelude::*;
use crate::projections::usage::event::UsageFact;
use crate::projections::usage::event::{Budget, UsageReported};
use crate::projections::usage::{BudgetInfo, UsageOf, Used};

/// Rules that use the field names of the HTTP contract.
const RULES: Rules = Rules {
    aliases: &[
        ("agentId", "worker"),
        ("taskId", "task_id"),
        ("inputTokens", "input_tokens"),
        ("outputTokens", "output_tokens"),
        ("maxTokens", "max_tokens"),
        ("softLimitTokens", "soft_limit_tokens"),
        ("perAgentTokens", "per_agent_tokens"),
        ("hardLimit", "hard_limit"),
    ],
    ..Rules::COMMON
};

operation! {
    /// Report how many tokens an agent used
    "report-usage": Records(ReportUsage {
        /// Agent that used the tokens
        worker: String,
        /// Task that the tokens were used for
        task_id: Option<String>,
        /// Number of tokens read
        #[arg(long, value_name = "N", requires = "report", value_parser = crate::argv::whole::<u64>)]
        input_tokens: Option<u64>,
        /// Number of tokens written
        #[arg(long, value_name = "N", requires = "report", value_parser = crate::argv::whole::<u64>)]
        output_tokens: Option<u64>,
        /// Total number of tokens; if absent, the sum of tokens read and written
        #[arg(long, value_name = "N", requires = "report", value_parser = crate::argv::whole::<u64>)]
        tokens: Option<u64>,
    }) -> UsageAnswer as report_usage,
    refuses = [WorkerNotFound, TaskNotFound],
    rules = RULES
}

operation! {
    /// Set the token budget, in place of the earlier budget
    "set-budget": Records(SetBudget {
        /// Tokens that the team may use; no limit if absent
        #[arg(long, value_name = "N", requires = "set", value_parser = crate::argv::whole::<u64>)]
        max_tokens: Option<u64>,
        /// Tokens after which the team is warned; no warning if absent
        #[arg(long = "soft-limit", value_name = "N", requires = "set", value_parser = crate::argv::whole::<u64>)]
        soft_limit_tokens: Option<u64>,
        /// Tokens that each agent may use; no limit if absent
        #[arg(long = "per-agent", value_name = "N", requires = "set", value_parser = crate::argv::whole::<u64>)]
        per_agent_tokens: Option<u64>,
        /// Refuse new work after the budget is spent, instead of a warning
        #[serde(default)]
        #[arg(long, requires = "set")]
        hard_limit: bool,
    }) -> UsageAnswer as set_budget,
    refuses = [WorkerNotFound],
    scope = Operate,
    rules = RULES
}

operation! {
    /// Read the used tokens and the budget
    "usage": Reads(Usage {
        /// Only the tokens of this agent. With --report on the command line: the agent that used the tokens
        #[arg(id = "agent", long, value_name = "AGENT", conflicts_with = "set")]
        worker: Option<String>,
        /// Task whose tokens the answer also has. With --report on the command line: the task for which the tokens were used
        #[arg(long, value_name = "TASK", conflicts_with = "set")]
        task_id: Option<String>,
        /// Largest number of agents; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "AGENT")]
        cursor: Option<String>,
    }) -> UsageAnswer = |team, asked| team.usage(&asked),
    refuses = [WorkerNotFound],
    rules = RULES
}

/// Maximum number of tokens in one report. Larger whole numbers are not exact in every JSON reader.
pub const TOKENS_MAX: u64 = 1 << 53;

/// Used tokens, and the budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageAnswer {
    /// Tokens used by the team
    pub used: UsedShown,
    /// Tokens per agent, sorted by name; after a report only the agent of the report
    pub agents: Vec<AgentUsed>,
    /// Tokens used for the requested task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<UsedShown>,
    /// The budget, if set
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetShown>,
    /// Warning about the budget, if there is a reason to warn
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Cursor of the next page; absent on the last page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Number of used tokens
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsedShown {
    /// Number of tokens read
    pub input_tokens: u64,
    /// Number of tokens written
    pub output_tokens: u64,
    /// Total number of tokens
    pub tokens: u64,
    /// Number of reports
    pub reports: u64,
}

/// Tokens that an agent used
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentUsed {
    /// Name of the agent
    pub worker: String,
    /// Tokens that the agent used
    #[serde(flatten)]
    pub used: UsedShown,
}

/// Limits on the number of tokens
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetShown {
    /// Limit for the team
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Number of the team's tokens after which an event warns
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_limit_tokens: Option<u64>,
    /// Limit for each agent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_agent_tokens: Option<u64>,
    /// True if new work is refused after the budget is spent
    pub hard_limit: bool,
    /// True if an event has recorded that the soft limit was reached
    pub soft_limit_reached: bool,
}

impl Team {
    /// Returns the tokens used.
    pub fn usage(&mut self, usage: &Usage) -> Result<UsageAnswer> {
        names::check_known_given([
            ("worker", &usage.worker),
            ("cursor", &usage.cursor),
            ("task_id", &usage.task_id),
        ])?;
        let limit = page::limit(usage.limit, page::PAGE);
        self.query(|live, _| {
            if let Some(worker) = &usage.worker {
                check_agent(live, worker)?;
            }
            let mut answer = standing(live, usage.worker.as_deref(), usage.task_id.as_deref())?;
            if usage.worker.is_none() {
                let after = usage.cursor.as_deref();
                let mut agents = live.agents_used(after, limit.saturating_add(1))?;
                let more = page::cut(&mut agents, limit);
                answer.agents = agents.into_iter().map(AgentUsed::from).collect();
                let last = answer.agents.last().filter(|_| more);
                answer.next_cursor = last.map(|last| last.worker.clone());
            }
            Ok(answer)
        })
    }
}

/// Refuses an agent that is not a member, never acted and used no tokens.
fn check_agent(live: &Live, worker: &str) -> Result<()> {
    let is_known = live.used(UsageOf::Agent(worker))?.reports > 0
        || worker == LEADER
        || membership::workers(live)?
            .iter()
            .any(|known| known == worker);
    if is_known {
        return Ok(());
    }
    let message = format!("no agent {} in this team", shown(worker));
    let refusal = Refusal::new(Code::WorkerNotFound, message).field("worker");
    Err(refusal.detail("worker", worker).into())
}

/// Returns the usage of the team, and of the given worker and task.
fn standing(live: &Live, worker: Option<&str>, task: Option<&str>) -> Result<UsageAnswer> {
    let used = live.used(UsageOf::Team)?;
    let info = live.budget()?;
    let agent = worker.map(|worker| -> Result<AgentUsed> {
        let used = live.used(UsageOf::Agent(worker))?;
        Ok(AgentUsed::from((worker.to_owned(), used)))
    });
    let task = task
        .map(|task| live.used(UsageOf::Task(task)))
        .transpose()?;
    Ok(UsageAnswer {
        used: used.into(),
        agents: agent.transpose()?.into_iter().collect(),
        task: task.map(UsedShown::from),
        warning: budget::warning(info.as_ref(), used.tokens),
        budget: info.map(BudgetShown::from),
        next_cursor: None,
    })
}

impl ReportUsage {
    fn reported(&self) -> Result<UsageReported, Refusal> {
        let given = [
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("tokens", self.tokens),
        ];
        if given.iter().all(|(_, tokens)| tokens.is_none()) {
            let message = "tokens, input_tokens or output_tokens is required";
            return Err(Refusal::new(Code::InvalidInput, message).field("tokens"));
        }
        for (field, tokens) in given {
            bounded(field, tokens)?;
        }
        let [input, output] =
            [self.input_tokens, self.output_tokens].map(Option::unwrap_or_default);
        let sum = input + output;
        let tokens = self.tokens.unwrap_or(sum);
        if tokens < sum {
            let rule = format!("must be at least the sum of input_tokens and output_tokens, {sum}");
            return Err(Refusal::invalid("tokens", tokens, &rule));
        }
        Ok(UsageReported {
            worker: self.worker.clone(),
            task_id: self.task_id.clone(),
            input_tokens: input,
            output_tokens: output,
            tokens,
        })
    }
}

fn bounded(field: &'static str, tokens: Option<u64>) -> Result<(), Refusal> {
    let Some(tokens) = tokens.filter(|tokens| *tokens > TOKENS_MAX) else {
        return Ok(());
    };
    let rule = format!("must be at most {TOKENS_MAX}");
    Err(Refusal::invalid(field, tokens, rule))
}

impl Command for ReportUsage {
    type Decided = ();
    type Answer = UsageAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<()>> {
        let reported = self.reported()?;
        let mut events = membership::enter(live, "worker", &self.worker)?;
        let trace = existing(live, self.task_id.as_deref())?;
        let tokens = reported.tokens;
        let fact = UsageFact::Reported(reported);
        events.push(fact.event(&self.worker, trace.as_deref()));
        if let Some(info) = live.budget()? {
            let used = live.used(UsageOf::Team)?.tokens;
            let tokens = used.saturating_add(tokens);
            let cause = events.len() - 1;
            events.extend(budget::reached(Some(&info), &info.budget, tokens, cause));
        }
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<UsageAnswer> {
        standing(after.live, Some(&self.worker), self.task_id.as_deref())
    }
}

impl SetBudget {
    fn budget(&self) -> Result<Budget, Refusal> {
        let (max, soft) = (self.max_tokens, self.soft_limit_tokens);
        bounded("max_tokens", max)?;
        bounded("soft_limit_tokens", soft)?;
        bounded("per_agent_tokens", self.per_agent_tokens)?;
        if let (Some(max), Some(soft)) = (max, soft)
            && soft > max
        {
            let rule = format!("must be at most max_tokens, {max}");
            return Err(Refusal::invalid("soft_limit_tokens", soft, &rule));
        }
        if self.hard_limit && max.is_none() && self.per_agent_tokens.is_none() {
            let message = "hard_limit requires a limit: also set max_tokens or per_agent_tokens";
            return Err(Refusal::new(Code::InvalidInput, message).field("hard_limit"));
        }
        Ok(Budget {
            max_tokens: max,
            soft_limit_tokens: soft,
            per_agent_tokens: self.per_agent_tokens,
            hard_limit: self.hard_limit,
        })
    }
}

impl Command for SetBudget {
    type Decided = ();
    type Answer = UsageAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<()>> {
        let budget = self.budget()?;
        let before = live.budget()?;
        let same = |before: &BudgetInfo| before.budget == budget;
        if before.as_ref().is_some_and(same) {
            return Ok(Decision::Granted((), Vec::new()));
        }
        let mut events = vec![UsageFact::Set(budget.clone()).event(DEFAULT_ACTOR, None)];
        let used = live.used(UsageOf::Team)?.tokens;
        events.extend(budget::reached(before.as_ref(), &budget, used, 0));
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<UsageAnswer> {
        standing(after.live, None, None)
    }
}

impl From<Used> for UsedShown {
    fn from(used: Used) -> UsedShown {
        UsedShown {
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
            tokens: used.tokens,
            reports: used.reports,
        }
    }
}

impl From<(String, Used)> for AgentUsed {
    fn from((worker, used): (String, Used)) -> AgentUsed {
        AgentUsed {
            worker,
            used: used.into(),
        }
    }
}

impl From<BudgetInfo> for BudgetShown {
    fn from(info: BudgetInfo) -> BudgetShown {
        BudgetShown {
            soft_limit_reached: info.soft_limit_reached(),
            max_tokens: info.budget.max_tokens,
            soft_limit_tokens: info.budget.soft_limit_tokens,
            per_agent_tokens: info.budget.per_agent_tokens,
            hard_limit: info.budget.hard_limit,
        }
    }
}

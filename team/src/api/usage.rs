//! Operations on tokens that were used, and may be.

use super::operation::Op;
use super::rules::Rules;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::usage::report::{ReportUsage, SetBudget, Usage, UsageAnswer};

/// As callers of the HTTP contract name the fields.
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

impl Op for ReportUsage {
    type Data = UsageAnswer;
    const NAME: &'static str = "report-usage";
    const DOC: &'static str = "Say how many tokens an agent used";
    const MUTATES: bool = true;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<UsageAnswer> {
        team.report_usage(self)
    }
}

impl Op for SetBudget {
    type Data = UsageAnswer;
    const NAME: &'static str = "set-budget";
    const DOC: &'static str =
        "Say how many tokens may be used; that takes the place of what was said before";
    const MUTATES: bool = true;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<UsageAnswer> {
        team.set_budget(self)
    }
}

impl Op for Usage {
    type Data = UsageAnswer;
    const NAME: &'static str = "usage";
    const DOC: &'static str = "Read how many tokens were used, and may be";
    const MUTATES: bool = false;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<UsageAnswer> {
        team.usage(&self)
    }
}

//! Renders the tokens of language models: usage and budgets.

use crate::render::escape::visible;
use crate::render::style::Style;
use crate::render::table::{lines, plain, styled};
use crate::render::{View, more, time};
use teamlog_team::usage::report::{BudgetShown, UsageAnswer};

/// Renders usage and budget of the team and of its agents.
pub fn card(answer: &UsageAnswer, view: &View) -> Vec<String> {
    let used = time::plural(answer.used.tokens, "token");
    let budget = answer.budget.as_ref().map_or_else(String::new, budget);
    let mut shown = vec![format!("{used} used{budget}")];
    if let Some(task) = &answer.task {
        let used = time::plural(task.tokens, "token");
        shown.push(format!("  for the task: {used}"));
    }
    let rows = answer.agents.iter().map(|one| {
        vec![
            styled(Style::Bold, &*one.worker),
            plain(one.used.tokens.to_string()),
            styled(Style::Dim, time::plural(one.used.reports, "report")),
        ]
    });
    shown.extend(lines(rows, 2, view));
    if let Some(warning) = &answer.warning {
        let warning = visible(warning);
        shown.push(format!("  {}", view.paint.show(Style::Warn, &warning)));
    }
    shown.extend(more("more", &answer.next_cursor));
    shown
}

/// Formats ` of 1000 (hard limit), 100 for each agent`.
fn budget(budget: &BudgetShown) -> String {
    let mut text = String::new();
    if let Some(max) = budget.max_tokens {
        text.push_str(&format!(" of {max}"));
    }
    if budget.hard_limit {
        text.push_str(" (hard limit)");
    }
    if let Some(max) = budget.per_agent_tokens {
        text.push_str(&format!(", {max} for each agent"));
    }
    if let Some(soft) = budget.soft_limit_tokens {
        text.push_str(&format!(", warned from {soft} on"));
    }
    text
}

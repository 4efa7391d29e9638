//! Renders the result of a prompt, of a planned transition, and of reading a state.

use crate::render::mode::names;
use crate::render::prelude::*;
use teamlog_team::mode::rules::outcome::{Lifecycle, RunOutcome};
use teamlog_team::mode::rules::prompt::answer::PromptAnswer;
use teamlog_team::mode::rules::reading::Reading;
use teamlog_team::mode::rules::transition::{Kind, Transition};

/// Renders the text for the agent, and the active modes.
pub fn prompted(answer: &PromptAnswer, _: &View) -> Vec<String> {
    let asked = match &*answer.additional_context {
        "" => "the prompt starts no mode".to_owned(),
        told => visible(told).into_owned(),
    };
    vec![
        asked,
        format!("  active now: {}", names(&answer.active_skills)),
    ]
}

/// Formats `deny (rollback): team, forge + blueprint`, and the reason.
pub fn transition(told: &Transition, _: &View) -> Vec<String> {
    let denial = told.denial.map(|denial| format!(" ({})", denial.name()));
    let mut lines = vec![format!(
        "{}{}: {} + {}",
        told.kind.name(),
        denial.unwrap_or_default(),
        names(&told.current),
        told.requested
    )];
    if told.kind != Kind::Deny {
        lines.push(format!("  active then: {}", names(&told.resulting)));
    }
    if !told.auto_completed.is_empty() {
        let completed = names(&told.auto_completed);
        lines.push(format!("  completed by it: {completed}"));
    }
    let message = told.message.iter();
    lines.extend(message.map(|message| format!("  {}", visible(message))));
    lines
}

/// Formats a line such as `finished  by run_outcome`.
pub fn reading(reading: &Reading, _: &View) -> Vec<String> {
    let outcome = reading.lifecycle_outcome.map(Lifecycle::name);
    let run = reading.run_outcome.map(RunOutcome::name);
    let mut lines = vec![format!(
        "{}  run outcome {}  by {}",
        outcome.unwrap_or("not ended"),
        run.unwrap_or("unknown"),
        reading.evidence.name()
    )];
    let warnings = reading.warnings.iter();
    lines.extend(warnings.map(|warning| format!("  warning: {}", visible(warning))));
    lines
}

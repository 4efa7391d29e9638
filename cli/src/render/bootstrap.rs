//! Renders bootstrap runs.

use crate::render::prelude::*;
use crate::render::pretty;
use teamlog_team::bootstrap::list::{BootstrapListed, RunListed};
use teamlog_team::bootstrap::record::{BootstrapExplained, BootstrapRecorded};
use teamlog_team::bootstrap::show::BootstrapShown;
use teamlog_team::bootstrap::start::BootstrapStarted;
use teamlog_team::projections::bootstrap::{DomainShown, Evidence, RunShown, State, StepStatus};

/// Formats a line such as `run 1  INIT  for a, b`.
pub fn started(answer: &BootstrapStarted, view: &View) -> Vec<String> {
    let domains = match answer.domains.is_empty() {
        true => String::new(),
        false => format!("  for {}", visible(&answer.domains.join(", "))),
    };
    let standing = standing(&answer.run, answer.state, view);
    let mut shown = vec![format!("{standing}{domains}")];
    shown.extend(next(&answer.next));
    shown
}

/// Words that describe the result of a report, for real and for hypothetical reports.
struct Words {
    refused: &'static str,
    fell: &'static str,
}

const DONE: Words = Words {
    refused: "not accepted",
    fell: "recorded, and fell back to",
};
const SUPPOSED: Words = Words {
    refused: "would not be accepted",
    fell: "would be recorded, and fall back to",
};

/// Renders the state of the run after a report, and the reason if the report was not accepted.
pub fn recorded(answer: &BootstrapRecorded, view: &View) -> Vec<String> {
    let mut shown = vec![standing(&answer.run, answer.state, view)];
    shown.extend(outcome(answer, &DONE, view));
    shown
}

fn outcome(answer: &BootstrapRecorded, words: &Words, view: &View) -> Vec<String> {
    let mut shown = Vec::new();
    if let Some(code) = &answer.code {
        let why = answer.message.as_deref().unwrap_or_default();
        shown.push(format!(
            "  {} {}: {}",
            view.paint.show(Style::Bad, words.refused),
            visible(code),
            visible(why)
        ));
    }
    if let Some(state) = answer.rolled_back_to {
        shown.push(format!("  {} {}", words.fell, state.name()));
    }
    for warning in &answer.warnings {
        let head = view.paint.show(Style::Warn, "note:");
        shown.push(format!("  {head} {}", visible(warning)));
    }
    shown.extend(next(&answer.next));
    shown
}

/// Renders the state that a hypothetical report would lead to.
pub fn explained(answer: &BootstrapExplained, view: &View) -> Vec<String> {
    let records = names_or("nothing", &answer.records);
    let mut shown = vec![format!(
        "{} in {} would record {}",
        visible(&answer.event),
        answer.at_state.name(),
        visible(&records)
    )];
    let run = &answer.outcome;
    let id = view.paint.show(Style::Bold, visible(&run.run));
    shown.push(format!("run {id} would stand in {}", run.state.name()));
    shown.extend(outcome(run, &SUPPOSED, view));
    shown
}

/// Renders the launch evidence as indented JSON.
pub fn evidence(evidence: &Evidence) -> Vec<String> {
    pretty::lines(evidence)
}

/// Renders one line per run.
pub fn listed(answer: &BootstrapListed, view: &View) -> Vec<String> {
    let runs = answer.runs.iter().map(run);
    let nothing = "no run yet; start one with bootstrap start";
    page(runs, nothing, ("older ones", &answer.next_cursor), view)
}

/// Formats a row such as `1  RUNNING  case A  2026-…  alpha`.
fn run(run: &RunListed) -> Vec<Cell> {
    let case = run.case.map(|case| format!("case {}", case.name()));
    vec![
        styled(Style::Bold, &run.run),
        styled(of_state(run.state), run.state.name()),
        plain(case.unwrap_or_default()),
        plain(&run.started_at),
        plain(run.team_name.as_deref().unwrap_or_default()),
    ]
}

/// Renders a run with its checklist.
pub fn shown(answer: &BootstrapShown, view: &View) -> Vec<String> {
    let run = &answer.run;
    let mut shown = vec![heading(
        view,
        &answer.team,
        &format!(": run {} stands in {}", run.run, run.state.name()),
    )];
    let steps = run.checklist.iter().map(|step| {
        let style = match step.status {
            StepStatus::Done => Style::Good,
            StepStatus::Next => Style::Bold,
            StepStatus::Open | StepStatus::Dropped => Style::Dim,
        };
        vec![
            plain(step.number.to_string()),
            styled(style, step.status.name()),
            plain(&step.step),
        ]
    });
    shown.extend(lines(steps, 2, view));
    shown.extend(next(&run.next));
    for forbidden in &run.forbidden {
        let head = view.paint.show(Style::Warn, "forbidden:");
        shown.push(format!("  {head} {}", visible(forbidden)));
    }
    shown.extend(lines(facts(run, view), 2, view));
    push_below(&mut shown, lines(run.work.iter().map(domain), 2, view));
    shown
}

/// Returns rows for the properties of a run other than its steps.
fn facts(run: &RunShown, view: &View) -> Vec<Vec<Cell>> {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let breach = run.last_breach.as_ref().map(|breach| {
        let (count, at) = (time::count(run.breaches), breach.at_state.name());
        format!("{count}, the last {} in {at}", breach.code)
    });
    let due = run.due_at.as_deref();
    let due = due.and_then(|at| Timestamp::parse(at).ok());
    let due = due.map(|at| format!("{at}  ({})", view.ago(at)));
    let synthesis = match &*run.synthesis {
        "none" => String::new(),
        synthesis => synthesis.to_owned(),
    };
    let case = run.case.map(|case| case.name().to_owned());
    [
        ("case", case.unwrap_or_default()),
        ("team", text(&run.team_name)),
        ("domains", run.domains.join(", ")),
        ("blocked", text(&run.blocked)),
        ("synthesis", synthesis),
        ("violations", breach.unwrap_or_default()),
        ("times out", due.unwrap_or_default()),
        ("trace", text(&run.trace_id)),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| vec![styled(Style::Dim, name), plain(value)])
    .collect()
}

/// Formats a row such as `a  active  round 1  obstruction acked  synthesizer sent  PASS`.
fn domain(domain: &DomainShown) -> Vec<Cell> {
    let active = domain.status == "active";
    let style = if active { Style::Plain } else { Style::Warn };
    let verdict = match domain.verdict {
        None => String::new(),
        Some(verdict) if domain.reviewed_round == domain.round => verdict.name().to_owned(),
        Some(verdict) => format!("{} in round {}", verdict.name(), domain.reviewed_round),
    };
    vec![
        styled(Style::Bold, &domain.domain),
        styled(style, &domain.status),
        plain(format!("round {}", domain.round)),
        plain(format!("obstruction {}", domain.obstruction)),
        plain(format!("synthesizer {}", domain.synthesizer)),
        plain(verdict),
        plain(domain.reason.as_deref().unwrap_or("")),
    ]
}

fn of_state(state: State) -> Style {
    match state {
        State::Running => Style::Good,
        State::Fallback => Style::Warn,
        _ => Style::Plain,
    }
}

fn standing(run: &str, state: State, view: &View) -> String {
    let style = of_state(state);
    format!(
        "run {}  {}",
        view.paint.show(Style::Bold, visible(run)),
        view.paint.show(style, state.name())
    )
}

fn next(events: &[String]) -> Option<String> {
    let next = || format!("  next: {}", visible(&events.join(", ")));
    (!events.is_empty()).then(next)
}

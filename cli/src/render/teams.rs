//! Renders the teams of a data root, and the traces of a team.

use crate::render::prelude::*;
use crate::render::table::cut;
use teamlog_team::lifecycle::teams::TeamListed;
use teamlog_team::log::traces::{TraceOutcome, TracesAnswer};

/// Renders rows of `team open members events last event`. A team that cannot be read shows the reason.
pub fn list(teams: &[TeamListed], failed: &[(&str, &str)], view: &View) -> Vec<String> {
    let mut rows: Vec<Vec<Cell>> = teams.iter().map(|team| row(team, view)).collect();
    rows.extend(failed.iter().map(|(team, why)| {
        vec![
            styled(Style::Bold, team),
            styled(Style::Bad, "failed"),
            plain(""),
            plain(""),
            plain(why),
        ]
    }));
    let mut head = titles(["team", "state", "last event"]);
    head.splice(2..2, ["members", "events"].map(number));
    rows.insert(0, head);
    lines(rows, 0, view)
}

fn row(team: &TeamListed, view: &View) -> Vec<Cell> {
    let last = match (&team.last_event_kind, &team.last_event_at) {
        (Some(kind), Some(at)) => format!("{kind} {}", view.ago_of(at)),
        _ => "none".to_owned(),
    };
    vec![
        styled(Style::Bold, &team.team),
        match team.open {
            true => styled(Style::Good, "open"),
            false => styled(Style::Dim, "closed"),
        },
        number(time::count(team.members as u64)),
        number(time::count(team.events)),
        plain(last),
    ]
}

/// Maximum number of characters of a trace's title.
const TITLE_MAX: usize = 40;

/// Renders rows of `trace  last event  span  events  outcome  title  agents`.
pub fn traces(answer: &TracesAnswer, view: &View) -> Vec<String> {
    let mut rows: Vec<Vec<Cell>> = answer
        .traces
        .iter()
        .map(|trace| {
            let span = i64::try_from(trace.span_ms).unwrap_or(i64::MAX);
            let more = if trace.events_more { "+" } else { "" };
            vec![
                styled(Style::Bold, &trace.trace_id),
                plain(view.ago(trace.last_at)),
                number(time::span(span.saturating_mul(1_000))),
                number(format!("{}{more}", time::count(trace.events as u64))),
                outcome(trace.outcome),
                plain(cut(trace.title.as_deref().unwrap_or("-"), TITLE_MAX)),
                plain(trace.agents.join(", ")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return vec!["no recent event belongs to a trace".to_owned()];
    }
    let mut head = titles(["trace", "last event", "outcome", "title", "agents"]);
    head.splice(2..2, ["span", "events"].map(number));
    rows.insert(0, head);
    let mut shown = lines(rows, 0, view);
    if answer.more {
        shown.push(String::new());
        shown.push("there may be older ones: --limit".to_owned());
    }
    shown
}

fn outcome(outcome: TraceOutcome) -> Cell {
    match outcome {
        TraceOutcome::Completed => styled(Style::Good, "completed"),
        TraceOutcome::Failed => styled(Style::Bad, "failed"),
        TraceOutcome::Canceled => plain("canceled"),
        TraceOutcome::Running => plain("running"),
        TraceOutcome::Open => plain("open"),
        TraceOutcome::None => plain("-"),
    }
}

//! Formats the rows of each panel.

use super::pen::{Parts, column};
use crate::board::layout::Panel;
use crate::board::state::State;
use crate::board::tasks::Row;
use crate::render::style::Style;
use crate::render::time;
use teamlog_team::attention::AttentionSeverity;
use teamlog_team::engine::Timestamp;
use teamlog_team::projections::Task;
use teamlog_team::projections::task::Status;
use teamlog_team::shell::quoted;
use teamlog_team::task::report;
use teamlog_team::worker::who::WhoAgent;

/// Time in microseconds without an event after which an agent is shown as quiet.
const QUIET: i64 = 15 * 60 * time::SECOND;

pub fn parts(state: &State, panel: Panel, row: usize, width: usize) -> Parts {
    let parts = match panel {
        Panel::Crew => state.agent(row).map(|agent| crew(state, agent, width)),
        Panel::Board => state.tasks.row(row).map(|row| board(state, row, width)),
        Panel::Attention => state.item(row).map(|item| {
            let mark = match item.severity {
                AttentionSeverity::Error => " ✗ ",
                AttentionSeverity::Warning => " ! ",
            };
            vec![
                (mark.to_owned(), Style::of_severity(item.severity)),
                (item.text.clone(), Style::Plain),
                (format!("  {}", item.command), Style::Dim),
            ]
        }),
        Panel::Live => state.live.line(row).map(|line| {
            let style = Style::of_kind(&line.kind, line.foreign);
            vec![
                (format!("{:>6} ", line.seq), Style::Dim),
                (format!("{} ", state.time(line.at)), Style::Dim),
                (format!(" {}", line.what), style),
            ]
        }),
    };
    parts.unwrap_or_default()
}

/// Returns the text of an empty panel: why it is empty, and a command that fills it.
pub fn nothing(state: &State, panel: Panel) -> String {
    if state.seq.is_none() {
        return " reading …".to_owned();
    }
    if !state.filter.is_empty() && state.total(panel) > 0 {
        return format!(" no match for {:?}; Esc shows all", state.filter);
    }
    let team = quoted(&state.setting.team);
    let program = &state.setting.program;
    match panel {
        Panel::Crew => format!(" no agents yet: {program} init {team} --members NAME,…"),
        Panel::Board => format!(" no tasks yet: {program} task create {team} --subject TEXT"),
        Panel::Attention => " nothing needs attention".to_owned(),
        Panel::Live => " no events yet".to_owned(),
    }
}

/// Formats a row such as `● ada   T-1 +2   12m left  3m ago  2 unread  what it is about`.
fn crew(state: &State, agent: &WhoAgent, width: usize) -> Parts {
    let task = agent.working_on.first();
    let last = agent.last_event.as_ref().map(|last| last.at);
    let leases = || agent.working_on.iter().filter_map(|task| task.leased_until);
    let ran_out = leases().any(|until| until <= state.now);
    let quiet = last.is_none_or(|last| state.now.micros().saturating_sub(last.micros()) > QUIET);
    let (mark, mark_look) = match (ran_out, quiet) {
        (true, _) => ("!", Style::Bad),
        (false, false) => ("●", Style::Good),
        (false, true) => ("○", Style::Dim),
    };
    let (left, left_look) = match (ran_out, task.and_then(|task| task.leased_until)) {
        (true, _) => ("ran out".to_owned(), Style::Bad),
        (false, None) => (String::new(), Style::Plain),
        (false, Some(until)) => left_until(state, until),
    };
    let more = agent.working_on_total.saturating_sub(1);
    let on = match (task, more) {
        (None, _) => "-".to_owned(),
        (Some(task), 0) => task.task_id.clone(),
        (Some(task), more) => format!("{} +{more}", task.task_id),
    };
    let seen = last.map_or_else(|| "never".to_owned(), |last| state.time(last));
    let mut parts = vec![
        (format!(" {mark} "), mark_look),
        (column(&agent.agent, 12), Style::Bold),
        (format!(" {}", column(&on, 9)), Style::Name),
        (format!(" {}", column(&left, 9)), left_look),
    ];
    if width >= 60 {
        parts.push((format!(" {}", column(&seen, 9)), Style::Dim));
    }
    if agent.unread > 0 {
        parts.push((
            format!(" {} unread", time::count(agent.unread)),
            Style::Warn,
        ));
    }
    let waits = (agent.waiting_total > 0).then_some("its tasks wait for others");
    let about = match task {
        Some(task) => [task.reported.as_deref(), task.subject.as_deref()],
        None => [agent.state.map(|says| says.name()), waits],
    };
    let about: Vec<&str> = about.into_iter().flatten().collect();
    parts.push((format!("  {}", about.join("; ")), Style::Plain));
    parts
}

/// Formats a row such as `T-1  ada  12m left  high  subject`.
fn board(state: &State, row: Row, width: usize) -> Parts {
    let place = match row {
        Row::Group(status, count) => {
            let folded = state.tasks.is_folded(status);
            let fold = if folded { '▸' } else { '▾' };
            return vec![
                (format!(" {fold} "), Style::Dim),
                (status.name().to_owned(), Style::of_status(status)),
                (format!(" {}", time::count(count as u64)), Style::Dim),
            ];
        }
        Row::Task(place) => place,
    };
    let Some(task) = state.tasks.at(place) else {
        return Parts::new();
    };
    let (left, left_look) = lease(state, task);
    let (id, owner) = if width < 70 { (8, 8) } else { (10, 12) };
    let owner = column(task.owner.as_deref().unwrap_or("-"), owner);
    let mut parts = vec![
        (format!("   {}", column(&task.task_id, id)), Style::Bold),
        (format!(" {owner}"), Style::Name),
        (format!(" {}", column(&left, 9)), left_look),
    ];
    if task.priority as u8 > 1 {
        parts.push((format!(" {}", task.priority.name()), Style::Warn));
    }
    let in_vain = state.tasks.in_vain(&task.task_id);
    if !in_vain.is_empty() {
        let text = format!(" stuck on {};", in_vain.join(", "));
        parts.push((text, Style::Bad));
    } else if task.status == Status::Blocked && !task.deps.is_empty() {
        parts.push((format!(" waits for {};", task.deps.join(", ")), Style::Warn));
    }
    if task.blocked && task.status != Status::Blocked || task.reported.blocked {
        parts.push((" blocked;".to_owned(), Style::Warn));
    }
    let subject = task.subject.as_deref().unwrap_or_default();
    parts.push((format!(" {subject}"), Style::Plain));
    let reported = report::words(task);
    let note = task.note.as_deref().unwrap_or_default();
    let said = if reported.is_empty() {
        note
    } else {
        &*reported
    };
    if !said.is_empty() {
        parts.push((format!("  {said}"), Style::Dim));
    }
    parts
}

/// Returns the remaining time of a task's claim, or an empty text if the task is not claimed.
pub fn lease(state: &State, task: &Task) -> (String, Style) {
    match task.claim() {
        None => (String::new(), Style::Plain),
        Some(claim) => left_until(state, claim.leased_until),
    }
}

fn left_until(state: &State, until: Timestamp) -> (String, Style) {
    let left = until.micros().saturating_sub(state.now.micros());
    match left {
        ..=0 => ("ran out".to_owned(), Style::Bad),
        left if left < 60 * time::SECOND => (format!("{} left", time::about(left)), Style::Warn),
        left => (format!("{} left", time::about(left)), Style::Plain),
    }
}

//! Builds the popup with all fields of a row.

use crate::board::layout::Panel;
use crate::board::live::Line;
use crate::board::state::{Popup, State};
use crate::render::{attributes, pretty, time};
use teamlog_team::projections::Task;
use teamlog_team::task::report;
use teamlog_team::worker::who::{WhoAgent, WhoTask};

pub fn keys() -> Popup {
    let keys = [
        ("1 2 3 4", "Crew, Board, Attention, Live"),
        ("Tab", "next panel; Shift-Tab: previous panel"),
        ("j k ↓ ↑", "next row, previous row"),
        ("PgDn PgUp", "next page, previous page"),
        ("g G", "first row, last row; also Home and End"),
        ("Enter", "show the whole row; fold a status of the board"),
        ("/", "filter by words; Esc shows all"),
        ("p", "pause or continue Live; also the space bar"),
        ("End", "in Live: back to now"),
        ("t", "local time, UTC, relative"),
        ("?", "these keys"),
        ("q", "quit; also Esc and Ctrl-C"),
    ];
    popup("Keys", keys.map(|(key, does)| (key, does.to_owned())))
}

/// Returns the popup for a row, or `None` if the panel has no such row.
pub fn of_row(state: &State, panel: Panel, row: usize) -> Option<Popup> {
    match panel {
        Panel::Crew => state.agent(row).map(|agent| of_agent(state, agent)),
        Panel::Board => state.tasks.task(row).map(|task| of_task(state, task)),
        Panel::Attention => state.item(row).map(|item| {
            let waits = item.waits_for.iter();
            let waits = waits.map(|dep| format!("{} ({})", dep.task_id, dep.status));
            let lines = [
                ("what", item.text.clone()),
                (
                    "since",
                    item.since.map_or_else(String::new, |at| state.time(at)),
                ),
                ("waits for", waits.collect::<Vec<String>>().join(", ")),
                ("message", item.message_id.clone().unwrap_or_default()),
                ("path", item.path.clone().unwrap_or_default()),
                ("task", item.task_id.clone().unwrap_or_default()),
                ("agent", item.agent.clone().unwrap_or_default()),
                ("type", item.command.clone()),
            ];
            popup("Attention", lines)
        }),
        Panel::Live => state.live.line(row).map(|line| of_event(state, line)),
    }
}

/// Makes a popup from the lines that have a value.
fn popup(title: &str, lines: impl IntoIterator<Item = (&'static str, String)>) -> Popup {
    let lines = lines.into_iter().filter(|(_, value)| !value.is_empty());
    let lines = lines.map(|(name, value)| (name.to_owned(), value));
    Popup {
        title: title.to_owned(),
        lines: lines.collect(),
        top: 0,
    }
}

fn of_agent(state: &State, agent: &WhoAgent) -> Popup {
    let last = agent
        .last_event
        .as_ref()
        .map(|last| format!("#{} {}  {}", last.seq, last.kind, state.time(last.at)));
    let says = agent.state.map(|state| state.name().to_owned());
    let mut lines = vec![
        ("says", says.unwrap_or_default()),
        ("last event", last.unwrap_or_else(|| "none".to_owned())),
        ("unread", time::count(agent.unread)),
    ];
    for (name, tasks, total) in [
        ("works on", &agent.working_on, agent.working_on_total),
        ("waits with", &agent.waiting, agent.waiting_total),
    ] {
        let mut texts: Vec<String> = tasks.iter().map(of_who_task).collect();
        let more = total.saturating_sub(tasks.len() as u64);
        if more > 0 {
            texts.push(format!("and {} more", time::count(more)));
        }
        lines.push((name, texts.join("\n")));
    }
    popup(&agent.agent, lines)
}

fn of_who_task(task: &WhoTask) -> String {
    let waits = task.waits_for.iter();
    let waits: Vec<String> = waits
        .map(|dep| format!("{} ({})", dep.task_id, dep.status))
        .collect();
    let subject = one_line(task.subject.as_deref());
    let mut text = format!("{}  {}  {subject}", task.task_id, task.status);
    if let Some(reported) = &task.reported {
        text.push_str(&format!("; reported {}", one_line(Some(reported))));
    }
    if !waits.is_empty() {
        text.push_str(&format!("; waits for {}", waits.join(", ")));
    }
    text
}

/// Escapes line breaks, because the popup breaks lines itself.
fn one_line(text: Option<&str>) -> String {
    crate::render::escape::visible(text.unwrap_or_default()).into_owned()
}

fn of_task(state: &State, task: &Task) -> Popup {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let deps = task.deps.iter().map(|dep| {
        let status = state.tasks.of_id(dep).map(|found| found.status.name());
        format!("{dep} ({})", status.unwrap_or("unknown"))
    });
    let claim = task.claim().map(|claim| {
        let (epoch, left) = (task.governed.epoch, super::rows::lease(state, task).0);
        format!("{}, epoch {epoch}, {left}", claim.owner)
    });
    let mut lines = vec![
        ("subject", text(&task.subject)),
        ("status", task.status.name().to_owned()),
        ("owner", text(&task.owner)),
        ("claim", claim.unwrap_or_default()),
        ("priority", task.priority.name().to_owned()),
        ("waits for", deps.collect::<Vec<String>>().join(", ")),
        ("stuck on", state.tasks.in_vain(&task.task_id).join(", ")),
        ("reported", report::words(task)),
        ("note", text(&task.note)),
        ("result", text(&task.governed.result)),
        ("error", text(&task.governed.error)),
        ("writes", task.governed.resources.join(", ")),
        ("trace", text(&task.trace_id)),
        ("created", state.time(task.created_at)),
        ("updated", state.time(task.updated_at)),
        ("details", text(&task.details)),
    ];
    lines.extend(attributes::texts(&task.governed.attributes));
    popup(&task.task_id, lines)
}

fn of_event(state: &State, line: &Line) -> Popup {
    let lines = [
        ("at", format!("{}  {}", line.at, state.time(line.at))),
        ("actor", line.actor.clone()),
        ("kind", line.kind.clone()),
        ("what", line.what.clone()),
        ("event", pretty::indented(&line.json)),
    ];
    popup(&format!("#{}", line.seq), lines)
}

//! Renders attention items. Each item is a line under its cause, above the command that solves the problem.

use crate::render::prelude::*;
use teamlog_team::attention::{AttentionAnswer, AttentionItem, AttentionKind};

/// Renders the items grouped by cause: `description  title of the task  since  agent`, and below it the command.
pub fn attention(answer: &AttentionAnswer, view: &View) -> Vec<String> {
    let said = match answer.total {
        0 => ": nothing needs attention".to_owned(),
        1 => ": 1 item needs attention".to_owned(),
        total => format!(": {} items need attention", time::count(total as u64)),
    };
    let mut shown = vec![heading(view, &answer.team, &said)];
    let mut rows = lines(answer.items.iter().map(|item| row(item, view)), 4, view).into_iter();
    let mut last = None;
    for item in &answer.items {
        if last.replace(item.kind) != Some(item.kind) {
            shown.push(cause(answer, item.kind, view));
        }
        shown.extend(rows.next());
        shown.extend(wrap::command(&visible(&item.command), 6, view));
    }
    if answer.count < answer.total {
        let left = answer.total - answer.count;
        push_below(&mut shown, vec![format!("{left} more: --limit 0")]);
    } else if answer.more {
        push_below(&mut shown, vec!["there may be more: --limit 0".to_owned()]);
    }
    shown
}

/// Formats the heading of a cause, such as `  waits in vain (2)`.
fn cause(answer: &AttentionAnswer, kind: AttentionKind, view: &View) -> String {
    let count = answer.by_kind.get(&kind).copied().unwrap_or_default();
    let words = format!("{} ({count})", kind.cause());
    format!("  {}", view.paint.show(Style::Bold, &words))
}

fn row(item: &AttentionItem, view: &View) -> Vec<Cell> {
    let style = Style::of_severity(item.severity);
    let since = item.since.map(|at| view.ago(at));
    vec![
        free_text(style, &item.text),
        free_text(Style::Plain, item.title.as_deref().unwrap_or_default()),
        styled(Style::Dim, since.unwrap_or_default()).optional(),
        plain(item.agent.as_deref().unwrap_or_default()),
    ]
}

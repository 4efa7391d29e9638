//! What somebody has to see to: a line each, with the command that mends it.

use crate::render::prelude::*;
use teamlog_team::attention::{AttentionAnswer, AttentionItem, AttentionSeverity};

/// `since  what it is  the command that mends it`.
pub fn attention(answer: &AttentionAnswer, view: &View) -> Vec<String> {
    let said = match answer.count {
        0 => ": nothing to see to".to_owned(),
        count => format!(": {} to see to", time::plural(count as u64, "thing")),
    };
    let mut shown = vec![heading(view, &answer.team, &said)];
    let rows = answer.items.iter().map(|item| row(item, view));
    push_below(&mut shown, lines(rows, 2, view));
    if answer.more {
        push_below(&mut shown, vec!["there may be more: --limit".to_owned()]);
    }
    shown
}

fn row(item: &AttentionItem, view: &View) -> Vec<Cell> {
    let style = match item.severity {
        AttentionSeverity::Error => Style::Bad,
        AttentionSeverity::Warning => Style::Warn,
    };
    let since = item.since.map(|at| view.ago(at));
    vec![
        styled(style, &item.text),
        styled(Style::Dim, since.unwrap_or_default()),
        plain(&item.command),
    ]
}

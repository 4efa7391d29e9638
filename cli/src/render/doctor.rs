//! What `doctor` found and did.

use crate::render::View;
use crate::render::escape::visible;
use crate::render::style::Style;
use crate::render::table::{lines, plain, styled};
use teamlog_team::doctor::{DoctorAnswer, Health};

/// What `doctor check` found.
pub fn checked(answer: &DoctorAnswer, view: &View) -> Vec<String> {
    let (style, word) = shown(answer.overall_status);
    let mut shown_lines = vec![format!(
        "{}: {}",
        view.paint.show(Style::Bold, visible(&answer.team)),
        view.paint.show(style, word)
    )];
    let rows: Vec<_> = answer
        .checks
        .iter()
        .map(|check| {
            let (style, word) = shown(check.status);
            vec![
                styled(style, word),
                plain(check.name),
                plain(check.summary.as_str()),
            ]
        })
        .collect();
    shown_lines.extend(lines(&rows, 2, view.paint));
    if !answer.recommendations.is_empty() {
        shown_lines.push("to mend it:".to_owned());
        for command in &answer.recommendations {
            shown_lines.push(format!("  {}", visible(command)));
        }
    }
    shown_lines
}

fn shown(health: Health) -> (Style, &'static str) {
    match health {
        Health::Healthy => (Style::Good, "healthy"),
        Health::Warn => (Style::Warn, "warn"),
        Health::Unhealthy => (Style::Bad, "unhealthy"),
    }
}

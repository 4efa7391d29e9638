//! Draws the lines around the panels: team, error, titles and keys.

use super::pen::{Parts, Pen};
use crate::board::layout::Panel;
use crate::board::state::State;
use crate::render::style::Style;
use crate::render::time;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Draws the header, such as `teamlog  demo  #123  3 live claims      as of event 9  17:03:22`.
pub fn header(state: &State, area: Rect, pen: &mut Pen<'_>) {
    let setting = &state.setting;
    let seq = match state.seq {
        Some(seq) => format!("  #{seq}"),
        None => "  reading …".to_owned(),
    };
    let mut parts: Parts = vec![
        (" teamlog  ".to_owned(), Style::Dim),
        (setting.team.clone(), Style::Bold),
        (seq, Style::Dim),
    ];
    match setting.at {
        Some((seq, _)) => parts.push((format!("  as of event {seq}"), Style::Warn)),
        None if state.seq.is_some() => {
            let claims = time::plural(state.live_claims, "live claim");
            parts.push((format!("  {claims}"), Style::Plain));
        }
        None => {}
    }
    if !state.filter.is_empty() && !state.typing {
        parts.push((format!("  /{}", state.filter), Style::Name));
    }
    pen.line(area, &parts, false);
    let used: usize = parts.iter().map(|(text, _)| text.width()).sum();
    let clock = match setting.clock {
        crate::board::Clock::Relative => crate::board::Clock::Local,
        clock => clock,
    };
    let clock = format!("{} ", clock.show(state.now, state.now, &setting.zone));
    let (width, columns) = (clock.width(), usize::from(area.width));
    if used + width + 2 <= columns {
        let width = width as u16;
        let place = Rect::new(area.right() - width, area.y, width, area.height);
        pen.line(place, &[(clock, Style::Dim)], false);
    }
}

/// Draws the error, such as `!! damaged: MESSAGE, HINT`.
pub fn fault(state: &State, area: Rect, pen: &mut Pen<'_>) {
    let Some(fault) = &state.fault else {
        return;
    };
    let hint = fault.hint().and_then(|hint| hint.lines().next());
    let hint = hint.unwrap_or_default();
    let mut parts = vec![
        (format!(" !! {}: ", fault.code()), Style::Bad),
        (fault.message().to_owned(), Style::Plain),
    ];
    if !hint.is_empty() {
        // Shorten the message if necessary, so that the hint stays visible.
        let room = usize::from(area.width).saturating_sub(hint.width() + fault.code().width() + 10);
        parts[1].0 = super::pen::column(fault.message(), room.min(fault.message().width()));
        parts.push((format!("; {hint}"), Style::Warn));
    }
    pen.line(area, &parts, false);
    pen.reverse(area);
}

/// Draws the panel names, such as `1 Crew 2 Board 12 3 Attention 2! 4 Live`, if only one panel fits.
pub fn tabs(state: &State, area: Rect, pen: &mut Pen<'_>) {
    if area.is_empty() {
        return;
    }
    let mut place = area;
    for panel in Panel::ALL {
        let count = match (panel, state.total(panel)) {
            (Panel::Attention, count) if count > 0 => format!(" {count}"),
            _ => String::new(),
        };
        // On a narrow terminal, names are cut to five letters.
        let most = if area.width < 46 { 5 } else { usize::MAX };
        let name: String = panel.name().chars().take(most).collect();
        let text = format!(" {} {name}{count} ", panel as usize + 1);
        place.width = (text.width() as u16).min(area.right().saturating_sub(place.x));
        let chosen = panel == state.panel;
        let look = if chosen { Style::Bold } else { Style::Dim };
        pen.line(place, &[(text, look)], chosen);
        place.x += place.width;
    }
}

/// Draws a panel's title, such as `── 2 Board  12 of 30 ─────── paused, 3 new ──`.
pub fn title(state: &State, panel: Panel, area: Rect, pen: &mut Pen<'_>) {
    let area = Rect { height: 1, ..area };
    let has_keys = panel == state.panel;
    let rule = if has_keys { '━' } else { '─' };
    pen.fill(area, rule, Style::Dim);
    let look = if has_keys { Style::Bold } else { Style::Plain };
    let mut parts = vec![(format!(" {} {} ", panel as usize + 1, panel.name()), look)];
    let (words, look) = beside(state, panel);
    if !words.is_empty() {
        parts.push((format!("{words} "), look));
    }
    let place = Rect::new(area.x + 1, area.y, area.width.saturating_sub(1), 1);
    pen.line(place, &parts, false);
}

/// Returns the text after a panel's name, with its style.
fn beside(state: &State, panel: Panel) -> (String, Style) {
    let count = time::count(state.total(panel) as u64);
    match panel {
        Panel::Live if state.live.is_still() => {
            let new = time::count(state.live.unseen() as u64);
            (format!("paused, {new} new (End: back to now)"), Style::Warn)
        }
        Panel::Live => (String::new(), Style::Dim),
        Panel::Attention if state.total(panel) == 0 => (String::new(), Style::Good),
        Panel::Attention if state.has_errors() => (count, Style::Bad),
        Panel::Attention => (count, Style::Warn),
        Panel::Crew | Panel::Board => (count, Style::Dim),
    }
}

/// Draws the list of keys, or the filter while the user types it.
pub fn footer(state: &State, area: Rect, pen: &mut Pen<'_>) {
    if state.typing {
        let parts = [
            (" /".to_owned(), Style::Bold),
            (state.filter.clone(), Style::Plain),
            ("▏".to_owned(), Style::Plain),
            (
                "  Enter keeps the filter, Esc removes it".to_owned(),
                Style::Dim,
            ),
        ];
        return pen.line(area, &parts, false);
    }
    if state.live.is_still() && state.layout().panels[Panel::Live as usize].is_empty() {
        let new = time::count(state.live.unseen() as u64);
        let text = format!(" Live is paused, {new} new; p continues");
        return pen.line(area, &[(text, Style::Warn)], false);
    }
    let clock = state.setting.clock.name();
    let mut parts: Parts = Vec::new();
    for (key, does) in [
        ("?", "keys"),
        ("Tab", "next"),
        ("Enter", "details"),
        ("/", "filter"),
        ("p", "pause"),
        ("t", clock),
        ("q", "leave"),
    ] {
        parts.push((format!(" {key}"), Style::Bold));
        parts.push((format!(" {does} "), Style::Dim));
    }
    pen.line(area, &parts, false);
}

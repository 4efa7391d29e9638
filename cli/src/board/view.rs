//! Draws a state onto cells. Draws only visible rows, and escapes hidden characters in texts from the log.

mod bar;
pub mod details;
mod pen;
mod popup;
mod rows;

use super::layout::{Layout, Panel};
use super::state::State;
use crate::render::style::Style;
use pen::Pen;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub fn draw(state: &State, buffer: &mut Buffer) {
    let layout = state.layout();
    let mut pen = Pen::new(buffer, state.setting.colours);
    bar::header(state, layout.header, &mut pen);
    bar::fault(state, layout.fault, &mut pen);
    bar::tabs(state, layout.tabs, &mut pen);
    for panel in Panel::ALL {
        draw_panel(state, &layout, panel, &mut pen);
    }
    bar::footer(state, layout.footer, &mut pen);
    if let Some(shown) = &state.popup {
        popup::draw(shown, state.setting.size, &mut pen);
    }
}

/// Draws a state as lines of text, without the line that lists the keys.
pub fn plain(state: &State) -> Vec<String> {
    let (columns, rows) = state.setting.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    draw(state, &mut buffer);
    let mut lines: Vec<String> = (0..rows).map(|row| text_of(&buffer, row)).collect();
    // The last line lists the keys.
    lines.pop();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Returns the text of a row of cells. A wide character is followed by an empty cell.
pub fn text_of(buffer: &Buffer, row: u16) -> String {
    let mut text = String::new();
    let mut behind = 0;
    for column in buffer.area.left()..buffer.area.right() {
        let Some(cell) = buffer.cell((column, row)) else {
            continue;
        };
        if behind == 0 {
            text.push_str(cell.symbol());
            behind = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
        } else {
            behind -= 1;
        }
    }
    text.trim_end().to_owned()
}

fn draw_panel(state: &State, layout: &Layout, panel: Panel, pen: &mut Pen<'_>) {
    let mut area = layout.panels[panel as usize];
    if area.is_empty() {
        return;
    }
    if layout.tabs.is_empty() {
        bar::title(state, panel, area, pen);
        (area.y, area.height) = (area.y + 1, area.height - 1);
    }
    let cursor = state.cursor(panel);
    if state.len(panel) == 0 {
        area.height = area.height.min(1);
        return pen.line(area, &[(rows::nothing(state, panel), Style::Dim)], false);
    }
    for (place, row) in area.rows().zip(cursor.top..state.len(panel)) {
        let chosen = row == cursor.row && panel == state.panel;
        let parts = rows::parts(state, panel, row, usize::from(area.width));
        pen.line(place, &parts, chosen);
    }
}

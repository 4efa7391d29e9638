//! Draws the popup: a frame with names and values.

use super::pen::Pen;
use crate::board::state::Popup;
use crate::render::escape::visible;
use crate::render::style::Style;
use ratatui::layout::Rect;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Maximum width of the names, in columns of the terminal.
const NAMES: usize = 12;

/// Draws the popup in the middle of the terminal.
pub fn draw(popup: &Popup, (columns, rows): (u16, u16), pen: &mut Pen<'_>) {
    let margin = |size: u16| if size > 60 { 4 } else { 0 };
    let width = columns.saturating_sub(margin(columns)).min(100);
    let inner = usize::from(width.saturating_sub(4));
    let named = popup.lines.iter().any(|(name, _)| !name.is_empty());
    let names = if named { NAMES.min(inner / 3) } else { 0 };
    let lines = wrapped(popup, inner, names);
    let wanted = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let height = wanted.min(rows.saturating_sub(if rows > 12 { 2 } else { 0 }));
    let area = Rect::new((columns - width) / 2, (rows - height) / 2, width, height);
    pen.fill(area, ' ', Style::Plain);
    frame(popup, area, pen);
    let seen = usize::from(height.saturating_sub(2));
    let top = popup.top.min(lines.len().saturating_sub(seen));
    for (number, (name, value)) in lines.iter().skip(top).take(seen).enumerate() {
        let y = area.y + 1 + number as u16;
        let place = Rect::new(area.x + 2, y, area.width.saturating_sub(4), 1);
        let name = (super::pen::column(name, names), Style::Dim);
        pen.line(place, &[name, (value.clone(), Style::Plain)], false);
    }
}

fn frame(popup: &Popup, area: Rect, pen: &mut Pen<'_>) {
    if area.width < 2 || area.height < 2 {
        return;
    }
    pen.frame(area);
    let title = Rect::new(area.x + 1, area.y, area.width - 2, 1);
    pen.line(title, &[(format!(" {} ", popup.title), Style::Bold)], false);
    let close = " Esc closes ";
    let width = close.width() as u16;
    if area.width > width + 4 {
        let place = Rect::new(area.right() - width - 2, area.bottom() - 1, width, 1);
        pen.line(place, &[(close.to_owned(), Style::Dim)], false);
    }
}

/// Returns the lines of the popup, with values wrapped to the inner width.
fn wrapped(popup: &Popup, inner: usize, names: usize) -> Vec<(String, String)> {
    let room = inner.saturating_sub(names).max(1);
    let mut lines = Vec::new();
    for (name, value) in &popup.lines {
        let mut name = name.as_str();
        for line in value.split('\n') {
            for piece in pieces(&visible(line), room) {
                lines.push((name.to_owned(), piece));
                name = "";
            }
        }
    }
    lines
}

/// Splits a text into pieces of at most `room` columns, at spaces if possible.
fn pieces(text: &str, room: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut width = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if width + wide > room && !piece.is_empty() {
            let rest = match piece.rfind(' ') {
                Some(space) if space > 0 => {
                    let rest = piece.split_off(space + 1);
                    piece.truncate(space);
                    rest
                }
                _ => String::new(),
            };
            pieces.push(std::mem::replace(&mut piece, rest));
            width = piece.width();
        }
        piece.push(c);
        width += wide;
    }
    pieces.push(piece);
    pieces
}

//! Writes text into cells. Colours only repeat information that a word or a character also shows.

use crate::render::escape::visible;
use crate::render::style::Style;
use crate::render::table::cut;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style as CellStyle};
use ratatui::widgets::{Block, BorderType, Widget};
use unicode_width::UnicodeWidthStr;

pub type Parts = Vec<(String, Style)>;

pub struct Pen<'a> {
    buffer: &'a mut Buffer,
    colours: bool,
}

impl<'a> Pen<'a> {
    pub fn new(buffer: &'a mut Buffer, colours: bool) -> Pen<'a> {
        Pen { buffer, colours }
    }

    fn style(&self, look: Style) -> CellStyle {
        let plain = CellStyle::new();
        let coloured = |colour: Color| {
            if self.colours {
                plain.fg(colour)
            } else {
                plain
            }
        };
        match look.code() {
            None => plain,
            Some(1) => plain.add_modifier(Modifier::BOLD),
            Some(2) => plain.add_modifier(Modifier::DIM),
            Some(colour) => coloured(Color::Indexed(colour.saturating_sub(30))),
        }
    }

    /// Writes the parts of a line into cells, cut at the end of `area`. The selected line is drawn in reverse colours.
    pub fn line(&mut self, area: Rect, parts: &[(String, Style)], chosen: bool) {
        if area.is_empty() {
            return;
        }
        let mut column = area.x;
        for (text, look) in parts {
            let room = usize::from(area.right().saturating_sub(column));
            let text = cut(&visible(text), room);
            let style = self.style(*look);
            (column, _) = self.buffer.set_stringn(column, area.y, &text, room, style);
            if room == 0 {
                break;
            }
        }
        if chosen {
            self.reverse(area);
        }
    }

    pub fn fill(&mut self, area: Rect, symbol: char, look: Style) {
        let style = self.style(look);
        let text = symbol.to_string();
        for row in area.top()..area.bottom() {
            for column in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((column, row)) {
                    cell.reset();
                    cell.set_symbol(&text).set_style(style);
                }
            }
        }
    }

    /// Draws a frame around an area.
    pub fn frame(&mut self, area: Rect) {
        let block = Block::bordered().border_type(BorderType::Rounded);
        let style = self.style(Style::Dim);
        block.border_style(style).render(area, self.buffer);
    }

    pub fn reverse(&mut self, area: Rect) {
        let style = CellStyle::new().add_modifier(Modifier::REVERSED);
        self.buffer.set_style(area, style);
    }
}

/// Returns a text of exactly `width` columns, cut or padded. Hidden characters are escaped.
pub fn column(text: &str, width: usize) -> String {
    let text = cut(&visible(text), width);
    let pad = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(pad))
}

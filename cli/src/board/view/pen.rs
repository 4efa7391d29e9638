//! Putting texts on cells. Colours are a second sign only: whatever they say, a word or a character says too.

use crate::render::escape::visible;
use crate::render::table::cut;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

/// How a text stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Look {
    #[default]
    Plain,
    Bold,
    Dim,
    Good,
    Warn,
    Bad,
    /// A name of something to go to.
    Name,
}

pub type Parts = Vec<(String, Look)>;

pub struct Pen<'a> {
    buffer: &'a mut Buffer,
    colours: bool,
}

impl<'a> Pen<'a> {
    pub fn new(buffer: &'a mut Buffer, colours: bool) -> Pen<'a> {
        Pen { buffer, colours }
    }

    fn style(&self, look: Look) -> Style {
        let plain = Style::new();
        let coloured = |colour: Color| match self.colours {
            true => plain.fg(colour),
            false => plain,
        };
        match look {
            Look::Plain => plain,
            Look::Bold => plain.add_modifier(Modifier::BOLD),
            Look::Dim => plain.add_modifier(Modifier::DIM),
            Look::Good => coloured(Color::Green),
            Look::Warn => coloured(Color::Yellow),
            Look::Bad => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Look::Name => coloured(Color::Cyan),
        }
    }

    /// A line of texts, cut where it ends; the chosen one stands out, and begins with a mark where no terminal shows that.
    pub fn line(&mut self, area: Rect, parts: &[(String, Look)], chosen: bool) {
        if area.is_empty() {
            return;
        }
        let mut column = area.x;
        for (number, (text, look)) in parts.iter().enumerate() {
            let room = usize::from(area.right().saturating_sub(column));
            let text = visible(text);
            let last = number + 1 == parts.len();
            let text = match text.width() > room {
                true => cut(&text, room),
                false => text.into_owned(),
            };
            let style = self.style(*look);
            let (end, _) = self.buffer.set_stringn(column, area.y, &text, room, style);
            column = end;
            if room == 0 || last {
                break;
            }
        }
        if chosen {
            let style = Style::new().add_modifier(Modifier::REVERSED);
            self.buffer.set_style(area, style);
        }
    }

    pub fn fill(&mut self, area: Rect, symbol: char, look: Look) {
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

    pub fn reverse(&mut self, area: Rect) {
        let style = Style::new().add_modifier(Modifier::REVERSED);
        self.buffer.set_style(area, style);
    }
}

/// A text in just so many columns, cut or filled up, made visible.
pub fn column(text: &str, width: usize) -> String {
    let text = cut(&visible(text), width);
    let pad = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(pad))
}

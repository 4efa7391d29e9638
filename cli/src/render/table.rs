//! Aligned columns. Columns hold names, numbers and times, whose width is their number of characters; free text goes last.
//! Every cell is made visible as it is made, so a table cannot drive a terminal.

use crate::render::escape::visible;
use crate::render::style::{Paint, Style};
use std::fmt::Write;

/// One cell.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    style: Style,
    right: bool,
}

impl Cell {
    /// Whether it shows nothing.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// A cell in a style.
pub fn styled(style: Style, text: impl AsRef<str>) -> Cell {
    Cell {
        text: visible(text.as_ref()).into_owned(),
        style,
        right: false,
    }
}

/// A plain cell.
pub fn plain(text: impl AsRef<str>) -> Cell {
    styled(Style::Plain, text)
}

/// A plain cell aligned to the right, for numbers.
pub fn number(text: impl AsRef<str>) -> Cell {
    Cell {
        right: true,
        ..plain(text)
    }
}

/// A cell aligned to the right, in a style.
pub fn number_styled(style: Style, text: impl AsRef<str>) -> Cell {
    Cell {
        style,
        ..number(text)
    }
}

/// The rows with two spaces between columns and `indent` spaces before; nothing is padded behind a row's last cell.
pub fn lines(rows: &[Vec<Cell>], indent: usize, paint: Paint) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = cell.text.chars().count();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    rows.iter()
        .map(|row| line(row, &widths, indent, paint))
        .collect()
}

fn line(row: &[Cell], widths: &[usize], indent: usize, paint: Paint) -> String {
    let last = row.iter().rposition(|cell| !cell.is_empty());
    let mut line = " ".repeat(indent);
    for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
        if Some(column) > last {
            break;
        }
        let pad = " ".repeat(width - cell.text.chars().count());
        let shown = paint.show(cell.style, &cell.text);
        // Writing to a String cannot fail.
        let _ = match (cell.right, Some(column) == last) {
            (true, _) => write!(line, "{pad}{shown}"),
            (false, true) => write!(line, "{shown}"),
            (false, false) => write!(line, "{shown}{pad}"),
        };
        if Some(column) != last {
            line.push_str("  ");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_nothing_trails() {
        let rows = vec![
            vec![plain("dev"), number("7"), plain("busy")],
            vec![plain("a-long-name"), number("120"), plain("")],
        ];
        let shown = lines(&rows, 2, Paint::new(false));
        assert_eq!(shown, ["  dev            7  busy", "  a-long-name  120"]);
    }
}

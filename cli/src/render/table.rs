//! Aligns columns by the width of their characters on a terminal. Free text is in the last column, and is cut if a row is
//! wider than the terminal. Each cell escapes hidden characters, so a table cannot control a terminal.

use crate::render::View;
use crate::render::escape::visible;
use crate::render::style::Style;
use crate::render::wrap;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Minimum width of free text, so that rows stay distinguishable.
const FREE_TEXT_WIDTH_MIN: usize = 16;
/// Minimum width of free text beside a mark. The mark helps to distinguish rows.
const BESIDE_MARK_MIN: usize = 8;
/// If free text would get less than this width, optional columns are left out first.
const FREE_TEXT_WIDTH_GOOD: usize = 24;
/// Maximum number of columns to which free text is padded if the output is no terminal. Longer text is not cut.
const FREE_TEXT_PADDED_MAX: usize = 60;
/// The space between two columns.
const GAP: &str = "  ";

#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    /// Text at the end of the cell. This text is kept if the cell is cut.
    mark: String,
    style: Style,
    right: bool,
    free: bool,
    optional: bool,
}

impl Cell {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.mark.is_empty()
    }

    /// Adds words at the end of the cell that are never cut, such as `(lease expired)`.
    pub fn marked(self, mark: &str) -> Cell {
        let gap = if self.text.is_empty() || mark.is_empty() {
            ""
        } else {
            GAP
        };
        Cell {
            mark: format!("{gap}{}", visible(mark)),
            ..self
        }
    }

    /// Marks the column as optional. An optional column is left out if a row would be wider than the terminal.
    pub fn optional(self) -> Cell {
        Cell {
            optional: true,
            ..self
        }
    }

    /// Splits the text at spaces into cells of at most `room` columns. A longer word is cut.
    pub fn wrapped(self, room: usize) -> Vec<Cell> {
        let text = self.within(usize::MAX);
        let parts = wrap::fitted(&text, room);
        let part = |text: String| Cell {
            text: cut(text.trim(), room),
            mark: String::new(),
            ..self.clone()
        };
        parts.into_iter().map(part).collect()
    }

    fn width(&self) -> usize {
        self.text.width() + self.mark.width()
    }

    /// Returns the cell's text, cut to `width` columns.
    fn within(&self, width: usize) -> String {
        let room = width.saturating_sub(self.mark.width());
        format!("{}{}", cut(&self.text, room), self.mark)
    }
}

pub fn styled(style: Style, text: impl AsRef<str>) -> Cell {
    Cell {
        text: visible(text.as_ref()).into_owned(),
        style,
        ..Cell::default()
    }
}

/// Makes a cell with text that a person wrote, such as a subject. Only such cells may be cut.
pub fn free_text(style: Style, text: impl AsRef<str>) -> Cell {
    Cell {
        free: true,
        ..styled(style, text)
    }
}

pub fn plain(text: impl AsRef<str>) -> Cell {
    styled(Style::Plain, text)
}

/// Makes a right-aligned cell for a number.
pub fn number(text: impl AsRef<str>) -> Cell {
    Cell {
        right: true,
        ..plain(text)
    }
}

pub fn number_styled(style: Style, text: impl AsRef<str>) -> Cell {
    Cell {
        style,
        ..number(text)
    }
}

/// Makes the row with the titles of the columns.
pub fn titles<const N: usize>(titles: [&str; N]) -> Vec<Cell> {
    titles.map(|title| styled(Style::Dim, title)).to_vec()
}

/// Formats the rows, with two spaces between columns and `indent` spaces before each row. The last cell is not padded.
pub fn lines(rows: impl IntoIterator<Item = Vec<Cell>>, indent: usize, view: &View) -> Vec<String> {
    let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
    let mut columns = Columns::from_rows(&rows);
    match view.width {
        Some(terminal) => columns.narrow(terminal.saturating_sub(indent)),
        None => columns.limit_padding(),
    }
    rows.iter()
        .map(|row| line(row, &columns.0, indent, view))
        .collect()
}

struct Columns(Vec<Column>);

#[derive(Default)]
struct Column {
    width: usize,
    /// Minimum width of the column. Columns without free text cannot be narrowed.
    least: usize,
    /// Minimum width of the column while there are optional columns to leave out.
    good: usize,
    optional: bool,
    left_out: bool,
}

impl Columns {
    fn from_rows(rows: &[Vec<Cell>]) -> Columns {
        let mut columns: Vec<Column> = Vec::new();
        for row in rows {
            columns.resize_with(columns.len().max(row.len()), Column::default);
            for (column, cell) in columns.iter_mut().zip(row) {
                let width = cell.width();
                let mark = cell.mark.width();
                let down_to = |least: usize| match cell.free {
                    true => {
                        cell.text
                            .width()
                            .min(least.saturating_sub(mark).max(BESIDE_MARK_MIN))
                            + mark
                    }
                    false => width,
                };
                column.width = column.width.max(width);
                column.least = column.least.max(down_to(FREE_TEXT_WIDTH_MIN));
                column.good = column.good.max(down_to(FREE_TEXT_WIDTH_GOOD));
                column.optional |= cell.optional;
            }
        }
        Columns(columns)
    }

    /// Leaves out optional columns, and then narrows the widest columns, until a row fits or no column can be narrowed.
    fn narrow(&mut self, available: usize) {
        while self.wanted(|column| column.good) > available {
            let mut optional = self
                .0
                .iter_mut()
                .filter(|one| one.optional && !one.left_out);
            let Some(column) = optional.next_back() else {
                break;
            };
            column.left_out = true;
        }
        for _ in available..self.wanted(|column| column.width) {
            let spare = self.0.iter_mut().filter(|one| one.width > one.least);
            let spare = spare.filter(|one| !one.left_out);
            let Some(widest) = spare.max_by_key(|column| column.width) else {
                return;
            };
            widest.width -= 1;
        }
    }

    /// Limits the padding of free text, so that one long text does not widen every row.
    fn limit_padding(&mut self) {
        for column in &mut self.0 {
            if column.least < column.width {
                column.width = column.width.min(column.least.max(FREE_TEXT_PADDED_MAX));
            }
        }
    }

    /// Returns the width of a row, with the widths of columns that `width` returns.
    fn wanted(&self, width: impl Fn(&Column) -> usize) -> usize {
        let shown = self.0.iter().filter(|column| !column.left_out);
        let widths: Vec<usize> = shown.map(width).collect();
        let gaps = widths.len().saturating_sub(1) * GAP.len();
        widths.iter().sum::<usize>() + gaps
    }
}

/// Cuts the text to `width` columns. A cut text ends with `…`.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub("…".width());
    let mut kept = String::new();
    for c in text.chars() {
        let Some(rest) = room.checked_sub(c.width().unwrap_or(0)) else {
            break;
        };
        room = rest;
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

fn line(row: &[Cell], columns: &[Column], indent: usize, view: &View) -> String {
    let paint = view.paint;
    let is_shown = |(cell, column): (&Cell, &Column)| !cell.is_empty() && !column.left_out;
    let last = row.iter().zip(columns).rposition(is_shown);
    let mut line = " ".repeat(indent);
    for (at, (cell, column)) in row.iter().zip(columns).enumerate() {
        if Some(at) > last {
            break;
        }
        if column.left_out {
            continue;
        }
        let text = match view.width {
            Some(_) => cell.within(column.width),
            None => cell.within(usize::MAX),
        };
        let pad = " ".repeat(column.width.saturating_sub(text.width()));
        let shown = paint.show(cell.style, &text);
        // Writing to a `String` cannot fail.
        let _ = match (cell.right, Some(at) == last) {
            (true, _) => write!(line, "{pad}{shown}"),
            (false, true) => write!(line, "{shown}"),
            (false, false) => write!(line, "{shown}{pad}"),
        };
        if Some(at) != last {
            line.push_str(GAP);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::Paint;
    use teamlog_team::engine::Timestamp;

    fn shown(rows: &[Vec<Cell>], indent: usize, width: Option<usize>) -> Vec<String> {
        let view = View {
            paint: Paint::new(false),
            now: Timestamp::default(),
            width,
            whole: false,
        };
        lines(rows.to_vec(), indent, &view)
    }

    #[test]
    fn columns_align_and_nothing_trails() {
        let rows = vec![
            vec![plain("dev"), number("7"), plain("busy")],
            vec![plain("a-long-name"), number("120"), plain("")],
            vec![plain("名前"), number("1"), plain("wide")],
        ];
        assert_eq!(
            shown(&rows, 2, None),
            [
                "  dev            7  busy",
                "  a-long-name  120",
                "  名前           1  wide"
            ]
        );
    }

    #[test]
    fn a_long_text_pads_no_other_row_of_a_piped_table() {
        let long = "x".repeat(5_000);
        let rows = vec![
            vec![plain("1"), free_text(Style::Plain, &long), plain("later")],
            vec![plain("2"), free_text(Style::Plain, "short"), plain("later")],
        ];
        let padded = format!("2  {:60}  later", "short");
        assert_eq!(shown(&rows, 0, None), [format!("1  {long}  later"), padded]);
    }

    #[test]
    fn only_free_text_is_cut_and_only_where_a_row_does_not_fit() {
        let subject = "a subject that is far too long for this";
        let reported = "reported blocked: by something";
        let rows = vec![
            vec![
                plain("task-with-a-rather-long-id"),
                free_text(Style::Plain, subject),
                free_text(Style::Dim, reported),
            ],
            vec![plain("2"), free_text(Style::Plain, "short"), plain("")],
        ];
        let row = |subject: &str, reported: &str| {
            format!("task-with-a-rather-long-id  {subject}  {reported}")
        };
        for (width, first) in [
            (None, row(subject, reported)),
            (Some(99), row(subject, reported)),
            (Some(90), row("a subject that is far too lon…", reported)),
            (
                Some(78),
                row("a subject that is far t…", "reported blocked: by so…"),
            ),
            (Some(10), row("a subject that… ", "reported blocke…")),
        ] {
            let shown = shown(&rows, 0, width);
            assert_eq!(shown[0], first, "{width:?}");
            assert!(shown[1].ends_with("  short"), "{width:?}: {shown:?}");
        }
    }

    #[test]
    fn a_mark_is_kept_and_an_optional_column_goes_first() {
        let subject = "a subject that is far too long for this";
        let row = vec![
            plain("1"),
            plain("(5m later)").optional(),
            free_text(Style::Plain, subject).marked("(lease expired)"),
        ];
        let wide = format!("1  (5m later)  {subject}  (lease expired)");
        for (width, first) in [
            (None, &*wide),
            (Some(wide.len()), &*wide),
            (
                Some(60),
                "1  (5m later)  a subject that is far too l…  (lease expired)",
            ),
            (Some(35), "1  a subject that…  (lease expired)"),
            (Some(10), "1  a subje…  (lease expired)"),
        ] {
            assert_eq!(
                shown(std::slice::from_ref(&row), 0, width)[0],
                first,
                "{width:?}"
            );
        }
    }

    #[test]
    fn a_cut_counts_columns_and_not_characters() {
        for (text, width, expected) in [
            ("", 0, ""),
            ("fits", 4, "fits"),
            ("too long", 5, "too…"),
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ] {
            assert_eq!(cut(text, width), expected, "{text} in {width}");
        }
    }
}

//! The selection and the scroll position of a list of rows.

/// The selected row, and the first visible row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    pub row: usize,
    pub top: usize,
}

impl Cursor {
    pub fn step(&mut self, rows: isize) {
        self.row = self.row.saturating_add_signed(rows);
    }

    /// Moves the selection into a list of `len` rows, and scrolls until the selected row is within the `height` visible rows.
    pub fn settle(&mut self, len: usize, height: usize) {
        self.row = self.row.min(len.saturating_sub(1));
        let height = height.max(1);
        self.top = self.top.min(len.saturating_sub(height));
        self.top = self.top.min(self.row);
        self.top = self.top.max((self.row + 1).saturating_sub(height));
    }
}

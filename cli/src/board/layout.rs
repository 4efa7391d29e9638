//! Divides the terminal into the areas of the board.

use ratatui::layout::Rect;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Panel {
    /// The agents and their work.
    #[default]
    Crew,
    /// The tasks.
    Board,
    /// The items that need attention.
    Attention,
    /// The newest events.
    Live,
}

impl Panel {
    /// All panels in the order of their numbers.
    pub const ALL: [Panel; 4] = [Panel::Crew, Panel::Board, Panel::Attention, Panel::Live];

    pub fn name(self) -> &'static str {
        match self {
            Panel::Crew => "Crew",
            Panel::Board => "Board",
            Panel::Attention => "Attention",
            Panel::Live => "Live",
        }
    }

    /// Returns the panel that is `steps` panels later. After the last panel comes the first.
    pub fn on(self, steps: usize) -> Panel {
        Panel::ALL[(self as usize + steps) % Panel::ALL.len()]
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// The first row, which shows the team.
    pub header: Rect,
    /// Row for an error. The height of the row is zero without an error.
    pub fault: Rect,
    /// Row with the names of all panels, used if only one panel fits.
    pub tabs: Rect,
    /// Areas of the panels by panel number, including titles. A hidden panel has an empty area.
    pub panels: [Rect; 4],
    /// The last row, which lists the keys.
    pub footer: Rect,
}

/// Minimum number of columns for showing panels side by side.
const WIDE: u16 = 120;
/// Minimum number of rows and of columns for showing more than one panel.
const SHORT: u16 = 18;
const NARROW: u16 = 50;

impl Layout {
    /// Divides the area of the terminal. `fault` reserves a row for an error. `focus` is the selected panel.
    pub fn new(area: Rect, fault: bool, focus: Panel) -> Layout {
        let mut rest = area;
        let mut layout = Layout {
            header: from_top(&mut rest, 1),
            ..Layout::default()
        };
        layout.fault = from_top(&mut rest, u16::from(fault));
        if rest.height > 3 {
            layout.footer = Rect {
                y: rest.bottom() - 1,
                height: 1,
                ..rest
            };
            rest.height -= 1;
        }
        if area.height < SHORT || area.width < NARROW {
            let tabs = u16::from(rest.height > 2);
            layout.tabs = from_top(&mut rest, tabs);
            layout.panels[focus as usize] = rest;
        } else if area.width >= WIDE {
            let left = Rect {
                width: rest.width * 9 / 20,
                ..rest
            };
            let right = Rect {
                x: left.right() + 1,
                width: rest.width - left.width - 1,
                ..rest
            };
            // The left column has Crew and Attention, the right column has Board and Live.
            let columns = [(left, [0, 2]), (right, [1, 3])];
            for (mut column, panels) in columns {
                let half = column.height.div_ceil(2);
                let upper = from_top(&mut column, half);
                for (panel, area) in panels.into_iter().zip([upper, column]) {
                    layout.panels[panel] = area;
                }
            }
        } else {
            // All panels are stacked, and the selected panel gets twice the height of the others.
            let parts = Panel::ALL.len() as u16 + 1;
            let (part, mut spare) = (rest.height / parts, rest.height % parts);
            for panel in Panel::ALL {
                let mut height = if panel == focus { part * 2 } else { part };
                if spare > 0 {
                    (height, spare) = (height + 1, spare - 1);
                }
                layout.panels[panel as usize] = from_top(&mut rest, height);
            }
        }
        layout
    }

    /// Returns the number of list rows that a panel can show.
    pub fn rows(&self, panel: Panel) -> usize {
        let height = self.panels[panel as usize].height;
        let title = u16::from(self.tabs.height == 0);
        usize::from(height.saturating_sub(title))
    }
}

fn from_top(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let taken = Rect {
        height: rows,
        ..*rest
    };
    rest.y += rows;
    rest.height -= rows;
    taken
}

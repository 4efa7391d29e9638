//! Colour, where somebody can see it: on a terminal that did not ask for none.

use std::fmt::{self, Display};

/// How a piece of text stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    #[default]
    Plain,
    /// A name or a heading.
    Bold,
    /// Detail that the eye may skip.
    Dim,
    /// It went well.
    Good,
    /// Worth a look.
    Warn,
    /// It did not go well.
    Bad,
    /// The name of something to go to.
    Name,
}

/// Whether to colour; decided once per stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    on: bool,
}

impl Paint {
    pub fn new(on: bool) -> Paint {
        Paint { on }
    }

    pub fn is_on(self) -> bool {
        self.on
    }

    /// The text in that style. Padding is the caller's business: escapes have no width but do have length.
    pub fn show(self, style: Style, text: impl Display) -> impl Display {
        let style = if self.on { style } else { Style::Plain };
        Painted { style, text }
    }
}

struct Painted<T> {
    style: Style,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = match self.style {
            Style::Plain => return self.text.fmt(f),
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Warn => "33",
            Style::Bad => "31",
            Style::Name => "36",
        };
        write!(f, "\x1b[{code}m{}\x1b[0m", self.text)
    }
}

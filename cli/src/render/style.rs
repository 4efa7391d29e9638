//! Colours for output to a terminal.

use std::fmt::{self, Display};

/// Style of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    #[default]
    Plain,
    /// A name or a heading.
    Bold,
    /// Unimportant detail.
    Dim,
    /// Success.
    Good,
    /// Warning.
    Warn,
    /// Failure.
    Bad,
    /// A name that can be used in another command.
    Name,
}

/// Turns colours on or off for one stream.
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

    /// Returns the text in a style. The caller must pad the text before this call, because colour escapes would count
    /// as characters although they have no width.
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

//! Renders answers for people. Each function converts an answer into lines.
//!
//! Invariants: every text from outside is escaped with [`escape::visible`]; no line ends with a space; equal answers give
//! equal lines with and without a terminal, except for colours and for text and columns that do not fit the terminal.

pub mod age;
pub mod artifact;
pub mod attention;
pub mod attributes;
pub mod awaited;
pub mod bootstrap;
pub mod claim;
pub mod config;
pub mod delivery;
pub mod diff;
pub mod doctor;
pub mod doubts;
pub mod escape;
pub mod event;
pub mod find;
pub mod hand;
pub mod inbox;
pub mod integrity;
pub mod mode;
pub mod moving;
pub mod paths;
mod prelude;
pub mod pretty;
pub mod projection;
pub mod prompt;
pub mod retire;
pub mod status;
pub mod style;
pub mod subscription;
pub mod table;
pub mod task;
pub mod teams;
pub mod thread;
pub mod time;
pub mod timeline;
pub mod token;
pub mod usage;
pub mod who;
pub mod wrap;

use std::borrow::Cow;
use style::Paint;
use teamlog_team::engine::Timestamp;

/// Settings for rendering.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Colours, or none.
    pub paint: Paint,
    /// Reference time for relative times.
    pub now: Timestamp,
    /// Width of the terminal in columns; `None` if the output is not a terminal.
    pub width: Option<usize>,
    /// True to show all items, even if they fill more than a screen.
    pub whole: bool,
}

impl View {
    /// Formats the time since `then`.
    pub fn ago(&self, then: Timestamp) -> String {
        time::ago(self.now.micros(), then.micros())
    }

    /// Formats the time since `then`, which is a text. Returns an empty text if `then` is not a time.
    pub fn ago_of(&self, then: &str) -> String {
        Timestamp::parse(then).map_or_else(|_| String::new(), |then| self.ago(then))
    }
}

/// Largest number of characters of a text in an answer, unless the whole text is wanted.
const SHOWN_MAX: usize = 1_000;

/// Shortens a long text, and says how many characters are left out.
pub fn shortened<'t>(text: &'t str, view: &View) -> Cow<'t, str> {
    let cut = text.char_indices().nth(SHOWN_MAX);
    match cut.and_then(|(end, _)| text.split_at_checked(end)) {
        Some((kept, rest)) if !view.whole => {
            let more = time::count(rest.chars().count() as u64);
            format!("{kept}… ({more} more characters, see --full)").into()
        }
        _ => text.into(),
    }
}

/// Returns the line with the command for the next page, if there is a next page.
pub fn more(words: &str, cursor: &Option<String>) -> Option<String> {
    let cursor = cursor.as_deref()?;
    Some(format!("{words}: --cursor {}", escape::visible(cursor)))
}

/// Returns an empty line and the line of [`more`], if there is a next page.
pub fn more_below(words: &str, cursor: &Option<String>) -> Vec<String> {
    let more = more(words, cursor);
    more.map_or_else(Vec::new, |more| vec![String::new(), more])
}

/// Renders rows and the command for the next page. Without rows, renders the text `nothing`.
pub fn page(
    rows: impl IntoIterator<Item = Vec<table::Cell>>,
    nothing: &str,
    (words, cursor): (&str, &Option<String>),
    view: &View,
) -> Vec<String> {
    let mut shown = table::lines(rows, 0, view);
    if shown.is_empty() {
        shown.push(nothing.to_owned());
    }
    shown.extend(more(words, cursor));
    shown
}

/// Appends an empty line and the lines `below`, if there are any.
pub fn push_below(shown: &mut Vec<String>, below: Vec<String>) {
    if !below.is_empty() {
        shown.push(String::new());
        shown.extend(below);
    }
}

/// Returns the names, or `none` if there are none.
pub fn names_or(none: &str, names: &[String]) -> String {
    if names.is_empty() {
        none.to_owned()
    } else {
        names.join(", ")
    }
}

/// Formats a heading from a name and further words.
pub fn heading(view: &View, name: &str, rest: &str) -> String {
    let name = escape::visible(name);
    let rest = escape::visible(rest);
    format!("{}{rest}", view.paint.show(style::Style::Bold, name))
}

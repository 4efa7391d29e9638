//! Answers for people: each function takes an answer and gives lines.
//!
//! Invariants: every text that came from outside passes through [`escape::visible`]; no line ends in a space;
//! the same answer gives the same lines on and off a terminal, but for colours, and for what is cut or left out where a line
//! would be wider than the terminal.

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
pub mod flow;
pub mod hand;
pub mod inbox;
pub mod integrity;
pub mod mode;
pub mod moving;
pub mod paths;
mod prelude;
pub mod pretty;
pub mod prompt;
pub mod status;
pub mod style;
pub mod table;
pub mod task;
pub mod teams;
pub mod thread;
pub mod time;
pub mod timeline;
pub mod token;
pub mod usage;
pub mod who;

use style::Paint;
use teamlog_team::engine::Timestamp;

/// How and when things are shown.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Colours, or none.
    pub paint: Paint,
    /// The time that relative times refer to.
    pub now: Timestamp,
    /// How many columns the terminal has, if one shows it.
    pub width: Option<usize>,
    /// Shows everything, however many screens it takes.
    pub whole: bool,
}

impl View {
    /// How long ago something was.
    pub fn ago(&self, then: Timestamp) -> String {
        time::ago(self.now.micros(), then.micros())
    }

    /// The same of a time as text; nothing where it is none.
    pub fn ago_of(&self, then: &str) -> String {
        Timestamp::parse(then).map_or_else(|_| String::new(), |then| self.ago(then))
    }
}

/// How to go on to the next page, if there is one.
pub fn more(words: &str, cursor: &Option<String>) -> Option<String> {
    let cursor = cursor.as_deref()?;
    Some(format!("{words}: --cursor {}", escape::visible(cursor)))
}

/// The same behind an empty line.
pub fn more_below(words: &str, cursor: &Option<String>) -> Vec<String> {
    let more = more(words, cursor);
    more.map_or_else(Vec::new, |more| vec![String::new(), more])
}

/// A page of rows and how to go on, or that there is nothing.
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

/// Lines behind an empty one, if there are any.
pub fn push_below(shown: &mut Vec<String>, below: Vec<String>) {
    if !below.is_empty() {
        shown.push(String::new());
        shown.extend(below);
    }
}

/// Names, or that word where there are none.
pub fn names_or(none: &str, names: &[String]) -> String {
    if names.is_empty() {
        none.to_owned()
    } else {
        names.join(", ")
    }
}

/// A heading that names what follows and for whom.
pub fn heading(view: &View, name: &str, rest: &str) -> String {
    let name = escape::visible(name);
    let rest = escape::visible(rest);
    format!("{}{rest}", view.paint.show(style::Style::Bold, name))
}

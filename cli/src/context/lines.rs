//! Prints events to standard output, one per line.

use crate::exit::CommandError;
use crate::output::Output;
use crate::render::{View, event};
use crate::stream::EventSink;
use std::ops::ControlFlow;
use teamlog_team::engine::Event;

pub struct Lines<'a> {
    out: &'a mut Output,
    view: View,
    /// True until the first line.
    pub is_empty: bool,
    pub written: Result<(), CommandError>,
}

impl<'a> Lines<'a> {
    pub fn new(out: &'a mut Output, view: View) -> Lines<'a> {
        Lines {
            view,
            out,
            is_empty: true,
            written: Ok(()),
        }
    }
    fn goes_on(&self) -> ControlFlow<()> {
        match self.written.is_err() || self.out.reader_left() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl EventSink for Lines<'_> {
    fn event(&mut self, event: &Event<'_>, json: &[u8]) -> ControlFlow<()> {
        self.is_empty = false;
        self.written = match self.out.is_json() {
            true => self.out.json_line(json),
            false => self.out.line(event::line(event, &self.view)),
        };
        self.goes_on()
    }
    fn json(&mut self, line: &[u8]) -> ControlFlow<()> {
        self.is_empty = false;
        self.written = self.out.json_line(line);
        self.goes_on()
    }
    fn idle(&mut self) -> ControlFlow<()> {
        if self.written.is_ok() {
            self.written = self.out.flush();
        }
        self.goes_on()
    }
}

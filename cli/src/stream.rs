//! Streams of events, finite or endless: the request for a stream, and the receiver of its events.

use crate::exit::CommandError;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use teamlog_team::engine::Event;
use teamlog_team::log::replay::Replay;
use teamlog_team::log::tail::Tail;

/// A request for a stream of events. The stream ends after the last event, or follows the log forever.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Streamed {
    Replay(Replay),
    Tail(Tail),
    /// Events that match a filter: existing events, and later events as they are recorded.
    Follow(Tail),
    /// `export`: every event.
    Export,
    /// Every event in the format of an audit log.
    Audit,
}

/// Receives the events of a stream.
pub trait EventSink {
    fn event(&mut self, event: &Event<'_>, json: &[u8]) -> ControlFlow<()>;
    fn json(&mut self, line: &[u8]) -> ControlFlow<()>;
    /// Called after all existing events were passed on, if later events may follow.
    fn idle(&mut self) -> ControlFlow<()>;
}

impl Streamed {
    /// Returns true if events are printed as text. An export is always JSON.
    pub fn has_words(&self) -> bool {
        !matches!(self, Streamed::Export | Streamed::Audit)
    }

    /// Returns the filter of a stream that ends at the end of the log; `None` for other streams.
    pub fn finite_filter(&self) -> Option<&Replay> {
        match self {
            Streamed::Replay(replay) => Some(replay),
            Streamed::Tail(tail) => Some(&tail.filter).filter(|_| tail.last != Some(0)),
            Streamed::Follow(_) | Streamed::Export | Streamed::Audit => None,
        }
    }

    /// Passes the events of the stream to `sink` until `sink` returns `Break`.
    pub fn run(
        self,
        team: &mut teamlog_team::Team,
        sink: &mut dyn EventSink,
    ) -> Result<(), CommandError> {
        match self {
            Streamed::Replay(replay) => {
                team.replay(replay, &mut |event, json| sink.event(event, json))?;
            }
            Streamed::Tail(tail) => {
                team.tail(&tail, &mut |event, json| sink.event(event, json))?;
            }
            Streamed::Follow(tail) => {
                let sink = std::cell::RefCell::new(sink);
                team.follow(
                    &tail,
                    &mut |event, json| sink.borrow_mut().event(event, json),
                    // Flush the lines that were written.
                    &mut || sink.borrow_mut().idle(),
                )?;
            }
            Streamed::Export => {
                team.export(&mut |line| sink.json(line))?;
            }
            Streamed::Audit => {
                team.export_audit(&mut |line| sink.json(line))?;
            }
        }
        Ok(())
    }
}

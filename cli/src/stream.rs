//! Streams of events, which end once they were read, or never: what is asked for, and what takes the events.

use crate::exit::CommandError;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use teamlog_team::engine::Event;
use teamlog_team::log::replay::Replay;
use teamlog_team::log::tail::Tail;

/// A request for a stream of events. A stream ends after its last event, or follows the log without an end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Streamed {
    Replay(Replay),
    Tail(Tail),
    /// Either, and whatever is appended from then on.
    Follow(Tail),
    /// `export`: every event.
    Export,
    /// Every event, in the form for auditors.
    Audit,
}

/// Takes the events of a stream, one by one.
pub trait Sink {
    fn event(&mut self, event: &Event<'_>, json: &[u8]) -> ControlFlow<()>;
    fn json(&mut self, line: &[u8]) -> ControlFlow<()>;
    /// There is nothing more for the moment.
    fn idle(&mut self) -> ControlFlow<()>;
}

impl Streamed {
    /// True if the events are shown in words to people; an export is JSON for everybody.
    pub fn has_words(&self) -> bool {
        !matches!(self, Streamed::Export | Streamed::Audit)
    }

    /// Hands the events of the stream to `sink` until it breaks off.
    pub fn run(
        self,
        team: &mut teamlog_team::Team,
        sink: &mut dyn Sink,
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
                    // Nobody shall wait for a line that is there.
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

//! A listener of a stream: its filter, position and queue.

use super::frame;
use hyper::body::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use teamlog_team::engine::Event;
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::log::replay::Replay;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Maximum number of queued events per client.
pub const QUEUE: usize = 1_000;
/// Maximum number of queued bytes per client.
const QUEUE_BYTES: usize = 4 << 20;
/// Number of earlier events that are read at a time.
const PAGE: usize = 256;
/// Number of queue places that are reserved for the last frame.
const RESERVE: usize = 1;

/// A client of a stream.
#[derive(Debug)]
pub struct Listener {
    asked: Events,
    filter: Replay,
    /// The agent that listens, if known. Claim tokens of other agents are removed from its events.
    agent: Option<String>,
    /// The log was read up to this seq for the listener.
    cursor: u64,
    queue: Sender<Bytes>,
    load: Arc<AtomicUsize>,
}

/// Error of a full queue.
#[derive(Debug)]
pub struct Full;

impl Listener {
    /// Makes a listener that has all events up to `after`. Also returns the receiving end of its queue.
    pub fn new(asked: Events, after: u64, agent: Option<String>) -> (Listener, Receiver<Bytes>) {
        let (queue, frames) = channel(QUEUE + RESERVE);
        let listener = Listener {
            filter: asked.filter(),
            asked,
            agent,
            cursor: after,
            queue,
            load: Arc::default(),
        };
        let _ = listener.send(frame::hello(after).into());
        (listener, frames)
    }

    /// Returns true if the client disconnected.
    pub fn is_gone(&self) -> bool {
        self.queue.is_closed()
    }

    /// Returns true if the listener has every event up to the seq `of`.
    pub fn is_abreast(&self, of: u64) -> bool {
        self.cursor >= of
    }

    /// Returns the number of events for which the queue has room.
    fn room(&self) -> usize {
        match self.load.load(Ordering::Relaxed) < QUEUE_BYTES {
            true => self.queue.capacity().saturating_sub(RESERVE),
            false => 0,
        }
    }

    /// Returns the query for the next page of earlier events, or `None` if the queue has no room.
    pub fn wants(&self) -> Option<Events> {
        match self.room().min(PAGE) {
            0 => None,
            limit => Some(Events {
                after: Some(self.cursor),
                limit: Some(limit),
                ..self.asked.clone()
            }),
        }
    }

    /// Queues a page of earlier events.
    pub fn take_page(&mut self, page: &EventsAnswer) -> Result<(), Full> {
        for recorded in &page.events {
            // A page is limited by number of events. If the bytes of the page do not fit, the remaining events are
            // read again later.
            self.send_event(frame::event(&recorded.event))?;
            self.cursor = recorded.event.seq;
        }
        self.cursor = page.next_after;
        Ok(())
    }

    /// Queues a new event if the listener does not have it yet and its filter matches.
    pub fn take(&mut self, event: &Event<'_>, frame: &Bytes) -> Result<(), Full> {
        if event.seq <= self.cursor {
            return Ok(());
        }
        if self.filter.matches(event) {
            self.send_event(frame.clone())?;
        }
        self.cursor = event.seq;
        Ok(())
    }

    fn send_event(&self, frame: Bytes) -> Result<(), Full> {
        let agent = self.agent.as_deref();
        self.send(agent.map_or(frame.clone(), |agent| frame::redacted(frame, agent)))
    }

    fn send(&self, frame: Bytes) -> Result<(), Full> {
        if self.room() == 0 {
            return Err(Full);
        }
        let frame = frame::counted(frame, &self.load);
        // Sending fails if the client disconnected.
        let _ = self.queue.try_send(frame);
        Ok(())
    }

    /// Queues the last frame, with the reason `why`.
    pub fn cut(self, why: &str) {
        let _ = self.queue.try_send(frame::cut(self.cursor, why).into());
    }
}

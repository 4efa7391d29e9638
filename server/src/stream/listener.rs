//! A listener of a stream: its filter, position and queue.

use super::frame;
use hyper::body::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use teamlog_team::engine::Event;
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::log::replay::Replay;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Most queued events of a client.
pub const QUEUE: usize = 1_000;
/// Most queued bytes of a client.
const QUEUE_BYTES: usize = 4 << 20;
/// Events of the past read at a time.
const PAGE: usize = 256;
/// Queue space reserved for the last frame.
const RESERVE: usize = 1;

/// A listener of a stream.
#[derive(Debug)]
pub struct Listener {
    asked: Events,
    filter: Replay,
    /// The listening agent, if known; claim tokens of other agents are removed for it.
    agent: Option<String>,
    /// Seq up to which the log was searched for this listener.
    cursor: u64,
    queue: Sender<Bytes>,
    load: Arc<AtomicUsize>,
}

/// Error: the queue is full.
#[derive(Debug)]
pub struct Full;

impl Listener {
    /// Creates a listener that has everything up to `after`; also returns the receiving end of its queue.
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

    /// Returns true if the listener has every event up to `of`.
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

    /// Returns the query for the next page of the past, if there is room.
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

    /// Queues a page of the past.
    pub fn take_page(&mut self, page: &EventsAnswer) -> Result<(), Full> {
        for recorded in &page.events {
            // The page's size is limited in events; if it has too many bytes, the rest is read again.
            self.send_event(frame::event(&recorded.event))?;
            self.cursor = recorded.event.seq;
        }
        self.cursor = page.next_after;
        Ok(())
    }

    /// Queues a new event, if the listener lacks it and its filter matches.
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
        // If the client is gone, the frame is not needed.
        let _ = self.queue.try_send(frame);
        Ok(())
    }

    /// Queues the last frame.
    pub fn cut(self, why: &str) {
        let _ = self.queue.try_send(frame::cut(self.cursor, why).into());
    }
}

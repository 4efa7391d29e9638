//! One who listens: what it wants, how far it is, and its queue.

use super::frame;
use hyper::body::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use teamlog_team::engine::Event;
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::log::replay::Replay;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events that wait for a client at most.
pub const QUEUE: usize = 1_000;
/// Bytes that do.
const QUEUE_BYTES: usize = 4 << 20;
/// Events of the past that are read at a time.
const PAGE: usize = 256;
/// Place for the last word, whatever waits.
const RESERVE: usize = 1;

/// One who listens.
#[derive(Debug)]
pub struct Listener {
    asked: Events,
    filter: Replay,
    /// The agent that listens, from which the tokens of others are kept.
    agent: Option<String>,
    /// The last seq that was looked at for it.
    cursor: u64,
    queue: Sender<Bytes>,
    load: Arc<AtomicUsize>,
}

/// The queue is full.
#[derive(Debug)]
pub struct Full;

impl Listener {
    /// One that knows everything up to `after`, and the other end of its queue.
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

    /// Whether the client went.
    pub fn is_gone(&self) -> bool {
        self.queue.is_closed()
    }

    /// Whether what comes next is new to everybody.
    pub fn is_abreast(&self, of: u64) -> bool {
        self.cursor >= of
    }

    /// How many events have room.
    fn room(&self) -> usize {
        match self.load.load(Ordering::Relaxed) < QUEUE_BYTES {
            true => self.queue.capacity().saturating_sub(RESERVE),
            false => 0,
        }
    }

    /// What to read of the past, as far as there is room.
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

    /// Takes what was read of the past.
    pub fn take_page(&mut self, page: &EventsAnswer) -> Result<(), Full> {
        for recorded in &page.events {
            // A page was measured in events; where its bytes are too many, the rest is read again.
            self.send_event(frame::event(&recorded.event))?;
            self.cursor = recorded.event.seq;
        }
        self.cursor = page.next_after;
        Ok(())
    }

    /// Takes what was just recorded, if it is new and wanted.
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
        // Where the client went, nobody misses it.
        let _ = self.queue.try_send(frame);
        Ok(())
    }

    /// Says the last word.
    pub fn cut(self, why: &str) {
        let _ = self.queue.try_send(frame::cut(self.cursor, why).into());
    }
}

//! What one connection is doing, and until when it may: the one place that knows when a client is too slow.

use crate::limits::Limits;
use crate::wire::head::{HeadFault, Heads};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// The state of a connection, told by what reads and writes it and by what answers.
#[derive(Debug)]
pub(crate) struct ConnectionTimeouts {
    state: Mutex<State>,
    limits: Limits,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Since when an answer waits for a client that takes none of it.
    stalled: Option<Instant>,
    /// Whether something of an answer of ours may still wait to be written.
    owes: bool,
    heads: Heads,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing was heard yet.
    Silent(Instant),
    /// A head has begun.
    Head(Instant),
    /// A request is answered.
    Busy,
    /// It was answered, and the next has not begun.
    Idle(Instant),
    /// Nothing more is said; what the client still says is read away.
    Lingering(Instant),
}

impl ConnectionTimeouts {
    pub fn new(limits: Limits) -> ConnectionTimeouts {
        ConnectionTimeouts {
            state: Mutex::new(State {
                phase: Phase::Silent(Instant::now()),
                stalled: None,
                owes: false,
                heads: Heads::default(),
            }),
            limits,
        }
    }

    /// When the connection is to be cut, unless something happens before.
    pub fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        let phase = match state.phase {
            Phase::Silent(since) | Phase::Head(since) => Some(since + self.limits.head_time),
            Phase::Busy => None,
            Phase::Idle(since) => Some(since + self.limits.idle_time),
            Phase::Lingering(since) => Some(since + self.limits.linger_time),
        };
        let stall = state.stalled.map(|since| since + self.limits.stall_time);
        [phase, stall].into_iter().flatten().min()
    }

    /// Bytes came in.
    pub fn heard(&self, bytes: &[u8]) {
        let mut state = self.state();
        if matches!(state.phase, Phase::Silent(_) | Phase::Idle(_)) {
            state.phase = Phase::Head(Instant::now());
        }
        state.heads.heard(bytes);
    }

    /// The parser has taken a head.
    pub fn request(&self) -> Result<(), HeadFault> {
        let mut state = self.state();
        state.phase = Phase::Busy;
        state.owes = true;
        state.heads.next()
    }

    /// Whether the head that the parser could not take announces more than a body may have.
    pub fn is_too_much(&self) -> bool {
        let declared = self.state().heads.declared();
        declared.is_some_and(|bytes| bytes > self.limits.body_bytes as u64)
    }

    /// The most bytes of a body.
    pub fn body_bytes(&self) -> usize {
        self.limits.body_bytes
    }

    /// Whether the connection must be closed after the request at hand.
    pub fn is_last(&self) -> bool {
        self.state().heads.is_over()
    }

    /// The last piece of an answer was handed over.
    pub fn answered(&self) {
        let mut state = self.state();
        if state.phase == Phase::Busy {
            state.phase = Phase::Idle(Instant::now());
        }
    }

    /// Everything that was handed over was written.
    pub fn flushed(&self) {
        let mut state = self.state();
        state.owes = state.phase == Phase::Busy;
    }

    /// Whether what is written may be part of an answer of ours.
    pub fn owes(&self) -> bool {
        self.state().owes
    }

    /// Whether nothing was ever heard.
    pub fn is_silent(&self) -> bool {
        matches!(self.state().phase, Phase::Silent(_))
    }

    /// The client took something, or nothing.
    pub fn wrote(&self, progress: bool) {
        let mut state = self.state();
        match progress {
            true => state.stalled = None,
            false => {
                state.stalled.get_or_insert_with(Instant::now);
            }
        }
    }

    /// The answer's end was sent.
    pub fn lingers(&self) {
        let mut state = self.state();
        state.stalled = None;
        if !matches!(state.phase, Phase::Lingering(_)) {
            state.phase = Phase::Lingering(Instant::now());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

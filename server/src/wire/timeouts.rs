//! State and timeouts of a connection. Only this module decides if a client is too slow.

use crate::limits::Limits;
use crate::wire::head::{HeadFault, Heads};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// State of a connection. Reads, writes and the code that answers requests update it.
#[derive(Debug)]
pub(crate) struct ConnectionTimeouts {
    state: Mutex<State>,
    limits: Limits,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Time since which the client accepts no bytes of a pending answer.
    stalled: Option<Instant>,
    /// True if a part of an answer is possibly still unwritten.
    response_pending: bool,
    heads: Heads,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No byte was received yet.
    Silent(Instant),
    /// A part of a head was received.
    Head(Instant),
    /// A request is being answered.
    Busy,
    /// The last request was answered, and the next request has not begun.
    Idle(Instant),
    /// The daemon has closed its side, and discards further input.
    Lingering(Instant),
}

impl ConnectionTimeouts {
    pub fn new(limits: Limits) -> ConnectionTimeouts {
        ConnectionTimeouts {
            state: Mutex::new(State {
                phase: Phase::Silent(Instant::now()),
                stalled: None,
                response_pending: false,
                heads: Heads::default(),
            }),
            limits,
        }
    }

    /// Returns the time at which the connection must be closed unless it makes progress.
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

    /// Records that bytes were received.
    pub fn heard(&self, bytes: &[u8]) {
        let mut state = self.state();
        if matches!(state.phase, Phase::Silent(_) | Phase::Idle(_)) {
            state.phase = Phase::Head(Instant::now());
        }
        state.heads.heard(bytes);
    }

    /// Records that the parser accepted a head.
    pub fn request(&self) -> Result<(), HeadFault> {
        let mut state = self.state();
        state.phase = Phase::Busy;
        state.response_pending = true;
        state.heads.next()
    }

    /// Returns true if the parser refused a head that declares a body beyond the limit.
    pub fn body_too_large(&self) -> bool {
        let declared = self.state().heads.declared();
        declared.is_some_and(|bytes| bytes > self.limits.body_bytes as u64)
    }

    /// Returns the maximum size of a body.
    pub fn body_bytes(&self) -> usize {
        self.limits.body_bytes
    }

    /// Returns true if the connection must be closed after the current request.
    pub fn is_last(&self) -> bool {
        self.state().heads.is_over()
    }

    /// Records that the last piece of an answer was passed on.
    pub fn answered(&self) {
        let mut state = self.state();
        if state.phase == Phase::Busy {
            state.phase = Phase::Idle(Instant::now());
        }
    }

    /// Records that all bytes that were passed on were written.
    pub fn flushed(&self) {
        let mut state = self.state();
        state.response_pending = state.phase == Phase::Busy;
    }

    /// Returns true if bytes that are written now can belong to an answer of a handler.
    pub fn response_pending(&self) -> bool {
        self.state().response_pending
    }

    /// Returns true if no byte was received yet.
    pub fn is_silent(&self) -> bool {
        matches!(self.state().phase, Phase::Silent(_))
    }

    /// Records a write. `progress` is true if the client accepted bytes.
    pub fn wrote(&self, progress: bool) {
        let mut state = self.state();
        match progress {
            true => state.stalled = None,
            false => {
                state.stalled.get_or_insert_with(Instant::now);
            }
        }
    }

    /// Records that the end of the answer was sent.
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

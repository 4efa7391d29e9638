//! `await-event`: waits, without polling, until any process records an event in a team.

use crate::handle::follower::Follower;
use crate::log::event_type::EventType;
use crate::log::read_events::FILTERS;
use crate::log::read_events::{Filter, Stream, place_of};
use crate::log::team_event::TeamEvent;
use crate::operation::prelude::*;

operation! {
    /// Wait until an event is recorded in a team
    "await-event": Waits(AwaitEvent {
        /// Id of the last event that the caller knows; if absent, the newest event, so that the wait ignores all present events
        #[arg(long = "after", value_name = "EVENT_ID", alias = "after-event-id")]
        after_event_id: Option<String>,
        /// True to wait only for events that wake a waiting agent; false if absent
        wakeable_only: Option<bool>,
        /// Only events with this type, either as recorded or as reported
        #[serde(rename = "type")]
        #[arg(long = "type", value_name = "EVENT_TYPE")]
        kind: Option<EventType>,
        /// Only events of this worker
        #[arg(long, value_name = "AGENT")]
        worker: Option<String>,
        /// Only events of this task
        #[arg(long, value_name = "TASK")]
        task_id: Option<String>,
        /// Longest wait in milliseconds; 30000 if absent
        #[arg(long, value_name = "MILLISECONDS", value_parser = crate::argv::whole::<u64>)]
        timeout_ms: Option<u64>,
        /// Ignored, because the operation does not poll
        poll_ms: Option<u64>,
    }) -> AwaitEventAnswer = |team, asked| team.await_event(&asked),
    refuses = [LogReplaced],
    rules = FILTERS
}

/// Result of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AwaitStatus {
    /// An event was recorded
    Event,
    /// No event was recorded in time
    Timeout,
}

/// The answer `{status, cursor, event}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AwaitEventAnswer {
    /// Result of the wait
    pub status: AwaitStatus,
    /// Cursor to pass as `after_event_id` to the next call. The next call then misses no event
    pub cursor: String,
    /// The event in canonical form; `null` after a timeout
    pub event: Option<TeamEvent>,
}

impl Team {
    /// Waits until an event is recorded, or until the caller disconnects. Takes no lock.
    pub fn await_event(&mut self, wait: &AwaitEvent) -> Result<AwaitEventAnswer> {
        let deadline = self.control.deadline.clone();
        let timeout = deadline.wait(wait.timeout_ms)?;
        // If the timeout is too large to add, waits without a limit.
        let end = Instant::now().checked_add(timeout);
        let known = wait.after_event_id.as_deref().map(str::trim);
        let known = known.filter(|known| !known.is_empty());
        let mut cursor = String::new();
        let mut follower = Follower::start(self, |live, reader| {
            let head = reader.head();
            let known = match known {
                Some(id) => place_of(live, reader, id)?.map(|(seq, _)| (seq, id.to_owned())),
                None => None,
            };
            // If the cursor names no event, waits only for new events.
            let newest = || head.last_id.map(|id| id.to_string()).unwrap_or_default();
            let (seq, id) = known.unwrap_or_else(|| (head.last_seq, newest()));
            cursor = id;
            Ok(seq)
        })?;
        let filter = Filter {
            wakeable_only: wait.wakeable_only.unwrap_or_default(),
            kind: wait.kind,
            worker: wait.worker.clone(),
            task_id: wait.task_id.clone(),
        };
        let mut stream = Stream::new(self.name(), filter);
        loop {
            let mut found = None;
            let _ = follower.read(self, |event| {
                found = stream.take(event);
                Ok(page::goes_on(found.is_none()))
            })?;
            if let Some(event) = found {
                return Ok(AwaitEventAnswer {
                    status: AwaitStatus::Event,
                    cursor: event.event_id.clone(),
                    event: Some(event),
                });
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) || deadline.is_over() {
                return Ok(AwaitEventAnswer {
                    status: AwaitStatus::Timeout,
                    cursor,
                    event: None,
                });
            }
            follower.wait(self, deadline.step(left))?;
        }
    }
}

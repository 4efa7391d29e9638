//! `rehydrate`: rebuilds all derived data from the log.

use crate::operation::prelude::*;
use crate::projections::rebuild::{Progress, rehydrate};
use teamlog_engine::repair::SalvageReport;

/// Options of `rehydrate`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rehydrate {
    /// Number of decoding threads; `None` means the number of cores. The number does not affect the result.
    pub workers: Option<usize>,
}

/// Answer of `rehydrate`: first the fields of the protocol, then teamlog's own fields.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RehydrateAnswer {
    /// Always `ok`.
    #[schemars(extend("enum" = ["ok"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// Number of messages in all inboxes.
    pub message_count: u64,
    /// Number of events read, foreign events included.
    pub event_count: u64,
    /// Number of acknowledged messages.
    pub ack_count: u64,
    /// Number of tasks.
    pub task_count: u64,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
    /// Events per second.
    pub events_per_second: u64,
    /// Digest of the new state.
    pub state_digest: String,
    /// Result of the salvage, if the log was salvaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub salvaged: Option<SalvageReport>,
}

impl Team {
    /// Rebuilds all derived data under the lock. Calls `progress` with `(events done, events in all)`.
    pub fn rehydrate(
        &mut self,
        options: Rehydrate,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<RehydrateAnswer> {
        let mut exclusive = self.lock()?;
        exclusive.name_quarantined()?;
        let reader = exclusive.reader();
        let workers = options.workers.unwrap_or_else(cores).max(1);
        let mut tell = |at: Progress| progress(at.events, at.total);
        let (rebuilt, live) = rehydrate(&self.log, &reader, workers, &mut tell)?;
        drop(exclusive);
        self.keep(live);
        Ok(RehydrateAnswer {
            status: "ok",
            team: self.name().to_owned(),
            message_count: rebuilt.counts.messages,
            event_count: rebuilt.counts.events,
            ack_count: rebuilt.counts.acks,
            task_count: rebuilt.counts.tasks,
            elapsed_ms: u64::try_from(rebuilt.elapsed.as_millis()).unwrap_or(u64::MAX),
            events_per_second: rebuilt.rate() as u64,
            state_digest: rebuilt.digest,
            salvaged: None,
        })
    }
}

/// Returns the number of cores, which is the default number of decoding threads.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

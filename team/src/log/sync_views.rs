//! `sync-views`: waits until the view files contain all events that were recorded before the call. A daemon writes the files
//! after its answers.

use crate::operation::prelude::*;
use crate::projections::views::ViewsSource;
use std::thread;

operation! {
    /// Wait until the view files contain all recorded events
    "sync-views": Waits(SyncViews {
        /// Longest wait in milliseconds; 30000 if absent
        #[arg(long, value_name = "MILLISECONDS", value_parser = crate::argv::whole::<u64>)]
        timeout_ms: Option<u64>,
    }) -> SyncViewsAnswer = |team, asked| team.sync_views(&asked)
}

/// Result of the wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncViewsStatus {
    /// The files hold every event up to `seq`
    Synced,
    /// The team keeps no view files
    None,
    /// The files were not written in time
    Timeout,
}

/// The answer `{team, status, seq}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncViewsAnswer {
    /// The team
    pub team: String,
    /// Result of the wait
    pub status: SyncViewsStatus,
    /// Last event when the wait began
    pub seq: u64,
}

const LOOK: Duration = Duration::from_millis(5);
/// Wait after which this process writes the view files. A daemon writes view files within 250 ms.
const NOBODY: Duration = Duration::from_millis(300);

impl Team {
    /// Waits until the view files contain every event that was recorded before the call. If no process writes the view files,
    /// for example after a crash, writes them under the lock.
    pub fn sync_views(&mut self, sync: &SyncViews) -> Result<SyncViewsAnswer> {
        let deadline = self.control.deadline.clone();
        let timeout = deadline.wait(sync.timeout_ms)?;
        let begun = Instant::now();
        let (seq, kept, rollback) = self.query(|live, reader| {
            let kept = live.team()?.is_some_and(|team| team.keeps_views());
            Ok((live.seq(), kept, reader.rollback().cloned()))
        })?;
        if let Some(rollback) = rollback {
            // After a rollback the view files still contain the lost events, so the files must not
            // be overwritten.
            return Err(self.log.rolled_back(rollback).into());
        }
        let source = ViewsSource::new(self.log());
        let status = loop {
            if !kept {
                break SyncViewsStatus::None;
            }
            // The open writer repaired the views when it opened the team, so the cursor of the
            // views is right.
            let cursor = match self.kept_open() {
                true => source.cursor()?,
                false => source.current()?,
            };
            if cursor.is_some_and(|cursor| cursor >= seq) {
                break SyncViewsStatus::Synced;
            }
            if begun.elapsed() >= timeout || deadline.is_over() {
                break SyncViewsStatus::Timeout;
            }
            match begun.elapsed() >= NOBODY && !self.kept_open() {
                true => self.mend_unless_locked(timeout.saturating_sub(begun.elapsed()))?,
                false => thread::sleep(LOOK),
            }
        };
        let team = self.name().to_owned();
        Ok(SyncViewsAnswer { team, status, seq })
    }

    /// Writes the views, unless another process holds the lock and will write them. Waits for the lock at most `left`.
    fn mend_unless_locked(&mut self, left: Duration) -> Result<()> {
        match self.mend_views_within(left) {
            Err(failure) if failure.is_locked() => Ok(()),
            mended => mended,
        }
    }
}

//! What somebody who watches a team reads again and again: each number is kept, but for the leases that run, which are
//! counted.

use crate::attention::{Attention, AttentionKind};
use crate::backup::notes as backup_notes;
use crate::operation::prelude::*;
use teamlog_engine::WriterCounts;

/// A team in numbers.
#[derive(Debug, Clone, Default)]
pub struct Gauges {
    /// Events in the log.
    pub events: u64,
    /// How many of them the state does not cover yet.
    pub lag: u64,
    /// Whether view files fell behind until the next command.
    pub views_behind: bool,
    /// Tasks by status.
    pub tasks: Vec<(&'static str, u64)>,
    /// Leases that run.
    pub leases: u64,
    /// Leases that were granted by claims, ever.
    pub leases_granted: u64,
    /// Leases that ran out before their task was finished or released, ever, as far as that is recorded.
    pub leases_expired: u64,
    /// Messages that nobody acknowledged yet, of all inboxes.
    pub unread: u64,
    /// Deliveries that ended in a dead letter, ever.
    pub dead_letters: u64,
    /// Attention items by kind, as `attention` counts them.
    pub attention: BTreeMap<AttentionKind, usize>,
    /// When a backup was last made, as far as the team's directory tells.
    pub backed_up_at: Option<Timestamp>,
    /// What the writer that stays has written.
    pub written: WriterCounts,
}

impl Team {
    /// The team in numbers, as it is now.
    pub fn gauges(&mut self) -> Result<Gauges> {
        let now = self.options.clock.now();
        let gauges = self.query(|live, reader| {
            let counts = live.task_counts()?;
            let tasks = Status::ALL.map(Status::name).into_iter();
            Ok(Gauges {
                events: reader.head().last_seq,
                lag: reader.head().last_seq.saturating_sub(live.seq()),
                views_behind: live.views_error().is_some(),
                tasks: tasks.zip(counts.by_status).collect(),
                leases: live.lease_count(now)?,
                leases_granted: live.count_of("task_claimed")?,
                leases_expired: live.count_of("task_lease_expired")?,
                unread: live.agents()?.iter().map(|agent| agent.unread).sum(),
                dead_letters: live.count_of("delivery_dead_letter")?,
                ..Gauges::default()
            })
        })?;
        Ok(Gauges {
            attention: self.attention(&Attention::default())?.by_kind,
            backed_up_at: backup_notes::last_made(self.log.storage().as_ref(), self.log.dir()),
            written: self.counts(),
            ..gauges
        })
    }
}

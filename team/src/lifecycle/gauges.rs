//! Numbers of a team for monitoring. Monitoring reads the numbers often, so all numbers are stored, except the number of
//! running leases, which is counted.

use crate::attention::{Attention, AttentionKind};
use crate::backup::notes as backup_notes;
use crate::operation::prelude::*;
use teamlog_engine::WriterCounts;

/// The numbers of a team.
#[derive(Debug, Clone, Default)]
pub struct Gauges {
    /// Events in the log.
    pub events: u64,
    /// Number of events that the state does not cover yet.
    pub lag: u64,
    /// True if view files are out of date. The next command updates them.
    pub views_behind: bool,
    /// Tasks by status.
    pub tasks: Vec<(&'static str, u64)>,
    /// Number of running leases.
    pub leases: u64,
    /// Number of leases that were granted since the team was created.
    pub leases_granted: u64,
    /// Number of recorded lease expiries since the team was created.
    pub leases_expired: u64,
    /// Messages without an ack, in all inboxes.
    pub unread: u64,
    /// Number of deliveries that ended in a dead letter since the team was created.
    pub dead_letters: u64,
    /// Number of attention items per kind, as `attention` counts them.
    pub attention: BTreeMap<AttentionKind, usize>,
    /// Time of the last backup, as noted in the team's directory.
    pub backed_up_at: Option<Timestamp>,
    /// Counts of the writer, if this process keeps the writer open.
    pub written: WriterCounts,
}

impl Team {
    /// Returns the current numbers of the team.
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

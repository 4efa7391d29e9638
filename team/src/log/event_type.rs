//! The types of team events, and the callers that get to see each type, in one table.

use crate::operation::prelude::*;

words! {
    /// Type of a team event.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    #[repr(u8)]
    pub enum EventType {
        /// A task was completed.
        TaskCompleted = "task_completed",
        /// A task was failed.
        TaskFailed = "task_failed",
        /// A worker's state changed.
        WorkerStateChanged = "worker_state_changed",
        /// A worker became idle. This type occurs only in reports. The canonical form of such a report is a changed state.
        WorkerIdle = "worker_idle",
        /// A worker stopped.
        WorkerStopped = "worker_stopped",
        /// A message was put into a worker's inbox.
        MessageReceived = "message_received",
        /// A notification of the leader was deferred.
        LeaderNotificationDeferred = "leader_notification_deferred",
        /// All workers are idle.
        AllWorkersIdle = "all_workers_idle",
        /// A worker accepted or rejected its shutdown.
        ShutdownAck = "shutdown_ack",
        /// The gate before a shutdown was checked.
        ShutdownGate = "shutdown_gate",
        /// The gate before a shutdown was skipped by force.
        ShutdownGateForced = "shutdown_gate_forced",
        /// The scope of a clean-up was decided.
        ForgeCleanupPolicy = "forge_cleanup_policy",
        /// Result of a clean-up.
        ForgeCleanupSummary = "forge_cleanup_summary",
        /// A reviewer decided on a task.
        ApprovalDecision = "approval_decision",
        /// The leader was nudged.
        TeamLeaderNudge = "team_leader_nudge",
        /// A worker's tree changed.
        WorkerDiffActivity = "worker_diff_activity",
        /// Differences of a worker's tree.
        WorkerDiffReport = "worker_diff_report",
        /// Result of merging a worker's tree.
        WorkerMergeReport = "worker_merge_report",
        /// A worker's tree has merge conflicts.
        WorkerMergeConflict = "worker_merge_conflict",
        /// A worker's tree could not be integrated.
        WorkerIntegrationFailed = "worker_integration_failed",
        /// A worker requested the integration of its tree.
        WorkerIntegrationAttemptRequested = "worker_integration_attempt_requested",
        /// A commit of a worker was found on another branch.
        WorkerCherryPickDetected = "worker_cherry_pick_detected",
        /// A commit of a worker was cherry-picked.
        WorkerCherryPickApplied = "worker_cherry_pick_applied",
        /// A commit of a worker could not be cherry-picked.
        WorkerCherryPickConflict = "worker_cherry_pick_conflict",
        /// A worker's tree was rebased.
        WorkerRebaseApplied = "worker_rebase_applied",
        /// A worker's tree could not be rebased.
        WorkerRebaseConflict = "worker_rebase_conflict",
        /// A worker's tree was rebased on another worker's.
        WorkerCrossRebaseApplied = "worker_cross_rebase_applied",
        /// A worker's tree could not be rebased on another worker's.
        WorkerCrossRebaseConflict = "worker_cross_rebase_conflict",
        /// A worker's tree was not rebased on another worker's.
        WorkerCrossRebaseSkipped = "worker_cross_rebase_skipped",
        /// A worker's tree has not changed for a long time.
        WorkerStaleDiff = "worker_stale_diff",
        /// A worker has sent no heartbeat for a long time.
        WorkerStaleHeartbeat = "worker_stale_heartbeat",
        /// A worker has printed nothing for a long time.
        WorkerStaleStdout = "worker_stale_stdout",
    }
}

/// Visibility of an event for brokers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// Visible, and wakes waiting callers.
    Wakes,
    /// Visible, but wakes no caller.
    Silent,
    /// Visible for audits only.
    Audit,
}

impl EventType {
    /// Returns the visibility of the type.
    pub fn notice(self) -> Notice {
        use EventType as T;
        match self {
            T::WorkerDiffReport | T::WorkerMergeReport => Notice::Audit,
            // Silent, because events of this type wake callers only in canonical form, as a changed
            // state.
            T::WorkerIdle => Notice::Silent,
            T::TaskCompleted
            | T::TaskFailed
            | T::WorkerStateChanged
            | T::WorkerStopped
            | T::MessageReceived
            | T::LeaderNotificationDeferred
            | T::AllWorkersIdle
            | T::TeamLeaderNudge
            | T::WorkerMergeConflict
            | T::WorkerIntegrationFailed
            | T::WorkerIntegrationAttemptRequested
            | T::WorkerCherryPickConflict
            | T::WorkerRebaseConflict
            | T::WorkerCrossRebaseConflict
            | T::WorkerStaleDiff
            | T::WorkerStaleHeartbeat
            | T::WorkerStaleStdout => Notice::Wakes,
            _ => Notice::Silent,
        }
    }
}

/// Returns true if an event of this canonical type wakes waiting callers. Foreign types wake no caller.
pub fn is_wakeable(kind: &str) -> bool {
    EventType::from_name(kind).is_some_and(|kind| kind.notice() == Notice::Wakes)
}

impl std::str::FromStr for EventType {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<EventType, String> {
        EventType::from_name(text).ok_or_else(|| {
            let names = EventType::ALL.map(EventType::name);
            format!("must be one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_follows_the_variants_and_their_names() {
        for (at, kind) in EventType::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at, "{}", kind.name());
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(EventType::from_name(kind.name()), Some(kind));
        }
        assert_eq!(EventType::from_name("worker_auto_commit"), None);
    }

    #[test]
    fn these_wake_whoever_waits_and_these_are_for_auditors() {
        let of = |notice| -> Vec<&str> {
            let types = EventType::ALL.into_iter();
            let of = types.filter(|kind| kind.notice() == notice);
            of.map(EventType::name).collect()
        };
        assert_eq!(
            of(Notice::Wakes),
            [
                "task_completed",
                "task_failed",
                "worker_state_changed",
                "worker_stopped",
                "message_received",
                "leader_notification_deferred",
                "all_workers_idle",
                "team_leader_nudge",
                "worker_merge_conflict",
                "worker_integration_failed",
                "worker_integration_attempt_requested",
                "worker_cherry_pick_conflict",
                "worker_rebase_conflict",
                "worker_cross_rebase_conflict",
                "worker_stale_diff",
                "worker_stale_heartbeat",
                "worker_stale_stdout",
            ]
        );
        assert_eq!(
            of(Notice::Audit),
            ["worker_diff_report", "worker_merge_report"]
        );
        for kind in [
            "worker_idle",
            "worker_diff_report",
            "worker_auto_commit",
            "",
        ] {
            assert!(!is_wakeable(kind), "{kind}");
        }
        assert!(is_wakeable("worker_stale_diff"));
    }
}

//! The types of team events, and which of them are worth waking somebody up for: one table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type of a team event.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum EventType {
    /// A task was completed.
    TaskCompleted,
    /// A task was failed.
    TaskFailed,
    /// A worker's state changed.
    WorkerStateChanged,
    /// As reported only: a worker became idle. Reads as a changed state.
    WorkerIdle,
    /// A worker stopped.
    WorkerStopped,
    /// A message was put into a worker's inbox.
    MessageReceived,
    /// A word to the leader has to wait.
    LeaderNotificationDeferred,
    /// No worker has anything to do.
    AllWorkersIdle,
    /// A worker accepted or rejected its shutdown.
    ShutdownAck,
    /// The gate before a shutdown was evaluated.
    ShutdownGate,
    /// The gate before a shutdown was forced.
    ShutdownGateForced,
    /// What is to be cleaned up was decided.
    ForgeCleanupPolicy,
    /// What was cleaned up.
    ForgeCleanupSummary,
    /// A reviewer decided on a task.
    ApprovalDecision,
    /// The leader was nudged.
    TeamLeaderNudge,
    /// A worker's tree changed.
    WorkerDiffActivity,
    /// What a worker's tree differs by.
    WorkerDiffReport,
    /// What became of merging a worker's tree.
    WorkerMergeReport,
    /// A worker's tree does not merge.
    WorkerMergeConflict,
    /// A worker's tree could not be integrated.
    WorkerIntegrationFailed,
    /// A worker wants its tree integrated.
    WorkerIntegrationAttemptRequested,
    /// A commit of a worker was found elsewhere.
    WorkerCherryPickDetected,
    /// A commit of a worker was picked.
    WorkerCherryPickApplied,
    /// A commit of a worker could not be picked.
    WorkerCherryPickConflict,
    /// A worker's tree was rebased.
    WorkerRebaseApplied,
    /// A worker's tree could not be rebased.
    WorkerRebaseConflict,
    /// A worker's tree was rebased on another worker's.
    WorkerCrossRebaseApplied,
    /// A worker's tree could not be rebased on another worker's.
    WorkerCrossRebaseConflict,
    /// A worker's tree was not rebased on another worker's.
    WorkerCrossRebaseSkipped,
    /// A worker's tree has not changed for long.
    WorkerStaleDiff,
    /// A worker has given no sign of life for long.
    WorkerStaleHeartbeat,
    /// A worker has printed nothing for long.
    WorkerStaleStdout,
}

/// Who takes notice of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// Whoever waits is woken up.
    Wakes,
    /// Whoever looks.
    Silent,
    /// Auditors only; it stays for them.
    Audit,
}

use EventType as T;
use Notice::{Audit, Silent, Wakes};

/// Every type with its name, in the order of the variants.
pub static EVENT_TYPES: [(EventType, &str, Notice); 32] = [
    (T::TaskCompleted, "task_completed", Wakes),
    (T::TaskFailed, "task_failed", Wakes),
    (T::WorkerStateChanged, "worker_state_changed", Wakes),
    // As it reads it wakes.
    (T::WorkerIdle, "worker_idle", Silent),
    (T::WorkerStopped, "worker_stopped", Wakes),
    (T::MessageReceived, "message_received", Wakes),
    (
        T::LeaderNotificationDeferred,
        "leader_notification_deferred",
        Wakes,
    ),
    (T::AllWorkersIdle, "all_workers_idle", Wakes),
    (T::ShutdownAck, "shutdown_ack", Silent),
    (T::ShutdownGate, "shutdown_gate", Silent),
    (T::ShutdownGateForced, "shutdown_gate_forced", Silent),
    (T::ForgeCleanupPolicy, "forge_cleanup_policy", Silent),
    (T::ForgeCleanupSummary, "forge_cleanup_summary", Silent),
    (T::ApprovalDecision, "approval_decision", Silent),
    (T::TeamLeaderNudge, "team_leader_nudge", Wakes),
    (T::WorkerDiffActivity, "worker_diff_activity", Silent),
    (T::WorkerDiffReport, "worker_diff_report", Audit),
    (T::WorkerMergeReport, "worker_merge_report", Audit),
    (T::WorkerMergeConflict, "worker_merge_conflict", Wakes),
    (
        T::WorkerIntegrationFailed,
        "worker_integration_failed",
        Wakes,
    ),
    (
        T::WorkerIntegrationAttemptRequested,
        "worker_integration_attempt_requested",
        Wakes,
    ),
    (
        T::WorkerCherryPickDetected,
        "worker_cherry_pick_detected",
        Silent,
    ),
    (
        T::WorkerCherryPickApplied,
        "worker_cherry_pick_applied",
        Silent,
    ),
    (
        T::WorkerCherryPickConflict,
        "worker_cherry_pick_conflict",
        Wakes,
    ),
    (T::WorkerRebaseApplied, "worker_rebase_applied", Silent),
    (T::WorkerRebaseConflict, "worker_rebase_conflict", Wakes),
    (
        T::WorkerCrossRebaseApplied,
        "worker_cross_rebase_applied",
        Silent,
    ),
    (
        T::WorkerCrossRebaseConflict,
        "worker_cross_rebase_conflict",
        Wakes,
    ),
    (
        T::WorkerCrossRebaseSkipped,
        "worker_cross_rebase_skipped",
        Silent,
    ),
    (T::WorkerStaleDiff, "worker_stale_diff", Wakes),
    (T::WorkerStaleHeartbeat, "worker_stale_heartbeat", Wakes),
    (T::WorkerStaleStdout, "worker_stale_stdout", Wakes),
];

impl EventType {
    /// The name.
    pub fn name(self) -> &'static str {
        EVENT_TYPES
            .get(self as usize)
            .map_or("", |(_, name, _)| name)
    }
    /// The type of that name.
    pub fn from_name(name: &str) -> Option<EventType> {
        let found = EVENT_TYPES.iter().find(|(_, known, _)| *known == name);
        found.map(|(kind, ..)| *kind)
    }
    /// Who takes notice of it.
    pub fn notice(self) -> Notice {
        EVENT_TYPES
            .get(self as usize)
            .map_or(Silent, |(_, _, notice)| *notice)
    }
}

/// Whether an event of that type, as it reads, wakes whoever waits. Types from elsewhere wake nobody.
pub fn is_wakeable(kind: &str) -> bool {
    EventType::from_name(kind).is_some_and(|kind| kind.notice() == Wakes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_follows_the_variants_and_their_names() {
        for (at, (kind, name, notice)) in EVENT_TYPES.iter().enumerate() {
            assert_eq!(*kind as usize, at, "{name}");
            assert_eq!(serde_json::to_value(kind).unwrap(), *name);
            assert_eq!((kind.name(), kind.notice()), (*name, *notice));
            assert_eq!(EventType::from_name(name), Some(*kind));
        }
        assert_eq!(EventType::from_name("worker_auto_commit"), None);
    }

    #[test]
    fn these_wake_whoever_waits_and_these_are_for_auditors() {
        let of = |notice| -> Vec<&str> {
            let rows = EVENT_TYPES.iter().filter(|(_, _, of)| *of == notice);
            rows.map(|(_, name, _)| *name).collect()
        };
        assert_eq!(
            of(Wakes),
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
        assert_eq!(of(Audit), ["worker_diff_report", "worker_merge_report"]);
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

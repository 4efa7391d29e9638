//! Rows of operations about owners of tasks: edits, assignments, reviews, comments, and agents that leave the team.

use super::*;

pub(super) fn rows() -> Vec<(&'static str, &'static str, Value, Code)> {
    use Code::*;
    vec![
        ("nothing", "undo", json!({"seq": 999}), PointUnknown),
        ("nothing", "undo", json!({"seq": 1}), InvalidTransition),
        (
            "autopilot canceled",
            "undo",
            json!({"seq": 2}),
            InvalidTransition,
        ),
        (
            "task",
            "edit-task",
            json!({"task_id": "1", "subject": "t", "expected_version": 99}),
            VersionConflict,
        ),
        (
            "two tasks",
            "edit-task",
            json!({"task_id": "1", "blocked_by": ["2"]}),
            DependencyCycle,
        ),
        (
            "claimed",
            "edit-task",
            json!({"task_id": "1", "subject": "t", "worker": "qa"}),
            NotHolder,
        ),
        (
            "claimed",
            "edit-task",
            json!({"task_id": "1", "subject": "t", "worker": "dev", "epoch": 9}),
            ClaimConflict,
        ),
        (
            "claimed",
            "assign-task",
            json!({"task_id": "1", "owner": "qa", "worker": "dev", "epoch": 9}),
            ClaimConflict,
        ),
        (
            "claimed",
            "assign-task",
            json!({"task_id": "1", "owner": "dev", "worker": "dev"}),
            InvalidTransition,
        ),
        (
            "claimed",
            "request-review",
            json!({"task_id": "1", "worker": "dev", "epoch": 9}),
            ClaimConflict,
        ),
        (
            "gated",
            "edit-task",
            json!({"task_id": "1", "requires_approval": false, "worker": "dev"}),
            ApprovalRequired,
        ),
        (
            "gated",
            "write-task-approval",
            json!({"task_id": "1", "status": "approved", "reviewer": "dev", "decision_reason": "fine"}),
            SelfApproval,
        ),
        (
            "claimed",
            "request-review",
            json!({"task_id": "1", "worker": "qa"}),
            NotHolder,
        ),
        (
            "task",
            "request-review",
            json!({"task_id": "1", "worker": "dev"}),
            InvalidTransition,
        ),
        (
            "completed",
            "request-review",
            json!({"task_id": "1", "worker": "dev"}),
            AlreadyTerminal,
        ),
        (
            "nothing",
            "rename-agent",
            json!({"agent": "nobody", "new_name": "somebody"}),
            WorkerNotFound,
        ),
        (
            "nothing",
            "retire-agent",
            json!({"agent": "nobody"}),
            WorkerNotFound,
        ),
        (
            "nothing",
            "comment-task",
            json!({"task_id": "9", "body": "seen", "worker": "qa"}),
            TaskNotFound,
        ),
        (
            "completed",
            "assign-task",
            json!({"task_id": "1", "owner": "qa"}),
            AlreadyTerminal,
        ),
        (
            "claimed",
            "assign-task",
            json!({"task_id": "1", "owner": "qa", "worker": "qa"}),
            NotHolder,
        ),
        (
            "task",
            "assign-task",
            json!({"task_id": "1", "owner": "qa", "expected_version": 99}),
            VersionConflict,
        ),
    ]
}

//! Refusals that the tests of their own file reach, because the rows of `refusals.rs` cannot.

/// Codes that the tests of another file reach, because a row of the table cannot reach these codes.
pub(super) const ELSEWHERE: [(&str, &[&str], &str); 26] = [
    // This refusal needs a caller that names itself outside of the input.
    (
        "update-task",
        &["ApprovalRequired"],
        include_str!("../approvals.rs"),
    ),
    // These refusals need a task that has ended, or that has parts.
    (
        "write-task-approval",
        &["AlreadyTerminal"],
        include_str!("../approvals.rs"),
    ),
    (
        "transition-task-status",
        &["BlockedDependency"],
        include_str!("../approvals.rs"),
    ),
    // This refusal needs a daemon that already folds the maximum number of past states.
    ("diff", &["PastBusy"], include_str!("../past.rs")),
    ("undo", &["PastBusy"], include_str!("../past.rs")),
    // This refusal needs an ack that comes too late.
    (
        "requeue-dead-letter",
        &["DeadLetterNotFound", "AlreadyAcked", "DeliveryOpen"],
        include_str!("../deliveries.rs"),
    ),
    // This refusal needs another process that holds the lock.
    (
        "append-batch",
        &["PartlyAppended"],
        include_str!("../appending_keys.rs"),
    ),
    (
        "bootstrap-record",
        &[
            "IllegalEvent",
            "BranchMismatch",
            "RosterIncomplete",
            "EvidenceInvalid",
            "ReviewBeforeResult",
            "Round1Incomplete",
            "ReasonRequired",
            "UntriggeredRevision",
            "GateRefused",
            "GateNotCleared",
            "BreachInitialTaskLaunch",
            "BreachInvalidFallbackReason",
            "BreachCoreNotReady",
            "BreachDomainBeforeCoreReady",
            "BreachLeadSoloAnalysis",
            "BreachPartialAtomicLaunch",
            "BlockedTeamLaunchUnavailable",
        ],
        concat!(
            include_str!("../bootstrap.rs"),
            include_str!("../bootstrap_breaches.rs"),
            include_str!("../bootstrap_launch.rs"),
            include_str!("../bootstrap_messages.rs"),
            include_str!("../bootstrap_strict.rs"),
            include_str!("../bootstrap_work.rs"),
        ),
    ),
    // This refusal needs data of more than 64 KiB.
    (
        "bootstrap-explain",
        &["TooLarge"],
        include_str!("../bootstrap_runs.rs"),
    ),
    // This refusal needs another log that replaces the log during the wait.
    (
        "await-event",
        &["LogReplaced"],
        include_str!("../follow.rs"),
    ),
    ("wait", &["LogReplaced"], include_str!("../follow.rs")),
    (
        "config-get",
        &["SettingUnknown"],
        include_str!("../settings.rs"),
    ),
    // This refusal needs a file that was changed from outside.
    (
        "artifact-get",
        &["ArtifactDamaged"],
        include_str!("../artifacts.rs"),
    ),
    // These refusals need a lease, a delivered event, or a damaged file.
    (
        "subscribe",
        &[
            "SubscriptionExists",
            "SubscriptionDamaged",
            "CursorAhead",
            "TooLarge",
            "ActorMismatch",
        ],
        include_str!("../subscriptions.rs"),
    ),
    (
        "show-subscription",
        &["SubscriptionNotFound", "SubscriptionDamaged"],
        include_str!("../subscriptions.rs"),
    ),
    (
        "fetch-subscription",
        &[
            "SubscriptionNotFound",
            "SubscriptionFenced",
            "SubscriptionDamaged",
            "CursorAhead",
            "LogReplaced",
            "ActorMismatch",
        ],
        include_str!("../subscriptions.rs"),
    ),
    (
        "ack-subscription",
        &[
            "SubscriptionNotFound",
            "SubscriptionFenced",
            "SubscriptionDamaged",
            "EventNotDelivered",
            "ActorMismatch",
        ],
        include_str!("../subscriptions.rs"),
    ),
    (
        "nak-subscription",
        &[
            "SubscriptionNotFound",
            "SubscriptionFenced",
            "SubscriptionDamaged",
            "EventNotDelivered",
            "ActorMismatch",
        ],
        include_str!("../subscriptions.rs"),
    ),
    (
        "release-subscription",
        &[
            "SubscriptionNotFound",
            "SubscriptionFenced",
            "SubscriptionDamaged",
            "ActorMismatch",
        ],
        include_str!("../subscriptions.rs"),
    ),
    (
        "replay-subscription",
        &[
            "SubscriptionNotFound",
            "SubscriptionDamaged",
            "EventNotParked",
            "CursorAhead",
            "LogReplaced",
            "ActorMismatch",
        ],
        include_str!("../subscriptions.rs"),
    ),
    (
        "delete-subscription",
        &["SubscriptionNotFound", "ActorMismatch"],
        include_str!("../subscriptions.rs"),
    ),
    // These refusals need an agent that does not lead, or more than 50 projections.
    (
        "declare-projection",
        &["LeaderRequired"],
        include_str!("../scripted.rs"),
    ),
    (
        "show-projection",
        &["ProjectionNotFound"],
        include_str!("../scripted.rs"),
    ),
    (
        "remove-projection",
        &["ProjectionNotFound", "LeaderRequired"],
        include_str!("../scripted.rs"),
    ),
    // The states of this refusal have more than 256 MiB.
    (
        "test-projection",
        &["ProjectionNotFound", "TooLarge"],
        include_str!("../scripted.rs"),
    ),
    // This refusal needs a team that does not exist.
    (
        "read-manifest",
        &["ManifestNotFound"],
        include_str!("../hostile.rs"),
    ),
];

//! Refusals: the domain's "no". A refusal has a stable code, writes nothing, and is not an error of the system.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The stable codes of refusals, as machines read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// A field of the input breaks a rule.
    InvalidInput,
    /// There is no team of that name.
    TeamNotFound,
    /// There is a team of that name already.
    TeamExists,
    /// The team exists already in another format.
    FormatMismatch,
    /// The agent is no member of a closed team.
    WorkerNotFound,
    /// There is no task of that id.
    TaskNotFound,
    /// There is no thread of that id.
    ThreadNotFound,
    /// The team, or the agent, used as many tokens as it may.
    BudgetExceeded,
    /// There is no artifact of that name.
    ArtifactNotFound,
    /// There is another artifact of that name.
    ArtifactExists,
    /// The file of an artifact is not what was left.
    ArtifactDamaged,
    /// The cursor lies behind the end of the log.
    CursorAhead,
    /// The cursor names nothing that this listing holds.
    CursorUnknown,
    /// The log has no such point of its past.
    PointUnknown,
    /// The handle stands at a point of the past, where nothing can be recorded.
    PastReadOnly,
    /// Another log, or another history of it, took the place of the one that was followed.
    LogReplaced,
    /// The kind belongs to teamlog's own vocabulary and is produced by its commands only.
    ReservedKind,
    /// A time lies further ahead than clocks differ.
    CreatedAtAhead,
    /// Imported history is not newer than what the team holds.
    NotNewer,
    /// The input holds more or larger things than a limit allows.
    TooLarge,
    /// There is no setting of that key.
    SettingUnknown,
    /// There is no such dead letter.
    DeadLetterNotFound,
    /// The message waits for its ack already.
    DeliveryOpen,
    /// The message was acknowledged already.
    AlreadyAcked,
    /// There is no backup of that team.
    BackupNotFound,
    /// The backup that is there is not a past of the team's log.
    BackupDiverged,
    /// The team was closed; reads go on.
    TeamClosed,
    /// The team was not closed yet.
    TeamOpen,
    /// The key stands for another request.
    IdempotencyKeyReused,
    /// The request was carried out, but its answer was too large to be kept for a repetition.
    ResponseTooLarge,
    /// There is a task of that id already.
    TaskExists,
    /// Somebody else holds the task, or it is not as the caller takes it to be.
    ClaimConflict,
    /// Somebody else holds paths that the task declares.
    ResourceConflict,
    /// A dependency of the task is not completed.
    BlockedDependency,
    /// The task is completed, failed or canceled.
    AlreadyTerminal,
    /// The task cannot go from that status to that one.
    InvalidTransition,
    /// The lease of the claim ran out.
    LeaseExpired,
    /// The task was claimed anew since, or never with that number.
    EpochMismatch,
    /// Somebody else claimed the task.
    NotHolder,
    /// The task has another version than the caller expects.
    VersionConflict,
    /// The dependencies would lead back to the task.
    DependencyCycle,
    /// The result does not say how the work was delegated, which the task demands.
    MissingEvidence,
    /// There is no manifest, since there is no such team.
    ManifestNotFound,
    /// Work is left over, so the team is not closed.
    ShutdownGateBlocked,
    /// Tasks failed, which must be confirmed before the team is closed.
    ShutdownConfirm,
    /// A worker rejected its shutdown.
    ShutdownRejected,
    /// There is no mode of that name.
    UnsupportedMode,
    /// The mode does not go with those that are active.
    ModeDenied,
    /// The mode is not active.
    ModeNotActive,
    /// There is no state of the mode.
    ModeNotFound,
    /// The event is not legal where the run stands.
    IllegalEvent,
    /// The branch is not that of what TeamCreate answered.
    BranchMismatch,
    /// The roster is not the core and every selected domain.
    RosterIncomplete,
    /// The evidence of a launch is not whole, or not what the log says.
    EvidenceInvalid,
    /// A result was reviewed before it was delivered.
    ReviewBeforeResult,
    /// Not every active domain was reviewed and confirmed.
    Round1Incomplete,
    /// A domain is left out without a reason.
    ReasonRequired,
    /// A domain revises what nobody objected to.
    UntriggeredRevision,
    /// Something stands against the synthesis, or it is not said why nothing does.
    GateRefused,
    /// The final synthesis is requested before the gate is cleared.
    GateNotCleared,
    /// There is no bootstrap run of that id.
    RunNotFound,
    /// There is a bootstrap run of that id already.
    RunExists,
    /// There is no evidence of a launch before one.
    NotLaunched,
    /// The first members were launched by tasks of the lead's.
    BreachInitialTaskLaunch,
    /// The fallback was entered although there is a team.
    BreachInvalidFallbackReason,
    /// The core did not say that it is ready.
    BreachCoreNotReady,
    /// Domains began to work before the core was ready.
    BreachDomainBeforeCoreReady,
    /// The lead did the work of others.
    BreachLeadSoloAnalysis,
    /// The first launch did not cover the whole roster at once.
    BreachPartialAtomicLaunch,
    /// There is no way to launch a team.
    BlockedTeamLaunchUnavailable,
    /// The data root lies where locks or syncs cannot be trusted.
    UnsafeFileSystem,
    /// A sync of the team's log failed in this process, which writes to it no more.
    SyncFailed,
    /// Somebody took the log's lock between two groups of a batch: those before are recorded.
    PartlyAppended,
    /// A receipt vouches for events behind the end of the log: an older state was put back.
    RolledBack,
    /// A receipt vouches for bytes that were cut off.
    CutBelowReceipt,
    /// A receipt vouches for other bytes than the log holds.
    ChangedSinceReceipt,
    /// A receipt is of another log.
    ReceiptOfAnotherLog,
    /// A receipt that has to be signed is not.
    SignatureMissing,
    /// A signature is not that of the receipt.
    SignatureInvalid,
    /// A receipt is signed by somebody else.
    SignedByAnotherKey,
}

impl Code {
    /// The code as text, in snake_case (those of the bootstrap contract as it has them); never changes once released.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::InvalidInput => "invalid_input",
            Code::TeamNotFound => "team_not_found",
            Code::TeamExists => "team_exists",
            Code::FormatMismatch => "format_mismatch",
            Code::WorkerNotFound => "worker_not_found",
            Code::TaskNotFound => "task_not_found",
            Code::ThreadNotFound => "thread_not_found",
            Code::BudgetExceeded => "budget_exceeded",
            Code::ArtifactNotFound => "artifact_not_found",
            Code::ArtifactExists => "artifact_exists",
            Code::ArtifactDamaged => "artifact_damaged",
            Code::CursorAhead => "cursor_ahead",
            Code::CursorUnknown => "cursor_unknown",
            Code::PointUnknown => "point_unknown",
            Code::PastReadOnly => "past_read_only",
            Code::LogReplaced => "log_replaced",
            Code::ReservedKind => "reserved_kind",
            Code::CreatedAtAhead => "created_at_ahead",
            Code::NotNewer => "not_newer",
            Code::TooLarge => "too_large",
            Code::SettingUnknown => "setting_unknown",
            Code::DeadLetterNotFound => "dead_letter_not_found",
            Code::DeliveryOpen => "delivery_open",
            Code::AlreadyAcked => "already_acked",
            Code::TeamClosed => "team_closed",
            Code::TeamOpen => "team_open",
            Code::IdempotencyKeyReused => "idempotency_key_reused",
            Code::ResponseTooLarge => "response_too_large",
            Code::TaskExists => "task_exists",
            Code::ClaimConflict => "claim_conflict",
            Code::ResourceConflict => "resource_conflict",
            Code::BlockedDependency => "blocked_dependency",
            Code::AlreadyTerminal => "already_terminal",
            Code::InvalidTransition => "invalid_transition",
            Code::LeaseExpired => "lease_expired",
            Code::EpochMismatch => "epoch_mismatch",
            Code::NotHolder => "not_holder",
            Code::VersionConflict => "version_conflict",
            Code::DependencyCycle => "dependency_cycle",
            Code::MissingEvidence => "missing_delegation_compliance_evidence",
            Code::ManifestNotFound => "manifest_not_found",
            Code::ShutdownGateBlocked => "shutdown_gate_blocked",
            Code::ShutdownConfirm => "shutdown_confirm_issues_required",
            Code::ShutdownRejected => "shutdown_rejected",
            Code::UnsupportedMode => "unsupported_mode",
            Code::ModeDenied => "mode_denied",
            Code::ModeNotActive => "mode_not_active",
            Code::ModeNotFound => "mode_not_found",
            Code::BackupNotFound => "backup_not_found",
            Code::BackupDiverged => "backup_diverged",
            Code::IllegalEvent => "illegal_event",
            Code::BranchMismatch => "branch_mismatch",
            Code::RosterIncomplete => "roster_incomplete",
            Code::EvidenceInvalid => "evidence_invalid",
            Code::ReviewBeforeResult => "review_before_result",
            Code::Round1Incomplete => "round1_incomplete",
            Code::ReasonRequired => "reason_required",
            Code::UntriggeredRevision => "untriggered_revision",
            Code::GateRefused => "gate_refused",
            Code::GateNotCleared => "gate_not_cleared",
            Code::RunNotFound => "run_not_found",
            Code::RunExists => "run_exists",
            Code::NotLaunched => "not_launched",
            Code::BreachInitialTaskLaunch => "PROTOCOL_BREACH_INITIAL_TASK_LAUNCH",
            Code::BreachInvalidFallbackReason => "PROTOCOL_BREACH_INVALID_FALLBACK_REASON",
            Code::BreachCoreNotReady => "PROTOCOL_BREACH_CORE_NOT_READY",
            Code::BreachDomainBeforeCoreReady => "PROTOCOL_BREACH_DOMAIN_BEFORE_CORE_READY",
            Code::BreachLeadSoloAnalysis => "PROTOCOL_BREACH_LEAD_SOLO_ANALYSIS",
            Code::BreachPartialAtomicLaunch => "PROTOCOL_BREACH_PARTIAL_ATOMIC_LAUNCH",
            Code::BlockedTeamLaunchUnavailable => "PROTOCOL_BLOCKED_TEAM_LAUNCH_UNAVAILABLE",
            Code::UnsafeFileSystem => "unsafe_file_system",
            Code::SyncFailed => "sync_failed",
            Code::PartlyAppended => "partly_appended",
            Code::RolledBack => "rolled_back",
            Code::CutBelowReceipt => "cut_below_receipt",
            Code::ChangedSinceReceipt => "changed_since_receipt",
            Code::ReceiptOfAnotherLog => "receipt_of_another_log",
            Code::SignatureMissing => "signature_missing",
            Code::SignatureInvalid => "signature_invalid",
            Code::SignedByAnotherKey => "signed_by_another_key",
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Why a command may not happen.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// For machines.
    pub code: Code,
    /// For people: lower case, no full stop, names field, value and rule.
    pub message: String,
    /// The field of the input that is at fault, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What to do next, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// More for machines, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Refusal {
    /// A refusal without field, hint and details.
    pub fn new(code: Code, message: impl Into<String>) -> Refusal {
        Refusal {
            code,
            message: message.into(),
            field: None,
            hint: None,
            details: Map::new(),
        }
    }
    /// `invalid_input` for a field: "`field` `rule`, but is `value`".
    pub fn invalid(field: impl Into<String>, value: &str, rule: &str) -> Refusal {
        let field = field.into();
        let message = format!("{field} {rule}, but is {}", shown(value));
        Refusal::new(Code::InvalidInput, message).field(field)
    }
    /// The same with the field named that is at fault.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Refusal {
        self.field = Some(field.into());
        self
    }
    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hint = Some(hint.into());
        self
    }
    /// The same with one more detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Refusal {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Most characters of a value that a message repeats.
const SHOWN_MAX: usize = 80;

/// A caller's value as messages repeat it: quoted, escaped and cut.
pub(crate) fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN_MAX) {
        None => format!("{value:?}"),
        Some((cut, _)) => format!("{:?}…", value.get(..cut).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_field_value_and_rule_and_serialises_without_empty_parts() {
        let refusal = Refusal::invalid("message.to", "a/b", "must not hold a path separator");
        assert_eq!(
            refusal.to_string(),
            r#"message.to must not hold a path separator, but is "a/b""#
        );
        assert_eq!(
            serde_json::to_string(&refusal).unwrap(),
            r#"{"code":"invalid_input","message":"message.to must not hold a path separator, but is \"a/b\"","field":"message.to"}"#
        );
    }

    #[test]
    fn a_long_or_strange_value_is_cut_and_escaped() {
        assert_eq!(shown("a\u{1b}[0m"), r#""a\u{1b}[0m""#);
        assert_eq!(shown(&"é".repeat(200)), format!("{:?}…", "é".repeat(80)));
    }
}
